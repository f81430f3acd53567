/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_orte4.c -- from nodes without orted to orteds that have all reported. What to do is
 * decided in vnodes.c; here it is done. */
#include "plm_p2p.h"
#include "command.h"
#include "src/common/defaults.h"
#include "src/common/log.h"
#include "src/ras_p2p/ras_p2p.h"
#include "opal/util/argv.h"
#include "opal/util/opal_environ.h"
#include "orte/constants.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/plm/base/plm_private.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "orte/util/name_fns.h"
#include "orte/util/threads.h"
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_FAILED = 1 };

/* What ranks are told of the desktop on which they run. */
#define OF_DESKTOP_REPLICA "OMPI_MCA_pml_replica_address"
#define OF_DESKTOP_BTL "OMPI_MCA_btl_tcp_if_include"

static struct plm_p2p_component *const plm = &mca_plm_p2p_component;
extern char **environ;

int64_t plm_p2p_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void plm_p2p_abort(const char *why)
{
    if (plm->ending)
        return;
    log_line("%s", why);
    ORTE_UPDATE_EXIT_STATUS(EXIT_FAILED);
    orte_abnormal_term_ordered = true;
    plm_p2p_terminate();
}

/* The words that all orteds have in common; how many there are changes when one is replaced. */
static int words_make(void)
{
    opal_argv_free(plm->words);
    plm->words = NULL;
    int count = 0;
    char ess[] = "env";
    orte_plm_base_setup_orted_cmd(&count, &plm->words);
    return orte_plm_base_orted_append_basic_args(&count, &plm->words, ess, &plm->vpid_word);
}

/* Ranks reach each other where the overlay reaches their peers: not on the bridges of containers
 * and virtual machines that every desktop has under the same address. */
static int add_address(char ***environment, const struct addr *addr)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char text[INET6_ADDRSTRLEN], value[INET_ADDRSTRLEN + 4];
    const bool v4 = memcmp(addr->ip, mapped, sizeof mapped) == 0;
    const bool link_local = !v4 && addr->ip[0] == 0xfe && (addr->ip[1] & 0xc0) == 0x80;
    if (link_local ||
        inet_ntop(v4 ? AF_INET : AF_INET6, addr->ip + (v4 ? 12 : 0), text, sizeof text) == NULL)
        return 0; /* such an address is good on one cable only: the ranks look for themselves */
    int rc = command_add(environment, OF_DESKTOP_REPLICA, text);
    if (rc != 0 || !v4)
        return rc;
    const bool loopback = addr->ip[12] == 127;
    /* Not /32: for that Open MPI 4.1 shifts a word by all its bits and takes every interface. */
    snprintf(value, sizeof value, loopback ? "127.0.0.0/8" : "%s/31", text);
    return command_add(environment, OF_DESKTOP_BTL, value);
}

/* What neither orteds nor ranks on desktops ever use, and would open all the same: a component
 * takes each of them a tenth of a millisecond and more. Left out by name, so that nothing must be
 * there. */
static int words_leave_out(char ***environment)
{
    static const char *const unused[][2] = {
        {"OMPI_MCA_schizo", "^slurm,jsm,flux"},
        {"OMPI_MCA_pmix", "^flux"},
        {"OMPI_MCA_shmem", "^sysv,posix"},
        {"OMPI_MCA_state", "^hnp,novm,tool"},
        {"OMPI_MCA_errmgr", "^default_hnp,default_tool"},
        {"OMPI_MCA_odls", "^pspawn"},
        {"OMPI_MCA_iof", "^hnp,tool"},
    };
    int rc = 0;
    for (unsigned i = 0; i < sizeof unused / sizeof unused[0] && rc == 0; i++)
        rc = command_add(environment, unused[i][0], unused[i][1]);
    return rc;
}

static bool is_loopback(const struct addr *addr)
{
    return addr->ip[12] == 127 || (addr->ip[10] == 0 && addr->ip[15] == 1);
}

/* Some peers known by a loopback address and some by another: each must find out for itself. */
static bool addresses_agree(void)
{
    unsigned loopback = 0;
    const unsigned count = vnodes_count(plm->vnodes);
    for (unsigned i = 0; i < count; i++)
        loopback += is_loopback(&vnodes_lease(plm->vnodes, i)->addr);
    return loopback == 0 || loopback == count;
}

static char *install_prefix(void)
{
    char *prefix = NULL;
    orte_app_context_t *app = opal_pointer_array_get_item(plm->job->apps, 0);
    if (app == NULL ||
        !orte_get_attribute(&app->attributes, ORTE_APP_PREFIX_DIR, (void **)&prefix, OPAL_STRING))
        return NULL;
    return prefix;
}

/* By which programs find what has travelled. */
static int add_search_paths(char ***environment)
{
    const char *modules = getenv("PYTHONPATH");
    int rc = 0;
    if (plm->by_library_path)
        rc = command_add(environment, "LD_LIBRARY_PATH", getenv("LD_LIBRARY_PATH"));
    if (rc == 0 && plm->by_python_path && modules != NULL)
        rc = command_add(environment, "PYTHONPATH", modules);
    if (rc == 0 && plm->python_base[0] != '\0')
        rc = command_add(environment, "PYTHONUSERBASE", plm->python_base);
    return rc;
}

/* "Europe/Berlin", by the link that says so on most systems (localtime(5)); NULL: it does not. */
static const char *zone_here(char *link, size_t size)
{
    static const char folder[] = "/zoneinfo/";
    const ssize_t length = readlink("/etc/localtime", link, size - 1);
    if (length < 0)
        return NULL;
    link[length] = '\0';
    const char *zone = strstr(link, folder);
    return zone != NULL ? zone + sizeof folder - 1 : NULL;
}

static int orted_start(unsigned vnode, struct err *e)
{
    const struct grid_lease *lease = vnodes_lease(plm->vnodes, vnode);
    char *vpid = NULL, zone[PATH_MAX];
    if (words_make() != ORTE_SUCCESS ||
        orte_util_convert_vpid_to_string(&vpid, plm->vnode_node[vnode]->daemon->name.vpid) !=
            ORTE_SUCCESS)
        return err_set(e, ENOMEM, "the command of orted could not be made");
    free(plm->words[plm->vpid_word]);
    plm->words[plm->vpid_word] = vpid;
    char *prefix = install_prefix();
    char *command = command_line(plm->words, prefix, plm_p2p_results_umask());
    char **environment = command_environment(environ, plm->words);
    int rc = command == NULL || environment == NULL ? -ENOMEM : 0;
    if (rc == 0)
        rc = command_add(&environment, DEFAULTS_PMIX_STORE, getenv(DEFAULTS_PMIX_STORE));
    if (rc == 0)
        rc = words_leave_out(&environment);
    if (rc == 0)
        rc = add_search_paths(&environment);
    if (rc == 0)
        rc = command_add_locale(&environment, environ, zone_here(zone, sizeof zone));
    if (rc == 0 && addresses_agree())
        rc = add_address(&environment, &lease->addr);
    if (rc != 0)
        err_set(e, ENOMEM, "out of memory");
    struct grid_launch what = {.command = command, .environment = environment};
    if (rc == 0)
        rc = plm_p2p_terms(lease, &what, e);
    if (rc == 0)
        rc = client_launch(grid_client(ras_grid()), &lease->id, &what, e);
    log_trace(plm->verbose, 1, -1, -1, lease->name, "start orted %u as %s",
              plm->vnode_node[vnode]->daemon->name.vpid, plm->vnode_node[vnode]->name);
    command_free(environment);
    free(command);
    free(prefix);
    return rc;
}

static int remember_node(unsigned vnode, orte_node_t *node)
{
    if (vnode >= plm->vnode_capacity) {
        const unsigned capacity = vnode + 16;
        orte_node_t **more = realloc(plm->vnode_node, capacity * sizeof more[0]);
        if (more == NULL)
            return -ENOMEM;
        memset(more + plm->vnode_capacity, 0, (capacity - plm->vnode_capacity) * sizeof more[0]);
        plm->vnode_node = more;
        plm->vnode_capacity = capacity;
    }
    plm->vnode_node[vnode] = node;
    return 0;
}

/* The node stays, its peer, slots and orted change. */
static void give_lease(unsigned vnode)
{
    orte_node_t *node = plm->vnode_node[vnode];
    const struct grid_lease *lease = vnodes_lease(plm->vnodes, vnode);
    struct ras_p2p_node *known = ras_p2p_find(node);
    log_trace(plm->verbose, 1, -1, -1, lease->name, "takes the place of peer %s",
              known->lease.name);
    orte_ras_base.total_slots_alloc += (orte_std_cntr_t)lease->slots - node->slots;
    plm->job->total_slots_alloc = orte_ras_base.total_slots_alloc;
    node->slots = (orte_std_cntr_t)lease->slots;
    plm_p2p_daemon_retire(node);
    known->lease = *lease;
    ras_p2p_rename(known);
    plm_p2p_daemon_new(node);
}

/* One more node, for a lease that the job got later. */
static int vnode_add_node(const struct grid_lease *lease, orte_node_t **out)
{
    orte_node_t *node = ras_p2p_node_new(lease);
    if (node == NULL || ras_p2p_insert(node, plm->job) != ORTE_SUCCESS)
        return -ENOMEM;
    *out = node;
    return 0;
}

static void grid_ask_for_more(const struct vnodes_action *action)
{
    const struct ras_p2p_component *ras = &mca_ras_p2p_component;
    struct err e = {0};
    struct request request = {0};
    size_t count;
    const struct id *failed = vnodes_failed_peers(plm->vnodes, &count);
    int rc = request_another(&ras->request, action->slots, failed, count, &request, &e);
    request.use = ras->within ? LEASE_WITHIN : LEASE_PLAIN;
    request.reservation = ras->allocation;
    request.own = !plm->confine;
    if (rc != 0 || grid_ask(ras_grid(), &request, &e) != 0) {
        vnodes_refused(plm->vnodes, e.text);
    } else {
        plm->asking = true;
        opal_event_del(&plm->event);
    }
}

static void vnodes_act(const struct vnodes_action *action)
{
    struct err e = {0};
    orte_node_t *node = NULL;
    switch (action->kind) {
    case VNODES_START:
        if (orted_start(action->vnode, &e) != 0)
            plm_p2p_lose_lease(action->vnode, true, e.text);
        break;
    case VNODES_NEW_LEASE:
        give_lease(action->vnode);
        break;
    case VNODES_ADD:
        if (vnode_add_node(vnodes_lease(plm->vnodes, action->vnode), &node) != 0 ||
            remember_node(action->vnode, node) != 0 || plm_p2p_daemon_new(node) != ORTE_SUCCESS)
            plm_p2p_abort("out of memory");
        break;
    case VNODES_RELEASE:
        client_release(grid_client(ras_grid()), &action->lease, NULL);
        break;
    case VNODES_ASK:
        grid_ask_for_more(action);
        break;
    case VNODES_GIVE_UP:
        plm_p2p_abort(action->text);
        break;
    }
}

static void wait_for_deadline(void)
{
    const int64_t due = vnodes_deadline(plm->vnodes);
    opal_event_evtimer_del(&plm->timer);
    if (due != INT64_MAX && !plm->ending) {
        const int64_t now = plm_p2p_now_ms(), left = due > now ? due - now : 0;
        struct timeval tv = {.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000 + 1000};
        opal_event_evtimer_add(&plm->timer, &tv);
    }
}

void plm_p2p_go_on(void)
{
    struct vnodes_action action;
    /* While a question is on its way the connection is the thread's. */
    while (!plm->ending && !plm->asking && ras_grid() != NULL &&
           vnodes_next(plm->vnodes, plm_p2p_now_ms(), &action))
        vnodes_act(&action);
    wait_for_deadline();
}

/* Children are given their parent's parameters, those of its desktop among them; their own orted
 * knows better. */
static void forget_parents_desktop(orte_job_t *job)
{
    for (int i = 0; i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app != NULL) {
            opal_unsetenv(OF_DESKTOP_BTL, &app->env);
            opal_unsetenv(OF_DESKTOP_REPLICA, &app->env);
        }
    }
}

/* MPI_Comm_spawn may need more slots than are free: the spares join in. */
static void spares_open(orte_job_t *job)
{
    int wanted = 0, there = 0;
    struct grid_lease lease;
    orte_node_t *node;
    for (int i = 0; i < job->apps->size; i++) {
        const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        wanted += app != NULL ? (int)app->num_procs : 0;
    }
    for (int i = 1; i < orte_node_pool->size; i++) {
        const orte_node_t *n = opal_pointer_array_get_item(orte_node_pool, i);
        there += n != NULL && n->slots > n->slots_inuse ? n->slots - n->slots_inuse : 0;
    }
    while (there < wanted && vnodes_take_spare(plm->vnodes, &lease) &&
           vnode_add_node(&lease, &node) == 0) {
        there += (int)lease.slots;
        node->state = ORTE_NODE_STATE_ADDED; /* or a spawned job leaves it out */
        orte_nidmap_communicated = false;
    }
}

/* The first launch: the leases in reserve become the vnodes' spares. */
static int launch_first_time(void)
{
    struct ras_p2p_component *ras = &mca_ras_p2p_component;
    if (plm->vnodes != NULL)
        return 0;
    plm->vnodes = vnodes_new(1000 * (plm->timeout_s > 0 ? plm->timeout_s : 1));
    if (plm->vnodes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < ras->spare_count; i++)
        vnodes_add_spare(plm->vnodes, &ras->spare[i]);
    free(ras->spare);
    ras->spare = NULL;
    ras->spare_count = 0;
    plm_p2p_watch_grid();
    return 0;
}

static int vnodes_add_nodes(const orte_job_map_t *map)
{
    for (int i = 0; i < map->nodes->size; i++) {
        orte_node_t *node = opal_pointer_array_get_item(map->nodes, i);
        if (node == NULL || node->daemon == NULL ||
            ORTE_FLAG_TEST(node, ORTE_NODE_FLAG_DAEMON_LAUNCHED))
            continue;
        const struct ras_p2p_node *known = ras_p2p_find(node);
        unsigned vnode;
        if (known == NULL || vnodes_find(plm->vnodes, &known->lease.id, &vnode))
            continue;
        if (vnodes_add(plm->vnodes, &known->lease, &vnode) != 0 || remember_node(vnode, node) != 0)
            return -ENOMEM;
    }
    return 0;
}

/* What the first launch needs before anything is started. */
static int launch_prepare(orte_job_t *job, struct err *e)
{
    char *prefix = install_prefix();
    int rc = plm_p2p_files_choose(job, e);
    if (rc == 0)
        rc = plm_p2p_results_choose(e);
    if (rc == 0)
        rc = plm_p2p_take_programs(job, prefix, e);
    free(prefix);
    if (rc == 0 && plm->vnodes == NULL)
        rc = plm_p2p_choose_sandbox(e);
    if (rc == 0 && launch_first_time() != 0)
        rc = err_set(e, ENOMEM, "out of memory");
    return rc;
}

void plm_p2p_go_on_launching(void)
{
    orte_job_t *job = plm->job;
    orte_job_t *daemons = orte_get_job_data_object(ORTE_PROC_MY_NAME->jobid);
    trust_start_nothing();
    if (job->originator.jobid != ORTE_JOBID_INVALID) {
        forget_parents_desktop(job);
        spares_open(job);
    }
    const int rc = orte_plm_base_setup_virtual_machine(job);
    if (rc != ORTE_SUCCESS) {
        ORTE_ERROR_LOG(rc);
        ORTE_FORCED_TERMINATE(ORTE_ERROR_DEFAULT_EXIT_CODE);
        return;
    }
    plm_p2p_forget_routes();
    if (orte_do_not_launch || daemons->map == NULL || daemons->map->num_new_daemons == 0) {
        job->state = ORTE_JOB_STATE_DAEMONS_LAUNCHED;
        ORTE_ACTIVATE_JOB_STATE(job, ORTE_JOB_STATE_DAEMONS_REPORTED);
        return;
    }
    job->state = ORTE_JOB_STATE_DAEMONS_LAUNCHED;
    daemons->state = ORTE_JOB_STATE_DAEMONS_LAUNCHED;
    if (vnodes_add_nodes(daemons->map) != 0) {
        plm_p2p_abort("out of memory");
        return;
    }
    plm_p2p_go_on();
}

static void launch_job(orte_job_t *job)
{
    struct err e = {0};
    plm->job = job;
    int rc = launch_prepare(job, &e);
    if (rc == 0 && !orte_do_not_launch)
        rc = plm_p2p_files_start(&e);
    if (rc < 0) {
        plm_p2p_abort(e.text);
    } else if (rc > 0) {
        plm->packing = plm->asking = true;
        opal_event_del(&plm->event);
    } else {
        plm_p2p_go_on_launching();
    }
}

void plm_p2p_launch_daemons(int fd, short args, void *state)
{
    (void)fd, (void)args;
    orte_state_caddy_t *caddy = state;
    ORTE_ACQUIRE_OBJECT(caddy);
    launch_job(caddy->jdata);
    OBJ_RELEASE(caddy);
}
