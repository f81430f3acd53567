/* SPDX-License-Identifier: BSD-3-Clause */
/* ras_p2p.h -- the allocation: the connection that holds it, and the node that each lease is. */
#ifndef P2P_SRC_RAS_P2P_RAS_P2P_H
#define P2P_SRC_RAS_P2P_RAS_P2P_H
#include "orte_config.h"
#include "src/common/grid.h"
#include "patience.h"
#include "request.h"
#include "overlay/files/binaries.h"
#include "orte/mca/ras/ras.h"
#include "orte/mca/ras/base/base.h"
#include "orte/runtime/orte_globals.h"

/* A virtual node and the lease behind it, which plm_p2p may change. */
struct ras_p2p_node {
    orte_node_t *node;
    struct grid_lease lease;
    char cores[GRID_LINE + 1]; /* that this lease alone has, once its orted runs; "": none */
};

/* p2p_files: what of this desktop goes along with the job. */
enum ras_p2p_files {
    FILES_AUTO,   /* what it needs of its folder, and its programs */
    FILES_NONE,   /* nothing */
    FILES_SHARED, /* nothing: all desktops share the folder, and the job works in it */
};

struct ras_p2p_component {
    orte_ras_base_component_t super;
    int priority, verbose; /* parameters */
    char *require;
    char *socket;
    int spares;
    char *wait;             /* parameter */
    unsigned wait_s;        /* what it means */
    char *keep_output;      /* parameter */
    size_t keep;            /* what it means, in bytes */
    int files, files_index; /* enum ras_p2p_files, and the parameter's index */
    char *files_input, *files_limit, *files_binaries;
    struct binaries binaries; /* builds of the job's program */
    struct id allocation;     /* that the job runs within, when it is */
    bool within;
    struct job_request request;    /* what the command line asks for; without `processes` */
    struct binaries_want programs; /* what the job's programs need */
    char *programs_require;        /* that, and what the command line asks for */
    char *hosts_require;        /* what --host and --hostfile make of `require`; NULL: not given */
    struct grid *grid;          /* NULL before the first allocation and after the job */
    struct ras_p2p_node *nodes; /* of the job, nearest first */
    size_t node_count;
    struct grid_lease *spare; /* leases in reserve, until plm_p2p takes them over */
    size_t spare_count;
    opal_event_t answered; /* the answer of the grid */
    opal_event_t ticking;  /* shows that it takes a while */
    bool watching;
    unsigned waited_s;
    struct patience patience; /* what was said of waiting for slots */
    void (*on_end)(void);     /* errmgr_replica's last word, before the connection closes */
    orte_job_t *job;          /* that waits for its allocation */
    unsigned slots;           /* that it wants */
};
extern struct ras_p2p_component mca_ras_p2p_component;

int ras_p2p_allocate(orte_job_t *job, opal_list_t *nodes);

/* Makes a node of a lease and keeps the two together. The node is the caller's to insert. */
orte_node_t *ras_p2p_node_new(const struct grid_lease *lease);
/* After the lease of a node has changed: the node is called like the peer that it is now. */
void ras_p2p_rename(struct ras_p2p_node *known);
/* The lease of a node; NULL when it is none of ours. */
struct ras_p2p_node *ras_p2p_find(const orte_node_t *node);
/* Puts a node into the pool of the job's allocation. */
int ras_p2p_insert(orte_node_t *node, orte_job_t *job);

/* files_orte4.c: what of this desktop the job needs on others. */
void ras_p2p_files_register(struct ras_p2p_component *c, const mca_base_component_t *base);
/* The job's programs as they are started; malloc'd, its texts are the job's. NULL: no memory. */
struct gather_app *ras_p2p_apps(const orte_job_t *job, size_t *count);
/* Adds what the programs need of a peer to the requirement. */
int ras_p2p_require(const orte_job_t *job, struct job_request *r, struct err *e);

/* rmaps_locality_strategy, as given. */
int ras_p2p_strategy(enum share_strategy *strategy, struct err *e);

/* The connection; NULL before and after the job. */
struct grid *ras_grid(void);
/* Gives everything back. Called by plm_p2p when the job is over, whichever way. */
void ras_p2p_end(void);
#endif
