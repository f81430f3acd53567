/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_world.c -- the processes of a job, their deaths, and what must be true in the end. */
#include "replica_sim.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t sim_random(struct sim *s)
{
    return s->seed = mix64(s->seed + 0x9e3779b97f4a7c15u);
}

int sim_below(struct sim *s, int n)
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

void sim_broken(struct sim *s, enum invariant which, const char *format, ...)
{
    va_list args;
    if (s->failed)
        return;
    s->failed = true;
    const int at = snprintf(s->why, sizeof s->why, "%s: ", invariant_name(which));
    va_start(args, format);
    vsnprintf(s->why + at, sizeof s->why - (size_t)at, format, args);
    va_end(args);
}

bool sim_plants(const struct sim *s, enum invariant which)
{
    return s->plan->plant == which;
}

/* Messages must be the same in all lanes, unless the plan is to see what happens if not. */
static bool is_sound(const struct plan *plan)
{
    return plan->flip < 0 && plan->stray < 0;
}

static const struct proc *replica_at(const struct sim *s, int rank, int lane)
{
    return &s->proc[lane * s->plan->ranks + rank];
}

/* What only dead processes have seen may not have happened. */
static bool seen_by_any(const struct sim *s, uint32_t set)
{
    for (int v = 0; v < s->procs; v++)
        if (set >> v & 1 && (s->proc[v].alive || s->proc[v].left))
            return true;
    return false;
}

void sim_saw(struct proc *p, int source, uint32_t id, uint64_t digest, uint64_t posted)
{
    struct sim *s = p->sim;
    if (!is_sound(s->plan))
        return;
    if (id >= MAX_OPS || source < 0 || source >= s->plan->ranks) {
        sim_broken(s, I2_EACH_ONCE, "replica %d: a message that nobody made", p->replica);
        return;
    }
    if (source == p->rank)
        return; /* not seen outside: it may depend on what is not committed */
    if (s->saw_digest[source][id] != digest && seen_by_any(s, s->seen_by[source][id]))
        sim_broken(s, I1_ONE_ORDER,
                   "replica %d: message %u of rank %d was another one in another lane", p->replica,
                   id, source);
    for (int r = 0; r < s->plan->ranks; r++)
        if (p->past.of[r] < s->past[source][id].of[r])
            p->past.of[r] = s->past[source][id].of[r];
    s->saw[source][id] = true;
    s->seen_by[source][id] =
        (s->saw_digest[source][id] == digest ? s->seen_by[source][id] : 0) | 1u << p->replica;
    s->saw_digest[source][id] = digest;
    s->saw_by[p->lane][source][id] = posted;
}

/* An heir may have told the sender what it now undoes, as the dead leader decided. */
void sim_undid(struct proc *p, const uint8_t *bytes)
{
    struct sim *s = p->sim;
    const uint32_t source = bytes_get_u32(bytes), id = bytes_get_u32(bytes + 4);
    if (is_sound(s->plan) && source < MAX_RANKS && id < MAX_OPS &&
        !replica_at(s, p->rank, 0)->alive)
        s->undone[source][id] = true;
}

void sim_prints(struct proc *p)
{
    const unsigned number = p->printed++;
    if (number < MAX_SHOWN && p->lines < MAX_LINES)
        p->line_of[p->lines++] = (struct line){p->commit.decided, p->digest, number};
}

/* Whatever of its rank runs later has to print the same. */
static void show(struct proc *p)
{
    struct sim *s = p->sim;
    unsigned n = 0;
    const bool early = sim_plants(s, I4_COMMIT);
    for (; n < p->lines && (early || p->commit.held >= p->line_of[n].decided); n++) {
        const struct line *l = &p->line_of[n];
        uint64_t *shown = &s->shown[p->rank][l->number];
        if (*shown != 0 && *shown != l->digest && is_sound(s->plan))
            sim_broken(s, I4_COMMIT, "replica %d: line %u was another one in another lane",
                       p->replica, l->number);
        *shown = l->digest;
    }
    p->lines -= n;
    memmove(p->line_of, p->line_of + n, p->lines * sizeof *p->line_of);
}

void sim_passed_barrier(struct proc *p)
{
    struct sim *s = p->sim;
    for (int v = p->rank; v < s->procs; v += s->plan->ranks) {
        const struct proc *other = &s->proc[v];
        if (other->barriers < p->barriers && proc_is_there(other) && !engine_is_dead(p->engine, v))
            sim_broken(s, I13_TOGETHER,
                       "replica %d: goes on from its barrier %d, where replica %d is not",
                       p->replica, p->barriers, v);
    }
}

void sim_made(struct proc *p, int to, uint32_t id, uint64_t digest)
{
    p->strayed |= p->sim->plan->stray == p->rank && to != p->rank;
    p->sim->made[p->replica][id] = true;
    p->sim->made_digest[p->replica][id] = digest;
    p->past.of[p->rank] = (uint16_t)(id + 1);
    if (p->program->op[id].times <= 1)
        p->sim->past[p->rank][id] = p->past;
}

/* In a lane that is whole, what has come follows from nothing that its receiver has yet to do. */
void sim_came_early(struct proc *p, enum invariant which, const uint8_t *bytes)
{
    struct sim *s = p->sim;
    const uint32_t source = bytes_get_u32(bytes), id = bytes_get_u32(bytes + 4);
    const int begun = p->at + (p->stage > 0);
    if (is_sound(s->plan) && source < (uint32_t)s->plan->ranks && id < MAX_OPS &&
        s->past[source][id].of[p->rank] > begun)
        sim_broken(
            s, which,
            "replica %d op %d: message %u of rank %u is from the future: it follows from op %d",
            p->replica, p->at, id, source, s->past[source][id].of[p->rank] - 1);
}

bool proc_is_there(const struct proc *p)
{
    return p->alive && !p->left && !p->stopped;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    struct proc *p = ctx;
    if (p->sim->plan->loud && why)
        printf("%6d: replica %d drops %d: %s\n", p->sim->step, p->replica, replica, why);
    p->sim->proc[replica].condemned = true;
    p->sim->wire[replica][p->replica].cut = true;
    p->sim->wire[replica][p->replica].spoils = false;
    p->sim->wire[p->replica][replica].cut = !why; /* else it has to hear of it */
    p->sim->wire[p->replica][replica].dropped = true;
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

/* A message between ranks that is made once, and says which it is. */
static bool is_known(const struct sim *s, int source, int to, size_t length, const uint8_t *bytes)
{
    if (!is_sound(s->plan) || source == to || length < MESSAGE_MIN)
        return false;
    return s->program[source].op[bytes_get_u32(bytes + 4)].times <= 1;
}

/* One of its receives has a message of that source, which the program has not waited for. */
static bool holds_from(const struct proc *p, int source)
{
    for (int i = 0; i < SLOTS; i++) {
        const struct engine_receive *r = &p->receive[i].r;
        if (p->open[i] && !p->is_send[i] && r->withheld &&
            (r->from == source || r->from == ENGINE_ANY_SOURCE))
            return true;
    }
    return false;
}

/* The program has seen the message, or waits for the receive that has it. */
static bool is_for_good(const struct sim *s, const struct proc *p, int source, uint32_t id)
{
    for (int i = 0; i < SLOTS; i++) {
        const struct proc_receive *own = &p->receive[i];
        if (p->open[i] && !p->is_send[i] && own->r.firm && own->r.done &&
            !own->r.status.cancelled && own->r.status.length >= MESSAGE_MIN &&
            bytes_get_u32(own->bytes) == (uint32_t)source && bytes_get_u32(own->bytes + 4) == id)
            return true;
    }
    return s->saw_by[p->lane][source][id] != 0;
}

/* By a replica of the receiver, most likely one that lives: one that has taken it for good, if
 * there is any. Which message it holds is not seen. */
static void learn(struct proc *p, int to, uint32_t id)
{
    struct sim *s = p->sim;
    uint64_t *learnt = &s->learnt[p->rank][id], found = 0;
    for (int k = 0; k < s->plan->lanes && found == 0; k++)
        if (replica_at(s, to, k)->alive && is_for_good(s, replica_at(s, to, k), p->rank, id))
            found = s->took[k][p->rank][id];
    const bool sure = found != 0;
    for (int k = 0; !sure && k < s->plan->lanes; k++) {
        const uint64_t posted = s->took[k][p->rank][id];
        if (posted == 0 && holds_from(replica_at(s, to, k), p->rank))
            return;
        found = posted != 0 ? posted : found;
        if (posted != 0 && replica_at(s, to, k)->alive)
            break;
    }
    if (found == 0)
        sim_broken(s, I9_DONE_IS_SO,
                   "replica %d: synchronous send %u is done, and nobody has taken it", p->replica,
                   id);
    *learnt = *learnt != 0 ? *learnt : found;
    if (*learnt == found) {
        s->learnt_by[p->rank][id] |= 1u << p->replica;
        s->learnt_at[p->replica][id] = p->frames;
    }
}

static void on_sent(void *ctx, struct engine_send *s)
{
    struct proc *p = ctx;
    const uint8_t *bytes = ((const struct proc_send *)s)->bytes;
    if (!s->done)
        sim_broken(p->sim, I9_DONE_IS_SO, "sent, but not done");
    if (s->data && net_is_exposed(p->sim, p->replica, s->data))
        sim_broken(p->sim, I9_DONE_IS_SO, "replica %d: sent, but still exposed", p->replica);
    if (s->synchronous && is_known(p->sim, p->rank, s->to, s->length, bytes))
        learn(p, s->to, bytes_get_u32(bytes + 4));
    if (((const struct proc_send *)s)->reply) {
        free(((struct proc_send *)s)->bytes);
        free(s);
    }
}

static void on_received(void *ctx, struct engine_receive *r)
{
    struct proc *p = ctx;
    struct sim *s = p->sim;
    const struct proc_receive *own = (const struct proc_receive *)r;
    const int source = r->status.source;
    if (!r->done)
        sim_broken(s, I9_DONE_IS_SO, "received, but not done");
    p->spoiled |= net_spoils(s, p, r);
    if (own == &p->window.request)
        window_heard(p);
    if (own == &p->window.request || own == &p->window.reply)
        return;
    if (!is_known(s, source, p->rank, r->status.length, own->bytes))
        return;
    s->took[p->lane][source][bytes_get_u32(own->bytes + 4)] = own->posted;
}

static const struct engine_callbacks callbacks = {.send = net_send,
                                                  .survives = net_survives,
                                                  .drained = net_drained,
                                                  .turn_ms = net_turn_ms,
                                                  .is_far = net_is_far,
                                                  .lost = on_lost,
                                                  .pack = on_pack,
                                                  .unpack = on_unpack,
                                                  .repack = on_repack,
                                                  .expose = net_expose,
                                                  .revoke = net_revoke,
                                                  .remote_read = net_remote_read,
                                                  .sent = on_sent,
                                                  .received = on_received,
                                                  .stop = on_stop};

/* Replicas of its rank that can do its work: not itself, nor one that is about to go. */
static int others_left(const struct sim *s, int replica)
{
    int n = s->plan->ranks, left = 0;
    for (int v = replica % n; v < s->procs; v += n) {
        const struct proc *p = &s->proc[v];
        left += v != replica && p->alive && !p->stopped && !p->frozen && !p->condemned;
    }
    return left;
}

static bool still_writes(const struct sim *s, int replica)
{
    for (int i = 0; i < s->procs; i++)
        if (s->wire[replica][i].count > 0)
            return true;
    return false;
}

/* Also a process that has said good-bye may die while its last frames leave. */
bool sim_may_kill(const struct sim *s, int replica)
{
    const struct proc *p = &s->proc[replica];
    if (!p->alive || p->stopped || (p->left && !still_writes(s, replica)))
        return false;
    return others_left(s, replica) > 0;
}

/* All others see the end of its links, some time. */
static void let_notice(struct sim *s, int replica)
{
    for (int i = 0; i < s->procs; i++) {
        net_cut(s, i, replica, 0);
        s->notices += i != replica && !s->notice[i][replica];
        s->notice[i][replica] |= i != replica;
    }
}

static void cut_tail(struct sim *s, int from, int to)
{
    const struct wire *w = &s->wire[from][to];
    net_cut(s, from, to, w->surviving + sim_below(s, w->count - w->surviving + 1));
}

/* A part of what it wrote last is lost. When all schedules are explored none is: a frame that comes
 * after the notice is as good as lost. */
void sim_kill(struct sim *s, int replica)
{
    struct proc *p = &s->proc[replica];
    show(p);
    p->alive = p->left = false;
    for (int i = 0; i < s->procs; i++)
        if (!s->plan->explored)
            cut_tail(s, replica, i);
    let_notice(s, replica);
    if (s->plan->loud)
        printf("%6d: replica %d dies\n", s->step, replica);
}

bool sim_notice(struct sim *s, int to, int of)
{
    struct proc *p = &s->proc[to];
    if (!s->notice[to][of] || p->frozen)
        return false;
    s->notice[to][of] = false;
    s->notices--;
    if (!proc_is_there(p))
        return false;
    engine_dead(p->engine, of);
    return true;
}

bool sim_run_proc(struct sim *s, int replica)
{
    struct proc *p = &s->proc[replica];
    int changed;
    if (!proc_is_there(p) || p->frozen)
        return false;
    changed = engine_progress(p->engine, s->now);
    if (p->stopped)
        return true;
    const bool runs = !p->done;
    if (runs)
        changed |= proc_step(p);
    show(p);
    if (runs)
        return changed;
    p->left = engine_finish(p->engine);
    if (s->plan->loud && p->left)
        printf("%6d: replica %d leaves\n", s->step, replica);
    return p->left || changed;
}

static void set_limits(struct sim *s)
{
    struct engine_limits *l = &s->limits;
    *l = engine_default_limits;
    l->eager = 128;
    l->fragment = 256;
    l->log = s->plan->log ? (size_t)s->plan->log : s->plan->tight ? 1500 : 1 << 20;
    l->cycle.first = CYCLE_FIRST;
    l->cycle.last = CYCLE_FIRST - CYCLE + 1;
    l->cycle.fixed_first = l->cycle.fixed_last = 0;
    l->cycle.window = s->plan->choices ? 3 : 16;
    l->lag_ms = 20;
    l->copy_rate = s->plan->explored || s->plan->seed % 2 ? 0 : 100 * 1000; /* a message at times */
    if (s->plan->explored || s->plan->seed / 4 % 2)
        l->copy_alone = 0;
    l->drop_after_ms = (uint32_t)s->plan->drop_after_ms;
    l->ack_messages = s->plan->explored ? 1 : 1 + (uint32_t)sim_below(s, 4);
    l->ack_delay_ms = 2;
    l->witness = s->plan->explored || s->plan->seed % 4 < 2 ? l->witness
                 : s->plan->seed % 4 == 2                   ? 0
                                                            : 64;
    l->lead = s->plan->explored || s->plan->seed % 3 ? l->lead : 64;
    l->verify = s->plan->verify;
}

static void draw_holes(struct sim *s, bool *alive)
{
    const struct plan *plan = s->plan;
    for (int v = 0; v < s->procs; v++)
        alive[v] = true;
    if (plan->holes)
        for (int r = 0; r < plan->ranks; r++)
            for (int k = 1 + sim_below(s, plan->lanes); k < plan->lanes; k++)
                alive[k * plan->ranks + r] = false;
}

void sim_begin(struct sim *s, const struct plan *plan)
{
    bool alive[MAX_PROCS];
    memset(s, 0, sizeof *s);
    s->plan = plan;
    s->procs = plan->ranks * plan->lanes;
    s->seed = mix64(plan->seed + 77);
    s->now = 1;
    program_make(s->program, plan);
    if (plan->loud)
        program_show(s->program, plan->ranks);
    net_begin(s);
    set_limits(s);
    draw_holes(s, alive);
    for (int v = 0; v < s->procs; v++) {
        struct proc *p = &s->proc[v];
        *p =
            (struct proc){.sim = s, .replica = v, .rank = v % plan->ranks, .lane = v / plan->ranks};
        p->alive = alive[v];
        p->program = &s->program[p->rank];
        if (!p->alive)
            continue;
        struct engine_limits limits = s->limits;
        if (sim_plants(s, I10_BOUNDED))
            limits.log *= 8;
        p->engine = engine_create(plan->ranks, plan->lanes, p->rank, p->lane, alive, &limits,
                                  &callbacks, p);
        engine_publish(p->engine, &p->commit);
        engine_rests(p->engine, (plan->seed + (uint64_t)v) % 2 == 0);
        proc_begin(p);
    }
}

void sim_end(struct sim *s)
{
    net_end(s);
    for (int v = 0; v < s->procs; v++) {
        proc_end(&s->proc[v]);
        engine_destroy(s->proc[v].engine);
    }
}

void sim_look_for_stop(struct sim *s)
{
    for (int v = 0; v < s->procs; v++) {
        struct proc *p = &s->proc[v];
        if (p->stopped && p->status != 0)
            sim_broken(s, I11_ALL_END, "replica %d stopped: %s", v, p->line);
        else if (p->stopped && p->alive)
            let_notice(s, v);
        p->alive &= !p->stopped;
    }
}

bool sim_is_over(const struct sim *s)
{
    for (int v = 0; v < s->procs; v++)
        if (proc_is_there(&s->proc[v]) && !s->proc[v].frozen)
            return false;
    return true;
}

/* Some process lives that may know of it: those that learnt it have not all died with it. */
static bool is_known_to_any(const struct sim *s, int rank, int id)
{
    for (int k = 0; k < s->plan->lanes; k++) {
        const struct proc *p = replica_at(s, rank, k);
        if (s->learnt_by[rank][id] >> p->replica & 1 &&
            (p->alive || p->left || p->frames > s->learnt_at[p->replica][id]))
            return true;
    }
    return false;
}

/* What a receiver had done before it took a message, when the sender learnt of that, stays so,
 * whichever of it dies. */
static void check_learnt(struct sim *s, const struct proc *p)
{
    for (int r = 0; r < s->plan->ranks; r++)
        for (int i = 0; i < MAX_OPS; i++) {
            const uint64_t learnt = s->learnt[r][i], saw = s->saw_by[p->lane][r][i];
            if (learnt != 0 && saw != 0 && saw != learnt && !s->undone[r][i] &&
                s->program[r].op[i].peer == p->rank && is_known_to_any(s, r, i))
                sim_broken(s, I9_DONE_IS_SO,
                           "replica %d took message %d in another way than rank %d has learnt",
                           p->replica, i, r);
        }
}

/* Of what lanes that are ahead make here, and of what is kept for those behind, logs are the bound.
 */
static void check_memory(struct sim *s, const struct proc *p)
{
    enum { OF_CHANNEL = 600, OF_COMM = 900 }; /* bytes of it with a copy, at least */
    const struct engine_counts *c = engine_counts(p->engine);
    const size_t log = s->limits.log, ranks = (size_t)s->plan->ranks;
    const size_t usual = 64 + 8 * (size_t)s->limits.cycle.window;
    if (c->missed > (size_t)p->glances)
        sim_broken(s, I1_ONE_ORDER, "replica %d read %zu clocks that its leader did not",
                   p->replica, (size_t)c->missed - (size_t)p->glances);
    if (c->log_peak > log)
        sim_broken(s, I10_BOUNDED, "replica %d: the log grew to %zu", p->replica, c->log_peak);
    if (c->channels_peak > ranks * usual + 2 * log / OF_CHANNEL)
        sim_broken(s, I10_BOUNDED, "replica %d: %zu channels at once", p->replica,
                   c->channels_peak);
    if (c->comms_peak > usual + log / OF_COMM)
        sim_broken(s, I10_BOUNDED, "replica %d: %zu communicators at once", p->replica,
                   c->comms_peak);
}

static void check_process(struct sim *s, const struct proc *p, const struct proc **first)
{
    const struct proc **f = &first[p->rank];
    if (!p->left)
        return;
    if (*f && (*f)->digest != p->digest)
        sim_broken(s, I12_ALIKE_OR_NOTHING, "rank %d: replica %d and replica %d ended differently",
                   p->rank, p->replica, (*f)->replica);
    if (p->spoiled || p->strayed)
        sim_broken(s, I12_ALIKE_OR_NOTHING, "replica %d ended well, with %s", p->replica,
                   p->spoiled ? "spoiled data" : "what no other lane has sent");
    check_learnt(s, p);
    check_memory(s, p);
    *f = p;
    for (int i = 0; i < MAX_OPS; i++)
        if (s->saw[p->rank][i] && s->made[p->replica][i] &&
            s->saw_digest[p->rank][i] != s->made_digest[p->replica][i])
            sim_broken(s, I1_ONE_ORDER, "replica %d made another message %d than was received",
                       p->replica, i);
}

void sim_check_end(struct sim *s)
{
    const struct proc *first[MAX_RANKS] = {NULL};
    for (int v = 0; v < s->procs; v++)
        check_process(s, &s->proc[v], first);
    for (int r = 0; r < s->plan->ranks; r++)
        if (!first[r])
            sim_broken(s, I11_ALL_END, "rank %d did not end", r);
}

void sim_tell_stuck(struct sim *s)
{
    char text[300];
    int at = 0;
    for (int v = 0; v < s->procs; v++) {
        const struct proc *p = &s->proc[v];
        at += snprintf(text + at, sizeof text - (size_t)at, " %d:%s%d/%d.%d", v,
                       !p->alive   ? "dead"
                       : p->left   ? "left"
                       : p->frozen ? "frozen"
                                   : "",
                       p->at, p->program->count, p->stage);
        if (at > 250)
            break;
    }
    sim_broken(s, I11_ALL_END, "stuck after %d steps:%s", s->step, text);
}
