/* SPDX-License-Identifier: BSD-3-Clause */
/* defaults.h -- stock parameters that a grid wants otherwise than a cluster. Set in the environment
 * of mpirun, where nothing given by the user is touched, before the frameworks that read them. */
#ifndef P2P_SRC_COMMON_DEFAULTS_H
#define P2P_SRC_COMMON_DEFAULTS_H
#include <stdbool.h>

struct default_value {
    const char *name; /* without OMPI_MCA_ */
    const char *value;
};

enum { DEFAULTS_MOST = 16 };

/* How PMIx hands to the ranks what they must know of the job: by messages. Its segments of shared
 * memory take mpirun and every orted 20 ms each to make and to remove, for some hundred bytes. */
#define DEFAULTS_PMIX_STORE "PMIX_MCA_gds"

/* Fills out[DEFAULTS_MOST] and returns how many. */
unsigned defaults_list(struct default_value *out, bool only_loopback);

/* Has this host no address but those of the loopback? */
bool defaults_only_loopback(void);

/* setenv() of them all, those already set left alone. For errmgr_replica's register function. */
void defaults_set(void);
#endif
