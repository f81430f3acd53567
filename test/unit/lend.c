/* SPDX-License-Identifier: BSD-3-Clause */
/* lend.c -- the lending side: events in, actions out. */
#include "overlay/core/lease/lend.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { T0 = 1000, SLOTS = 4, KEPT = 60000 };

struct scene {
    struct lend lend;
    struct lend_out out;
    struct lend_terms terms;
    struct message_whole said;
    uint64_t now;
    uint8_t fresh; /* ids used so far */
};

static struct scene s;

static int begin(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    lend_init(&s.lend);
    s.terms = (struct lend_terms){.slots = SLOTS, .kept_ms = KEPT};
    s.now = T0;
    return 0;
}

static struct part_peer desk(unsigned n)
{
    return (struct part_peer){.id = {{(uint8_t)n}}, .addr = {.port = 7117}};
}

static void step(const struct lend_event *event)
{
    struct lend_event e = *event;
    e.terms = &s.terms;
    lend_step(&s.lend, &e, s.now, &s.out);
}

static struct message *message(enum message_kind kind)
{
    return message_clear(&s.said, kind);
}

/* Peer and owner have the same number; number 1 is this peer's owner's. */
static void hear_refused(unsigned from, const char *refusal)
{
    struct id fresh[LEND_OFFERS_MAX] = {{{0}}};
    for (unsigned i = 0; i < LEND_OFFERS_MAX; i++)
        fresh[i].b[0] = (uint8_t)(i == 0 ? ++s.fresh : 0);
    step(&(struct lend_event){.kind = LEND_MESSAGE,
                              .peer = desk(from),
                              .owner = desk(from).id,
                              .guest = from != 1,
                              .message = &s.said.message,
                              .refusal = refusal,
                              .fresh = fresh});
}

static void hear(unsigned from)
{
    hear_refused(from, NULL);
}

static const struct lend_action *only(enum lend_action_kind kind)
{
    const struct lend_action *found = NULL;
    for (size_t i = 0; i < s.out.count; i++)
        if (s.out.action[i].kind == kind) {
            assert_null(found);
            found = &s.out.action[i];
        }
    assert_non_null(found);
    return found;
}

static unsigned count(enum lend_action_kind kind)
{
    unsigned n = 0;
    for (size_t i = 0; i < s.out.count; i++)
        n += s.out.action[i].kind == kind;
    return n;
}

static const struct msg_lease_answer *ask(unsigned from, uint16_t slots)
{
    message(MSG_lease_ask)->lease_ask.slots = slots;
    hear(from);
    return only(LEND_ANSWER)->answer;
}

static void confirm(unsigned from, struct id lease, uint16_t slots)
{
    struct message *m = message(MSG_lease_confirm);
    m->lease_confirm.lease = lease;
    m->lease_confirm.slots = slots;
    hear(from);
}

static struct id grant(unsigned to, uint16_t slots)
{
    const struct id lease = ask(to, slots)->offers[0].lease;
    confirm(to, lease, slots);
    assert_int_equal(s.out.count, 0);
    return lease;
}

static void launch(unsigned from, struct id lease)
{
    message(MSG_lease_launch)->lease_launch.lease = lease;
    hear(from);
}

static void renew(unsigned from, struct id lease)
{
    struct message *m = message(MSG_lease_renew);
    m->lease_renew->leases[m->lease_renew->leases_count++].lease = lease;
    hear(from);
}

static void tick_at(uint64_t now)
{
    s.now = now;
    step(&(struct lend_event){.kind = LEND_TICK});
}

static void test_offers_what_is_free_and_says_why_not(void **state)
{
    (void)state;
    const struct msg_lease_answer *a = ask(2, 3);
    assert_int_equal(a->offers_count, 1);
    assert_int_equal(a->offers[0].slots, 3);
    assert_int_equal(a->slots_free, 1);
    a = ask(3, 4);
    assert_int_equal(a->offers[0].slots, 1);
    assert_int_equal(a->slots_contested, 3);
    a = ask(4, 1);
    assert_int_equal(a->offers_count, 0);
    assert_string_equal(a->reason, "has 0 of 4 slots free");
    assert_int_equal(lend_slots_free(&s.lend, SLOTS), SLOTS); /* nobody has taken any */
    assert_int_equal(lend_count(&s.lend), 0);
    s.terms.slots_each = 1;
    tick_at(T0 + LEASE_OFFER_MS);
    assert_int_equal(ask(2, 3)->offers[0].slots, 1);
    assert_string_equal(ask(2, 3)->reason, "lends at most 1 slots to one other desktop");
    message(MSG_lease_ask)->lease_ask.slots = 1;
    hear_refused(3, "runs Open MPI 5.0.7 (needs 4.1)");
    assert_string_equal(only(LEND_ANSWER)->answer->reason, "runs Open MPI 5.0.7 (needs 4.1)");
    assert_int_equal(only(LEND_ANSWER)->answer->offers_count, 0);
}

static void test_an_offer_that_is_not_confirmed_is_free_again(void **state)
{
    (void)state;
    ask(2, 4);
    tick_at(T0 + LEASE_OFFER_MS - 1);
    assert_int_equal(lease_slots_free(&s.lend.table, SLOTS), 0);
    tick_at(T0 + LEASE_OFFER_MS);
    assert_int_equal(s.out.count, 0); /* nobody waits for a word about it */
    assert_int_equal(lease_slots_free(&s.lend.table, SLOTS), SLOTS);
    assert_true(lend_deadline(&s.lend) == UINT64_MAX);
}

/* Renewed it lives; then its holder is asked each second, and it runs out, to the millisecond. */
static void test_a_lease_lives_as_long_as_it_is_renewed(void **state)
{
    (void)state;
    const struct id lease = grant(2, 2);
    s.now = T0 + 5000;
    renew(2, lease);
    assert_int_equal(only(LEND_RENEWED)->count, 1);
    const uint64_t over = s.now + LEASE_TTL_MS;
    unsigned probes = 0, ended = 0;
    while (ended == 0) {
        tick_at(lend_deadline(&s.lend) > s.now ? lend_deadline(&s.lend) : s.now);
        probes += count(LEND_PROBE);
        ended += count(LEND_ENDED);
    }
    assert_true(s.now == over);
    assert_in_range(probes, 2, 4);
    assert_int_equal(only(LEND_ENDED)->cause, LEASE_EXPIRED);
    assert_true(only(LEND_CLEARED)->last);
    assert_int_equal(lend_count(&s.lend), 0);
}

/* Its host is there: the daemon on it waits for its turn, and has five times as long. */
static void test_the_holder_of_a_busy_host_has_more_time(void **state)
{
    (void)state;
    grant(2, 2);
    while (lend_count(&s.lend) > 0) {
        tick_at(lend_deadline(&s.lend) > s.now ? lend_deadline(&s.lend) : s.now);
        if (count(LEND_PROBE) == 0)
            continue;
        const struct lend_event answers = {.kind = LEND_ANSWERS, .row = only(LEND_PROBE)->row};
        lend_step(&s.lend, &answers, s.now, NULL);
    }
    assert_true(s.now == T0 + LEASE_STALLED_MS);
}

static void test_what_runs_is_stopped_before_its_slots_are_free(void **state)
{
    (void)state;
    const struct id lease = grant(2, 4);
    launch(2, lease);
    const size_t row = only(LEND_START)->row;
    launch(2, lease);
    assert_int_equal(s.out.count, 1);
    assert_int_equal(s.out.action[0].kind, LEND_TWICE);
    step(&(struct lend_event){.kind = LEND_END, .text = "the peer's owner came back"});
    assert_int_equal(s.out.count, 2);
    assert_int_equal(s.out.action[0].kind, LEND_ENDING); /* first */
    assert_string_equal(s.out.action[0].text, "the peer's owner came back");
    assert_int_equal(s.out.action[1].kind, LEND_STOP);
    tick_at(s.now + 100); /* and only once */
    assert_int_equal(s.out.count, 0);
    assert_int_equal(ask(3, 1)->offers_count, 0);
    step(&(struct lend_event){.kind = LEND_OVER,
                              .row = row,
                              .cause = LEASE_FINISHED,
                              .status = 9,
                              .text = "its command was killed by signal 9"});
    assert_int_equal(only(LEND_ENDED)->cause, LEASE_REVOKED);
    assert_int_equal(only(LEND_ENDED)->status, 9);
    assert_string_equal(only(LEND_ENDED)->text, "the peer's owner came back");
    assert_int_equal(only(LEND_CLEARED)->slots, 4);
    assert_int_equal(ask(3, 1)->offers_count, 1);
}

static void test_a_command_that_ends_or_never_starts_ends_its_lease(void **state)
{
    (void)state;
    launch(2, grant(2, 1));
    step(&(struct lend_event){.kind = LEND_OVER,
                              .row = only(LEND_START)->row,
                              .cause = LEASE_FINISHED,
                              .text = "its command ended with status 0"});
    assert_int_equal(only(LEND_ENDED)->cause, LEASE_FINISHED);
    assert_string_equal(only(LEND_ENDED)->text, "its command ended with status 0");
    launch(2, grant(2, 1));
    step(&(struct lend_event){
        .kind = LEND_NOT_STARTED, .row = only(LEND_START)->row, .text = "no such program"});
    assert_int_equal(only(LEND_ENDED)->cause, LEASE_FAILED);
    assert_string_equal(only(LEND_ENDED)->text, "no such program");
    assert_int_equal(lend_count(&s.lend), 0);
}

static void test_a_lease_is_its_holders_alone(void **state)
{
    (void)state;
    const struct id lease = grant(2, 1);
    launch(3, lease);
    assert_int_equal(count(LEND_START), 0);
    assert_int_equal(only(LEND_FORGED)->peer.id.b[0], 3);
    assert_int_equal(only(LEND_ENDED)->cause, LEASE_UNKNOWN);
    message(MSG_lease_release)->lease_release.lease = lease;
    hear(3);
    assert_int_equal(lend_count(&s.lend), 1);
    message(MSG_lease_release)->lease_release.lease = lease;
    hear(2);
    assert_int_equal(only(LEND_ENDED)->cause, LEASE_RELEASED);
    assert_int_equal(lend_count(&s.lend), 0);
}

/* A daemon that was started anew knows of none. */
static void test_a_holder_that_knows_of_none_has_none(void **state)
{
    (void)state;
    grant(2, 1);
    grant(2, 1);
    grant(3, 1);
    message(MSG_lease_renew);
    hear(2);
    assert_int_equal(count(LEND_ENDED), 2);
    assert_int_equal(lend_count(&s.lend), 1);
    const struct part_peer other = desk(3);
    assert_true(lend_holds(&s.lend, &other.id));
}

static void test_more_than_a_share_is_asked_back_and_then_taken(void **state)
{
    (void)state;
    const struct id lease = grant(2, 4);
    launch(2, lease);
    uint64_t recalled = 0;
    message(MSG_lease_waiting);
    hear(3);
    while (s.lend.table.at[0].state != LEASE_ENDING) {
        renew(2, lease);
        tick_at(lend_deadline(&s.lend) > s.now ? lend_deadline(&s.lend) : s.now);
        if (count(LEND_RECALLED) > 0) {
            assert_true(recalled == 0);
            recalled = s.now;
            assert_int_equal(only(LEND_RECALLED)->within_ms, LEND_SURPLUS_MS);
        }
    }
    assert_in_range(recalled - T0, KEPT, KEPT + LEND_LOOK_MS);
    assert_in_range(s.now - recalled, LEND_SURPLUS_MS, LEND_SURPLUS_MS + LEND_LOOK_MS);
    assert_string_equal(only(LEND_ENDING)->text,
                        "others wait for slots, and it had more than its share");
}

static void test_all_are_recalled_once(void **state)
{
    (void)state;
    grant(2, 1);
    grant(3, 1);
    step(&(struct lend_event){.kind = LEND_RECALL, .within_ms = 9000, .text = "leaves the grid"});
    assert_int_equal(count(LEND_RECALLED), 2);
    step(&(struct lend_event){.kind = LEND_RECALL, .within_ms = 8000, .text = "leaves the grid"});
    assert_int_equal(s.out.count, 0);
    step(&(struct lend_event){.kind = LEND_END, .peer = desk(2), .text = "its holder was revoked"});
    assert_int_equal(only(LEND_ENDED)->peer.id.b[0], 2);
    assert_int_equal(lend_count(&s.lend), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_offers_what_is_free_and_says_why_not, begin),
        cmocka_unit_test_setup(test_an_offer_that_is_not_confirmed_is_free_again, begin),
        cmocka_unit_test_setup(test_a_lease_lives_as_long_as_it_is_renewed, begin),
        cmocka_unit_test_setup(test_the_holder_of_a_busy_host_has_more_time, begin),
        cmocka_unit_test_setup(test_what_runs_is_stopped_before_its_slots_are_free, begin),
        cmocka_unit_test_setup(test_a_command_that_ends_or_never_starts_ends_its_lease, begin),
        cmocka_unit_test_setup(test_a_lease_is_its_holders_alone, begin),
        cmocka_unit_test_setup(test_a_holder_that_knows_of_none_has_none, begin),
        cmocka_unit_test_setup(test_more_than_a_share_is_asked_back_and_then_taken, begin),
        cmocka_unit_test_setup(test_all_are_recalled_once, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
