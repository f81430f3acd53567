/* SPDX-License-Identifier: BSD-3-Clause */
/* ras_p2p_orte4.c -- asks the local daemon for the job's leases and makes each a node. mpirun goes
 * on with other events while the question is on its way. */
#include "ras_p2p.h"
#include "src/errmgr_replica/survive_orte4.h"
#include "src/survive/level.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include "hosts.h"
#include "overlay/base/size.h"
#include "nodename.h"
#include "request.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/event/event.h"
#include "opal/mca/if/base/base.h"
#include "orte/constants.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/ras/base/ras_private.h"
#include "orte/mca/rmaps/base/base.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "orte/mca/state/state.h"
#include "orte/util/attr.h"
#include "orte/util/proc_info.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_AFTER_S = 2, EXIT_REFUSED = 1 };

static struct ras_p2p_component *const ras = &mca_ras_p2p_component;

/* The line is the last word: what ORTE would add knows less. */
static int ras_refuse(const char *why)
{
    log_line("%s", why);
    ras_p2p_end();
    orte_never_launched = true;
    ORTE_UPDATE_EXIT_STATUS(EXIT_REFUSED);
    ORTE_ACTIVATE_JOB_STATE(NULL, ORTE_JOB_STATE_DAEMONS_TERMINATED);
    return ORTE_ERR_ALLOCATION_PENDING;
}

int ras_p2p_strategy(enum share_strategy *strategy, struct err *e)
{
    const int *value = NULL;
    const int index = mca_base_var_find("orte", "rmaps", "locality", "strategy");
    if (index >= 0)
        (void)mca_base_var_get_value(index, &value, NULL, NULL);
    *strategy = value != NULL ? (enum share_strategy) * value : SHARE_CONCENTRATE;
    return param_check(index, e);
}

static int name_taken(const char *name, void *unused)
{
    (void)unused;
    for (int i = 0; i < orte_node_pool->size; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(orte_node_pool, i);
        if (node != NULL && strcmp(node->name, name) == 0)
            return 1;
    }
    for (size_t i = 0; i < ras->node_count; i++)
        if (strcmp(ras->nodes[i].node->name, name) == 0)
            return 1;
    return 0;
}

orte_node_t *ras_p2p_node_new(const struct grid_lease *lease)
{
    struct ras_p2p_node *more = realloc(ras->nodes, (ras->node_count + 1) * sizeof ras->nodes[0]);
    if (more == NULL)
        return NULL;
    ras->nodes = more;
    char name[NODENAME_MOST + 1];
    nodename_make(name, lease->name, orte_process_info.nodename, name_taken, NULL);
    orte_node_t *node = OBJ_NEW(orte_node_t);
    node->name = strdup(name);
    node->state = ORTE_NODE_STATE_UP;
    node->slots = (orte_std_cntr_t)lease->slots;
    ORTE_FLAG_SET(node, ORTE_NODE_FLAG_SLOTS_GIVEN);
    more[ras->node_count++] = (struct ras_p2p_node){.node = node, .lease = *lease};
    return node;
}

void ras_p2p_rename(struct ras_p2p_node *known)
{
    char name[NODENAME_MOST + 1];
    nodename_make(name, known->lease.name, orte_process_info.nodename, name_taken, NULL);
    free(known->node->name);
    known->node->name = strdup(name);
}

struct grid *ras_grid(void)
{
    return ras->grid;
}

struct ras_p2p_node *ras_p2p_find(const orte_node_t *node)
{
    for (size_t i = 0; i < ras->node_count; i++)
        if (ras->nodes[i].node == node)
            return &ras->nodes[i];
    return NULL;
}

static int ras_insert_all(opal_list_t *nodes, orte_job_t *job)
{
    /* The nodes are all there is to use, and their names are nobody's in DNS. */
    orte_managed_allocation = true;
    opal_if_do_not_resolve = true;
    const int rc = orte_ras_base_node_insert(nodes, job);
    job->total_slots_alloc = orte_ras_base.total_slots_alloc;
    return rc;
}

int ras_p2p_insert(orte_node_t *node, orte_job_t *job)
{
    opal_list_t nodes;
    OBJ_CONSTRUCT(&nodes, opal_list_t);
    opal_list_append(&nodes, &node->super);
    const int rc = ras_insert_all(&nodes, job);
    OBJ_DESTRUCT(&nodes);
    return rc;
}

static void ras_stop_watching(void)
{
    if (ras->watching) {
        ras->watching = false;
        opal_event_del(&ras->answered);
        opal_event_del(&ras->ticking);
        if (ras->waited_s >= PROGRESS_AFTER_S || ras->patience.begun)
            log_progress(NULL);
    }
}

void ras_p2p_end(void)
{
    ras_stop_watching();
    if (ras->grid != NULL) {
        if (ras->on_end != NULL)
            ras->on_end();
        grid_close(ras->grid);
        ras->grid = NULL;
    }
}

/* On a terminal a line that is written over, else one now and then. */
static void ras_tell_waiting(const char *why)
{
    char line[GRID_LINE + 80];
    const bool says = patience_says(&ras->patience, why, ras->waited_s);
    patience_line(line, sizeof line, why, ras->waited_s, ras->wait_s);
    log_progress(line);
    if (says && !isatty(STDERR_FILENO))
        log_line("%s", line);
}

static void ras_tick(int fd, short event, void *unused)
{
    (void)fd, (void)event, (void)unused;
    char line[80], why[GRID_LINE + 1];
    struct timeval second = {.tv_sec = 1};
    ras->waited_s++;
    if (ras->wait_s > 0 && grid_waiting(ras->grid, why, sizeof why)) {
        ras_tell_waiting(why);
    } else if (ras->waited_s >= PROGRESS_AFTER_S) {
        snprintf(line, sizeof line, "looking for %u free slots ... %u s", ras->slots,
                 ras->waited_s);
        log_progress(line);
    }
    opal_event_evtimer_add(&ras->ticking, &second);
}

/* Takes the leases over: nodes for those of the job, a list for the spares. */
static int ras_take_leases(const struct answer *answer)
{
    opal_list_t nodes;
    OBJ_CONSTRUCT(&nodes, opal_list_t);
    const size_t work = answer->count - answer->spares;
    log_trace(ras->verbose, 1, -1, -1, NULL, "%zu leases, and %zu spare ones", work,
              answer->spares);
    for (size_t i = 0; i < answer->count; i++)
        log_trace(ras->verbose, 2, -1, -1, answer->leases[i].name, "%u slots",
                  (unsigned)answer->leases[i].slots);
    int rc = ORTE_SUCCESS;
    for (size_t i = 0; i < work && rc == ORTE_SUCCESS; i++) {
        orte_node_t *node = ras_p2p_node_new(&answer->leases[i]);
        if (node == NULL)
            rc = ORTE_ERR_OUT_OF_RESOURCE;
        else
            opal_list_append(&nodes, &node->super);
    }
    ras->spare = calloc(answer->spares + 1, sizeof ras->spare[0]);
    if (ras->spare != NULL && answer->spares > 0) {
        memcpy(ras->spare, answer->leases + work, answer->spares * sizeof ras->spare[0]);
        ras->spare_count = answer->spares;
    }
    if (rc == ORTE_SUCCESS)
        rc = ras_insert_all(&nodes, ras->job);
    OBJ_DESTRUCT(&nodes);
    return rc;
}

static void ras_answered(int fd, short event, void *unused)
{
    (void)fd, (void)event, (void)unused;
    struct answer answer;
    ras_stop_watching();
    grid_answer(ras->grid, &answer);
    if (answer.err.code != 0)
        ras_refuse(answer.err.text);
    else if (ras_take_leases(&answer) != ORTE_SUCCESS)
        ras_refuse("out of memory");
    else
        ORTE_ACTIVATE_JOB_STATE(ras->job, ORTE_JOB_STATE_ALLOCATION_COMPLETE);
    answer_clear(&answer);
}

static void ras_start_watching(void)
{
    struct timeval second = {.tv_sec = 1};
    ras->watching = true;
    ras->waited_s = 0;
    opal_event_set(orte_event_base, &ras->answered, grid_answer_fd(ras->grid), OPAL_EV_READ,
                   ras_answered, NULL);
    opal_event_set_priority(&ras->answered, ORTE_SYS_PRI);
    opal_event_add(&ras->answered, NULL);
    opal_event_evtimer_set(orte_event_base, &ras->ticking, ras_tick, NULL);
    opal_event_evtimer_add(&ras->ticking, &second);
}

/* Takes an attribute from the app context: the leases are what it asks for, and ORTE need not look
 * for hosts among them. The caller frees it. */
static char *take_text(orte_app_context_t *app, orte_attribute_key_t key)
{
    char *text = NULL;
    if (orte_get_attribute(&app->attributes, key, (void **)&text, OPAL_STRING))
        orte_remove_attribute(&app->attributes, key);
    return text;
}

/* --host and --hostfile of one program. */
static int hosts_read(struct hosts *h, orte_app_context_t *app, struct err *e)
{
    char *list = take_text(app, ORTE_APP_DASH_HOST), *file = take_text(app, ORTE_APP_HOSTFILE);
    int rc = 0;
    if (list != NULL)
        rc = hosts_add_list(h, list, orte_process_info.nodename, e);
    else if (file != NULL)
        rc = hosts_read_file(h, file, orte_process_info.nodename, e);
    free(list);
    free(file);
    return rc;
}

/* Desktops by name: all programs of the job have the same ones. */
static int ras_read_hosts(const orte_job_t *job, struct job_request *r, struct err *e)
{
    static struct hosts first, next;
    int rc = 0;
    for (int i = 0; i < job->apps->size && rc == 0; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        struct hosts *h = i == 0 ? &first : &next;
        *h = (struct hosts){0};
        if (app != NULL && (rc = hosts_read(h, app, e)) == 0 && i > 0 &&
            memcmp(h, &first, sizeof first) != 0)
            rc = err_set(e, EINVAL,
                         "--host and --hostfile must name the same desktops for each program");
    }
    if (rc != 0 || first.count == 0)
        return rc;
    ras->hosts_require = hosts_require(&first, r->require);
    r->require = ras->hosts_require;
    return r->require != NULL ? hosts_slots(&first, &r->per_host, e)
                              : err_set(e, ENOMEM, "out of memory");
}

/* What the command line asks for. `processes` has room for every app context. */
static int ras_read_request(orte_job_t *job, int *processes, struct job_request *r, struct err *e)
{
    const struct level *level = survive_level();
    *r = (struct job_request){
        .processes = processes, .spares = ras->spares, .require = ras->require};
    for (int i = 0; i < job->apps->size; i++) {
        const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app != NULL)
            processes[r->apps++] = (int)app->num_procs;
    }
    r->per_node = request_per_node(orte_rmaps_base.ppr);
    int rc = ras_p2p_strategy(&r->strategy, e);
    if (rc == 0)
        rc = request_count(r, e);
    if (rc == 0)
        rc = ras_read_hosts(job, r, e);
    if (rc == 0)
        rc = ras_p2p_require(job, r, e);
    if (rc == 0) {
        r->replicated = level_replicates(level);
        r->started = level_processes(level, r->ranks);
    }
    return rc;
}

/* The others are to see it while it waits, and p2pctl cancel is to find it. */
static void ras_introduce(const orte_job_t *job, const struct request *request)
{
    const struct level *level = survive_level();
    const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, 0);
    struct grid_job is = {.ranks = ras->request.ranks,
                          .lanes = level_lanes(level, ras->request.ranks),
                          .waits = request->slots,
                          .program = app != NULL ? app->app : ""};
    if (ras->within)
        is.within = &ras->allocation;
    if (ras->wait_s > 0)
        (void)client_tell_job(grid_client(ras->grid), &is);
}

/* ras_p2p_keep_output */
static int ras_read_keep(struct err *e)
{
    const char *text = ras->keep_output != NULL ? ras->keep_output : "0";
    uint64_t keep = 0;
    if (strcmp(text, "0") != 0 && (!size_parse(&keep, text) || keep > GRID_KEEP_MOST))
        return err_set(e, EINVAL,
                       "ras_p2p_keep_output: '%s' is no size up to 1M: say 256K, or 0 for none",
                       text);
    ras->keep = (size_t)keep;
    return 0;
}

int ras_p2p_allocate(orte_job_t *job, opal_list_t *nodes)
{
    (void)nodes;
    struct err e = {0};
    struct job_request job_request;
    struct request request = {0};
    int *processes = calloc((size_t)job->apps->size + 1, sizeof *processes);
    int rc = processes == NULL ? err_set(&e, ENOMEM, "out of memory")
                               : ras_read_request(job, processes, &job_request, &e);
    if (rc == 0)
        rc = request_make(&job_request, &request, &e);
    free(processes);
    job_request.processes = NULL;
    ras->request = job_request;
    if (rc == 0)
        rc = request_within(getenv("P2PGRID_ALLOCATION"), &ras->allocation, &ras->within, &e);
    request.use = ras->within ? LEASE_WITHIN : LEASE_PLAIN;
    request.reservation = ras->allocation;
    if (rc == 0)
        rc = patience_parse(ras->wait, &ras->wait_s, &e);
    request.wait_s = ras->wait_s;
    if (rc == 0)
        rc = ras_read_keep(&e);
    if (rc == 0)
        rc = grid_open(&ras->grid, ras->socket, &e);
    if (rc == 0) {
        ras->job = job;
        ras->slots = request.slots;
        log_trace(ras->verbose, 1, -1, -1, NULL, "asks for %u slots and %u spare ones",
                  request.slots, request.spares);
        ras_introduce(job, &request);
        rc = grid_ask(ras->grid, &request, &e);
    }
    if (rc != 0)
        return ras_refuse(e.text);
    ras_start_watching();
    return ORTE_ERR_ALLOCATION_PENDING;
}
