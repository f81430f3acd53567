/* SPDX-License-Identifier: BSD-3-Clause */
/* libraries.h -- the shared libraries that a program loads at its start and that no system brings:
 * found as the dynamic linker finds them (ld.so(8)), without executing it. */
#ifndef P2P_OVERLAY_FILES_LIBRARIES_H
#define P2P_OVERLAY_FILES_LIBRARIES_H
#include "needs.h"

enum { LIBRARIES_MOST = 512 };

struct libraries {
    char **path; /* owned; from / on */
    size_t count;
    bool by_variable; /* one of them is found by LD_LIBRARY_PATH alone */
};

/* Of the program (or library) at `path`. library_path: LD_LIBRARY_PATH, or NULL. 0; -ENOEXEC: it is
 * no ELF file; -E2BIG: too many, -ENOMEM. */
int libraries_find(struct libraries *out, const char *path, const char *library_path);
void libraries_clear(struct libraries *l);

/* What such a program asks of a machine, and of its Open MPI. */
struct library_needs {
    char machine[16];
    char glibc[ELF_VERSION + 1]; /* the newest of it and its own libraries; "": none */
    char interpreter[ELF_NAME + 1];
    char mpi[ELF_NAME + 1]; /* the MPI library that it is linked to: "libmpi.so.40"; "": none */
    char mpi_file[ELF_NAME + 1]; /* where that is not the system's: "libmpi.so.40.30.4" */
    struct needs system;         /* of what does not travel, but neither glibc nor Open MPI */
};
int libraries_needs(struct library_needs *needs, const char *path, const char *library_path);
#endif
