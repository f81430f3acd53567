/* SPDX-License-Identifier: BSD-3-Clause */
/* results_orte4.c -- what the job has made on its peers comes into its folder here: before orteds
 * are told to leave, and meanwhile with p2p_files_every. A thread does it, over a connection of its
 * own. */
#include "plm_p2p.h"
#include "src/common/log.h"
#include "src/errmgr_replica/survive_orte4.h"
#include "src/ras_p2p/ras_p2p.h"
#include "overlay/base/size.h"
#include "overlay/client/collect.h"
#include "opal/util/argv.h"
#include "orte/constants.h"
#include "orte/mca/plm/base/plm_private.h"
#include "orte/util/name_fns.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TICK_MS = 500, KILL_MS = 300 };

struct plm_p2p_results {
    pthread_t thread;
    opal_event_t finished, ticking,
        due;  /* due: the next time meanwhile, or after what was killed */
    int done; /* eventfd */
    bool busy, last, counted;
    mode_t umask;
    /* The thread's while busy. */
    struct collect_order order;
    struct collect_report report;
    struct err err;
    char **lines;
    char folder[FILES_FOLDER + 1];
    /* Both sides'. */
    atomic_bool stop;
    atomic_uint_fast64_t bytes, all_bytes;
    int64_t begun_ms;
    bool shows;
};

static struct plm_p2p_component *const plm = &mca_plm_p2p_component;

/* ---- in the thread ---- */

static void results_say(void *ctx, const char *line)
{
    struct plm_p2p_results *r = ctx;
    opal_argv_append_nosize(&r->lines, line);
}

static void results_progress(void *ctx, const struct collect_progress *now)
{
    struct plm_p2p_results *r = ctx;
    atomic_store(&r->all_bytes, now->all_bytes);
    atomic_store(&r->bytes, now->bytes);
}

static void *results_thread(void *ctx)
{
    struct plm_p2p_results *r = ctx;
    struct client *client = NULL;
    int rc = client_open(&client, mca_ras_p2p_component.socket, &r->err);
    if (rc == 0)
        rc = collect(client, &r->order, &r->report, &r->err);
    client_close(client);
    if (rc != 0)
        r->report.missing++;
    const uint64_t one = 1;
    while (write(r->done, &one, sizeof one) < 0 && errno == EINTR) {
    }
    return NULL;
}

/* ---- what is where ---- */

static bool vnode_of(const orte_node_t *node, unsigned *vnode)
{
    for (*vnode = 0; *vnode < vnodes_count(plm->vnodes); ++*vnode)
        if (*vnode < plm->vnode_capacity && plm->vnode_node[*vnode] == node)
            return true;
    return false;
}

static bool is_there(unsigned vnode)
{
    const orte_proc_t *d = plm->vnode_node[vnode]->daemon;
    return !vnodes_is_empty(plm->vnodes, vnode) && d != NULL &&
           ORTE_FLAG_TEST(d, ORTE_PROC_FLAG_ALIVE) && !survive_daemon_gone(d->name.vpid);
}

static struct collect_source *source_of(struct collect_order *o, unsigned vnode, unsigned lane)
{
    const struct grid_lease *lease = vnodes_lease(plm->vnodes, vnode);
    for (size_t i = 0; i < o->count; i++)
        if (id_equal(&o->sources[i].where.lease, &lease->id) && o->sources[i].where.lane == lane)
            return &o->sources[i];
    struct collect_source *more = realloc(o->sources, (o->count + 1) * sizeof *more);
    if (more == NULL)
        return NULL;
    o->sources = more;
    struct collect_source *s = &more[o->count++];
    *s = (struct collect_source){.where = {lease->id, lease->peer, lease->addr, lane},
                                 .hope = is_there(vnode) ? COLLECT_THERE : COLLECT_MAYBE};
    memcpy(s->name, lease->name, sizeof s->name);
    return s;
}

static int source_add(struct collect_source *s, unsigned rank, enum merge_state state)
{
    unsigned *ranks = realloc(s->ranks, (s->count + 1) * sizeof *ranks);
    if (ranks != NULL)
        s->ranks = ranks;
    enum merge_state *states = realloc(s->states, (s->count + 1) * sizeof *states);
    if (states != NULL)
        s->states = states;
    if (ranks == NULL || states == NULL)
        return -ENOMEM;
    size_t at = s->count++;
    for (; at > 0 && ranks[at - 1] > rank; at--) {
        ranks[at] = ranks[at - 1];
        states[at] = states[at - 1];
    }
    ranks[at] = rank;
    states[at] = state;
    return 0;
}

static enum merge_state state_of(const orte_proc_t *p)
{
    if (survive_finished(p))
        return MERGE_FINISHED;
    return p->pid != 0 ? MERGE_STARTED : MERGE_NOT_STARTED;
}

static int process_add(struct collect_order *o, const orte_proc_t *p, unsigned rank, unsigned lane)
{
    unsigned vnode;
    if (p->node == NULL || !vnode_of(p->node, &vnode))
        return 0; /* it never ran */
    struct collect_source *s = source_of(o, vnode, lane);
    return s != NULL ? source_add(s, rank, state_of(p)) : -ENOMEM;
}

/* Spawned programs are counted on from the ranks of the first. */
static int job_add(struct collect_order *o, const orte_job_t *job)
{
    const bool first = ORTE_LOCAL_JOBID(job->jobid) == 1 && survive_active();
    const unsigned ranks = first ? survive_ranks(job) : (unsigned)job->num_procs;
    int rc = 0;
    for (int i = 0; i < job->procs->size && rc == 0; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        unsigned rank = p != NULL ? (unsigned)p->name.vpid : 0, lane = 0;
        if (p == NULL || (first && !survive_place(&p->name, ranks, &rank, &lane)))
            continue;
        rc = process_add(o, p, o->ranks + rank, lane);
    }
    o->ranks += ranks;
    return rc;
}

static int order_fill(struct collect_order *o)
{
    uint32_t key;
    orte_job_t *job;
    int rc = 0;
    OPAL_HASH_TABLE_FOREACH(key, uint32, job, orte_job_data)
    if (rc == 0 && job != NULL && job->jobid != ORTE_PROC_MY_NAME->jobid)
        rc = job_add(o, job);
    return rc;
}

static void order_clear(struct collect_order *o)
{
    for (size_t i = 0; i < o->count; i++) {
        free(o->sources[i].ranks);
        free(o->sources[i].states);
    }
    free(o->sources);
    *o = (struct collect_order){0};
}

/* ---- before, while and after ---- */

static void timer_add(opal_event_t *timer, int ms)
{
    struct timeval t = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    opal_event_evtimer_add(timer, &t);
}

static void results_tick(int fd, short what, void *ctx)
{
    struct plm_p2p_results *r = ctx;
    char line[PROGRESS_LINE];
    (void)fd, (void)what;
    if (progress_results(atomic_load(&r->bytes), atomic_load(&r->all_bytes), r->begun_ms,
                         plm_p2p_now_ms(), line)) {
        r->shows = true;
        log_progress(line);
    }
    timer_add(&r->ticking, TICK_MS);
}

static int results_start(struct plm_p2p_results *r)
{
    order_clear(&r->order);
    if (order_fill(&r->order) != 0)
        return -ENOMEM;
    r->order.folder = r->folder;
    r->order.umask = r->umask;
    r->order.expected = plm_p2p_files_travel();
    r->order.meanwhile = !r->last;
    r->order.stop = &r->stop;
    r->order.say = results_say;
    r->order.progress = results_progress;
    r->order.ctx = r;
    r->report = (struct collect_report){0};
    r->err = (struct err){0};
    atomic_store(&r->stop, false);
    atomic_store(&r->all_bytes, 0);
    r->begun_ms = plm_p2p_now_ms();
    sigset_t all, before;
    sigfillset(&all); /* signals are mpirun's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&r->thread, NULL, results_thread, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    r->busy = rc == 0;
    if (r->busy && r->last)
        timer_add(&r->ticking, TICK_MS);
    return -rc;
}

static void results_tell(const struct plm_p2p_results *r)
{
    for (char **line = r->lines; line != NULL && *line != NULL; line++)
        log_line("%s", *line);
    if (r->err.code != 0)
        log_line("no results could be fetched: %s", r->err.text);
    log_trace(plm->verbose, 1, -1, -1, NULL, "%zu results in %s, %llu bytes, %zu missing",
              r->report.written, r->folder, (unsigned long long)r->report.bytes, r->report.missing);
}

static void results_wait(struct plm_p2p_results *r)
{
    uint64_t ignored;
    if (read(r->done, &ignored, sizeof ignored) < 0)
        return;
    pthread_join(r->thread, NULL);
    r->busy = false;
    opal_event_evtimer_del(&r->ticking);
    if (r->shows)
        log_progress(NULL);
    r->shows = false;
}

static void results_begin_last(struct plm_p2p_results *r)
{
    r->last = true;
    if (results_start(r) != 0) {
        log_line("no results could be fetched: no memory");
        ORTE_UPDATE_EXIT_STATUS(1);
        plm_p2p_leave();
    }
}

static void results_finished(int fd, short what, void *ctx)
{
    struct plm_p2p_results *r = ctx;
    (void)fd, (void)what;
    results_wait(r);
    if (r->last) {
        results_tell(r);
        plm->results_missing = r->report.missing > 0;
        if (plm->results_missing)
            ORTE_UPDATE_EXIT_STATUS(1);
        plm_p2p_leave();
    } else if (plm->ending) {
        results_begin_last(r);
    } else {
        timer_add(&r->due, (int)plm->every_s * 1000);
    }
    opal_argv_free(r->lines);
    r->lines = NULL;
}

static void results_due(int fd, short what, void *ctx)
{
    struct plm_p2p_results *r = ctx;
    (void)fd, (void)what;
    if (plm->ending)
        results_begin_last(r);
    else if (results_start(r) != 0)
        timer_add(&r->due, (int)plm->every_s * 1000);
}

static mode_t umask_get(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return mask;
}

int plm_p2p_results_umask(void)
{
    return plm_p2p_files_folder() != NULL ? (int)umask_get() : -1;
}

static struct plm_p2p_results *results_new(const char *folder)
{
    struct plm_p2p_results *r = calloc(1, sizeof *r);
    if (r == NULL || (r->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
        free(r);
        return NULL;
    }
    snprintf(r->folder, sizeof r->folder, "%s", folder);
    r->umask = umask_get();
    opal_event_set(orte_event_base, &r->finished, r->done, OPAL_EV_READ | OPAL_EV_PERSIST,
                   results_finished, r);
    opal_event_set_priority(&r->finished, ORTE_ERROR_PRI);
    opal_event_add(&r->finished, NULL);
    opal_event_evtimer_set(orte_event_base, &r->ticking, results_tick, r);
    opal_event_evtimer_set(orte_event_base, &r->due, results_due, r);
    opal_event_set_priority(&r->due, ORTE_ERROR_PRI);
    return r;
}

int plm_p2p_results_choose(struct err *e)
{
    if (plm->every_text == NULL || plm->every_text[0] == '\0' ||
        seconds_parse(&plm->every_s, plm->every_text))
        return 0;
    return err_set(e, EINVAL, "p2p_files_every '%.40s' is no time: write 60s, 5m or 2h",
                   plm->every_text);
}

void plm_p2p_results_watch(void)
{
    const char *folder = plm_p2p_files_folder();
    if (folder == NULL || plm->results != NULL)
        return;
    plm->results = results_new(folder);
    if (plm->results != NULL && plm->every_s > 0)
        timer_add(&plm->results->due, (int)plm->every_s * 1000);
}

/* Of a job that has failed, processes may live that go on writing. */
bool plm_p2p_results_collect(void)
{
    struct plm_p2p_results *r = plm->results;
    if (r == NULL)
        return false;
    const bool failed = orte_abnormal_term_ordered || orte_exit_status != 0;
    opal_event_evtimer_del(&r->due);
    if (failed) {
        plm_p2p_files_hint();
        (void)orte_plm_base_orted_kill_local_procs(NULL);
    }
    if (r->busy)
        atomic_store(&r->stop, true); /* it begins anew, for the last time, once that has stopped */
    else if (failed)
        timer_add(&r->due, KILL_MS);
    else
        results_begin_last(r);
    return true;
}

bool plm_p2p_results_wanted(void)
{
    return plm->results != NULL && plm->ending && !plm->leaving;
}

void plm_p2p_results_stop(void)
{
    if (plm_p2p_results_wanted())
        atomic_store(&plm->results->stop, true);
}

void plm_p2p_results_close(void)
{
    struct plm_p2p_results *r = plm->results;
    if (r == NULL || r->busy) /* then the process ends anyway */
        return;
    plm->results = NULL;
    opal_event_del(&r->finished);
    opal_event_evtimer_del(&r->ticking);
    opal_event_evtimer_del(&r->due);
    close(r->done);
    order_clear(&r->order);
    opal_argv_free(r->lines);
    free(r);
}
