/* SPDX-License-Identifier: BSD-3-Clause */
/* invariants.h -- what is always true of a replicated job, as doc/replication.md, section 13, has
 * it: whatever dies, and in whatever order frames come. The simulator (test/sim/replica) checks
 * them, and names the one that is broken. */
#ifndef P2P_SRC_REPLICA_INVARIANTS_H
#define P2P_SRC_REPLICA_INVARIANTS_H

enum invariant {
    I1_ONE_ORDER = 1,
    I2_EACH_ONCE,
    I3_SOMEBODY_HAS_IT, /* has no check of its own: when it is broken I11 is, too */
    I4_COMMIT,
    I5_ONE_LEADER,
    I6_DEATH_GOES_BEFORE, /* none of its own either: I7 is broken, too */
    I7_NO_FUTURE,
    I8_WINDOWS_ALIKE,
    I9_DONE_IS_SO,
    I10_BOUNDED,
    I11_ALL_END,
    I12_ALIKE_OR_NOTHING,
    I13_TOGETHER,
    INVARIANTS = I13_TOGETHER
};

static inline const char *invariant_name(enum invariant which)
{
    static const char *const names[] = {"no invariant",         "I1 one order", "I2 each once",
                                        "I3 somebody has it",   "I4 commit",    "I5 one leader",
                                        "I6 death goes before", "I7 no future", "I8 windows alike",
                                        "I9 done is so",        "I10 bounded",  "I11 all end",
                                        "I12 alike or nothing", "I13 together"};
    _Static_assert(sizeof names / sizeof *names == INVARIANTS + 1, "each has a name");
    return names[which];
}
#endif
