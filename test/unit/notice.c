/* SPDX-License-Identifier: BSD-3-Clause */
/* notice.c -- every watcher hears of everything once, numbered without gaps, and nobody of a peer
 * twice. */
#include "overlay/watch/notice.h"
#include "overlay/client/words.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

struct watcher {
    unsigned heard;
    struct msg_local_notice last;
};

static void say(void *client, const struct message *m)
{
    struct watcher *w = client;
    assert_int_equal(m->kind, MSG_local_notice);
    w->heard++;
    w->last = m->local_notice;
}

static int set_up(void **state)
{
    *state = notices_new(say);
    return *state == NULL;
}

static int tear_down(void **state)
{
    notices_free(*state);
    return 0;
}

static void every_watcher_hears_until_it_is_forgotten(void **state)
{
    struct watcher a = {0}, b = {0};
    const struct msg_local_notice n = {.what = NOTICE_JOB_DONE, .status = 3};
    notice_watch(*state, &a, false);
    notice_watch(*state, &b, false);
    notice_watch(*state, &b, false); /* said twice, heard once */
    notice_send(*state, &n);
    assert_int_equal(a.heard, 1);
    assert_int_equal(b.heard, 1);
    assert_int_equal(a.last.status, 3);
    notice_forget(*state, &a);
    notice_send(*state, &n);
    assert_int_equal(a.heard, 1);
    assert_int_equal(b.heard, 2);
}

static void count(void *ctx)
{
    ++*(unsigned *)ctx;
}

/* What looks after peers runs while it says that somebody wants to hear of them. */
static void the_first_who_wants_peers_is_said(void **state)
{
    struct watcher a = {0}, b = {0};
    unsigned said = 0;
    notice_on_peers_wanted(*state, count, &said);
    notice_watch(*state, &a, false);
    assert_int_equal(said, 0);
    assert_false(notice_peers_wanted(*state));
    notice_watch(*state, &b, true);
    assert_int_equal(said, 1);
    notice_watch(*state, &a, true);
    notice_watch(*state, &b, true); /* again: it was there all the time */
    assert_int_equal(said, 1);
    notice_forget(*state, &a);
    notice_forget(*state, &b);
    assert_false(notice_peers_wanted(*state));
    notice_watch(*state, &a, true);
    assert_int_equal(said, 2);
}

static void notices_are_numbered_and_dated(void **state)
{
    struct watcher a = {0};
    const struct msg_local_notice n = {.what = NOTICE_JOB_DONE, .number = 99, .epoch = 99};
    notice_watch(*state, &a, false);
    notice_send(*state, &n);
    const struct msg_local_notice first = a.last;
    notice_send(*state, &n);
    assert_int_equal(first.number, 1);
    assert_int_equal(a.last.number, 2);
    assert_true(first.epoch > 1000000000000); /* milliseconds since 1970 */
    assert_true(a.last.epoch == first.epoch);
    assert_true(first.time_ms >= first.epoch && a.last.time_ms >= first.time_ms);
}

static void a_lost_peer_is_said_once_with_its_name(void **state)
{
    struct watcher a = {0};
    const struct id one = {.b = {1}}, two = {.b = {2}};
    notice_watch(*state, &a, false);
    notice_node_down(*state, &one, "desk1", "it fell silent");
    notice_node_down(*state, &one, "desk1", "it fell silent"); /* its other lease */
    assert_int_equal(a.heard, 1);
    assert_int_equal(a.last.what, NOTICE_NODE_DOWN);
    assert_string_equal(a.last.peer_name, "desk1");
    assert_string_equal(a.last.text, "desk1: it fell silent");
    assert_true(id_equal(&a.last.peer, &one));
    notice_node_down(*state, &two, "desk2", "it fell silent");
    assert_int_equal(a.heard, 2);
    assert_string_equal(a.last.peer_name, "desk2");
}

static void watchers_are_bounded(void **state)
{
    struct watcher many[200] = {0};
    unsigned let_in = 0;
    while (let_in < 200 && notice_watch(*state, &many[let_in], false) == 0)
        let_in++;
    assert_in_range(let_in, 16, 199);
    assert_int_equal(notice_watch(*state, &many[let_in], false), -ENOSPC);
    notice_forget(*state, &many[0]);
    assert_int_equal(notice_watch(*state, &many[let_in], false), 0);
}

static void hear_again(void *client, const struct message *m)
{
    struct watcher *w = client;
    w->heard++;
    if (w->heard == 1)
        w->last = m->local_notice;
}

static void peers_do_not_push_out_jobs(void **state)
{
    enum { KEPT = 64 };
    struct notices *n = notices_new(hear_again);
    struct watcher a = {0};
    const struct msg_local_notice job = {.what = NOTICE_TAKE_OVER, .text = "the first"};
    const struct id one = {.b = {1}};
    (void)state;
    notice_send(n, &job);
    for (unsigned i = 0; i < 3 * KEPT; i++)
        notice_peer(n, NOTICE_PEER_JOINED, &one, "desk1", "has joined");
    notice_repeat(n, &a, KEPT);
    assert_int_equal(a.heard, KEPT);
    assert_string_equal(a.last.text, "the first");
    for (unsigned i = 0; i < KEPT; i++)
        notice_send(n, &job);
    a.heard = 0;
    notice_repeat(n, &a, KEPT);
    assert_int_equal(a.heard, KEPT);
    assert_int_equal(a.last.what, NOTICE_TAKE_OVER); /* all are of jobs now */
    notices_free(n);
}

static void a_loss_of_which_something_was_held_is_not_said_again(void **state)
{
    struct watcher a = {0};
    const struct id one = {.b = {1}}, two = {.b = {2}};
    notice_watch(*state, &a, true);
    notice_node_down(*state, &one, "desk1", "it fell silent");
    notice_peer(*state, NOTICE_PEER_LOST, &one, "desk1", "no longer answers");
    assert_int_equal(a.heard, 1);
    notice_peer(*state, NOTICE_PEER_LOST, &two, "desk2", "no longer answers");
    assert_int_equal(a.heard, 2);
    assert_string_equal(a.last.text, "desk2 no longer answers");
    assert_string_equal(a.last.peer_name, "desk2");
    notice_peer(*state, NOTICE_PEER_JOINED, &one, "desk1", "has joined");
    notice_peer(*state, NOTICE_PEER_LOST, &one, "desk1", "no longer answers"); /* another time */
    assert_int_equal(a.heard, 4);
    assert_int_equal(a.last.number, 0);
}

static void peers_are_looked_for_while_somebody_wants_it(void **state)
{
    struct watcher a = {0}, b = {0};
    notice_watch(*state, &a, false);
    assert_false(notice_peers_wanted(*state));
    notice_watch(*state, &b, true);
    assert_true(notice_peers_wanted(*state));
    notice_forget(*state, &b);
    assert_false(notice_peers_wanted(*state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_who_wants_peers_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_watcher_hears_until_it_is_forgotten, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(notices_are_numbered_and_dated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_peer_is_said_once_with_its_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(watchers_are_bounded, set_up, tear_down),
        cmocka_unit_test(peers_do_not_push_out_jobs),
        cmocka_unit_test_setup_teardown(a_loss_of_which_something_was_held_is_not_said_again,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(peers_are_looked_for_while_somebody_wants_it, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
