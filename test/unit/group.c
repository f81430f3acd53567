/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/swim/group.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MEMBERS = 6, SUBMITTER = 0, QUEUE = 1024, MS = 1000 };

/* Members who hear each other after a tenth of a millisecond, unless one is cut off. */
struct job {
    struct group *groups[MEMBERS];
    bool cut[MEMBERS];
    bool stopped[MEMBERS];         /* cut, but its host acknowledges */
    bool probed[MEMBERS][MEMBERS]; /* by whom: whose host is to acknowledge */
    uint64_t now;
    struct {
        unsigned from, to;
        uint32_t length;
        uint8_t bytes[1024];
    } queue[QUEUE];
    unsigned queued;
    unsigned doubted[MEMBERS], trusted[MEMBERS], declared[MEMBERS]; /* about whom, by anyone */
    uint64_t first_declared_us;
};

static struct part_peer peer(unsigned n)
{
    struct part_peer p = {.addr = {.port = 7117}};
    p.id.b[0] = (uint8_t)(n + 1);
    p.addr.ip[15] = (uint8_t)n;
    return p;
}

static bool is(const struct job *j, unsigned i, unsigned about, enum group_state state)
{
    struct id id = peer(about).id;
    enum group_state there;
    return group_state_of(j->groups[i], &id, &there) && there == state;
}

static void step(struct job *j, unsigned i, const struct group_event *event)
{
    static struct group_out out;
    group_step(j->groups[i], event, j->now, &out);
    for (unsigned k = 0; k < out.count; k++) {
        const struct group_action *a = &out.action[k];
        unsigned about = a->peer.addr.ip[15];
        if (a->kind == GROUP_PROBE) {
            assert_true((i == SUBMITTER) != (about == SUBMITTER));
            j->probed[i][about] = j->stopped[about] && !j->cut[i];
        } else if (a->kind == GROUP_SEND) {
            assert_true(j->queued < QUEUE && a->frame_length <= sizeof j->queue[0].bytes);
            j->queue[j->queued].from = i;
            j->queue[j->queued].to = about;
            j->queue[j->queued].length = a->frame_length;
            memcpy(j->queue[j->queued++].bytes, a->frame, a->frame_length);
        } else if (a->kind == GROUP_DOUBTED) {
            j->doubted[about]++;
        } else if (a->kind == GROUP_TRUSTED) {
            j->trusted[about]++;
        } else if (j->declared[about]++ == 0 && !j->cut[i]) {
            j->first_declared_us = j->now;
        }
    }
}

static void deliver_all(struct job *j)
{
    static struct message m;
    for (unsigned i = 0; i < j->queued; i++) {
        unsigned from = j->queue[i].from, to = j->queue[i].to;
        struct group_event event = {.kind = GROUP_MESSAGE, .peer = peer(from), .message = &m};
        if (j->cut[from] || j->cut[to])
            continue;
        assert_true(message_decode(&m, j->queue[i].bytes, j->queue[i].length));
        j->now += 100;
        step(j, to, &event);
    }
    j->queued = 0;
    for (unsigned i = 0; i < MEMBERS * MEMBERS; i++) {
        struct group_event event = {.kind = GROUP_REACHED, .peer = peer(i % MEMBERS)};
        bool *probed = &j->probed[i / MEMBERS][i % MEMBERS];
        if (!*probed)
            continue;
        *probed = false;
        step(j, i / MEMBERS, &event);
    }
}

static void run(struct job *j, unsigned ms)
{
    uint64_t until = j->now + (uint64_t)ms * MS;
    while (j->now < until) {
        unsigned first = 0;
        for (unsigned i = 1; i < MEMBERS; i++)
            if (group_deadline(j->groups[i]) < group_deadline(j->groups[first]))
                first = i;
        if (group_deadline(j->groups[first]) > j->now)
            j->now = group_deadline(j->groups[first]);
        step(j, first, &(struct group_event){.kind = GROUP_TICK});
        deliver_all(j);
    }
}

static struct job *begin(void)
{
    struct job *j = calloc(1, sizeof *j);
    j->now = 1000 * MS;
    for (unsigned i = 0; i < MEMBERS; i++) {
        struct group_setup setup = {.self = peer(i),
                                    .job = {{7}},
                                    .submitter = peer(SUBMITTER).id,
                                    .seed = i + 1,
                                    .members = MEMBERS - 1};
        j->groups[i] = group_init(malloc(group_size(&setup)), &setup, j->now);
        for (unsigned k = 0; k < MEMBERS; k++) {
            struct group_event add = {.kind = GROUP_ADD, .peer = peer(k)};
            if (k != i)
                step(j, i, &add);
        }
    }
    return j;
}

static void end(struct job *j)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        free(j->groups[i]);
    free(j);
}

static void test_the_living_are_left_alone(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 60 * MS);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_int_equal(j->doubted[i] + j->declared[i], 0);
    end(j);
}

static void test_the_silent_one_is_declared_by_all(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    uint64_t since = j->now;
    j->cut[2] = true;
    run(j, 3 * MS);
    assert_true(j->first_declared_us - since < 1500 * MS);
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_true(i == 2 || is(j, i, 2, GROUP_DEAD));
    j->cut[2] = false; /* for good: it is told so */
    run(j, 5 * MS);
    assert_true(j->declared[2] >= MEMBERS);
    end(j);
}

static void test_the_submitter_is_declared_by_the_others(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    uint64_t since = j->now;
    j->cut[SUBMITTER] = true;
    run(j, 3 * MS);
    assert_true(j->declared[SUBMITTER] > 0 && j->first_declared_us - since < 1500 * MS);
    for (unsigned i = 1; i < MEMBERS; i++)
        assert_true(is(j, i, SUBMITTER, GROUP_DEAD));
    end(j);
}

static void test_nobody_else_is_declared_without_the_submitter(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    j->cut[SUBMITTER] = j->cut[3] = true;
    run(j, 3 * MS);
    for (unsigned i = 1; i < MEMBERS; i++)
        assert_true(i == 3 || is(j, i, 3, GROUP_SUSPECTED));
    end(j);
}

static void test_a_stopped_daemon_is_no_silent_host(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    j->cut[4] = j->stopped[4] = true;
    run(j, 4 * MS);
    assert_true(j->doubted[4] > 0 && is(j, SUBMITTER, 4, GROUP_SUSPECTED));
    j->cut[4] = j->stopped[4] = false;
    run(j, 4 * MS);
    assert_true(is(j, SUBMITTER, 4, GROUP_ALIVE));
    j->cut[4] = j->stopped[4] = true; /* but not for ever */
    run(j, GROUP_STALLED_US / 1000 + 2 * MS);
    assert_true(is(j, SUBMITTER, 4, GROUP_DEAD));
    end(j);
}

static void test_nor_is_the_stopped_daemon_of_the_submitter(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    j->cut[SUBMITTER] = j->stopped[SUBMITTER] = true;
    run(j, GROUP_STALLED_US / 2000);
    assert_true(j->doubted[SUBMITTER] > 0);
    assert_int_equal(j->declared[SUBMITTER], 0);
    run(j, GROUP_STALLED_US / 1000); /* but not for ever */
    for (unsigned i = 1; i < MEMBERS; i++)
        assert_true(is(j, i, SUBMITTER, GROUP_DEAD));
    end(j);
}

static void test_a_short_silence_is_forgiven(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    j->cut[3] = true;
    while (j->doubted[3] == 0)
        run(j, 10);
    j->cut[3] = false;
    run(j, 5 * MS);
    assert_int_equal(j->declared[3], 0);
    assert_true(j->trusted[3] > 0);
    end(j);
}

static void test_a_broken_link_alone_kills_nobody(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    step(j, 0, &(struct group_event){.kind = GROUP_UNREACHABLE, .peer = peer(4)});
    deliver_all(j);
    run(j, 5 * MS);
    assert_int_equal(j->declared[4], 0);
    end(j);
}

static void test_who_is_cut_off_doubts_itself(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 2 * MS);
    assert_int_equal(group_slowness(j->groups[5]), 0);
    j->cut[5] = true;
    run(j, 1 * MS);
    assert_true(group_slowness(j->groups[5]) > 0);
    end(j);
}

static void test_a_removed_member_is_not_missed(void **state)
{
    (void)state;
    struct job *j = begin();
    for (unsigned i = 0; i < MEMBERS; i++)
        if (i != 1)
            step(j, i, &(struct group_event){.kind = GROUP_REMOVE, .peer = peer(1)});
    j->cut[1] = true;
    run(j, 5 * MS);
    for (unsigned i = 0; i < MEMBERS; i++) {
        struct id gone = peer(1).id;
        enum group_state there;
        assert_true(i == 1 || !group_state_of(j->groups[i], &gone, &there));
        assert_true(i == 1 || i == 0 || is(j, i, 0, GROUP_ALIVE));
    }
    end(j);
}

static void test_another_jobs_message_is_not_heard(void **state)
{
    (void)state;
    struct job *j = begin();
    struct message m = {.kind = MSG_group_ping, .group_ping = {.job = {{8}}, .serial = 1}};
    struct group_event event = {.kind = GROUP_MESSAGE, .peer = peer(1), .message = &m};
    assert_int_equal(group_job(&m)->b[0], 8);
    unsigned before = j->queued;
    step(j, 0, &event);
    assert_int_equal(j->queued, before);
    end(j);
}

/* --- a member that lies --- */

static void lie(struct job *j, unsigned liar, unsigned to, const struct part_rumor *rumors,
                uint16_t count)
{
    static struct message m;
    struct group_event event = {.kind = GROUP_MESSAGE, .peer = peer(liar), .message = &m};
    memset(&m, 0, sizeof m);
    m.kind = MSG_group_ping;
    m.group_ping.job.b[0] = 7;
    m.group_ping.serial = 1;
    m.group_ping.rumors_count = count;
    memcpy(m.group_ping.rumors, rumors, count * sizeof *rumors);
    step(j, to, &event);
    deliver_all(j);
}

static void expect_all_well(struct job *j)
{
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_int_equal(j->declared[i], 0);
        for (unsigned k = 0; k < MEMBERS; k++)
            assert_true(i == k || is(j, i, k, GROUP_ALIVE));
    }
}

static void test_one_word_of_death_ends_nothing(void **state)
{
    (void)state;
    struct job *j = begin();
    struct part_rumor dead[MEMBERS];
    uint16_t count = 0;
    run(j, 1 * MS);
    for (unsigned about = 0; about < MEMBERS; about++)
        if (about != 5)
            dead[count++] =
                (struct part_rumor){.peer = peer(about).id, .by = peer(1).id, .state = GROUP_DEAD};
    for (unsigned again = 0; again < 50; again++)
        for (unsigned to = 0; to < 5; to++)
            lie(j, 5, to, dead, count);
    run(j, 10 * MS);
    expect_all_well(j);
    end(j);
}

static void test_nobody_is_left_without_a_denial(void **state)
{
    (void)state;
    struct job *j = begin();
    run(j, 1 * MS);
    for (uint32_t raised = 1; raised != 0; raised <<= 1) {
        struct part_rumor suspected[] = {
            {.peer = peer(2).id, .by = peer(5).id, .state = GROUP_SUSPECTED},
            {.peer = peer(SUBMITTER).id, .by = peer(3).id, .state = GROUP_SUSPECTED}};
        suspected[0].incarnation = suspected[1].incarnation = raised | (raised - 1);
        for (unsigned to = 0; to < 5; to++)
            lie(j, 5, to, suspected, 2);
        run(j, 200);
    }
    run(j, 10 * MS);
    expect_all_well(j);
    end(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_word_of_death_ends_nothing),
        cmocka_unit_test(test_nobody_is_left_without_a_denial),
        cmocka_unit_test(test_the_living_are_left_alone),
        cmocka_unit_test(test_the_silent_one_is_declared_by_all),
        cmocka_unit_test(test_the_submitter_is_declared_by_the_others),
        cmocka_unit_test(test_nobody_else_is_declared_without_the_submitter),
        cmocka_unit_test(test_a_stopped_daemon_is_no_silent_host),
        cmocka_unit_test(test_nor_is_the_stopped_daemon_of_the_submitter),
        cmocka_unit_test(test_a_short_silence_is_forgiven),
        cmocka_unit_test(test_a_broken_link_alone_kills_nobody),
        cmocka_unit_test(test_who_is_cut_off_doubts_itself),
        cmocka_unit_test(test_a_removed_member_is_not_missed),
        cmocka_unit_test(test_another_jobs_message_is_not_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
