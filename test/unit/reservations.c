/* SPDX-License-Identifier: BSD-3-Clause */
/* reservations.c -- an allocation lives until its time is over, it is given back, or the program
 * that keeps it ends; then its leases are given back, and watchers hear of it. The leases
 * themselves are this test's. */
#include "overlay/borrow/reservations.h"
#include "overlay/borrow/searches.h"
#include "overlay/borrow/borrowed.h"
#include "overlay/node/node.h"
#include "overlay/watch/notice.h"
#include "overlay/client/p2pgrid.h"
#include "overlay/client/words.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <event2/event.h>

/* What was said, by kind; the last of each. */
static struct {
    unsigned rows, leases, dones, events, notices;
    struct msg_local_reservation row;
    struct msg_local_done done;
    struct msg_local_notice notice;
} said;

static const void *released, *cancelled; /* the last owner whose leases were given back */
static void *owner;                      /* of the two leases of this test */
static struct borrow_lease taken = {.slots = 4};
static const struct borrow held = {.at = &taken, .count = 1};

void borrowed_release_all(struct borrowed *h, const void *of)
{
    (void)h;
    released = of;
}

void searches_cancel(struct searches *a, const void *of)
{
    (void)a;
    cancelled = of;
}

bool borrowed_nth(const struct borrowed *h, const void *of, unsigned nth,
                  struct msg_local_lease *lease)
{
    (void)h;
    lease->slots = 3;
    return of == owner && nth < 2;
}

const struct borrow *borrowed_held(const struct borrowed *h)
{
    (void)h;
    return &held;
}

void borrowed_find_owner(struct borrowed *h, borrowed_owner_fn *find, void *ctx)
{
    (void)h, (void)find, (void)ctx;
}

static void say(void *client, const struct message *m)
{
    (void)client;
    if (m->kind == MSG_local_reservation) {
        said.rows++;
        said.row = m->local_reservation;
    } else if (m->kind == MSG_local_lease) {
        said.leases++;
    } else if (m->kind == MSG_local_done) {
        said.dones++;
        said.done = m->local_done;
    } else if (m->kind == MSG_local_event) {
        said.events++;
    } else if (m->kind == MSG_local_notice) {
        said.notices++;
        said.notice = m->local_notice;
    }
}

struct room {
    struct node node;
    struct notices *notices;
    struct reserves *all;
    int program, other, watcher; /* their addresses are clients */
};

static int set_up(void **state)
{
    static struct room room;
    struct err e = {0};
    memset(&room, 0, sizeof room);
    memset(&said, 0, sizeof said);
    released = cancelled = owner = NULL;
    room.node.base = event_base_new();
    room.node.log = log_open("/dev/null", "desk1", LOG_LEVEL_ERROR);
    room.notices = notices_new(say);
    notice_watch(room.notices, &room.watcher, false);
    *state = &room;
    return reserves_open(&room.all, &room.node, NULL, NULL, room.notices, say, &e);
}

static int tear_down(void **state)
{
    struct room *room = *state;
    reserves_close(room->all);
    notices_free(room->notices);
    log_close(room->node.log);
    event_base_free(room->node.base);
    return 0;
}

static uint32_t serve(struct room *room, uint8_t verb, const struct id *id, uint32_t seconds,
                      bool stays)
{
    struct msg_local_reserve wish = {
        .token = 5, .verb = verb, .seconds = seconds, .stays = stays, .name = "mine"};
    if (id != NULL)
        wish.reservation = *id;
    reserve_serve(room->all, &room->program, &wish);
    assert_int_equal(said.done.token, 5);
    return said.done.code;
}

static struct id make(struct room *room, uint32_t seconds, bool stays)
{
    assert_int_equal(serve(room, RESERVE_NEW, NULL, seconds, stays), 0);
    const struct id id = said.row.reservation;
    owner = reserve_holder(room->all, &id);
    taken.within = id;
    assert_non_null(owner);
    return id;
}

static void one_is_made_and_told_of(void **state)
{
    struct room *room = *state;
    const struct id id = make(room, 60, true);
    assert_int_equal(serve(room, RESERVE_TELL, &id, 0, false), 0);
    assert_int_equal(said.rows, 2);
    assert_int_equal(said.leases, 2);
    assert_int_equal(said.row.slots, 6);
    assert_int_equal(said.row.used, 4);
    assert_in_range(said.row.seconds, 59, 60);
    assert_string_equal(said.row.name, "mine");
    make(room, 60, true);
    assert_int_equal(serve(room, RESERVE_TELL, NULL, 0, false), 0); /* of all, without leases */
    assert_int_equal(said.rows, 5);
    assert_int_equal(said.leases, 2);
}

static void it_is_prolonged_within_bounds(void **state)
{
    struct room *room = *state;
    const struct id id = make(room, 60, true);
    assert_int_equal(serve(room, RESERVE_PROLONG, &id, 60, false), 0);
    assert_in_range(said.row.seconds, 119, 120);
    assert_int_equal(serve(room, RESERVE_PROLONG, &id, UINT32_MAX, false), 0);
    assert_int_equal(said.row.seconds, RESERVE_SECONDS_MAX);
}

static void it_ends_when_it_is_given_back(void **state)
{
    struct room *room = *state;
    const struct id id = make(room, 60, true);
    assert_int_equal(serve(room, RESERVE_RELEASE, &id, 0, false), 0);
    assert_ptr_equal(released, owner);
    assert_ptr_equal(cancelled, owner);
    assert_int_equal(said.notices, 1);
    assert_int_equal(said.notice.what, NOTICE_ALLOCATION_ENDED);
    assert_true(id_equal(&said.notice.reservation, &id));
    assert_null(reserve_holder(room->all, &id));
    assert_int_equal(serve(room, RESERVE_RELEASE, &id, 0, false), ENOENT);
}

static void it_ends_when_its_time_is_over(void **state)
{
    struct room *room = *state;
    const struct id id = make(room, 1, false);
    event_base_loop(room->node.base, EVLOOP_ONCE);
    assert_ptr_equal(released, owner);
    assert_int_equal(said.events, 1); /* to the program */
    assert_int_equal(said.notices, 1);
    assert_string_equal(said.notice.text, "allocation mine ended: its time is over");
    assert_null(reserve_holder(room->all, &id));
}

static void it_stays_without_its_program_when_asked_to(void **state)
{
    struct room *room = *state;
    const struct id stays = make(room, 60, true), goes = make(room, 60, false),
                    kept = make(room, 60, false);
    assert_int_equal(serve(room, RESERVE_KEEP, &kept, 0, true), 0);
    reserve_forget(room->all, &room->other);
    assert_non_null(reserve_holder(room->all, &goes));
    reserve_forget(room->all, &room->program);
    assert_null(reserve_holder(room->all, &goes));
    assert_non_null(reserve_holder(room->all, &stays));
    assert_non_null(reserve_holder(room->all, &kept));
}

static void nonsense_is_refused_and_many_are_bounded(void **state)
{
    struct room *room = *state;
    const struct id none = {.b = {9}};
    unsigned made = 0;
    assert_int_equal(serve(room, RESERVE_NEW, NULL, 0, true), EINVAL);
    assert_int_equal(serve(room, RESERVE_RELEASE + 1, NULL, 1, true), EINVAL);
    assert_int_equal(serve(room, RESERVE_PROLONG, &none, 1, true), ENOENT);
    while (made < 1000 && serve(room, RESERVE_NEW, NULL, 60, true) == 0)
        made++;
    assert_in_range(made, 16, 999);
    assert_int_equal(said.done.code, EAGAIN);
    assert_non_null(strstr(said.done.reason, "give one back"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_is_made_and_told_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_prolonged_within_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_when_it_is_given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_when_its_time_is_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_stays_without_its_program_when_asked_to, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nonsense_is_refused_and_many_are_bounded, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
