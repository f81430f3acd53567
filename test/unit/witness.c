/* SPDX-License-Identifier: BSD-3-Clause */
/* witness.c -- a decision that the other replica may lack goes along with what depends on it: to
 * whom, how often, and until when; and the next leader hears of it from those who know it. */
#include "src/replica/engine.h"
#include "src/replica/header.h"
#include "src/survive/commit.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANKS = 3, LANES = 3, PROCESSES = RANKS * LANES, TAG = 3, MOST = 64, LARGE = 17000 };
enum { LEADER = 0, FOLLOWER = RANKS }; /* replicas of rank 0; ranks 1 and 2 are its witnesses */

struct frame {
    int to;
    struct header h;
    uint8_t bytes[HEADER_BYTES], payload[LARGE + 64];
};

struct process {
    struct engine *engine;
    struct engine_comm *comm;
    struct frame sent[MOST];
    int count, taken[PROCESSES]; /* the first that was not delivered there */
    const char *why;             /* another one was declared dead */
    struct commit commit;
    bool undrained;
};

static struct process process[PROCESSES];
static int processes; /* of two lanes, or three */

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct process *p = ctx;
    (void)cookie;
    assert_true(p->count < MOST && length <= sizeof p->sent[0].payload);
    struct frame *f = &p->sent[p->count++];
    f->to = replica;
    memcpy(f->bytes, header, HEADER_BYTES);
    assert_true(header_read(&f->h, header));
    if (length > 0)
        memcpy(f->payload, payload, length);
    return 1;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)replica;
    if (why)
        ((struct process *)ctx)->why = why;
}

static void on_sent(void *ctx, struct engine_send *s)
{
    (void)ctx, (void)s;
}

static void on_received(void *ctx, struct engine_receive *r)
{
    (void)ctx, (void)r;
}

static void on_stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fail_msg("stopped: %s", line);
}

static bool on_survives(void *ctx, int replica)
{
    (void)ctx, (void)replica;
    return false;
}

static bool on_drained(void *ctx, int replica)
{
    (void)replica;
    return !((struct process *)ctx)->undrained;
}

static int begin_lanes(int lanes)
{
    static const struct engine_callbacks callbacks = {.send = on_send,
                                                      .survives = on_survives,
                                                      .drained = on_drained,
                                                      .lost = on_lost,
                                                      .sent = on_sent,
                                                      .received = on_received,
                                                      .stop = on_stop};
    static const int members[RANKS] = {0, 1, 2};
    memset(process, 0, sizeof process);
    processes = RANKS * lanes;
    for (int i = 0; i < processes; i++) {
        struct process *p = &process[i];
        p->engine = engine_create(RANKS, lanes, i % RANKS, i / RANKS, NULL, &engine_default_limits,
                                  &callbacks, p);
        p->comm = engine_comm_add(p->engine, members, RANKS, NULL, 0, false);
        engine_publish(p->engine, &p->commit);
        engine_progress(p->engine, 1000);
    }
    return 0;
}

static int begin(void **state)
{
    (void)state;
    return begin_lanes(2);
}

static int begin_three(void **state)
{
    (void)state;
    return begin_lanes(3);
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < processes; i++)
        engine_destroy(process[i].engine);
    return 0;
}

static void decide(int of, const char *value, size_t length)
{
    assert_false(engine_follows(process[of].engine));
    engine_decision_give(process[of].engine, DECIDE_OTHER, value, length);
}

static void send_to(int from, int rank)
{
    static struct engine_send s[MOST];
    static int next;
    struct engine_send *one = &s[next++ % MOST];
    *one = (struct engine_send){
        .comm = process[from].comm, .to = rank, .tag = TAG, .data = "x", .length = 1};
    engine_send(process[from].engine, one);
}

/* All that was sent between the two, in order. */
static void deliver(int from, int to)
{
    for (int *i = &process[from].taken[to]; *i < process[from].count; ++*i) {
        const struct frame *f = &process[from].sent[*i];
        if (f->to == to)
            engine_arrived(process[to].engine, from, f->bytes, f->payload);
    }
}

static int sent_of(int from, int to, enum header_kind kind)
{
    int n = 0;
    for (int i = 0; i < process[from].count; i++)
        n += process[from].sent[i].to == to && process[from].sent[i].h.kind == kind;
    return n;
}

/* The kind of the n-th frame between the two; 0: there is none. */
static int kind_of(int from, int to, int n)
{
    for (int i = 0; i < process[from].count; i++)
        if (process[from].sent[i].to == to && n-- == 0)
            return process[from].sent[i].h.kind;
    return 0;
}

/* Rank 0 has decided, and rank 1 depends on that. */
static void rank_1_depends(void)
{
    decide(LEADER, "a", 1);
    send_to(LEADER, 1);
    deliver(LEADER, 1);
}

/* What was decided, as the next leader takes it; 0: it is to decide itself. */
static char taken_by_follower(void)
{
    char value = 0;
    if (!engine_follows(process[FOLLOWER].engine))
        return 0;
    const int n = engine_decision_take(process[FOLLOWER].engine, DECIDE_OTHER, &value, 1);
    return n == -EAGAIN ? '?' : value;
}

static void test_goes_along(void **state)
{
    (void)state;
    rank_1_depends();
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 1);
    assert_int_equal(kind_of(LEADER, 1, 0), HEADER_WITNESS);
    assert_int_equal(kind_of(LEADER, 1, 1), HEADER_EAGER);
    assert_false(engine_waits_for_others(process[LEADER].engine));
    send_to(LEADER, 1);
    assert_int_equal(kind_of(LEADER, 1, 2), HEADER_EAGER); /* once on each link */
}

static void test_is_passed_on(void **state)
{
    (void)state;
    rank_1_depends();
    send_to(1, 2);
    assert_int_equal(kind_of(1, 2, 0), HEADER_WITNESS);
    assert_int_equal(kind_of(1, 2, 1), HEADER_EAGER);
}

/* A lane must not take for sent what it would then send otherwise. */
static void test_goes_before_acknowledgements(void **state)
{
    (void)state;
    rank_1_depends();
    engine_progress(process[1].engine, 1000 + engine_default_limits.ack_delay_ms);
    assert_int_equal(kind_of(1, FOLLOWER, 0), HEADER_WITNESS);
    assert_int_equal(kind_of(1, FOLLOWER, 1), HEADER_ACK);
}

static void test_goes_before_word_of_a_match(void **state)
{
    (void)state;
    static struct engine_send s;
    static struct engine_receive r;
    s = (struct engine_send){.comm = process[2].comm, .to = 1, .tag = TAG, .synchronous = true};
    r = (struct engine_receive){.comm = process[1].comm, .from = 2, .tag = TAG, .firm = true};
    rank_1_depends();
    engine_send(process[2].engine, &s);
    deliver(2, 1);
    engine_receive(process[1].engine, &r);
    assert_int_equal(kind_of(1, 2, 0), HEADER_WITNESS);
    assert_int_equal(kind_of(1, 2, 1), HEADER_HAVE);
    engine_progress(process[1].engine, 1000 + engine_default_limits.ack_delay_ms);
    assert_int_equal(kind_of(1, 2 + RANKS, 0), HEADER_WITNESS);
    assert_int_equal(kind_of(1, 2 + RANKS, 1), HEADER_HAVE);
}

/* A choice of a message whose sender has decided something. */
static void test_goes_before_decisions(void **state)
{
    (void)state;
    rank_1_depends();
    decide(1, "b", 1);
    (void)engine_committed(process[1].engine);
    assert_int_equal(kind_of(1, 1 + RANKS, 0), HEADER_WITNESS);
    assert_int_equal(kind_of(1, 1 + RANKS, 1), HEADER_DECIDE);
}

/* What is in the list for ten milliseconds or more, and was at the last look. */
static void look_twice(int of)
{
    engine_progress(process[of].engine, 1011);
    engine_progress(process[of].engine, 1022);
}

static void test_ends_when_it_is_held(void **state)
{
    (void)state;
    rank_1_depends();
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
    send_to(LEADER, 2);
    assert_int_equal(kind_of(LEADER, 2, 0), HEADER_EAGER);
    look_twice(1); /* it asks after a while */
    assert_int_equal(sent_of(1, LEADER, HEADER_SETTLE), 1);
    deliver(1, LEADER);
    assert_int_equal(sent_of(LEADER, 1, HEADER_SETTLED), 1);
    deliver(LEADER, 1);
    send_to(1, 2);
    assert_int_equal(kind_of(1, 2, 0), HEADER_EAGER);
}

/* Behind a decision of rank 0 stands one that is held by now, and then another one of rank 0. */
static void test_what_is_held_divides_no_frame(void **state)
{
    (void)state;
    rank_1_depends();
    decide(1, "b", 1);
    send_to(1, 0);
    deliver(1, 1 + RANKS);
    deliver(1 + RANKS, 1);
    decide(LEADER, "c", 1);
    send_to(LEADER, 1);
    deliver(LEADER, 1);
    send_to(1, 2);
    assert_int_equal(kind_of(1, 2, 0), HEADER_WITNESS);
    assert_int_equal(kind_of(1, 2, 1), HEADER_EAGER);
}

/* The messages of its rank say that it is held. */
static void test_what_is_new_is_not_asked_about(void **state)
{
    (void)state;
    rank_1_depends();
    engine_progress(process[1].engine, 1011);
    assert_int_equal(sent_of(1, LEADER, HEADER_SETTLE), 0);
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
    decide(LEADER, "b", 1);
    send_to(LEADER, 1);
    deliver(LEADER, 1);
    engine_progress(process[1].engine, 1022);
    assert_int_equal(sent_of(1, LEADER, HEADER_SETTLE), 0);
}

static void test_an_answer_when_it_is_held(void **state)
{
    (void)state;
    rank_1_depends();
    look_twice(1);
    deliver(1, LEADER);
    assert_int_equal(sent_of(LEADER, 1, HEADER_SETTLED), 0);
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
    assert_int_equal(sent_of(LEADER, 1, HEADER_SETTLED), 1);
}

/* An answer that brought new ones would make for new questions, and these for more answers. */
static void test_an_answer_brings_no_decisions(void **state)
{
    (void)state;
    rank_1_depends();
    look_twice(1);
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
    decide(LEADER, "b", 1);
    deliver(1, LEADER);
    assert_int_equal(sent_of(LEADER, 1, HEADER_SETTLED), 1);
    assert_int_equal(sent_of(LEADER, 1, HEADER_WITNESS), 1);
    send_to(LEADER, 1);
    assert_int_equal(sent_of(LEADER, 1, HEADER_WITNESS), 2);
}

static void test_much_waits(void **state)
{
    static const char much[LARGE];
    (void)state;
    decide(LEADER, much, sizeof much);
    send_to(LEADER, 1);
    assert_int_equal(kind_of(LEADER, 1, 0), 0);
    assert_true(engine_waits_for_others(process[LEADER].engine));
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
    engine_progress(process[LEADER].engine, 1001);
    assert_int_equal(kind_of(LEADER, 1, 0), HEADER_EAGER);
}

static void decide_and_send(int times)
{
    for (int i = 0; i < times; i++) {
        decide(LEADER, "b", 1);
        send_to(LEADER, 1);
    }
}

static void acknowledge(void)
{
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
}

/* What goes along with messages need not be told at once. */
static void test_followers_are_told_batches(void **state)
{
    (void)state;
    rank_1_depends();
    decide_and_send(3);
    assert_int_equal(sent_of(LEADER, 1, HEADER_WITNESS), 4);
    engine_progress(process[LEADER].engine, 1001); /* the first one is still on its way */
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 1);
    acknowledge();
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 2);
    acknowledge();
    assert_true(engine_committed(process[LEADER].engine));
}

static void test_followers_are_told_once_in_a_tick(void **state)
{
    (void)state;
    rank_1_depends();
    acknowledge();
    decide_and_send(3);
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 1);
    engine_progress(process[LEADER].engine, 1001);
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 2);
}

/* It waits for the other lane's receiver, and that perhaps for this rank's replica there. */
static void test_followers_are_told_at_once_while_a_large_send_waits(void **state)
{
    static const char large[64 * 1024 + 1];
    static struct engine_send s;
    (void)state;
    rank_1_depends();
    acknowledge();
    s = (struct engine_send){
        .comm = process[LEADER].comm, .to = 1, .tag = TAG, .data = large, .length = sizeof large};
    engine_send(process[LEADER].engine, &s);
    assert_false(s.done);
    decide(LEADER, "b", 1);
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 2);
}

static void test_followers_are_told_much_at_once(void **state)
{
    static const char much[LARGE];
    (void)state;
    rank_1_depends();
    decide(LEADER, much, sizeof much);
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 2);
}

/* A program that spins on its clock has nothing to say to the others. */
static void test_followers_are_told_few_clock_reads(void **state)
{
    enum { READS = 300 };
    static const double time = 1;
    (void)state;
    rank_1_depends();
    acknowledge();
    engine_progress(process[LEADER].engine, 1001);
    for (int i = 0; i < READS; i++)
        engine_decision_give(process[LEADER].engine, DECIDE_TIME, &time, sizeof time);
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 1);
    for (int i = 0; i < READS; i++)
        engine_decision_give(process[LEADER].engine, DECIDE_TIME, &time, sizeof time);
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 2);
}

/* A lane that does a dead one's work must not be told late: others wait for it. */
static void test_after_a_death_followers_are_told_at_once(void **state)
{
    (void)state;
    rank_1_depends();
    acknowledge();
    engine_dead(process[LEADER].engine, RANKS + 2);
    engine_progress(process[LEADER].engine, 1000);
    decide_and_send(1);
    assert_int_equal(sent_of(LEADER, FOLLOWER, HEADER_DECIDE), 2);
}

static void test_output_waits(void **state)
{
    (void)state;
    const struct commit *c = &process[1].commit;
    assert_true(c->decided <= c->held);
    rank_1_depends();
    assert_true(c->decided > c->held);
    assert_false(engine_committed(process[1].engine)); /* it asks at once */
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
    deliver(1, LEADER);
    deliver(LEADER, 1);
    assert_true(c->decided <= c->held);
    assert_true(engine_committed(process[1].engine));
}

/* What was printed before another decision came is not kept back by that. */
static void test_output_is_shown_in_order(void **state)
{
    (void)state;
    struct process *p = &process[1];
    rank_1_depends();
    const uint64_t first = p->commit.decided;
    assert_false(engine_committed(p->engine));
    deliver(1, LEADER);
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER); /* the answer is on its way */
    decide(LEADER, "b", 1);
    send_to(LEADER, 1);
    deliver(LEADER, 1);
    assert_true(p->commit.held >= first);
    assert_true(p->commit.held < p->commit.decided);
}

static void test_the_good_bye_waits(void **state)
{
    (void)state;
    rank_1_depends();
    assert_false(engine_finish(process[1].engine));
    assert_int_equal(sent_of(1, LEADER, HEADER_BYE), 0);
    deliver(LEADER, FOLLOWER);
    deliver(FOLLOWER, LEADER);
    deliver(1, LEADER);
    deliver(LEADER, 1);
    assert_true(engine_finish(process[1].engine));
    assert_int_equal(sent_of(1, LEADER, HEADER_BYE), 1);
}

/* The leader's word to the follower is lost with it. */
static void leader_dies(void)
{
    for (int i = 1; i < processes; i++)
        engine_dead(process[i].engine, LEADER);
}

static void test_the_next_leader_hears_of_it(void **state)
{
    (void)state;
    rank_1_depends();
    leader_dies();
    engine_progress(process[FOLLOWER].engine, 1001);
    assert_int_equal(sent_of(FOLLOWER, 1, HEADER_RECALL), 0); /* as long as it needs none */
    assert_int_equal(taken_by_follower(), '?');
    engine_progress(process[FOLLOWER].engine, 1002);
    for (int i = 1; i < processes; i++)
        assert_int_equal(sent_of(FOLLOWER, i, HEADER_RECALL), i != FOLLOWER);
    for (int i = 1; i < processes; i++) {
        assert_int_equal(taken_by_follower(), '?');
        deliver(FOLLOWER, i);
        if (i != 1)
            deliver(i, FOLLOWER);
    }
    deliver(1, FOLLOWER);
    assert_int_equal(taken_by_follower(), 'a');
    engine_progress(process[FOLLOWER].engine, 1003);
    assert_int_equal(taken_by_follower(), 0); /* the next one is its own */
}

/* Who has answered may have heard from it afterwards, were it not known to be dead there. */
static void test_all_are_asked_again_after_a_death(void **state)
{
    (void)state;
    leader_dies();
    assert_int_equal(taken_by_follower(), '?');
    engine_progress(process[FOLLOWER].engine, 1001);
    assert_int_equal(sent_of(FOLLOWER, 2, HEADER_RECALL), 1);
    deliver(FOLLOWER, 1);
    deliver(1, FOLLOWER);
    engine_dead(process[FOLLOWER].engine, 1);
    engine_progress(process[FOLLOWER].engine, 1002);
    assert_int_equal(sent_of(FOLLOWER, 2, HEADER_RECALL), 2);
    for (int i = 2; i < processes; i++) {
        deliver(FOLLOWER, i);
        deliver(i, FOLLOWER);
    }
    engine_progress(process[FOLLOWER].engine, 1003);
    assert_int_equal(taken_by_follower(), 0);
}

static void test_an_old_answer_is_none(void **state)
{
    (void)state;
    leader_dies();
    assert_int_equal(taken_by_follower(), '?');
    engine_progress(process[FOLLOWER].engine, 1001);
    for (int i = 1; i < processes; i++)
        deliver(FOLLOWER, i);
    deliver(1, FOLLOWER);
    engine_dead(process[FOLLOWER].engine, 1);
    engine_progress(process[FOLLOWER].engine, 1002);
    for (int i = 2; i < processes; i++)
        deliver(i, FOLLOWER);
    engine_progress(process[FOLLOWER].engine, 1003);
    assert_int_equal(taken_by_follower(), '?');
}

/* A dead one's frames are read as long as its link is not drained, so the answer is not final. */
static void test_no_answer_before_deaths_are_acted_on(void **state)
{
    (void)state;
    leader_dies();
    assert_int_equal(taken_by_follower(), '?');
    engine_progress(process[FOLLOWER].engine, 1001);
    process[1].undrained = true;
    engine_dead(process[1].engine, 1 + RANKS);
    deliver(FOLLOWER, 1);
    engine_progress(process[1].engine, 1001);
    assert_int_equal(sent_of(1, FOLLOWER, HEADER_RECALLED), 0);
    process[1].undrained = false;
    engine_progress(process[1].engine, 1002);
    assert_int_equal(sent_of(1, FOLLOWER, HEADER_RECALLED), 1);
}

/* The next leader does not find rank 2, which has sent something to rank 1. */
static void one_is_not_found(void)
{
    send_to(2, 1);
    deliver(2, 1);
    leader_dies();
    assert_int_equal(taken_by_follower(), '?');
    engine_progress(process[FOLLOWER].engine, 1001);
    engine_dead(process[FOLLOWER].engine, 2);
    engine_progress(process[FOLLOWER].engine, 1002);
    assert_int_equal(sent_of(FOLLOWER, 1, HEADER_RECALL), 2);
    assert_int_equal(sent_of(FOLLOWER, 1, HEADER_DEAD), 1);
    deliver(FOLLOWER, 1);
    engine_progress(process[1].engine, 1001);
    assert_int_equal(sent_of(1, FOLLOWER, HEADER_RECALLED), 1); /* the first */
}

/* It may have died, and its frames may still come to those that it has met. */
static void test_no_answer_before_it_is_known_who_died(void **state)
{
    (void)state;
    one_is_not_found();
    engine_dead(process[1].engine, 2);
    engine_progress(process[1].engine, 1002);
    assert_int_equal(sent_of(1, FOLLOWER, HEADER_DEAD), 2);
    assert_int_equal(sent_of(1, FOLLOWER, HEADER_RECALLED), 2);
}

static void test_one_that_answers_has_not_died(void **state)
{
    (void)state;
    one_is_not_found();
    deliver(1, 2);
    deliver(2, 1);
    engine_progress(process[1].engine, 1002);
    assert_int_equal(sent_of(1, FOLLOWER, HEADER_RECALLED), 2);
}

/* A follower takes it from whoever depends on it; the leader, which has not told it, says that it
 * has it, too. */
static void test_a_follower_is_told_by_others(void **state)
{
    (void)state;
    rank_1_depends();
    engine_dead(process[1].engine, 1 + RANKS); /* so it sends to lane 1 as well */
    engine_progress(process[1].engine, 1001);
    send_to(1, 0);
    deliver(1, FOLLOWER);
    assert_int_equal(taken_by_follower(), 'a');
    assert_int_equal(sent_of(FOLLOWER, LEADER, HEADER_DECIDED), 1);
}

/* By an acknowledgement of what rank 1 has from the leader, which will tell it, too. */
static void test_it_says_so_after_a_death_alone(void **state)
{
    (void)state;
    rank_1_depends();
    engine_progress(process[1].engine, 1003);
    assert_int_equal(sent_of(1, FOLLOWER, HEADER_ACK), 1);
    deliver(1, FOLLOWER);
    assert_int_equal(taken_by_follower(), 'a');
    assert_int_equal(sent_of(FOLLOWER, LEADER, HEADER_DECIDED), 0);
    deliver(LEADER, FOLLOWER);
    assert_int_equal(sent_of(FOLLOWER, LEADER, HEADER_DECIDED), 1);
}

struct made {
    uint8_t bytes[128];
    size_t length;
};

static void add(struct made *m, uint32_t rank, uint64_t number, uint32_t size)
{
    uint8_t *p = m->bytes + m->length;
    bytes_put_u32(p, rank);
    bytes_put_u64(p + 4, number);
    p[12] = DECIDE_OTHER;
    bytes_put_u32(p + 13, size);
    p[17] = (uint8_t)('a' + number);
    m->length += 18;
}

static const char *said_to(int to, int from, const struct made *m)
{
    uint8_t header[HEADER_BYTES];
    const struct header h = {.kind = HEADER_WITNESS, .length = (uint32_t)m->length};
    header_write(header, &h);
    engine_arrived(process[to].engine, from, header, m->bytes);
    engine_progress(process[to].engine, 1001);
    return process[to].why;
}

/* The third replica hears of it when it has agreed already, and from one that dies then. */
static void test_a_replica_passes_on_what_it_has_heard(void **state)
{
    enum { THIRD = 2 * RANKS, FAR = 1 + 2 * RANKS };
    (void)state;
    for (int i = 0; i < FAR; i++)
        engine_dead(process[i].engine, FAR); /* so rank 1 sends to lane 2 as well */
    engine_progress(process[1].engine, 1001);
    rank_1_depends();
    leader_dies();
    engine_progress(process[THIRD].engine, 1001);
    assert_int_equal(sent_of(THIRD, FOLLOWER, HEADER_AGREE), 1);
    send_to(1, 0);
    deliver(1, THIRD);
    for (int i = 2; i < FAR; i++)
        engine_dead(process[i].engine, 1);
    deliver(THIRD, FOLLOWER);
    assert_int_equal(taken_by_follower(), '?');
    engine_progress(process[FOLLOWER].engine, 1002);
    for (int i = 2; i < processes; i += 1 + (i == THIRD)) {
        deliver(FOLLOWER, i);
        engine_progress(process[i].engine, 1003);
        deliver(i, FOLLOWER);
    }
    assert_int_equal(taken_by_follower(), 'a');
}

/* An heir that is alone holds all that it knows, and not what the dead leader may have decided. */
static void test_an_heir_does_not_say_that_all_is_held(void **state)
{
    (void)state;
    struct made m = {.length = 0};
    rank_1_depends();
    leader_dies();
    engine_progress(process[FOLLOWER].engine, 1001);
    add(&m, 2, 0, 1);
    assert_null(said_to(FOLLOWER, 2, &m));
    send_to(FOLLOWER, 1); /* in its own lane, and in the leader's */
    assert_int_equal(sent_of(FOLLOWER, 1, HEADER_WITNESS), 1);
    deliver(FOLLOWER, 1);
    assert_int_equal(taken_by_follower(), '?');
    engine_progress(process[FOLLOWER].engine, 1002);
    deliver(FOLLOWER, 1);
    deliver(1, FOLLOWER);
    assert_int_equal(taken_by_follower(), 'a');
}

/* What lacks before it is in a link that keeps it. */
static void test_a_gap_waits(void **state)
{
    (void)state;
    struct made m = {.length = 0};
    add(&m, 0, 1, 1);
    assert_null(said_to(FOLLOWER, 1, &m));
    assert_int_equal(taken_by_follower(), '?');
    decide(LEADER, "a", 1);
    engine_committed(process[LEADER].engine);
    deliver(LEADER, FOLLOWER);
    assert_int_equal(taken_by_follower(), 'a');
    assert_int_equal(taken_by_follower(), 'b');
}

static void test_what_makes_no_sense(void **state)
{
    (void)state;
    static const char senseless[] = "its witness makes no sense";
    struct made of_nobody = {.length = 0}, too_long = of_nobody, of_leader = of_nobody;
    add(&of_nobody, RANKS, 0, 1);
    assert_string_equal(said_to(1, 2, &of_nobody), senseless);
    add(&too_long, 2, 0, 2);
    assert_string_equal(said_to(2, 1, &too_long), senseless);
    add(&of_leader, 0, 0, 1); /* which made none */
    assert_string_equal(said_to(LEADER, 1, &of_leader), senseless);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_goes_along),
        TEST(test_is_passed_on),
        TEST(test_goes_before_acknowledgements),
        TEST(test_goes_before_word_of_a_match),
        TEST(test_goes_before_decisions),
        TEST(test_ends_when_it_is_held),
        TEST(test_what_is_held_divides_no_frame),
        TEST(test_what_is_new_is_not_asked_about),
        TEST(test_an_answer_when_it_is_held),
        TEST(test_an_answer_brings_no_decisions),
        TEST(test_much_waits),
        TEST(test_followers_are_told_batches),
        TEST(test_followers_are_told_once_in_a_tick),
        TEST(test_followers_are_told_at_once_while_a_large_send_waits),
        TEST(test_followers_are_told_much_at_once),
        TEST(test_followers_are_told_few_clock_reads),
        TEST(test_after_a_death_followers_are_told_at_once),
        TEST(test_output_waits),
        TEST(test_output_is_shown_in_order),
        TEST(test_the_good_bye_waits),
        TEST(test_the_next_leader_hears_of_it),
        TEST(test_all_are_asked_again_after_a_death),
        TEST(test_an_old_answer_is_none),
        TEST(test_no_answer_before_deaths_are_acted_on),
        TEST(test_no_answer_before_it_is_known_who_died),
        TEST(test_one_that_answers_has_not_died),
        TEST(test_a_follower_is_told_by_others),
        TEST(test_it_says_so_after_a_death_alone),
        cmocka_unit_test_setup_teardown(test_a_replica_passes_on_what_it_has_heard, begin_three,
                                        end),
        TEST(test_an_heir_does_not_say_that_all_is_held),
        TEST(test_a_gap_waits),
        TEST(test_what_makes_no_sense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
