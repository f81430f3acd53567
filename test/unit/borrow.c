/* SPDX-License-Identifier: BSD-3-Clause */
/* borrow.c -- the borrowing side: events in, actions out. */
#include "overlay/core/lease/borrow.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { T0 = 1000, ROOM = 4 };

static struct {
    struct borrow borrow;
    struct borrow_out out;
    struct message message;
    uint64_t now;
    int ada, bob; /* their addresses are owners */
} s;

static int begin(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    borrow_init(&s.borrow, malloc(borrow_size(ROOM)), ROOM);
    s.now = T0;
    return 0;
}

static int finish(void **state)
{
    (void)state;
    free(s.borrow.at);
    return 0;
}

static struct id number(unsigned n)
{
    return (struct id){{(uint8_t)n, (uint8_t)(n >> 8)}};
}

static struct part_peer desk(unsigned n)
{
    return (struct part_peer){.id = number(n), .addr = {.port = 7117}};
}

static void step(const struct borrow_event *event)
{
    borrow_step(&s.borrow, event, s.now, &s.out);
}

static void add_within(void *owner, unsigned lease, unsigned peer, uint16_t slots,
                       const struct id *within)
{
    struct msg_local_lease row = {.lease = number(lease), .peer = desk(peer), .slots = slots};
    snprintf(row.name, sizeof row.name, "desk%u", peer);
    snprintf(row.site, sizeof row.site, "site%u", peer);
    step(&(struct borrow_event){.kind = BORROW_ADD, .owner = owner, .row = &row, .within = within});
}

static void add(void *owner, unsigned lease, unsigned peer)
{
    add_within(owner, lease, peer, 2, NULL);
}

static void tick_at(uint64_t now)
{
    s.now = now;
    step(&(struct borrow_event){.kind = BORROW_TICK});
}

static struct message *message(enum message_kind kind)
{
    memset(&s.message, 0, sizeof s.message);
    s.message.kind = kind;
    return &s.message;
}

static void hear(unsigned from)
{
    step(&(struct borrow_event){.kind = BORROW_MESSAGE, .peer = desk(from), .message = &s.message});
}

static void hear_renewed(unsigned from, uint16_t leases)
{
    message(MSG_lease_renewed)->lease_renewed.leases = leases;
    hear(from);
}

static void hear_ended(unsigned from, unsigned lease, enum lease_cause cause, const char *text)
{
    struct message *m = message(MSG_lease_ended);
    m->lease_ended.lease = number(lease);
    m->lease_ended.cause = (uint8_t)cause;
    m->lease_ended.status = 7;
    strcpy(m->lease_ended.text, text);
    hear(from);
}

static void gone(unsigned peer)
{
    step(&(struct borrow_event){.kind = BORROW_GONE, .peer.id = number(peer), .why = "it broke"});
}

static void answers(unsigned peer)
{
    const struct borrow_event event = {.kind = BORROW_ANSWERS, .peer = desk(peer)};
    borrow_step(&s.borrow, &event, s.now, NULL);
}

/* The kinds of the actions, and nothing else. */
static void expect(const char *kinds)
{
    static const char letters[] = {
        [BORROW_CONFIRM] = 'c', [BORROW_RELEASE] = 'r', [BORROW_RENEW] = 'n', [BORROW_PROBE] = 'p',
        [BORROW_LOST] = 'l',    [BORROW_CLEARED] = 'x', [BORROW_TELL] = 't',  [BORROW_ENDED] = 'e',
        [BORROW_FAILED] = 'f',  [BORROW_PARTED] = 's'};
    char got[64] = "";
    for (size_t i = 0; i < s.out.count && i + 1 < sizeof got; i++)
        got[i] = letters[s.out.action[i].kind];
    assert_string_equal(got, kinds);
}

static bool is_of(size_t action, unsigned lease)
{
    const struct id id = number(lease);
    return id_equal(&s.out.action[action].lease, &id);
}

static bool is_to(size_t action, unsigned peer)
{
    const struct id id = number(peer);
    return id_equal(&s.out.action[action].peer.id, &id);
}

/* --- renewal --- */

static void test_what_is_borrowed_is_confirmed_and_renewed(void **state)
{
    (void)state;
    assert_int_equal(borrow_deadline(&s.borrow), UINT64_MAX);
    add(&s.ada, 1, 10);
    expect("c");
    assert_true(is_of(0, 1) && is_to(0, 10));
    assert_int_equal(s.out.action[0].of->slots, 2);
    assert_ptr_equal(s.out.action[0].of->owner, &s.ada);
    assert_int_equal(borrow_deadline(&s.borrow), T0 + LEASE_RENEW_MS);
    tick_at(T0 + LEASE_RENEW_MS - 1);
    expect("");
    for (unsigned i = 1; i < 100; i++) {
        tick_at(T0 + i * LEASE_RENEW_MS);
        expect("n");
        assert_true(is_to(0, 10));
        assert_int_equal(s.out.action[0].count, 1);
        assert_int_equal(s.out.action[0].leases[0].slots, 2);
        assert_int_equal(borrow_deadline(&s.borrow), s.now + LEASE_RENEW_MS);
        hear_renewed(10, 1);
        expect("");
    }
}

static void test_a_peer_gets_one_message_for_all_of_its_leases(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.bob, 2, 20);
    add(&s.bob, 3, 10);
    tick_at(T0 + LEASE_RENEW_MS);
    expect("nn");
    assert_true(is_to(0, 10) && is_to(1, 20));
    assert_int_equal(s.out.action[0].count, 2);
    assert_int_equal(s.out.action[0].leases[0].lease.b[0], 1);
    assert_int_equal(s.out.action[0].leases[1].lease.b[0], 3);
    assert_int_equal(s.out.action[1].count, 1);
    assert_int_equal(s.out.action[1].leases[0].lease.b[0], 2);
}

static void test_more_than_a_message_takes_go_into_several(void **state)
{
    enum { MANY = 2 * BORROW_RENEWS_MAX + 3 };
    (void)state;
    free(borrow_move(&s.borrow, malloc(borrow_size(MANY)), MANY));
    for (unsigned i = 1; i <= MANY; i++)
        add(&s.ada, i, 10);
    tick_at(T0 + LEASE_RENEW_MS);
    expect("nnn");
    assert_int_equal(s.out.action[0].count, BORROW_RENEWS_MAX);
    assert_int_equal(s.out.action[1].count, BORROW_RENEWS_MAX);
    assert_int_equal(s.out.action[2].count, 3);
    tick_at(T0 + 2 * LEASE_RENEW_MS);
    expect("nnn");
}

/* --- a peer that says nothing --- */

static void test_a_silent_peer_whose_host_is_gone_is_lost_after_its_life(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.ada, 2, 20);
    for (uint64_t t = LEASE_RENEW_MS; t <= LEASE_TTL_MS; t += LEASE_RENEW_MS) {
        tick_at(T0 + t);
        expect("nn");
        hear_renewed(20, 1);
    }
    tick_at(T0 + LEASE_TTL_MS + LEASE_RENEW_MS);
    expect("p"); /* nothing ends before its host was looked for */
    assert_true(is_to(0, 10));
    assert_int_equal(borrow_deadline(&s.borrow), 0);
    tick_at(s.now);
    expect("lxen");
    assert_true(is_of(1, 1) && is_of(2, 1) && is_to(3, 20));
    assert_string_equal(s.out.action[0].text, "did not answer for 8 s");
    assert_string_equal(s.out.action[2].text, "did not answer for 8 s");
    assert_string_equal(s.out.action[2].of->name, "desk10");
    assert_ptr_equal(s.out.action[2].of->owner, &s.ada);
    assert_true(s.out.action[1].last);
    assert_int_equal(borrow_count(&s.borrow, &s.ada), 1);
}

static void test_a_silent_peer_whose_host_is_there_has_more_time(void **state)
{
    uint64_t t = LEASE_TTL_MS + LEASE_RENEW_MS;
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.bob, 2, 10);
    for (; t <= LEASE_STALLED_MS; t += LEASE_RENEW_MS) {
        tick_at(T0 + t);
        expect("p"); /* once for a peer */
        answers(10);
        tick_at(T0 + t);
        expect("n");
    }
    tick_at(T0 + t);
    expect("lxelxe"); /* however much it is there */
}

static void test_an_answer_of_the_host_counts_for_one_look(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    tick_at(T0 + LEASE_TTL_MS + 1);
    answers(10);
    tick_at(s.now);
    expect("n");
    tick_at(s.now + LEASE_RENEW_MS);
    expect("p");
    tick_at(s.now);
    expect("lxe");
}

static void test_a_late_word_is_in_time_until_it_is_lost(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    tick_at(T0 + LEASE_TTL_MS + 1);
    expect("p");
    hear_renewed(10, 1); /* it came while the host was looked for */
    tick_at(s.now);
    expect("n");
    tick_at(s.now + LEASE_TTL_MS);
    expect("n"); /* its life counts from that word */
}

/* --- links --- */

static void test_a_link_that_breaks_twice_loses_what_is_held(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.ada, 2, 20);
    gone(10);
    expect("n"); /* it is asked, and nobody else */
    assert_true(is_to(0, 10));
    gone(10);
    expect("lxe");
    assert_true(is_of(1, 1));
    assert_string_equal(s.out.action[2].text, "it broke");
    assert_int_equal(borrow_count(&s.borrow, &s.ada), 1);
}

static void test_any_word_ends_the_doubt(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    for (unsigned i = 0; i < 5; i++) {
        gone(10);
        expect("n");
        hear_renewed(10, 1);
    }
    assert_int_equal(borrow_count(&s.borrow, &s.ada), 1);
    gone(30); /* nothing of it is held */
    expect("");
}

/* --- how leases end --- */

static void test_the_peer_ends_it(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.ada, 2, 10);
    add(&s.bob, 3, 10);
    hear_ended(20, 1, LEASE_FINISHED, "not its lease");
    expect("");
    hear_ended(10, 1, LEASE_FINISHED, "its command ended");
    expect("xe");
    assert_false(s.out.action[0].last); /* ada has another one there */
    assert_int_equal(s.out.action[1].status, 7);
    assert_string_equal(s.out.action[1].text, "its command ended");
    hear_ended(10, 2, LEASE_FAILED, "no such program");
    expect("xf");
    assert_true(s.out.action[0].last);
    assert_string_equal(s.out.action[1].text, "no such program");
    hear_ended(10, 2, LEASE_FAILED, "again");
    expect("");
    assert_int_equal(borrow_count(&s.borrow, &s.bob), 1);
}

static void test_why_it_ends_may_have_been_said_before(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.ada, 2, 10);
    message(MSG_lease_ending)->lease_ending.lease = number(1);
    strcpy(s.message.lease_ending.text, "its owner is back");
    hear(10);
    expect("t");
    assert_true(is_of(0, 1));
    hear_ended(10, 1, LEASE_UNKNOWN, "there is no such lease"); /* the last word was lost */
    expect("xe");
    assert_string_equal(s.out.action[1].text, "its owner is back");
    hear_ended(10, 2, LEASE_UNKNOWN, "there is no such lease");
    assert_string_equal(s.out.action[1].text, "there is no such lease");
}

static void test_the_others_agree_that_a_peer_is_silent(void **state)
{
    const struct id silent = number(10);
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.bob, 2, 10);
    add(&s.ada, 3, 20);
    step(&(struct borrow_event){.kind = BORROW_SILENT, .whose = &s.ada, .peer.id = silent});
    expect("rlxs"); /* should it live after all */
    assert_true(is_of(0, 1) && is_to(0, 10));
    assert_string_equal(s.out.action[3].text, "fell silent");
    assert_int_equal(borrow_count(&s.borrow, &s.ada), 1);
    assert_int_equal(borrow_count(&s.borrow, &s.bob), 1);
}

static void test_its_owner_hears_what_the_peer_says_of_it(void **state)
{
    static const enum message_kind kinds[] = {MSG_lease_launched, MSG_lease_recall,
                                              MSG_lease_ending, MSG_lease_seen, MSG_lease_fetching};
    (void)state;
    add(&s.ada, 1, 10);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct message *m = message(kinds[i]);
        const struct id lease = number(1);
        switch ((unsigned)kinds[i]) {
        case MSG_lease_launched:
            m->lease_launched.lease = lease;
            break;
        case MSG_lease_recall:
            m->lease_recall.lease = lease;
            break;
        case MSG_lease_ending:
            m->lease_ending.lease = lease;
            break;
        case MSG_lease_seen:
            m->lease_seen.lease = lease;
            break;
        default:
            m->lease_fetching.lease = lease;
            break;
        }
        hear(20); /* another peer has no say in it */
        expect("");
        hear(10);
        expect("t");
        assert_ptr_equal(s.out.action[0].of->owner, &s.ada);
        assert_ptr_equal(s.out.action[0].message, m);
    }
    assert_int_equal(borrow_count(&s.borrow, &s.ada), 1); /* a recall asks, and takes nothing */
}

/* --- giving back --- */

static void give_back(const void *whose, struct id lease)
{
    step(&(struct borrow_event){.kind = BORROW_GIVE_BACK, .whose = whose, .lease = lease});
}

static void test_owners_give_back_their_own(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.bob, 2, 10);
    add(&s.ada, 3, 20);
    give_back(&s.bob, number(1));
    expect("");
    assert_false(borrow_returns(&s.borrow, s.now));
    give_back(&s.ada, number(1));
    expect("rx");
    assert_true(is_of(0, 1) && s.out.action[1].last);
    assert_true(borrow_returns(&s.borrow, s.now + BORROW_RETURNS_MS - 1));
    assert_false(borrow_returns(&s.borrow, s.now + BORROW_RETURNS_MS));
    add(&s.ada, 4, 20);
    give_back(&s.ada, number(0));
    expect("rxrx");
    assert_false(s.out.action[1].last);
    assert_true(s.out.action[3].last);
    assert_int_equal(borrow_count(&s.borrow, &s.bob), 1);
    give_back(&s.bob, number(2));
    assert_int_equal(borrow_deadline(&s.borrow), UINT64_MAX);
}

static void test_all_are_given_back_in_the_end(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    add(&s.bob, 2, 10);
    step(&(struct borrow_event){.kind = BORROW_CLOSE});
    expect("rxrx");
    assert_int_equal(s.borrow.count, 0);
}

static void test_without_room_it_is_given_back_at_once(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= ROOM; i++)
        add(&s.ada, i, 10);
    add(&s.ada, ROOM + 1, 10);
    expect("r");
    assert_true(is_of(0, ROOM + 1));
    free(borrow_move(&s.borrow, malloc(borrow_size(2 * ROOM)), 2 * ROOM));
    add(&s.ada, ROOM + 1, 10);
    expect("c");
    assert_int_equal(borrow_count(&s.borrow, &s.ada), ROOM + 1);
    const struct id first = number(1);
    assert_string_equal(borrow_find(&s.borrow, &s.ada, &first)->name, "desk10");
}

static void test_who_holds_nothing_says_so_when_probed(void **state)
{
    (void)state;
    add(&s.ada, 1, 10);
    hear_renewed(20, 0);
    expect("n");
    assert_true(is_to(0, 20));
    assert_int_equal(s.out.action[0].count, 0);
    hear_renewed(10, 0); /* what is held is renewed in its turn */
    expect("");
    hear_renewed(20, 1);
    expect("");
}

/* --- reading --- */

static void test_it_is_read_by_owner_reservation_and_peer(void **state)
{
    const struct id within = number(99), desk10 = number(10), desk20 = number(20);
    struct candidate_borrowed list[ROOM];
    (void)state;
    add_within(&s.ada, 1, 10, 5, NULL); /* ada is the reservation */
    add_within(&s.bob, 2, 10, 2, &within);
    add_within(&s.bob, 3, 20, 4, NULL);
    assert_int_equal(borrow_in_use(&s.borrow), 9);
    assert_int_equal(borrow_used(&s.borrow, &within), 2);
    const struct lease_capacity capacity = borrow_capacity(&s.borrow, &s.ada, &within, &desk10);
    assert_int_equal(capacity.slots, 5);
    assert_int_equal(capacity.left, 3);
    assert_int_equal(borrow_capacity(&s.borrow, &s.ada, &within, &desk20).slots, 0);
    assert_int_equal(borrow_list(&s.borrow, &s.bob, list, ROOM), 2);
    assert_int_equal(list[1].slots, 4);
    assert_string_equal(list[1].site, "site20");
    assert_int_equal(borrow_list(&s.borrow, &s.bob, list, 1), 1);
    assert_int_equal(borrow_nth(&s.borrow, &s.bob, 1)->slots, 4);
    assert_null(borrow_nth(&s.borrow, &s.bob, 2));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_borrowed_is_confirmed_and_renewed),
        CASE(test_a_peer_gets_one_message_for_all_of_its_leases),
        CASE(test_more_than_a_message_takes_go_into_several),
        CASE(test_a_silent_peer_whose_host_is_gone_is_lost_after_its_life),
        CASE(test_a_silent_peer_whose_host_is_there_has_more_time),
        CASE(test_an_answer_of_the_host_counts_for_one_look),
        CASE(test_a_late_word_is_in_time_until_it_is_lost),
        CASE(test_a_link_that_breaks_twice_loses_what_is_held),
        CASE(test_any_word_ends_the_doubt),
        CASE(test_the_peer_ends_it),
        CASE(test_why_it_ends_may_have_been_said_before),
        CASE(test_the_others_agree_that_a_peer_is_silent),
        CASE(test_its_owner_hears_what_the_peer_says_of_it),
        CASE(test_owners_give_back_their_own),
        CASE(test_all_are_given_back_in_the_end),
        CASE(test_without_room_it_is_given_back_at_once),
        CASE(test_who_holds_nothing_says_so_when_probed),
        CASE(test_it_is_read_by_owner_reservation_and_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
