/* SPDX-License-Identifier: BSD-3-Clause */
/* confine.h -- the sandbox that keeps a guest program in its room, without root: Landlock for
 * files, TCP ports and signals, seccomp for system calls and sockets that no MPI program needs, a
 * PID namespace (see namespaces.h), rlimits. What the kernel lacks is left out, and the peer's ad
 * says so. */
#ifndef P2P_OVERLAY_SANDBOX_CONFINE_H
#define P2P_OVERLAY_SANDBOX_CONFINE_H
#include "overlay/base/confinement.h"
#include "overlay/base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONFINE_PATHS = 112, CONFINE_FILES_MAX = 16, CONFINE_PORTS = 16 };

enum confine_use {
    CONFINE_READ,  /* loading libraries is reading */
    CONFINE_RUN,   /* read and execute */
    CONFINE_WRITE, /* everything except executing: a guest does not execute what it writes */
};

struct confine_path {
    const char *path; /* a folder with all below it, or a file; a missing one is skipped */
    enum confine_use use;
};

struct confine_ports {
    uint16_t first, last;
    bool bind, connect;
};

struct confine_program {
    const char *path; /* under which it is executed */
    int file;         /* a descriptor */
};

struct confine_plan {
    struct confine_path paths[CONFINE_PATHS];
    size_t path_count;
    int programs[CONFINE_FILES_MAX]; /* descriptors of files to read and execute */
    size_t program_count;
    const struct confine_program *travelled; /* likewise, wherever they lie (travelled.h) */
    size_t travelled_count;
    bool grouped;    /* the process is in a control group of the job's own */
    bool counted;    /* that group has the memory controller */
    bool namespaced; /* the process is the child of namespaces_fork() */
    bool viewed;     /* the process has a root of its own (view.h) */
    bool lanes;      /* its processes go to roots beside that one */
    int landlock;    /* 0: all that the kernel knows; else an older ABI, to test with */
    bool tcp;        /* false: TCP is not restricted */
    struct confine_ports ports[CONFINE_PORTS];
    size_t port_count;
    uint64_t memory;     /* bytes of private writable memory for each process; 0: no limit */
    uint64_t file_size;  /* bytes; 0: no limit */
    unsigned processes;  /* besides those that the user runs already; 0: no limit */
    unsigned open_files; /* 0: as it is */
    int nice;
    int broker; /* a UNIX socket to the room that answers for connect(), see broker.h; -1: none */
};

/* What this kernel lets a plain user enforce: bits of enum confinement. CONFINE_CGROUP is left to
 * cgroup_take(). Forks once. */
unsigned confine_probe(void);

/* A plan with what any dynamically linked MPI program reads on Debian, and `room` to write in. */
void confine_plan_guest(struct confine_plan *plan, const char *room);
/* -ENOSPC: full */
int confine_plan_path(struct confine_plan *plan, const char *path, enum confine_use use);
int confine_plan_ports(struct confine_plan *plan, const struct confine_ports *ports);
/* Where ranks may listen and connect to. */
struct confine_ports confine_rank_ports(void);

/* Confines the calling process and all its later children, for good. Fails, and says what is
 * missing, when something in `required` cannot be enforced; the rest is best effort. *done: what is
 * in force. A process that failed is half confined: it must end. */
int confine_self(const struct confine_plan *plan, unsigned required, unsigned *done, struct err *e);
#endif
