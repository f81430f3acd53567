/* SPDX-License-Identifier: BSD-3-Clause */
/* fate_state.h -- what fate.c counts and fate_words.c tells. */
#ifndef P2P_SRC_SURVIVE_FATE_STATE_H
#define P2P_SRC_SURVIVE_FATE_STATE_H
#include "fate.h"

enum fate_state { FATE_LIVING, FATE_FINISHED, FATE_LOST, FATE_HOLE };

struct fate_replica {
    enum fate_state state;
    enum fate_cause cause;
    int value;
    bool untold;    /* no line has said that it is lost */
    unsigned order; /* of its loss, from 1 */
    uint64_t after_ms;
    char *why; /* of FATE_HOST_ENDED; NULL: unknown */
    char peer[FATE_PEER + 1];
};

struct fate {
    unsigned ranks, lanes;
    unsigned losses, finished; /* replicas lost so far; ranks finished */
    unsigned lost_rank;        /* when the job has failed */
    enum fate_verdict verdict;
    uint64_t start_ms;
    bool *row;                     /* of `ranks`, for a line that is being made */
    struct fate_replica replica[]; /* [lane * ranks + rank] */
};

const struct fate_replica *fate_at(const struct fate *f, unsigned rank, unsigned lane);
#endif
