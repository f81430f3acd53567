/* SPDX-License-Identifier: BSD-3-Clause */
/* cores.h -- which cores of this machine guests may use, and which of them each lease has. */
#ifndef P2P_OVERLAY_HOST_CORES_H
#define P2P_OVERLAY_HOST_CORES_H
#include "overlay/base/core_list.h"
#include "overlay/base/err.h"
#include <stdbool.h>

struct cores;

/* As hwloc sees the machine, without the cores that this process may not use itself; all are
 * allowed. NULL: out of memory. */
struct cores *cores_new(void);
void cores_free(struct cores *c);
unsigned cores_count(const struct cores *c);
unsigned cores_allowed(const struct cores *c);

/* From now on guests get these; leases keep what they have. -EINVAL: this machine has none of them.
 */
int cores_allow(struct cores *c, const char *list, struct err *e);

/* Gives `user` so many cores that no other user has, neighbours as far as possible, in place of
 * those that it had. text: the processors of these cores, as a list. False, and "": there are not
 * so many, or the list is too long. */
bool cores_take(struct cores *c, unsigned user, unsigned count, char text[CORE_LIST_TEXT + 1]);
void cores_give(struct cores *c, unsigned user);
#endif
