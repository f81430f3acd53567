/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_net.c -- links of the simulation: first-in first-out; at a death their tail is lost, but
 * for what some keep. */
#include "replica_sim.h"
#include "src/replica/hash.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frame {
    struct frame *next;
    uint8_t header[HEADER_BYTES];
    const void *payload; /* the sender's, while it is not written and has a cookie */
    uint8_t *own;
    size_t length;
    void *cookie;
    void *room; /* the receiver gave it */
    bool placed, spoiled;
};

static struct wire *wire_number(struct sim *s, int i)
{
    return &s->wire[i / MAX_PROCS][i % MAX_PROCS];
}

/* Are the two replicas of a rank on one host? Half of them are. */
static bool are_on_one_host(const struct sim *s, int a, int b)
{
    const uint64_t seed = s->plan->seed;
    if (a == b || a % s->plan->ranks != b % s->plan->ranks)
        return false;
    return s->plan->explored ? seed & 2 : mix64(seed ^ mix64((uint64_t)(a < b ? b : a))) & 1;
}

void net_begin(struct sim *s)
{
    for (int a = 0; a < s->procs; a++)
        for (int b = 0; b < s->procs; b++)
            s->wire[a][b] = (struct wire){
                .tail = &s->wire[a][b].head, .at = -1, .survives = are_on_one_host(s, a, b)};
}

/* The wires that hold frames are listed, so that one can be drawn. */
static void wire_list(struct sim *s, int from, int to)
{
    s->wire[from][to].at = s->active_count;
    s->active[s->active_count++] = from * MAX_PROCS + to;
}

static void wire_unlist(struct sim *s, struct wire *w)
{
    int last = s->active[--s->active_count];
    s->active[w->at] = last;
    wire_number(s, last)->at = w->at;
    w->at = -1;
}

static void wire_push(struct sim *s, int from, int to, struct frame *f)
{
    struct wire *w = &s->wire[from][to];
    *w->tail = f;
    w->tail = &f->next;
    if (w->count++ == 0)
        wire_list(s, from, to);
}

static struct frame *wire_pop(struct sim *s, struct wire *w)
{
    struct frame *f = w->head;
    w->head = f->next;
    if (!w->head)
        w->tail = &w->head;
    if (--w->count == 0)
        wire_unlist(s, w);
    w->surviving -= w->surviving > 0;
    return f;
}

static void frame_free(struct frame *f)
{
    free(f->own);
    free(f);
}

static void frame_copy(struct frame *f)
{
    f->own = malloc(f->length + 1);
    memcpy(f->own, f->payload, f->length);
    f->cookie = NULL;
}

static void write_now(struct sim *s, int from, struct frame *f)
{
    struct proc *p = &s->proc[from];
    void *cookie = f->cookie;
    if (f->own || f->length == 0)
        return;
    frame_copy(f);
    if (p->engine && cookie)
        engine_wrote(p->engine, cookie);
}

void net_cut(struct sim *s, int from, int to, int keep)
{
    struct wire *w = &s->wire[from][to];
    struct frame *f, *cut = NULL, **at = &w->head;
    for (int i = 0; i < keep && *at; i++)
        at = &(*at)->next;
    cut = *at;
    *at = NULL;
    w->tail = at;
    if (cut && keep == 0)
        wire_unlist(s, w);
    w->count = w->count < keep ? w->count : keep;
    w->surviving = w->surviving < w->count ? w->surviving : w->count;
    while ((f = cut)) {
        cut = f->next;
        write_now(s, from, f); /* the sender may go on from there */
        frame_free(f);
    }
}

void net_end(struct sim *s)
{
    while (s->active_count > 0) { /* a process that is told that it wrote may write more */
        int i = s->active[0];
        net_cut(s, i / MAX_PROCS, i % MAX_PROCS, 0);
    }
}

static void spoil(struct sim *s, uint8_t *bytes, size_t length)
{
    bytes[sim_below(s, (int)length)] ^= (uint8_t)(1 << sim_below(s, 8));
}

/* Some bit of a message turns over on its way. */
static void maybe_spoil(struct sim *s, const struct proc *p, struct frame *f)
{
    bool message = f->header[0] == HEADER_EAGER || f->header[0] == HEADER_DATA;
    if (s->plan->flip != p->replica || s->plan->flip_source || !message || f->length == 0 ||
        sim_below(s, 6))
        return;
    spoil(s, f->own, f->length);
    f->spoiled = true;
}

int net_send(void *ctx, int replica, const uint8_t *header, const void *payload, size_t length,
             void *cookie)
{
    struct proc *p = ctx;
    struct sim *s = p->sim;
    if (header_length(header) != length)
        sim_broken(s, I2_EACH_ONCE, "replica %d: the header does not tell the payload's length",
                   p->replica);
    if (replica == p->replica)
        sim_broken(s, I2_EACH_ONCE, "replica %d: writes to itself", replica);
    if (s->plan->tight && header_may_wait(header) && sim_below(s, 3) == 0)
        return -EAGAIN;
    if (sim_plants(s, I11_ALL_END) && header[0] == HEADER_CTS)
        return 0; /* lost */
    struct frame *f = calloc(1, sizeof *f);
    memcpy(f->header, header, HEADER_BYTES);
    f->payload = payload;
    f->length = length;
    f->cookie = cookie;
    bool at_once = !cookie || s->plan->flip >= 0 || s->plan->explored || sim_below(s, 3) == 0;
    if (at_once && length > 0) {
        frame_copy(f);
        maybe_spoil(s, p, f);
        if (sim_plants(s, I2_EACH_ONCE) && header[0] == HEADER_EAGER && length > MESSAGE_MIN)
            f->own[length - 1] ^= 1;
    }
    wire_push(s, p->replica, replica, f);
    return cookie && at_once;
}

/* --- links that keep what was sent --- */

/* The one event of a process that is none of its own: what it finds there. */
static bool found(struct proc *p, bool what)
{
    p->found = 3 * p->found + 1 + what;
    return what;
}

bool net_survives(void *ctx, int replica)
{
    struct proc *p = ctx;
    struct sim *s = p->sim;
    struct wire *w = &s->wire[p->replica][replica];
    if (!w->survives || (s->plan->tight && sim_below(s, 2)) || !found(p, !w->closed))
        return false;
    w->surviving = w->count;
    return true;
}

bool net_drained(void *ctx, int replica)
{
    struct proc *p = ctx;
    struct wire *w = &p->sim->wire[replica][p->replica];
    w->closed = true;
    return !w->survives || found(p, w->count == 0 && !w->brings);
}

/* So are half of all links; it need not be so both ways. */
bool net_is_far(void *ctx, int replica)
{
    const struct proc *p = ctx;
    const uint64_t seed = p->sim->plan->seed, link = (uint64_t)(p->replica * MAX_PROCS + replica);
    return p->sim->plan->explored ? seed & 4 : mix64(seed + mix64(link)) & 1;
}

/* --- turns: nothing but the time of a copy depends on them --- */

uint64_t net_turn_ms(void *ctx, int replica, uint64_t gap_ms, bool anew)
{
    const struct sim *s = ((const struct proc *)ctx)->sim;
    if (s->plan->explored)
        return gap_ms;
    return anew ? 0 : hash_mix(s->plan->seed ^ s->now, (uint64_t)replica) % (gap_ms + 1);
}

/* --- exposed memory: some is, and some of that cannot be read --- */

static bool is_lucky(struct sim *s, int of)
{
    return s->plan->explored ? s->plan->seed % 2 == 1 : sim_below(s, of) > 0;
}

bool net_expose(void *ctx, int replica, const void *bytes, uint8_t rkey[ENGINE_RKEY])
{
    struct proc *p = ctx;
    struct sim *s = p->sim;
    uint32_t i = 0;
    while (i < MAX_EXPOSED && s->exposed[i].bytes)
        i++;
    if (i == MAX_EXPOSED || !is_lucky(s, 3))
        return false;
    s->exposed[i] = (struct exposed){bytes, p->replica, replica};
    memset(rkey, 0, ENGINE_RKEY);
    bytes_put_u32(rkey, i);
    return true;
}

void net_revoke(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY])
{
    struct proc *p = ctx;
    struct exposed *l = &p->sim->exposed[bytes_get_u32(rkey)];
    if (!l->bytes || l->from != p->replica || l->to != replica)
        sim_broken(p->sim, I9_DONE_IS_SO, "replica %d revokes what it did not expose", p->replica);
    if (!sim_plants(p->sim, I9_DONE_IS_SO))
        l->bytes = NULL;
}

bool net_is_exposed(const struct sim *s, int from, const void *bytes)
{
    for (int i = 0; i < MAX_EXPOSED; i++)
        if (s->exposed[i].bytes == bytes && s->exposed[i].from == from)
            return true;
    return false;
}

bool net_remote_read(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY], void *to,
                     size_t length)
{
    struct proc *p = ctx;
    struct sim *s = p->sim;
    const struct exposed *l = &s->exposed[bytes_get_u32(rkey)];
    const struct proc *lender = &s->proc[replica];
    bool there = l->bytes && l->from == replica && l->to == p->replica && lender->alive &&
                 !lender->stopped && !lender->left;
    if (!found(p, there && is_lucky(s, 8))) {
        memset(to, 0xaa, length);
        return false;
    }
    memcpy(to, l->bytes, length);
    if (s->plan->flip == replica && !s->plan->flip_source && length > 0 && sim_below(s, 6) == 0) {
        spoil(s, to, length);
        p->spoiled = true;
    }
    return true;
}

/* A process that has ended refuses links; one that has its good-bye does not mind. */
static void refuse(struct sim *s, int from, int to)
{
    struct frame *f = s->wire[to][from].head;
    for (; f; f = f->next)
        if (f->header[0] == HEADER_BYE)
            return;
    if (proc_is_there(&s->proc[from]) && !engine_is_finished(s->proc[from].engine, to))
        engine_dead(s->proc[from].engine, to);
}

static bool place(struct sim *s, struct proc *p, int from, struct frame *f)
{
    if (f->placed || f->length == 0 || s->plan->explored || sim_below(s, 2) ||
        (f->header[0] != HEADER_EAGER && f->header[0] != HEADER_DATA))
        return false;
    f->room = engine_place(p->engine, from, f->header);
    f->placed = true;
    return f->room != NULL;
}

static void show(const struct sim *s, int from, int to, const struct frame *f)
{
    static const char *const names[] = {
        "?",    "EAGER",   "RTS",     "CTS",     "DATA",   "HAVE",     "ACK",   "DECIDE", "DECIDED",
        "DEAD", "AGREE",   "BARRIER", "WHERE",   "HERE",   "ATTACH",   "PING",  "PONG",   "BYE",
        "DONE", "WITNESS", "SETTLE",  "SETTLED", "RECALL", "RECALLED", "LOOKS", "PAST"};
    _Static_assert(sizeof names / sizeof *names == HEADER_PAST + 1, "each kind has a name");
    struct header h;
    if (!header_read(&h, f->header))
        return;
    printf("%6d: %d to %d: %s comm %04x.%u tag %d number %llu length %u extent %llu flags %d%s",
           s->step, from, to, names[h.kind], (unsigned)(h.group & 0xffff), h.count, h.tag,
           (unsigned long long)h.number, h.length, (unsigned long long)h.extent, h.flags,
           f->spoiled ? ", spoiled" : "");
    if (h.kind == HEADER_DEAD)
        printf(": %u", bytes_get_u32(f->own));
    printf("\n");
}

static void note_spoiled(struct proc *p, struct wire *w, const struct frame *f)
{
    struct header h;
    if (!header_read(&h, f->header) || h.kind != HEADER_DATA) {
        p->spoiled = true;
        return;
    }
    w->spoils = true;
    w->tag = h.tag;
    w->number = h.number;
}

/* Has the process got a large message of which a piece was spoiled, by one that it has not lost
 * before? */
bool net_spoils(const struct sim *s, const struct proc *p, const struct engine_receive *r)
{
    if (r->status.source < 0) /* cancelled */
        return false;
    for (int from = r->status.source; from < s->procs; from += s->plan->ranks) {
        const struct wire *w = &s->wire[from][p->replica];
        if (w->spoils && w->tag == r->status.tag && w->number == r->number)
            return true;
    }
    return false;
}

static void hand_over(struct sim *s, int from, int to)
{
    struct proc *p = &s->proc[to];
    struct wire *w = &s->wire[from][to];
    struct frame *f = wire_pop(s, w);
    if (s->plan->loud)
        show(s, from, to, f);
    s->last_kind = f->header[0];
    s->delivered[s->last_kind]++;
    s->proc[from].frames++;
    if (f->spoiled)
        note_spoiled(p, w, f);
    if (f->room)
        memcpy(f->room, f->own, f->length);
    w->brings = true;
    engine_arrived(p->engine, from, f->header, f->room ? f->room : f->own);
    w->brings = false;
    frame_free(f);
}

/* A process that drops a link is told that all is written. */
static bool write_all(struct sim *s, int from, int to)
{
    bool any = false;
    for (struct frame *f = s->wire[from][to].head; f; f = f->next) {
        any |= f->cookie != NULL;
        write_now(s, from, f);
    }
    return any;
}

bool net_deliver(struct sim *s, int from, int to)
{
    struct wire *w = &s->wire[from][to];
    struct proc *p = &s->proc[to];
    if (w->cut)
        net_cut(s, from, to, 0);
    if (w->dropped && write_all(s, from, to))
        return true;
    if (w->count == 0 || p->frozen)
        return false;
    write_now(s, from, w->head);
    if (!proc_is_there(p)) {
        if (p->left)
            refuse(s, from, to);
        net_cut(s, from, to, 0);
        return true;
    }
    if (!place(s, p, from, w->head))
        hand_over(s, from, to);
    return true;
}

uint64_t net_hash(const struct sim *s, int from, int to)
{
    const struct frame *f = s->wire[from][to].head;
    uint64_t hash = (uint64_t)from;
    for (int i = 0; i < HEADER_BYTES; i++)
        hash = mix64(hash ^ f->header[i]);
    for (size_t i = 0; i < f->length; i++)
        hash = mix64(hash ^ f->own[i]);
    return hash;
}

int net_tells_death(const struct sim *s, int from, int to)
{
    const struct frame *f = s->wire[from][to].head;
    return f->header[0] == HEADER_DEAD ? (int)bytes_get_u32(f->own) : -1;
}
