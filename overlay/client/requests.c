/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c -- what a program wants of its daemon: leases, reservations, launches, and that its
 * job is told of. */
#include "p2pgrid.h"
#include "ask.h"
#include "overlay/core/lease/request_message.h"
#include "overlay/manifest/input.h"
#include "overlay/manifest/program.h"
#include "words.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVE_MS = 5000, GRACE_MS = 3000, LEASES_MAX = 65536 };

struct lease_row {
    struct grid_lease *leases;
    size_t count;
    bool failed;
    client_waiting_fn *told; /* or NULL */
    void *ctx;
};

static void lease_row_add(void *ctx, const struct message *m)
{
    struct lease_row *row = ctx;
    if (m->kind == MSG_local_waiting && row->told != NULL)
        row->told(row->ctx, m->local_waiting.text);
    if (m->kind != MSG_local_lease || row->count == LEASES_MAX)
        return;
    struct grid_lease *more = realloc(row->leases, (row->count + 1) * sizeof *more);
    if (more == NULL) {
        row->failed = true;
        return;
    }
    row->leases = more;
    const struct msg_local_lease *from = &m->local_lease;
    struct grid_lease *lease = &more[row->count++];
    memset(lease, 0, sizeof *lease);
    lease->id = from->lease;
    lease->peer = from->peer.id;
    lease->addr = from->peer.addr;
    memcpy(lease->name, from->name, sizeof lease->name);
    memcpy(lease->site, from->site, sizeof lease->site);
    memcpy(lease->arch, from->arch, sizeof lease->arch);
    lease->slots = from->slots;
    lease->rtt_us = from->rtt_us;
    lease->encrypt = from->encrypt != 0;
    lease->foreign = from->foreign != 0;
}

int client_allocate(struct client *c, const struct request *request, struct grid_lease **leases,
                    size_t *count, size_t *spares, struct err *e)
{
    return client_allocate_waiting(c, request, NULL, NULL, leases, count, spares, e);
}

/* So long the daemon answers at the latest. */
static int most_ms(const struct request *r)
{
    const uint64_t ms = (uint64_t)r->wait_s * 1000 + r->timeout_ms + GRACE_MS;
    return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

int client_allocate_waiting(struct client *c, const struct request *request,
                            client_waiting_fn *told, void *ctx, struct grid_lease **leases,
                            size_t *count, size_t *spares, struct err *e)
{
    struct msg_local_allocate asked = {0};
    struct message m = {.kind = MSG_local_allocate, .local_allocate = &asked};
    struct msg_local_done done;
    struct lease_row row = {.told = told, .ctx = ctx};
    *leases = NULL;
    *count = *spares = 0;
    const char *problem = request_write(request, &asked);
    int rc = problem == NULL ? 0 : err_set(e, EINVAL, "%s", problem);
    if (rc == 0)
        rc = client_ask(c, &m, most_ms(request), lease_row_add, &row, &done, e);
    if (rc == 0 && (row.failed || done.count != row.count || done.spares > row.count))
        rc = err_set(e, row.failed ? ENOMEM : EPROTO, "the answer of p2pd could not be kept");
    if (rc != 0) {
        for (size_t i = 0; i < row.count; i++)
            client_release(c, &row.leases[i].id, NULL);
        free(row.leases);
        return rc;
    }
    *leases = row.leases;
    *count = row.count;
    *spares = done.spares;
    return 0;
}

static void take_reservation(void *ctx, const struct message *m)
{
    if (m->kind == MSG_local_reservation)
        *(struct id *)ctx = m->local_reservation.reservation;
}

int client_reserve(struct client *c, unsigned seconds, struct id *reservation, struct err *e)
{
    struct message m = {.kind = MSG_local_reserve};
    struct msg_local_done done;
    m.local_reserve.verb = RESERVE_NEW;
    m.local_reserve.seconds = seconds;
    return client_ask(c, &m, RESERVE_MS, take_reservation, reservation, &done, e);
}

int client_tell_job(struct client *c, const struct grid_job *job)
{
    struct message m = {.kind = MSG_local_job};
    struct msg_local_job *j = &m.local_job;
    j->ranks = job->ranks;
    j->lanes = (uint16_t)job->lanes;
    j->waits = job->waits;
    j->over = job->over;
    j->status = (uint32_t)job->status;
    if (job->within != NULL)
        j->reservation = *job->within;
    strncpy(j->program, job->program != NULL ? job->program : "", sizeof j->program - 1);
    return client_tell(c, &m);
}

int client_tell_places(struct client *c, const struct grid_place *places, size_t count)
{
    _Static_assert(GRID_PLACES == sizeof((struct msg_local_places *)0)->places /
                                      sizeof((struct msg_local_places *)0)->places[0],
                   "as many as one message has");
    struct msg_local_places all = {0}, *said = &all;
    const struct message m = {.kind = MSG_local_places, .local_places = said};
    if (count > GRID_PLACES)
        return -E2BIG;
    for (size_t i = 0; i < count; i++) {
        struct part_place *p = &said->places[said->places_count++];
        *p = (struct part_place){.rank = places[i].rank,
                                 .lane = (uint16_t)places[i].lane,
                                 .state = places[i].state,
                                 .peer = places[i].peer};
        memcpy(p->name, places[i].name, sizeof p->name);
    }
    return client_tell(c, &m);
}

int client_tell_output(struct client *c, size_t keep, uint64_t from, const void *bytes,
                       size_t count)
{
    struct message m = {.kind = MSG_local_output};
    struct msg_local_output *said = &m.local_output;
    if (count > GRID_OUTPUT)
        return -E2BIG;
    said->keep = keep < GRID_KEEP_MOST ? (uint32_t)keep : (uint32_t)GRID_KEEP_MOST;
    said->from = from;
    said->data = bytes;
    said->data_length = (uint32_t)count;
    return client_tell(c, &m);
}

/* The strings one after the other, each with its NUL; malloc'd. */
static uint8_t *pack_strings(char *const *strings, uint32_t *length)
{
    size_t total = 0, at = 0;
    for (char *const *s = strings; s != NULL && *s != NULL; s++)
        total += strlen(*s) + 1;
    uint8_t *out = total <= WIRE_MAX_FRAME ? malloc(total + 1) : NULL;
    for (char *const *s = strings; out != NULL && s != NULL && *s != NULL; s++) {
        memcpy(out + at, *s, strlen(*s) + 1);
        at += strlen(*s) + 1;
    }
    *length = (uint32_t)total;
    return out;
}

int client_launch(struct client *c, const struct id *lease, const struct grid_launch *what,
                  struct err *e)
{
    struct msg_local_launch order = {0}, *launch = &order;
    const struct message m = {.kind = MSG_local_launch, .local_launch = launch};
    if (what->program_count > PROGRAMS_MAX)
        return err_set(e, E2BIG, "a job has more than %d programs of its own", PROGRAMS_MAX);
    if (what->input_count > INPUTS_MAX)
        return err_set(e, E2BIG, "a job has more than %d files", INPUTS_MAX);
    uint8_t *packed = pack_strings(what->environment, &launch->environment_length);
    if (packed == NULL || strlen(what->command) > WIRE_MAX_FRAME) {
        free(packed);
        return err_set(e, E2BIG, "the command or its environment is too long to be sent");
    }
    launch->lease = *lease;
    launch->command = (const uint8_t *)what->command;
    launch->command_length = (uint32_t)strlen(what->command);
    launch->environment = packed;
    for (size_t i = 0; i < what->program_count; i++)
        launch->programs[launch->programs_count++] = program_part(&what->programs[i]);
    for (size_t i = 0; i < what->input_count; i++)
        launch->inputs[launch->inputs_count++] = input_part(&what->inputs[i]);
    launch->bounds = (struct part_bounds){what->memory, what->processes, what->seconds};
    launch->encrypts = what->encrypts;
    launch->confine = what->confine;
    snprintf(launch->folder, sizeof launch->folder, "%s", what->folder != NULL ? what->folder : "");
    const struct grid_files *files = &what->files;
    launch->files = (struct part_files){files->list, files->size, files->count, files->bytes};
    snprintf(launch->job_folder, sizeof launch->job_folder, "%s",
             what->job_folder != NULL ? what->job_folder : "");
    launch->lanes = (uint8_t)what->lanes;
    int rc = client_send(c, &m, e);
    free(packed);
    return rc;
}

int client_lease_status(struct client *c, const struct id *lease, struct err *e)
{
    struct message m = {.kind = MSG_local_lease_status, .local_lease_status.lease = *lease};
    return client_send(c, &m, e);
}

int client_release(struct client *c, const struct id *lease, struct err *e)
{
    struct message m = {.kind = MSG_local_release};
    m.local_release.lease = *lease;
    return client_send(c, &m, e);
}
