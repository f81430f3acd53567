/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c -- a member of a job that says anything at all: the group stays within its memory, and
 * what is dead stays dead. */
#include "overlay/core/swim/group.h"
#include "script.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct part_peer peer(unsigned n)
{
    struct part_peer p = {.addr = {.port = 7117}};
    p.id.b[0] = (uint8_t)(n % 16);
    return p;
}

/* Fields, not bytes: every message is well formed and of this job, and most are about its members.
 */
static void read_message(struct script *s, struct message *m)
{
    static const enum message_kind kinds[] = {MSG_group_ping, MSG_group_ack, MSG_group_ping_for,
                                              MSG_group_nack};
    memset(m, 0, sizeof m->kind + sizeof m->group_ping_for);
    m->kind = kinds[script_next(s) % 4];
    uint32_t serial = script_next(s) % 32;
    struct part_rumor rumors[GROUP_RUMORS] = {0};
    uint16_t count = (uint16_t)(script_next(s) % (GROUP_RUMORS + 1));
    for (unsigned i = 0; i < count; i++) {
        rumors[i].peer = peer(script_next(s)).id;
        rumors[i].by = peer(script_next(s)).id;
        rumors[i].incarnation = script_next(s) == 255 ? UINT32_MAX : script_next(s);
        rumors[i].state = (uint8_t)script_next(s);
    }
    if (m->kind == MSG_group_ping || m->kind == MSG_group_ack) {
        m->group_ping.serial = serial; /* the two look alike */
        m->group_ping.rumors_count = count;
        memcpy(m->group_ping.rumors, rumors, sizeof rumors);
    } else if (m->kind == MSG_group_ping_for) {
        m->group_ping_for.serial = serial;
        m->group_ping_for.target = peer(script_next(s)).id;
        m->group_ping_for.rumors_count = count;
        memcpy(m->group_ping_for.rumors, rumors, sizeof rumors);
    } else {
        m->group_nack.serial = serial;
    }
}

static void check(const struct group *group, bool *dead)
{
    for (unsigned i = 0; i < 16; i++) {
        enum group_state state;
        struct id id = peer(i).id;
        bool known = group_state_of(group, &id, &state);
        if (known && dead[i] && state != GROUP_DEAD)
            abort();
        dead[i] = known && state == GROUP_DEAD;
    }
    if (group_slowness(group) > 8)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct group_out out;
    static struct message m;
    struct group_setup setup = {
        .self = peer(3), .submitter = peer(3).id, .seed = 1, .members = MEMBERS};
    struct script s = {.at = data, .left = size};
    void *memory = malloc(group_size(&setup));
    bool dead[16] = {false};
    uint64_t now = 1;
    if (memory == NULL)
        abort();
    struct group *group = group_init(memory, &setup, now);
    while (s.left > 0) {
        unsigned what = script_next(&s);
        struct group_event e = {.kind = (enum group_event_kind)(what % (GROUP_REACHED + 1)),
                                .peer = peer(script_next(&s)),
                                .message = &m};
        now += (uint64_t)script_next(&s) * 1000;
        if (e.kind == GROUP_MESSAGE)
            read_message(&s, &m);
        if (e.kind == GROUP_REMOVE)
            dead[what = e.peer.id.b[0]] = false;
        group_step(group, &e, now, &out);
        check(group, dead);
    }
    free(memory);
    return 0;
}
