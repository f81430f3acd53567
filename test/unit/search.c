/* SPDX-License-Identifier: BSD-3-Clause */
/* search.c -- one search for slots: events in, actions out. Peers answer as the scene says;
 * whatever is offered is confirmed or given back. */
#include "overlay/core/lease/search.h"
#include "overlay/core/lease/lending_state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PEERS = 20, T0 = 1000 };

static const struct id mine = {{1}}, theirs = {{2}};

struct scene {
    struct request request;
    struct search *search;
    struct search_out out;
    uint64_t now;
    uint8_t leases; /* offered so far */
};

static void step(struct scene *s, const struct search_event *event)
{
    search_step(s->search, event, s->now, &s->out);
}

static void begin(struct scene *s, const struct request *request, bool small)
{
    struct require require;
    struct require_error wrong;
    *s = (struct scene){.request = *request, .now = T0};
    if (s->request.timeout_ms == 0)
        s->request.timeout_ms = 10000;
    assert_true(require_parse(&require, request->require != NULL ? request->require : "", &wrong));
    const struct search_setup setup = {.request = &s->request,
                                       .require = &require,
                                       .owner = mine,
                                       .ompi = "4.1.4",
                                       .seed = 7,
                                       .token = 3,
                                       .token_step = 64,
                                       .peers = PEERS};
    s->search = search_init(malloc(search_size(&setup)), &setup, s->now);
    s->out.most = search_actions(&setup);
    s->out.action = calloc(s->out.most, sizeof *s->out.action);
    step(s, &(struct search_event){.kind = SEARCH_BEGIN, .small = small});
}

static void end(struct scene *s)
{
    free(s->search);
    free(s->out.action);
}

static struct part_peer desk(unsigned n)
{
    return (struct part_peer){.id = {{(uint8_t)n, 9}}, .addr = {.port = 7117}};
}

static void find(struct scene *s, unsigned n, uint16_t slots_free)
{
    struct part_ad ad = {
        .peer = desk(n), .slots = 4, .slots_free = slots_free, .cores = 4, .ompi = "4.1.6"};
    snprintf(ad.name, sizeof ad.name, "desk%u", n);
    step(s, &(struct search_event){.kind = SEARCH_FOUND, .ad = &ad, .rtt_us = 100 * n});
}

static void find_many(struct scene *s, unsigned count, uint16_t slots_free)
{
    for (unsigned i = 1; i <= count; i++)
        find(s, i, slots_free);
}

static void looked(struct scene *s, unsigned silent)
{
    step(s, &(struct search_event){.kind = SEARCH_LOOKED, .silent = silent});
}

/* The next tick when it is due. */
static void tick_while(struct scene *s, bool unsettled)
{
    const uint64_t due = search_deadline(s->search);
    assert_true(due != UINT64_MAX);
    s->now = due > s->now ? due : s->now;
    step(s, &(struct search_event){.kind = SEARCH_TICK, .unsettled = unsettled});
}

static void tick(struct scene *s)
{
    tick_while(s, false);
}

static void tick_unsettled(struct scene *s)
{
    tick_while(s, true);
}

static unsigned count(const struct scene *s, enum search_action_kind kind)
{
    unsigned n = 0;
    for (size_t i = 0; i < s->out.count; i++)
        n += s->out.action[i].kind == kind;
    return n;
}

static const struct search_action *only(const struct scene *s, enum search_action_kind kind)
{
    const struct search_action *found = NULL;
    for (size_t i = 0; i < s->out.count; i++)
        if (s->out.action[i].kind == kind) {
            assert_null(found);
            found = &s->out.action[i];
        }
    assert_non_null(found);
    return found;
}

/* Its lease is number `leases` from now on. */
static void answer(struct scene *s, const struct part_peer *peer, uint32_t token, uint16_t slots,
                   uint16_t contested)
{
    struct msg_lease_answer a = {
        .token = token, .slots_total = 4, .slots_contested = contested, .offers_count = slots > 0};
    a.offers[0] = (struct part_offer){.lease = {{++s->leases}}, .slots = slots};
    if (slots == 0)
        snprintf(a.reason, sizeof a.reason, "has 0 of 4 slots free");
    step(s,
         &(struct search_event){.kind = SEARCH_ANSWER, .peer = *peer, .owner = mine, .answer = &a});
}

/* Those that were asked in this step give what they were asked for, or `slots` when that is less.
 */
static void answer_all(struct scene *s, uint16_t most, uint16_t contested)
{
    struct search_action asks[PEERS];
    unsigned n = 0;
    for (size_t i = 0; i < s->out.count; i++)
        if (s->out.action[i].kind == SEARCH_ASK)
            asks[n++] = s->out.action[i];
    for (unsigned i = 0; i < n; i++)
        answer(s, &asks[i].peer, asks[i].token, asks[i].slots < most ? asks[i].slots : most,
               contested);
}

static void test_a_small_grid_is_walked_and_the_nearest_are_asked(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 8}, true);
    assert_int_equal(only(&s, SEARCH_LOOK_ALL)->within_ms, SEARCH_WALK_MS);
    assert_true(search_deadline(s.search) == UINT64_MAX);
    find_many(&s, 5, 4);
    assert_int_equal(s.out.count, 0);
    assert_true(search_deadline(s.search) == T0 + SEARCH_QUIET_MS);
    tick(&s); /* enough was seen */
    assert_int_equal(count(&s, SEARCH_STOP_LOOKING), 1);
    assert_int_equal(count(&s, SEARCH_ASK), 3); /* 8, and a quarter more */
    assert_int_equal(s.out.action[1].slots, 4);
    assert_int_equal(s.out.action[1].token % 64, 3);
    answer_all(&s, 4, 0);
    assert_int_equal(s.out.count, 0);
    assert_true(search_deadline(s.search) == s.now);
    tick(&s);
    assert_int_equal(count(&s, SEARCH_BORROW), 2);
    assert_string_equal(s.out.action[0].from->name, "desk1");
    assert_int_equal(s.out.action[0].slots, 4);
    const struct search_action *back = only(&s, SEARCH_RELEASE);
    assert_int_equal(back->peer.id.b[0], 3);
    assert_int_equal(back->lease.b[0], 3);
    assert_null(only(&s, SEARCH_ENDED)->reason);
    assert_true(search_deadline(s.search) == UINT64_MAX);
    end(&s);
}

static void test_in_a_large_grid_the_ring_names_the_near_ones(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 4}, false);
    assert_int_equal(only(&s, SEARCH_LOOK_NEAR)->count, SEARCH_NAMED_MIN);
    for (unsigned i = 0; i < 3; i++)
        step(&s, &(struct search_event){.kind = SEARCH_NAMED, .slots = 4});
    tick(&s); /* they promise more than twice what is wanted */
    assert_int_equal(s.out.count, 1);
    assert_int_equal(s.out.action[0].kind, SEARCH_STOP_NAMING);
    find_many(&s, 1, 4);
    looked(&s, 0);
    tick(&s); /* but too few have it */
    assert_int_equal(only(&s, SEARCH_LOOK_ALL)->within_ms, SEARCH_WALK_MS);
    find_many(&s, 3, 4);
    looked(&s, 0);
    tick(&s);
    assert_int_equal(count(&s, SEARCH_ASK), 2);
    end(&s);
}

/* What a cut look saw was not enough: all are looked at, to the end. Then nothing is left to try.
 */
static void test_looks_further_and_then_says_why_not(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 4}, true);
    find_many(&s, 3, 4);
    tick(&s);
    answer_all(&s, 1, 0);
    tick(&s);
    answer_all(&s, 0, 0);
    while (count(&s, SEARCH_LOOK_ALL) == 0) {
        tick(&s);
        answer_all(&s, 0, 0);
        if (count(&s, SEARCH_LOOK_ALL) == 0)
            assert_int_equal(count(&s, SEARCH_ENDED), 0);
    }
    find_many(&s, 2, 0);
    find(&s, 3, 1);
    looked(&s, 0);
    tick(&s);
    answer_all(&s, 1, 0);
    tick(&s);
    assert_int_equal(count(&s, SEARCH_TELL_WAITING), 2);
    assert_int_equal(count(&s, SEARCH_RELEASE), 1);
    assert_string_equal(only(&s, SEARCH_ENDED)->reason,
                        "asked for 4 slots, found 1 on 1 peer: desk1 has 0 of 4 slots free, desk2 "
                        "has 0 of 4 slots free; start fewer processes or wait");
    end(&s);
}

static void test_those_that_are_missed_are_looked_for_again(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 1}, true);
    looked(&s, 2);
    tick(&s);
    assert_int_equal(s.out.count, 0);
    assert_true(search_deadline(s.search) == T0 + SEARCH_AGAIN_MS);
    tick(&s);
    assert_int_equal(only(&s, SEARCH_LOOK_ALL)->within_ms, SEARCH_NEAR_MS);
    looked(&s, 2);
    tick(&s);
    assert_int_equal(only(&s, SEARCH_ENDED)->count, 2);
    assert_string_equal(only(&s, SEARCH_ENDED)->reason,
                        "asked for 1 slot, found 0 on 0 peers: 2 peers did not answer; start fewer "
                        "processes or wait");
    end(&s);
}

/* A grid that has just come up: it is looked at until it does not change any more. */
static void test_an_unsettled_ring_is_looked_at_again(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 4}, true);
    for (unsigned look = 1; look <= SEARCH_AGAIN_MOST; look++) {
        find_many(&s, 1, 1);
        looked(&s, 0);
        tick_unsettled(&s);
        answer_all(&s, 1, 0);
        tick_unsettled(&s);
        assert_int_equal(count(&s, SEARCH_ENDED), 0);
        assert_true(search_deadline(s.search) == T0 + look * SEARCH_AGAIN_MS);
        tick_unsettled(&s);
        assert_int_equal(count(&s, SEARCH_LOOK_ALL), 1);
    }
    find_many(&s, 2, 1);
    looked(&s, 0);
    tick_unsettled(&s);
    answer_all(&s, 1, 0);
    tick_unsettled(&s);
    assert_string_equal(only(&s, SEARCH_ENDED)->reason,
                        "asked for 4 slots, found 2 on 2 peers while peers come and go; start "
                        "fewer processes or wait");
    end(&s);
    begin(&s, &(struct request){.slots = 4}, true);
    looked(&s, 0);
    tick_unsettled(&s);
    tick(&s);
    find_many(&s, 1, 1);
    looked(&s, 0);
    tick(&s); /* it does not change any more */
    answer_all(&s, 1, 0);
    tick(&s);
    assert_string_equal(only(&s, SEARCH_ENDED)->reason,
                        "asked for 4 slots, found 1 on 1 peer; start fewer processes or wait");
    end(&s);
}

/* mpirun after mpirun: what the first one had is free a moment later. */
static void test_what_is_given_back_is_waited_for(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 1}, true);
    looked(&s, 0);
    s.now = search_deadline(s.search);
    step(&s, &(struct search_event){.kind = SEARCH_TICK, .gives_back = true});
    assert_int_equal(count(&s, SEARCH_ENDED), 0);
    tick(&s);
    assert_int_equal(count(&s, SEARCH_LOOK_ALL), 1);
    find_many(&s, 1, 1);
    looked(&s, 0);
    tick(&s);
    answer_all(&s, 1, 0);
    tick(&s);
    assert_int_equal(count(&s, SEARCH_BORROW), 1);
    end(&s);
}

/* The ring drops it before the second look. */
static void test_a_silent_peer_is_counted_when_it_was_dropped(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 4}, true);
    find_many(&s, 1, 1);
    looked(&s, 1);
    tick(&s);
    answer_all(&s, 1, 0);
    tick_unsettled(&s);
    tick_unsettled(&s);
    find_many(&s, 1, 1);
    looked(&s, 0);
    tick(&s);
    answer_all(&s, 1, 0);
    tick(&s);
    assert_string_equal(only(&s, SEARCH_ENDED)->reason,
                        "asked for 4 slots, found 1 on 1 peer: 1 peer did not answer; start fewer "
                        "processes or wait");
    end(&s);
}

static void test_a_contested_claim_gives_back_and_tries_again(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 8}, true);
    find_many(&s, 2, 4);
    looked(&s, 0);
    for (unsigned try = 1; try <= CLAIM_TRIES; try++) {
        tick(&s);
        assert_int_equal(count(&s, SEARCH_ASK), 2);
        answer_all(&s, 2, 2); /* the other two of each are only offered to another one */
        tick(&s);
        assert_int_equal(count(&s, SEARCH_RELEASE), 2);
        if (try == CLAIM_TRIES)
            break;
        assert_int_equal(s.out.count, 2);
        assert_in_range(search_deadline(s.search) - s.now, SEARCH_PAUSE_MS,
                        SEARCH_PAUSE_MS * (1 + 4 * try));
    }
    assert_non_null(only(&s, SEARCH_ENDED)->reason);
    end(&s);
}

/* Nobody's lease stays behind, whatever the answer is worth. */
static void test_what_cannot_be_used_is_given_back(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 4, .own = true}, true);
    find_many(&s, 4, 4);
    looked(&s, 0);
    tick(&s);
    const struct search_action asked = s.out.action[0];
    const struct part_peer other = desk(9);
    answer(&s, &other, asked.token, 1, 0); /* not from whom was asked */
    assert_int_equal(only(&s, SEARCH_RELEASE)->peer.id.b[0], 9);
    answer(&s, &asked.peer, asked.token + 1, 1, 0); /* to what was not asked */
    assert_int_equal(count(&s, SEARCH_RELEASE), 1);
    answer(&s, &asked.peer, asked.token, 5, 0); /* more than that */
    assert_int_equal(count(&s, SEARCH_RELEASE), 1);
    struct msg_lease_answer a = {.token = asked.token, .offers_count = 1};
    a.offers[0] = (struct part_offer){.slots = 4};
    step(&s, &(struct search_event){
                 .kind = SEARCH_ANSWER, .peer = asked.peer, .owner = theirs, .answer = &a});
    assert_int_equal(count(&s, SEARCH_RELEASE), 1); /* another owner's */
    answer(&s, &asked.peer, asked.token, 4, 0);     /* twice */
    assert_int_equal(count(&s, SEARCH_RELEASE), 1);
    step(&s, &(struct search_event){.kind = SEARCH_CANCEL});
    assert_int_equal(count(&s, SEARCH_RELEASE), 0);
    end(&s);
}

static void test_a_cancelled_one_gives_back(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 8}, true);
    find_many(&s, 4, 4);
    looked(&s, 0);
    tick(&s);
    const struct search_action late = s.out.action[2];
    const struct search_action asked = s.out.action[0];
    answer(&s, &asked.peer, asked.token, 4, 0);
    step(&s, &(struct search_event){.kind = SEARCH_CANCEL});
    assert_int_equal(only(&s, SEARCH_RELEASE)->lease.b[0], 1);
    answer(&s, &late.peer, late.token, 2, 0);
    assert_int_equal(only(&s, SEARCH_RELEASE)->lease.b[0], 2);
    end(&s);
}

static void test_others_are_asked_in_place_of_the_lost(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 4}, true);
    find_many(&s, 4, 4);
    looked(&s, 0);
    tick(&s);
    assert_int_equal(count(&s, SEARCH_ASK), 2);
    step(&s, &(struct search_event){.kind = SEARCH_UNREACHABLE, .token = s.out.action[0].token});
    step(&s, &(struct search_event){.kind = SEARCH_GONE, .peer = desk(2), .why = "reset"});
    tick(&s);
    assert_int_equal(count(&s, SEARCH_ASK), 2);
    assert_int_equal(s.out.action[0].peer.id.b[0], 3);
    answer_all(&s, 0, 0);
    tick(&s);
    assert_string_equal(
        only(&s, SEARCH_ENDED)->reason,
        "asked for 4 slots, found 0 on 0 peers: desk1 cannot be reached, desk2 went "
        "away (reset), desk3 has 0 of 4 slots free, desk4 has 0 of 4 slots free; "
        "start fewer processes or wait");
    end(&s);
}

static void test_silence_ends_it_in_time(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 1, .timeout_ms = 1000}, true);
    find_many(&s, 1, 1);
    looked(&s, 0);
    while (count(&s, SEARCH_ENDED) == 0)
        tick(&s);
    assert_true(s.now <= T0 + 1000);
    end(&s);
}

static void test_a_reservation_has_its_own_peers(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 2, .use = LEASE_WITHIN}, false);
    assert_int_equal(s.out.count, 1);
    assert_int_equal(s.out.action[0].kind, SEARCH_LOOK_RESERVED);
    find(&s, 1, 0);
    looked(&s, 1);
    tick(&s); /* no others would do, and nobody is told */
    assert_int_equal(count(&s, SEARCH_TELL_WAITING), 0);
    assert_non_null(only(&s, SEARCH_ENDED)->reason);
    end(&s);
}

static void test_a_look_that_cannot_begin(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, &(struct request){.slots = 4}, false);
    find_many(&s, 1, 4);
    looked(&s, 0);
    tick(&s);
    assert_int_equal(count(&s, SEARCH_LOOK_ALL), 1);
    step(&s, &(struct search_event){.kind = SEARCH_BLOCKED});
    tick(&s);
    assert_non_null(only(&s, SEARCH_ENDED)->reason);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_small_grid_is_walked_and_the_nearest_are_asked),
        cmocka_unit_test(test_in_a_large_grid_the_ring_names_the_near_ones),
        cmocka_unit_test(test_looks_further_and_then_says_why_not),
        cmocka_unit_test(test_those_that_are_missed_are_looked_for_again),
        cmocka_unit_test(test_an_unsettled_ring_is_looked_at_again),
        cmocka_unit_test(test_what_is_given_back_is_waited_for),
        cmocka_unit_test(test_a_silent_peer_is_counted_when_it_was_dropped),
        cmocka_unit_test(test_a_contested_claim_gives_back_and_tries_again),
        cmocka_unit_test(test_what_cannot_be_used_is_given_back),
        cmocka_unit_test(test_a_cancelled_one_gives_back),
        cmocka_unit_test(test_others_are_asked_in_place_of_the_lost),
        cmocka_unit_test(test_silence_ends_it_in_time),
        cmocka_unit_test(test_a_reservation_has_its_own_peers),
        cmocka_unit_test(test_a_look_that_cannot_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
