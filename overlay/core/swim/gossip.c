/* SPDX-License-Identifier: BSD-3-Clause */
/* gossip.c -- the messages of a group's member, each with rumours, and its actions for the caller.
 */
#include "group_state.h"

/* About three times log2 of the group's size: then all members have heard it (SWIM, section 4.1).
 */
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

static uint8_t *gossip_room(const struct group *g)
{
    return g->out->bytes + g->out->used;
}

static size_t gossip_left(const struct group *g)
{
    return g->out->count < SENDS_MAX ? GROUP_OUT_BYTES - g->out->used : 0;
}

static void gossip_hand_out(struct group *g, enum group_action_kind kind,
                            const struct part_peer *to, size_t length)
{
    if (length == 0)
        return;
    const uint8_t *frame = gossip_room(g);
    gossip_say(g, kind, to);
    struct group_action *a = &g->out->action[g->out->count - 1];
    a->frame = frame;
    a->frame_length = (uint32_t)length;
    g->out->used += length;
}

static void gossip_send(struct group *g, const struct part_peer *to, size_t length)
{
    gossip_hand_out(g, GROUP_SEND, to, length);
}

static struct part_rumor rumor_of(const struct group *g, const struct group_member *m)
{
    struct part_rumor r = {
        .peer = m->peer.id, .incarnation = m->incarnation, .state = (uint8_t)m->state};
    if (m->accusers > 0)
        r.by = m->accused_by[0];
    for (unsigned i = 0; i < m->accusers; i++) /* what this peer has seen itself counts most */
        if (id_equal(&m->accused_by[i], &g->self.id))
            r.by = g->self.id;
    return r;
}

/* The rumours of this message: a suspect first learns that it is suspected, then follow the rumours
 * told least often. */
static uint16_t gossip_gossip(struct group *g, const struct id *to, struct part_rumor *rumors)
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
    m.rumors_count = gossip_gossip(g, &to->id, m.rumors);
    gossip_send(g, to, message_put_group_ping(&m, gossip_room(g), gossip_left(g)));
}

void gossip_ack(struct group *g, const struct part_peer *to, uint32_t serial)
{
    struct msg_group_ack m = {.job = g->job, .serial = serial};
    m.rumors_count = gossip_gossip(g, &to->id, m.rumors);
    gossip_send(g, to, message_put_group_ack(&m, gossip_room(g), gossip_left(g)));
}

void gossip_ping_for(struct group *g, const struct part_peer *to, struct msg_group_ping_for *m)
{
    m->rumors_count = gossip_gossip(g, &to->id, m->rumors);
    gossip_send(g, to, message_put_group_ping_for(m, gossip_room(g), gossip_left(g)));
}

void gossip_nack(struct group *g, const struct part_peer *to, uint32_t serial)
{
    const struct msg_group_nack m = {.job = g->job, .serial = serial};
    gossip_send(g, to, message_put_group_nack(&m, gossip_room(g), gossip_left(g)));
}

/* The kernel of the host acknowledges this even when the daemon there is stopped or starved. */
void gossip_probe(struct group *g, const struct group_member *m)
{
    struct msg_group_ping ping = {.job = g->job};
    ping.rumors_count = gossip_gossip(g, &m->peer.id, ping.rumors);
    gossip_hand_out(g, GROUP_PROBE, &m->peer,
                    message_put_group_ping(&ping, gossip_room(g), gossip_left(g)));
}
