/* SPDX-License-Identifier: BSD-3-Clause */
/* fate.h -- what became of every replica, and so of the job. A rank is finished when one of its
 * replicas is; the job is done when every rank is finished, and has failed when a rank has lost its
 * last replica. */
#ifndef P2P_SRC_SURVIVE_FATE_H
#define P2P_SRC_SURVIVE_FATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fate;

enum fate_cause {
    FATE_HOST_LOST,    /* the connection to its peer's orted closed */
    FATE_HOST_SILENT,  /* the overlay hears nothing of its peer any more */
    FATE_ORTED_SILENT, /* mpirun hears nothing of the orted on its peer any more */
    FATE_HOST_ENDED,   /* the peer said that it ends what runs there */
    FATE_HOST_LEFT,    /* its owner wanted it back, and the job could do without */
    FATE_SIGNAL,       /* value: the signal */
    FATE_STATUS,       /* value: the exit status, not 0 */
    FATE_NO_FINALIZE,  /* it ended after MPI_Init without MPI_Finalize; value: the exit status, also
                          0 */
    FATE_NO_START, /* it could not be started; value: an errno value that says why, 0: unknown */
};

struct fate_loss {
    enum fate_cause cause;
    int value;
    const char *peer; /* copied, at most FATE_PEER characters */
    const char *why;  /* of FATE_HOST_ENDED, in words that begin with the peer's name; copied */
    uint64_t at_ms;
};

enum { FATE_PEER = 63 };

enum fate_verdict {
    FATE_ON,     /* the job goes on */
    FATE_DONE,   /* every rank is finished: the job has succeeded */
    FATE_FAILED, /* a rank is lost: the job has failed */
};

/* Times in losses count from start_ms. NULL when there is no memory. */
struct fate *fate_new(unsigned ranks, unsigned lanes, uint64_t start_ms);
void fate_free(struct fate *f);

/* This rank has no replica in this lane, by the levels that were asked for. */
void fate_hole(struct fate *f, unsigned rank, unsigned lane);
/* The verdict after the event. The first that is not FATE_ON stands, whatever comes later. A
 * replica that is finished or lost stays so. */
enum fate_verdict fate_finish(struct fate *f, unsigned rank, unsigned lane);
enum fate_verdict fate_lose(struct fate *f, unsigned rank, unsigned lane,
                            const struct fate_loss *loss);
enum fate_verdict fate_verdict(const struct fate *f);

/* Would the job go on, or be done, without this replica? */
bool fate_spares(const struct fate *f, unsigned rank, unsigned lane);
bool fate_living(const struct fate *f, unsigned rank, unsigned lane);
bool fate_finished(const struct fate *f, unsigned rank);
bool fate_finished_in(const struct fate *f, unsigned rank, unsigned lane);
/* Does no replica of any rank live any more? */
bool fate_settled(const struct fate *f);
/* Done: for so long those that are still at it may finish by themselves, in ms. A program's own
 * files are written by all lanes, on file systems that peers share into one: it is whole when
 * nobody is stopped between emptying it and filling it again. */
uint64_t fate_grace(const struct fate *f, uint64_t now_ms);
uint64_t fate_grace_of(uint64_t took_ms); /* by what the program has taken so far */
/* The lowest lane in which the rank lives; `lanes` when it lives in none. */
unsigned fate_leader(const struct fate *f, unsigned rank);
unsigned fate_living_replicas(const struct fate *f, unsigned rank);

/* What mpirun exits with: 0 unless the job is over; then the lost rank's first exit status, else
 * 128 + its first signal, else 1. */
int fate_status(const struct fate *f);
/* The one line to print when the job is over: the rank, and for each of its replicas peer, cause
 * and time. */
void fate_line(const struct fate *f, char *text, size_t size);
/* The next line on losses that the job survives and that no line has told yet: one for a desktop,
 * with all that is lost of it by now, or one for a process that is lost by itself. False: there is
 * none, or the job has failed, and another line says why. */
bool fate_next_note(struct fate *f, char *text, size_t size);
/* The one line at the end of a job that has succeeded in spite of losses, with how many processes
 * each peer took with it. False: there were none, or it has not succeeded. */
bool fate_summary(const struct fate *f, uint64_t now_ms, char *text, size_t size);
#endif
