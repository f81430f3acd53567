/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.c -- the jobs of this daemon's user. */
#include "roster.h"
#include "overlay/base/names.h"
#include "overlay/base/recent.h"
#include "outputs.h"
#include "overlay/watch/notice.h"
#include "overlay/client/words.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JOBS_MAX = 128, PLACES_MAX = 1 << 18, STATUS_UNKNOWN = 255, KEEP_MOST = 1 << 20 };

struct job {
    void *client;
    struct msg_local_job is;
    pid_t pid;
    struct part_place *places; /* [lane * ranks + rank]; state 0: not said */
    size_t count;
    bool cancelled; /* its end was asked for */
    struct recent output;
};

struct roster {
    struct notices *notices;
    roster_say_fn *say;
    roster_past_fn *past;
    void *ctx;
    roster_waits_fn *waits; /* NULL: none does */
    void *waits_ctx;
    struct job at[JOBS_MAX];
    size_t count;
};

static uint64_t since_1970_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct roster *roster_new(struct notices *notices, roster_say_fn *say, roster_past_fn *past,
                          void *ctx)
{
    struct roster *r = calloc(1, sizeof *r);
    if (r != NULL)
        *r = (struct roster){.notices = notices, .say = say, .past = past, .ctx = ctx};
    return r;
}

void roster_ask_waits(struct roster *r, roster_waits_fn *waits, void *ctx)
{
    r->waits = waits;
    r->waits_ctx = ctx;
}

static void job_free(struct job *j)
{
    free(j->places);
    free(j->output.at);
}

void roster_free(struct roster *r)
{
    for (size_t i = 0; r != NULL && i < r->count; i++)
        job_free(&r->at[i]);
    free(r);
}

static struct job *roster_find(struct roster *r, const void *client)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->at[i].client == client)
            return &r->at[i];
    return NULL;
}

static void say_done(struct roster *r, const struct job *j)
{
    struct msg_local_notice notice = {.what = NOTICE_JOB_DONE, .status = j->is.status};
    memcpy(notice.job, j->is.name, sizeof notice.job);
    snprintf(notice.text, sizeof notice.text, "%s (%.200s) ended with status %u", j->is.name,
             j->is.program, j->is.status);
    notice_send(r->notices, &notice);
}

static void keep_past(struct roster *r, const struct job *j)
{
    struct msg_local_past past = {.what = PAST_JOB,
                                  .began_ms = j->is.began_ms,
                                  .took_ms = since_1970_ms() - j->is.began_ms,
                                  .slots = j->is.ranks,
                                  .lanes = j->is.lanes,
                                  .status = j->is.status};
    for (size_t i = 0; i < j->count; i++)
        past.lost += j->places[i].state == PLACE_LOST;
    memcpy(past.name, j->is.name, sizeof past.name);
    memcpy(past.program, j->is.program, sizeof past.program);
    snprintf(past.text, sizeof past.text, "%s",
             j->cancelled        ? "cancelled"
             : !j->is.over       ? "mpirun was lost"
             : j->is.status == 0 ? "done"
                                 : "failed");
    r->past(r->ctx, &past, &j->output);
}

/* One that waited has done nothing that is worth to be kept. */
static void note_end(struct roster *r, const struct job *j)
{
    if (j->is.waits > 0)
        return;
    say_done(r, j);
    keep_past(r, j);
}

static void forget_job(struct roster *r, struct job *j)
{
    job_free(j);
    *j = r->at[--r->count];
}

void roster_job(struct roster *r, void *client, pid_t pid, const struct msg_local_job *said)
{
    struct job *j = roster_find(r, client);
    size_t count = (size_t)said->ranks * said->lanes;
    if (j != NULL && j->is.waits > 0 && !said->over && said->waits == 0) { /* it has its slots */
        forget_job(r, j);
        j = NULL;
    }
    if (j != NULL) { /* the first word on what it is stays, the last one on how it ended, too */
        if (said->over && !j->is.over) {
            j->is.over = 1;
            j->is.status = said->status;
            note_end(r, j);
        }
        return;
    }
    if (said->over || count == 0 || count > PLACES_MAX || r->count == JOBS_MAX)
        return;
    j = &r->at[r->count];
    *j = (struct job){.client = client, .is = *said, .pid = pid, .count = count};
    j->places = calloc(count, sizeof j->places[0]);
    if (j->places == NULL)
        return;
    j->is.pid = (uint32_t)pid;
    j->is.began_ms = since_1970_ms();
    j->is.held = 0;
    snprintf(j->is.name, sizeof j->is.name, "mpirun-%d", (int)pid);
    r->count++;
}

static unsigned living(const struct job *j, uint32_t rank)
{
    unsigned n = 0;
    for (unsigned lane = 0; lane < j->is.lanes; lane++)
        n += j->places[(size_t)lane * j->is.ranks + rank].state == PLACE_RUNS;
    return n;
}

static void say_lost(struct roster *r, const struct job *j, const struct part_place *p)
{
    struct msg_local_notice notice = {.what = NOTICE_REPLICA_LOST,
                                      .peer = p->peer,
                                      .rank = p->rank,
                                      .lane = p->lane,
                                      .left = living(j, p->rank)};
    memcpy(notice.job, j->is.name, sizeof notice.job);
    memcpy(notice.peer_name, p->name, sizeof notice.peer_name);
    snprintf(notice.text, sizeof notice.text, "%s lost rank %u, lane %u on %s; %u left", j->is.name,
             p->rank, p->lane, p->name, notice.left);
    notice_send(r->notices, &notice);
}

/* The lowest lane in which the rank runs; as many as there are lanes: none. */
static unsigned serving_lane(const struct job *j, uint32_t rank)
{
    unsigned lane = 0;
    while (lane < j->is.lanes && j->places[(size_t)lane * j->is.ranks + rank].state != PLACE_RUNS)
        lane++;
    return lane;
}

static void say_take_over(struct roster *r, const struct job *j, const struct part_place *lost)
{
    const unsigned lane = serving_lane(j, lost->rank);
    if (lane == j->is.lanes)
        return;
    const struct part_place *by = &j->places[(size_t)lane * j->is.ranks + lost->rank];
    struct msg_local_notice notice = {.what = NOTICE_TAKE_OVER,
                                      .peer = by->peer,
                                      .rank = lost->rank,
                                      .lane = (uint16_t)lane,
                                      .left = living(j, lost->rank)};
    memcpy(notice.job, j->is.name, sizeof notice.job);
    memcpy(notice.peer_name, by->name, sizeof notice.peer_name);
    snprintf(notice.text, sizeof notice.text, "%s: rank %u of lane %u goes on in lane %u, on %s",
             j->is.name, lost->rank, lost->lane, lane, by->name);
    notice_send(r->notices, &notice);
}

/* What goes on is known when all of the message is: copies may be lost together. */
void roster_places(struct roster *r, const void *client, const struct msg_local_places *said)
{
    enum { PLACES = sizeof said->places / sizeof said->places[0] };
    struct job *j = roster_find(r, client);
    const struct part_place *all_lost[PLACES];
    size_t lost_count = 0;
    for (size_t i = 0; j != NULL && i < said->places_count; i++) {
        const struct part_place *p = &said->places[i];
        if (p->rank >= j->is.ranks || p->lane >= j->is.lanes || p->state < PLACE_RUNS ||
            p->state > PLACE_FINISHED)
            continue;
        struct part_place *known = &j->places[(size_t)p->lane * j->is.ranks + p->rank];
        bool lost = p->state == PLACE_LOST && known->state < PLACE_LOST;
        *known = *p;
        if (!lost)
            continue;
        say_lost(r, j, p);
        all_lost[lost_count++] = p;
    }
    for (size_t i = 0; i < lost_count; i++)
        say_take_over(r, j, all_lost[i]);
}

void roster_output(struct roster *r, const void *client, const struct msg_local_output *said)
{
    struct job *j = roster_find(r, client);
    const size_t keep = said->keep < KEEP_MOST ? said->keep : KEEP_MOST;
    if (j == NULL || j->is.over)
        return;
    if (j->output.most == 0 && keep > 0 && (j->output.at = malloc(keep)) != NULL)
        j->output.most = keep;
    recent_skip(&j->output, said->from);
    recent_add(&j->output, said->data, said->data_length);
}

static const struct job *job_named(const struct roster *r, const char *word)
{
    for (size_t i = 0; i < r->count; i++)
        if (outputs_named(r->at[i].is.name, word))
            return &r->at[i];
    return NULL;
}

bool roster_printed(const struct roster *r, void *client, const struct msg_local_printed *question)
{
    const struct job *j = job_named(r, question->name);
    struct message done = {.kind = MSG_local_done};
    if (j == NULL)
        return false;
    struct msg_local_output row = {
        .token = question->token, .over = j->is.over, .keep = (uint32_t)j->output.most};
    memcpy(row.name, j->is.name, sizeof row.name);
    outputs_say(&j->output, &row, question->from, r->say, client);
    done.local_done.token = question->token;
    r->say(client, &done);
    return true;
}

void roster_forget(struct roster *r, const void *client)
{
    struct job *j = roster_find(r, client);
    if (j == NULL)
        return;
    if (!j->is.over) {
        j->is.status = STATUS_UNKNOWN;
        note_end(r, j);
    }
    forget_job(r, j);
}

static void tell_places(const struct roster *r, const struct job *j, void *client, uint32_t token)
{
    struct msg_local_places places = {.token = token}, *p = &places;
    const struct message m = {.kind = MSG_local_places, .local_places = p};
    for (size_t i = 0; i < j->count; i++) {
        if (j->places[i].state != 0)
            p->places[p->places_count++] = j->places[i];
        if (p->places_count == sizeof p->places / sizeof p->places[0] || i + 1 == j->count) {
            r->say(client, &m);
            p->places_count = 0;
        }
    }
}

static void look_up_place(const struct roster *r, const struct job *j, uint32_t *place,
                          uint32_t *free)
{
    if (j->is.waits > 0 && r->waits != NULL)
        r->waits(r->waits_ctx, j->client, place, free);
}

void roster_rows(const struct roster *r, void *client, uint32_t token)
{
    for (size_t i = 0; i < r->count; i++) {
        struct message m = {.kind = MSG_local_job, .local_job = r->at[i].is};
        m.local_job.token = token;
        look_up_place(r, &r->at[i], &m.local_job.place, &m.local_job.free);
        r->say(client, &m);
        tell_places(r, &r->at[i], client, token);
    }
}

void roster_tell(const struct roster *r, void *client, uint32_t token)
{
    struct message done = {.kind = MSG_local_done};
    roster_rows(r, client, token);
    done.local_done.token = token;
    done.local_done.count = (uint32_t)r->count;
    r->say(client, &done);
}

size_t roster_count(const struct roster *r)
{
    return r->count;
}

static int by_peer(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct id));
}

/* Peers on which processes run; is `peer` among them? */
static uint32_t count_peers(const struct job *j, const struct id *peer, bool *among)
{
    struct id *peers = malloc((j->count + 1) * sizeof *peers);
    size_t running = 0;
    uint32_t count = 0;
    *among = false;
    for (size_t i = 0; peers != NULL && i < j->count; i++)
        if (j->places[i].state == PLACE_RUNS)
            peers[running++] = j->places[i].peer;
    if (running > 0)
        qsort(peers, running, sizeof peers[0], by_peer);
    for (size_t i = 0; i < running; i++) {
        count += i == 0 || by_peer(&peers[i - 1], &peers[i]) != 0;
        *among = *among || id_equal(&peers[i], peer);
    }
    free(peers);
    return count;
}

static void name_peers(const struct job *j, char *out, size_t size)
{
    bool fits = true;
    for (size_t i = 0; i < j->count && fits; i++)
        if (j->places[i].state == PLACE_RUNS)
            fits = names_add(out, size, j->places[i].name);
}

void roster_describe(const struct roster *r, size_t nth, const struct id *peer,
                     struct part_grid_job *out, bool *is_host)
{
    const struct job *j = &r->at[nth];
    const uint64_t now = since_1970_ms();
    memcpy(out->name, j->is.name, sizeof out->name);
    memcpy(out->program, j->is.program, sizeof out->program);
    out->state = j->is.waits > 0 ? GRID_JOB_WAITS
                 : j->is.over    ? GRID_JOB_ENDS
                 : j->is.held    ? GRID_JOB_HELD
                                 : GRID_JOB_RUNS;
    out->ranks = j->is.ranks;
    out->lanes = j->is.lanes;
    out->peers = count_peers(j, peer, is_host);
    name_peers(j, out->where, sizeof out->where);
    for (size_t i = 0; i < j->count; i++) {
        out->slots += j->places[i].state == PLACE_RUNS;
        out->lost += j->places[i].state == PLACE_LOST;
    }
    if (j->is.waits > 0)
        out->slots = j->is.waits;
    look_up_place(r, j, &out->place, &out->free);
    out->age_ms = now > j->is.began_ms ? now - j->is.began_ms : 0; /* the clock may be set back */
}

/* mpirun ends its job at SIGTERM, and passes the other two on to the ranks. */
int roster_control(struct roster *r, const struct msg_local_control *order, struct err *e)
{
    static const int signals[] = {
        [ROSTER_TERMINATE] = SIGTERM, [ROSTER_PAUSE] = SIGTSTP, [ROSTER_RESUME] = SIGCONT};
    if (order->verb > ROSTER_RESUME)
        return err_set(e, EINVAL, "a job can be terminated, paused and resumed");
    for (size_t i = 0; i < r->count; i++) {
        struct job *j = &r->at[i];
        if (strcmp(j->is.name, order->name) != 0)
            continue;
        if (j->is.waits > 0 && order->verb != ROSTER_TERMINATE)
            return err_set(e, EINVAL, "%s waits for slots: it can be cancelled, not %s",
                           order->name, order->verb == ROSTER_PAUSE ? "held" : "released");
        if (kill(j->pid, signals[order->verb]) != 0)
            return err_set(e, errno, "%s: %s", order->name, strerror(errno));
        if (order->verb == ROSTER_TERMINATE)
            j->cancelled = true;
        else
            j->is.held = order->verb == ROSTER_PAUSE;
        return 0;
    }
    return err_set(e, ENOENT, "there is no job %s of yours here (any more)", order->name);
}
