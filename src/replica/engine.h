/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h -- one replica of one rank: matching, channels, log, decisions, deaths.
 *
 * Plain C: no Open MPI, no I/O, no clock. The process of rank i in lane k has vpid k*N + i. As long
 * as they live it sends to the processes of its own lane only; what makes the lanes one program is
 * in doc/replication.md. Around the engine are
 *
 *     the message layer   turns MPI calls into sends, receives, probes and decisions
 *     the transport       carries frames: a header of HEADER_BYTES (header.h) and a payload
 *
 * One thread at a time. sent() and received() may call engine_send(), engine_receive() and
 * engine_comm_*(); the other callbacks call nothing.
 *
 * A link (an ordered pair of processes) is first-in first-out and loses nothing until its other end
 * is dead; one that keeps() what was sent, not even then.
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
    ENGINE_LOAN = 16,              /* bytes of a loan */
    ENGINE_LOST = 2, /* a status of stop(): a rank is lost, and others may know better why */
};

struct engine_limits {
    size_t eager;    /* bytes; a longer message goes by rendezvous, without a copy */
    size_t fragment; /* bytes of a rendezvous that go in one frame */
    size_t log; /* bytes of copies that wait for other lanes; beyond it sends do not complete */
    uint32_t lag_ms; /* a large send that waits longer for other lanes is copied to the log */
    /* Who stalls us and gives no sign of life for so long is dead; 0: never. */
    uint32_t drop_after_ms;
    /* Acknowledge after so many messages from a rank, so many bytes, or so much time. */
    uint32_t ack_messages;
    size_t ack_bytes;
    uint32_t ack_delay_ms;
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
    /* by the engine */
    bool done; /* the buffer is the caller's again */
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
    bool firm;               /* it will not be cancelled */
    bool awaited;            /* the program waits for it: see engine_await() */
    bool inner;              /* no program's request, but a collective's: see engine_hand_out() */
    bool agents;             /* its agent's, who serves beside it: see engine_by_place() */
    /* by the engine */
    bool done;
    bool held; /* its message is here, but not in its buffer */
    struct engine_status status;
    TAILQ_ENTRY(engine_receive) posted;
    int source;        /* world rank that it receives from, or ENGINE_ANY_SOURCE */
    uint64_t order;    /* of posting, within the communicator */
    uint64_t wildcard; /* its number among the receives from any source of the communicator */
    bool bound;        /* the leader's choice is known: this message */
    int bound_source, bound_tag;
    uint64_t place;                /* and not before the program is here */
    uint64_t number;               /* of the message that is bound, or was taken */
    struct engine_message *coming; /* its message, while its bytes arrive, or are held */
};

/* What the engine asks of its surroundings; ctx is the caller's. */
struct engine_callbacks {
    /* Send header and payload to a process; the link is opened on first use. cookie NULL: the
     * payload may change as soon as this returns (write it or copy it). Else it is not copied, and
     * stays until engine_wrote(cookie), which is said for every cookie, also when the other end
     * dies, but never from within send().
     *
     * 0: taken. 1: taken, and with a cookie: written already, engine_wrote() is not said. -EAGAIN:
     * too much waits on this link; only for frames that header_may_wait(). The engine then asks
     * again in engine_progress(). A link that is broken takes everything, and engine_dead()
     * follows. */
    int (*send)(void *ctx, int vpid, const uint8_t *header, const void *payload, size_t length,
                void *cookie);
    /* Of a replica of this rank, on a link that outlives its processes (a ring in the memory of one
     * host); NULL: there is none. keeps: all that was sent to it so far it reads before it takes
     * note of this process's death, whenever that comes. drained: asked until it says so, before a
     * death is acted upon, and where the lane is served. From the first time on the other end's
     * keeps() says no; true when all that went before was brought, and none is just being brought.
     */
    bool (*keeps)(void *ctx, int vpid);
    bool (*drained)(void *ctx, int vpid);
    /* The process is dead, forget the link. Tell the runtime, unless it said so (why is NULL). */
    void (*lost)(void *ctx, int vpid, const char *why);
    void (*pack)(void *ctx, struct engine_send *s, size_t offset, void *bytes, size_t length);
    void (*unpack)(void *ctx, struct engine_receive *r, size_t offset, const void *bytes,
                   size_t length);
    /* The reverse of unpack: a receive that the leader has cancelled had its message here already,
     * and must give it back. NULL: not possible; the job then stops and says so. */
    void (*repack)(void *ctx, struct engine_receive *r, size_t offset, void *bytes, size_t length);
    /* Large messages between processes that can read each other's memory; NULL: none can. lend: the
     * other process may read these bytes until take_back(); `loan`, for its eyes only, tells it
     * where. False: it cannot; it is sent the bytes when it asks for them. borrow: reads what is
     * lent. False: the lender is gone, or has taken it back, and what is at `to` now is anything.
     */
    bool (*lend)(void *ctx, int vpid, const void *bytes, uint8_t loan[ENGINE_LOAN]);
    void (*take_back)(void *ctx, int vpid, const uint8_t loan[ENGINE_LOAN]);
    bool (*borrow)(void *ctx, int vpid, const uint8_t loan[ENGINE_LOAN], void *to, size_t length);
    /* Done. The engine does not look at the request again. */
    void (*sent)(void *ctx, struct engine_send *s);
    void (*received)(void *ctx, struct engine_receive *r);
    /* The job cannot go on, for the reason in the line: lanes have diverged, a rank is lost
     * (ENGINE_LOST). Status 0: it is only this process that is declared dead, and leaves quietly.
     * If this returns, the engine does nothing more. */
    void (*stop)(void *ctx, int status, const char *line);
};

/* N ranks, up to ENGINE_MAX_LANES lanes; world rank and lane of this process. alive[vpid] (NULL:
 * all) is false for a replica that never was: a rank of a lower level. NULL without memory. */
struct engine *engine_create(int ranks, int lanes, int rank, int lane, const bool *alive,
                             const struct engine_limits *limits,
                             const struct engine_callbacks *callbacks, void *ctx);
void engine_destroy(struct engine *e);
size_t engine_eager(const struct engine *e); /* limits.eager, brought into what is possible */

/* A communicator: its members' world ranks in order, and those of the other group if it is an
 * intercommunicator (else NULL, 0; messages then go between the two groups). The engine names it by
 * its groups and how many communicators they have had, so all processes of all lanes agree. by_tag:
 * messages are in order within a tag only (for traffic sent from progress, as one-sided does).
 * Frames that came before are kept for it. */
struct engine_comm *engine_comm_add(struct engine *e, const int *local, int local_size,
                                    const int *remote, int remote_size, bool by_tag);
/* One more with the same members, made without a word to them: it is named by the other and how
 * many twins that has had. */
struct engine_comm *engine_comm_twin(struct engine *e, const struct engine_comm *of, bool by_tag);
/* No request of it is pending any more. What other lanes still need from it is kept. */
void engine_comm_free(struct engine *e, struct engine_comm *c);

/* Start a send or a receive. sent() or received() may be called before it returns, and `done`
 * tells. */
void engine_send(struct engine *e, struct engine_send *s);
void engine_receive(struct engine *e, struct engine_receive *r);

/* Where others do the work of some dead of this lane they may be ahead of it, and so may be what
 * comes: the program may still read the buffer of a receive that it has posted (future.c). There a
 * message is held until the program waits for its receive, or asks whether it is done; a test takes
 * `held` for `done`, and then waits. To be said of all receives that the program waits for. */
void engine_await(struct engine *e, struct engine_receive *r);
/* Receives of collectives, which nobody waits for by name: when they have been held for so long
 * while the program was in a call. all: those of the program as well. Returns how many. */
int engine_hand_out(struct engine *e, uint64_t now_ms, uint32_t after_ms, bool all);
bool engine_holds(const struct engine *e);     /* any message */
bool engine_is_served(const struct engine *e); /* by other lanes' replicas, for some dead */

/* Messages of this communicator are requests to an agent and its answers. They are no steps of the
 * program, but what it asks of other agents is: engine_step(). When the lane is served, what the
 * agent receives from any source waits until the program is where it may be served (place.c); and
 * whenever the program learns something from others it does not go on while it is behind: while a
 * request that another lane has served by this place is not served here. engine_serves(): the agent
 * is done with what it has received, or puts it off; or comes back to that. */
void engine_by_place(struct engine *e, struct engine_comm *c);
void engine_step(struct engine *e);
void engine_serves(struct engine_comm *c, bool serves);
bool engine_is_behind(struct engine *e);

/* Memory that others name by its address, which differs between lanes (region.c). engine_region():
 * where that is here which somebody of a lane calls so, and how many bytes are left of it from
 * there; false: it is not attached, here or there. */
struct engine_place {
    uint64_t at, left;
};
void engine_attach(struct engine *e, struct engine_comm *c, uint64_t at, uint64_t length);
void engine_detach(struct engine *e, struct engine_comm *c, uint64_t at);
bool engine_region(const struct engine *e, const struct engine_comm *c, int lane, uint64_t address,
                   struct engine_place *place);

/* Is there a message? 1: yes, status says which. 0: no, only without `wait`. -EAGAIN: not known
 * yet, ask again with the same arguments. wait: the caller will ask until it is 1 (MPI_Probe,
 * Mprobe). With take, the message is taken out of matching and is the caller's until it is
 * received. */
int engine_probe(struct engine *e, struct engine_comm *c, int from, int tag, bool wait,
                 struct engine_status *status, struct engine_message **take);
/* Receive a taken message; of r, only comm, capacity and data need be set. */
void engine_message_receive(struct engine *e, struct engine_message *m, struct engine_receive *r);

/* Withdraw a posted receive. 1: it is cancelled, look at r->status again; received() was called,
 * perhaps before. 0: it will take, or has taken, a message. -EAGAIN: not known yet. */
int engine_cancel(struct engine *e, struct engine_receive *r);

/* Decisions at a place in the program: outcomes of tests and waits, times, names. If
 * engine_follows(), the leader has decided or will, and engine_decision_take() gives the value's
 * length. Otherwise find the value, and tell it by engine_decision_give(). Ask engine_follows()
 * again after each -EAGAIN: the leader may have died. A value of no bytes means "not yet" (a test
 * that found nothing): runs of them are counted, not sent. */
enum engine_decision {
    DECIDE_MATCH, /* the engine's own */
    DECIDE_PROBE,
    DECIDE_CANCEL,
    DECIDE_TEST, /* from here: the message layer's */
    DECIDE_WAIT,
    DECIDE_TIME,
    DECIDE_NAME,
    DECIDE_OTHER,
};
bool engine_follows(const struct engine *e);
void engine_decision_give(struct engine *e, enum engine_decision kind, const void *value,
                          size_t length);
int engine_decision_take(struct engine *e, enum engine_decision kind, void *value, size_t max);
/* Output commit for what does not go through the engine, files say: every living replica of this
 * rank holds all decisions so far. */
bool engine_committed(struct engine *e);
/* Where to note from now on how many decisions were made, and how many of them are held so. */
struct commit;
void engine_publish(struct engine *e, struct commit *commit);

/* The replicas of this rank come together at a place in the program: engine_rally() says that this
 * one is there. Waited for are those that live and were at the last such place: engine_rallied()
 * tells when they are all here, engine_part() ends it without them. */
void engine_rally(struct engine *e);
bool engine_rallied(struct engine *e);
void engine_part(struct engine *e);

/* From the transport: a frame is there; its payload may change afterwards. Where a long payload
 * should be read to may be asked before, once for a frame: engine_place() gives room for all of it,
 * in the user's buffer if it can; NULL: the frame is not wanted, throw it away. The room is the
 * transport's until it says engine_arrived() with the room as payload, or is told that the sender
 * is lost(). */
void *engine_place(struct engine *e, int vpid, const uint8_t *header);
void engine_arrived(struct engine *e, int vpid, const uint8_t *header, const void *payload);
void engine_wrote(struct engine *e, void *cookie);

/* The process is dead: the transport or the runtime says so. Only noted; acted on at the top of
 * engine_progress() and engine_arrived(). */
void engine_dead(struct engine *e, int vpid);

/* As engine_dead(), but it may live, and then has to go. */
void engine_declare(struct engine *e, int vpid, const char *why);

/* Deaths, held output, acknowledgements, stalls. Call it often; now_ms is any clock that does not
 * go backwards. Returns how much there was to do (0: nothing). */
int engine_progress(struct engine *e, uint64_t now_ms);
/* Does the program sleep between its tests and probes? Then the others are told of a few at once.
 */
void engine_rests(struct engine *e, bool rests);
/* Nothing goes on here before a word comes: the leader's, on what the program has asked, or that a
 * message may leave. To look again and again does not bring it. */
bool engine_waits_for_word(const struct engine *e);
/* Is there something that the clock may make it do, and for which another may be waiting? */
bool engine_has_errands(const struct engine *e);

/* The program is in MPI_Finalize. True when no living process needs anything of this one any more:
 * good-bye has been handed to the transport, which has to write what it holds. Otherwise make
 * progress and ask again. */
bool engine_finish(struct engine *e);

struct engine_counts {
    uint64_t sent, received, resent, duplicates, acks, decisions, deaths;
    uint64_t held;        /* messages that waited until a decision was held by all, */
    uint64_t pumped;      /* that left later than they were sent, */
    uint64_t late_copies; /* and sends that were done by a late copy */
    size_t log_bytes, log_peak;
    size_t channels, channels_peak, comms, comms_peak;
};
const struct engine_counts *engine_counts(const struct engine *e);
const char *engine_reason(const struct engine *e);    /* the line of the last refusal or stop */
int engine_leader(const struct engine *e, int world); /* vpid of the lowest living lane, or -1 */
bool engine_is_dead(const struct engine *e, int vpid);
/* It has said good-bye: the end of its link is no death. */
bool engine_is_finished(const struct engine *e, int vpid);
#endif
