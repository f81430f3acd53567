/* SPDX-License-Identifier: BSD-3-Clause */
/* aggregate.h -- mpirun --am p2p. */
#ifndef P2P_SRC_COMMON_AGGREGATE_H
#define P2P_SRC_COMMON_AGGREGATE_H
#include <stdbool.h>

/* Is one of these files, which are parted by ':', called p2p? */
bool aggregate_names_grid(const char *files);
/* In mpirun, before it registers parameters: those of the files that --am names are set in the
 * environment, except those that are there. Open MPI 4.1 finds the files, and then joins their
 * names in a way in which it does not read them. Without p2p among them nothing is done. */
void aggregate_take(void);
/* Is it one that the other desktops of the job must know, too? */
bool aggregate_is_of_job(const char *parameter);
/* In mpirun, on the grid: what mca-params.conf and --tune say of the job is set in the environment
 * as well, since an orted reads its own desktop's files, in another home. */
void aggregate_pass_on(void);
#endif
