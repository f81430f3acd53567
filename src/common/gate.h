/* SPDX-License-Identifier: BSD-3-Clause */
/* gate.h -- is this job on the grid? Every component asks here and stays away when it is not, so
 * that other mpiruns never notice that the components are installed. */
#ifndef P2P_SRC_COMMON_GATE_H
#define P2P_SRC_COMMON_GATE_H
#include <stdbool.h>

/* Does an MCA selection list name this component? "p2p" and "slurm,p2p" do; "^p2p" and "" do not.
 */
bool gate_names(const char *list, const char *component);

/* The same answer in mpirun, orted and ranks, and always the same one in a process. */
bool gate_open(void);
#endif
