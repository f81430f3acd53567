/* SPDX-License-Identifier: BSD-3-Clause */
/* dropped.h -- how a copy of a rank ends that the others hold for dead: by a signal of its own, so
 * that mpirun can tell it from one that somebody has killed. Linux has this signal and never sends
 * it. */
#ifndef P2P_SRC_COMMON_DROPPED_H
#define P2P_SRC_COMMON_DROPPED_H
#include <signal.h>

enum { DROPPED_SIGNAL = SIGSTKFLT };
#endif
