/* SPDX-License-Identifier: BSD-3-Clause */
/* group.h -- the peers of one job watch each other, and declare the silent ones dead: SWIM (Das
 * 2002) with the refinements of Lifeguard (Dadgar 2017), as a pure state machine like ring.h.
 *
 *     several times a second a member is pinged; if it does not answer, others ping it in this
 * peer's place; if it still does not answer, it is suspected; each member that hears of the
 * suspicion pings it, too, and each that agrees shortens the time in which the suspect may deny it;
 * then it is dead, for good, and all members hear of it
 *
 * Only the submitter's daemon declares the others dead, as only it gives up their work; the others
 * declare only the submitter's daemon. A peer that is late itself (a busy host, a frozen process)
 * doubts itself first: all its time-outs stretch. And as long as a suspect's host acknowledges what
 * is sent to it, the daemon there is starved, and the host is not gone.
 *
 * Time is microseconds of one clock that never goes back. */
#ifndef P2P_OVERLAY_CORE_SWIM_GROUP_H
#define P2P_OVERLAY_CORE_SWIM_GROUP_H
#include "overlay/wire/message.h"

enum {
    GROUP_PERIOD_US = 120 * 1000,        /* between two pings */
    GROUP_PING_US = 60 * 1000,           /* for an answer, before others are asked to help */
    GROUP_SUSPECT_US = 300 * 1000,       /* of suspicion at least: when enough members agree */
    GROUP_DOUBT_US = 1500 * 1000,        /* of suspicion at most: when no other member agrees */
    GROUP_STALLED_US = 30 * 1000 * 1000, /* for a silent daemon on a host that answers */
    GROUP_CONFIRMERS = 2,
    GROUP_HELPERS = 3,
    GROUP_RUMORS = 8, /* on one message */
    GROUP_MEMBERS_MAX = 4096,
};

struct group;

enum group_state { GROUP_ALIVE, GROUP_SUSPECTED, GROUP_DEAD };

struct group_setup {
    struct part_peer self;
    struct id job;
    struct id submitter; /* its daemon decides */
    uint64_t seed;
    unsigned members; /* at most, this peer not counted */
};

size_t group_size(const struct group_setup *setup);
struct group *group_init(void *memory, const struct group_setup *setup, uint64_t now_us);

enum group_event_kind {
    GROUP_TICK,
    GROUP_MESSAGE,     /* .message, of this job, from .peer */
    GROUP_ADD,         /* .peer is one of the job's */
    GROUP_REMOVE,      /* .peer has nothing to do with the job any more */
    GROUP_UNREACHABLE, /* .peer: its link broke; a reason to ping it at once, no more */
    GROUP_REACHED,     /* .peer: its host has acknowledged the last probe */
};

struct group_event {
    enum group_event_kind kind;
    struct part_peer peer;
    const struct message *message;
};

enum group_action_kind {
    GROUP_SEND,     /* .frame to .peer; a datagram will do */
    GROUP_PROBE,    /* .frame to .peer over a connection whose other end acknowledges: does it? */
    GROUP_DOUBTED,  /* .peer is silent; nothing is to be done yet */
    GROUP_TRUSTED,  /* .peer is well after all */
    GROUP_DECLARED, /* .peer is dead, and stays so; this peer itself: the others hold it for dead */
};

struct group_action {
    enum group_action_kind kind;
    struct part_peer peer;
    const uint8_t *frame; /* in group_out.bytes */
    uint32_t frame_length;
};

enum { GROUP_ACTIONS = 64, GROUP_OUT_BYTES = 32 * 1024 };

struct group_out {
    unsigned count;
    size_t used;
    struct group_action action[GROUP_ACTIONS];
    uint8_t bytes[GROUP_OUT_BYTES];
};

unsigned group_members(const struct group *group); /* this peer not counted, dead ones are */
/* The same group in larger memory, of group_size(); the old memory is the caller's again. */
struct group *group_move(void *memory, unsigned members, const struct group *group);
void group_step(struct group *group, const struct group_event *event, uint64_t now_us,
                struct group_out *out);
uint64_t group_deadline(const struct group *group);
/* The job a message is for; NULL: no message of a group. */
const struct id *group_job(const struct message *m);
bool group_state_of(const struct group *group, const struct id *peer, enum group_state *state);
unsigned group_slowness(const struct group *group); /* 0: this peer keeps up; 8: far behind */
#endif
