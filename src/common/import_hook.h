/* SPDX-License-Identifier: BSD-3-Clause */
/* import_hook.h -- puts a function of ours between a loaded library and one that it calls in
 * another, for that library alone: Open MPI and PMIx have no other place to look at the caller, and
 * at what arrives. */
#ifndef P2P_SRC_COMMON_IMPORT_HOOK_H
#define P2P_SRC_COMMON_IMPORT_HOOK_H
#include <stdbool.h>

/* object: how the library's file name begins ("libpmix.so"). Calls of `function` go to
 * `replacement` from now on, in all that is loaded under such a name. 0; -ENOENT: no such library
 * is loaded, or it calls no such function; other errors: nothing has changed. May be done while
 * other threads call. */
int import_hook(const char *object, const char *function, void (*replacement)(void));
#endif
