/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.c -- frames arrive once, whole and in order, through rings and TCP, over breaks and up
 * to a death. */
#include "src/transport/transport.h"
#include <errno.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* STUCK_S is no expectation of speed: it ends a test that would never end. */
enum { LARGEST = 300 * 1000, ROUNDS = 400, STUCK_S = 300 };

/* One process of two, as the test sees it. Frame k has a head of k, and a payload of size(k) bytes,
 * all k + self. */
struct side {
    struct transport *t;
    struct side *other;
    uint32_t self;
    char address[1024];
    uint32_t next_out, next_in, tokens_out, tokens_in, headless_out, headless_in;
    bool hears_out; /* the other one is said to be dead */
    bool answers;   /* what has no head, */
    uint8_t *reads; /* and then reads the other's memory until that is woken */
    int lost;
    const char *reason;
    uint8_t *room;
};

static uint8_t pattern[8][LARGEST];
static bool encrypt;  /* the sides that are opened from now on */
static bool stranger; /* they have another secret than the rest */

static size_t size_of(uint32_t k)
{
    static const size_t sizes[] = {0, 1, 40, 1000, 65536, 65537, 70000, LARGEST};
    return sizes[(k * 2654435761u >> 13) % 8];
}

static void *place(void *arg, uint32_t from, const void *head, size_t head_length, size_t length)
{
    struct side *s = arg;
    (void)from, (void)head;
    assert_int_equal(head_length, 4);
    assert_true(length > TRANSPORT_SMALL && length <= LARGEST);
    return s->room;
}

static bool is_called(const struct side *s)
{
    struct pollfd p = {.fd = transport_descriptor(s->t), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* It sleeps while an answer waits for the end of what is read, but not for all of a long read. */
static void read_until_called(struct side *s, uint32_t from)
{
    enum { LONG = 8 * 1024 * 1024 };
    static uint8_t copy[LARGEST];
    size_t n = 0;
    for (; !is_called(s->other) && n < 2 * LONG; n += LARGEST)
        assert_true(transport_remote_read(s->t, from, s->reads, copy, LARGEST));
    assert_in_range(n, LONG, LONG + LARGEST);
}

static void arrived(void *arg, uint32_t from, const void *head, size_t head_length, void *payload,
                    size_t length)
{
    struct side *s = arg;
    uint32_t k;
    if (head_length == 0) {
        s->headless_in++;
        assert_false(s->hears_out && transport_drained(s->t, from)); /* not before this one */
        if (!s->answers)
            return;
        assert_true(transport_send(s->t, from, TRANSPORT_URGENT, NULL, 0, pattern[0], 8, NULL) >=
                    0);
        s->headless_out++;
        assert_false(is_called(s->other));
        if (s->reads)
            read_until_called(s, from);
        return;
    }
    assert_int_equal(head_length, 4);
    memcpy(&k, head, 4);
    assert_int_equal(k, s->next_in++);
    assert_int_equal(length, size_of(k));
    assert_memory_equal(payload, pattern[(k + from) % 8], length);
}

static void sent(void *arg, uint32_t to, void *token)
{
    struct side *s = arg;
    (void)to, (void)token;
    s->tokens_in++;
}

static void lost(void *arg, uint32_t peer, const char *reason)
{
    struct side *s = arg;
    (void)peer;
    s->reason = reason;
    s->lost++;
}

static const char *address(void *arg, uint32_t peer)
{
    struct side *s = arg;
    (void)peer;
    return s->other->address;
}

static void side_open(struct side *s, uint32_t self, struct side *other, bool shared_memory)
{
    struct transport_options o = {.self = self,
                                  .count = 2,
                                  .job = 7,
                                  .listen = "127.0.0.1",
                                  .shared_memory = shared_memory,
                                  .secret = {41, (uint8_t)(41 + stranger)},
                                  .encrypt = encrypt,
                                  .retry_ms = STUCK_S * 1000};
    struct transport_events e = {s, place, arrived, sent, lost, address};
    *s = (struct side){.other = other, .self = self, .room = malloc(LARGEST)};
    assert_int_equal(transport_open(&s->t, &o, &e), 0);
    strcpy(s->address, transport_address(s->t));
}

static void side_close(struct side *s)
{
    transport_close(s->t);
    free(s->room);
}

static int side_send(struct side *s)
{
    uint32_t k = s->next_out;
    size_t length = size_of(k);
    bool with_token = length > TRANSPORT_SMALL || k % 3 == 0;
    int rc = transport_send(s->t, 1 - s->self, TRANSPORT_URGENT, &k, 4, pattern[(k + s->self) % 8],
                            length, with_token ? s : NULL);
    if (rc >= 0) {
        s->next_out++;
        s->tokens_out += with_token && rc == 0;
    }
    return rc;
}

static void poll_both(struct side *a, struct side *b, int timeout_ms)
{
    transport_poll(a->t, timeout_ms);
    transport_poll(b->t, timeout_ms);
}

/* Until the next frame is one that needs no more than the ring. */
static void go_on_to_a_small_one(struct side *a, struct side *b)
{
    while (a->tokens_in < a->tokens_out || b->next_in < a->next_out ||
           size_of(a->next_out) > TRANSPORT_SMALL) {
        if (b->next_in == a->next_out)
            side_send(a);
        poll_both(a, b, 0);
    }
}

/* One frame from a to b, where only a progress thread listens: does it wake that? */
static bool wakes(struct side *a, struct side *b, enum transport_urgency urgency)
{
    go_on_to_a_small_one(a, b);
    while (transport_progress(b->t))
        ;
    assert_false(is_called(b));
    const uint32_t k = a->next_out++, in = b->next_in;
    assert_int_equal(
        transport_send(a->t, b->self, urgency, &k, 4, pattern[(k + a->self) % 8], size_of(k), NULL),
        1);
    const bool called = is_called(b);
    while (b->next_in == in)
        transport_poll(b->t, 0);
    return called;
}

static void meet_over(struct side *a, struct side *b, bool shared_memory)
{
    side_open(a, 0, b, shared_memory);
    side_open(b, 1, a, shared_memory);
    side_send(a);
    side_send(b);
    while (a->next_in == 0 || b->next_in == 0)
        poll_both(a, b, 0);
}

static void meet(struct side *a, struct side *b)
{
    meet_over(a, b, true);
}

static void test_only_the_urgent_wakes_the_progress_thread(void **state)
{
    (void)state;
    static struct side a, b;
    meet(&a, &b);
    assert_false(transport_is_far(a.t, 1));
    for (int i = 0; i < 10; i++) {
        assert_true(wakes(&a, &b, TRANSPORT_URGENT));
        assert_false(wakes(&a, &b, TRANSPORT_NEWS));
        assert_false(wakes(&a, &b, TRANSPORT_SOON));
        assert_false(wakes(&a, &b, TRANSPORT_QUIET));
    }
    side_close(&a);
    side_close(&b);
}

static void send_headless(struct side *s, enum transport_urgency urgency, size_t length)
{
    assert_int_equal(transport_send(s->t, 1 - s->self, urgency, NULL, 0, pattern[0], length, NULL),
                     0);
    s->headless_out++;
}

/* How many of what the other one has sent is still missing after a poll? */
static uint32_t missing(struct side *s)
{
    transport_poll(s->t, 20);
    return s->other->headless_out - s->headless_in;
}

static void test_some_go_along_over_tcp(void **state)
{
    (void)state;
    static struct side a, b;
    meet_over(&a, &b, false);
    assert_true(transport_is_far(a.t, 1));
    for (int i = 0; i < 10; i++) {
        send_headless(&a, TRANSPORT_QUIET, 8);
        send_headless(&a, TRANSPORT_SOON, 8);
        assert_int_equal(missing(&b), 2);
        send_headless(&a, TRANSPORT_NEWS, 8);
        assert_int_equal(missing(&b), 0);
    }
    side_close(&a);
    side_close(&b);
}

static void test_some_go_with_the_next_poll(void **state)
{
    (void)state;
    static struct side a, b;
    meet_over(&a, &b, false);
    send_headless(&a, TRANSPORT_QUIET, 8);
    assert_int_equal(missing(&b), 1);
    transport_poll(a.t, 0);
    assert_int_equal(missing(&b), 0);
    send_headless(&a, TRANSPORT_SOON, 8);
    assert_int_equal(missing(&b), 1);
    transport_progress(a.t);
    assert_int_equal(missing(&b), 0);
    side_close(&a);
    side_close(&b);
}

/* The network is to have something to do meanwhile. */
static void test_much_does_not_wait(void **state)
{
    (void)state;
    enum { LENGTH = 4096, FRAMES = 5 };
    static struct side a, b;
    meet_over(&a, &b, false);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FRAMES; i++) {
            assert_int_equal(missing(&b), i);
            send_headless(&a, TRANSPORT_SOON, LENGTH);
        }
        assert_int_equal(missing(&b), 0);
    }
    side_close(&a);
    side_close(&b);
}

/* One poll brings all answers to what another has brought. */
static void test_answers_go_together_over_tcp(void **state)
{
    (void)state;
    enum { FRAMES = 5 };
    static struct side a, b;
    meet_over(&a, &b, false);
    for (int i = 0; i < FRAMES; i++)
        send_headless(&a, TRANSPORT_NEWS, 8);
    b.answers = true;
    assert_int_equal(missing(&b), 0);
    assert_int_equal(b.headless_out, FRAMES);
    assert_int_equal(missing(&a), 0);
    side_close(&a);
    side_close(&b);
}

static void read_all(struct side *s)
{
    while (s->next_in < s->other->next_out)
        transport_progress(s->t);
    while (transport_progress(s->t))
        ;
}

static void test_answers_wake_when_all_is_read(void **state)
{
    (void)state;
    enum { FRAMES = 3 };
    static struct side a, b;
    meet(&a, &b);
    read_all(&b);
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(transport_send(a.t, 1, TRANSPORT_QUIET, NULL, 0, pattern[0], 8, NULL), 1);
    read_all(&a);
    assert_false(is_called(&a));
    b.answers = true;
    transport_poll(b.t, 0);
    assert_int_equal(b.headless_in, FRAMES);
    assert_true(is_called(&a));
    read_all(&a);
    assert_int_equal(a.headless_in, FRAMES);
    side_close(&a);
    side_close(&b);
}

static void test_a_long_read_wakes(void **state)
{
    (void)state;
    static struct side a, b;
    static uint8_t bytes[LARGEST], rkey[TRANSPORT_RKEY];
    meet(&a, &b);
    while (!transport_expose(a.t, 1, bytes, rkey)) /* they do not know yet that they can */
        poll_both(&a, &b, 0);
    read_all(&b);
    assert_int_equal(transport_send(a.t, 1, TRANSPORT_QUIET, NULL, 0, pattern[0], 8, NULL), 1);
    read_all(&a);
    b.answers = true;
    b.reads = rkey;
    transport_poll(b.t, 0);
    assert_int_equal(b.headless_in, 1);
    read_all(&a);
    assert_int_equal(a.headless_in, 1);
    side_close(&a);
    side_close(&b);
}

/* Until it waits for room: with a frame that is queued, or one that it has kept. */
static void fill_ring(struct side *a, bool keeps)
{
    if (keeps) {
        int rc = 1;
        while (rc == 1)
            rc = transport_try(a->t, 1, TRANSPORT_NEWS, NULL, 0, pattern[0], TRANSPORT_SMALL);
        assert_int_equal(rc, -EAGAIN);
        assert_int_equal(transport_try(a->t, 1, TRANSPORT_NEWS, NULL, 0, NULL, 0), 1); /* fits */
        assert_int_equal(transport_backlog(a->t, 1), 0);
    }
    while (!keeps && transport_backlog(a->t, 1) == 0)
        /* without exposed memory, whose reading is reported, too */
        assert_true(transport_send(a->t, 1, TRANSPORT_NEWS, NULL, 0, pattern[0], TRANSPORT_SMALL,
                                   NULL) >= 0);
}

/* polls: its progress thread polls once more when the ring is full already. */
static void waits_for_room(bool keeps, bool polls)
{
    static struct side a, b;
    meet(&a, &b);
    go_on_to_a_small_one(&a, &b);
    side_send(&a);
    read_all(&a);
    read_all(&b); /* and says how far it has read */
    assert_false(is_called(&a));
    fill_ring(&a, keeps);
    assert_true(is_called(&b)); /* news alone does not do that, a full ring does */
    if (polls)
        read_all(&a);
    assert_false(is_called(&a));
    read_all(&b);
    assert_true(is_called(&a));
    assert_true(transport_poll(a.t, 0) > 0);
    assert_int_equal(transport_try(a.t, 1, TRANSPORT_NEWS, NULL, 0, pattern[0], TRANSPORT_SMALL),
                     1);
    side_close(&a);
    side_close(&b);
}

static void test_room_wakes_only_who_waits_for_it(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++)
        waits_for_room(how & 1, how & 2);
}

/* It is longer than the ring, and goes in pieces when nothing is before it. */
static void test_no_room_is_enough_for_a_long_frame(void **state)
{
    (void)state;
    static struct side a, b;
    static uint8_t bytes[512 * 1024];
    meet(&a, &b);
    go_on_to_a_small_one(&a, &b);
    fill_ring(&a, false);
    assert_int_equal(transport_try(a.t, 1, TRANSPORT_NEWS, NULL, 0, bytes, sizeof bytes), -EAGAIN);
    while (transport_backlog(a.t, 1) > 0)
        poll_both(&a, &b, 0);
    read_all(&b);
    read_all(&a);
    assert_int_equal(transport_send(a.t, 1, TRANSPORT_QUIET, NULL, 0, pattern[0], 8, NULL), 1);
    read_all(&a);
    assert_false(is_called(&a));
    read_all(&b);
    assert_false(is_called(&a)); /* it waits for no room any more */
    assert_true(transport_try(a.t, 1, TRANSPORT_NEWS, NULL, 0, bytes, sizeof bytes) >= 0);
    side_close(&a);
    side_close(&b);
}

/* Of the memory that both sides share: what was ever touched. */
static long rings_touched_kib(void)
{
    char line[512];
    long kib, sum = 0;
    bool is_ring = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (strchr(line, '-') != NULL && strstr(line, " rw") != NULL)
            is_ring = strstr(line, "p2pgrid-ring") != NULL;
        else if (is_ring && sscanf(line, "Rss: %ld", &kib) == 1)
            sum += kib;
    fclose(f);
    return sum;
}

static void try_many(struct side *from, uint32_t to, int frames, size_t size)
{
    for (int i = 0; i < frames; i++)
        assert_int_equal(transport_try(from->t, to, TRANSPORT_QUIET, NULL, 0, pattern[0], size), 1);
}

/* 64 of a size, which always fit, and are read and answered then. */
static void send_window(struct side *a, struct side *b, size_t size)
{
    try_many(a, 1, 64, size);
    read_all(b);
    try_many(b, 0, 1, 8);
    read_all(a);
}

static void test_a_ring_that_is_read_begins_again(void **state)
{
    (void)state;
    static struct side a, b;
    meet(&a, &b);
    go_on_to_a_small_one(&a, &b);
    read_all(&b);
    const long before = rings_touched_kib();
    for (int i = 0; i < 500; i++)
        send_window(&a, &b, 8);
    const uint32_t small = b.headless_in;
    assert_in_range(rings_touched_kib() - before, 0, 64);
    read_all(&b);             /* also that it begins again */
    try_many(&a, 1, 1000, 8); /* of which one poll reads a few */
    transport_poll(b.t, 0);
    try_many(&b, 0, 1, 8);
    read_all(&a);
    try_many(&a, 1, 1000, 8);
    read_all(&b);
    for (int i = 0; i < 500; i++)
        send_window(&a, &b, (size_t)(i * 37 % 2048));
    assert_int_equal(small, 500 * 64);
    assert_int_equal(b.headless_in, 2 * small + 2000);
    side_close(&a);
    side_close(&b);
}

/* Over TCP it is taken although it waits, as long as no more waits than that. */
static void test_what_may_wait_is_refused_over_tcp(void **state)
{
    (void)state;
    static struct side a, b;
    side_open(&a, 0, &b, false);
    side_open(&b, 1, &a, false);
    int rc = 0;
    while (rc >= 0) { /* nobody reads */
        assert_true(transport_backlog(a.t, 1) <= TRANSPORT_BACKLOG + 2 * TRANSPORT_SMALL);
        rc = transport_try(a.t, 1, TRANSPORT_NEWS, NULL, 0, pattern[0], TRANSPORT_SMALL);
    }
    assert_int_equal(rc, -EAGAIN);
    assert_true(transport_backlog(a.t, 1) > TRANSPORT_BACKLOG);
    while (transport_backlog(a.t, 1) > TRANSPORT_BACKLOG)
        poll_both(&a, &b, 0);
    assert_true(transport_try(a.t, 1, TRANSPORT_NEWS, NULL, 0, pattern[0], TRANSPORT_SMALL) >= 0);
    side_close(&a);
    side_close(&b);
}

/* Shuts every TCP connection of this process: all of them are the test's. */
static void break_connections(void)
{
    for (int fd = 3; fd < 64; fd++) {
        struct sockaddr_in a;
        socklen_t size = sizeof a;
        if (getpeername(fd, (struct sockaddr *)&a, &size) == 0 && a.sin_family == AF_INET)
            shutdown(fd, SHUT_RDWR);
    }
}

static void both_ways(bool shared_memory, bool breaks)
{
    static struct side a, b;
    side_open(&a, 0, &b, shared_memory);
    side_open(&b, 1, &a, shared_memory);
    srand(1);
    uint32_t in_at_break = 0;
    while (a.next_in < ROUNDS || b.next_in < ROUNDS || a.tokens_in < a.tokens_out ||
           b.tokens_in < b.tokens_out) {
        if (a.next_out < ROUNDS && rand() % 2)
            assert_true(side_send(&a) >= 0);
        if (b.next_out < ROUNDS && rand() % 2)
            assert_true(side_send(&b) >= 0);
        /* A frame that was broken begins again: without one between two breaks, however long it
         * takes, this need not end. */
        if (breaks && a.next_in + b.next_in > in_at_break && rand() % 40 == 0) {
            break_connections();
            in_at_break = a.next_in + b.next_in;
        }
        poll_both(&a, &b, 0);
    }
    assert_int_equal(a.lost + b.lost, 0);
    assert_int_equal(a.tokens_in, a.tokens_out);
    assert_int_equal(transport_backlog(a.t, 1), transport_backlog(a.t, 1) % LARGEST);
    side_close(&a);
    side_close(&b);
}

static void test_rings(void **state)
{
    (void)state;
    both_ways(true, false);
}

static void test_tcp(void **state)
{
    (void)state;
    both_ways(false, false);
}

static void test_tcp_goes_on_after_breaks(void **state)
{
    (void)state;
    both_ways(false, true);
}

static void test_tcp_encrypted(void **state)
{
    (void)state;
    encrypt = true;
    both_ways(false, false);
    both_ways(false, true);
    both_ways(true, false);
    encrypt = false;
}

/* A child sends and receives until it is killed; what it said arrives, then its loss, once. */
/* Side b in a process of its own, which does `lives` for ever; side a here. */
struct child {
    pid_t pid;
    int to[2], from[2];
};

static struct child child_begin(struct side *a, struct side *b, bool shared_memory,
                                void (*lives)(struct side *))
{
    struct child c;
    assert_int_equal(pipe(c.to) | pipe(c.from), 0);
    c.pid = fork();
    if (c.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        side_open(b, 1, a, shared_memory);
        (void)!write(c.from[1], b->address, sizeof b->address);
        (void)!read(c.to[0], a->address, sizeof a->address);
        for (;;)
            lives(b);
    }
    side_open(a, 0, b, shared_memory);
    assert_int_equal(read(c.from[0], b->address, sizeof b->address), sizeof b->address);
    assert_int_equal(write(c.to[1], a->address, sizeof a->address), sizeof a->address);
    return c;
}

static void child_kill(const struct child *c)
{
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(c->to[i]);
        close(c->from[i]);
    }
}

static void send_on(struct side *s)
{
    if (transport_backlog(s->t, 1 - s->self) < 4 * LARGEST)
        side_send(s);
}

static void send_without_end(struct side *s)
{
    send_on(s);
    transport_poll(s->t, 0);
}

static void killed(bool shared_memory, unsigned microseconds)
{
    static struct side a, b;
    const struct child child = child_begin(&a, &b, shared_memory, send_without_end);
    while (a.next_in < 20)
        transport_poll(a.t, 1);
    usleep(microseconds);
    child_kill(&child);
    while (!a.lost || a.tokens_in < a.tokens_out) {
        send_on(&a);
        transport_poll(a.t, 1);
    }
    assert_int_equal(side_send(&a), -EPIPE);
    for (int i = 0; i < 100; i++)
        transport_poll(a.t, 0);
    assert_int_equal(a.lost, 1);
    side_close(&a);
}

/* What a child knows to be kept. */
static _Atomic uint32_t *kept;

static void send_and_note(struct side *s)
{
    if (transport_backlog(s->t, 0) < TRANSPORT_SMALL)
        s->headless_out +=
            transport_send(s->t, 0, TRANSPORT_NEWS, NULL, 0, pattern[0], 100, NULL) >= 0;
    if (transport_survives(s->t, 0))
        *kept = s->headless_out;
    transport_poll(s->t, 0);
}

/* A child sends without end, and is killed, or only said to be dead, after some time. */
static void heard_out(bool dies, unsigned microseconds)
{
    static struct side a, b;
    *kept = 0;
    const struct child child = child_begin(&a, &b, true, send_and_note);
    transport_send(a.t, 1, TRANSPORT_NEWS, NULL, 0, NULL, 0, NULL);
    while (*kept == 0)
        transport_poll(a.t, 0);
    usleep(microseconds);
    if (dies)
        kill(child.pid, SIGKILL);
    a.hears_out = true;
    while (!transport_drained(a.t, 1))
        transport_poll(a.t, 0);
    const uint32_t heard = a.headless_in;
    usleep(1000); /* the one that lives goes on sending */
    assert_true(heard > 0 && *kept <= heard);
    child_kill(&child);
    side_close(&a);
}

static void test_what_is_kept_is_heard(void **state)
{
    (void)state;
    kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(kept, MAP_FAILED);
    for (unsigned i = 0; i < 100; i++)
        heard_out(i % 2, i * 7);
    munmap((void *)kept, sizeof *kept);
}

/* Known to be kept is what fits in a ring that the other one has; over TCP nothing. */
static void keeps(bool shared_memory)
{
    static struct side a, b;
    side_open(&a, 0, &b, shared_memory);
    side_open(&b, 1, &a, shared_memory);
    assert_false(transport_survives(a.t, 1));
    assert_true(transport_drained(b.t, 0));
    side_send(&a);
    side_send(&b);
    while (a.next_in == 0 || b.next_in == 0)
        poll_both(&a, &b, 0);
    assert_int_equal(transport_survives(a.t, 1), shared_memory);
    while (transport_backlog(a.t, 1) == 0)
        transport_send(a.t, 1, TRANSPORT_NEWS, NULL, 0, pattern[0], TRANSPORT_SMALL, NULL);
    assert_false(transport_survives(a.t, 1));
    while (!transport_delivered(a.t, 1))
        poll_both(&a, &b, 0);
    assert_int_equal(transport_survives(a.t, 1), shared_memory);
    side_close(&a);
    side_close(&b);
}

static void test_who_keeps(void **state)
{
    (void)state;
    keeps(true);
    keeps(false);
}

/* One that ends takes with it what the other's host does not have yet, when something has come that
 * it has not read. */
static void ends_when_all_is_delivered(bool encrypted)
{
    enum { FRAMES = 60 };
    static struct side a, b;
    encrypt = encrypted;
    side_open(&a, 0, &b, false);
    side_open(&b, 1, &a, false);
    while (a.next_out < FRAMES)
        side_send(&a);
    while (!transport_delivered(a.t, 1)) {
        for (int i = 0; i < 100; i++)
            transport_poll(a.t, 0);
        transport_poll(b.t, 0);
    }
    assert_true(transport_send(b.t, 0, TRANSPORT_URGENT, NULL, 0, pattern[0], 8, NULL) >= 0);
    side_close(&a);
    while (b.next_in < FRAMES && b.lost == 0)
        transport_poll(b.t, 0);
    assert_int_equal(b.next_in, FRAMES);
    side_close(&b);
    encrypt = false;
}

static void test_ends_when_all_is_delivered(void **state)
{
    (void)state;
    ends_when_all_is_delivered(false);
    ends_when_all_is_delivered(true);
}

/* What the other one may have lost with a connection is sent again on the next, so it is not there
 * before that one is let in. */
static void test_a_break_undoes_delivery(void **state)
{
    (void)state;
    static struct side a, b;
    side_open(&a, 0, &b, false);
    side_open(&b, 1, &a, false);
    for (side_send(&a); b.next_in < a.next_out;)
        poll_both(&a, &b, 0);
    side_send(&a);
    while (!transport_delivered(a.t, 1))
        transport_poll(a.t, 0);
    break_connections();
    for (int i = 0; i < 1000; i++) {
        transport_poll(a.t, 0);
        assert_false(transport_delivered(a.t, 1));
    }
    while (b.next_in < a.next_out || !transport_delivered(a.t, 1))
        poll_both(&a, &b, 0);
    side_close(&a);
    side_close(&b);
}

static void test_killed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        killed(true, i * 37);
        killed(false, i * 37);
    }
}

/* Both are this process, but they read each other's memory as two processes do. */
static void test_exposed_memory(void **state)
{
    enum { EXPOSURES = 64 };
    static struct side a, b;
    static uint8_t bytes[LARGEST], copy[LARGEST];
    uint8_t rkey[EXPOSURES + 1][TRANSPORT_RKEY], forged[TRANSPORT_RKEY];
    (void)state;
    side_open(&a, 0, &b, true);
    side_open(&b, 1, &a, true);
    assert_false(transport_expose(a.t, 1, bytes, rkey[0])); /* b is not known yet */
    while (a.next_in + b.next_in < 10) {
        side_send(&a);
        side_send(&b);
        poll_both(&a, &b, 0);
    }
    while (a.tokens_in < a.tokens_out || b.tokens_in < b.tokens_out)
        poll_both(&a, &b, 0);
    memcpy(bytes, pattern[3], LARGEST);
    assert_true(transport_expose(a.t, 1, bytes, rkey[0]));
    assert_true(transport_remote_read(b.t, 0, rkey[0], copy, LARGEST));
    assert_memory_equal(copy, bytes, LARGEST);
    assert_false(transport_is_being_read(a.t)); /* b has read it */
    assert_false(transport_remote_read(a.t, 1, rkey[0], copy, 1));

    memset(forged, 0xff, sizeof forged);
    assert_false(transport_remote_read(b.t, 0, forged, copy, 1));
    memset(forged, 0, sizeof forged);
    assert_false(transport_remote_read(b.t, 0, forged, copy, 1));

    for (int i = 1; i < EXPOSURES; i++)
        assert_true(transport_expose(a.t, 1, bytes + i, rkey[i]));
    assert_false(transport_expose(a.t, 1, bytes, rkey[EXPOSURES]));
    transport_revoke(a.t, 1, rkey[7]);
    assert_false(transport_remote_read(b.t, 0, rkey[7], copy, 1));
    assert_true(
        transport_expose(a.t, 1, bytes, rkey[EXPOSURES])); /* in its place, with another turn */
    assert_false(transport_remote_read(b.t, 0, rkey[7], copy, 1));
    assert_true(transport_remote_read(b.t, 0, rkey[EXPOSURES], copy, 1));
    transport_revoke(a.t, 1, rkey[7]); /* again: nothing happens */
    assert_true(transport_remote_read(b.t, 0, rkey[EXPOSURES], copy, 1));

    transport_drop(b.t, 0);
    assert_false(transport_remote_read(b.t, 0, rkey[EXPOSURES], copy, 1));
    side_close(&a);
    side_close(&b);
}

static void test_no_exposed_memory_over_tcp(void **state)
{
    static struct side a, b;
    uint8_t rkey[TRANSPORT_RKEY] = {0};
    (void)state;
    side_open(&a, 0, &b, false);
    side_open(&b, 1, &a, false);
    while (b.next_in < 3) {
        side_send(&a);
        poll_both(&a, &b, 0);
    }
    assert_false(transport_expose(a.t, 1, pattern, rkey));
    assert_false(transport_remote_read(b.t, 0, rkey, b.room, 1));
    side_close(&a);
    side_close(&b);
}

/* A port at which nobody listens, and that nobody else gets while it is held. */
static int port_hold(unsigned *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

/* No process behind the address: this is believed without a second try. */
static void test_refused(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        static struct side a, b;
        char gone[1024];
        unsigned port;
        const int held = port_hold(&port);
        side_open(&b, 1, &a, shared);
        strcpy(gone, b.address);
        side_close(&b);
        side_open(&a, 0, &b, shared);
        *strrchr(gone, ' ') = '\0'; /* its own port may be another program's by now */
        assert_in_range(snprintf(b.address, sizeof b.address, "%s %u", gone, port), 1,
                        sizeof b.address - 1);
        assert_int_equal(side_send(&a), 0);
        while (!a.lost)
            transport_poll(a.t, 1);
        assert_string_equal(a.reason, "its process has ended");
        side_close(&a);
        close(held);
    }
}

/* Where a side listens. */
static struct sockaddr_in door(const struct side *s)
{
    unsigned port;
    assert_int_equal(sscanf(s->address, "%*s %*s %*s %*s %u", &port), 1);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

/* What a's question has where the X25519 share is: is there one? */
static bool share_is_sent(bool encrypted)
{
    static struct side a, b;
    static const uint8_t none[32];
    uint8_t ask[128];
    unsigned port;
    const int listener = port_hold(&port);
    assert_int_equal(listen(listener, 1), 0);
    encrypt = encrypted;
    side_open(&b, 1, &a, false);
    side_open(&a, 0, &b, false);
    encrypt = false;
    sprintf(strrchr(b.address, ' '), " %u", port);
    side_send(&a);
    const int fd = accept(listener, NULL, NULL);
    transport_poll(a.t, 0);
    assert_int_equal(recv(fd, ask, sizeof ask, MSG_WAITALL), sizeof ask);
    close(fd);
    close(listener);
    side_close(&a);
    side_close(&b);
    return memcmp(ask + 64, none, sizeof none) != 0;
}

static void test_keys_are_made_where_they_are_needed(void **state)
{
    (void)state;
    assert_true(share_is_sent(true));
    assert_false(share_is_sent(false));
}

/* Neither polls before both have sent: the second finds the first at its door. */
static void test_one_connection_is_enough(void **state)
{
    (void)state;
    static struct side a, b;
    side_open(&a, 0, &b, true);
    side_open(&b, 1, &a, true);
    side_send(&a);
    assert_false(transport_met(a.t, 1));
    side_send(&b);
    assert_true(transport_met(b.t, 0));
    while (a.next_in < 1 || b.next_in < 1)
        poll_both(&a, &b, 1);
    assert_int_equal(transport_connections(a.t), 1);
    assert_int_equal(transport_connections(b.t), 1);
    side_close(&a);
    side_close(&b);
}

/* A crowd of neighbours does not keep a side from what it is about to send. */
static void test_a_crowd_of_neighbours_is_heard_in_part(void **state)
{
    (void)state;
    static struct side a, b;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int crowd[100];
    side_open(&a, 0, &b, true);
    side_open(&b, 1, &a, true);
    assert_int_equal(sscanf(a.address, "%*s %*s %63s", to.sun_path + 1), 1);
    const socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(to.sun_path + 1));
    for (int i = 0; i < 100; i++) {
        crowd[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(crowd[i], (struct sockaddr *)&to, size), 0);
    }
    side_send(&a);
    assert_true(is_called(&a)); /* by the rest */
    while (b.next_in < 1)
        poll_both(&a, &b, 1);
    for (int i = 0; i < 100; i++)
        close(crowd[i]);
    side_close(&a);
    side_close(&b);
}

/* Somebody knocks at the side's door: heard after how many of its polls? */
static int polls_until_heard(struct side *s)
{
    struct sockaddr_in to = door(s);
    int polls = 0;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    for (; is_called(s); polls++)
        transport_poll(s->t, 0);
    close(fd);
    while (is_called(s)) /* that it is gone */
        transport_poll(s->t, 0);
    return polls;
}

static void test_the_next_one_is_heard_sooner(void **state)
{
    (void)state;
    static struct side a, b;
    int seldom = 0;
    meet(&a, &b);
    for (int i = 0; i < 8; i++) {
        for (int quiet = 0; quiet < 1000 + 50 * i; quiet++)
            transport_poll(a.t, 0);
        const int polls = polls_until_heard(&a);
        assert_in_range(polls, 1, 128);
        seldom += polls > 16;
        assert_in_range(polls_until_heard(&a), 1, 8);
    }
    assert_in_range(seldom, 4, 8);
    side_close(&a);
    side_close(&b);
}

/* Crowds that say nothing or anything do no harm. */
static void test_crowd(void **state)
{
    (void)state;
    static struct side a, b;
    side_open(&a, 0, &b, false);
    side_open(&b, 1, &a, false);
    struct sockaddr_in to = door(&a);
    int crowd[100];
    for (int i = 0; i < 100; i++) {
        crowd[i] = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(crowd[i], (struct sockaddr *)&to, sizeof to), 0);
        if (i % 2)
            assert_int_equal(write(crowd[i], pattern, 200), 200);
        transport_poll(a.t, 1);
    }
    side_send(&a);
    side_send(&b);
    while (a.next_in < 1 || b.next_in < 1)
        poll_both(&a, &b, 1);
    for (int i = 0; i < 100; i++)
        close(crowd[i]);
    side_close(&a);
    side_close(&b);
}

/* A process that has everything except the secret is not let in, and lets no other in. */
static void test_strangers(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        static struct side a, b;
        side_open(&a, 0, &b, shared);
        stranger = true;
        side_open(&b, 1, &a, shared);
        stranger = false;
        side_send(&a);
        side_send(&b);
        for (int i = 0; i < 200; i++)
            poll_both(&a, &b, 1);
        assert_int_equal(a.next_in + b.next_in, 0);
        side_close(&a);
        side_close(&b);
    }
}

/* A man in the middle: b finds a by way of him. He changes one byte after each frame or so. */
struct middle {
    struct side *a;
    int door, hop[8][2], hops;
    uint32_t spoiled_at;
    unsigned spoiled;
};

static void middle_open(struct middle *m, struct side *a)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    socklen_t size = sizeof here;
    unsigned port = ntohs(door(a).sin_port);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *m = (struct middle){.a = a, .door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    assert_int_equal(bind(m->door, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(listen(m->door, 8), 0);
    assert_int_equal(getsockname(m->door, (struct sockaddr *)&here, &size), 0);
    char text[16];
    snprintf(text, sizeof text, " %u", port);
    sprintf(strstr(a->address, text), " %u", ntohs(here.sin_port));
}

static void middle_hang_up(struct middle *m, int i)
{
    close(m->hop[i][0]);
    close(m->hop[i][1]);
    m->hops--;
    memmove(m->hop[i], m->hop[i + 1], (size_t)(m->hops - i) * sizeof m->hop[0]);
}

static bool is_over(ssize_t n) /* of recv() or send(): closed by one side, or broken */
{
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void middle_pass(struct middle *m, int i, int from, bool spoil)
{
    uint8_t bytes[5000];
    ssize_t n = recv(m->hop[i][from], bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK);
    if (n > 0 && spoil)
        bytes[0] ^= (uint8_t)(1 << rand() % 8);
    if (n > 0)
        n = send(m->hop[i][!from], bytes, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (is_over(n)) {
        middle_hang_up(m, i);
        return;
    }
    if (n > 0)
        assert_int_equal(recv(m->hop[i][from], bytes, (size_t)n, 0), n);
    m->spoiled += n > 0 && spoil;
}

static void middle_work(struct middle *m, const struct side *door_of, uint32_t frames)
{
    int fd = m->hops < 7 ? accept(m->door, NULL, NULL) : -1;
    if (fd >= 0) {
        struct sockaddr_in to = door(door_of);
        m->hop[m->hops][0] = fd;
        m->hop[m->hops][1] = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(m->hop[m->hops++][1], (struct sockaddr *)&to, sizeof to), 0);
    }
    for (int i = m->hops - 1; i >= 0; i--) {
        bool spoil = frames > m->spoiled_at && rand() % 20 == 0;
        if (spoil)
            m->spoiled_at = frames;
        middle_pass(m, i, rand() % 2, spoil);
    }
}

static void test_tampering(void **state)
{
    (void)state;
    static struct side a, b, real;
    struct middle m;
    encrypt = true;
    side_open(&a, 0, &b, false);
    side_open(&b, 1, &a, false);
    encrypt = false;
    real = a;
    middle_open(&m, &a);
    b.address[0] = 0; /* a cannot go round him */
    while (b.next_out < 200)
        side_send(&b);
    uint32_t seen = 0;
    for (unsigned quiet = 0; a.next_in < 200 || b.tokens_in < b.tokens_out; quiet++) {
        middle_work(&m, &real, a.next_in < 200 ? a.next_in : 0);
        poll_both(&a, &b, 0);
        const uint32_t now = a.next_in + b.next_in + (uint32_t)b.tokens_in;
        if (now != seen)
            quiet = 0;
        seen = now;
        if (quiet == 5000) { /* a length that he has changed shows when as much has come */
            side_send(&a);
            side_send(&b);
            quiet = 0;
        }
    }
    assert_int_equal(a.lost + b.lost, 0);
    assert_true(m.spoiled > 5);
    for (int i = 0; i < m.hops; i++) {
        close(m.hop[i][0]);
        close(m.hop[i][1]);
    }
    close(m.door);
    side_close(&a);
    side_close(&b);
}

/* A process that was only ever connected to learns the other's address when it must. */
static void test_called_calls_back(void **state)
{
    (void)state;
    static struct side a, b;
    side_open(&a, 0, &b, false);
    side_open(&b, 1, &a, false);
    side_send(&b);
    while (a.next_in < 1)
        poll_both(&a, &b, 1);
    break_connections();
    for (int i = 0; i < 100; i++)
        transport_poll(a.t, 0); /* it sees the break, and b does not */
    side_send(&a);
    while (b.next_in < 1)
        poll_both(&a, &b, 1);
    assert_int_equal(a.lost + b.lost, 0);
    side_close(&a);
    side_close(&b);
}

static void test_dropped(void **state)
{
    (void)state;
    static struct side a, b;
    side_open(&a, 0, &b, true);
    side_open(&b, 1, &a, true);
    for (int i = 0; i < 50; i++)
        side_send(&a);
    transport_drop(a.t, 1);
    transport_poll(a.t, 0);
    assert_int_equal(a.tokens_in, a.tokens_out);
    assert_int_equal(a.lost, 0);
    assert_int_equal(side_send(&a), -EPIPE);
    side_close(&a);
    side_close(&b);
}

/* Of the program, by fork(): it has what is open now. */
static pid_t child_that_keeps_all(void)
{
    const pid_t child = fork();
    if (child == 0) {
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        alarm(30); /* at the most */
        for (;;)
            pause();
    }
    return child;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool sleeps(struct side *s)
{
    enum { TIMES = 10, MS = 20 };
    for (int i = 0; i < TIMES; i++) /* all that is to be heard */
        transport_poll(s->t, 0);
    const uint64_t begin = now_ms();
    for (int i = 0; i < TIMES; i++)
        transport_poll(s->t, MS);
    return now_ms() - begin >= TIMES * MS / 2;
}

static void test_what_a_child_keeps_is_not_heard(void **state)
{
    (void)state;
    static struct side a, b;
    meet_over(&a, &b, false);
    const struct sockaddr_in at = door(&a);
    const int caller = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(caller, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(send(caller, pattern, 1, MSG_NOSIGNAL), 1);
    assert_true(sleeps(&a));
    const pid_t child = child_that_keeps_all();
    assert_true(send(caller, pattern, 500, MSG_NOSIGNAL) > 0); /* it is no greeting: closed */
    transport_drop(a.t, 1);
    side_send(&b);
    transport_poll(b.t, 0);
    assert_true(sleeps(&a));
    assert_true(send(caller, pattern, 1, MSG_NOSIGNAL) > 0);
    assert_true(sleeps(&a));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(caller);
    side_close(&a);
    side_close(&b);
}

int main(void)
{
    alarm(STUCK_S);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < LARGEST; j++)
            pattern[i][j] = (uint8_t)(i * 7 + j * 13 + (j >> 9));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_tcp_goes_on_after_breaks),
        cmocka_unit_test(test_tcp_encrypted),
        cmocka_unit_test(test_only_the_urgent_wakes_the_progress_thread),
        cmocka_unit_test(test_some_go_along_over_tcp),
        cmocka_unit_test(test_some_go_with_the_next_poll),
        cmocka_unit_test(test_much_does_not_wait),
        cmocka_unit_test(test_answers_go_together_over_tcp),
        cmocka_unit_test(test_answers_wake_when_all_is_read),
        cmocka_unit_test(test_a_long_read_wakes),
        cmocka_unit_test(test_room_wakes_only_who_waits_for_it),
        cmocka_unit_test(test_no_room_is_enough_for_a_long_frame),
        cmocka_unit_test(test_a_ring_that_is_read_begins_again),
        cmocka_unit_test(test_what_may_wait_is_refused_over_tcp),
        cmocka_unit_test(test_exposed_memory),
        cmocka_unit_test(test_no_exposed_memory_over_tcp),
        cmocka_unit_test(test_ends_when_all_is_delivered),
        cmocka_unit_test(test_a_break_undoes_delivery),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_who_keeps),
        cmocka_unit_test(test_what_is_kept_is_heard),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_keys_are_made_where_they_are_needed),
        cmocka_unit_test(test_one_connection_is_enough),
        cmocka_unit_test(test_a_crowd_of_neighbours_is_heard_in_part),
        cmocka_unit_test(test_the_next_one_is_heard_sooner),
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_tampering),
        cmocka_unit_test(test_called_calls_back),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_what_a_child_keeps_is_not_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
