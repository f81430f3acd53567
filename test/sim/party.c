/* SPDX-License-Identifier: BSD-3-Clause */
/* party.c -- a wheel of milliseconds turns; members get what is due, when their host lets them run.
 */
#include "party.h"
#include "overlay/base/random.h"
#include <stdlib.h>
#include <string.h>

enum { WHEEL = 4096, MS = 1000, PROBE_MS = 20, RESEND_MS = 200 };

struct letter {
    struct letter *next;
    unsigned from, to;
    size_t length;
    uint8_t frame[];
};

struct guest {
    struct group *group;
    struct letter *inbox, **last; /* arrived, not yet read */
    uint64_t due_us;              /* of its group */
    uint64_t cut_us, runs_again_us, declared_last_us;
    uint64_t reached_us[PARTY_MAX]; /* when that host will have acknowledged a probe; 0: none */
    unsigned declared_by;
    bool busy;
};

struct party {
    struct party_setup setup;
    uint64_t now, random, messages, bytes;
    unsigned false_deaths;
    struct guest guests[PARTY_MAX];
    struct letter *wheel[WHEEL];
    struct group_out out;
    struct message message;
};

static uint64_t next_random(struct party *p)
{
    return splitmix64(&p->random);
}

static struct part_peer address(unsigned i)
{
    struct part_peer peer = {.addr = {.port = 7117}};
    peer.id.b[0] = (uint8_t)(i * 37);
    peer.id.b[1] = (uint8_t)i;
    peer.addr.ip[15] = (uint8_t)i;
    return peer;
}

static void post(struct party *p, unsigned from, const struct group_action *a)
{
    unsigned to = a->peer.addr.ip[15];
    p->messages++;
    p->bytes += a->frame_length;
    if (p->guests[from].cut_us != 0 || p->guests[to].cut_us != 0 ||
        next_random(p) % 1000 < p->setup.lost_permille)
        return;
    uint64_t delay = p->setup.latency_us + next_random(p) % (p->setup.latency_us + 1);
    uint64_t at = (p->now + delay) / MS + 1;
    struct letter *l = malloc(sizeof *l + a->frame_length);
    if (l == NULL)
        abort();
    *l = (struct letter){
        .next = p->wheel[at % WHEEL], .from = from, .to = to, .length = a->frame_length};
    memcpy(l->frame, a->frame, a->frame_length);
    p->wheel[at % WHEEL] = l;
}

static void declared(struct party *p, unsigned by, const struct part_peer *peer)
{
    struct guest *dead = &p->guests[peer->addr.ip[15]];
    if (p->guests[by].cut_us != 0)
        return; /* it was cut off, and considers the others dead */
    if (dead->cut_us == 0) {
        p->false_deaths++;
        return;
    }
    dead->declared_by++;
    dead->declared_last_us = p->now;
}

/* A kernel acknowledges at once, even while its daemon is starved. */
static void probe(struct party *p, unsigned from, unsigned to)
{
    uint64_t ms = PROBE_MS + (next_random(p) % 1000 < p->setup.lost_permille ? RESEND_MS : 0);
    if (p->guests[from].cut_us == 0 && p->guests[to].cut_us == 0)
        p->guests[from].reached_us[to] = p->now + 2 * p->setup.latency_us + ms * MS;
}

static void take(struct party *p, unsigned i, const struct group_event *event)
{
    group_step(p->guests[i].group, event, p->now, &p->out);
    for (unsigned k = 0; k < p->out.count; k++) {
        const struct group_action *a = &p->out.action[k];
        if (a->kind == GROUP_SEND)
            post(p, i, a);
        else if (a->kind == GROUP_PROBE)
            probe(p, i, a->peer.addr.ip[15]);
        else if (a->kind == GROUP_DECLARED)
            declared(p, i, &a->peer);
    }
    p->guests[i].due_us = group_deadline(p->guests[i].group);
}

static void step(struct party *p, unsigned i, const struct group_event *event)
{
    struct guest *guest = &p->guests[i];
    for (unsigned k = 0; k < p->setup.members; k++)
        if (guest->reached_us[k] != 0 && guest->reached_us[k] <= p->now) {
            guest->reached_us[k] = 0;
            take(p, i, &(struct group_event){.kind = GROUP_REACHED, .peer = address(k)});
        }
    take(p, i, event);
}

struct party *party_new(const struct party_setup *setup)
{
    struct party *p = calloc(1, sizeof *p);
    if (p == NULL || setup->members > PARTY_MAX)
        abort();
    p->setup = *setup;
    p->random = setup->seed;
    p->now = MS;
    for (unsigned i = 0; i < setup->members; i++) {
        struct group_setup g = {.self = address(i),
                                .submitter = address(0).id,
                                .seed = next_random(p),
                                .members = setup->members};
        struct guest *guest = &p->guests[i];
        guest->group = group_init(malloc(group_size(&g)), &g, p->now);
        guest->last = &guest->inbox;
        guest->busy = next_random(p) % 1000 < setup->busy_permille;
    }
    for (unsigned i = 0; i < setup->members; i++)
        for (unsigned k = 0; k < setup->members; k++)
            step(p, i, &(struct group_event){.kind = GROUP_ADD, .peer = address(k)});
    return p;
}

static void free_letters(struct letter *l)
{
    while (l != NULL) {
        struct letter *next = l->next;
        free(l);
        l = next;
    }
}

void party_free(struct party *p)
{
    for (unsigned i = 0; i < p->setup.members; i++) {
        free(p->guests[i].group);
        free_letters(p->guests[i].inbox);
    }
    for (unsigned i = 0; i < WHEEL; i++)
        free_letters(p->wheel[i]);
    free(p);
}

/* The daemon of a busy host runs for a few milliseconds, and then waits for the processor. */
static bool runs(struct party *p, struct guest *guest)
{
    if (!guest->busy || p->setup.pause_ms == 0)
        return true;
    if (guest->runs_again_us > p->now)
        return false;
    if (next_random(p) % 4 == 0)
        guest->runs_again_us = p->now + next_random(p) % (p->setup.pause_ms * MS);
    return true;
}

static void run(struct party *p, unsigned i)
{
    struct guest *guest = &p->guests[i];
    if (!runs(p, guest))
        return;
    struct letter *l = guest->inbox;
    guest->inbox = NULL;
    guest->last = &guest->inbox;
    for (struct letter *m = l; m != NULL; m = m->next) {
        if (!message_decode(&p->message, m->frame, m->length) ||
            message_receiver(p->message.kind) != RECEIVER_group)
            abort(); /* a daemon would hand it to another part (dispatch.c) */
        step(p, i,
             &(struct group_event){
                 .kind = GROUP_MESSAGE, .peer = address(m->from), .message = &p->message});
    }
    free_letters(l);
    if (guest->due_us <= p->now)
        step(p, i, &(struct group_event){.kind = GROUP_TICK});
}

static void arrive(struct party *p)
{
    struct letter **slot = &p->wheel[p->now / MS % WHEEL], *l = *slot;
    *slot = NULL;
    while (l != NULL) {
        struct letter *next = l->next;
        struct guest *to = &p->guests[l->to];
        l->next = NULL;
        *to->last = l;
        to->last = &l->next;
        l = next;
    }
}

void party_wait(struct party *p, uint64_t us)
{
    for (uint64_t until = p->now + us; p->now < until; p->now += MS) {
        arrive(p);
        for (unsigned i = 0; i < p->setup.members; i++)
            if (p->guests[i].inbox != NULL || p->guests[i].due_us <= p->now)
                run(p, i);
    }
}

void party_cut(struct party *p, unsigned member)
{
    p->guests[member].cut_us = p->now;
}

uint64_t party_detected_us(const struct party *p, unsigned member)
{
    const struct guest *guest = &p->guests[member];
    unsigned others = 0;
    for (unsigned i = 0; i < p->setup.members; i++)
        others += p->guests[i].cut_us == 0;
    return guest->declared_by < others ? 0 : guest->declared_last_us - guest->cut_us;
}

unsigned party_false_deaths(const struct party *p)
{
    return p->false_deaths;
}

uint64_t party_messages(const struct party *p)
{
    return p->messages;
}

uint64_t party_bytes(const struct party *p)
{
    return p->bytes;
}
