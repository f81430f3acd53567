/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c -- ping, ask others to ping, suspect, declare. */
#include "group.h"
#include <assert.h>
#include <string.h>

enum {
    SLOW_MAX = 8,
    WATCHES = 8, /* pings on their way: the turn's own, and at those under suspicion */
    RELAYS = 16, /* pings in others' place */
    SENDS_MAX = GROUP_ACTIONS - 16,
};

struct member {
    struct part_peer peer;
    uint32_t incarnation;
    enum group_state state;
    uint8_t tell;     /* messages that shall still carry what is said of it */
    uint8_t accusers; /* who found it silent themselves: at most one more than must agree */
    struct id accused_by[GROUP_CONFIRMERS + 1];
    uint64_t suspected_us, dead_us; /* since when; when it will be declared */
    uint64_t reached_us;            /* its host acknowledged something under suspicion; 0: no */
};

struct watch {
    struct id target;
    uint32_t serial; /* 0: free */
    uint64_t started_us, due;
    bool helped; /* others were asked */
    uint8_t nacks_missing;
};

struct relay {
    struct part_peer asker;
    uint32_t asker_serial, serial; /* serial 0: free */
    uint64_t due;
};

struct group {
    uint64_t now; /* of the step that runs, like out */
    struct group_out *out;
    struct part_peer self;
    struct id job, submitter;
    uint64_t random;
    uint32_t serial, incarnation;
    uint8_t slow;      /* Lifeguard's local health, 0..8 */
    uint8_t tell_self; /* messages that shall still say that this peer lives */
    bool declared;
    uint64_t turn_due;
    unsigned at; /* in the order of pinging */
    struct watch watches[WATCHES];
    struct relay relays[RELAYS];
    unsigned room, count;
    struct member members[]; /* in an order that is shuffled after each round */
};

/* --- small things --- */

static uint64_t next_random(struct group *g) /* SplitMix64 */
{
    uint64_t z = g->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint32_t next_serial(struct group *g)
{
    if (++g->serial == 0)
        g->serial = 1;
    return g->serial;
}

static uint64_t stretched(const struct group *g, uint64_t us)
{
    return us * (1u + g->slow);
}

static void slower(struct group *g, int by)
{
    int slow = g->slow + by;
    g->slow = (uint8_t)(slow < 0 ? 0 : slow > SLOW_MAX ? SLOW_MAX : slow);
}

static struct member *find(const struct group *g, const struct id *id)
{
    for (unsigned i = 0; i < g->count; i++)
        if (id_equal(&g->members[i].peer.id, id))
            return (struct member *)&g->members[i];
    return NULL;
}

/* About three times log2 of the group: then all have heard it (SWIM, section 4.1). */
static uint8_t tellings(const struct group *g)
{
    unsigned n = 3;
    for (unsigned left = g->count + 1; left > 1; left /= 2)
        n += 3;
    return (uint8_t)n;
}

static void say(struct group *g, enum group_action_kind kind, const struct part_peer *peer)
{
    if (g->out->count == GROUP_ACTIONS)
        return; /* group_state_of() knows it all the same */
    g->out->action[g->out->count++] = (struct group_action){.kind = kind, .peer = *peer};
}

static uint8_t *room(const struct group *g)
{
    return g->out->bytes + g->out->used;
}

static size_t left(const struct group *g)
{
    return g->out->count < SENDS_MAX ? GROUP_OUT_BYTES - g->out->used : 0;
}

static void hand_out(struct group *g, enum group_action_kind kind, const struct part_peer *to,
                     size_t length)
{
    if (length == 0)
        return;
    const uint8_t *frame = room(g);
    say(g, kind, to);
    struct group_action *a = &g->out->action[g->out->count - 1];
    a->frame = frame;
    a->frame_length = (uint32_t)length;
    g->out->used += length;
}

static void send(struct group *g, const struct part_peer *to, size_t length)
{
    hand_out(g, GROUP_SEND, to, length);
}

static bool is_submitter(const struct group *g)
{
    return id_equal(&g->self.id, &g->submitter);
}

/* Is it for this peer to say that the member is dead? */
static bool decides(const struct group *g, const struct member *m)
{
    return is_submitter(g) || id_equal(&m->peer.id, &g->submitter);
}

/* --- rumours --- */

static struct part_rumor rumor_of(const struct member *m)
{
    struct part_rumor r = {
        .peer = m->peer.id, .incarnation = m->incarnation, .state = (uint8_t)m->state};
    if (m->accusers > 0)
        r.by = m->accused_by[m->tell % m->accusers]; /* each in turn */
    return r;
}

/* What this message carries: to a suspect first that it is suspected, then what was told least. */
static uint16_t gossip(struct group *g, const struct id *to, struct part_rumor *rumors)
{
    uint16_t n = 0;
    struct member *m = find(g, to);
    if (m != NULL && m->state != GROUP_ALIVE)
        rumors[n++] = rumor_of(m);
    if (g->tell_self > 0) {
        g->tell_self--;
        rumors[n++] = (struct part_rumor){.peer = g->self.id, .incarnation = g->incarnation};
    }
    struct member *told[GROUP_RUMORS];
    unsigned count = 0;
    for (uint8_t tell = tellings(g); tell > 0 && n < GROUP_RUMORS; tell--)
        for (unsigned i = 0; i < g->count && n < GROUP_RUMORS; i++) {
            if (g->members[i].tell != tell)
                continue;
            told[count++] = &g->members[i];
            rumors[n++] = rumor_of(&g->members[i]);
        }
    while (count > 0)
        told[--count]->tell--;
    return n;
}

static void ping(struct group *g, const struct part_peer *to, uint32_t serial)
{
    struct msg_group_ping m = {.job = g->job, .serial = serial};
    m.rumors_count = gossip(g, &to->id, m.rumors);
    send(g, to, message_put_group_ping(&m, room(g), left(g)));
}

static void ack(struct group *g, const struct part_peer *to, uint32_t serial)
{
    struct msg_group_ack m = {.job = g->job, .serial = serial};
    m.rumors_count = gossip(g, &to->id, m.rumors);
    send(g, to, message_put_group_ack(&m, room(g), left(g)));
}

/* --- watching --- */

static void watch(struct group *g, const struct member *m)
{
    struct watch *free = NULL;
    for (unsigned i = 0; i < WATCHES; i++) {
        struct watch *w = &g->watches[i];
        if (w->serial == 0)
            free = w;
        else if (id_equal(&w->target, &m->peer.id))
            return;
    }
    if (free == NULL)
        return;
    *free = (struct watch){.target = m->peer.id,
                           .serial = next_serial(g),
                           .started_us = g->now,
                           .due = g->now + stretched(g, GROUP_PING_US)};
    ping(g, &m->peer, free->serial);
}

static void ask_for_help(struct group *g, struct watch *w)
{
    struct msg_group_ping_for m = {.job = g->job, .serial = w->serial, .target = w->target};
    unsigned start = g->count > 0 ? (unsigned)(next_random(g) % g->count) : 0;
    for (unsigned i = 0; i < g->count && w->nacks_missing < GROUP_HELPERS; i++) {
        const struct member *helper = &g->members[(start + i) % g->count];
        if (helper->state != GROUP_ALIVE || id_equal(&helper->peer.id, &w->target))
            continue;
        m.rumors_count = gossip(g, &helper->peer.id, m.rumors);
        send(g, &helper->peer, message_put_group_ping_for(&m, room(g), left(g)));
        w->nacks_missing++;
    }
    w->helped = true;
    w->due = w->started_us + stretched(g, GROUP_PERIOD_US);
    if (w->due < g->now + GROUP_PING_US)
        w->due = g->now + GROUP_PING_US;
}

/* --- what is known of a member --- */

/* Lifeguard: the time shrinks with the logarithm of those who agree. In so small a group that
 * nobody else can agree, it is the shortest at once. */
static uint64_t suspicion_us(const struct group *g, const struct member *m)
{
    static const unsigned share[GROUP_CONFIRMERS + 1] = {1000, 369, 0}; /* 1 - log(c+1)/log(3) */
    unsigned others = 0;
    for (unsigned i = 0; i < g->count; i++)
        others += g->members[i].state == GROUP_ALIVE;
    unsigned agree = m->accusers > 0 ? m->accusers - 1u : 0;
    unsigned needed = others < GROUP_CONFIRMERS ? others : GROUP_CONFIRMERS;
    unsigned c = agree < needed ? GROUP_CONFIRMERS - (needed - agree) : GROUP_CONFIRMERS;
    return stretched(g, GROUP_SUSPECT_US + (GROUP_DOUBT_US - GROUP_SUSPECT_US) / 1000u * share[c]);
}

static void set_dead_time(struct group *g, struct member *m)
{
    uint64_t spared = m->reached_us + stretched(g, GROUP_SUSPECT_US);
    if (spared > m->suspected_us + GROUP_STALLED_US)
        spared = m->suspected_us + GROUP_STALLED_US;
    m->dead_us = m->suspected_us + suspicion_us(g, m);
    if (m->reached_us != 0 && m->dead_us < spared)
        m->dead_us = spared;
}

/* A host answers for itself, also when its daemon is stopped or waits for its turn. */
static void probe(struct group *g, const struct member *m)
{
    struct msg_group_ping ping = {.job = g->job};
    ping.rumors_count = gossip(g, &m->peer.id, ping.rumors);
    hand_out(g, GROUP_PROBE, &m->peer, message_put_group_ping(&ping, room(g), left(g)));
}

static void reached(struct group *g, struct member *m)
{
    m->reached_us = g->now;
    set_dead_time(g, m);
    probe(g, m); /* and in a while? */
}

static void declare(struct group *g, struct member *m)
{
    m->state = GROUP_DEAD;
    m->tell = tellings(g);
    say(g, GROUP_DECLARED, &m->peer);
}

static void confirm(struct group *g, struct member *m, const struct id *by)
{
    if (m->accusers > GROUP_CONFIRMERS || id_equal(by, &m->peer.id))
        return;
    for (unsigned i = 0; i < m->accusers; i++)
        if (id_equal(&m->accused_by[i], by))
            return;
    m->accused_by[m->accusers++] = *by;
    m->tell = tellings(g);
    set_dead_time(g, m);
}

/* By this peer, or because `by` says so. Its own word starts the time, others' words shorten it. */
static void suspect(struct group *g, struct member *m, uint32_t incarnation, const struct id *by)
{
    if (m->state == GROUP_DEAD || incarnation < m->incarnation)
        return;
    if (m->state == GROUP_SUSPECTED && incarnation == m->incarnation) {
        confirm(g, m, by);
        return;
    }
    m->state = GROUP_SUSPECTED;
    m->incarnation = incarnation;
    m->tell = tellings(g);
    m->accusers = 0;
    m->suspected_us = g->now;
    m->reached_us = 0;
    confirm(g, m, by);
    say(g, GROUP_DOUBTED, &m->peer);
    if (is_submitter(g))
        probe(g, m);
    if (!id_equal(by, &g->self.id))
        watch(g, m); /* is it so? */
}

static void trust(struct group *g, struct member *m, uint32_t incarnation)
{
    if (m->state == GROUP_DEAD || incarnation <= m->incarnation)
        return;
    if (m->state == GROUP_SUSPECTED)
        say(g, GROUP_TRUSTED, &m->peer);
    m->state = GROUP_ALIVE;
    m->incarnation = incarnation;
    m->tell = tellings(g);
}

static void about_self(struct group *g, const struct part_rumor *r)
{
    if (r->state == GROUP_DEAD && !g->declared) {
        g->declared = true;
        say(g, GROUP_DECLARED, &g->self);
    }
    if (r->state != GROUP_SUSPECTED || r->incarnation < g->incarnation)
        return;
    g->incarnation = r->incarnation + 1; /* only the suspect itself may say no */
    g->tell_self = tellings(g);
    slower(g, 1);
}

static void hear(struct group *g, const struct part_rumor *r)
{
    struct member *m = find(g, &r->peer);
    if (id_equal(&r->peer, &g->self.id))
        about_self(g, r);
    if (m == NULL || m->state == GROUP_DEAD)
        return;
    if (r->state == GROUP_DEAD && !is_submitter(g))
        declare(g, m);
    else if (r->state == GROUP_SUSPECTED)
        suspect(g, m, r->incarnation, &r->by);
    else if (r->state == GROUP_ALIVE)
        trust(g, m, r->incarnation);
}

static void hear_all(struct group *g, const struct part_rumor *rumors, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hear(g, &rumors[i]);
}

/* --- messages --- */

static void answered(struct group *g, uint32_t serial)
{
    for (unsigned i = 0; serial != 0 && i < WATCHES; i++)
        if (g->watches[i].serial == serial) {
            g->watches[i].serial = 0;
            slower(g, -1);
        }
    for (unsigned i = 0; serial != 0 && i < RELAYS; i++)
        if (g->relays[i].serial == serial) {
            ack(g, &g->relays[i].asker, g->relays[i].asker_serial);
            g->relays[i].serial = 0;
        }
}

static void on_ping_for(struct group *g, const struct part_peer *from,
                        const struct msg_group_ping_for *m)
{
    const struct member *target = find(g, &m->target);
    for (unsigned i = 0; target != NULL && i < RELAYS; i++) {
        struct relay *r = &g->relays[i];
        if (r->serial != 0)
            continue;
        *r = (struct relay){.asker = *from,
                            .asker_serial = m->serial,
                            .serial = next_serial(g),
                            .due = g->now + GROUP_PING_US * 4 / 5};
        ping(g, &target->peer, r->serial);
        return;
    }
}

static void on_nack(struct group *g, uint32_t serial)
{
    for (unsigned i = 0; serial != 0 && i < WATCHES; i++)
        if (g->watches[i].serial == serial && g->watches[i].nacks_missing > 0)
            g->watches[i].nacks_missing--;
}

const struct id *group_job(const struct message *m)
{
    switch ((int)m->kind) {
    case MSG_group_ping:
        return &m->group_ping.job;
    case MSG_group_ack:
        return &m->group_ack.job;
    case MSG_group_ping_for:
        return &m->group_ping_for.job;
    case MSG_group_nack:
        return &m->group_nack.job;
    }
    return NULL;
}

static void message(struct group *g, const struct part_peer *from, const struct message *m)
{
    const struct id *job = group_job(m);
    struct member *sender = find(g, &from->id);
    if (job == NULL || !id_equal(job, &g->job) || sender == NULL)
        return;
    if (from->addr.port != 0)
        sender->peer.addr = from->addr;
    switch ((int)m->kind) {
    case MSG_group_ping:
        hear_all(g, m->group_ping.rumors, m->group_ping.rumors_count);
        ack(g, &sender->peer, m->group_ping.serial);
        break;
    case MSG_group_ack:
        hear_all(g, m->group_ack.rumors, m->group_ack.rumors_count);
        answered(g, m->group_ack.serial);
        break;
    case MSG_group_ping_for:
        hear_all(g, m->group_ping_for.rumors, m->group_ping_for.rumors_count);
        on_ping_for(g, &sender->peer, &m->group_ping_for);
        break;
    case MSG_group_nack:
        on_nack(g, m->group_nack.serial);
        break;
    }
}

/* --- time --- */

static void shuffle(struct group *g)
{
    for (unsigned i = g->count; i > 1; i--) {
        unsigned k = (unsigned)(next_random(g) % i);
        struct member m = g->members[i - 1];
        g->members[i - 1] = g->members[k];
        g->members[k] = m;
    }
}

/* Everyone once in each round, in an order of its own: so a silent one is found in bounded time. */
static void take_turn(struct group *g)
{
    g->turn_due = g->now + stretched(g, GROUP_PERIOD_US);
    for (unsigned tries = 0; tries < g->count; tries++) {
        if (g->at >= g->count) {
            shuffle(g);
            g->at = 0;
        }
        const struct member *m = &g->members[g->at++];
        if (m->state == GROUP_DEAD)
            continue;
        watch(g, m);
        return;
    }
}

static void watch_due(struct group *g, struct watch *w)
{
    if (!w->helped) {
        ask_for_help(g, w);
        return;
    }
    struct member *m = find(g, &w->target);
    slower(g, w->nacks_missing); /* the helpers are silent too: is it this peer that is deaf? */
    w->serial = 0;
    if (m == NULL)
        return;
    suspect(g, m, m->incarnation, &g->self.id);
    const struct member *submitter = find(g, &g->submitter);
    if (submitter != NULL && submitter != m)
        watch(g, submitter); /* the ping tells it at once */
}

static void relay_due(struct group *g, struct relay *r)
{
    const struct msg_group_nack m = {.job = g->job, .serial = r->asker_serial};
    send(g, &r->asker, message_put_group_nack(&m, room(g), left(g)));
    r->serial = 0;
}

/* Called so late that answers may well lie unread: nobody is blamed, this peer doubts itself. */
static void overslept(struct group *g, uint64_t late)
{
    slower(g, 1);
    for (unsigned i = 0; i < WATCHES; i++)
        g->watches[i].due += late + GROUP_PING_US;
    for (unsigned i = 0; i < g->count; i++)
        g->members[i].dead_us += late + GROUP_PING_US;
}

static bool dies(const struct group *g, const struct member *m)
{
    return m->state == GROUP_SUSPECTED && decides(g, m);
}

static void tick(struct group *g)
{
    uint64_t due = group_deadline(g);
    if (due < g->now && g->now - due > GROUP_PING_US)
        overslept(g, g->now - due);
    for (unsigned i = 0; i < RELAYS; i++)
        if (g->relays[i].serial != 0 && g->relays[i].due <= g->now)
            relay_due(g, &g->relays[i]);
    for (unsigned i = 0; i < WATCHES; i++)
        if (g->watches[i].serial != 0 && g->watches[i].due <= g->now)
            watch_due(g, &g->watches[i]);
    for (unsigned i = 0; i < g->count; i++)
        if (dies(g, &g->members[i]) && g->members[i].dead_us <= g->now &&
            g->out->count < GROUP_ACTIONS)
            declare(g, &g->members[i]);
    if (g->turn_due <= g->now)
        take_turn(g);
}

uint64_t group_deadline(const struct group *g)
{
    uint64_t due = g->turn_due;
    for (unsigned i = 0; i < WATCHES; i++)
        if (g->watches[i].serial != 0 && g->watches[i].due < due)
            due = g->watches[i].due;
    for (unsigned i = 0; i < RELAYS; i++)
        if (g->relays[i].serial != 0 && g->relays[i].due < due)
            due = g->relays[i].due;
    for (unsigned i = 0; i < g->count; i++)
        if (dies(g, &g->members[i]) && g->members[i].dead_us < due)
            due = g->members[i].dead_us;
    return due;
}

/* --- from outside --- */

size_t group_size(const struct group_setup *setup)
{
    return sizeof(struct group) + setup->members * sizeof(struct member);
}

struct group *group_init(void *memory, const struct group_setup *setup, uint64_t now_us)
{
    assert(setup->members <= GROUP_MEMBERS_MAX);
    memset(memory, 0, group_size(setup));
    struct group *g = memory;
    g->self = setup->self;
    g->job = setup->job;
    g->submitter = setup->submitter;
    g->random = setup->seed;
    g->room = setup->members;
    g->now = now_us;
    g->turn_due = now_us + next_random(g) % GROUP_PERIOD_US;
    return g;
}

unsigned group_members(const struct group *g)
{
    return g->count;
}

struct group *group_move(void *memory, unsigned members, const struct group *group)
{
    assert(members >= group->count && members <= GROUP_MEMBERS_MAX);
    struct group *g = memory;
    memcpy(g, group, sizeof *g + group->count * sizeof g->members[0]);
    g->room = members;
    return g;
}

static void add(struct group *g, const struct part_peer *peer)
{
    if (g->count == g->room || id_equal(&peer->id, &g->self.id) || find(g, &peer->id) != NULL)
        return;
    unsigned i = (unsigned)(next_random(g) % (g->count + 1)); /* an order unlike the others' */
    g->members[g->count++] = g->members[i];
    g->members[i] = (struct member){.peer = *peer};
}

static void remove_member(struct group *g, const struct id *id)
{
    struct member *m = find(g, id);
    if (m != NULL)
        *m = g->members[--g->count];
    for (unsigned i = 0; i < WATCHES; i++)
        if (id_equal(&g->watches[i].target, id))
            g->watches[i].serial = 0;
}

void group_step(struct group *g, const struct group_event *event, uint64_t now_us,
                struct group_out *out)
{
    out->count = 0;
    out->used = 0;
    g->out = out;
    g->now = now_us > g->now ? now_us : g->now;
    struct member *m = find(g, &event->peer.id);
    switch (event->kind) {
    case GROUP_TICK:
        break;
    case GROUP_MESSAGE:
        message(g, &event->peer, event->message);
        break;
    case GROUP_ADD:
        add(g, &event->peer);
        break;
    case GROUP_REMOVE:
        remove_member(g, &event->peer.id);
        break;
    case GROUP_UNREACHABLE:
        if (m != NULL && m->state == GROUP_ALIVE)
            watch(g, m);
        break;
    case GROUP_REACHED:
        if (m != NULL && m->state == GROUP_SUSPECTED)
            reached(g, m);
        break;
    }
    tick(g);
    g->out = NULL;
}

bool group_state_of(const struct group *g, const struct id *peer, enum group_state *state)
{
    const struct member *m = find(g, peer);
    if (m != NULL)
        *state = m->state;
    return m != NULL;
}

unsigned group_slowness(const struct group *g)
{
    return g->slow;
}
