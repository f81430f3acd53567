/* SPDX-License-Identifier: BSD-3-Clause */
/* room_exec.h -- starts a room's command: forked, in namespaces and a sandbox when it is a guest's,
 * executed. */
#ifndef P2P_OVERLAY_SANDBOX_ROOM_EXEC_H
#define P2P_OVERLAY_SANDBOX_ROOM_EXEC_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include "components.h"
#include "lanes.h"
#include <stdbool.h>
#include <sys/types.h>

struct room_command {
    const struct msg_room_order *order;
    const char *command;
    char **environment;                  /* where the views are is added */
    const char *folder, *memory;         /* where a guest may write */
    const struct components *components; /* what a guest may load */
    const struct lanes_plan *lanes;      /* views of the job's folder; NULL: none */
    const int *programs; /* descriptors of what a guest may execute, for each of the order's */
    uint16_t control;    /* the port for its orted; 0: any */
    int output;          /* a descriptor for what it prints */
    int group;           /* its control group (cgroup.h); -1: none */
    int broker;          /* a guest sends the broker's descriptor there (broker.h) */
};

struct room_child {
    pid_t pid;       /* the supervisor; once it has ended, so has the command */
    bool namespaced; /* the supervisor is the first process of namespaces, which end with it */
    int outcome;     /* the command's wait status can be read here then; -1: nothing was started */
};

/* Returns when the command has been executed, or could not be: then nothing of it is left. */
int room_exec(struct room_child *out, const struct room_command *c, struct err *e);
/* Adds the libraries that came in `tree` to LD_LIBRARY_PATH of those who see the machine's root;
 * "": none came. */
int room_exec_libraries(char **environment, const char *tree, struct err *e);
/* The command's wait status, from that of the child. */
int room_exec_status(struct room_child *child, int status);
#endif
