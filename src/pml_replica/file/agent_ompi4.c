/* SPDX-License-Identifier: BSD-3-Clause */
/* agent_ompi4.c -- the home's side: serves one request after the other, whatever the program does
 * meanwhile, as a window's agent does. Called when there is progress; nothing here waits, except
 * for the disk, for one request. */
#include "homes.h"
#include "ompi/mca/rte/rte.h"
#include "orte/util/show_help.h"

struct parcel *parcel_new(size_t length)
{
    struct parcel *p = malloc(sizeof *p + length);
    if (p == NULL)
        link_stop(NULL, 1, "no memory for a request to a file's home");
    return memset(p, 0, sizeof *p);
}

static void parcel_sent(struct wire_message *m)
{
    struct parcel *p = (struct parcel *)m;
    void (*sent)(void) = p->sent;
    *p->account -= p->weight;
    free(p);
    if (sent != NULL)
        sent();
}

void parcel_send(struct parcel *p, int to, enum wire_tag tag, size_t length,
                 _Atomic size_t *account, void (*sent)(void))
{
    p->message.done = parcel_sent;
    p->account = account;
    p->weight = sizeof *p + length;
    p->sent = sent;
    *account += p->weight;
    wire_send(&replica.homes->wire, &p->message, to, tag, p->bytes, length);
}

/* --- what the home asks --- */

static void *answer_buffer(void *ctx, size_t length)
{
    (void)ctx;
    return parcel_new(length)->bytes;
}

static void agent_listen(struct agent *a);

static void answer_left(void)
{
    struct agent *a = &replica.homes->agent;
    if (a->full)
        agent_listen(a);
}

static void answer_give(void *ctx, int to, void *buffer, size_t length)
{
    struct agent *a = ctx;
    struct parcel *p = (struct parcel *)((char *)buffer - offsetof(struct parcel, bytes));
    parcel_send(p, to, WIRE_ANSWER, length, &a->answering, answer_left);
}

static bool others_live(void)
{
    for (int k = 0; replica.engine != NULL && k < replica.lanes; k++) {
        const int i = k * replica.ranks + replica.rank;
        if (k != replica.lane && replica.process_of[i] >= 0 && !engine_is_dead(replica.engine, i) &&
            !engine_is_finished(replica.engine, i))
            return true;
    }
    return false;
}

/* The other copies have the file as well, and go on without this one. */
static bool copy_gives_up(void *ctx, const char *path, int error)
{
    (void)ctx;
    if (!others_live())
        return false;
    char line[HOME_MAX_PATH + 160];
    snprintf(line, sizeof line,
             "p2pgrid: rank %d: a copy ends, as its desktop cannot keep %s: %s\n", replica.rank,
             path, strerror(error));
    orte_show_help_norender("p2pgrid", path, false, line); /* stderr is shown of the others alone */
    link_stop(NULL, 0, NULL);
    return true;
}

static void copies_share(void *ctx, const char *path)
{
    (void)ctx;
    char line[HOME_MAX_PATH + 160];
    snprintf(line, sizeof line,
             "%s is one file for two lanes: where lanes share a folder MPI-IO wants "
             "--mca fs_replica_home never, or p2p_files shared",
             path);
    link_stop(NULL, 1, line);
}

/* --- requests --- */

static void agent_receive(struct agent *a, int from, enum wire_tag tag, void *bytes, size_t length)
{
    wire_receive(&replica.homes->wire, &a->incoming, from, tag, bytes, length, true);
}

/* Takes the next request, unless too many answers wait: then when some have left. */
static void agent_listen(struct agent *a)
{
    a->full = a->answering > replica.params.window_limit;
    if (!a->full)
        agent_receive(a, ENGINE_ANY_SOURCE, WIRE_REQUEST, a->words, sizeof a->words);
}

/* True: a body follows. */
static bool agent_awaits_body(struct agent *a)
{
    const size_t length = home_body_length(a->words);
    a->source = a->incoming.source;
    if (a->incoming.length != sizeof a->words || length == SIZE_MAX)
        link_stop(NULL, 1, "a request to a file's home makes no sense");
    wire_serves(&replica.homes->wire, true);
    if (length == 0 || length == SIZE_MAX)
        return false;
    a->body = malloc(length);
    if (a->body == NULL)
        link_stop(NULL, 1, "no memory for a request to a file's home");
    agent_receive(a, a->source, WIRE_BODY, a->body, length);
    return true;
}

/* A request or its body is here. If one is there already it arrives while it is asked for: a loop,
 * not a recursion as deep as the queue is long. */
static void agent_heard(struct wire_message *m)
{
    struct agent *a = (struct agent *)((char *)m - offsetof(struct agent, incoming));
    a->arrived = true;
    if (a->running)
        return;
    a->running = true;
    while (a->arrived) {
        a->arrived = false;
        if (a->body == NULL && agent_awaits_body(a))
            continue;
        home_serve(a->home, a->source, a->words, a->body);
        free(a->body);
        a->body = NULL;
        wire_serves(&replica.homes->wire, false);
        if (!home_is_stopped(a->home))
            agent_listen(a);
    }
    a->running = false;
}

int agent_start(struct agent *a)
{
    const struct home_calls calls = {.buffer = answer_buffer,
                                     .answer = answer_give,
                                     .gives_up = copy_gives_up,
                                     .is_shared = copies_share,
                                     .ctx = a};
    a->home = home_new(&calls, OMPI_PROC_MY_NAME->jobid, replica.lane,
                       replica.engine != NULL ? replica.lanes : 1);
    a->incoming.done = agent_heard;
    if (a->home == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    wire_enter(&replica.homes->wire);
    agent_listen(a);
    wire_leave(&replica.homes->wire);
    return OMPI_SUCCESS;
}

bool agent_has_stopped(const struct agent *a)
{
    return home_is_stopped(a->home) && a->answering == 0;
}

void agent_stop(struct agent *a)
{
    home_free(a->home);
    a->home = NULL;
}
