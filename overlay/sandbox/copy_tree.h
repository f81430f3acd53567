/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_tree.h -- a folder's copy: blocks are shared where the file system can (reflinks), bytes
 * copied where it cannot. Links stay links, modes and times stay. */
#ifndef P2P_OVERLAY_SANDBOX_COPY_TREE_H
#define P2P_OVERLAY_SANDBOX_COPY_TREE_H
#include "overlay/base/err.h"

/* Into `to`, which is there and empty. What cannot be read is left out, as are devices, pipes and
 * sockets. `but`: a folder that is not entered; NULL: none. */
int copy_tree(const char *from, const char *to, const char *but, struct err *e);
#endif
