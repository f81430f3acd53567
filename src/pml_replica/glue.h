/* SPDX-License-Identifier: BSD-3-Clause */
/* glue.h -- what the Open MPI side of pml_replica shares: MPI calls above, engine and transport
 * below.
 *
 * pml_replica_component_ompi4.c  parameters, the gate, start and end
 * world_ompi4.c            N*R processes become R worlds of N ranks
 * comm_ompi4.c             communicators
 * module_ompi4.c           sends, receives, probes
 * request_ompi4.c          requests, their completion, cancel, persistent ones
 * transfer_ompi4.c         the user's buffers
 * outcome_ompi4.c          outcomes of tests and of waits for any, decided by the leader
 * answers_ompi4.c          what the preloaded library is told: the leader's time, its machine
 * output_ompi4.c           what the program prints is under output commit, too
 * barrier_ompi4.c          the lanes of a rank wait for each other
 * link_ompi4.c             engine and transport joined, addresses by modex, progress
 * silent_ompi4.c           hosts that have fallen silent, as mpirun tells
 * file/                    files; what is read from them, and written
 * window/                  one-sided communication: windows, operations, epochs
 * wait/                    how a waiter waits: spin, contention, backoff, the progress thread and
 *                          its lock
 * preload/                 calls that do not come by the PML */
#ifndef P2P_SRC_PML_REPLICA_GLUE_H
#define P2P_SRC_PML_REPLICA_GLUE_H
#include "ompi_config.h"
#include "src/pml_replica/wait/contention.h"
#include "src/pml_replica/preload/preload.h"
#include "src/replica/engine.h"
#include "src/pml_replica/wait/spin.h"
#include "src/pml_replica/wait/backoff.h"
#include "src/transport/transport.h"
#include "src/pml_replica/wait/biased_lock.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/message/message.h"
#include "ompi/request/request.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* A message on its way: the engine's half, and what Open MPI's half needs to know of it. */
struct transfer {
    union {
        struct engine_send send;
        struct engine_receive receive;
    };
    void (*done)(
        struct transfer *t);     /* called when it is done; NULL: what follows says what to do */
    opal_convertor_t *convertor; /* NULL: the data lies in one piece */
    void *packed;                /* or a buffer of ours, freed or unpacked in the end */
    struct replica_request *request; /* NULL: a blocking call waits for it */
    bool is_send;
    STAILQ_ENTRY(transfer) later; /* done, as the progress thread found */
};

/* For a blocking call. The rest is set later; clearing all of it would take as long as much of what
 * a small message needs. */
static inline void transfer_init(struct transfer *t)
{
    t->request = NULL;
    t->done = NULL;
}

typedef struct replica_request {
    mca_pml_base_request_t base; /* as all of Open MPI knows it */
    mca_pml_base_send_mode_t mode;
    struct transfer transfer;
} replica_request_t;

struct replica_params {
    bool direct;
    char *address;
    size_t eager_limit, fragment, log_limit, copy_rate, copy_alone, window_limit;
    unsigned lag_ms, drop_after_ms, retry_ms, silence_ms;
    bool verify, shared_memory, encrypt, progress_thread, clock;
};

/* What each component of this object registers. */
struct replica_common {
    int priority, verbose;
};

struct replica {
    struct replica_params params;
    struct replica_common pml, osc, fs, fbtl, sharedfp;
    struct engine *engine;
    struct transport *transport;
    int ranks, lanes; /* N, R */
    int rank, lane;   /* of this process */
    int *process_of;  /* by the engine's replica: the transport's process, which is the job's vpid;
                         -1: there is none */
    int *replica_of;  /* the other way */
    int process_count;
    char **address_of; /* by process, once asked for */
    opal_free_list_t requests;
    opal_list_t completed; /* requests whose callback waits until the engine is done */
    bool in_engine;
    bool more_follows; /* the program will wait for what is sent now in a later call */
    struct biased_lock links_lock;
    int depth;                /* of calls that the program is in */
    bool watch_threads;       /* the program asked for MPI_THREAD_MULTIPLE */
    _Atomic pthread_t thread; /* then: the thread that is in a call; 0: none */
    bool has_progress, in_progress_thread;
    pthread_t progress_thread;
    int progress_end; /* an eventfd */
    STAILQ_HEAD(, transfer) later;
    unsigned polls; /* polls of the links in all */
    struct spin spin;
    bool single_poll;       /* the only poll before others get the processor: it counts as many */
    bool slept;             /* in the last poll */
    bool waits;             /* the program polls until something is there (link_wait()) */
    bool waits_for_time;    /* which the leader decides */
    int awaiting;           /* waits for requests; */
    int awaiting_others;    /* those of them, and tests, that are not for messages alone */
    unsigned foreign_polls; /* consecutive polls outside of any call of ours */
    /* One-sided calls that were returned from before all was answered (window/window.h): of at most
     * one window, until the program does what others could see; and a lock that was asked for, or
     * is to be, and is not known to be granted. */
    struct window *unsettled, *ungranted;
    struct backoff backoff;
    struct contention contention;
    struct meeting meeting;
    unsigned processors; /* of this machine */
    struct fence {       /* where Open MPI itself waits for all processes */
        int32_t state;
        bool linked;
        uint64_t since;
    } fence;
    ompi_request_fns_t stock;
    pthread_t program; /* the thread that called MPI_Init */
    uint64_t since_ms; /* when the program began, by the coarse clock */
    struct silent *silent;
    struct commit *commit; /* shared with whatever shows our output; NULL: that is shown at once */
    struct told_clock {
        double last, offset; /* what was given last; the leader's time minus the own */
    } wtime, clocks[PRELOAD_CLOCKS];
    bool stopped;
    /* files that have a home: file/homes.h */
    int file_home_index;            /* of its parameter */
    int file_home;                  /* enum file_home */
    struct engine_comm *world_twin; /* of MPI_COMM_WORLD, for requests to homes */
    struct homes *homes;            /* NULL: no file was opened yet */
    struct wire *wire;              /* theirs */
    int (*ompio_parameter)(char *name, int length);
};
extern struct replica replica;

enum file_home { FILE_HOME_AUTO, FILE_HOME_ALWAYS, FILE_HOME_NEVER };

void transfer_complete_later(void); /* what the progress thread has left */

/* link_ompi4.c */
int link_open(void);    /* before the modex */
int link_start(void);   /* after it */
void link_finish(void); /* BYE, then close */
int link_progress(void);
void link_wait(void); /* one round, while a call blocks */
/* Waits until this rank's windows have what the other lanes' windows had by this place: before the
 * program goes on with what it has learnt from others. */
void link_catch_up(void);
/* After the program has learned what this process decides: until the others have come near enough.
 */
void link_keep_pace(void);
void link_stop(void *ctx, int status, const char *line);
void link_say_first(const char *line); /* the same, where all processes have the same to say */

bool link_progress_beside(void); /* one round of the progress thread; true: there is more to do */

/* Is this the program's own call? Calls of other threads come in no order that lanes could share,
 * and so do those from MPI's callbacks. */
static inline bool program_calls(void)
{
    return pthread_equal(pthread_self(), replica.program) && replica.depth == 0;
}

/* Before the program does what others can see: sends, is come to by a synchronous send, or asks
 * something of another window. What nonblocking collectives do beside it does not count, as they
 * were begun before. */
void window_settle(void); /* window/reply_ompi4.c */
static inline void program_speaks(void)
{
    if (replica.unsettled != NULL && replica.depth == 0 && replica.awaiting == 0)
        window_settle();
}

/* Around all calls of the engine: keep the progress thread out, and find a second thread that calls
 * although only one may. */
void link_watch_enter(void);
void link_watch_leave(void);
void link_leaves(void), link_is_back(void); /* for backoff.h */
static inline void link_enter(void)
{
    if (replica.watch_threads)
        link_watch_enter();
    if (replica.depth++ > 0)
        return;
    if (replica.backoff.left > 0)
        link_is_back();
    biased_lock_enter(&replica.links_lock);
    if (!STAILQ_EMPTY(&replica.later))
        transfer_complete_later();
}
static inline void link_leave(void)
{
    if (--replica.depth > 0)
        return;
    biased_lock_leave(&replica.links_lock);
    if (replica.backoff.counts)
        link_leaves();
    if (replica.watch_threads)
        link_watch_leave();
}

static inline uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
static inline uint64_t now_ms(clockid_t clock)
{
    return now_ns(clock) / 1000000;
}

/* backoff_ompi4.c */
void backoff_begin(void);
int backoff_due(void);                  /* how long to sleep in this poll, ms */
int backoff_at_fence(void);             /* 0 elsewhere */
int backoff_poll_links(int timeout_ms); /* polls the links; how much there was */

/* silent_ompi4.c */
void silent_start(void);
void silent_take(void); /* what mpirun has said, if anything */
void silent_stop(void);

/* progress_ompi4.c */
void progress_start(void);
void progress_stop(void);

/* request_ompi4.c */
OBJ_CLASS_DECLARATION(replica_request_t);
extern const struct engine_callbacks replica_callbacks_of_requests;
int request_lists_init(void);
int requests_start(size_t count, ompi_request_t **requests); /* those that are persistent */
replica_request_t *request_new(bool is_send, const void *buffer, size_t count,
                               ompi_datatype_t *type, int peer, int tag,
                               mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                               bool persistent);
/* These, down to request_await(), are called inside of link_enter(). */
int request_start(replica_request_t *r);
int request_receive(void *buffer, size_t count, ompi_datatype_t *type, int from, int tag,
                    ompi_communicator_t *comm, ompi_request_t **request);
/* A send that is done when this returns, and so needs no request of its own; false: it does. */
bool request_send_at_once(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                          mca_pml_base_send_mode_t mode, ompi_communicator_t *comm);
bool request_send_bytes_at_once(const void *bytes, size_t length, int to, int tag,
                                struct engine_comm *comm);
void request_await(ompi_request_t *request); /* the program waits for it */
static inline bool request_is_active(const ompi_request_t *request)
{
    return request->req_state != OMPI_REQUEST_INACTIVE;
}
bool request_is_held(const ompi_request_t *request);  /* a send that has yet to be asked for */
bool request_is_ready(const ompi_request_t *request); /* it is done, or will be when waited for */
/* A word on what it receives; 0: it does not. Sends may be done at once, without a request. */
uint32_t request_what(const ompi_request_t *request);
void request_complete_later(void);
size_t transfer_convert(opal_convertor_t *c, void *bytes, size_t length, bool pack);
bool transfer_in_one_piece(const ompi_datatype_t *type, size_t count);
void transfer_to_send(struct transfer *t, const void *buffer, size_t count, ompi_datatype_t *type,
                      opal_convertor_t *convertor);
void transfer_to_receive(struct transfer *t, void *buffer, size_t count, ompi_datatype_t *type,
                         opal_convertor_t *convertor);
void transfer_give_packed(struct transfer *t); /* what the two have packed, or will unpack */
int transfer_buffered(const void *buffer, size_t count, ompi_datatype_t *type, int to, int tag,
                      ompi_communicator_t *comm);
void transfer_begin(struct transfer *t);
void status_fill(ompi_status_public_t *status, const struct engine_status *s, size_t capacity);
void transfer_sent(void *ctx, struct engine_send *s);
void transfer_received(void *ctx, struct engine_receive *r);
void transfer_pack(void *ctx, struct engine_send *s, size_t offset, void *bytes, size_t length);
void transfer_unpack(void *ctx, struct engine_receive *r, size_t offset, const void *bytes,
                     size_t length);
void transfer_repack(void *ctx, struct engine_receive *r, size_t offset, void *bytes,
                     size_t length);

/* outcome_ompi4.c */
void outcome_install(void);
void outcome_remove(void);
int outcome_is_complete(ompi_request_t *request); /* as the leader has decided; then it is here */
/* Does it hold, as the leader has decided? Then it holds here when this returns. */
bool outcome_test(bool (*holds)(void *ctx), void *ctx);
/* The leader acts, and its decision is what came of it: all have the value in the end. act()
 * returns its length, at most max and ENGINE_DECISION_MAX; the next leader may call it again. */
int outcome_settle(void *value, size_t max, size_t (*act)(void *ctx, void *value), void *ctx);

/* answers_ompi4.c */
bool answers_begin(void); /* false: the library is not preloaded */
void answers_end(void);

/* output_ompi4.c */
void output_begin(void);   /* from here on mpirun shows what is committed */
void output_release(void); /* from here on it shows all */
void output_settle(void);  /* before the job is aborted */

/* barrier_ompi4.c */
void barrier_begin(void);
void barrier_lanes(void);

/* world_ompi4.c */
void world_swap(void);
void world_forget_locality(ompi_proc_t **procs, size_t count);
int world_rank_of(const ompi_group_t *group, int rank);

/* comm_ompi4.c */
static inline struct engine_comm *comm_of(const ompi_communicator_t *comm)
{
    return (struct engine_comm *)comm->c_pml_comm;
}
int comm_add(ompi_communicator_t *comm);
int comm_remove(ompi_communicator_t *comm);
int comm_number(ompi_communicator_t *comm, ompi_request_t **request);
int comm_idup(ompi_communicator_t *comm, ompi_communicator_t **twin, ompi_request_t **request);
int comm_refuse(ompi_communicator_t *comm, int root, int error, const char *call);

/* module_ompi4.c */
extern mca_pml_base_module_t replica_module;
#endif
