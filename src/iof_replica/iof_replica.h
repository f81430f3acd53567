/* SPDX-License-Identifier: BSD-3-Clause */
/* iof_replica.h -- the component's parts; nobody outside the folder needs it. */
#ifndef P2P_SRC_IOF_REPLICA_IOF_REPLICA_H
#define P2P_SRC_IOF_REPLICA_IOF_REPLICA_H
#include "src/errmgr_replica/survive_orte4.h"
#include "opal/mca/event/event.h"
#include "orte/mca/iof/base/base.h"
#include "orte/mca/iof/iof.h"
#include "orte/mca/rml/rml.h"
#include "src/survive/input_window.h"
#include "src/survive/output_merge.h"

struct outlet; /* where the output of one rank's stream goes: output_orte4.c */
struct tap;    /* one output of a process on mpirun's own host: tap_orte4.c */
struct hold;   /* one output of a process on this host: hold_orte4.c */
struct pipe;   /* the standard input of one process on this host: pipe_orte4.c */

struct iof_replica_component {
    orte_iof_base_component_t super;
    orte_iof_base_module_t module, *stock;
    int priority, verbose; /* parameters */
    bool only_output;      /* the job has one lane: stock shows its output, and brings its input */
    orte_rml_buffer_callback_fn_t stock_receive; /* mpirun: orte_iof_hnp_recv */
    struct {
        orte_jobid_t job;
        unsigned ranks, lanes;
        struct outlet *outlets; /* [rank * 2 + is_stderr]; NULL before the job is mapped */
        opal_event_t look;      /* is a leader stuck? */
        bool looking, revealed;
        unsigned told; /* differences between lanes */
    } output;
    struct {
        struct input_window window;
        opal_event_t event; /* fd is readable, or it is time to look again */
        int fd;
        bool begun, pending, ended; /* ended: every lane was told that no more comes */
    } input;
    struct tap *taps;
    struct hold *holds;
    struct pipe *pipes;
};

extern struct iof_replica_component mca_iof_replica_component;

static inline bool is_same_process(const orte_process_name_t *a, const orte_process_name_t *b)
{
    return a->jobid == b->jobid && a->vpid == b->vpid;
}

/* mpirun: the output of one process; false: it is not of the replicated job. */
bool output_take(const orte_process_name_t *from, orte_iof_tag_t stream, const void *bytes,
                 size_t count);
bool output_has(orte_jobid_t job);
/* The stock component shows it as if an orted had sent it. */
void output_show_stock(const orte_process_name_t *from, orte_iof_tag_t stream, const void *bytes,
                       size_t count);
/* Only a file gets it. */
bool output_quiet(const orte_process_name_t *from, orte_iof_tag_t stream);
void output_end(void); /* the job is complete: what is left of unfinished lines is shown */
void output_free(void);

/* mpirun: reads its standard input for all lanes of rank 0. */
void input_begin(int fd);
void input_lose(unsigned lane);
void input_passed(unsigned lane, uint64_t bytes, bool closed);
void input_stop(void);

int tap_open(const orte_process_name_t *name, orte_iof_tag_t stream, int fd);
void tap_close(const orte_process_name_t *name);

/* One output of a process on this host: where to read what is committed of it. The end of that is
 * the end of the output. */
int hold_open(const orte_process_name_t *name, int fd);
/* It was given input: what it answers is not kept waiting. */
void hold_hasten(const orte_process_name_t *name);
void hold_close(const orte_process_name_t *name);

/* The standard input of a process on this host: bytes wait here until it reads them. */
int pipe_open(const orte_process_name_t *name, int fd);
void pipe_put(const orte_process_name_t *name, const void *bytes,
              size_t count); /* count 0: no more comes */
void pipe_close(const orte_process_name_t *name);
#endif
