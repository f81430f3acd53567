/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/lease/lease.h"
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

static size_t offer_for(struct lease_table *t, enum lease_use use, uint8_t reservation,
                        uint16_t slots, uint8_t serial, size_t made[8])
{
    struct id fresh[8];
    for (uint8_t i = 0; i < 8; i++)
        fresh[i] = (struct id){{1, i, serial}};
    struct lease_want want = {.holder = peer(1),
                              .slots = slots,
                              .user = "u",
                              .use = use,
                              .reservation = peer(reservation)};
    return lease_offer(t, 4, &want, fresh, 8, made, 0);
}

static struct lease_capacity capacity_of(const struct lease_table *t, uint8_t holder,
                                         uint8_t reservation)
{
    const struct lease_want want = {
        .holder = peer(holder), .use = LEASE_WITHIN, .reservation = peer(reservation)};
    return lease_capacity(t, &want);
}

static void test_jobs_share_a_reservation(void **state)
{
    (void)state;
    struct lease_table t;
    size_t kept[8], one[8], two[8];
    lease_init(&t);
    assert_int_equal(offer_for(&t, LEASE_WITHIN, 9, 1, 1, one), 0); /* there is none */
    assert_int_equal(offer_for(&t, LEASE_RESERVES, 9, 3, 2, kept), 1);
    assert_int_equal(offer_for(&t, LEASE_WITHIN, 9, 1, 3, one), 0); /* it is not confirmed yet */
    lease_confirm(&t.at[kept[0]], 3, 0);
    assert_int_equal(lease_slots_free(&t, 4), 1);
    assert_int_equal(offer_for(&t, LEASE_WITHIN, 9, 2, 4, one), 1);
    assert_int_equal(capacity_of(&t, 1, 9).contested, 2);
    assert_int_equal(offer_for(&t, LEASE_WITHIN, 9, 4, 5, two), 1);
    assert_int_equal(t.at[two[0]].slots, 1);      /* what the first has left */
    assert_int_equal(lease_slots_free(&t, 4), 1); /* their slots are the reservation's */
    assert_int_equal(lease_slots_contested(&t), 0);
    assert_int_equal(offer_for(&t, LEASE_WITHIN, 9, 1, 6, two), 0);
    assert_int_equal(capacity_of(&t, 1, 9).left, 0);
    assert_int_equal(capacity_of(&t, 2, 9).slots, 0); /* of another holder with the same number */
    lease_end(&t.at[one[0]], LEASE_RELEASED);
    lease_clear(&t.at[one[0]]);
    assert_int_equal(offer_for(&t, LEASE_WITHIN, 9, 4, 7, one), 1);
    assert_int_equal(t.at[one[0]].slots, 2);
}

static void test_a_reservation_takes_its_leases_along(void **state)
{
    (void)state;
    struct lease_table t;
    size_t kept[8], more[8], within[8];
    lease_init(&t);
    offer_for(&t, LEASE_RESERVES, 9, 2, 1, kept);
    offer_for(&t, LEASE_RESERVES, 9, 1, 2, more);
    lease_confirm(&t.at[kept[0]], 2, 0);
    lease_confirm(&t.at[more[0]], 1, 0);
    offer_for(&t, LEASE_WITHIN, 9, 2, 3, within);
    struct lease *l = &t.at[within[0]];
    lease_confirm(l, 2, 0);
    assert_true(lease_run(l));
    lease_end(&t.at[more[0]], LEASE_RELEASED);
    lease_close(&t);
    assert_int_equal(l->state, LEASE_RUNNING); /* it still fits */
    assert_true(lease_is_over(&t, &t.at[more[0]]));
    lease_clear(&t.at[more[0]]);
    lease_end(&t.at[kept[0]], LEASE_EXPIRED);
    lease_close(&t);
    assert_int_equal(l->state, LEASE_ENDING);
    assert_int_equal(l->cause, LEASE_CLOSED);
    assert_false(lease_is_over(&t, &t.at[kept[0]])); /* something may run in its slots */
    assert_int_equal(lease_slots_free(&t, 4), 2);
    assert_true(lease_is_over(&t, l));
    lease_clear(l);
    assert_true(lease_is_over(&t, &t.at[kept[0]]));
    lease_clear(&t.at[kept[0]]);
    assert_int_equal(lease_slots_free(&t, 4), 4);
}

static void test_a_holder_has_its_share(void **state)
{
    (void)state;
    struct lease_table t;
    struct id fresh[8];
    size_t made[8];
    lease_init(&t);
    struct lease_want want = {.holder = peer(1), .slots = 4, .user = "u", .slots_each = 3};
    for (uint8_t i = 0; i < 8; i++)
        fresh[i] = (struct id){{9, i}};
    assert_int_equal(lease_slots_for(&t, 4, &want, 0), 3);
    assert_int_equal(lease_offer(&t, 4, &want, fresh, 8, made, 0), 1);
    assert_int_equal(t.at[made[0]].slots, 3);
    assert_int_equal(lease_offer(&t, 4, &want, fresh + 1, 7, made, 0), 0); /* nor by asking again */
    assert_int_equal(lease_slots_free(&t, 4), 1);
    want.holder = peer(2);
    assert_int_equal(lease_offer(&t, 4, &want, fresh + 2, 6, made, 0), 1);
    want.slots_each = 0;
    assert_int_equal(lease_slots_for(&t, 9, &want, 0), 5);
}

/* One lease of all that the owner of that number can get, confirmed. */
static unsigned take_all(struct lease_table *t, uint8_t owner, uint8_t id, uint64_t now)
{
    const struct id fresh = {{id}};
    size_t made;
    const struct lease_want want = {.holder = peer((uint8_t)(100 + owner)),
                                    .owner = peer(owner),
                                    .slots = 99,
                                    .user = "u",
                                    .shares = owner != 1};
    if (lease_offer(t, 4, &want, &fresh, 1, &made, now) == 0)
        return 0;
    lease_confirm(&t->at[made], 0, now);
    return t->at[made].slots;
}

static void test_owners_share_while_others_wait(void **state)
{
    (void)state;
    enum { KEPT = 60000 };
    struct lease_table t;
    lease_init(&t);
    assert_int_equal(take_all(&t, 2, 1, 1000), 4); /* nobody else wants any */
    assert_null(lease_surplus(&t, 4, 0, 2000));
    lease_add_waiter(&t, &(struct id){{2}}, 2000); /* its own wish changes nothing */
    assert_int_equal(lease_share(&t, 4, &(struct id){{2}}, 2000), 4);
    lease_add_waiter(&t, &(struct id){{3}}, 2000);
    lease_add_waiter(&t, &(struct id){{3}}, 3000);
    assert_int_equal(lease_share(&t, 4, &(struct id){{2}}, 3000), 2);
    assert_null(lease_surplus(&t, 4, KEPT, 1000 + KEPT - 1));
    struct lease *l = lease_surplus(&t, 4, KEPT, 1000 + KEPT);
    assert_non_null(l);
    assert_null(lease_surplus(&t, 4, KEPT, 3000 + LEASE_WAIT_MS)); /* it waits no more */
    lease_end(l, LEASE_REVOKED);
    lease_clear(l);
    assert_int_equal(take_all(&t, 2, 2, 1000 + KEPT), 2); /* at once again, but no more */
    assert_int_equal(take_all(&t, 2, 3, 1000 + KEPT), 0);
    assert_int_equal(take_all(&t, 3, 4, 1000 + KEPT), 2);
    assert_null(lease_surplus(&t, 4, 0, 2 * KEPT)); /* each has its share */
    lease_init(&t);
    assert_int_equal(take_all(&t, 1, 1, 0), 4); /* the owner's own */
    lease_add_waiter(&t, &(struct id){{3}}, 0);
    assert_null(lease_surplus(&t, 4, 0, 1000));
}

enum { UNUSED_MS = 60000 };

/* One lease of a guest; all are renewed while the clock goes on. */
static struct lease *take(struct lease_table *t, uint8_t id, enum lease_use use)
{
    const struct id fresh = {{id}};
    size_t made;
    struct lease_want want = {.holder = peer(1),
                              .slots = 1,
                              .user = "u",
                              .use = use,
                              .reservation = peer(7),
                              .unused_ms = UNUSED_MS};
    assert_int_equal(lease_offer(t, 9, &want, &fresh, 1, &made, 0), 1);
    lease_confirm(&t->at[made], 1, 0);
    return &t->at[made];
}

static void pass(struct lease_table *t, uint64_t from, uint64_t to)
{
    for (uint64_t now = from; now <= to; now += LEASE_RENEW_MS) {
        for (size_t i = 0; i < LEASE_MAX; i++)
            lease_renew(&t->at[i], now);
        lease_expire(t, now);
    }
}

static void test_what_runs_nothing_ends(void **state)
{
    (void)state;
    struct lease_table t;
    lease_init(&t);
    struct lease *idle = take(&t, 1, LEASE_PLAIN), *runs = take(&t, 2, LEASE_PLAIN);
    assert_true(lease_run(runs));
    pass(&t, 0, UNUSED_MS - LEASE_RENEW_MS);
    assert_int_equal(idle->state, LEASE_HELD);
    assert_true(lease_deadline(&t) <= UNUSED_MS);
    pass(&t, UNUSED_MS, UNUSED_MS);
    assert_int_equal(idle->state, LEASE_ENDING);
    assert_int_equal(idle->cause, LEASE_UNUSED);
    pass(&t, UNUSED_MS, 10 * UNUSED_MS);
    assert_int_equal(runs->state, LEASE_RUNNING);
}

/* A reservation is used by what runs within it, and gets its time anew when that has ended. */
static void test_a_reservation_is_used_from_within(void **state)
{
    (void)state;
    struct lease_table t;
    lease_init(&t);
    struct lease *all = take(&t, 1, LEASE_RESERVES), *part = take(&t, 2, LEASE_WITHIN);
    pass(&t, 0, UNUSED_MS / 2);
    assert_true(lease_run(part));
    pass(&t, UNUSED_MS / 2, 5 * UNUSED_MS);
    assert_int_equal(all->state, LEASE_HELD);
    lease_end(part, LEASE_FINISHED);
    lease_clear(part);
    pass(&t, 5 * UNUSED_MS, 6 * UNUSED_MS - LEASE_RENEW_MS);
    assert_int_equal(all->state, LEASE_HELD);
    pass(&t, 6 * UNUSED_MS, 6 * UNUSED_MS);
    assert_int_equal(all->state, LEASE_ENDING);
    assert_int_equal(all->cause, LEASE_UNUSED);
}

static void test_a_slow_holder_is_spared_for_a_while(void **state)
{
    (void)state;
    struct lease_table t;
    uint64_t now = 1000;
    size_t made[1];
    const struct id fresh = {{7}};
    const struct lease_want want = {.holder = {{1}}, .slots = 1, .user = "ada"};
    lease_init(&t);
    assert_int_equal(lease_offer(&t, 4, &want, &fresh, 1, made, now), 1);
    struct lease *l = &t.at[made[0]];
    assert_false(lease_overdue(l, now + LEASE_TTL_MS)); /* an offer is not renewed */
    lease_confirm(l, 1, now);
    lease_spare(l, now + 100);
    assert_int_equal(l->until_ms, now + LEASE_TTL_MS); /* no longer by that */
    assert_false(lease_overdue(l, now + LEASE_RENEW_MS));
    assert_true(lease_overdue(l, now + LEASE_TTL_MS / 2));
    uint64_t renewed = now;
    for (; l->state == LEASE_HELD && now < renewed + 2 * LEASE_STALLED_MS; now += 1000) {
        if (lease_overdue(l, now))
            lease_spare(l, now); /* its host is there, again and again */
        lease_expire(&t, now);
    }
    assert_int_equal(l->cause, LEASE_EXPIRED);
    assert_in_range(now - renewed, LEASE_STALLED_MS, LEASE_STALLED_MS + 1000);
    lease_clear(l);
    assert_int_equal(lease_offer(&t, 4, &want, &fresh, 1, made, now), 1);
    lease_confirm(l, 1, now);
    lease_spare(l, renewed = now += LEASE_TTL_MS - 1);
    while (l->state == LEASE_HELD) /* and then no more */
        lease_expire(&t, now += 100);
    assert_in_range(now - renewed, LEASE_SPARED_MS, LEASE_SPARED_MS + 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_holder_has_its_share),
        cmocka_unit_test(test_owners_share_while_others_wait),
        cmocka_unit_test(test_what_runs_nothing_ends),
        cmocka_unit_test(test_a_reservation_is_used_from_within),
        cmocka_unit_test(test_slots_are_never_given_twice),
        cmocka_unit_test(test_leases_of_one_slot),
        cmocka_unit_test(test_only_its_holder_finds_it),
        cmocka_unit_test(test_offer_runs_out_unless_confirmed),
        cmocka_unit_test(test_renewed_lease_lives_and_keeps_slots_until_cleared),
        cmocka_unit_test(test_never_more_than_lent),
        cmocka_unit_test(test_jobs_share_a_reservation),
        cmocka_unit_test(test_a_reservation_takes_its_leases_along),
        cmocka_unit_test(test_a_slow_holder_is_spared_for_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
