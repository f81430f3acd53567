/* SPDX-License-Identifier: BSD-3-Clause */
/* began.h -- when mpirun began the job, for its ranks: what they have for a clock before they can
 * ask each other. */
#ifndef P2P_SRC_COMMON_BEGAN_H
#define P2P_SRC_COMMON_BEGAN_H

/* Seconds of 1970, a dot and nine digits. Open MPI gives every variable that begins like this to
 * the processes. */
#define BEGAN_VARIABLE "OMPI_P2PGRID_BEGAN"
#endif
