/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd.c -- a grid that is larger than any that a test can start, as p2pd's page would tell of it:
 * made-up rows go through the page's own state, and what comes out is printed as server-sent
 * events: the whole, then patches of it. */
#include "overlay/client/words.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/web/state.h"
#include "overlay/web/stream.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOW_S = 1790000000, CHANGED_PEERS = 50, CHANGED_PROCESSES = 12 };

struct crowd {
    struct web_state *state;
    unsigned peers, ranks, lanes, turn;
};

static struct id crowd_id(unsigned i)
{
    struct id id = {{0}};
    id.b[0] = (uint8_t)(i * 151); /* spread over the ring */
    id.b[1] = (uint8_t)(i >> 8);
    id.b[2] = (uint8_t)i;
    return id;
}

static void crowd_name(char *out, size_t size, unsigned i)
{
    snprintf(out, size, "bird%03u", i);
}

/* How often the i-th of `count` things has changed so far, when so many change each turn. */
static unsigned changes(const struct crowd *c, unsigned i, unsigned count, unsigned each)
{
    return (c->turn * each + count - 1 - i) / count;
}

static struct part_ad crowd_ad(const struct crowd *c, unsigned i)
{
    const unsigned changed = changes(c, i, c->peers, CHANGED_PEERS);
    struct part_ad ad = {.cores = 8, .slots = 8, .memory = 16ull << 30, .disk = 200ull << 30};
    crowd_name(ad.name, sizeof ad.name, i);
    ad.peer.id = crowd_id(i);
    ad.slots_free = (uint16_t)((i + changed) % 9);
    ad.load = (i % 8) * 1000 + changed * 10;
    ad.closed = (uint8_t)(i % 10 == 9 ? LENDING_PAUSED : LENDING_OPEN);
    snprintf(ad.os, sizeof ad.os, "linux");
    snprintf(ad.arch, sizeof ad.arch, "x86_64");
    snprintf(ad.site, sizeof ad.site, "site%u", i % 4);
    return ad;
}

static void tell_desktop(struct crowd *c)
{
    struct message m = {.kind = MSG_local_self, .local_self = {.version = "crowd", .pid = 1}};
    m.local_self.ad = crowd_ad(c, 0);
    web_state_take(c->state, &m);
    for (unsigned i = 0; i < 9 && i + 1 < c->peers; i++) {
        m = (struct message){.kind = MSG_local_neighbour};
        m.local_neighbour.place = (uint8_t)i;
        m.local_neighbour.peer.id = crowd_id(i + 1);
        web_state_take(c->state, &m);
    }
    struct msg_local_terms terms = {.open = 1, .state = "lends"};
    m = (struct message){.kind = MSG_local_terms, .local_terms = &terms};
    web_state_take(c->state, &m);
    m = (struct message){.kind = MSG_local_totals,
                         .local_totals = {.began_ms = NOW_S * 1000ull, .walked_ms = c->turn}};
    web_state_take(c->state, &m);
    m = (struct message){
        .kind = MSG_local_transfer,
        .local_transfer = {.gives = 1, .peers = 3, .have = 1000000ull * c->turn, .all = 1u << 30}};
    web_state_take(c->state, &m);
}

static void tell_peers(struct crowd *c)
{
    for (unsigned i = 0; i < c->peers; i++) {
        struct message m = {.kind = MSG_local_peer};
        m.local_peer.ad = crowd_ad(c, i);
        m.local_peer.rtt_us = i == 0 ? 0 : 200 + i * 20 + changes(c, i, c->peers, CHANGED_PEERS);
        m.local_peer.place.x = i * 15;
        m.local_peer.place.y = i % 7 * 300;
        web_state_take(c->state, &m);
    }
}

static void tell_job(struct crowd *c)
{
    struct message m = {.kind = MSG_local_job,
                        .local_job = {.ranks = c->ranks,
                                      .lanes = (uint16_t)c->lanes,
                                      .pid = 4711,
                                      .began_ms = NOW_S * 1000ull}};
    const unsigned processes = c->ranks * c->lanes;
    snprintf(m.local_job.name, sizeof m.local_job.name, "mpirun-4711");
    snprintf(m.local_job.program, sizeof m.local_job.program, "/home/ada/relax");
    web_state_take(c->state, &m);
    for (unsigned i = 0; i < processes; i++) {
        struct msg_local_places row = {.places_count = 1};
        m = (struct message){.kind = MSG_local_places, .local_places = &row};
        struct part_place *p = &row.places[0];
        p->rank = i % c->ranks;
        p->lane = (uint16_t)(i / c->ranks);
        p->peer = crowd_id(i % c->peers);
        crowd_name(p->name, sizeof p->name, i % c->peers);
        /* Those that have changed most: lost, and back again, as no job does it. */
        p->state = changes(c, i, processes, CHANGED_PROCESSES) % 2 == 1 ? PLACE_LOST : PLACE_RUNS;
        web_state_take(c->state, &m);
    }
}

static void tell_history(struct crowd *c)
{
    for (unsigned i = 0; i < 50; i++) {
        struct message m = {
            .kind = MSG_local_past,
            .local_past = {.what = PAST_JOB, .slots = 4 + i, .lanes = 2, .took_ms = 60000}};
        m.local_past.began_ms = (NOW_S - 1000ull * i) * 1000;
        snprintf(m.local_past.program, sizeof m.local_past.program, "/bin/p%u", i);
        snprintf(m.local_past.text, sizeof m.local_past.text, "done");
        web_state_take(c->state, &m);
    }
}

static json_t *tell_grid(struct crowd *c)
{
    const unsigned jobs = c->peers / 4;
    for (unsigned i = 0; i < jobs; i++) {
        struct msg_local_grid_job row = {
            .job = {.state = i % 8 == 7 ? GRID_JOB_WAITS : GRID_JOB_RUNS,
                    .ranks = 4,
                    .lanes = 2,
                    .slots = 8,
                    .peers = 4}};
        row.peer = crowd_id(i + 1);
        crowd_name(row.from, sizeof row.from, i + 1);
        row.job.lost = changes(c, i, jobs, 4);
        row.job.age_ms = 60000ull * i;
        row.job.place = i % 8 == 7 ? i / 8 + 1 : 0;
        snprintf(row.job.user, sizeof row.job.user, "grace");
        snprintf(row.job.name, sizeof row.job.name, "mpirun-%u", i);
        web_state_take_grid(c->state, &row, NOW_S * 1000ull);
    }
    return web_state_end_grid(c->state);
}

/* All rows once more, as p2pd tells them: the patch, or NULL. */
static json_t *crowd_look(struct crowd *c)
{
    web_state_begin(c->state, OVERVIEW_ALL, true);
    tell_desktop(c);
    tell_peers(c);
    tell_job(c);
    tell_history(c);
    json_t *patch = web_state_end(c->state, NOW_S * 1000ull), *grid = tell_grid(c);
    if (patch == NULL)
        return grid;
    if (grid != NULL)
        json_object_update(patch, grid);
    json_decref(grid);
    return patch;
}

static void say(const char *name, json_t *data)
{
    char *frame = data != NULL ? web_stream_frame(name, data) : NULL;
    if (frame != NULL)
        fputs(frame, stdout);
    free(frame);
    json_decref(data);
}

int main(int argc, char **argv)
{
    struct crowd c = {.state = web_state_new()};
    if (argc != 5 || c.state == NULL) {
        fprintf(stderr, "usage: crowd PEERS RANKS LANES PATCHES\n");
        return 1;
    }
    c.peers = (unsigned)atoi(argv[1]);
    c.ranks = (unsigned)atoi(argv[2]);
    c.lanes = (unsigned)atoi(argv[3]);
    json_decref(crowd_look(&c));
    say("state", json_pack("{s:s, s:O}", "token", "", "state", web_state_whole(c.state)));
    for (c.turn = 1; c.turn <= (unsigned)atoi(argv[4]); c.turn++)
        say("patch", crowd_look(&c));
    web_state_free(c.state);
    return 0;
}
