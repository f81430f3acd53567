/* SPDX-License-Identifier: BSD-3-Clause */
/* view.h -- the file system as a guest sees it: a root of its own, in which there is only what it
 * may touch, and in which only what it may write can be changed. Landlock judges what is read and
 * written, but not chmod(2), utime(2) or setxattr(2), nor on older kernels truncate(2); here the
 * kernel refuses them all outside of the room. Needs the mount namespace that namespaces_fork()
 * makes, and Linux 5.12. */
#ifndef P2P_OVERLAY_SANDBOX_VIEW_H
#define P2P_OVERLAY_SANDBOX_VIEW_H
#include "confine.h"
#include "lanes.h"

/* For the calling process and its later children, while it has the capabilities that the namespaces
 * bring: paths of the plan, and `programs` (names of plan->programs, in their order), under the
 * names that they have outside. What is not there is left out. The working folder, which must be in
 * the plan, stays what it was. lanes: there are such views of the job's folder and /tmp, too, that
 * of lane K at VIEW_LANE and K; NULL: none. 0; -EOPNOTSUPP: this machine has no such thing, and
 * nothing has changed; other errors, with what went wrong: the process must end. */
#define VIEW_LANE "/.lane/"
int view_enter(const struct confine_plan *plan, const char *const *programs, struct lanes *lanes,
               const struct lanes_plan *wanted, struct err *e);
#endif
