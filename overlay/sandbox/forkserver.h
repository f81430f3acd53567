/* SPDX-License-Identifier: BSD-3-Clause */
/* forkserver.h -- the session that all rooms of a p2pd share.
 *
 * Where the kernel shares the processor among sessions first (sched(7), "The autogroup feature"),
 * ranks with a session each cannot give each other turns: sched_yield() gives way within a session
 * only. And an owner's session would have to share with each guest's instead of with all of them.
 * So a small process with a session of its own, `p2pd-room forkserver`, forks the rooms, as
 * children of p2pd (CLONE_PARENT). */
#ifndef P2P_OVERLAY_SANDBOX_FORKSERVER_H
#define P2P_OVERLAY_SANDBOX_FORKSERVER_H
#include "overlay/base/err.h"
#include "room.h"
#include <stdbool.h>
#include <sys/types.h>

/* --- p2pd --- */

struct forkserver {
    pid_t pid; /* 0: none was needed so far */
    int control;
    unsigned nice; /* of its rooms: a session gets nicer, and never less nice */
    int program;   /* p2pd-room as it was when p2pd began; 0: not looked for yet */
};

/* Looks for p2pd-room now: what is installed in its place later may be of another version. */
void forkserver_prepare(struct forkserver *h);

/* Asks for a room with these files as ROOM_CONTROL and so on, in the session of other rooms with
 * this nice value. waited_for: rooms were asked for and not heard of. Waits for nothing. */
int forkserver_ask(struct forkserver *h, unsigned nice, bool waited_for, const char *folder,
                   const int files[ROOM_FILES], struct err *e);
/* Of the room that was asked for first: its pid, 0 (not known yet: `control` gets readable), or
 * -errno; -EPIPE: the forkserver has ended, and no other answer comes. */
pid_t forkserver_hear(const struct forkserver *h);
/* Its rooms live on, and another one may be started. */
void forkserver_close(struct forkserver *h);

/* --- p2pd-room --- */

/* Until p2pd closes the other end of ROOM_CONTROL, or ends. */
void forkserver_serve(void);
#endif
