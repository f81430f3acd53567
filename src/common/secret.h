/* SPDX-License-Identifier: BSD-3-Clause */
/* secret.h -- what the processes of one job have in common and nobody else knows.
 *
 * mpirun makes it, anew for every job. It travels in the environment of the processes: from mpirun
 * to the peers inside the daemons' links, and it is never printed. With it the processes know each
 * other, and from it come the keys of encrypted connections. */
#ifndef P2P_SRC_COMMON_SECRET_H
#define P2P_SRC_COMMON_SECRET_H
#include <stdbool.h>
#include <stdint.h>

/* Open MPI gives every variable that begins like this to the processes, and to them only. */
#define SECRET_VARIABLE "OMPI_P2PGRID_SECRET"
enum { SECRET_BYTES = 32 };

/* Puts a new one into the environment. 0 or -errno. */
int secret_make(void);

/* From a text of 32 characters at least; false: it is shorter. */
bool secret_read(const char *text, uint8_t secret[SECRET_BYTES]);
#endif
