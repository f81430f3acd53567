/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h -- what the files of the engine share; no other file includes it. */
#ifndef P2P_SRC_REPLICA_STATE_H
#define P2P_SRC_REPLICA_STATE_H
#include "cycle.h"
#include "decide.h"
#include "engine.h"
#include "hash.h"
#include "header.h"
#include "allowance.h"
#include "lag.h"
#include "match.h"
#include "memory.h"
#include "pool.h"
#include "table.h"

/* A set of lanes: bit k is lane k. */
typedef uint8_t lanes_t;

/* Of an entry whose request is not done at once. */
struct wait {
    TAILQ_ENTRY(entry) queued; /* among those whose request is not done */
    uint64_t mine_ms; /* by the lag's clock: it last waited for a lane that this process sends to */
    uint64_t payload; /* hash of its bytes, if verified */
    bool wanted;      /* a receive waits for its buffer: a copy is worth making now */
    bool exposed;     /* to the receiver in this lane: the request's bytes */
    bool is_one_way;  /* nothing was to be received when it was sent */
    lanes_t headed;   /* lanes that its head went to (head.c) */
    uint8_t rkey[ENGINE_RKEY];
};

/* A message that was sent and that a lane still needs: a copy (or the user's buffer, while the
 * request is not done), until every living lane of the receiver has it. Of small messages thousands
 * may be alive, and each line of memory is a miss of the cache then. */
struct entry {
    TAILQ_ENTRY(entry) sent; /* in its channel, by number */
    struct channel *channel;
    uint64_t number;
    size_t length;
    uint64_t rolling;            /* hash of the channel up to and with this message */
    uint64_t depends;            /* output commit: all replicas must hold the decisions below */
    uint64_t since_ms;           /* when it began to wait */
    struct engine_send *request; /* not done; NULL: done */
    struct wait *wait;           /* behind it; NULL: its request was done at once, by a copy */
    uint8_t *copy;               /* NULL: the request's buffer */
    int tag;
    unsigned transfers; /* going on */
    bool rendezvous, synchronous;
    bool taken;                /* rendezvous or synchronous: some lane has sent HAVE */
    lanes_t have_not;          /* rendezvous or synchronous: lanes that have not sent HAVE */
    lanes_t unsure;            /* synchronous: those that have not sent HAVE with FIRM */
    lanes_t same, other;       /* verify: lanes that got the same from others; other bytes */
    _Alignas(8) uint8_t own[]; /* where a copy is that was made at once */
};
TAILQ_HEAD(entries, entry);
STAILQ_HEAD(finished, engine_send);

/* How far a lane of the receiver is. Either this process sends to the lane (its bit is in e->duty),
 * or another replica of this rank does, and the lane acknowledges to this process. */
struct view {
    uint64_t acked, hash; /* it has all below acked; the hash that came with that */
    struct entry *next;   /* to send to it; NULL: nothing waits */
    struct entry *mark;   /* the first that it has not acknowledged, if known */
    struct entry *spoke;  /* of which its receiver has spoken last, or the next one; or NULL */
    bool hashed;          /* a hash came */
    uint64_t agreed;      /* up to this number its hash was as here */
    uint64_t doubt;       /* verify: it was not at this number; 0: it always was */
};

/* A HAVE for a message that this lane has not sent yet. */
struct early {
    TAILQ_ENTRY(early) by_number;
    struct header h;
    int lane;
};
TAILQ_HEAD(earlies, early);

enum { CHANNEL_USER = INT32_MIN }; /* in place of a tag: all user tags */

/* Messages between this process and a rank, in both directions, that all lanes number alike: of a
 * communicator, and of one tag if that is internal. */
struct channel {
    struct engine_comm *comm;
    int world, tag; /* or CHANNEL_USER */
    bool by_tag;
    bool pending;      /* in e->pending: something waits to be sent */
    bool unacked;      /* in the dirty list of its rank */
    unsigned messages; /* that point to it */
    unsigned copies;   /* in the log */
    TAILQ_ENTRY(channel) of_comm;
    /* out */
    uint64_t sent, sent_hash;
    uint64_t ahead; /* the next number that a lane ahead of this one has acknowledged; 0: none */
    uint64_t owed;  /* so many messages the others had when this process asked (place.c) */
    struct entries entries;
    struct earlies early;
    TAILQ_ENTRY(channel) busy; /* it has entries */
    TAILQ_ENTRY(channel) to_send;
    /* in */
    uint64_t received, received_hash;
    struct match_messages coming;
    TAILQ_ENTRY(channel) dirty;
    struct view view[]; /* by lane */
};
TAILQ_HEAD(channels, channel);

/* The channels with one rank in one communicator. */
struct partner {
    struct channel *user;
    struct table tags; /* internal tags: their channels */
};

struct comm_name {
    uint64_t group;
    uint32_t count;
};

struct engine_comm {
    struct engine_comm *next; /* in its bucket */
    struct comm_name name;
    bool bound; /* the program has it; before, only frames named it */
    bool freed; /* the program has it no more; entries may be left */
    bool by_tag;
    struct channels channels; /* all of them, the oldest first */
    unsigned busy;            /* channels with entries */
    unsigned copies;          /* in the log */
    struct cycle cycle;       /* its nonblocking collectives, */
    unsigned once, once_most; /* how many channels they have, and with how many some may go */
    bool swept;               /* it is in e->sweep */
    bool by_place, serving;   /* an agent's; the agent serves what it has received */
    struct region *regions;   /* attached, of all lanes */
    size_t region_count, region_size;
    uint32_t attached; /* how many here so far */
    uint64_t begun;    /* its collectives that are counted as steps */
    uint64_t asked;    /* how many of its messages had come when the others were asked */
    LIST_ENTRY(engine_comm) sweep, all, agents;
    int size;
    int *world;               /* by rank (of the remote group, if there is one) */
    int *rank_of;             /* by world rank; -1: no member */
    struct partner **partner; /* by world rank */
    struct match match;
};

struct link {
    int world, lane; /* of the replica at its other end */
    bool dead, noted, finished;
    bool used; /* it was sent the deaths that are known here, and hears of others */
    bool met;  /* the program has brought the two together */
    const char *why;
    bool outvoted;      /* its messages differ from those of the other lanes */
    bool done, told;    /* it has sent DONE; DONE was sent to it */
    bool asked;         /* WHERE was sent, and HERE has not come (place.c) */
    bool unmet;         /* only questions were ever sent to it, and nothing has come from it; */
    bool left;          /* nor was it there */
    uint64_t settles;   /* its WHERE, which is answered when all is caught up; 0: none */
    bool wanted, heard; /* something waits for it; a frame came since the last check */
    uint64_t waited_ms; /* since when something waits, or it was last heard; 0: nothing does */
    uint64_t pinged_ms;
    uint64_t passed; /* up to here in what was ever added to the witness's list (witness.c) */
    uint64_t settle; /* its SETTLE, which is answered when so much is held; 0: none */
    uint64_t recall; /* its RECALL, which is answered when no death is left to act on; 0: none */
    bool gone;       /* another process found that it is not there, and it has not answered here */
    bool recalling;  /* RECALL was sent, and RECALLED has not come */
    /* Of the frame that is being read: room that belongs to no request, or the message that it
     * becomes. */
    void *room;
    struct engine_message *placed;
};

/* What is known of one world rank. */
struct rank {
    lanes_t living; /* neither dead nor finished */
    lanes_t finished;
    struct channels busy;
    struct channels dirty; /* received from it and not acknowledged */
    STAILQ_HEAD(, word) words;
    uint32_t unacked;
    size_t unacked_bytes;
    uint64_t unacked_ms;
    lanes_t
        moved; /* replicas that have said since the last look that they have received something */
    uint64_t
        moved_ms[ENGINE_MAX_LANES]; /* and when they were seen to, by lane and the lag's clock */
    /* Its decisions: those below are known here to be held by all its living replicas; and were
     * ever heard of here (witness.c). */
    uint64_t held, known;
    uint64_t aged;    /* known when it was last looked whether some is long in the list */
    int settling;     /* this replica was sent SETTLE, plus 1; 0: none */
    unsigned waiting; /* entries to it whose request is not done, nor held */
    struct lag lag;   /* it goes while there are some */
};

/* A HAVE that is deferred until all replicas hold the decisions below `depends`. */
struct deferred {
    STAILQ_ENTRY(deferred) next;
    struct header h;
    int world; /* to all replicas of this rank */
    uint64_t depends;
};

/* A HAVE of a receive that may yet be cancelled. It says FIRM when the program waits for that; as
 * this is often at once, the word waits until the next engine_progress() but one, and then goes
 * without. */
struct owed {
    LIST_ENTRY(owed) next;
    struct header h;
    int world;
    uint8_t firm; /* flags that it will have */
    bool said;    /* without them */
    bool late;    /* engine_progress() was called since */
};

/* A HAVE for which nothing waits. */
struct word {
    STAILQ_ENTRY(word) next;
    struct header h;
    lanes_t lanes;
};

/* A decision of this rank that a witness has told before those that precede it were here. */
struct ahead {
    TAILQ_ENTRY(ahead) by_number;
    uint64_t number;
    size_t length;
    uint8_t record[];
};

/* Decisions that some living replica of their rank may lack (witness.c). */
struct witness {
    struct fifo list;
    uint64_t added;         /* bytes, ever */
    struct decide_mark own; /* this rank's decisions before are in the list, or held by all */
    uint64_t foreign;       /* how many of other ranks were ever added */
    uint64_t settle_ms;     /* when it was last looked whether some is long in the list */
    uint64_t shown;         /* what depends on so many decisions of all kinds may be shown */
    struct {
        uint64_t decided, own, added; /* so many of all kinds; of this rank; bytes */
    } mark;
    TAILQ_HEAD(aheads, ahead) ahead; /* of this rank, by number: those before are not here yet */
    bool asked;                      /* some link has a SETTLE */
    bool to_answer;                  /* or a RECALL */
    bool to_recall;  /* a leader may have died, and this process is to ask before it leads; */
    bool recalls;    /* it has asked, and not all have answered */
    uint64_t recall; /* the last RECALL from here */
};

/* What this process is asking others for. */
enum place_stage { PLACE_RESTS, PLACE_CATCHES_UP, PLACE_SETTLES, PLACE_LOOKS };

/* Looks at clocks that not all lanes make (look.c). */
struct look {
    uint64_t since_ms;    /* when the wait for another lane's program began; 0: there is none */
    uint64_t asked, past; /* the leader was asked about places before; it has left those before */
    uint64_t bytes[ENGINE_MAX_LANES]; /* when this leader asked a follower: so many were decided */
    uint64_t at[ENGINE_MAX_LANES];    /* by lane: the place that was asked about from there */
    lanes_t asking, following;        /* those that have no answer yet; and are no leader's */
};

struct engine {
    int ranks, lanes, rank, lane, self;
    struct engine_limits limits;
    struct engine_callbacks call;
    void *ctx;
    uint64_t now_ms;
    struct link *link;    /* by replica */
    struct rank *by_rank; /* by world rank */
    lanes_t
        duty; /* lanes that this process sends to: its own, and dead ones that it has taken over */
    bool stopped, finishing, compared, finished;
    bool deaths; /* some are noted and not handled */
    bool
        served; /* some of this lane are dead, or never were: other lanes' replicas do their work */
    bool crossed;  /* some of any lane are: messages go between lanes */
    bool released; /* what waits should be tried again */
    bool absent;   /* it did not run for so long that the others may have declared it dead */
    bool lost;     /* no replica of this rank is left: */
    int lost_rank;
    bool doubtful; /* lanes differ, and which is wrong is not known yet */
    uint64_t checked_ms;
    /* communicators */
    LIST_HEAD(, engine_comm) comms, sweep;   /* all; those of which something may go */
    LIST_HEAD(, engine_comm) agents;         /* those that agents serve */
    struct engine_comm **bucket, *last_comm; /* by name */
    size_t bucket_count;
    struct table groups; /* how many communicators each has had, as a pointer */
    /* sending */
    struct channels pending;
    struct entries waiting;
    size_t waits, looks; /* so many; and looks at them that are due (log_copy_late()), */
    uint64_t looked_ms;  /* which last had them all then */
    LIST_HEAD(, transfer) transfers; /* large messages on their way out (rendezvous.c) */
    uint8_t *scratch;
    struct pool pool; /* entries and messages */
    STAILQ_HEAD(, deferred) deferred;
    LIST_HEAD(owed_list, owed) owed, half_said; /* HAVE: to be said, and to be said again */
    struct match_messages withheld; /* that have come, and are not in their receive's buffer yet */
    /* places */
    uint64_t place;   /* of the program */
    lanes_t read_out; /* of this rank: links that keep nothing any more, and have brought all */
    struct {
        enum place_stage stage;
        uint64_t number, place; /* of the question; the furthest of the answers */
        bool again;             /* a process has died since */
        bool noted;             /* what the others had is, in the channels */
        bool by_others;         /* others wait for this process to catch up */
        lanes_t about;          /* lanes whose replicas are gone, for which all are asked; */
        lanes_t caught, heard;  /* it has caught up with them; so have all, and it has heard that */
    } asking;
    /* decisions */
    struct decide decide;
    struct witness witness;
    /* By lane of this rank: the replica holds all decisions below, or will before it handles our
     * death; it has acknowledged all below. */
    uint64_t holds[ENGINE_MAX_LANES], acked[ENGINE_MAX_LANES];
    uint64_t used[ENGINE_MAX_LANES]; /* its program has used so many bytes of them, */
    uint64_t used_told;              /* and this one has told so of its own */
    uint64_t committed;              /* every living replica of this rank holds all below */
    struct commit *commit; /* read there by whatever shows the program's output; or NULL */
    lanes_t agreed;        /* replicas that have agreed to this one as leader, */
    uint64_t handed_over;  /* and were sent what they lack of the decisions below */
    int leader;            /* lane */
    bool leads;
    bool waits_for_leader;
    bool rests; /* the program sleeps between its tests */
    struct look look;
    uint64_t told_ms;        /* when the last decision was told */
    uint64_t polls_since_ms; /* its tests have found nothing since then; 0: the last one found
                                something */
    uint64_t barriers[ENGINE_MAX_LANES]; /* by lane of this rank: how many it has entered */
    lanes_t awaited;                     /* at the barrier that this one is in */
    struct allowance late;               /* for copies of large messages, */
    struct allowance late_one_way;       /* and for more of those that are one-way */
    unsigned receiving;                  /* receives of the program that are not done */
    size_t heads;                        /* bytes of heads that wait for receives (head.c) */
    struct engine_counts counts;
    char reason[640];
};

static inline int replica_of(const struct engine *e, int world, int lane)
{
    return lane * e->ranks + world;
}

static inline int world_of(const struct engine *e, int replica)
{
    return e->link[replica].world;
}

static inline int lane_of(const struct engine *e, int replica)
{
    return e->link[replica].lane;
}

static inline bool lane_in(lanes_t set, int lane)
{
    return set >> lane & 1;
}

static inline lanes_t lane_bit(int lane)
{
    return (lanes_t)(1u << lane);
}

static inline int lowest_lane(int set)
{
    return set ? __builtin_ctz((unsigned)set) : -1;
}

/* The living replicas of this rank, except this one. */
static inline lanes_t other_lanes(const struct engine *e)
{
    return e->by_rank[e->rank].living & (lanes_t)~lane_bit(e->lane);
}

static inline void engine_count(size_t *now, size_t *peak)
{
    if (++*now > *peak)
        *peak = *now;
}

#define FOR_LANES(k, set)                                                                          \
    for (int left_##k = (set), k = lowest_lane(left_##k); left_##k;                                \
         left_##k &= left_##k - 1, k = lowest_lane(left_##k))

/* engine.c */
/* The job cannot go on: says why, once, and nothing more is done. */
/* How such a line begins and ends: it may be the first that speaks of lanes. */
#define DIVERGED "lanes have diverged (a lane is one copy of the job): "
#define DIVERGED_MEND                                                                              \
    "; the program depends on something that differs between its copies, so no result is given: "  \
    "let it go by no pid, address or cycle counter, nor by threads that race"
void engine_stop(struct engine *e, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* link.c */
/* As callbacks.send. What goes to the dead is gone; a cookie is not reported then. */
int link_put(struct engine *e, int to, const struct header *h, const void *payload, void *cookie);
/* The same to one that lives and was met, without what has to go before. */
int link_write(struct engine *e, int to, const struct header *h, const void *payload, void *cookie);
/* A question to one that the program may never have met: it need not be there any more. */
void link_ask(struct engine *e, int to, const struct header *h, const void *payload);
void link_put_death(struct engine *e, int to, int dead);
/* A frame of this kind goes to that replica, or has come from it. Except for news of deaths, and
 * questions about decisions, it says that the program has brought the two together. */
void link_meet_first(struct engine *e, int replica, uint8_t kind);
static inline void link_meet(struct engine *e, int replica, uint8_t kind)
{
    if (!e->link[replica].met)
        link_meet_first(e, replica, kind);
}

/* Does something have to go before a frame? */
static inline bool witness_has_any(const struct engine *e)
{
    return e->decide.known + e->decide.run > e->committed ||
           e->witness.list.head != e->witness.list.tail;
}
/* Passes on what the link was not sent; program: also what this rank has decided. */
void witness_pass(struct engine *e, int to, bool program);
/* May a frame of this kind depend on what this rank has decided? All may that say how far its
 * program is; not what was received, nor what is held, nor a question about that: an answer which
 * brought more to ask about would never be the last one. */
static inline bool kind_depends(uint8_t kind)
{
    enum {
        DEPENDS_NOT = 1u << HEADER_ACK | 1u << HEADER_DECIDE | 1u << HEADER_DECIDED |
                      1u << HEADER_PING | 1u << HEADER_PONG | 1u << HEADER_SETTLE |
                      1u << HEADER_SETTLED
    };
    return !(1u << kind & DEPENDS_NOT);
}
/* What has to go before a frame of this kind. False: the other end is dead, the frame is gone. */
static inline bool link_begin(struct engine *e, int to, uint8_t kind)
{
    if (e->link[to].dead)
        return false;
    link_meet(e, to, kind);
    if (witness_has_any(e))
        witness_pass(e, to, kind_depends(kind));
    return true;
}

/* finish.c */
bool engine_has_met(const struct engine *e, int world); /* a replica of that rank */
void finish_compared(struct engine *e, int replica);    /* DONE */

/* comm.c */
void comm_clear(struct engine *e);
/* The communicator of a frame, made if it is still to come; NULL: it is no more. Most often it is
 * that of the last one. */
struct engine_comm *comm_find_any(struct engine *e, uint64_t group, uint32_t count);
static inline struct engine_comm *comm_find(struct engine *e, uint64_t group, uint32_t count)
{
    struct engine_comm *c = e->last_comm;
    return c && c->name.group == group && c->name.count == count ? c
                                                                 : comm_find_any(e, group, count);
}
/* Later frees it, or its channels, if nothing needs them. */
void comm_sweep_later(struct engine *e, struct engine_comm *c);
void comm_sweep(struct engine *e);
size_t comm_size(const struct engine *e);

/* channel.c */
struct channel *channel_search(struct engine *e, struct engine_comm *c, int world, int tag,
                               bool by_tag);
/* Of a frame about a message of the channel. */
struct header channel_header(const struct channel *c, uint8_t kind, int tag, uint64_t number);
static inline struct channel *channel_find(struct engine *e, struct engine_comm *c, int world,
                                           int tag, bool by_tag)
{ /* NULL: of a collective that is over */
    struct partner *p = c->partner[world];
    return p && p->user && tag >= 0 && !by_tag ? p->user : channel_search(e, c, world, tag, by_tag);
}
struct channel *channel_named(struct engine *e, struct engine_comm *c, int world, int name);
void channel_clear(struct engine *e, struct engine_comm *c);
void channel_sweep(struct engine *e, struct engine_comm *c); /* collectives that are over */
size_t channel_size(const struct engine *e);
/* The program's requests, with any tag. False: the request cannot begin, and the engine has
 * stopped. */
bool channel_cycle_begins(struct engine *e, struct engine_comm *c, int tag);
void channel_cycle_ends(struct engine *e, struct engine_comm *c, int tag);
static inline bool channel_request_begins(struct engine *e, struct engine_comm *c, int tag)
{
    return tag >= ENGINE_ANY_TAG || channel_cycle_begins(e, c, tag);
}
static inline void channel_request_ends(struct engine *e, struct engine_comm *c, int tag)
{
    if (tag < ENGINE_ANY_TAG)
        channel_cycle_ends(e, c, tag);
}
void channel_each(struct engine *e, struct engine_comm *comm,
                  void (*visit)(struct engine *, struct channel *, int), int arg);

/* verify.c */
void verify_channel(struct engine *e, struct channel *c, int lane, uint64_t number, bool same);
void verify_entry(struct engine *e, struct entry *entry, int lane, uint64_t hash);
void verify_again(struct engine *e);

/* log.c */
struct entry *log_add(struct engine *e, struct channel *c, struct engine_send *s, bool rendezvous);
struct entry *log_add_copy(struct engine *e, struct channel *c, int tag, const void *bytes,
                           size_t length);
void log_trim(struct engine *e, struct channel *c, struct finished *done);
void log_settle(struct engine *e, struct entry *entry, struct finished *done);
/* The message of that number, if it is still in the log; the lane is the one that speaks of it. */
struct entry *log_find(struct channel *c, int lane, uint64_t number);
void log_complete(struct engine *e, struct finished *done);
int log_copy_late(struct engine *e);
/* A receiver in this lane asks for a large message. */
void log_copy_for_network(struct engine *e, struct entry *entry, int lane, struct finished *done);
bool log_has_room(const struct engine *e, const struct channel *c, size_t length);
bool log_has_room_for(const struct engine *e, size_t length); /* in any channel */
void log_clear(struct engine *e, struct channel *c);

/* send.c */
void send_complete(struct engine *e, struct engine_send *s);
void send_pump(struct engine *e, struct channel *c);
int send_pump_all(struct engine *e);
void send_again(struct engine *e, struct channel *c,
                int lane); /* all that the log retains; pump later */
void send_have(struct engine *e, int lane, struct channel *c, const struct header *h);
void send_acked(struct engine *e, int lane, struct channel *c, uint64_t number, uint64_t hash,
                bool hashed);

/* expose.c */
const uint8_t *expose_for_lane(struct engine *e, struct entry *entry, int lane); /* NULL: none */
void expose_end(struct engine *e, struct entry *entry);
bool expose_read(struct engine *e,
                 struct engine_message *m); /* into its receive's buffer; false: send CTS */

/* head.c */
void head_put(struct engine *e, struct entry *entry, int lane); /* behind its RTS */
/* Where a sender goes on that is asked for the rest; headed: a head counts. */
size_t head_sent(const struct engine *e, const struct entry *entry, int lane, bool headed);
/* The message has no receive yet. False: it is not kept, and does not count. */
bool head_keep(struct engine *e, struct engine_message *m, const void *bytes, size_t length);
void head_drop(struct engine *e, struct engine_message *m);

/* rendezvous.c */
struct header data_header(const struct entry *entry, size_t at, size_t length);
bool rendezvous_is_going(struct engine *e, const struct entry *entry, int replica);
void rendezvous_cts(struct engine *e, int replica, struct channel *c, uint64_t number, bool headed);
void rendezvous_wrote(struct engine *e, void *cookie);
int rendezvous_retry(struct engine *e);
void rendezvous_forget(struct engine *e, int replica);
void rendezvous_clear(struct engine *e);

/* have.c */
void have_say(struct engine *e, const struct engine_message *m);
/* Of a synchronous message, when it is matched: at once, or when the receive is firm, or soon. */
void have_for_synchronous(struct engine *e, struct engine_receive *r,
                          const struct engine_message *m, bool at_once);
void have_put(struct engine *e, int world, const struct header *h, lanes_t lanes);
void have_say_deferred(struct engine *e); /* those that may leave now */
void have_is_firm(struct engine *e, struct engine_receive *r);
/* The message is to be matched again: HAVE is said then, if it has not been yet. */
void have_give_back(struct engine_receive *r, struct engine_message *m);
int have_say_owed(struct engine *e, bool all); /* without FIRM; all: new ones, too. How many. */
void have_clear(struct engine *e);

/* receive.c */
void receive_message(struct engine *e, struct engine_receive *r, struct engine_message *m);
void receive_complete(struct engine *e, struct engine_receive *r, int world, int tag,
                      size_t length);
void receive_from_self(struct engine *e, struct channel *c, struct engine_send *s);
/* Give receives their messages after a choice, a cancellation, or when leadership was won. */
void receive_pairs(struct engine *e, struct engine_comm *c);
void receive_all_pairs(struct engine *e);
void receive_supplier_died(struct engine *e, struct channel *c, int replica);
void receive_arrived(struct engine *e, int replica, struct channel *c, const struct header *h,
                     const void *payload, struct engine_message *placed);
void receive_data(struct engine *e, int replica, struct channel *c, const struct header *h,
                  const void *payload);
void *receive_place(struct engine *e, int replica, struct channel *c, const struct header *h,
                    struct engine_message **placed);
struct engine_message *message_new(struct engine *e, struct channel *c, int tag, uint64_t number,
                                   size_t length,
                                   bool large); /* large: without room for its bytes */
void message_free(struct engine *e, struct engine_message *m);
struct header message_answer(const struct engine_message *m, uint8_t kind);
void receive_deliver(struct engine *e, struct engine_message *m); /* one that is withheld */
void *receive_room(const struct engine_message *m); /* of a rendezvous; NULL: callbacks.unpack() */

/* future.c */
bool future_allows(const struct engine *e, const struct engine_receive *r);
static inline bool future_may_write(const struct engine *e, const struct engine_receive *r)
{
    return (!e->served && TAILQ_EMPTY(&e->waiting)) || future_allows(e, r);
}
void future_set_aside(
    struct engine_message *m); /* the bytes of a rendezvous: into memory of the engine */
void future_withhold(struct engine *e, struct engine_message *m);
void future_forget(struct engine *e, struct engine_message *m); /* it is withheld no more */
int future_release(struct engine *e);                           /* what may be written now */
void future_clear(struct engine *e);

/* place.c */
void place_count_inner(struct engine *e, struct engine_comm *c, int tag);
static inline void place_count(struct engine *e, struct engine_comm *c, int tag)
{ /* a send or a receive begins */
    if (tag < ENGINE_ANY_TAG || c->by_place)
        place_count_inner(e, c, tag);
    else
        e->place++;
}
void place_lane_is_served(struct engine *e);
void place_asked(struct engine *e, int replica, const struct header *h);
void place_told(struct engine *e, int replica, const struct header *h);
void place_lost(struct engine *e); /* a process: it is dead, or has said good-bye */
int place_progress(struct engine *e);

/* look.c */
/* The program looks, and no decision is due. Has its leader's gone past this place? */
bool look_is_missed(struct engine *e);
void look_ends(struct engine *e);    /* it waits no more */
void look_ask_due(struct engine *e); /* when it has waited for long */
void look_asked(struct engine *e, int lane, const struct header *h); /* LOOKS */
void look_answer(struct engine *e);                         /* those that can be told by now */
void look_told(struct engine *e, int lane, uint64_t place); /* PAST */
void look_forget_leader(struct engine *e);

/* region.c */
void region_told(struct engine *e, int lane, const struct header *h);
void region_clear(struct engine_comm *c);

/* ack.c */
void ack_count(struct engine *e, struct channel *c, size_t bytes);
/* A HAVE that may wait until the acknowledgements go. */
void ack_word(struct engine *e, int world, const struct header *h, lanes_t lanes);
void ack_flush(struct engine *e, int world);
void ack_clear(struct engine *e);
int ack_flush_due(struct engine *e, bool all);
void ack_closed(struct engine *e, int replica, const struct header *h);
void ack_arrived(struct engine *e, int replica, const struct header *h, const uint8_t *payload);

/* probe.c */
bool probe_is_sound(const struct engine *e, const struct decide_record *r); /* names a message */

/* decision.c */
void decision_match(struct engine *e, const struct engine_receive *r, int source, int tag,
                    uint64_t number);
int decision_due(struct engine *e, enum engine_decision kind, void *value, size_t max, bool peek);
void decision_tell(struct engine *e);
/* Output commit: may what depends on the decisions below `depends`, or on all so far, not leave
 * yet? A few go along with it (witness.c). The second one also tells the others what they were not
 * told yet, where that is due. */
static inline bool decision_blocks(const struct engine *e, uint64_t depends)
{
    return depends > e->committed &&
           e->decide.retained.tail - e->decide.retained.head > e->limits.witness;
}
bool decision_tell_and_block(struct engine *e);
static inline bool decision_blocks_all(struct engine *e)
{
    return e->decide.known + e->decide.run > e->committed && decision_tell_and_block(e);
}
int decision_progress(struct engine *e);
void decision_lanes_changed(struct engine *e);
void decision_arrived(struct engine *e, int replica, const struct header *h,
                      const uint8_t *payload);
void decision_acked(struct engine *e, int replica, uint64_t number);
void decision_known(struct engine *e, int replica, const struct header *h); /* DECIDED */
bool decision_has_untold(const struct engine *e);
void decision_agreed(struct engine *e, int replica, const struct header *h);
bool decision_settled(const struct engine *e);
bool decision_is_awaited(const struct engine *e);
void decision_publish(struct engine *e);
/* A decision of this rank from a process that depends on it. False: it makes no sense. */
bool decision_relayed(struct engine *e, uint64_t number, const uint8_t *record, size_t length);
void decision_say_known(struct engine *e, uint8_t flags); /* DECIDED, to the other replicas */
void decision_pass(struct engine *e, int lane);           /* what its replica may lack */
void leader_try(struct engine *e);

/* witness.c */
void witness_learn_ahead(struct engine *e); /* more of this rank is known */
void witness_clear(struct engine *e);
void witness_arrived(struct engine *e, int replica, const struct header *h, const uint8_t *payload);
/* All living replicas of the rank hold its decisions below number; of this rank: look. */
void witness_held(struct engine *e, int rank, uint64_t number);
void witness_own_held(struct engine *e);
/* For output commit: decisions of all ranks that were ever counted here, and up to how many all is
 * held; is all of other ranks? */
uint64_t witness_decided(const struct engine *e);
uint64_t witness_shown(struct engine *e);
bool witness_settled(const struct engine *e);
void witness_settle(struct engine *e);     /* asks others whether it is */
void witness_settle_due(struct engine *e); /* now and then */
void witness_settle_asked(struct engine *e, int replica, uint64_t number);
void witness_settle_told(struct engine *e, int replica, uint64_t number);
/* The next leader asks all what a dead one has decided. Does it know? */
bool witness_recalled(struct engine *e);
void witness_of_death(struct engine *e, int replica);
void witness_of_leaving(struct engine *e, int replica);
void witness_recall_asked(struct engine *e, int replica, const struct header *h,
                          const uint8_t *gone);
void witness_recall_answer(struct engine *e);
void witness_recall_told(struct engine *e, int replica, uint64_t number);
void witness_lost(struct engine *e, int replica); /* it is dead, or has said good-bye */

/* barrier.c */
void barrier_arrived(struct engine *e, int replica, uint64_t number);

/* death.c */
void death_handle_all(struct engine *e);
void death_look_for_lost(struct engine *e); /* stops the job, or this process */
void death_take_duty(struct engine *e);
/* Notes it. why: declared, so it may live, and then has to end; NULL: it is known to be dead. */
void death_declare(struct engine *e, int replica, const char *why);
void death_outvote(struct engine *e, int replica);
void death_arrived(struct engine *e, const struct header *h, const uint8_t *payload);
void death_goodbye(struct engine *e, int replica);

/* stall.c */
int stall_check(struct engine *e);
#endif
