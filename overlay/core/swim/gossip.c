/* SPDX-License-Identifier: BSD-3-Clause */
/* gossip.c -- what a group's member says: to the others, with rumours on each message, and to its
 * caller. */
#include "group_state.h"

/* About three times log2 of the group: then all have heard it (SWIM, section 4.1). */
uint8_t gossip_tellings(const struct group *g)
{
    unsigned n = 3;
    for (unsigned left = g->count + 1; left > 1; left /= 2)
        n += 3;
    return (uint8_t)n;
}

void gossip_say(struct group *g, enum group_action_kind kind, const struct part_peer *peer)
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
    gossip_say(g, kind, to);
    struct group_action *a = &g->out->action[g->out->count - 1];
    a->frame = frame;
    a->frame_length = (uint32_t)length;
    g->out->used += length;
}

static void send(struct group *g, const struct part_peer *to, size_t length)
{
    hand_out(g, GROUP_SEND, to, length);
}

static struct part_rumor rumor_of(const struct group *g, const struct group_member *m)
{
    struct part_rumor r = {
        .peer = m->peer.id, .incarnation = m->incarnation, .state = (uint8_t)m->state};
    if (m->accusers > 0)
        r.by = m->accused_by[0];
    for (unsigned i = 0; i < m->accusers; i++) /* what it has seen itself is what counts */
        if (id_equal(&m->accused_by[i], &g->self.id))
            r.by = g->self.id;
    return r;
}

/* What this message carries: to a suspect first that it is suspected, then what was told least. */
static uint16_t gossip(struct group *g, const struct id *to, struct part_rumor *rumors)
{
    uint16_t n = 0;
    struct group_member *m = group_find(g, to);
    if (m != NULL && m->state != GROUP_ALIVE)
        rumors[n++] = rumor_of(g, m);
    if (g->tell_self > 0) {
        g->tell_self--;
        rumors[n++] = (struct part_rumor){.peer = g->self.id, .incarnation = g->incarnation};
    }
    struct group_member *told[GROUP_RUMORS];
    unsigned count = 0;
    for (uint8_t tell = gossip_tellings(g); tell > 0 && n < GROUP_RUMORS; tell--)
        for (unsigned i = 0; i < g->count && n < GROUP_RUMORS; i++) {
            if (g->members[i].tell != tell)
                continue;
            told[count++] = &g->members[i];
            rumors[n++] = rumor_of(g, &g->members[i]);
        }
    while (count > 0)
        told[--count]->tell--;
    return n;
}

void gossip_ping(struct group *g, const struct part_peer *to, uint32_t serial)
{
    struct msg_group_ping m = {.job = g->job, .serial = serial};
    m.rumors_count = gossip(g, &to->id, m.rumors);
    send(g, to, message_put_group_ping(&m, room(g), left(g)));
}

void gossip_ack(struct group *g, const struct part_peer *to, uint32_t serial)
{
    struct msg_group_ack m = {.job = g->job, .serial = serial};
    m.rumors_count = gossip(g, &to->id, m.rumors);
    send(g, to, message_put_group_ack(&m, room(g), left(g)));
}

void gossip_ping_for(struct group *g, const struct part_peer *to, struct msg_group_ping_for *m)
{
    m->rumors_count = gossip(g, &to->id, m->rumors);
    send(g, to, message_put_group_ping_for(m, room(g), left(g)));
}

void gossip_nack(struct group *g, const struct part_peer *to, uint32_t serial)
{
    const struct msg_group_nack m = {.job = g->job, .serial = serial};
    send(g, to, message_put_group_nack(&m, room(g), left(g)));
}

/* A host answers for itself, also when its daemon is stopped or waits for its turn. */
void gossip_probe(struct group *g, const struct group_member *m)
{
    struct msg_group_ping ping = {.job = g->job};
    ping.rumors_count = gossip(g, &m->peer.id, ping.rumors);
    hand_out(g, GROUP_PROBE, &m->peer, message_put_group_ping(&ping, room(g), left(g)));
}
