/* SPDX-License-Identifier: BSD-3-Clause */
/* every.c -- small rings in every way that their messages can be interleaved: the real code, all
 * orders in which what is on the way may arrive, with members that join, leave and die, and
 * messages that are lost, at any moment. After each event the ring must be one; from each end it
 * must become whole.
 *
 * Depth first, and a state that was seen before is not gone into again. States are told apart by
 * what the maintenance knows and has on its way; clocks are left out, and lookups, which change
 * nobody's neighbours, take no time. */
#include "ring.h"
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 4, FLIGHT = 24, DEEDS = 3, SECOND = 1000 * 1000, WHOLE_S = 90 };

enum deed { JOIN, LEAVE, DIE };

struct frame {
    uint8_t from, to;
    uint16_t length;
    uint8_t bytes[700];
};

/* All that goes back when a way was tried to its end; the rings lie behind it. */
struct world {
    uint64_t now;
    unsigned flying, deeds, losses, delays;
    bool running[NODES];
    struct frame flight[FLIGHT];
};

struct search {
    struct ring *rings[NODES];
    size_t ring_bytes;
    struct world w;
    struct { /* what will happen, in this order, each at any moment */
        enum deed deed;
        unsigned node, contact;
    } script[DEEDS];
    unsigned nodes, script_length;
    unsigned long states, seen, ends, steps, limit;
    unsigned depth, deepest;
    uint64_t *table;
    size_t table_size;
    const char *wrong;
};

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static struct part_peer peer(unsigned n)
{
    struct part_peer p = {.addr = {.port = 7117}};
    p.id.b[0] = (uint8_t)(n * 60 + 20);
    p.addr.ip[15] = (uint8_t)n;
    return p;
}

static unsigned number(const struct part_peer *p)
{
    return p->addr.ip[15];
}

/* --- what must hold --- */

static bool member(const struct search *s, unsigned i)
{
    if (!s->w.running[i])
        return false;
    enum ring_standing standing = ring_standing(s->rings[i]);
    return standing == RING_MEMBER || (standing == RING_ALONE && i == 0);
}

static unsigned next_of(const struct search *s, unsigned i)
{
    const struct part_peer *p;
    for (unsigned k = 0; (p = ring_successor(s->rings[i], k)) != NULL; k++)
        if (member(s, number(p)))
            return number(p);
    return i;
}

static const char *check(const struct search *s)
{
    unsigned cycle = NODES;
    for (unsigned i = 0; i < s->nodes; i++) {
        struct id last = peer(i).id;
        const struct part_peer *p;
        if (!member(s, i))
            continue;
        for (unsigned k = 0; (p = ring_successor(s->rings[i], k)) != NULL; k++) {
            struct id self = peer(i).id;
            if (!id_between(&p->id, &last, &self))
                return "a list is out of order";
            last = p->id;
        }
        unsigned at = i;
        for (unsigned k = 0; k < s->nodes; k++)
            at = next_of(s, at); /* on the cycle by now */
        unsigned lowest = at, wraps = 0, from = at;
        do {
            unsigned to = next_of(s, from);
            wraps += to <= from;
            lowest = to < lowest ? to : lowest;
            from = to;
        } while (from != at);
        if (wraps != 1)
            return "the ring goes round more than once";
        if (cycle != NODES && cycle != lowest)
            return "there are two rings";
        cycle = lowest;
    }
    return NULL;
}

static bool whole(const struct search *s)
{
    for (unsigned i = 0; i < s->nodes; i++) {
        unsigned next = i, last = i;
        if (!s->w.running[i])
            continue;
        do
            next = (next + 1) % s->nodes;
        while (!s->w.running[next]);
        do
            last = (last + s->nodes - 1) % s->nodes;
        while (!s->w.running[last]);
        const struct part_peer *after = ring_successor(s->rings[i], 0);
        const struct part_peer *before = ring_predecessor(s->rings[i]);
        if (next != i &&
            (after == NULL || number(after) != next || before == NULL || number(before) != last))
            return false;
    }
    return true;
}

/* Would everyone who lists the victim still list somebody living? What the proof asks. */
static bool may_go(const struct search *s, unsigned victim)
{
    for (unsigned i = 0; i < s->nodes; i++) {
        const struct part_peer *p;
        unsigned had = 0, left = 0;
        if (i == victim || !member(s, i))
            continue;
        for (unsigned k = 0; (p = ring_successor(s->rings[i], k)) != NULL; k++) {
            had += number(p) == victim;
            left += number(p) != victim && member(s, number(p));
        }
        if (had > 0 && left == 0)
            return false;
    }
    return true;
}

/* --- one event --- */

static void step(struct search *s, unsigned i, const struct ring_event *event);

static void deliver(struct search *s, const struct frame *f)
{
    static struct message messages[8];
    static unsigned nested;
    struct frame copy = *f;
    struct ring_event event = {
        .kind = RING_MESSAGE, .peer = peer(f->from), .message = &messages[nested]};
    if (!s->w.running[f->to] || nested == 8)
        return;
    if (!message_decode(&messages[nested], copy.bytes, copy.length))
        abort();
    nested++;
    step(s, copy.to, &event);
    nested--;
}

static bool takes_time(const uint8_t *frame)
{
    return frame[4] == MSG_ring_ask || frame[4] == MSG_ring_state || frame[4] == MSG_ring_leave;
}

static void step(struct search *s, unsigned i, const struct ring_event *event)
{
    static struct ring_out out;
    struct frame now[8];
    unsigned count = 0;
    s->steps++;
    ring_step(s->rings[i], event, s->w.now, &out);
    for (unsigned k = 0; k < out.count; k++) {
        const struct ring_action *a = &out.action[k];
        if (a->kind != RING_SEND || a->frame_length > sizeof now[0].bytes)
            continue;
        struct frame f = {.from = (uint8_t)i,
                          .to = (uint8_t)number(&a->peer),
                          .length = (uint16_t)a->frame_length};
        memcpy(f.bytes, a->frame, a->frame_length);
        if (!takes_time(a->frame) && count < 8)
            now[count++] = f;
        else if (s->w.flying < FLIGHT)
            s->w.flight[s->w.flying++] = f; /* else lost */
    }
    for (unsigned k = 0; k < count; k++)
        deliver(s, &now[k]);
}

static void arrive(struct search *s, unsigned which)
{
    struct frame f = s->w.flight[which];
    s->w.flying--;
    memmove(&s->w.flight[which], &s->w.flight[which + 1],
            (s->w.flying - which) * sizeof s->w.flight[0]);
    s->w.now += 100;
    deliver(s, &f);
}

static void wait_for_timer(struct search *s)
{
    unsigned first = NODES;
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < s->nodes; i++)
        if (s->w.running[i] && ring_deadline(s->rings[i]) < due) {
            due = ring_deadline(s->rings[i]);
            first = i;
        }
    if (first == NODES)
        return;
    s->w.now = due > s->w.now ? due : s->w.now;
    step(s, first, &(struct ring_event){.kind = RING_TICK});
}

static bool may_do(const struct search *s)
{
    if (s->w.deeds == s->script_length)
        return false;
    unsigned node = s->script[s->w.deeds].node;
    return s->script[s->w.deeds].deed == JOIN ? !s->w.running[node]
                                              : member(s, node) && may_go(s, node);
}

static void start(struct search *s, unsigned i)
{
    struct ring_setup setup = {
        .self = peer(i), .seed = i + 1, .record_bytes = RING_RECORDS_MIN, .searches = 1};
    ring_init(s->rings[i], &setup, s->w.now);
    s->w.running[i] = true;
}

static void do_deed(struct search *s)
{
    unsigned node = s->script[s->w.deeds].node;
    struct ring_event event = {.kind = RING_JOIN, .peer = peer(s->script[s->w.deeds].contact)};
    enum deed deed = s->script[s->w.deeds++].deed;
    if (deed == JOIN)
        start(s, node);
    event.kind = deed == LEAVE ? RING_LEAVE : RING_JOIN;
    if (deed != DIE)
        step(s, node, &event);
    event.peer = peer(0); /* a second contact, should the first one go */
    if (deed == JOIN)
        step(s, node, &event);
    s->w.running[node] = deed == JOIN;
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
        h = mix(h, number(&p[i]) + 1);
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
    uint64_t h = mix(s->w.deeds, s->w.losses * 16 + s->w.delays), flight = 0;
    for (unsigned i = 0; i < s->nodes; i++) {
        h = mix(h, s->w.running[i]);
        if (!s->w.running[i])
            continue;
        h = mix(h, ring_standing(s->rings[i]));
        const struct part_peer *p = ring_predecessor(s->rings[i]);
        h = mix(h, p != NULL ? number(p) + 1 : 0);
        for (unsigned k = 0; (p = ring_successor(s->rings[i], k)) != NULL; k++)
            h = mix(h, number(p) + 1);
        /* how long until it acts by itself, roughly */
        h = mix(h, (ring_deadline(s->rings[i]) - s->w.now) / (SECOND / 5));
    }
    for (unsigned i = 0; i < s->w.flying; i++)
        flight += hash_frame(&s->w.flight[i]); /* in any order */
    h = mix(h, flight);
    return h != 0 ? h : 1;
}

/* False: it was there before. */
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

/* --- all ways --- */

struct saved {
    struct world w;
    uint8_t rings[];
};

static struct saved *save(const struct search *s)
{
    struct saved *saved = must(malloc(sizeof *saved + s->nodes * s->ring_bytes));
    saved->w = s->w;
    for (unsigned i = 0; i < s->nodes; i++)
        memcpy(saved->rings + i * s->ring_bytes, s->rings[i], s->ring_bytes);
    return saved;
}

static void restore(struct search *s, const struct saved *saved)
{
    s->w = saved->w;
    for (unsigned i = 0; i < s->nodes; i++)
        memcpy(s->rings[i], saved->rings + i * s->ring_bytes, s->ring_bytes);
}

static void explore(struct search *s, unsigned depth);

/* Nothing more is to come of this way: does the ring become whole by itself? */
static void end(struct search *s)
{
    uint64_t until = s->w.now + (uint64_t)WHOLE_S * SECOND;
    s->ends++;
    while (s->wrong == NULL && s->w.now < until && !(s->w.flying == 0 && whole(s))) {
        if (s->w.flying > 0)
            arrive(s, 0);
        else
            wait_for_timer(s);
        s->wrong = check(s);
    }
    if (s->wrong == NULL && !whole(s))
        s->wrong = "it does not become whole";
}

static void after(struct search *s, unsigned depth, const struct saved *before)
{
    if (s->wrong == NULL)
        s->wrong = check(s);
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
    for (unsigned i = 0; s->wrong == NULL && depth < s->depth && i < s->w.flying; i++) {
        arrive(s, i);
        after(s, depth, here);
    }
    if (s->wrong == NULL && depth < s->depth && may_do(s)) {
        do_deed(s);
        after(s, depth, here);
    }
    if (s->wrong == NULL && depth < s->depth && s->w.flying > 0 && s->w.losses > 0) {
        s->w.losses--;
        s->w.flying--; /* the last one: each was that once */
        after(s, depth, here);
    }
    if (s->wrong == NULL && depth < s->depth && (s->w.flying == 0 || s->w.delays > 0)) {
        s->w.delays -= s->w.flying > 0;
        wait_for_timer(s);
        after(s, depth, here);
    }
    if (s->wrong == NULL && (depth == s->depth || s->w.deeds == s->script_length)) {
        end(s);
        if (s->wrong == NULL)
            restore(s, here);
    }
    free(here);
}

static void settle(struct search *s)
{
    uint64_t until = s->w.now + 30 * (uint64_t)SECOND;
    while (s->w.now < until)
        if (s->w.flying > 0)
            arrive(s, 0);
        else
            wait_for_timer(s);
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
    memset(&s->w, 0, sizeof s->w);
    memset(s->table, 0, s->table_size * sizeof *s->table);
    s->w = (struct world){.now = SECOND, .losses = 1, .delays = 2};
    s->states = s->seen = s->ends = s->steps = s->deepest = 0;
    s->limit = limit;
    s->nodes = NODES;
    start(s, 0);
    for (unsigned i = 1; i < scripts[which].base; i++) {
        struct ring_event join = {.kind = RING_JOIN, .peer = peer(0)};
        start(s, i);
        step(s, i, &join);
        settle(s);
    }
    s->script_length = scripts[which].length;
    for (unsigned i = 0; i < s->script_length; i++) {
        s->script[i].deed = scripts[which].deeds[i].deed;
        s->script[i].node = scripts[which].deeds[i].node;
        s->script[i].contact = scripts[which].deeds[i].contact;
    }
    s->wrong = whole(s) ? NULL : "it was not whole to begin with";
    if (s->wrong == NULL)
        explore(s, 0);
    printf("%-32s %7lu states%s, %lu met again, %lu ends, %lu steps, %u deep\n",
           scripts[which].what, s->states, s->states >= limit ? " (not all)" : "", s->seen, s->ends,
           s->steps, s->deepest);
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
    struct search s = {.ring_bytes = ring_size(&setup), .depth = (unsigned)o[0]};
    const char *wrong = NULL;
    s.table_size = 4 * o[1] + 1;
    s.table = must(calloc(s.table_size, sizeof *s.table));
    for (unsigned i = 0; i < NODES; i++)
        s.rings[i] = must(calloc(1, s.ring_bytes));
    for (unsigned i = 0; wrong == NULL && i < sizeof scripts / sizeof scripts[0]; i++)
        if ((wrong = run(&s, i, o[1])) != NULL)
            printf("%s; again: test/sim/every --depth %lu --states %lu\n", wrong, o[0], o[1]);
    for (unsigned i = 0; i < NODES; i++)
        free(s.rings[i]);
    free(s.table);
    return wrong != NULL;
}
