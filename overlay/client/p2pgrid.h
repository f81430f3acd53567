/* SPDX-License-Identifier: BSD-3-Clause */
/* p2pgrid.h -- what components and tools link to talk to the daemon of the same user.
 *
 * One connection is one holder: when it closes, for whatever reason, the daemon gives back every
 * lease that was asked for on it and ends what ran there. Calls block, each at most its time-out;
 * pushed events wait in the socket: watch client_fd(), then call client_event() until it returns 0.
 */
#ifndef P2P_OVERLAY_CLIENT_P2PGRID_H
#define P2P_OVERLAY_CLIENT_P2PGRID_H
#include "overlay/base/err.h"
#include "overlay/base/hash.h"
#include "overlay/base/id.h"
#include "overlay/core/lease/request.h"
#include <stdbool.h>
#include <stddef.h>

struct client;

/* path NULL: the places of socket_path.h. -ECONNREFUSED or -ENOENT with a line that says how to
 * start a daemon.
 */
int client_open(struct client **out, const char *path, struct err *e);
void client_close(struct client *c);
int client_fd(const struct client *c);

enum { GRID_NAME = 63, GRID_LINE = 511 };

/* One lease: slots of one peer, held for this connection. */
struct grid_lease {
    struct id id;
    struct id peer;
    struct addr addr;         /* of the peer's daemon: what ranks may use to reach each other */
    char name[GRID_NAME + 1]; /* of the peer */
    char site[GRID_NAME + 1]; /* "" when the peer names none */
    char arch[16];            /* its kind of machine: "x86_64" */
    unsigned slots;
    unsigned rtt_us; /* measured round trip, microseconds; 0: this machine */
    bool encrypt;    /* only for jobs that encrypt what their processes tell each other */
    bool foreign;    /* the peer is another owner's */
};

/* Nearest first. *leases is malloc'd (free it); *count leases, of which the last *spares are
 * spares. -ENOSPC when too few fit: the line says how many were found and why the others did not
 * fit. -EINVAL for a bad requirement (with the column), -EPIPE when the daemon went away. */
int client_allocate(struct client *c, const struct request *request, struct grid_lease **leases,
                    size_t *count, size_t *spares, struct err *e);

/* The same for a request that waits: `told` is called with each line on how it does. */
typedef void client_waiting_fn(void *ctx, const char *line);
int client_allocate_waiting(struct client *c, const struct request *request,
                            client_waiting_fn *told, void *ctx, struct grid_lease **leases,
                            size_t *count, size_t *spares, struct err *e);

/* A reservation of nothing yet: client_allocate() adds leases to it, under which nothing can be
 * launched; jobs of this user take theirs out of it. It ends after that many seconds, or
 * with the connection. */
int client_reserve(struct client *c, unsigned seconds, struct id *reservation, struct err *e);

/* Say what the job of this connection is, for `p2pgrid_pmix.h` and all who ask. They never block:
 * -EAGAIN, and nothing was said, while the daemon is behind. */
enum { GRID_PLACES = 256 }; /* at most so many at once */
struct grid_job {
    unsigned ranks, lanes;
    unsigned waits; /* for so many slots; 0: it has them */
    bool over;
    int status; /* once it is over: its exit status */
    const struct id *within;
    const char *program;
};
struct grid_place {
    unsigned rank, lane;
    unsigned char state; /* enum place_state */
    struct id peer;
    char name[GRID_NAME + 1]; /* of the peer */
};
int client_tell_job(struct client *c, const struct grid_job *job);
int client_tell_places(struct client *c, const struct grid_place *places, size_t count);
/* What the job has printed, from that byte of all on, GRID_OUTPUT bytes at most. The daemon keeps
 * the last `keep` bytes of it, GRID_KEEP_MOST at most. */
enum { GRID_OUTPUT = 32768, GRID_KEEP_MOST = 1 << 20 };
int client_tell_output(struct client *c, size_t keep, uint64_t from, const void *bytes,
                       size_t count);

struct program;
struct input;
struct list;

/* Files that travel: a list (list.h) of which the daemon has been told. */
struct grid_files {
    struct hash list; /* zero: none */
    uint32_t size, count;
    uint64_t bytes;
};

/* Tells the daemon: peers may fetch them out of the folder for as long as this connection lasts. */
int client_files(struct client *c, const struct list *list, const char *folder,
                 struct grid_files *out, struct err *e);

struct grid_launch {
    const char *command;            /* for sh -c, in the lease's private folder */
    char *const *environment;       /* NULL: none */
    const struct program *programs; /* that it executes, besides those of the peer's system */
    size_t program_count;
    const struct input *inputs; /* that it reads */
    size_t input_count;
    uint64_t memory; /* bytes, on this peer; 0: as much as its owner lends */
    unsigned processes, seconds;
    bool encrypts;           /* the job keeps to what struct grid_lease asks for */
    bool confine;            /* in the sandbox of guests, on its owner's desktops too */
    const char *folder;      /* that is opened to it there; NULL: none */
    struct grid_files files; /* what the peer has to have before it starts */
    const char *job_folder;  /* where the processes find them; NULL: no files travel */
    unsigned lanes;          /* each has a view of the folder of its own; 0: one */
};

/* Has it signed and started by the lease's peer: answered by an event. */
int client_launch(struct client *c, const struct id *lease, const struct grid_launch *what,
                  struct err *e);

/* Asks the lease's peer how what runs there gets on: answered by an event, unless it is slow
 * itself. */
int client_lease_status(struct client *c, const struct id *lease, struct err *e);

/* Ends what runs under the lease and gives its slots back. */
int client_release(struct client *c, const struct id *lease, struct err *e);

enum grid_event_kind {
    GRID_LAUNCHED = 1,  /* the command runs: pid on the peer */
    GRID_LAUNCH_FAILED, /* it does not: text says why; the lease is gone */
    GRID_LEASE_ENDED, /* by expiry, by the owner, by the peer's death, or since its command ended */
    GRID_PEER_SILENT, /* the lease has ended: the job's other peers agree that its peer is silent */
    GRID_LEASE_RECALLED,   /* its peer wants it back, and ends it soon: text says why and when */
    GRID_ALLOCATION_ENDED, /* .lease is the reservation: its time is over, its leases are gone */
    GRID_DAEMON_GONE,      /* the local daemon went away; client_close is all that is left to do */
    GRID_LEASE_ENDING, /* its peer is about to end it: text says why; GRID_LEASE_ENDED follows */
    GRID_LEASE_SEEN,   /* its peer was asked by client_lease_status(): waits */
    GRID_FETCHING, /* the job's files come to its peer: have of all bytes, about once a second */
};

struct grid_event {
    enum grid_event_kind kind;
    struct id lease;
    int pid;
    int status;     /* wait status of the command, when it ended by itself */
    unsigned waits; /* permille of the time since the last look that it waited for a processor; 0:
                       it had its turns, or is stopped */
    uint64_t have, all;        /* of GRID_FETCHING */
    char cores[GRID_LINE + 1]; /* of GRID_LAUNCHED: processors that no other lease has, "2-5" */
    char text[GRID_LINE + 1];  /* why */
};

/* 1: *event is filled; 0: nothing waits; never blocks. */
int client_event(struct client *c, struct grid_event *event);
#endif
