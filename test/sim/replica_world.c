/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_world.c -- the links between the processes, the schedule, the deaths, and the checks. */
#include "replica.h"
#include <errno.h>
#include <stdarg.h>
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
    bool placed;
};

struct wire {
    struct frame *head, **tail;
    int count;
    bool cut; /* the receiver has dropped the sender */
};

struct sim {
    const struct plan *plan;
    int procs;
    uint64_t seed, now;
    struct program program[MAX_RANKS];
    struct proc proc[MAX_PROCS];
    struct wire wire[MAX_PROCS][MAX_PROCS]; /* from, to */
    bool notice[MAX_PROCS][MAX_PROCS];      /* to, of whose death */
    bool saw[MAX_RANKS][MAX_OPS], made[MAX_PROCS][MAX_OPS];
    uint64_t saw_digest[MAX_RANKS][MAX_OPS], made_digest[MAX_PROCS][MAX_OPS];
    int turn, step, idle, killed;
    struct engine_limits limits;
    bool failed;
    char why[400];
};

uint64_t sim_random(struct sim *s)
{
    return s->seed = mix64(s->seed + 0x9e3779b97f4a7c15u);
}

static int below(struct sim *s, int n)
{
    return (int)(sim_random(s) % (unsigned)n);
}

uint64_t sim_now(struct sim *s)
{
    return s->now;
}

int sim_ranks(const struct sim *s)
{
    return s->plan->ranks;
}

const struct plan *sim_plan(const struct sim *s)
{
    return s->plan;
}

void sim_fail(struct sim *s, const char *format, ...)
{
    va_list args;
    if (s->failed)
        return;
    s->failed = true;
    va_start(args, format);
    vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
}

void sim_saw(struct proc *p, int source, uint32_t id, uint64_t digest)
{
    struct sim *s = p->sim;
    if (id >= MAX_OPS || source < 0 || source >= s->plan->ranks) {
        sim_fail(s, "vpid %d: a message that nobody made", p->vpid);
        return;
    }
    if (source == p->rank)
        return; /* not seen outside: it may depend on what is not committed */
    if (s->saw[source][id] && s->saw_digest[source][id] != digest)
        sim_fail(s, "vpid %d: message %u of rank %d was another one in another lane", p->vpid, id,
                 source);
    s->saw[source][id] = true;
    s->saw_digest[source][id] = digest;
}

void sim_made(struct proc *p, int to, uint32_t id, uint64_t digest)
{
    (void)to;
    p->sim->made[p->vpid][id] = true;
    p->sim->made_digest[p->vpid][id] = digest;
}

/* ---- links ---- */

static bool is_there(const struct proc *p)
{
    return p->alive && !p->left && !p->stopped;
}

static void write_now(struct sim *s, int from, struct frame *f)
{
    struct proc *p = &s->proc[from];
    void *cookie = f->cookie;
    if (f->own || f->length == 0)
        return;
    f->own = malloc(f->length);
    memcpy(f->own, f->payload, f->length);
    f->cookie = NULL;
    if (p->engine && cookie)
        engine_wrote(p->engine, cookie);
}

static int on_send(void *ctx, int vpid, const uint8_t *header, const void *payload, size_t length,
                   void *cookie)
{
    struct proc *p = ctx;
    struct sim *s = p->sim;
    struct wire *w = &s->wire[p->vpid][vpid];
    if (header_length(header) != length)
        sim_fail(s, "vpid %d: the header does not tell the payload's length", p->vpid);
    if (s->plan->tight && header_may_wait(header) && below(s, 3) == 0)
        return -EAGAIN;
    struct frame *f = calloc(1, sizeof *f);
    memcpy(f->header, header, HEADER_BYTES);
    f->payload = payload;
    f->length = length;
    f->cookie = cookie;
    bool at_once = !cookie || below(s, 3) == 0;
    if (at_once && length > 0) {
        f->own = malloc(length);
        memcpy(f->own, payload, length);
        f->cookie = NULL;
    }
    if (s->plan->flip == p->vpid && f->own && length > MESSAGE_MIN && header[0] <= HEADER_BULK &&
        below(s, 10) == 0)
        f->own[length - 1] ^= 1;
    *w->tail = f;
    w->tail = &f->next;
    w->count++;
    return cookie && at_once;
}

static struct frame *wire_pop(struct wire *w)
{
    struct frame *f = w->head;
    w->head = f->next;
    if (!w->head)
        w->tail = &w->head;
    w->count--;
    return f;
}

static void frame_free(struct frame *f)
{
    free(f->own);
    free(f);
}

/* Drops what is on the link beyond the first `keep` frames. */
static void wire_cut(struct sim *s, int from, int to, int keep)
{
    struct wire *w = &s->wire[from][to];
    struct frame **at = &w->head, *f;
    for (int i = 0; i < keep && *at; i++)
        at = &(*at)->next;
    struct frame *cut = *at;
    *at = NULL;
    w->tail = at;
    while ((f = cut)) {
        cut = f->next;
        w->count--;
        write_now(s, from, f); /* the sender may go on from there */
        frame_free(f);
    }
}

static void on_lost(void *ctx, int vpid, const char *why)
{
    struct proc *p = ctx;
    if (p->sim->plan->loud && why)
        printf("%6d: vpid %d drops %d: %s\n", p->sim->step, p->vpid, vpid, why);
    p->sim->wire[vpid][p->vpid].cut = true;
    p->sim->wire[p->vpid][vpid].cut = !why; /* else it has to hear of it */
}

static void on_stop(void *ctx, int status, const char *line)
{
    struct proc *p = ctx;
    p->stopped = true;
    p->status = status;
    snprintf(p->line, sizeof p->line, "%s", line);
}

static void on_pack(void *ctx, struct engine_send *s, size_t offset, void *bytes, size_t length)
{
    (void)ctx;
    if (length > 0)
        memcpy(bytes, ((struct proc_send *)s)->bytes + offset, length);
}

static void on_unpack(void *ctx, struct engine_receive *r, size_t offset, const void *bytes,
                      size_t length)
{
    (void)ctx;
    if (length > 0)
        memcpy(((struct proc_receive *)r)->bytes + offset, bytes, length);
}

static void on_repack(void *ctx, struct engine_receive *r, size_t offset, void *bytes,
                      size_t length)
{
    (void)ctx;
    if (length > 0)
        memcpy(bytes, ((struct proc_receive *)r)->bytes + offset, length);
}

static void on_sent(void *ctx, struct engine_send *s)
{
    if (!s->done)
        sim_fail(((struct proc *)ctx)->sim, "sent, but not done");
}

static void on_received(void *ctx, struct engine_receive *r)
{
    if (!r->done)
        sim_fail(((struct proc *)ctx)->sim, "received, but not done");
}

static const struct engine_callbacks callbacks = {.send = on_send,
                                                  .lost = on_lost,
                                                  .pack = on_pack,
                                                  .unpack = on_unpack,
                                                  .repack = on_repack,
                                                  .sent = on_sent,
                                                  .received = on_received,
                                                  .stop = on_stop};

/* ---- actions: each returns whether anything changed ---- */

static void kill_proc(struct sim *s, int vpid)
{
    struct proc *p = &s->proc[vpid];
    p->alive = false;
    for (int i = 0; i < s->procs; i++) {
        wire_cut(s, vpid, i, below(s, s->wire[vpid][i].count + 1));
        wire_cut(s, i, vpid, 0);
        s->notice[i][vpid] = i != vpid;
    }
    if (s->plan->loud)
        printf("%6d: vpid %d dies\n", s->step, vpid);
}

static bool act_notice(struct sim *s, int to, int of)
{
    struct proc *p = &s->proc[to];
    if (!s->notice[to][of] || !is_there(p) || p->frozen)
        return false;
    s->notice[to][of] = false;
    engine_dead(p->engine, of);
    return true;
}

/* A process that has ended refuses links; who has its good-bye does not mind. */
static void refuse(struct sim *s, int from, int to)
{
    struct frame *f = s->wire[to][from].head;
    for (; f; f = f->next)
        if (f->header[0] == HEADER_BYE)
            return;
    if (is_there(&s->proc[from]) && !engine_is_finished(s->proc[from].engine, to))
        engine_dead(s->proc[from].engine, to);
}

static bool place(struct sim *s, struct proc *p, int from, struct frame *f)
{
    if (f->placed || f->length == 0 || below(s, 2) ||
        (f->header[0] != HEADER_EAGER && f->header[0] != HEADER_BULK))
        return false;
    f->room = engine_place(p->engine, from, f->header);
    f->placed = true;
    return f->room != NULL;
}

static void show(const struct sim *s, int from, int to, const struct frame *f)
{
    static const char *const names[] = {"?",     "EAGER", "OFFER",  "ASK",     "BULK",
                                        "HAVE",  "ACK",   "DECIDE", "DECIDED", "DEAD",
                                        "AGREE", "PING",  "PONG",   "BYE"};
    struct header h;
    if (header_read(&h, f->header))
        printf("%6d: %d to %d: %s tag %d number %llu length %u extent %llu flags %d\n", s->step,
               from, to, names[h.kind], h.tag, (unsigned long long)h.number, h.length,
               (unsigned long long)h.extent, h.flags);
}

static bool act_deliver(struct sim *s, int from, int to)
{
    struct wire *w = &s->wire[from][to];
    struct proc *p = &s->proc[to];
    if (w->cut)
        wire_cut(s, from, to, 0);
    if (w->count == 0 || p->frozen)
        return false;
    write_now(s, from, w->head);
    if (!is_there(p)) {
        if (p->left)
            refuse(s, from, to);
        wire_cut(s, from, to, 0);
        return true;
    }
    if (place(s, p, from, w->head))
        return true;
    struct frame *f = wire_pop(w);
    if (s->plan->loud)
        show(s, from, to, f);
    if (f->room)
        memcpy(f->room, f->own, f->length);
    engine_arrived(p->engine, from, f->header, f->room ? f->room : f->own);
    frame_free(f);
    return true;
}

static bool act_run(struct sim *s, int vpid)
{
    struct proc *p = &s->proc[vpid];
    int changed;
    if (!is_there(p) || p->frozen)
        return false;
    changed = engine_progress(p->engine, s->now);
    if (p->stopped)
        return true;
    if (!p->done)
        return proc_step(p) || changed;
    p->left = engine_finish(p->engine);
    if (s->plan->loud && p->left)
        printf("%6d: vpid %d leaves\n", s->step, vpid);
    return p->left || changed;
}

static bool act(struct sim *s, int actor)
{
    if (actor < s->procs)
        return act_run(s, actor);
    actor -= s->procs;
    int a = actor / s->procs, b = actor % s->procs;
    return s->notice[a][b] && (s->plan->choices || below(s, 4) == 0) ? act_notice(s, a, b)
                                                                     : act_deliver(s, a, b);
}

static bool can_act(const struct sim *s, int actor)
{
    if (actor < s->procs)
        return is_there(&s->proc[actor]);
    actor -= s->procs;
    int a = actor / s->procs, b = actor % s->procs;
    return s->wire[a][b].count > 0 || (s->notice[a][b] && is_there(&s->proc[a]));
}

/* By turns; a choice skips so many of those whose turn it would be. */
static int pick_by_turn(struct sim *s)
{
    int actors = s->procs + s->procs * s->procs;
    int skip = s->step < s->plan->choice_count ? s->plan->choices[s->step] : 0;
    for (int tries = 0;; tries++) {
        s->turn = (s->turn + 1) % actors;
        if (can_act(s, s->turn) && skip-- == 0)
            return s->turn;
        if (tries > 20 * actors)
            return s->turn;
    }
}

static int pick(struct sim *s)
{
    if (s->plan->choices)
        return pick_by_turn(s);
    if (below(s, 3) == 0)
        return below(s, s->procs);
    return s->procs + below(s, s->procs * s->procs);
}

static bool may_kill(const struct sim *s, int vpid)
{
    int n = s->plan->ranks, left = 0;
    if (!is_there(&s->proc[vpid]))
        return false;
    for (int v = vpid % n; v < s->procs; v += n)
        left += v != vpid && s->proc[v].alive && !s->proc[v].stopped && !s->proc[v].frozen;
    return left > 0;
}

static void maybe_kill(struct sim *s)
{
    const struct plan *plan = s->plan;
    for (int i = 0; i < plan->kills && i < 4; i++) {
        if (plan->kill_at[i] != s->step)
            continue;
        int who = plan->kill_who[i] >= 0 ? plan->kill_who[i] : below(s, s->procs);
        if (may_kill(s, who))
            kill_proc(s, who);
    }
}

/* ---- a run ---- */

static void set_limits(struct sim *s)
{
    struct engine_limits *l = &s->limits;
    *l = engine_default_limits;
    l->eager = 128;
    l->fragment = 256;
    l->log = s->plan->tight ? 1500 : 1 << 20;
    l->lag_ms = 20;
    l->drop_after_ms = s->plan->suspend >= 0 ? 400 : 0;
    l->ack_messages = 1 + (uint32_t)below(s, 4);
    l->ack_delay_ms = 2;
    l->verify = s->plan->verify;
}

static void draw_holes(struct sim *s, bool *alive)
{
    const struct plan *plan = s->plan;
    for (int v = 0; v < s->procs; v++)
        alive[v] = true;
    if (plan->holes)
        for (int r = 0; r < plan->ranks; r++)
            for (int k = 1 + below(s, plan->lanes); k < plan->lanes; k++)
                alive[k * plan->ranks + r] = false;
}

static void sim_begin(struct sim *s, const struct plan *plan)
{
    bool alive[MAX_PROCS];
    s->plan = plan;
    s->procs = plan->ranks * plan->lanes;
    s->seed = mix64(plan->seed + 77);
    s->now = 1;
    program_make(s->program, plan);
    if (plan->loud)
        program_show(s->program, plan->ranks);
    set_limits(s);
    draw_holes(s, alive);
    for (int v = 0; v < s->procs; v++) {
        for (int i = 0; i < s->procs; i++)
            s->wire[v][i].tail = &s->wire[v][i].head;
        struct proc *p = &s->proc[v];
        *p = (struct proc){.sim = s, .vpid = v, .rank = v % plan->ranks, .lane = v / plan->ranks};
        p->alive = alive[v];
        p->frozen = false;
        p->program = &s->program[p->rank];
        if (!p->alive)
            continue;
        p->engine = engine_create(plan->ranks, plan->lanes, p->rank, p->lane, alive, &s->limits,
                                  &callbacks, p);
        proc_begin(p);
    }
}

static void sim_end(struct sim *s)
{
    for (int a = 0; a < s->procs; a++)
        for (int b = 0; b < s->procs; b++)
            while (s->wire[a][b].count > 0) /* who is told that it wrote may write more */
                wire_cut(s, a, b, 0);
    for (int v = 0; v < s->procs; v++) {
        proc_end(&s->proc[v]);
        engine_destroy(s->proc[v].engine);
    }
}

static bool all_over(const struct sim *s)
{
    for (int v = 0; v < s->procs; v++)
        if (is_there(&s->proc[v]) && !s->proc[v].frozen)
            return false;
    return true;
}

static void check_process(struct sim *s, const struct proc *p, const struct proc **first)
{
    const struct proc **f = &first[p->rank];
    if (p->stopped && p->status != 0)
        sim_fail(s, "vpid %d stopped: %s", p->vpid, p->line);
    if (!p->left)
        return;
    if (engine_counts(p->engine)->log_peak > s->limits.log)
        sim_fail(s, "vpid %d: the log grew to %zu", p->vpid, engine_counts(p->engine)->log_peak);
    if (*f && (*f)->digest != p->digest)
        sim_fail(s, "rank %d: vpid %d and vpid %d ended differently", p->rank, p->vpid, (*f)->vpid);
    *f = p;
    for (int i = 0; i < MAX_OPS; i++)
        if (s->saw[p->rank][i] && s->made[p->vpid][i] &&
            s->saw_digest[p->rank][i] != s->made_digest[p->vpid][i])
            sim_fail(s, "vpid %d made another message %d than was received", p->vpid, i);
}

static void check_end(struct sim *s)
{
    const struct proc *first[MAX_RANKS] = {NULL};
    for (int v = 0; v < s->procs; v++)
        check_process(s, &s->proc[v], first);
    for (int r = 0; r < s->plan->ranks; r++)
        if (!first[r])
            sim_fail(s, "rank %d did not end", r);
}

static void tell_stuck(struct sim *s)
{
    char text[300];
    int at = 0;
    for (int v = 0; v < s->procs; v++) {
        const struct proc *p = &s->proc[v];
        at += snprintf(text + at, sizeof text - (size_t)at, " %d:%s%d/%d.%d", v,
                       !p->alive    ? "dead"
                       : p->left    ? "left"
                       : p->stopped ? "stopped"
                                    : "",
                       p->at, p->program->count, p->stage);
        if (at > 250)
            break;
    }
    sim_fail(s, "stuck after %d steps:%s", s->step, text);
}

/* A stop of the job is the end for all. */
static bool stopped(struct sim *s)
{
    for (int v = 0; v < s->procs; v++)
        if (s->proc[v].stopped && s->proc[v].status != 0) {
            sim_fail(s, "vpid %d stopped: %s", v, s->proc[v].line);
            return true;
        }
    return false;
}

int sim_run(const struct plan *plan, char *why, size_t size, int *steps)
{
    static struct sim world;
    struct sim *s = &world;
    memset(s, 0, sizeof *s);
    sim_begin(s, plan);
    int patience = 2000 * s->procs + 200 * s->procs * s->procs;
    for (; !s->failed && !all_over(s) && !stopped(s); s->step++) {
        maybe_kill(s);
        if (plan->suspend >= 0 && s->step == 40)
            s->proc[plan->suspend].frozen = true;
        s->idle = act(s, pick(s)) ? 0 : s->idle + 1;
        if (s->idle % (8 * s->procs) == 8 * s->procs - 1)
            s->now += 5;
        if (s->idle > patience)
            tell_stuck(s);
    }
    if (!s->failed)
        check_end(s);
    snprintf(why, size, "%s", s->why);
    *steps = s->step;
    bool failed = s->failed;
    sim_end(s);
    return failed;
}
