/* SPDX-License-Identifier: BSD-3-Clause */
/* survive_orte4.h -- what errmgr_replica, grpcomm_replica and iof_replica tell each other in one
 * process. They are one shared object. Only files that speak with ORTE may include this. */
#ifndef P2P_SRC_ERRMGR_REPLICA_SURVIVE_ORTE4_H
#define P2P_SRC_ERRMGR_REPLICA_SURVIVE_ORTE4_H
#include "orte_config.h"
#include "orte/mca/rml/rml_types.h"
#include "orte/runtime/orte_globals.h"
#include "src/survive/level.h"
#include <stdbool.h>
#include <stdint.h>

/* Messages between mpirun and its orteds that stock components do not know. */
enum {
    TAG_INPUT_PASSED = ORTE_RML_TAG_MAX - 9, /* orted: so much of the input did my process take */
    TAG_INPUT = ORTE_RML_TAG_MAX - 8,        /* mpirun: input for one process */
    TAG_ALLGATHER = ORTE_RML_TAG_MAX - 7,    /* orted: a contribution to a collective */
    TAG_BEAT = ORTE_RML_TAG_MAX - 6,         /* both ways: I am here */
};

/* errmgr_replica */

/* Is the job on the grid, with a second copy of some rank? Else the three components stay away,
 * except for iof_replica in mpirun, which writes the files of its output. */
bool survive_active(void);
const struct level *survive_level(void);
/* The number of ranks that the program sees. */
unsigned survive_ranks(const orte_job_t *job);
/* Which copy of which rank a process is; false: none. Process numbers (vpids) have no gaps. */
bool survive_place(const orte_process_name_t *process, unsigned ranks, unsigned *rank,
                   unsigned *lane);
/* mpirun: is what ranks tell each other encrypted? */
bool survive_encrypted(void);
/* mpirun, before the job is launched: it is from now on. The error goes on after a peer's name. */
int survive_encrypt(orte_job_t *job, struct err *e);
uint64_t survive_now_ms(void);
/* mpirun: the end of a line that speaks of lanes; the first one says what a lane is. */
const char *survive_explain_lane(void);
/* A message came from this daemon: it lives. */
void survive_heard(const orte_process_name_t *daemon);
/* mpirun: this process is lost or has ended, and takes part in nothing any more. */
bool survive_gone(const orte_process_name_t *process);
/* mpirun: this process has ended, and well. */
bool survive_finished(const orte_proc_t *process);
bool survive_daemon_gone(orte_vpid_t daemon);
/* mpirun: the first collective of the job is through, so every process has what it needs of the
 * others. */
void survive_collected(void);

/* grpcomm_replica: somebody is gone, a collective may now be complete. */
void grpcomm_replica_recheck(void);

/* iof_replica: what this process of this host has written, and may be shown, is read at once. */
void iof_replica_hear_out(const orte_process_name_t *name);

/* iof_replica, in mpirun. begin: -errno when the output cannot go where the user wants it. */
int iof_replica_begin(orte_job_t *job, unsigned ranks, unsigned lanes, struct err *e);
void iof_replica_lose(unsigned rank, unsigned lane);
/* This one failed by itself: should the job end badly, the reason is in its last words. */
void iof_replica_blame(unsigned rank, unsigned lane);
void iof_replica_finish(unsigned rank, unsigned lane);
/* The job has failed, and nothing more will come: its last words are shown. */
void iof_replica_reveal(void);

/* iof_replica has shown this, or would have, if the user had not said that only a file gets it. */
void survive_printed(const void *bytes, size_t count);
#endif
