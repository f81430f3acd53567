/* SPDX-License-Identifier: BSD-3-Clause */
/* trust.h -- what mpirun does for no peer, of whatever owner: decided here, found out in
 * trust_orte4.c. */
#ifndef P2P_SRC_PLM_P2P_TRUST_H
#define P2P_SRC_PLM_P2P_TRUST_H
#include "overlay/base/err.h"
#include <stdbool.h>

/* What a spawn request says that matters; texts may be NULL. */
struct trust_spawn {
    const char *own;          /* the name of mpirun's own host */
    const char *hosts;        /* info "host" */
    const char *mapper;       /* info "mapper" */
    char *const *personality; /* ended by NULL */
    unsigned map_by;          /* the mapping policy's number, 0: none */
    const char *strange;      /* something in it that no program needs: "an attribute 7" */
};

/* The list (of "host", "host:2", "a,b") names mpirun's own host, also as "localhost". */
bool trust_names(const char *hosts, const char *own);
/* May processes be started so? 0; -EPERM: the reason goes on after "a peer's MPI_Comm_spawn ". */
int trust_judge(const struct trust_spawn *s, struct err *e);
#endif
