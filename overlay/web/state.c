/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c -- rows become sections of one object: objects by id, so that a patch names what changed.
 */
#include "state.h"
#include "overlay/base/lane_roots.h"
#include "overlay/client/words.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/json/rows.h"
#include "patch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct web_state {
    json_t *whole, *fresh; /* fresh: the sections that come now */
    json_t *job;           /* of `fresh`, whose places come; NULL: none, or there are too many */
    json_t *grid;          /* jobs of others that come now, between the looks */
};

static const struct section {
    const char *name;
    unsigned part;
} sections[] = {
    {"desktop", OVERVIEW_DESKTOP}, {"lent", OVERVIEW_DESKTOP}, {"peers", OVERVIEW_PEERS},
    {"members", OVERVIEW_MEMBERS}, {"jobs", OVERVIEW_JOBS},    {"transfers", OVERVIEW_TRANSFERS},
    {"totals", OVERVIEW_TOTALS},
};

struct web_state *web_state_new(void)
{
    struct web_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->whole = json_pack("{s:[], s:[], s:{}}", "log", "history", "grid");
    s->fresh = json_object();
    s->grid = json_object();
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        json_object_set_new(s->whole, sections[i].name, json_object());
    return s;
}

void web_state_free(struct web_state *s)
{
    if (s == NULL)
        return;
    json_decref(s->whole);
    json_decref(s->fresh);
    json_decref(s->grid);
    free(s);
}

void web_state_begin(struct web_state *s, unsigned parts, bool history)
{
    json_object_clear(s->fresh);
    s->job = NULL;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if ((sections[i].part & parts) != 0)
            json_object_set_new(s->fresh, sections[i].name, json_object());
    if (history)
        json_object_set_new(s->fresh, "history", json_array());
}

static json_t *section(struct web_state *s, const char *name)
{
    return json_object_get(s->fresh, name);
}

static void put_by_id(json_t *section, const struct id *id, json_t *value)
{
    char text[ID_TEXT + 1];
    id_text(id, text);
    json_object_set_new(section, text, value);
}

/* --- this desktop --- */

static void take_self(struct web_state *s, const struct msg_local_self *self)
{
    json_t *desktop = section(s, "desktop"), *ad = json_of_ad(&self->ad);
    json_object_update(desktop, ad);
    json_decref(ad);
    json_object_set_new(desktop, "version", json_string(self->version));
    json_object_set_new(desktop, "pid", json_integer(self->pid));
    json_object_set_new(desktop, "views", json_string(lanes_way_text((enum lanes_way)self->views)));
    json_object_set_new(desktop, "ring", json_pack("{s:[]}", "successors"));
}

static void take_neighbour(struct web_state *s, const struct msg_local_neighbour *n)
{
    json_t *ring = json_object_get(section(s, "desktop"), "ring");
    json_t *one = json_of_neighbour(&n->peer);
    if (n->place == 0)
        json_object_set_new(ring, "predecessor", one);
    else
        json_array_append_new(json_object_get(ring, "successors"), one);
}

/* Since when it is held is said once, not how old it is, which is another number each time. */
static void take_lent(struct web_state *s, const struct msg_local_granted *l)
{
    const json_t *self = json_object_get(section(s, "desktop"), "id");
    char holder[ID_TEXT + 1];
    id_text(&l->holder, holder);
    if (self != NULL && strcmp(json_string_value(self), holder) == 0)
        return; /* in its own jobs */
    put_by_id(section(s, "lent"), &l->lease, json_of_lent(l));
}

static void settle_lent(struct web_state *s, uint64_t now_ms)
{
    json_t *known = json_object_get(s->whole, "lent"), *lease;
    const char *key;
    json_object_foreach(section(s, "lent"), key, lease)
    {
        const json_int_t age = json_integer_value(json_object_get(lease, "age_ms"));
        json_t *since = json_object_get(json_object_get(known, key), "since_ms");
        json_object_del(lease, "age_ms");
        if (since != NULL)
            json_object_set(lease, "since_ms", since);
        else
            json_object_set_new(lease, "since_ms", json_integer((json_int_t)now_ms - age));
    }
}

/* --- others --- */

static void take_peer(struct web_state *s, const struct msg_local_peer *p)
{
    json_t *peers = section(s, "peers");
    if (json_object_size(peers) < WEB_PEERS_MOST)
        put_by_id(peers, &p->ad.peer.id, json_of_peer(p));
}

static void take_member(struct web_state *s, const struct msg_local_member *m)
{
    json_t *members = section(s, "members");
    if (json_object_size(members) >= WEB_PEERS_MOST)
        return;
    json_t *one = json_of_member(m->name, &m->peer, false, member_away_text(m, 0), 0, m->seen);
    json_object_del(one, "here"); /* that it is shows among the peers, and so does a pause */
    json_object_del(one, "until");
    put_by_id(members, &m->peer, one);
}

/* --- jobs --- */

static void take_job(struct web_state *s, const struct msg_local_job *j)
{
    s->job = json_of_job(j);
    json_object_set_new(s->job, "processes", json_object());
    if (json_object_set_new(section(s, "jobs"), j->name, s->job) != 0)
        s->job = NULL;
}

static void take_places(struct web_state *s, const struct msg_local_places *row)
{
    json_t *processes = json_object_get(s->job, "processes");
    for (size_t i = 0; i < row->places_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%u.%u", row->places[i].rank, (unsigned)row->places[i].lane);
        if (processes != NULL && json_object_size(processes) < WEB_PLACES_MOST)
            json_object_set_new(processes, key, json_of_process(&row->places[i], false));
    }
}

static bool process_is(const json_t *process, const char *state)
{
    const char *is = json_string_value(json_object_get(process, "state"));
    return is != NULL && strcmp(is, state) == 0;
}

/* The lowest lane in which the rank runs is the one whose output is shown. */
static void settle_rank(json_t *processes, unsigned rank, unsigned lanes)
{
    char key[32];
    for (unsigned lane = 0; lane < lanes; lane++) {
        snprintf(key, sizeof key, "%u.%u", rank, lane);
        json_t *process = json_object_get(processes, key);
        if (!process_is(process, "runs"))
            continue;
        json_object_set_new(process, "leads", json_true());
        return;
    }
}

static unsigned count_lost(json_t *processes)
{
    unsigned n = 0;
    const char *key;
    json_t *process;
    json_object_foreach(processes, key, process) n += process_is(process, "lost");
    return n;
}

static void settle_jobs(struct web_state *s)
{
    const char *key;
    json_t *job;
    json_object_foreach(section(s, "jobs"), key, job)
    {
        json_t *processes = json_object_get(job, "processes");
        const unsigned ranks = (unsigned)json_integer_value(json_object_get(job, "ranks"));
        const unsigned lanes = (unsigned)json_integer_value(json_object_get(job, "lanes"));
        for (unsigned rank = 0; rank < ranks && rank < WEB_PLACES_MOST; rank++)
            settle_rank(processes, rank, lanes);
        json_object_set_new(job, "lost", json_integer(count_lost(processes)));
    }
}

/* --- rows --- */

static void take_transfer(struct web_state *s, const struct msg_local_transfer *t)
{
    json_t *one = json_of_transfer(t);
    char key[96];
    snprintf(key, sizeof key, "%s-%s", json_string_value(json_object_get(one, "way")),
             json_string_value(json_object_get(one, "list")));
    json_object_set_new(section(s, "transfers"), key, one);
}

void web_state_take(struct web_state *s, const struct message *m)
{
    switch ((unsigned)m->kind) {
    case MSG_local_self:
        take_self(s, &m->local_self);
        break;
    case MSG_local_neighbour:
        take_neighbour(s, &m->local_neighbour);
        break;
    case MSG_local_granted:
        take_lent(s, &m->local_granted);
        break;
    case MSG_local_terms:
        json_object_set_new(section(s, "desktop"), "policy", json_of_terms(m->local_terms));
        break;
    case MSG_local_peer:
        take_peer(s, &m->local_peer);
        break;
    case MSG_local_member:
        take_member(s, &m->local_member);
        break;
    case MSG_local_job:
        take_job(s, &m->local_job);
        break;
    case MSG_local_places:
        take_places(s, m->local_places);
        break;
    case MSG_local_transfer:
        take_transfer(s, &m->local_transfer);
        break;
    case MSG_local_totals:
        json_object_set_new(s->fresh, "totals", json_of_totals(&m->local_totals));
        break;
    case MSG_local_past:
        json_array_append_new(section(s, "history"), json_of_past(&m->local_past));
        break;
    }
}

json_t *web_state_end(struct web_state *s, uint64_t now_ms)
{
    json_t *patch = json_object(), *value;
    const char *name;
    settle_lent(s, now_ms);
    settle_jobs(s);
    json_object_foreach(s->fresh, name, value)
    {
        json_t *change = patch_make(json_object_get(s->whole, name), value);
        if (change != NULL)
            json_object_set_new(patch, name, change);
        json_object_set(s->whole, name, value);
    }
    json_object_clear(s->fresh);
    s->job = NULL;
    if (json_object_size(patch) > 0)
        return patch;
    json_decref(patch);
    return NULL;
}

/* --- jobs of others --- */

/* By the submitter's id and the job's name; what has no name is counted. */
static void grid_key(const struct web_state *s, const struct msg_local_grid_job *row, char *key,
                     size_t size)
{
    char id[ID_TEXT + 1];
    id_text(&row->peer, id);
    if (row->job.name[0] != '\0')
        snprintf(key, size, "%s-%s", id, row->job.name);
    for (unsigned n = 0; row->job.name[0] == '\0' && n < WEB_GRID_MOST; n++) {
        snprintf(key, size, "%s-%s-%u", id, row->job.user, n);
        if (json_object_get(s->grid, key) == NULL)
            return;
    }
}

void web_state_take_grid(struct web_state *s, const struct msg_local_grid_job *row, uint64_t now_ms)
{
    enum { SAME_MS = 5000 }; /* ages are told in messages that take their time */
    char key[ID_TEXT + sizeof row->job.name + sizeof row->job.user + 16];
    const json_t *own = json_object_get(json_object_get(s->whole, "jobs"), row->job.name);
    if (json_object_size(s->grid) >= WEB_GRID_MOST || (row->own != 0 && own != NULL))
        return;
    grid_key(s, row, key, sizeof key);
    const json_t *was = json_object_get(json_object_get(s->whole, "grid"), key);
    const json_int_t known = json_integer_value(json_object_get(was, "since_ms"));
    json_int_t since = (json_int_t)(now_ms - row->job.age_ms);
    if (known - since < SAME_MS && since - known < SAME_MS)
        since = known;
    json_t *one = json_of_grid_job(row);
    json_object_del(one, "age_ms");
    json_object_set_new(one, "since_ms", json_integer(since));
    json_object_set_new(s->grid, key, one);
}

json_t *web_state_end_grid(struct web_state *s)
{
    json_t *change = patch_make(json_object_get(s->whole, "grid"), s->grid);
    json_object_set_new(s->whole, "grid", s->grid);
    s->grid = json_object();
    return change != NULL ? json_pack("{s:o}", "grid", change) : NULL;
}

json_t *web_state_happen(struct web_state *s, const struct msg_local_notice *notice)
{
    json_t *log = json_object_get(s->whole, "log"), *one = json_of_notice(notice);
    json_array_append(log, one);
    if (json_array_size(log) > WEB_LOG)
        json_array_remove(log, 0);
    return one;
}

json_t *web_state_whole(const struct web_state *s)
{
    return s->whole;
}
