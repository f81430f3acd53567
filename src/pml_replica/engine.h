/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h -- one replica of one rank: matching, channels, log, decisions, deaths. Plain C: no Open
 * MPI, I/O or clock.
 *
 * The process of rank i in lane k has vpid k*N + i. It talks to the processes of its own lane only,
 * as long as they live; what makes the lanes one program is in doc/replication.md. Around the
 * engine are
 *
 *     the message layer    turns MPI calls into engine_send(), engine_receive(), engine_probe(),
 * decisions the transport        carries frames: a header of HEADER_BYTES (header.h) and a payload
 *
 * Rules of the house:
 *   - one thread at a time; calls may be made from within the callbacks sent() and received(), not
 * from the others;
 *   - a link (an ordered pair of processes) is first-in first-out and loses nothing until its other
 * end is dead;
 *   - requests (struct engine_send, struct engine_receive) live in the caller's memory from the
 * call until `done`;
 *   - results are 0 or more, or -errno; -EAGAIN means: make progress (read the links,
 * engine_progress()), then ask again. Ranks inside a communicator are called ranks; ranks of
 * MPI_COMM_WORLD are called world ranks. */
#ifndef P2P_ENGINE_H
#define P2P_ENGINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct engine_comm;    /* a communicator, as the engine knows it */
struct engine_message; /* a message taken by a matching probe, not yet received */

enum {
    ENGINE_MAX_LANES = 8,
    ENGINE_ANY_SOURCE = -1, /* the values that Open MPI gives to MPI_ANY_SOURCE and MPI_ANY_TAG; */
    ENGINE_ANY_TAG = -1,    /* ANY_TAG takes tags >= 0 only: tags below are internal */
};

struct engine_limits {
    size_t eager;    /* bytes; a longer message goes by rendezvous, without a copy */
    size_t fragment; /* bytes of a rendezvous that go in one frame */
    size_t log; /* bytes of copies that may wait for other lanes; beyond it sends do not complete */
    uint32_t lag_ms; /* a large send that waits longer for other lanes is copied to the log, if
                        there is room */
    uint32_t
        drop_after_ms; /* who stalls us and gives no sign of life for so long is dead; 0: never */
    uint32_t ack_messages; /* acknowledge after so many messages from a rank, */
    size_t ack_bytes;      /* or so many bytes, */
    uint32_t ack_delay_ms; /* or so much time */
    int cycle_first,
        cycle_last; /* internal tags of nonblocking collectives: given out downwards from first to
                     * last, then from first again (MCA_COLL_BASE_TAG_NONBLOCKING_BASE, _END) */
    bool verify;    /* compare payloads between lanes, not only tags and lengths */
};
extern const struct engine_limits engine_default_limits;

struct engine_send {
    /* by the caller */
    struct engine_comm *comm;
    int to, tag;
    size_t length;    /* packed bytes */
    const void *data; /* the packed bytes where they lie in one piece; NULL: they are got by
                         callbacks.pack() */
    bool synchronous; /* done only when the receiver has matched it */
    /* by the engine */
    bool done; /* the buffer is the caller's again */
    struct entry *entry;
};

struct engine_status {
    int source, tag;
    size_t length; /* of the message, also when less was asked for */
    bool cancelled;
};

struct engine_receive {
    /* by the caller */
    struct engine_comm *comm;
    int from, tag;   /* or ENGINE_ANY_SOURCE, ENGINE_ANY_TAG */
    size_t capacity; /* packed bytes that fit; the rest of a longer message is dropped:
                        status.length > capacity */
    void *data; /* where the bytes go in one piece; NULL: they are handed to callbacks.unpack() */
    /* by the engine */
    bool done;
    struct engine_status status;
    struct engine_receive *next, *prev; /* among the posted */
    uint64_t order;                     /* of posting, within the communicator */
    uint64_t wildcard; /* its number among the receives from any source of the communicator */
    bool bound;        /* the leader's choice is known: this source, tag and number */
    int bound_source, bound_tag;
    uint64_t bound_number;
};

/* What the engine asks of its surroundings; ctx is the caller's. */
struct engine_callbacks {
    /* Send header and payload to a process; the link is opened on first use. cookie NULL: the
     * payload may change as soon as this returns (write it or copy it). Else it is not copied, and
     * stays until engine_wrote(cookie), which is said for every cookie, also when the other end
     * dies, but never from within send(). 0: taken. 1: taken, and with a cookie: written already,
     * engine_wrote() is not said. -EAGAIN: too much waits on this link; the engine asks again in
     * engine_progress(). A link that turns out broken takes everything, and engine_dead() follows.
     */
    int (*send)(void *ctx, int vpid, const uint8_t *header, const void *payload, size_t length,
                void *cookie);
    /* The process is dead: forget the link. Tell the runtime if it does not know (why is NULL when
     * it does). */
    void (*lost)(void *ctx, int vpid, const char *why);
    void (*pack)(void *ctx, struct engine_send *send, size_t offset, void *bytes, size_t length);
    void (*unpack)(void *ctx, struct engine_receive *receive, size_t offset, const void *bytes,
                   size_t length);
    void (*sent)(void *ctx,
                 struct engine_send *send); /* done: the last thing the engine does with it */
    void (*received)(void *ctx, struct engine_receive *receive); /* likewise; also when cancelled */
    /* The job cannot go on, for the reason in the line: lanes have diverged, a rank is lost, or
     * this process was declared dead (status 0: leave quietly). If it returns, the engine does
     * nothing more. */
    void (*stop)(void *ctx, int status, const char *line);
};

/* N ranks, R <= ENGINE_MAX_LANES lanes; world rank and lane of this process. alive[vpid] (R*N of
 * them; NULL: all) is false for a replica that never was: a rank of a lower level. NULL when memory
 * or an argument does not allow it. */
struct engine *engine_create(int ranks, int lanes, int rank, int lane, const bool *alive,
                             const struct engine_limits *limits,
                             const struct engine_callbacks *callbacks, void *ctx);
void engine_destroy(struct engine *e);

/* A communicator: its members' world ranks in order, those of the other group if it is an
 * intercommunicator (else NULL, 0; sends and receives then go to `remote`). The engine names it by
 * its groups and how many communicators they have had, so that all processes of all lanes agree.
 * by_tag: messages are in order within a tag only (for traffic that is sent from progress, as
 * one-sided does). Frames that came before are kept for it. */
struct engine_comm *engine_comm_add(struct engine *e, const int *local, int local_size,
                                    const int *remote, int remote_size, bool by_tag);
/* No request of it is pending any more. What other lanes still need from it is kept. */
void engine_comm_free(struct engine *e, struct engine_comm *c);

/* Start a send or a receive; sent() or received() may be called before it returns, and `done`
 * tells. 0, or -E2BIG: more nonblocking collectives in flight than ENGINE_WINDOW (the line is in
 * engine_reason()). */
enum { ENGINE_WINDOW = 1024 };
int engine_send(struct engine *e, struct engine_send *s);
void engine_receive(struct engine *e, struct engine_receive *r);

/* Is there a message? 1: yes, status says which; 0: no (only without `wait`); -EAGAIN: not known
 * yet, ask again with the same arguments. wait: the caller will ask until it is 1 (MPI_Probe,
 * MPI_Mprobe). With take, the message is taken out of matching and belongs to the caller, for
 * engine_message_receive(), which frees it. */
int engine_probe(struct engine *e, struct engine_comm *c, int from, int tag, bool wait,
                 struct engine_status *status, struct engine_message **take);
/* Receive a taken message; of r, only comm, capacity and data need be set. */
void engine_message_receive(struct engine *e, struct engine_message *m, struct engine_receive *r);

/* Withdraw a posted receive: 1 it is cancelled (received() was called), 0 it will take or has taken
 * a message, -EAGAIN not known yet. */
int engine_cancel(struct engine *e, struct engine_receive *r);

/* Decisions at a place in the program: outcomes of tests and waits, times, names. If
 * engine_follows(), the leader has decided or will: engine_decision_take() gives its value.
 * Otherwise find the value and tell it by engine_decision_give(). Ask engine_follows() again after
 * each -EAGAIN: the leader may have died. A value of no bytes means "not yet" (a test that found
 * nothing): runs of them are counted, not sent. Values up to ENGINE_DECISION_MAX bytes. */
enum engine_decision {
    DECIDE_PROBE,
    DECIDE_CANCEL,
    DECIDE_TEST,
    DECIDE_WAIT,
    DECIDE_TIME,
    DECIDE_NAME,
    DECIDE_OTHER
};
enum { ENGINE_DECISION_MAX = 1 << 20 };
bool engine_follows(const struct engine *e);
int engine_decision_give(struct engine *e, enum engine_decision kind, const void *value,
                         size_t length);
int engine_decision_take(struct engine *e, enum engine_decision kind, void *value,
                         size_t max); /* length, or -EAGAIN */
/* Output commit for what does not go through the engine (files, say): every living replica has all
 * decisions so far. */
bool engine_committed(const struct engine *e);

/* From the transport: a frame is there; its payload may change afterwards. Where a long payload
 * should be read to may be asked before, once for a frame: engine_place() gives room for all of it,
 * in the user's buffer if it can; NULL: the frame is not wanted, throw it away. The room is the
 * transport's until it says engine_arrived(), with the room as payload, or is told that the sender
 * is lost(). */
void *engine_place(struct engine *e, int vpid, const uint8_t *header);
void engine_arrived(struct engine *e, int vpid, const uint8_t *header, const void *payload);
void engine_wrote(struct engine *e, void *cookie);

/* The process is dead: the transport or the runtime says so. Only noted; engine_progress() acts on
 * it. */
void engine_dead(struct engine *e, int vpid);

/* Deaths, held output, acknowledgements, stalls. Call it often; now_ms is any clock that does not
 * go backwards. Returns how much there was to do (0: nothing). */
int engine_progress(struct engine *e, uint64_t now_ms);

/* The program is in MPI_Finalize. True when no living process needs anything of this one any more:
 * then good-bye has been handed to the transport, which has to write what it holds; otherwise make
 * progress and ask again. */
bool engine_finish(struct engine *e);

/* What happened, for the end of the job and for tests. */
struct engine_counts {
    uint64_t sent, received, logged, resent, duplicates, acks, decisions, held, copied_late, deaths;
    size_t log_bytes, log_peak;
};
const struct engine_counts *engine_counts(const struct engine *e);
const char *engine_reason(const struct engine *e); /* the line of the last refusal or stop, or "" */
int engine_lead_lane(const struct engine *e,
                     int rank); /* lowest living lane of a world rank, or -1 */
bool engine_is_dead(const struct engine *e, int vpid);
bool engine_is_finished(const struct engine *e,
                        int vpid); /* it has said good-bye: the end of its link is no death */
#endif
