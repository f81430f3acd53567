/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.c -- what rings are asked, under a token each, and what they answer. */
#include "sim_state.h"
#include <stdlib.h>
#include <string.h>

static struct sim_answer *answer_of(struct sim *sim, uint32_t token)
{
    return token < sim->asked ? sim->answers[token] : NULL;
}

static void finish(struct sim *sim, uint32_t token, unsigned chain, bool failed)
{
    struct sim_answer *a = answer_of(sim, token);
    if (a == NULL || a->done)
        return;
    a->done = true;
    a->failed = failed;
    a->chain = chain;
    a->took_us = sim->now - sim->asked_at[token];
}

void answer_note(struct sim *sim, const struct ring_action *a, unsigned chain)
{
    struct sim_answer *answer = answer_of(sim, a->token);
    switch (a->kind) {
    case RING_FOUND:
        answer->peer = sim_number(&a->peer);
        answer->hops = a->hops;
        finish(sim, a->token, chain, false);
        break;
    case RING_RECORDS:
        answer->count = a->count;
        if (a->count > 0) {
            answer->value_length = a->records[0].value_length;
            memcpy(answer->value, a->records[0].value, answer->value_length);
        }
        finish(sim, a->token, chain, false);
        break;
    case RING_NEAR:
        for (unsigned k = 0; k < a->count; k++)
            if (answer->count < sizeof answer->ads / sizeof answer->ads[0])
                memcpy(&answer->ads[answer->count++], a->ads[k].ad, sizeof answer->ads[0]);
        break;
    case RING_STORED:
    case RING_DONE:
        finish(sim, a->token, chain, false);
        break;
    case RING_FAILED:
        finish(sim, a->token, chain, true);
        break;
    case RING_SEND:
    case RING_NEIGHBOURS:
    case RING_SILENT:
    case RING_LEFT:
        break;
    }
}

static uint32_t new_token(struct sim *sim)
{
    if (sim->asked == sim->answer_room) {
        sim->answer_room = sim->answer_room * 2 + 64;
        sim->answers = must(realloc(sim->answers, sim->answer_room * sizeof *sim->answers));
        sim->asked_at = must(realloc(sim->asked_at, sim->answer_room * sizeof *sim->asked_at));
    }
    if (sim->asked == 0) { /* token 0 is not used */
        sim->answers[0] = must(calloc(1, sizeof **sim->answers));
        sim->asked++;
        return new_token(sim);
    }
    sim->answers[sim->asked] = must(calloc(1, sizeof **sim->answers));
    sim->asked_at[sim->asked] = sim->now;
    return (uint32_t)sim->asked++;
}

static const struct sim_answer *ask(struct sim *sim, unsigned i, struct ring_event event)
{
    event.token = sim->cause = new_token(sim);
    sim_tell(sim, i, &event, 0);
    sim->cause = 0;
    return sim->answers[event.token];
}

const struct sim_answer *sim_lookup(struct sim *sim, unsigned i, const struct id *key)
{
    return ask(sim, i, (struct ring_event){.kind = RING_LOOKUP, .key = *key});
}

const struct sim_answer *sim_put(struct sim *sim, unsigned i, const struct part_record *record)
{
    return ask(sim, i, (struct ring_event){.kind = RING_PUT, .record = record});
}

const struct sim_answer *sim_get(struct sim *sim, unsigned i, const struct id *key)
{
    return ask(sim, i, (struct ring_event){.kind = RING_GET, .key = *key});
}

const struct sim_answer *sim_nearest(struct sim *sim, unsigned i, unsigned want,
                                     const char *require)
{
    return ask(sim, i, (struct ring_event){.kind = RING_NEAREST, .want = want, .require = require});
}

void sim_wait_for(struct sim *sim, const struct sim_answer *answer)
{
    while (!answer->done && sim_step(sim))
        ;
}
