/* SPDX-License-Identifier: BSD-3-Clause */
#include "lease.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct id peer(uint8_t n)
{
    return (struct id){{n}};
}

/* Offers to peer `holder`; the leases have the ids 100, 101... of that peer. */
static size_t offer(struct lease_table *t, unsigned lent, uint8_t holder, uint16_t slots,
                    uint16_t per_lease, uint64_t now, size_t made[8])
{
    struct id fresh[8];
    for (uint8_t i = 0; i < 8; i++)
        fresh[i] = (struct id){{holder, (uint8_t)(100 + i), (uint8_t)now}};
    struct lease_want want = {
        .holder = peer(holder), .slots = slots, .per_lease = per_lease, .user = "u"};
    return lease_offer(t, lent, &want, fresh, 8, made, now);
}

static void test_slots_are_never_given_twice(void **state)
{
    (void)state;
    struct lease_table t;
    size_t made[8];
    lease_init(&t);
    assert_int_equal(offer(&t, 4, 1, 3, 0, 0, made), 1);
    assert_int_equal(t.at[made[0]].slots, 3);
    assert_int_equal(offer(&t, 4, 2, 3, 0, 0, made), 1); /* what is left */
    assert_int_equal(t.at[made[0]].slots, 1);
    assert_int_equal(offer(&t, 4, 3, 1, 0, 0, made), 0);
    assert_int_equal(lease_slots_free(&t, 4), 0);
    assert_int_equal(lease_slots_contested(&t), 4);
    assert_int_equal(lease_slots_free(&t, 2), 0); /* the owner lends fewer from now on */
}

static void test_leases_of_one_slot(void **state)
{
    (void)state;
    struct lease_table t;
    size_t made[8];
    lease_init(&t);
    assert_int_equal(offer(&t, 9, 1, 5, 2, 0, made), 3);
    assert_int_equal(t.at[made[0]].slots, 2);
    assert_int_equal(t.at[made[2]].slots, 1);
    assert_int_equal(offer(&t, 200, 2, 100, 1, 0, made), 8); /* no more ids than given */
}

static void test_only_its_holder_finds_it(void **state)
{
    (void)state;
    struct lease_table t;
    size_t made[8];
    lease_init(&t);
    offer(&t, 4, 1, 1, 0, 0, made);
    struct id one = peer(1), two = peer(2), id = t.at[made[0]].id;
    assert_non_null(lease_find(&t, &one, &id));
    assert_null(lease_find(&t, &two, &id));
    assert_null(lease_find(&t, &one, &one));
}

static void test_offer_runs_out_unless_confirmed(void **state)
{
    (void)state;
    struct lease_table t;
    size_t made[8];
    lease_init(&t);
    offer(&t, 4, 1, 2, 0, 0, made);
    assert_int_equal(lease_deadline(&t), LEASE_OFFER_MS);
    lease_expire(&t, LEASE_OFFER_MS - 1);
    assert_int_equal(lease_slots_free(&t, 4), 2);
    lease_expire(&t, LEASE_OFFER_MS);
    assert_int_equal(lease_slots_free(&t, 4), 4);
    assert_true(lease_deadline(&t) == UINT64_MAX);

    offer(&t, 4, 1, 4, 0, 10, made);
    lease_confirm(&t.at[made[0]], 3, 20); /* the rest is free at once */
    assert_int_equal(lease_slots_free(&t, 4), 1);
    lease_confirm(&t.at[made[0]], 1, 30); /* a second time changes nothing */
    assert_int_equal(lease_slots_free(&t, 4), 1);
    lease_expire(&t, 10 + LEASE_OFFER_MS);
    assert_int_equal(t.at[made[0]].state, LEASE_HELD);
}

static void test_renewed_lease_lives_and_keeps_slots_until_cleared(void **state)
{
    (void)state;
    struct lease_table t;
    size_t made[8];
    lease_init(&t);
    offer(&t, 1, 1, 1, 0, 0, made);
    struct lease *l = &t.at[made[0]];
    struct id one = peer(1), id = l->id;
    assert_false(lease_run(l)); /* not confirmed yet */
    lease_renew(l, LEASE_OFFER_MS - 1);
    assert_true(l->until_ms == LEASE_OFFER_MS); /* an offer is not renewed */
    lease_confirm(l, 1, 0);
    assert_true(lease_run(l));
    assert_false(lease_run(l)); /* one command for each lease */
    for (uint64_t now = 0; now < 60000; now += LEASE_RENEW_MS) {
        lease_expire(&t, now);
        assert_int_equal(l->state, LEASE_RUNNING);
        lease_renew(l, now);
    }
    lease_expire(&t, 60000 + LEASE_TTL_MS);
    assert_int_equal(l->state, LEASE_ENDING);
    assert_int_equal(l->cause, LEASE_EXPIRED);
    lease_end(l, LEASE_RELEASED);
    assert_int_equal(l->cause, LEASE_EXPIRED); /* the first one counts */
    assert_null(lease_find(&t, &one, &id));
    assert_int_equal(lease_slots_free(&t, 1), 0); /* something of it may still run */
    lease_clear(l);
    assert_int_equal(lease_slots_free(&t, 1), 1);
}

/* Whatever is called in whatever order, no more is held than is lent. */
static void test_never_more_than_lent(void **state)
{
    (void)state;
    struct lease_table t;
    size_t made[8];
    uint64_t now = 0;
    lease_init(&t);
    srand(7);
    for (int step = 0; step < 20000; step++) {
        struct lease *l = &t.at[rand() % 12];
        now += (uint64_t)rand() % 300;
        switch (rand() % 6) {
        case 0:
        case 1:
            offer(&t, 7, (uint8_t)(rand() % 3), (uint16_t)(rand() % 5), (uint16_t)(rand() % 3), now,
                  made);
            break;
        case 2:
            lease_confirm(l, (unsigned)rand() % 4, now);
            break;
        case 3:
            if (l->state != LEASE_FREE)
                lease_end(l, LEASE_RELEASED);
            break;
        case 4:
            if (l->state == LEASE_ENDING)
                lease_clear(l);
            break;
        default:
            lease_expire(&t, now);
        }
        unsigned held = 0;
        for (size_t i = 0; i < LEASE_MAX; i++) {
            held += t.at[i].slots;
            assert_true((t.at[i].state == LEASE_FREE) == (t.at[i].slots == 0));
        }
        assert_true(held <= 7);
        assert_int_equal(lease_slots_free(&t, 7), 7 - held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_are_never_given_twice),
        cmocka_unit_test(test_leases_of_one_slot),
        cmocka_unit_test(test_only_its_holder_finds_it),
        cmocka_unit_test(test_offer_runs_out_unless_confirmed),
        cmocka_unit_test(test_renewed_lease_lives_and_keeps_slots_until_cleared),
        cmocka_unit_test(test_never_more_than_lent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
