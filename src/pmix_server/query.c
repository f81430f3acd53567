/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c -- PMIx_Query_info: which keys are asked for, and the answer to each out of one snapshot.
 */
#include "server.h"
#include "p2pgrid_pmix.h"
#include "infos.h"
#include "overlay/client/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MOST = 64, NAME = 64 };

struct wanted {
    enum key key;
    char job[NAME], host[NAME], allocation[NAME];
    bool topology; /* with the peers */
};

struct question {
    struct wanted at[KEYS_MOST];
    size_t count, unknown;
    pmix_info_cbfunc_t answer;
    void *ctx;
};

static const char *const states[] = {
    "?", [PLACE_RUNS] = "runs", [PLACE_LOST] = "lost", [PLACE_FINISHED] = "finished"};

/* ---- reading, on PMIx's thread ---- */

static void read_qualifiers(struct wanted *w, const pmix_query_t *q)
{
    for (size_t i = 0; i < q->nqual; i++) {
        const pmix_info_t *info = &q->qualifiers[i];
        if (PMIX_CHECK_KEY(info, PMIX_NSPACE))
            take_text(info, w->job, sizeof w->job);
        else if (PMIX_CHECK_KEY(info, PMIX_HOSTNAME))
            take_text(info, w->host, sizeof w->host);
        else if (PMIX_CHECK_KEY(info, PMIX_ALLOC_ID))
            take_text(info, w->allocation, sizeof w->allocation);
        else if (PMIX_CHECK_KEY(info, PMIX_HWLOC_XML_V2))
            w->topology = take_flag(info);
    }
}

static void read_query(struct question *all, const pmix_query_t *q)
{
    for (size_t k = 0; q->keys != NULL && q->keys[k] != NULL; k++) {
        struct wanted w = {.key = key_find(q->keys[k])};
        if (w.key == KEY_NONE || all->count == KEYS_MOST) {
            all->unknown++;
            continue;
        }
        read_qualifiers(&w, q);
        all->at[all->count++] = w;
    }
}

/* ---- answering, in the loop ---- */

static void tell_peer(struct infos *to, const struct snapshot_peer *p, bool topology)
{
    struct infos one = {0};
    char id[ID_TEXT + 1];
    id_text(&p->ad.peer.id, id);
    put_text(&one, PMIX_HOSTNAME, p->ad.name);
    put_text(&one, P2PGRID_PEER_ID, id);
    put_u32(&one, P2PGRID_SLOTS, p->ad.slots);
    put_u32(&one, P2PGRID_SLOTS_FREE, p->ad.slots_free);
    put_u32(&one, P2PGRID_DISTANCE, p->rtt_us);
    put_u32(&one, P2PGRID_CORES, p->ad.cores);
    put_double(&one, P2PGRID_LOAD, p->ad.load / 1000.0);
    put_text(&one, P2PGRID_SITE, p->ad.site);
    put_u64(&one, PMIX_AVAIL_PHYS_MEMORY, p->ad.memory);
    if (topology && p->xml != NULL)
        put_text(&one, PMIX_HWLOC_XML_V2, p->xml);
    put_list(to, PMIX_NODE_INFO_ARRAY, &one);
}

static void tell_peers(struct infos *to, const struct snapshot *p, const struct wanted *w)
{
    struct infos all = {0};
    for (size_t i = 0; i < p->peer_count; i++)
        if (w->host[0] == '\0' || strcmp(p->peers[i].ad.name, w->host) == 0)
            tell_peer(&all, &p->peers[i], w->topology);
    put_list(to, P2PGRID_PEERS, &all);
}

static bool tell_topology(struct infos *to, const struct snapshot *p, const struct wanted *w)
{
    for (size_t i = 0; i < p->peer_count; i++) {
        const struct snapshot_peer *peer = &p->peers[i];
        bool own = peer->rtt_us == 0 && (w->host[0] == '\0' || strcmp(w->host, "localhost") == 0);
        if (peer->xml == NULL || (!own && strcmp(peer->ad.name, w->host) != 0))
            continue;
        put_text(to, PMIX_HWLOC_XML_V2, peer->xml);
        return true;
    }
    return false;
}

/* The one that is named; without a name the only one. */
static const struct snapshot_job *find_job(const struct snapshot *p, const char *name)
{
    for (size_t i = 0; i < p->job_count; i++)
        if (strcmp(p->jobs[i].is.name, name) == 0)
            return &p->jobs[i];
    return name[0] == '\0' && p->job_count == 1 ? &p->jobs[0] : NULL;
}

static void tell_namespaces(struct infos *to, const struct snapshot *p)
{
    size_t size = p->job_count * NAME + 1, at = 0;
    char *all = calloc(1, size);
    for (size_t i = 0; all != NULL && i < p->job_count; i++)
        at += (size_t)snprintf(all + at, size - at, "%s%s", i > 0 ? "," : "", p->jobs[i].is.name);
    put_text(to, PMIX_QUERY_NAMESPACES, all != NULL ? all : "");
    free(all);
}

static void tell_namespace_info(struct infos *to, const struct snapshot *p)
{
    struct infos all = {0};
    for (size_t i = 0; i < p->job_count; i++) {
        const struct msg_local_job *j = &p->jobs[i].is;
        struct infos one = {0};
        put_text(&one, PMIX_NSPACE, j->name);
        put_u32(&one, PMIX_JOB_SIZE, j->ranks);
        put_text(&one, PMIX_CMD_LINE, j->program);
        put_list(&all, PMIX_JOB_INFO_ARRAY, &one);
    }
    put_list(to, PMIX_QUERY_NAMESPACE_INFO, &all);
}

static pmix_proc_state_t state_of(const struct part_place *place)
{
    if (place->state == PLACE_LOST)
        return PMIX_PROC_STATE_COMM_FAILED;
    return place->state == PLACE_FINISHED ? PMIX_PROC_STATE_TERMINATED : PMIX_PROC_STATE_RUNNING;
}

/* One entry for each copy, as Open MPI numbers processes: lane * ranks + rank. */
static bool tell_processes(struct infos *to, const struct snapshot *p, const struct wanted *w)
{
    const struct snapshot_job *j = find_job(p, w->job);
    if (j == NULL)
        return false;
    pmix_proc_info_t *table = calloc(j->count + 1, sizeof *table);
    for (size_t i = 0; table != NULL && i < j->count; i++) {
        const struct part_place *at = &j->places[i];
        PMIX_LOAD_PROCID(&table[i].proc, j->is.name, at->lane * j->is.ranks + at->rank);
        table[i].hostname = strdup(at->name);
        table[i].executable_name = strdup(j->is.program);
        table[i].state = state_of(at);
    }
    put_table(to, PMIX_QUERY_PROC_TABLE, table, table != NULL ? j->count : 0);
    return true;
}

static bool tell_replicas(struct infos *to, const struct snapshot *p, const struct wanted *w)
{
    const struct snapshot_job *j = find_job(p, w->job);
    struct infos all = {0};
    if (j == NULL)
        return false;
    for (size_t i = 0; i < j->count; i++) {
        const struct part_place *at = &j->places[i];
        struct infos one = {0};
        put_rank(&one, PMIX_RANK, at->rank);
        put_u32(&one, P2PGRID_LANE, at->lane);
        put_text(&one, PMIX_HOSTNAME, at->name);
        put_text(&one, P2PGRID_STATE, states[at->state <= PLACE_FINISHED ? at->state : 0]);
        put_list(&all, PMIX_PROC_INFO_ARRAY, &one);
    }
    put_list(to, P2PGRID_REPLICAS, &all);
    return true;
}

static void tell_allocation(struct infos *to, const struct msg_local_reservation *a)
{
    char id[ID_TEXT + 1];
    id_text(&a->reservation, id);
    put_text(to, PMIX_ALLOC_ID, id);
    put_text(to, PMIX_ALLOC_REQ_ID, a->name);
    put_u64(to, PMIX_ALLOC_NUM_CPUS, a->slots);
    put_u32(to, PMIX_ALLOC_TIME, a->seconds);
    put_u32(to, P2PGRID_USED, a->used);
}

static void tell_allocations(struct infos *to, const struct snapshot *p)
{
    struct infos all = {0};
    for (size_t i = 0; i < p->allocation_count; i++) {
        struct infos one = {0};
        tell_allocation(&one, &p->allocations[i]);
        put_list(&all, PMIX_ALLOC_ID, &one);
    }
    put_list(to, P2PGRID_ALLOCATIONS, &all);
}

static bool tell_allocation_status(struct infos *to, const struct snapshot *p,
                                   const struct wanted *w)
{
    char id[ID_TEXT + 1], line[160];
    for (size_t i = 0; i < p->allocation_count; i++) {
        const struct msg_local_reservation *a = &p->allocations[i];
        id_text(&a->reservation, id);
        if (strcmp(id, w->allocation) != 0 && strcmp(a->name, w->allocation) != 0)
            continue;
        snprintf(line, sizeof line, "granted: %u slots, %u used, %u s left", a->slots, a->used,
                 a->seconds);
        put_text(to, PMIX_QUERY_ALLOC_STATUS, line);
        return true;
    }
    return false;
}

static bool tell_job_status(struct infos *to, const struct snapshot *p, const struct wanted *w)
{
    const struct snapshot_job *j = find_job(p, w->job);
    if (j != NULL)
        put_status(to, PMIX_QUERY_JOB_STATUS,
                   j->is.over ? PMIX_EVENT_JOB_END : PMIX_OPERATION_IN_PROGRESS);
    return j != NULL;
}

/* False: what is asked about is not there. */
static bool query_tell(struct infos *to, const struct snapshot *p, const struct wanted *w)
{
    char names[1024];
    switch (w->key) {
    case KEY_NONE:
        return false;
    case KEY_SUPPORTED:
        put_text(to, PMIX_QUERY_SUPPORTED_KEYS, key_names(names, sizeof names));
        return true;
    case KEY_NAMESPACES:
        tell_namespaces(to, p);
        return true;
    case KEY_NAMESPACE_INFO:
        tell_namespace_info(to, p);
        return true;
    case KEY_JOB_STATUS:
        return tell_job_status(to, p, w);
    case KEY_PROC_TABLE:
        return tell_processes(to, p, w);
    case KEY_PEERS:
        tell_peers(to, p, w);
        return true;
    case KEY_TOPOLOGY:
        return tell_topology(to, p, w);
    case KEY_REPLICAS:
        return tell_replicas(to, p, w);
    case KEY_ALLOCATION_STATUS:
        return tell_allocation_status(to, p, w);
    case KEY_ALLOCATIONS:
        tell_allocations(to, p);
        return true;
    }
    return false;
}

static void query_on_snapshot(void *ctx, const struct snapshot *p)
{
    struct question *q = ctx;
    struct infos *out = calloc(1, sizeof *out);
    size_t missing = q->unknown;
    pmix_status_t status = PMIX_SUCCESS;
    for (size_t i = 0; out != NULL && p->code == 0 && i < q->count; i++)
        missing += !query_tell(out, p, &q->at[i]);
    if (out == NULL || p->code != 0)
        status = server_status((uint32_t)p->code);
    else if (out->count == 0)
        status = PMIX_ERR_NOT_FOUND;
    else if (missing > 0)
        status = PMIX_QUERY_PARTIAL_SUCCESS;
    q->answer(status, out != NULL ? out->at : NULL, out != NULL ? out->count : 0, q->ctx,
              infos_release, out);
    free(q);
}

static void query_ask(struct server *server, void *work)
{
    struct question *q = work;
    unsigned needs = 0;
    const char *host = NULL;
    for (size_t i = 0; i < q->count; i++) {
        const struct wanted *w = &q->at[i];
        unsigned need = key_needs(w->key);
        bool machine = w->key == KEY_TOPOLOGY || w->topology;
        needs |= machine ? need : need & ~(unsigned)NEED_TOPOLOGY;
        if (machine && w->host[0] == '\0' && w->key == KEY_TOPOLOGY)
            host = host == NULL ? "localhost" : "";
        else if (machine)
            host = host == NULL ? w->host : "";
    }
    snapshot_ask(server->snapshots, needs, host != NULL ? host : "", query_on_snapshot, q);
}

pmix_status_t query_upcall(pmix_proc_t *tool, pmix_query_t *queries, size_t count,
                           pmix_info_cbfunc_t answer, void *ctx)
{
    struct question *q = calloc(1, sizeof *q);
    (void)tool; /* here PMIx names the server */
    if (q == NULL)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        read_query(q, &queries[i]);
    if (q->count == 0) {
        free(q);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    q->answer = answer;
    q->ctx = ctx;
    mailbox_post(query_ask, q);
    return PMIX_SUCCESS;
}
