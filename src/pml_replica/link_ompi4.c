/* SPDX-License-Identifier: BSD-3-Clause */
/* link_ompi4.c -- engine and transport joined; addresses by modex; progress. */
#include "glue.h"
#include "src/replica/header.h"
#include "src/common/secret.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/runtime/opal_progress.h"
#include "ompi/mca/rte/rte.h"
#include <signal.h>
#include <unistd.h>

#define MODEX_KEY "p2pgrid.replica"
enum { ENGINE_EVERY = 16, GOODBYE_MS = 10000, UNMET_MS = 3000 };

/* --- what the engine asks --- */

/* The progress thread can do nothing with a small message, unless its sender waits for the match;
 * nor with a decision whose acknowledgement is not waited for. An acknowledgement shortens logs,
 * which only matters when one is full. What WITNESS goes before tells how urgent both are. */
static enum transport_urgency urgency_of(const uint8_t *header)
{
    const uint8_t flags = header[1];
    const enum transport_urgency news = replica.more_follows ? TRANSPORT_SOON : TRANSPORT_NEWS;
    switch (header[0]) {
    case HEADER_EAGER:
        return flags & HEADER_SYNC ? TRANSPORT_URGENT : news;
    case HEADER_DECIDE:
        return flags & HEADER_SURVIVES ? news : TRANSPORT_URGENT;
    case HEADER_DECIDED:
        return flags & HEADER_SURVIVES ? TRANSPORT_QUIET : TRANSPORT_URGENT;
    case HEADER_HAVE:
        return flags & HEADER_BESIDE ? TRANSPORT_QUIET : TRANSPORT_URGENT;
    case HEADER_ACK:
    case HEADER_WITNESS:
        return TRANSPORT_QUIET;
    default:
        return TRANSPORT_URGENT;
    }
}

/* A message that may wait does so in the engine's log, where it has to be anyway. */
static int link_send(uint32_t process, const uint8_t *header, const void *payload, size_t length,
                     void *cookie)
{
    struct transport *t = replica.transport;
    const enum transport_urgency urgency = urgency_of(header);
    const bool waits = header_may_wait(header);
    if (waits && cookie == NULL)
        return transport_try(t, process, urgency, header, HEADER_BYTES, payload, length);
    if (waits && transport_backlog(t, process) > TRANSPORT_BACKLOG)
        return -EAGAIN;
    return transport_send(t, process, urgency, header, HEADER_BYTES, payload, length, cookie);
}

static int frame_send(void *ctx, int to, const uint8_t *header, const void *payload, size_t length,
                      void *cookie)
{
    (void)ctx;
    int process = replica.process_of[to];
    if (process < 0)
        return 1;
    int rc = link_send((uint32_t)process, header, payload, length, cookie);
    if (rc == -ENOMEM)
        link_stop(NULL, 1, "no memory for a message on its way");
    return rc < 0 && rc != -EAGAIN ? 1 : rc;
}

_Static_assert((int)ENGINE_RKEY == (int)TRANSPORT_RKEY, "what one gives the other takes");

static bool memory_expose(void *ctx, int to, const void *bytes, uint8_t rkey[ENGINE_RKEY])
{
    (void)ctx;
    int process = replica.process_of[to];
    return process >= 0 && transport_expose(replica.transport, (uint32_t)process, bytes, rkey);
}

static void exposed_revoke(void *ctx, int of, const uint8_t rkey[ENGINE_RKEY])
{
    (void)ctx;
    transport_revoke(replica.transport, (uint32_t)replica.process_of[of], rkey);
}

static bool exposed_read(void *ctx, int of, const uint8_t rkey[ENGINE_RKEY], void *to,
                         size_t length)
{
    (void)ctx;
    return transport_remote_read(replica.transport, (uint32_t)replica.process_of[of], rkey, to,
                                 length);
}

static uint64_t process_turn_ms(void *ctx, int of, uint64_t gap_ms, bool anew)
{
    (void)ctx;
    const int process = replica.process_of[of];
    return process < 0 ? gap_ms
                       : transport_turn_ms(replica.transport, (uint32_t)process, gap_ms, anew);
}

static bool link_is_far(void *ctx, int to)
{
    (void)ctx;
    const int process = replica.process_of[to];
    return process >= 0 && transport_is_far(replica.transport, (uint32_t)process);
}

static bool link_survives(void *ctx, int to)
{
    (void)ctx;
    int process = replica.process_of[to];
    return process >= 0 && transport_survives(replica.transport, (uint32_t)process);
}

static bool link_drained(void *ctx, int of)
{
    (void)ctx;
    int process = replica.process_of[of];
    return process < 0 || transport_drained(replica.transport, (uint32_t)process);
}

static void replica_lost(void *ctx, int of, const char *why)
{
    (void)ctx, (void)why;
    if (replica.process_of[of] >= 0)
        transport_drop(replica.transport, (uint32_t)replica.process_of[of]);
}

/* At most a second. The program's signals do not end the sleep. */
static void sleep_ms(int ms)
{
    struct timespec left = {.tv_nsec = ms * 1000000L};
    while (nanosleep(&left, &left) != 0)
        continue;
}

/* mpirun hears how each replica has ended, by MPI_Abort, by a signal, with its desktop, and ends
 * the job with that line and that status: it speaks first. The program does not go on meanwhile.
 * What mpirun does not know, that peers do not reach each other, is said here then. Counted in
 * sleeps: time in which the machine stood still does not count. */
static void wait_for_mpirun(void)
{
    enum { SLEEPS = 60, SLEEP_MS = 50 };
    for (int i = 0; i < SLEEPS; i++)
        sleep_ms(SLEEP_MS);
}

/* The engine has stopped; it does nothing more. */
void link_stop(void *ctx, int status, const char *line)
{
    (void)ctx;
    if (replica.stopped)
        return;
    replica.stopped = true;
    if (status == 0) {
        raise(SIGKILL); /* the others go on without us */
        return;
    }
    output_release();
    if (status == ENGINE_LOST)
        wait_for_mpirun();
    fprintf(stderr, "p2pgrid: %s\n", line);
    ompi_rte_abort(1, NULL);
}

/* --- what the transport brings --- */

static void *frame_place(void *arg, uint32_t from, const void *head, size_t head_length,
                         size_t length)
{
    (void)arg, (void)length;
    return head_length == HEADER_BYTES
               ? engine_place(replica.engine, replica.replica_of[from], head)
               : NULL;
}

static void frame_arrived(void *arg, uint32_t from, const void *head, size_t head_length,
                          void *payload, size_t length)
{
    (void)arg, (void)length;
    if (head_length == HEADER_BYTES)
        engine_arrived(replica.engine, replica.replica_of[from], head, payload);
}

static void frame_wrote(void *arg, uint32_t to, void *token)
{
    (void)arg, (void)to;
    engine_wrote(replica.engine, token);
}

static void process_lost(void *arg, uint32_t peer, const char *reason)
{
    (void)arg, (void)reason;
    engine_dead(replica.engine, replica.replica_of[peer]);
}

/* Is this process's daemon gone? PMIx answers `not found` also when there is none to ask. An empty
 * commit costs no message, and fails only then. */
static bool process_is_orphan(void)
{
    return opal_pmix.commit() == OPAL_ERR_UNREACH;
}

/* Only what the fence has brought counts: a process that died before it must not be waited for. A
 * process whose daemon has died knows nothing of the others; mpirun has given it up, or will, and
 * it must not declare the living dead, which they would believe. */
static const char *process_address(void *arg, uint32_t peer)
{
    (void)arg;
    opal_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = peer};
    char *text = NULL;
    int rc;
    if (replica.address_of[peer] != NULL)
        return replica.address_of[peer];
    OPAL_MODEX_RECV_VALUE_IMMEDIATE(rc, MODEX_KEY, &name, &text, OPAL_STRING);
    if (rc == OPAL_SUCCESS)
        replica.address_of[peer] = text;
    else if (process_is_orphan())
        link_stop(NULL, 0, NULL);
    return replica.address_of[peer];
}

/* --- start and end --- */

/* Made by mpirun for this job; a job of a plain mpirun has a smaller one. Nothing else needs it, so
 * it does not stay in the environment. */
static bool secret_take(uint8_t secret[SECRET_BYTES])
{
    const char *text = getenv(SECRET_VARIABLE);
    if (text == NULL && replica.params.direct)
        text = getenv("OMPI_MCA_orte_precondition_transports");
    bool there = text != NULL && secret_read(text, secret);
    unsetenv(SECRET_VARIABLE);
    return there;
}

int link_open(void)
{
    const struct replica_params *p = &replica.params;
    struct transport_options o = {.self = (uint32_t)OMPI_PROC_MY_NAME->vpid,
                                  .count = (uint32_t)replica.process_count,
                                  .job = (uint64_t)OMPI_PROC_MY_NAME->jobid,
                                  .listen = p->address != NULL && *p->address ? p->address : NULL,
                                  .shared_memory = p->shared_memory,
                                  .retry_ms = p->retry_ms,
                                  .silence_ms = p->silence_ms,
                                  .encrypt = p->encrypt};
    biased_lock_init(&replica.links_lock);
    replica.progress_end = -1;
    struct transport_events events = {NULL,        frame_place,  frame_arrived,
                                      frame_wrote, process_lost, process_address};
    replica.address_of = calloc((size_t)replica.process_count, sizeof *replica.address_of);
    int rc = replica.address_of == NULL ? -ENOMEM
             : !secret_take(o.secret)   ? -ENOKEY
                                        : transport_open(&replica.transport, &o, &events);
    if (rc != 0)
        return rc;
    char *text = (char *)transport_address(replica.transport); /* it is copied */
    OPAL_MODEX_SEND_VALUE(rc, OPAL_PMIX_GLOBAL, MODEX_KEY, text, OPAL_STRING);
    return rc == OPAL_SUCCESS ? 0 : -EIO;
}

/* The job ends. One line is enough, if the first process has the same to say. */
void link_say_first(const char *line)
{
    if (OMPI_PROC_MY_NAME->vpid != 0)
        sleep(5); /* aborting takes a while on a busy machine */
    link_stop(NULL, 1, line);
}

int link_start(void)
{
    struct engine_limits limits = engine_default_limits;
    limits.eager = replica.params.eager_limit;
    limits.fragment = replica.params.fragment;
    limits.log = replica.params.log_limit;
    limits.lag_ms = replica.params.lag_ms;
    limits.copy_rate = replica.params.copy_rate;
    limits.copy_alone = replica.params.copy_alone;
    limits.drop_after_ms = replica.params.drop_after_ms;
    limits.verify = replica.params.verify;
    struct engine_callbacks callbacks = {.send = frame_send,
                                         .survives = link_survives,
                                         .drained = link_drained,
                                         .lost = replica_lost,
                                         .pack = transfer_pack,
                                         .unpack = transfer_unpack,
                                         .repack = transfer_repack,
                                         .expose = memory_expose,
                                         .revoke = exposed_revoke,
                                         .remote_read = exposed_read,
                                         .turn_ms = process_turn_ms,
                                         .is_far = link_is_far,
                                         .sent = transfer_sent,
                                         .received = transfer_received,
                                         .stop = link_stop};
    bool *alive = calloc((size_t)(replica.ranks * replica.lanes), sizeof *alive);
    for (int i = 0; alive != NULL && i < replica.ranks * replica.lanes; i++)
        alive[i] = replica.process_of[i] >= 0;
    if (alive != NULL)
        replica.engine = engine_create(replica.ranks, replica.lanes, replica.rank, replica.lane,
                                       alive, &limits, &callbacks, NULL);
    free(alive);
    if (replica.engine == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    replica.program = pthread_self();
    backoff_begin();
    barrier_begin();
    outcome_install();
    if (!answers_begin() && replica.lanes > 1) {
        /* lanes would number communicators, and read clocks, each for itself */
        link_say_first(
            "replicas need libp2pgrid_replica.so, which is not loaded: start the program by "
            "mpirun --mca ras p2p, or put it into LD_PRELOAD, and leave that as it is");
        return OMPI_ERR_NOT_FOUND;
    }
    if (replica.lanes > 1)
        silent_start();
    if (replica.params.progress_thread && replica.lanes > 1)
        progress_start();
    if (replica.has_progress)
        output_begin();
    return OMPI_SUCCESS;
}

void link_watch_enter(void)
{
    pthread_t nobody = 0, self = pthread_self();
    if (replica.thread == self || atomic_compare_exchange_strong(&replica.thread, &nobody, self))
        return;
    link_say_first(
        "two threads are in MPI calls at once, but only MPI_THREAD_SERIALIZED was granted; "
        "replicas need one order of calls: one thread at a time, or errmgr_replica_level 1");
    for (;;)
        pause();
}

void link_watch_leave(void)
{
    replica.thread = 0;
}

/* So many polls outside of our calls: Open MPI waits for something in a way of its own. */
enum { FOREIGN_POLLS = 4 };

/* Other ranks may wait for what collectives pass on, whatever this program waits for. */
static int deliver_withheld(void)
{
    if (!engine_withholds(replica.engine))
        return 0;
    const uint32_t after_ms = replica.awaiting_others > 0 ? 0 : replica.params.lag_ms;
    return engine_deliver_withheld(replica.engine, now_ms(CLOCK_MONOTONIC_COARSE), after_ms,
                                   replica.foreign_polls >= FOREIGN_POLLS);
}

static int link_advance(int timeout_ms)
{
    if (replica.engine == NULL || replica.in_engine)
        return 0;
    link_enter();
    replica.in_engine = true;
    silent_take();
    if (timeout_ms == 0)
        timeout_ms = backoff_due();
    biased_lock_polled(&replica.links_lock, timeout_ms > 1 || replica.contention.rests);
    int n = backoff_poll_links(timeout_ms);
    if (n > 0 || timeout_ms != 0 || replica.single_poll || ++replica.polls % ENGINE_EVERY == 0) {
        engine_rests(replica.engine, replica.contention.rests);
        n += engine_progress(replica.engine, now_ms(CLOCK_MONOTONIC_COARSE));
    }
    n += deliver_withheld();
    replica.in_engine = false;
    if (!opal_list_is_empty(&replica.completed))
        request_complete_later();
    link_leave();
    return n;
}

bool link_progress_beside(void)
{
    silent_take();
    bool more = transport_progress(replica.transport);
    return engine_progress(replica.engine, now_ms(CLOCK_MONOTONIC_COARSE)) > 0 || more;
}

/* A poll that has slept need not yield as well, which Open MPI would do where there was nothing. */
int link_progress(void)
{
    replica.foreign_polls =
        replica.depth == 0 && replica.awaiting == 0 ? replica.foreign_polls + 1 : 0;
    const int ms = backoff_at_fence();
    int n = link_advance(ms);
    if (ms > 0 && replica.engine == NULL)
        sleep_ms(ms);
    replica.contention.yields += n == 0;
    return n > 0 || !replica.slept ? n : 1;
}

/* Polls the links alone first; then the rest of Open MPI, and other processes, get the processor.
 */
static void spin_on_links(void)
{
    const unsigned due = spin_due(&replica.spin);
    replica.slept = false;
    for (unsigned i = 1; i <= due && !replica.slept; i++)
        if (link_advance(0) > 0) {
            spin_made(&replica.spin, i);
            return;
        }
    spin_made(&replica.spin, 0);
    replica.single_poll = due == 0;
    opal_progress();
    replica.single_poll = false;
}

void link_wait(void)
{
    replica.waits = true;
    spin_on_links();
    replica.waits = false;
}

void link_catch_up(void)
{
    if (!engine_is_served(replica.engine))
        return;
    link_enter();
    while (engine_is_behind(replica.engine))
        link_wait();
    link_leave();
}

void link_keep_pace(void)
{
    while (engine_is_ahead(replica.engine))
        link_wait();
}

/* A process that has said its good-bye needs none. */
static bool links_all_delivered(bool to_unmet)
{
    for (int i = 0; i < replica.process_count; i++)
        if (i != (int)OMPI_PROC_MY_NAME->vpid &&
            (to_unmet || transport_met(replica.transport, (uint32_t)i)) &&
            !engine_is_finished(replica.engine, replica.replica_of[i]) &&
            !transport_delivered(replica.transport, (uint32_t)i))
            return false;
    return true;
}

void link_finish(void)
{
    if (replica.engine == NULL)
        return;
    progress_stop();
    while (!replica.stopped && !engine_finish(replica.engine))
        if (link_advance(1) == 0)
            opal_progress();
    /* A process that was never connected, and cannot be reached now, is most likely on a desktop
     * that has vanished. */
    const uint64_t begin = now_ms(CLOCK_MONOTONIC);
    uint64_t waited = 0;
    while (!replica.stopped && waited < GOODBYE_MS && !links_all_delivered(waited < UNMET_MS)) {
        link_advance(1);
        waited = now_ms(CLOCK_MONOTONIC) - begin;
    }
    silent_stop();
    output_release();
    answers_end();
    outcome_remove();
    biased_lock_destroy(&replica.links_lock);
    transport_close(replica.transport);
    engine_destroy(replica.engine);
    replica.engine = NULL;
    replica.transport = NULL;
}
