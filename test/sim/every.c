/* SPDX-License-Identifier: BSD-3-Clause */
/* every.c -- small rings in every way that their messages can be interleaved: the real code, all
 * orders in which what is on the way may arrive, with members that join, leave and die, and
 * messages that are lost, at any moment. After each event the ring must be one; from each end it
 * must become whole.
 *
 * Depth first, and a state that was seen before is not gone into again. States are told apart by
 * what the maintenance knows and has on its way; clocks are left out, and lookups, which change
 * nobody's neighbours, take no time. */
#include "every_world.h"
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEDS = 3, WHOLE_S = 90 };

enum deed { JOIN, LEAVE, DIE };

struct search {
    struct world world;
    struct { /* what will happen, in this order, each at any moment */
        enum deed deed;
        unsigned node, contact;
    } script[DEEDS];
    unsigned script_length;
    unsigned long states, seen, ends, limit;
    unsigned depth, deepest;
    uint64_t *table;
    size_t table_size;
    const char *wrong;
};

static bool may_do(const struct search *s)
{
    if (s->world.m.deeds == s->script_length)
        return false;
    unsigned node = s->script[s->world.m.deeds].node;
    return s->script[s->world.m.deeds].deed == JOIN
               ? !s->world.m.running[node]
               : world_member(&s->world, node) && world_may_go(&s->world, node);
}

static void do_deed(struct search *s)
{
    unsigned node = s->script[s->world.m.deeds].node;
    struct ring_event event = {.kind = RING_JOIN,
                               .peer = world_peer(s->script[s->world.m.deeds].contact)};
    enum deed deed = s->script[s->world.m.deeds++].deed;
    if (deed == JOIN)
        world_start(&s->world, node);
    event.kind = deed == LEAVE ? RING_LEAVE : RING_JOIN;
    if (deed != DIE)
        world_step(&s->world, node, &event);
    event.peer = world_peer(0); /* a second contact, should the first one go */
    if (deed == JOIN)
        world_step(&s->world, node, &event);
    s->world.m.running[node] = deed == JOIN;
}

/* --- states --- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15;
    return h ^ h >> 29;
}

static uint64_t hash_peers(uint64_t h, const struct part_peer *p, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        h = mix(h, world_number(&p[i]) + 1);
    return mix(h, count);
}

static uint64_t hash_frame(const struct frame *f)
{
    static struct message m;
    uint64_t h = mix(f->from * 64u + f->to, f->bytes[4]);
    if (!message_decode(&m, f->bytes, f->length))
        abort();
    if (m.kind == MSG_ring_ask)
        return mix(h, m.ring_ask.flags * 2u + (m.ring_ask.epoch != 0));
    if (m.kind == MSG_ring_leave)
        return hash_peers(hash_peers(h, m.ring_leave.predecessor, m.ring_leave.predecessor_count),
                          m.ring_leave.successors, m.ring_leave.successors_count);
    h = mix(h, m.ring_state.member * 2u + m.ring_state.listed);
    h = hash_peers(h, m.ring_state.predecessor, m.ring_state.predecessor_count);
    return hash_peers(h, m.ring_state.successors, m.ring_state.successors_count);
}

static uint64_t hash_state(const struct search *s)
{
    uint64_t h = mix(s->world.m.deeds, s->world.m.losses * 16 + s->world.m.delays), flight = 0;
    for (unsigned i = 0; i < NODES; i++) {
        h = mix(h, s->world.m.running[i]);
        if (!s->world.m.running[i])
            continue;
        h = mix(h, ring_standing(s->world.rings[i]));
        const struct part_peer *p = ring_predecessor(s->world.rings[i]);
        h = mix(h, p != NULL ? world_number(p) + 1 : 0);
        for (unsigned k = 0; (p = ring_successor(s->world.rings[i], k)) != NULL; k++)
            h = mix(h, world_number(p) + 1);
        /* roughly how long until its next timer */
        h = mix(h, (ring_deadline(s->world.rings[i]) - s->world.m.now) / (SECOND / 5));
    }
    for (unsigned i = 0; i < s->world.m.flying; i++)
        flight += hash_frame(&s->world.m.flight[i]); /* in any order */
    h = mix(h, flight);
    return h != 0 ? h : 1;
}

/* False: the state was known. */
static bool remember(struct search *s, uint64_t hash)
{
    size_t at = hash % s->table_size;
    while (s->table[at] != 0 && s->table[at] != hash)
        at = (at + 1) % s->table_size;
    if (s->table[at] == hash)
        return false;
    s->table[at] = hash;
    return true;
}

/* --- all interleavings --- */

struct saved {
    struct moment m;
    uint8_t rings[];
};

static struct saved *save(const struct search *s)
{
    struct saved *saved = must(malloc(sizeof *saved + NODES * s->world.ring_bytes));
    saved->m = s->world.m;
    for (unsigned i = 0; i < NODES; i++)
        memcpy(saved->rings + i * s->world.ring_bytes, s->world.rings[i], s->world.ring_bytes);
    return saved;
}

static void restore(struct search *s, const struct saved *saved)
{
    s->world.m = saved->m;
    for (unsigned i = 0; i < NODES; i++)
        memcpy(s->world.rings[i], saved->rings + i * s->world.ring_bytes, s->world.ring_bytes);
}

static void explore(struct search *s, unsigned depth);

/* The end of an interleaving: does the ring become whole by itself? */
static void end(struct search *s)
{
    uint64_t until = s->world.m.now + (uint64_t)WHOLE_S * SECOND;
    s->ends++;
    while (s->wrong == NULL && s->world.m.now < until &&
           !(s->world.m.flying == 0 && world_whole(&s->world))) {
        if (s->world.m.flying > 0)
            world_arrive(&s->world, 0);
        else
            world_wait(&s->world);
        s->wrong = world_check(&s->world);
    }
    if (s->wrong == NULL && !world_whole(&s->world))
        s->wrong = "it does not become whole";
}

static void after(struct search *s, unsigned depth, const struct saved *before)
{
    if (s->wrong == NULL)
        s->wrong = world_check(&s->world);
    if (s->wrong == NULL)
        explore(s, depth + 1);
    if (s->wrong == NULL)
        restore(s, before);
}

static void explore(struct search *s, unsigned depth)
{
    if (s->states >= s->limit)
        return;
    if (!remember(s, hash_state(s))) {
        s->seen++;
        return;
    }
    s->states++;
    s->deepest = depth > s->deepest ? depth : s->deepest;
    struct saved *here = save(s);
    for (unsigned i = 0; s->wrong == NULL && depth < s->depth && i < s->world.m.flying; i++) {
        world_arrive(&s->world, i);
        after(s, depth, here);
    }
    if (s->wrong == NULL && depth < s->depth && may_do(s)) {
        do_deed(s);
        after(s, depth, here);
    }
    if (s->wrong == NULL && depth < s->depth && s->world.m.flying > 0 && s->world.m.losses > 0) {
        s->world.m.losses--;
        s->world.m.flying--; /* the last one: each was that once */
        after(s, depth, here);
    }
    if (s->wrong == NULL && depth < s->depth && (s->world.m.flying == 0 || s->world.m.delays > 0)) {
        s->world.m.delays -= s->world.m.flying > 0;
        world_wait(&s->world);
        after(s, depth, here);
    }
    if (s->wrong == NULL && (depth == s->depth || s->world.m.deeds == s->script_length)) {
        end(s);
        if (s->wrong == NULL)
            restore(s, here);
    }
    free(here);
}

static void settle(struct search *s)
{
    uint64_t until = s->world.m.now + 30 * (uint64_t)SECOND;
    while (s->world.m.now < until)
        if (s->world.m.flying > 0)
            world_arrive(&s->world, 0);
        else
            world_wait(&s->world);
}

static const struct {
    const char *what;
    unsigned base; /* members to begin with */
    unsigned length;
    struct {
        enum deed deed;
        unsigned node, contact;
    } deeds[DEEDS];
} scripts[] = {
    {"two join one", 1, 2, {{JOIN, 1, 0}, {JOIN, 2, 0}}},
    {"two join two", 2, 2, {{JOIN, 2, 0}, {JOIN, 3, 1}}},
    {"one joins, one leaves", 3, 2, {{JOIN, 3, 0}, {LEAVE, 1, 0}}},
    {"one joins, its contact leaves", 3, 2, {{JOIN, 3, 1}, {LEAVE, 1, 0}}},
    {"one joins, one dies", 3, 2, {{JOIN, 3, 0}, {DIE, 1, 0}}},
    {"one dies, one joins, one leaves", 3, 3, {{DIE, 1, 0}, {JOIN, 3, 0}, {LEAVE, 2, 0}}},
    {"one leaves and comes back", 3, 2, {{LEAVE, 1, 0}, {JOIN, 1, 2}}},
    {"one dies and comes back", 3, 2, {{DIE, 2, 0}, {JOIN, 2, 0}}},
    {"one of four dies, one leaves", 4, 2, {{DIE, 1, 0}, {LEAVE, 3, 0}}},
};

static const char *run(struct search *s, unsigned which, const unsigned long limit)
{
    memset(&s->world.m, 0, sizeof s->world.m);
    memset(s->table, 0, s->table_size * sizeof *s->table);
    s->world.m = (struct moment){.now = SECOND, .losses = 1, .delays = 2};
    s->states = s->seen = s->ends = s->world.steps = s->deepest = 0;
    s->limit = limit;
    world_start(&s->world, 0);
    for (unsigned i = 1; i < scripts[which].base; i++) {
        struct ring_event join = {.kind = RING_JOIN, .peer = world_peer(0)};
        world_start(&s->world, i);
        world_step(&s->world, i, &join);
        settle(s);
    }
    s->script_length = scripts[which].length;
    for (unsigned i = 0; i < s->script_length; i++) {
        s->script[i].deed = scripts[which].deeds[i].deed;
        s->script[i].node = scripts[which].deeds[i].node;
        s->script[i].contact = scripts[which].deeds[i].contact;
    }
    s->wrong = world_whole(&s->world) ? NULL : "it was not whole to begin with";
    if (s->wrong == NULL)
        explore(s, 0);
    printf("%-32s %7lu states%s, %lu met again, %lu ends, %lu steps, %u deep\n",
           scripts[which].what, s->states, s->states >= limit ? " (not all)" : "", s->seen, s->ends,
           s->world.steps, s->deepest);
    return s->wrong;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    unsigned long *o = state->input;
    if (key != 'd' && key != 's')
        return ARGP_ERR_UNKNOWN;
    o[key == 's'] = strtoul(arg, NULL, 10);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"depth", 'd', "N", 0, "events that may come in any order, before all goes on in one (6)",
         0},
        {"states", 's', "N", 0, "of one script, at most (1000000)", 0},
        {0},
    };
    static const struct argp argp = {options, parse, NULL, "All interleavings of small rings.",
                                     NULL,    NULL,  NULL};
    unsigned long o[2] = {6, 1000000};
    argp_parse(&argp, argc, argv, 0, NULL, o);
    struct ring_setup setup = {.record_bytes = RING_RECORDS_MIN, .searches = 1};
    struct search s = {.world.ring_bytes = ring_size(&setup), .depth = (unsigned)o[0]};
    const char *wrong = NULL;
    s.table_size = 4 * o[1] + 1;
    s.table = must(calloc(s.table_size, sizeof *s.table));
    for (unsigned i = 0; i < NODES; i++)
        s.world.rings[i] = must(calloc(1, s.world.ring_bytes));
    for (unsigned i = 0; wrong == NULL && i < sizeof scripts / sizeof scripts[0]; i++)
        if ((wrong = run(&s, i, o[1])) != NULL)
            printf("%s; again: test/sim/every --depth %lu --states %lu\n", wrong, o[0], o[1]);
    for (unsigned i = 0; i < NODES; i++)
        free(s.world.rings[i]);
    free(s.table);
    return wrong != NULL;
}
