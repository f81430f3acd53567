/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_enter.h -- puts a process that is about to become a rank into its lane's view. */
#ifndef P2P_SRC_RTC_P2P_LANE_ENTER_H
#define P2P_SRC_RTC_P2P_LANE_ENTER_H
#include "overlay/base/err.h"
#include "overlay/base/lane_roots.h"

/* Changes the root of the calling process, and gives up the right to do it again. *e says why not:
 * then it must end. */
int lane_enter(const struct lane_roots *roots, unsigned lane, struct err *e);
/* The variables that a rank has of its lane, "NAME=value" each. -1: there is no such variable. */
int lane_variable(const struct lane_roots *roots, unsigned lane, unsigned number, char *text,
                  unsigned size);
#endif
