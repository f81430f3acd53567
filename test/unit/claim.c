/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/lease/claim.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdlib.h>
#include <cmocka.h>

enum { PEERS = 64, OFFERS = 512 };

struct scene {
    struct request request;
    struct claim claim;
    struct claim_peer peers[PEERS];
    struct share_peer deal[PEERS];
    struct claim_offer offers[OFFERS];
    uint16_t asked[PEERS]; /* in this round */
};

static void begin(struct scene *s, struct request want, size_t peers, uint16_t free)
{
    memset(s, 0, sizeof *s);
    s->request = want;
    s->claim = (struct claim){.request = &s->request,
                              .per_domain = want.apart,
                              .peers = s->peers,
                              .deal = s->deal,
                              .peer_count = peers,
                              .offers = s->offers};
    for (size_t i = 0; i < peers; i++) {
        s->peers[i].free = free;
        s->peers[i].speed = 100;
        s->peers[i].domain = (uint32_t)i;
    }
}

static size_t ask_all(struct scene *s, uint64_t now)
{
    size_t peer, count = 0;
    uint16_t slots;
    memset(s->asked, 0, sizeof s->asked);
    for (; claim_next(&s->claim, now, &peer, &slots); count++)
        s->asked[peer] = slots;
    return count;
}

static void grant(struct scene *s, size_t peer, uint16_t slots)
{
    struct id lease = {{(uint8_t)peer, 1}};
    claim_offer(&s->claim, peer, &lease, slots);
    claim_answered(&s->claim, peer, 0, 0);
}

static void refuse(struct scene *s, size_t peer, uint16_t contested)
{
    claim_answered(&s->claim, peer, 0, contested);
}

static void test_asks_the_nearest_and_a_little_more(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 8}, 20, 4);
    assert_int_equal(ask_all(&s, 0), 3); /* 8 and a quarter: 4 + 4 + 2 */
    assert_int_equal(s.asked[0], 4);
    assert_int_equal(s.asked[2], 2);
    assert_int_equal(claim_verdict(&s.claim, 0), CLAIM_WAIT);
    grant(&s, 0, 4);
    grant(&s, 1, 4);
    assert_int_equal(claim_verdict(&s.claim, 1), CLAIM_WAIT); /* the third may answer soon */
    grant(&s, 2, 2);
    assert_int_equal(claim_verdict(&s.claim, 1), CLAIM_ENOUGH);
    claim_pick(&s.claim);
    assert_int_equal(s.offers[0].keep, 4);
    assert_int_equal(s.offers[1].keep, 4);
    assert_int_equal(s.offers[2].keep, 0);
}

static void test_keeps_the_nearest_and_not_more(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 6}, 3, 4);
    ask_all(&s, 0);
    grant(&s, 1, 3); /* the farther one answers first */
    grant(&s, 0, 4);
    claim_pick(&s.claim);
    assert_int_equal(s.offers[0].keep, 2);
    assert_int_equal(s.offers[1].keep, 4);
}

static void test_refusals_are_replaced(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 2}, 5, 1);
    assert_int_equal(ask_all(&s, 0), 3);
    refuse(&s, 0, 0);
    refuse(&s, 1, 0);
    assert_int_equal(ask_all(&s, 1), 2);
    assert_int_equal(s.asked[3], 1);
    for (size_t i = 2; i < 5; i++)
        grant(&s, i, 1);
    assert_int_equal(claim_verdict(&s.claim, 2), CLAIM_ENOUGH);
}

static void test_slow_peers_are_not_waited_for(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 1}, 3, 1);
    ask_all(&s, 0); /* two of them */
    assert_true(claim_deadline(&s.claim, 0) == CLAIM_PROMPT_MS);
    assert_int_equal(ask_all(&s, CLAIM_PROMPT_MS), 1); /* neither answered: the third as well */
    grant(&s, 2, 1);
    assert_int_equal(claim_verdict(&s.claim, CLAIM_PROMPT_MS), CLAIM_ENOUGH);
}

static void test_short_and_contested(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 2}, 2, 1);
    ask_all(&s, 0);
    grant(&s, 0, 1);
    refuse(&s, 1, 0);
    assert_int_equal(ask_all(&s, 1), 0);
    assert_int_equal(claim_verdict(&s.claim, 1), CLAIM_SHORT);
    assert_int_equal(claim_offered(&s.claim), 1);

    begin(&s, (struct request){.slots = 2}, 2, 1);
    ask_all(&s, 0);
    grant(&s, 0, 1);
    refuse(&s, 1, 1); /* offered to someone else, who may not take it */
    assert_int_equal(claim_verdict(&s.claim, 1), CLAIM_CONTESTED);
}

static void test_silence_ends(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 1}, 1, 1);
    ask_all(&s, 0);
    assert_int_equal(claim_verdict(&s.claim, CLAIM_PROMPT_MS), CLAIM_WAIT);
    assert_true(claim_deadline(&s.claim, CLAIM_PROMPT_MS) == CLAIM_SILENT_MS);
    assert_int_equal(claim_verdict(&s.claim, CLAIM_SILENT_MS), CLAIM_SHORT);
    assert_int_equal(s.peers[0].state, CLAIM_SILENT);
}

static void test_a_lost_peer_takes_its_offers_along(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 1}, 2, 1);
    ask_all(&s, 0);
    grant(&s, 0, 1);
    grant(&s, 1, 1);
    claim_lost(&s.claim, 0);
    assert_int_equal(s.claim.offer_count, 1);
    assert_int_equal(claim_verdict(&s.claim, 1), CLAIM_ENOUGH);
    claim_pick(&s.claim);
    assert_int_equal(s.offers[0].peer, 1);
    assert_int_equal(s.offers[0].keep, 1);
}

static void test_spares_stand_on_other_peers(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 2, .spares = 2}, 6, 2);
    size_t asked = ask_all(&s, 0);
    assert_in_range(asked, 3, 4);
    for (size_t i = 0; i < asked; i++)
        grant(&s, i, s.asked[i]);
    assert_int_equal(ask_all(&s, 1), 0);
    assert_int_equal(claim_verdict(&s.claim, 1), CLAIM_ENOUGH);
    claim_pick(&s.claim);
    unsigned spares = 0;
    for (size_t i = 0; i < s.claim.offer_count; i++) {
        struct claim_offer *o = &s.offers[i];
        assert_true(!o->spare || (o->keep == 1 && o->peer > 0));
        spares += o->spare;
    }
    assert_int_equal(spares, 2);
}

static void test_spares_are_a_wish_not_a_condition(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 2, .spares = 5}, 1, 2);
    ask_all(&s, 0);
    grant(&s, 0, 2);
    assert_int_equal(claim_verdict(&s.claim, 1), CLAIM_ENOUGH);
}

static void test_spread_takes_one_of_each(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 4, .strategy = SHARE_SPREAD}, 6, 4);
    assert_int_equal(ask_all(&s, 0), 5);
    for (size_t i = 0; i < 5; i++)
        grant(&s, i, 1);
    claim_pick(&s.claim);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(s.offers[i].keep, i < 4);

    begin(&s, (struct request){.slots = 4, .strategy = SHARE_SPREAD}, 3, 4);
    ask_all(&s, 0); /* 2, 2 and 1 */
    for (size_t i = 0; i < 3; i++)
        grant(&s, i, s.asked[i]);
    claim_pick(&s.claim);
    assert_int_equal(s.offers[0].keep, 2);
    assert_int_equal(s.offers[1].keep, 1);
    assert_int_equal(s.offers[2].keep, 1);
}

static void test_copies_are_kept_apart(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 4, .apart = 2}, 6, 2);
    for (size_t i = 0; i < 6; i++)
        s.peers[i].domain = (uint32_t)(i / 3 * 3); /* three peers on each of two sites */
    assert_int_equal(ask_all(&s, 0), 2);
    assert_int_equal(s.asked[0], 2);
    assert_int_equal(s.asked[3], 2);
    grant(&s, 0, 2);
    grant(&s, 3, 1); /* one was taken meanwhile: its neighbour has more */
    assert_int_equal(ask_all(&s, 1), 1);
    assert_int_equal(s.asked[4], 1);
    refuse(&s, 4, 0);
    assert_int_equal(ask_all(&s, 2), 1);
    refuse(&s, 5, 0);
    assert_int_equal(ask_all(&s, 3), 1); /* only where others are already */
    assert_int_equal(s.asked[1], 2);
    grant(&s, 1, 2);
    assert_int_equal(claim_verdict(&s.claim, 4), CLAIM_ENOUGH);
}

/* What the asker has already counts, in a domain as long as that works out, at a peer always. */
static void test_no_more_of_a_peer_than_it_may_give(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, (struct request){.slots = 4, .apart = 3, .per_peer = 3}, 4, 5);
    for (size_t i = 0; i < 4; i++)
        s.peers[i].domain = (uint32_t)(i / 2 * 2);
    s.peers[0].borrowed = s.peers[0].domain_borrowed = 2;
    assert_int_equal(ask_all(&s, 0), 2);
    assert_int_equal(s.asked[0], 1);
    assert_int_equal(s.asked[2], 3);
    struct id lease = {{1}};
    claim_offer(&s.claim, 0, &lease, 1);
    claim_answered(&s.claim, 0, 4, 0); /* it has more, but may not give that */
    refuse(&s, 2, 0);
    assert_int_equal(ask_all(&s, 1), 1);
    assert_int_equal(s.asked[3], 3);
    refuse(&s, 3, 0);
    assert_int_equal(ask_all(&s, 2), 1); /* rather close together, but not more than one may */
    assert_int_equal(s.asked[1], 3);
    grant(&s, 1, 3);
    assert_int_equal(ask_all(&s, 3), 0);
    assert_int_equal(claim_verdict(&s.claim, 3), CLAIM_ENOUGH);
}

static void test_who_gave_some_is_asked_for_more(void **state)
{
    (void)state;
    struct scene s;
    struct id lease = {{1}};
    begin(&s, (struct request){.slots = 3, .strategy = SHARE_SPREAD}, 2, 4);
    ask_all(&s, 0); /* 2 and 2 */
    assert_int_equal(s.asked[1], 2);
    claim_offer(&s.claim, 0, &lease, 2);
    claim_answered(&s.claim, 0, 2, 0); /* it has two more */
    refuse(&s, 1, 0);
    assert_int_equal(ask_all(&s, 1), 1);
    assert_int_equal(s.asked[0], 2);
    claim_offer(&s.claim, 0, &lease, 1);
    claim_answered(&s.claim, 0, 1, 0); /* fewer than asked: it is not asked a third time */
    assert_int_equal(ask_all(&s, 2), 0);
    assert_int_equal(claim_verdict(&s.claim, 2), CLAIM_ENOUGH);
}

/* Whatever answers come in whatever order: it ends, keeps exactly what is wanted, and never counts
 * wrong. */
static void test_any_answers(void **state)
{
    (void)state;
    srand(11);
    for (int run = 0; run < 2000; run++) {
        struct scene s;
        uint32_t slots = 1 + (uint32_t)rand() % 40;
        begin(&s,
              (struct request){.slots = slots,
                               .spares = (uint16_t)(rand() % 3),
                               .strategy = (enum share_strategy)(rand() % SHARE_STRATEGIES)},
              PEERS, (uint16_t)(1 + rand() % 4));
        uint64_t now = 0;
        enum claim_verdict v;
        do {
            ask_all(&s, now);
            for (size_t i = 0; i < PEERS; i++) {
                if (s.peers[i].state != CLAIM_ASKED || rand() % 3 == 0)
                    continue;
                if (rand() % 3 == 0)
                    refuse(&s, i, 0);
                else if (rand() % 10 == 0)
                    claim_lost(&s.claim, i);
                else
                    grant(&s, i, (uint16_t)(1 + rand() % s.peers[i].asked));
            }
            now += 50;
            ask_all(&s, now);
            v = claim_verdict(&s.claim, now);
            assert_true(now < 60000);
        } while (v == CLAIM_WAIT);
        assert_int_not_equal(v, CLAIM_CONTESTED);
        assert_int_equal(v == CLAIM_ENOUGH, claim_offered(&s.claim) >= slots);
        claim_pick(&s.claim);
        uint32_t kept = 0;
        for (size_t i = 0; i < s.claim.offer_count; i++) {
            assert_true(s.offers[i].keep <= s.offers[i].slots);
            kept += s.offers[i].spare ? 0 : s.offers[i].keep;
        }
        assert_int_equal(kept, v == CLAIM_ENOUGH ? slots : claim_offered(&s.claim));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks_the_nearest_and_a_little_more),
        cmocka_unit_test(test_keeps_the_nearest_and_not_more),
        cmocka_unit_test(test_refusals_are_replaced),
        cmocka_unit_test(test_slow_peers_are_not_waited_for),
        cmocka_unit_test(test_short_and_contested),
        cmocka_unit_test(test_silence_ends),
        cmocka_unit_test(test_a_lost_peer_takes_its_offers_along),
        cmocka_unit_test(test_spares_stand_on_other_peers),
        cmocka_unit_test(test_spares_are_a_wish_not_a_condition),
        cmocka_unit_test(test_spread_takes_one_of_each),
        cmocka_unit_test(test_copies_are_kept_apart),
        cmocka_unit_test(test_no_more_of_a_peer_than_it_may_give),
        cmocka_unit_test(test_who_gave_some_is_asked_for_more),
        cmocka_unit_test(test_any_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
