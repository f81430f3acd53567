/* SPDX-License-Identifier: BSD-3-Clause */
/* invariants.h -- what is always true of a replicated job, whoever dies and in whatever order
 * frames come. The simulator (test/sim/replica) checks each, and names the one that is broken. The
 * reasons are in doc/replication.md. */
#ifndef P2P_SRC_REPLICA_INVARIANTS_H
#define P2P_SRC_REPLICA_INVARIANTS_H

enum invariant {
    /* All replicas of a rank send the same messages, and end with the same result. */
    I1_ONE_PROGRAM = 1,
    /* The decisions of a rank are one sequence: what one replica decided, the others find too. */
    I2_ONE_SEQUENCE_OF_DECISIONS,
    /* What has left a rank (output, news of a matched synchronous send) depends on no decision that
     * could still be made in another way, whoever dies. */
    I3_OUTPUT_COMMIT,
    /* Each message is received once, whole, and from its sender. */
    I4_DELIVERY,
    /* A receive's buffer stays as it is until the program waits for that receive: nothing in it
     * follows from what the program has yet to do. */
    I5_NOTHING_FROM_THE_FUTURE,
    /* A request that is done is done for good: its buffer is neither read nor written any more. */
    I6_COMPLETION,
    /* A replica leaves a barrier when all that it waits for have entered it. */
    I7_BARRIER,
    /* Logs keep their limits, and so does what a lane that is ahead makes in the others. */
    I8_BOUNDED_MEMORY,
    /* As long as each rank has a replica the job goes on, and ends. */
    I9_PROGRESS,
    /* A process that has seen or sent what no other lane has does not end well. */
    I10_NO_WRONG_RESULT,
    INVARIANTS = I10_NO_WRONG_RESULT
};

static inline const char *invariant_name(enum invariant which)
{
    switch (which) {
    case I1_ONE_PROGRAM:
        return "I1 one program";
    case I2_ONE_SEQUENCE_OF_DECISIONS:
        return "I2 one sequence of decisions";
    case I3_OUTPUT_COMMIT:
        return "I3 output commit";
    case I4_DELIVERY:
        return "I4 delivery";
    case I5_NOTHING_FROM_THE_FUTURE:
        return "I5 nothing from the future";
    case I6_COMPLETION:
        return "I6 completion";
    case I7_BARRIER:
        return "I7 barrier";
    case I8_BOUNDED_MEMORY:
        return "I8 bounded memory";
    case I9_PROGRESS:
        return "I9 progress";
    case I10_NO_WRONG_RESULT:
        return "I10 no wrong result";
    }
    return "no invariant";
}
#endif
