/* SPDX-License-Identifier: BSD-3-Clause */
/* own_jobs.c -- asks the daemon for its roster. */
#include "own_jobs.h"
#include "overlay/base/names.h"
#include "overlay/json/rows.h"
#include "overlay/client/words.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 5000 };

static void add_job(struct own_jobs *all, const struct msg_local_job *is)
{
    struct own_job *more = realloc(all->at, (all->count + 1) * sizeof *more);
    struct part_place *places = calloc((size_t)is->ranks * is->lanes + 1, sizeof *places);
    if (more != NULL)
        all->at = more;
    if (more == NULL || places == NULL) {
        free(places);
        all->short_of_memory = true;
        return;
    }
    all->at[all->count++] = (struct own_job){.is = *is, .places = places};
}

static void add_places(struct own_job *j, const struct msg_local_places *row)
{
    for (size_t i = 0; i < row->places_count; i++) {
        const struct part_place *p = &row->places[i];
        if (p->rank < j->is.ranks && p->lane < j->is.lanes)
            j->places[(size_t)p->lane * j->is.ranks + p->rank] = *p;
    }
}

void own_jobs_take(struct own_jobs *all, const struct message *m)
{
    if (m->kind == MSG_local_job)
        add_job(all, &m->local_job);
    else if (m->kind == MSG_local_places && all->count > 0 && !all->short_of_memory)
        add_places(&all->at[all->count - 1], m->local_places);
}

static void own_jobs_row(void *ctx, const struct message *m)
{
    own_jobs_take(ctx, m);
}

int own_jobs_ask(struct own_jobs *all, struct client *c, struct err *e)
{
    struct message question = {.kind = MSG_local_jobs};
    struct msg_local_done done;
    *all = (struct own_jobs){0};
    const int rc = client_ask(c, &question, ANSWER_MS, own_jobs_row, all, &done, e);
    return rc == 0 && all->short_of_memory ? err_set(e, ENOMEM, "out of memory") : rc;
}

void own_jobs_clear(struct own_jobs *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->at[i].places);
    free(all->at);
    *all = (struct own_jobs){0};
}

const struct own_job *own_jobs_find(const struct own_jobs *all, const char *word)
{
    for (size_t i = 0; i < all->count; i++) {
        const char *name = all->at[i].is.name, *number = strrchr(name, '-');
        if (strcmp(name, word) == 0 || (number != NULL && strcmp(number + 1, word) == 0))
            return &all->at[i];
    }
    return NULL;
}

const struct part_place *own_job_place(const struct own_job *j, unsigned rank, unsigned lane)
{
    return &j->places[(size_t)lane * j->is.ranks + rank];
}

unsigned own_job_lost(const struct own_job *j)
{
    unsigned n = 0;
    for (size_t i = 0; i < (size_t)j->is.ranks * j->is.lanes; i++)
        n += j->places[i].state == PLACE_LOST;
    return n;
}

static int by_peer(const void *a, const void *b)
{
    const struct part_place *x = *(const struct part_place *const *)a;
    const struct part_place *y = *(const struct part_place *const *)b;
    return memcmp(&x->peer, &y->peer, sizeof x->peer);
}

unsigned own_job_peers(const struct own_job *j)
{
    const size_t all = (size_t)j->is.ranks * j->is.lanes;
    const struct part_place **running = calloc(all + 1, sizeof *running);
    size_t count = 0;
    unsigned peers = 0;
    for (size_t i = 0; running != NULL && i < all; i++)
        if (j->places[i].state == PLACE_RUNS)
            running[count++] = &j->places[i];
    if (count > 0)
        qsort(running, count, sizeof running[0], by_peer);
    for (size_t i = 0; i < count; i++)
        peers += i == 0 || by_peer(&running[i - 1], &running[i]) != 0;
    free(running);
    return peers;
}

void own_job_names(const struct own_job *j, char out[OWN_JOB_NAMES])
{
    bool room = true;
    out[0] = '\0';
    for (size_t i = 0; i < (size_t)j->is.ranks * j->is.lanes && room; i++)
        if (j->places[i].state == PLACE_RUNS)
            room = names_add(out, OWN_JOB_NAMES, j->places[i].name);
}

void own_job_where(const char *names, unsigned peers, unsigned lost, char *out, size_t size)
{
    enum { NAMES_WIDE = 36 };
    names_text(names, peers, NAMES_WIDE, out, size);
    const size_t used = strlen(out);
    if (lost > 0)
        snprintf(out + used, size - used, "; %u lost", lost);
}

const char *own_job_state(const struct own_job *j)
{
    return j->is.waits > 0 ? "waits" : j->is.over ? "ends" : j->is.held ? "held" : "runs";
}

unsigned own_job_leader(const struct own_job *j, unsigned rank)
{
    unsigned lane = 0;
    while (lane < j->is.lanes && own_job_place(j, rank, lane)->state != PLACE_RUNS)
        lane++;
    return lane;
}

static json_t *processes_json(const struct own_job *j)
{
    json_t *all = json_array();
    for (unsigned rank = 0; rank < j->is.ranks; rank++)
        for (unsigned lane = 0; lane < j->is.lanes; lane++) {
            const struct part_place *p = own_job_place(j, rank, lane);
            if (p->state != 0)
                json_array_append_new(all, json_of_process(p, lane == own_job_leader(j, rank)));
        }
    return all;
}

json_t *own_job_json(const struct own_job *j, bool processes)
{
    char names[OWN_JOB_NAMES];
    json_t *one = json_of_job(&j->is);
    json_object_set_new(one, "peers", json_integer(own_job_peers(j)));
    json_object_set_new(one, "lost", json_integer(own_job_lost(j)));
    own_job_names(j, names);
    json_object_set_new(one, "where", json_of_names(names));
    if (processes)
        json_object_set_new(one, "processes", processes_json(j));
    return one;
}
