/* SPDX-License-Identifier: BSD-3-Clause */
/* answers_ompi4.c -- what the preloaded library is told (preload.h): the time and the names of
 * things as the leader's machine has them, and who answers its other questions. */
#include "glue.h"
#include <dlfcn.h>

/* The leader gives its own time; a follower remembers by how much that differs, for when it leads,
 * or looks where its leader did not. */
static double clock_inside(struct told_clock *clock, double own)
{
    double *last = &clock->last, told;
    while (engine_follows(replica.engine)) {
        int n = engine_decision_take(replica.engine, DECIDE_TIME, &told, sizeof told);
        if (n == (int)sizeof told) {
            clock->offset = told - own;
            return *last = told;
        }
        if (n == -ENOENT)
            break;
        if (n != -EAGAIN)
            return *last;
        replica.waits_for_time = true;
        link_wait();
        replica.waits_for_time = false;
    }
    told = own + clock->offset;
    *last = told > *last ? told : *last;
    if (engine_follows(replica.engine)) /* and its leader has not looked */
        return *last;
    engine_decision_give(replica.engine, DECIDE_TIME, last, sizeof *last);
    if (!replica.has_progress) /* which would tell it soon */
        engine_committed(replica.engine);
    link_keep_pace();
    return *last;
}

static double answer_time(double own)
{
    link_enter();
    double time = clock_inside(&replica.wtime, own);
    link_leave();
    return time;
}

static bool answer_clock(enum preload_clock which, double *time)
{
    if (!program_calls())
        return false;
    link_enter();
    *time = clock_inside(&replica.clocks[which], *time);
    link_leave();
    return true;
}

/* What the leader's machine says of itself, for what this one says; returns its length. */
static size_t fact_inside(void *fact, size_t length, size_t most)
{
    while (engine_follows(replica.engine)) {
        int n = engine_decision_take(replica.engine, DECIDE_FACT, fact, most);
        if (n == -ENOENT)
            return length;
        if (n != -EAGAIN)
            return n > 0 ? (size_t)n : 0;
        link_wait();
    }
    engine_decision_give(replica.engine, DECIDE_FACT, fact, length);
    link_keep_pace();
    return length;
}

static void answer_name(char *name, int *length)
{
    link_enter();
    *length = (int)fact_inside(name, (size_t)*length, MPI_MAX_PROCESSOR_NAME - 1);
    name[*length] = '\0';
    link_leave();
}

static bool answer_fact(void *fact, size_t size)
{
    if (!program_calls())
        return false;
    link_enter();
    fact_inside(fact, size, size);
    link_leave();
    return true;
}

static struct preload_questions *questions; /* NULL: the library is not loaded */
static const struct preload_questions no_answers = {.has_begun = true};

/* A child of the program's is no replica: it asks its own machine. */
static void child_begins(void)
{
    *questions = no_answers;
}

bool answers_begin(void)
{
    questions = dlsym(RTLD_DEFAULT, PRELOAD_SYMBOL);
    if (questions == NULL)
        return false;
    *questions = (struct preload_questions){.has_begun = true,
                                            .time = answer_time,
                                            .clock = replica.params.clock ? answer_clock : NULL,
                                            .name = answer_name,
                                            .fact = answer_fact,
                                            .is_complete = outcome_is_complete,
                                            .number = comm_number,
                                            .idup = comm_idup,
                                            .settle = output_settle,
                                            .barrier = barrier_lanes,
                                            .refuse = comm_refuse};
    return pthread_atfork(NULL, NULL, child_begins) == 0;
}

void answers_end(void)
{
    if (questions != NULL)
        *questions = no_answers;
}
