/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c -- `engine [ROUNDS [LANES]]`: what the engine itself costs: a small message from one
 * engine to another, no transport. Instructions are counted by `valgrind --tool=callgrind` and few
 * rounds.
 */
#include "src/replica/engine.h"
#include "src/replica/header.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES_MOST = 3, BYTES = 8, ROUNDS_MOST = 1000000, BACKLOG = 4096 };

struct frame {
    int from, to;
    uint8_t header[HEADER_BYTES], payload[2048];
};

struct node {
    struct bench *bench;
    struct engine *engine;
    int replica;
};

struct bench {
    struct node node[2 * LANES_MOST];
    struct frame queue[BACKLOG];
    unsigned head, tail;
};

static int put(void *ctx, int replica, const uint8_t *header, const void *payload, size_t length,
               void *cookie)
{
    struct node *n = ctx;
    struct bench *b = n->bench;
    struct frame *f = &b->queue[b->tail++ % BACKLOG];
    f->from = n->replica;
    f->to = replica;
    memcpy(f->header, header, HEADER_BYTES);
    if (length > 0)
        memcpy(f->payload, payload, length);
    return cookie != NULL;
}

static void deliver(struct bench *b)
{
    while (b->head != b->tail) {
        struct frame *f = &b->queue[b->head++ % BACKLOG];
        engine_arrived(b->node[f->to].engine, f->from, f->header, f->payload);
    }
}

static void nothing_lost(void *ctx, int replica, const char *why)
{
    (void)ctx, (void)replica, (void)why;
}

static void nothing_sent(void *ctx, struct engine_send *s)
{
    (void)ctx, (void)s;
}

static void nothing_received(void *ctx, struct engine_receive *r)
{
    (void)ctx, (void)r;
}

static void stop(void *ctx, int status, const char *line)
{
    (void)ctx, (void)status;
    fprintf(stderr, "%s\n", line);
    exit(1);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every lane of rank 0 sends, every lane of rank 1 receives. */
static double run(int lanes, int rounds)
{
    static struct bench b;
    static const struct engine_callbacks callbacks = {.send = put,
                                                      .lost = nothing_lost,
                                                      .sent = nothing_sent,
                                                      .received = nothing_received,
                                                      .stop = stop};
    static const int world[] = {0, 1};
    struct engine_comm *comm[2 * LANES_MOST];
    uint64_t out = 1, in = 0;
    memset(&b, 0, sizeof b);
    for (int v = 0; v < 2 * lanes; v++) {
        b.node[v] = (struct node){.bench = &b, .replica = v};
        b.node[v].engine = engine_create(2, lanes, v % 2, v / 2, NULL, &engine_default_limits,
                                         &callbacks, &b.node[v]);
        comm[v] = engine_comm_add(b.node[v].engine, world, 2, NULL, 0, false);
    }
    double begin = seconds();
    for (int i = 0; i < rounds; i++) {
        for (int v = 0; v < 2 * lanes; v += 2) {
            struct engine_receive r = {
                .comm = comm[v + 1], .from = 0, .tag = 1, .capacity = BYTES, .data = &in};
            struct engine_send s = {
                .comm = comm[v], .to = 1, .tag = 1, .length = BYTES, .data = &out};
            engine_receive(b.node[v + 1].engine, &r);
            engine_send(b.node[v].engine, &s);
            deliver(&b);
        }
    }
    double took = seconds() - begin;
    for (int v = 0; v < 2 * lanes; v++)
        engine_destroy(b.node[v].engine);
    return took * 1e9 / rounds / lanes;
}

static int number(const char *word, int most)
{
    const long n = strtol(word, NULL, 10);
    if (n >= 1 && n <= most)
        return (int)n;
    fprintf(stderr, "engine: '%s' is not between 1 and %d\n", word, most);
    exit(2);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? number(argv[1], ROUNDS_MOST) : ROUNDS_MOST;
    const int first = argc > 2 ? number(argv[2], LANES_MOST) : 1;
    for (int lanes = first; lanes <= (argc > 2 ? first : LANES_MOST); lanes++)
        printf("%d lanes: %.0f ns for one message sent, received and acknowledged\n", lanes,
               run(lanes, rounds));
    return 0;
}
