/* SPDX-License-Identifier: BSD-3-Clause */
/* selection.h -- is this job on the grid? Every component asks here and stays away when it is not,
 * so that other mpiruns never notice that the components are installed. */
#ifndef P2P_SRC_COMMON_SELECTION_H
#define P2P_SRC_COMMON_SELECTION_H
#include <stdbool.h>

/* Does an MCA selection list name this component? "p2p" and "slurm,p2p" do; "^p2p" and "" do not.
 */
bool selection_names(const char *list, const char *component);

/* The same answer in mpirun, orted and ranks, and always the same one in a process. */
bool selection_is_p2p(void);
#endif
