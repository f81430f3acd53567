/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c -- frames to other replicas. It calls the transport, and nothing above it.
 *
 * The first frame on a link is preceded by all deaths that this process knows of. A process that
 * gets a message that follows from another's work in a dead replica's place has thus heard of that
 * death before (doc/replication.md, section 8). Each frame is preceded by the decisions that it may
 * depend on, unless all who need them are known to hold them (witness.c). */
#include "state.h"

int link_write(struct engine *e, int to, const struct header *h, const void *payload, void *cookie)
{
    uint8_t bytes[HEADER_BYTES];
    header_write(bytes, h);
    return e->call.send(e->ctx, to, bytes, payload, h->length, cookie);
}

void link_put_death(struct engine *e, int to, int dead)
{
    uint8_t payload[4];
    const struct header h = {.kind = HEADER_DEAD,
                             .length = sizeof payload,
                             .extent = (e->link[dead].outvoted ? HEADER_OUTVOTED : 0) |
                                       (e->link[dead].why ? HEADER_DECLARED : 0)};
    if (e->link[to].dead)
        return;
    bytes_put_u32(payload, (uint32_t)dead);
    link_write(e, to, &h, payload, NULL);
}

static void link_put_deaths(struct engine *e, int to)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].dead && i != to)
            link_put_death(e, to, i);
}

static bool is_of_program(uint8_t kind)
{
    return kind != HEADER_DEAD && (kind < HEADER_PING || kind == HEADER_DONE);
}

void link_meet_first(struct engine *e, int replica, uint8_t kind)
{
    struct link *link = &e->link[replica];
    const bool first = !link->used && kind != HEADER_DEAD;
    link->used |= first;
    link->met |= is_of_program(kind);
    if (first && e->counts.deaths > 0)
        link_put_deaths(e, replica);
}

int link_put(struct engine *e, int to, const struct header *h, const void *payload, void *cookie)
{
    return link_begin(e, to, h->kind) ? link_write(e, to, h, payload, cookie) : 1;
}

void link_ask(struct engine *e, int to, const struct header *h, const void *payload)
{
    e->link[to].unmet |= !e->link[to].used;
    link_put(e, to, h, payload, NULL);
}
