/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h -- one replica of one rank: matching, channels, log, decisions, deaths.
 *
 * Plain C: no Open MPI, no I/O, no clock. A replica is a process of rank i in lane k, and is
 * written as one number, k*N + i. As long as the processes of its own lane live it sends to those
 * only; what makes the lanes one program is in doc/replication.md. Around the engine are
 *
 *     the message layer   turns MPI calls into sends, receives, probes and decisions
 *     the transport       carries frames: a header of HEADER_BYTES (header.h) and a payload
 *
 * One thread at a time. sent() and received() may call engine_send(), engine_receive() and
 * engine_comm_*(); the other callbacks call nothing.
 *
 * A link (an ordered pair of processes) is first-in first-out and loses nothing until its other end
 * is dead; where callbacks.survives() is true, not even then.
 *
 * Requests (struct engine_send, engine_receive) live in the caller's memory from the call until
 * `done`. Results are 0 or more, or -errno; -EAGAIN means: make progress (read the links, then
 * engine_progress()), and ask again.
 *
 * Ranks are those of a communicator; ranks of MPI_COMM_WORLD are called world ranks. */
#ifndef P2P_SRC_REPLICA_ENGINE_H
#define P2P_SRC_REPLICA_ENGINE_H
#include "cycle.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct engine;
struct engine_comm;    /* a communicator, as the engine knows it */
struct engine_message; /* a message taken by a matching probe, not yet received */

enum {
    ENGINE_MAX_LANES = 8,
    /* What Open MPI gives to MPI_ANY_SOURCE and MPI_ANY_TAG. The latter takes tags >= 0 only. */
    ENGINE_ANY_SOURCE = -1,
    ENGINE_ANY_TAG = -1,
    ENGINE_DECISION_MAX = 1 << 20, /* bytes of a decision's value */
    ENGINE_FAR = 4,                /* a factor of a length, see copy_alone */
    ENGINE_RKEY = 16, /* bytes that tell a peer where it may read (as RDMA's remote key) */
    ENGINE_LOST = 2,  /* a status of stop(): a rank is lost, and others may know better why */
};

struct engine_limits {
    size_t eager;    /* bytes; a longer message goes by rendezvous, without a copy */
    size_t fragment; /* bytes of a rendezvous that go in one frame */
    size_t log; /* bytes of copies that wait for other lanes; beyond it sends do not complete */
    /* A large send that waits for other lanes alone is copied to the log when one of them has shown
     * for so long no sign of receiving (lag.h); at once, as long as such copies are no more bytes a
     * second (allowance.h), of sends that found no receive under way, up to four times copy_alone,
     * eight times as many besides; at once, up to this length, when the program waits for nothing
     * else, and up to ENGINE_FAR times the length where all of them are on other hosts. */
    uint32_t lag_ms;
    size_t copy_rate, copy_alone;
    /* A process that others wait for, and that gives no sign of life for so long, is dead; 0:
     * never. */
    uint32_t drop_after_ms;
    /* Acknowledge after so many messages from a rank, so many bytes, or so much time. */
    uint32_t ack_messages;
    size_t ack_bytes;
    uint32_t ack_delay_ms;
    size_t witness; /* bytes of decisions that go along with messages; with more these wait */
    size_t lead; /* bytes of decisions by which a leader's program may be ahead of a follower's */
    struct cycle_range cycle; /* tags of nonblocking collectives */
    bool verify;              /* compare payloads between lanes, not only tags and lengths */
};
extern const struct engine_limits engine_default_limits;

/* Memory of the program, with the holes in it. */
struct engine_span {
    const void *at; /* NULL: none */
    size_t length;
};

struct engine_send {
    /* by the caller */
    struct engine_comm *comm;
    int to, tag;
    size_t length;    /* packed bytes */
    const void *data; /* the packed bytes, if they lie in one piece; NULL: callbacks.pack() */
    struct engine_span span; /* what is read until it is done */
    bool synchronous;        /* done only when a replica of the receiver has taken it, for good */
    bool held; /* by a request of the program, which will ask for it: see engine_await_send() */
    /* by the engine */
    bool done;           /* the buffer is the caller's again */
    bool awaited;        /* the program has asked */
    struct entry *entry; /* in the log, while it is not done; NULL: none */
    STAILQ_ENTRY(engine_send) finished;
};

struct engine_status {
    int source, tag;
    size_t length; /* of the message, also when less was asked for */
    bool cancelled;
};

struct engine_receive {
    /* by the caller */
    struct engine_comm *comm;
    int from, tag; /* or ENGINE_ANY_SOURCE, ENGINE_ANY_TAG */
    size_t
        capacity; /* packed bytes that fit; what is beyond is dropped: status.length > capacity */
    void *data;   /* where the bytes go in one piece; NULL: callbacks.unpack() */
    struct engine_span span; /* what is written before it is done */
    bool firm;    /* it will not be cancelled: from the beginning, or since it is awaited */
    bool awaited; /* the program waits for it: see engine_await() */
    bool inner;   /* a collective's, not a request of the program: see engine_deliver_withheld() */
    bool agents;  /* of an agent, which serves beside the program: see engine_by_place() */
    /* by the engine */
    bool done;
    bool withheld;        /* its message is here, but not in its buffer, */
    uint64_t withheld_ms; /* since when the program could have waited for it; 0: not yet */
    struct engine_status status;
    TAILQ_ENTRY(engine_receive) posted;
    int source;        /* world rank that it receives from, or ENGINE_ANY_SOURCE */
    uint64_t order;    /* of posting, within the communicator */
    uint64_t wildcard; /* its number among the receives from any source of the communicator */
    bool bound;        /* the leader's choice is known: this message */
    int bound_source, bound_tag;
    uint64_t place;                /* and not before the program is here */
    uint64_t number;               /* of the message that is bound, or was taken */
    struct engine_message *coming; /* its message, while its bytes arrive, or are withheld */
    struct owed *owed; /* what the sender of its synchronous message is to hear; NULL: nothing */
};

/* What the engine asks of its surroundings; ctx is the caller's. */
struct engine_callbacks {
    /* Send header and payload to a replica; the link is opened on first use. cookie NULL: the
     * payload may change as soon as this returns (write it or copy it). Otherwise the payload is
     * not copied, and stays until engine_wrote(cookie). That is called for every cookie, also when
     * the other end dies, but never from within send().
     *
     * 0: taken. 1: taken, and with a cookie: written already, engine_wrote() is not called.
     * -EAGAIN: too much waits on this link; only for frames that header_may_wait(). The engine then
     * asks again in engine_progress(). A broken link takes everything, and engine_dead() follows.
     */
    int (*send)(void *ctx, int replica, const uint8_t *header, const void *payload, size_t length,
                void *cookie);
    /* For replicas of this rank, on a link that outlives its processes (a ring in the memory of one
     * host); NULL: there is none. survives: the other end reads all that was sent to it so far
     * before it acts on this process's death, whenever that comes. drained: asked until it is true,
     * before a death is acted upon, and in a served lane. It is true when all that the other end
     * sent was brought, and nothing is just being brought. From the first call on, the other end's
     * survives() is false. */
    bool (*survives)(void *ctx, int replica);
    bool (*drained)(void *ctx, int replica);
    /* The replica is dead: forget the link. Tell the runtime, unless the news came from there (why
     * is NULL). */
    void (*lost)(void *ctx, int replica, const char *why);
    void (*pack)(void *ctx, struct engine_send *s, size_t offset, void *bytes, size_t length);
    void (*unpack)(void *ctx, struct engine_receive *r, size_t offset, const void *bytes,
                   size_t length);
    /* The reverse of unpack: a receive that the leader has cancelled had its message here already,
     * and must give it back. NULL: not possible; the job then stops with a line that says so. */
    void (*repack)(void *ctx, struct engine_receive *r, size_t offset, void *bytes, size_t length);
    /* Large messages between processes that can read each other's memory; NULL: none can. expose:
     * the other process may read these bytes until revoke(); `rkey` tells it, and no other,
     * where they are. False: it cannot, and is sent the bytes when it asks for them (CTS).
     * remote_read: reads what is exposed. False: the owner is gone or has revoked it, and `to` may
     * hold anything. */
    bool (*expose)(void *ctx, int replica, const void *bytes, uint8_t rkey[ENGINE_RKEY]);
    void (*revoke)(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY]);
    bool (*remote_read)(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY], void *to,
                        size_t length);
    /* Of the time since this was last asked, which is gap_ms: for how long has the process had the
     * processor, or wanted none? With `anew` it counts from now on. All of it where that cannot be
     * seen, as on other hosts; NULL: nowhere. */
    uint64_t (*turn_ms)(void *ctx, int replica, uint64_t gap_ms, bool anew);
    /* Does what is sent to the replica go over a network, beside which a copy costs next to
     * nothing? NULL: nothing does. */
    bool (*is_far)(void *ctx, int replica);
    /* The request is done, and the engine does not look at it again. */
    void (*sent)(void *ctx, struct engine_send *s);
    void (*received)(void *ctx, struct engine_receive *r);
    /* The job cannot go on, for the reason in the line: lanes have diverged, a rank is lost
     * (ENGINE_LOST). Status 0: only this process was declared dead, and has to leave quietly. If
     * this returns, the engine does nothing more. */
    void (*stop)(void *ctx, int status, const char *line);
};

/* N ranks, up to ENGINE_MAX_LANES lanes; world rank and lane of this process. alive[replica] (NULL:
 * all) is false where a rank of a lower level has no replica. NULL without memory. */
struct engine *engine_create(int ranks, int lanes, int rank, int lane, const bool *alive,
                             const struct engine_limits *limits,
                             const struct engine_callbacks *callbacks, void *ctx);
void engine_destroy(struct engine *e);
size_t engine_eager(const struct engine *e); /* limits.eager, brought into what is possible */
/* Memory for the caller's messages, of which some is kept to be used again (pool.h): `head` bytes
 * that are zero, and behind them room. It is given back with the same numbers. */
void *engine_take(struct engine *e, size_t head, size_t room);
void engine_give(struct engine *e, void *memory, size_t head, size_t room);

/* A communicator: its members' world ranks in order, and those of the other group if it is an
 * intercommunicator (else NULL, 0; messages then go between the two groups). The engine names it by
 * its groups and how many communicators they have had, so all processes of all lanes agree. by_tag:
 * messages are in order within a tag only (for traffic that is sent from progress, as one-sided
 * communication does). Frames that came before this call are there then. */
struct engine_comm *engine_comm_add(struct engine *e, const int *local, int local_size,
                                    const int *remote, int remote_size, bool by_tag);
/* One more with the same members, made without a message: it is named by the other and by how many
 * twins that has had. */
struct engine_comm *engine_comm_twin(struct engine *e, const struct engine_comm *of, bool by_tag);
/* No request of it is pending any more. The log retains what other lanes still need from it. */
void engine_comm_free(struct engine *e, struct engine_comm *c);

/* Start a send or a receive. sent() or received() may be called before it returns; `done` tells. */
void engine_send(struct engine *e, struct engine_send *s);
void engine_receive(struct engine *e, struct engine_receive *r);
/* The program waits for a send that it holds, or tests it. Until then, or until the lag is over,
 * the log keeps no copy of it, since the lanes that acknowledge it meanwhile need none. */
void engine_await_send(struct engine *e, struct engine_send *s);
/* A message in one piece, which is the caller's again when this returns, whatever the other lanes
 * do: no request is needed. False: it is large, to this process itself, or the log is full; nothing
 * was sent, and it takes a request. */
bool engine_send_now(struct engine *e, struct engine_comm *comm, int to, int tag, const void *bytes,
                     size_t length);

/* The program waits for a receive, or has found it done by a test: it will not cancel it any more,
 * which the sender of a synchronous message is told. To be called for all of them, those that are
 * done too if engine_owes().
 *
 * Where replicas of other lanes do the work of dead ones of this lane ("a served lane") they may be
 * ahead of it, and so may be what comes: the program may still read the buffer of a receive that it
 * has posted (future.c). There a message is withheld until the program waits for its receive, or
 * tests it; a test takes `withheld` for `done`, and then waits. */
void engine_await(struct engine *e, struct engine_receive *r);
bool engine_owes(const struct engine *e);
/* Delivers to receives of collectives, which no call names, when their messages were withheld for
 * so long while the program was in a call. all: to those of the program as well. Returns how many.
 */
int engine_deliver_withheld(struct engine *e, uint64_t now_ms, uint32_t after_ms, bool all);
bool engine_withholds(const struct engine *e); /* any message */
bool engine_is_served(
    const struct engine *e); /* is some process of this lane dead, so that others serve it? */

/* Messages of this communicator are requests to an agent and its answers. They are no steps of the
 * program, but what it asks of other agents is: engine_step(). In a served lane, what the agent
 * receives from any source waits until the program is where it may be served (place.c); and
 * whenever the program learns something from others it must not go on while engine_is_behind(): a
 * request that another lane has served by this place is not served here yet. engine_serves(): the
 * agent is done with what it has received, or defers it; or comes back to that. */
void engine_by_place(struct engine *e, struct engine_comm *c);
void engine_step(struct engine *e);
void engine_serves(struct engine_comm *c, bool serves);
bool engine_is_behind(struct engine *e);

/* Memory that others name by its address, which differs between lanes (region.c). engine_region():
 * where the memory is here that a process of that lane names so, and how many bytes are left of it
 * from there; false: it is not attached, here or there. */
struct engine_place {
    uint64_t at, left;
};
void engine_attach(struct engine *e, struct engine_comm *c, uint64_t at, uint64_t length);
void engine_detach(struct engine *e, struct engine_comm *c, uint64_t at);
bool engine_region(const struct engine *e, const struct engine_comm *c, int lane, uint64_t address,
                   struct engine_place *place);

/* Is there a message? 1: yes, and status describes it. 0: no, only without `wait`. -EAGAIN: not
 * known yet, ask again with the same arguments. wait: the caller asks until it is 1 (MPI_Probe,
 * MPI_Mprobe). With take, the message is taken out of matching and belongs to the caller until it
 * is received. */
int engine_probe(struct engine *e, struct engine_comm *c, int from, int tag, bool wait,
                 struct engine_status *status, struct engine_message **take);
/* Receive a taken message; of r, `from` and `tag` need not be set. */
void engine_message_receive(struct engine *e, struct engine_message *m, struct engine_receive *r);

/* Withdraw a posted receive. 1: it is cancelled, look at r->status again; received() was called,
 * perhaps before. 0: it will take, or has taken, a message. -EAGAIN: not known yet. */
int engine_cancel(struct engine *e, struct engine_receive *r);

/* Decisions at a place in the program: outcomes of tests and waits, times, facts of
 * the machine. If engine_follows(), the leader has decided or will, and engine_decision_take()
 * gives the value's length. -ENOENT: its program has gone past this place without it; only for
 * times and facts, which programs may ask for as often as it happens. Otherwise find the value, and
 * pass it to engine_decision_give(). Ask engine_follows() again after each -EAGAIN: the leader may
 * have died. A value of no bytes means "not yet" (a test that found nothing): runs of them are
 * counted, and sent as one. */
enum engine_decision {
    DECIDE_MATCH, /* the engine's own */
    DECIDE_PROBE,
    DECIDE_CANCEL,
    DECIDE_TEST, /* from here: the message layer's */
    DECIDE_WAIT,
    DECIDE_TIME,
    DECIDE_FACT,
    DECIDE_OTHER,
};
bool engine_follows(const struct engine *e);
void engine_decision_give(struct engine *e, enum engine_decision kind, const void *value,
                          size_t length);
int engine_decision_take(struct engine *e, enum engine_decision kind, void *value, size_t max);
/* What was taken last is no answer to what this program has asked: its lane has diverged. */
void engine_asks_other(struct engine *e);
/* After engine_decision_give(), and a probe or a cancellation: a program that leads waits as long
 * as another replica has yet to use so much of what it has decided (limits.lead). Else one that
 * reads the clock all the time, or tests, fills the memory of those that are slower. */
bool engine_is_ahead(const struct engine *e);
/* Output commit for what does not go through the engine, such as files: every living replica of
 * this rank holds all decisions so far. */
bool engine_committed(struct engine *e);
/* Where to publish from now on how many decisions were made, and how many of them all hold. */
struct commit;
void engine_publish(struct engine *e, struct commit *commit);

/* A barrier of the replicas of this rank, at a place in the program: engine_barrier_enter() when
 * this one is there, engine_barrier_done() until all are. It waits for those that live and were at
 * the barrier before; engine_barrier_leave() ends it without them. */
void engine_barrier_enter(struct engine *e);
bool engine_barrier_done(struct engine *e);
void engine_barrier_leave(struct engine *e);

/* From the transport: a frame is there; its payload may change afterwards. The transport may ask
 * before where a long payload should be read to, once for a frame: engine_place() gives room for
 * all of it, in the user's buffer if it can; NULL: the frame is not wanted, throw it away. The room
 * belongs to the transport until it calls engine_arrived() with the room as payload, or is told
 * that the sender is lost(). */
void *engine_place(struct engine *e, int replica, const uint8_t *header);
void engine_arrived(struct engine *e, int replica, const uint8_t *header, const void *payload);
void engine_wrote(struct engine *e, void *cookie);

/* The replica is dead: the transport or the runtime says so. Only noted; acted on at the top of
 * engine_progress() and engine_arrived(). */
void engine_dead(struct engine *e, int replica);

/* As engine_dead(), but it may live, and then has to go. */
void engine_declare(struct engine *e, int replica, const char *why);

/* Deaths, blocked messages, acknowledgements, stalls. Call it often; now_ms is any clock that does
 * not go backwards. Returns how much there was to do (0: nothing). */
int engine_progress(struct engine *e, uint64_t now_ms);
/* Does the program sleep between its tests and probes? Then several are told to the others at once.
 */
void engine_rests(struct engine *e, bool rests);
/* Nothing goes on here before another replica's frame comes: the leader's decision that the program
 * waits for, or the acknowledgements without which a message may not leave. Polling does not bring
 * it. */
bool engine_waits_for_others(const struct engine *e);
/* Is there work that the clock may bring about, and for which another process may be waiting? */
bool engine_has_timed_work(const struct engine *e);

/* The program is in MPI_Finalize. True when no living process needs anything of this one any more:
 * BYE was handed to the transport, which has to write what it still has. Otherwise make progress
 * and ask again. */
bool engine_finish(struct engine *e);

struct engine_counts {
    uint64_t sent, received, resent, duplicates, acks, decisions, deaths;
    uint64_t blocked;     /* messages that waited until all held a decision, */
    uint64_t pumped;      /* that left later than they were sent, */
    uint64_t late_copies; /* and sends that were done by a late copy */
    uint64_t missed;      /* times and facts that this program asked for and its leader's did not */
    size_t log_bytes, log_peak;
    size_t channels, channels_peak, comms, comms_peak;
};
const struct engine_counts *engine_counts(const struct engine *e);
bool engine_is_dead(const struct engine *e, int replica);
/* It has sent BYE: the end of its link is no death. */
bool engine_is_finished(const struct engine *e, int replica);
#endif
