/* SPDX-License-Identifier: BSD-3-Clause */
/* own_names.h -- the other file names of this object, which Open MPI loads when it needs them. */
#ifndef P2P_SRC_COMMON_OWN_NAMES_H
#define P2P_SRC_COMMON_OWN_NAMES_H

/* From now on `names` (without .so, spaces between them) in the folder of this object are this
 * object, whatever lies there: an upgrade may put another version in its place while the program
 * runs, and the first MPI_File_open() comes later. inside: an address in the object. */
void own_names_keep(const void *inside, const char *names);
#endif
