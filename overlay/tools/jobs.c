/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.c -- p2pctl jobs, job, cancel, hold, release: what runs, where, and how to end it. */
#include "all_jobs.h"
#include "print_json.h"
#include "printed.h"
#include "moment.h"
#include "notices.h"
#include "own_jobs.h"
#include "overlay/client/words.h"
#include "overlay/core/lease/lease.h"
#include "tool.h"
#include <errno.h>
#include <string.h>

enum { ANSWER_MS = 5000 };

struct job_order {
    struct tool_options shared;
    bool all;
    bool named; /* the verb takes a job */
    bool output, follow;
    const char *name;
};

static error_t job_parse(int key, char *value, struct argp_state *state)
{
    struct job_order *o = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->shared;
    else if (key == 'a')
        o->all = true;
    else if (key == 'o')
        o->output = true;
    else if (key == 'f')
        o->follow = true;
    else if (key == ARGP_KEY_ARG && o->named && o->name == NULL)
        o->name = value;
    else if (key == ARGP_KEY_END && o->named && o->name == NULL)
        argp_error(state, "which job? p2pctl jobs shows them");
    else if (key == ARGP_KEY_END && o->follow && (!o->output || o->shared.json))
        argp_error(state, "--follow goes with --output, and not with --json");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_child shared[] = {{.argp = &tool_argp}, {0}};

static int job_begin(int argc, char **argv, const struct argp *argp, struct job_order *o,
                     struct client **c)
{
    argp_parse(argp, argc, argv, 0, NULL, o);
    return tool_connect(c, &o->shared);
}

/* --- jobs --- */

struct lent {
    struct msg_local_granted at[LEASE_MAX];
    size_t count;
    struct id self;
};

static void lent_row(void *ctx, const struct message *m)
{
    struct lent *l = ctx;
    if (m->kind == MSG_local_self)
        l->self = m->local_self.ad.peer.id;
    else if (m->kind == MSG_local_granted && l->count < LEASE_MAX)
        l->at[l->count++] = m->local_granted;
}

/* What others run here: this desktop's own leases are in its own jobs. */
static void lent_keep_others(struct lent *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (!id_equal(&l->at[i].holder, &l->self))
            l->at[kept++] = l->at[i];
    l->count = kept;
}

static int lent_ask(struct lent *l, struct client *c, struct err *e)
{
    struct message question = {.kind = MSG_local_status};
    struct msg_local_done done;
    const int rc = client_ask(c, &question, ANSWER_MS, lent_row, l, &done, e);
    lent_keep_others(l);
    return rc;
}

static void print_row(const char *name, const char *state, const char *since, const char *size,
                      const char *where, int width, const char *program)
{
    printf("%-16s %-7s %9s  %-13s %-*s %s\n", name, state, since, size, width, where, program);
}

static void own_where(const struct own_job *j, char where[OWN_JOB_WHERE])
{
    char names[OWN_JOB_NAMES];
    own_job_names(j, names);
    if (j->is.waits > 0)
        snprintf(where, OWN_JOB_WHERE, "place %u, %u free", j->is.place, j->is.free);
    else
        own_job_where(names, own_job_peers(j), own_job_lost(j), where, OWN_JOB_WHERE);
}

static void print_own(const struct own_job *j, int width)
{
    char span[24], size[32], where[OWN_JOB_WHERE];
    if (j->is.lanes > 1)
        snprintf(size, sizeof size, "%u ranks x %u", j->is.ranks, (unsigned)j->is.lanes);
    else
        snprintf(size, sizeof size, "%u rank%s", j->is.ranks, j->is.ranks == 1 ? "" : "s");
    own_where(j, where);
    print_row(j->is.name, own_job_state(j),
              moment_span((moment_now_ms() - j->is.began_ms) / 1000, span), size, where, width,
              j->is.program);
}

static int where_width(const struct own_jobs *own)
{
    enum { LEAST = 14 };
    char where[OWN_JOB_WHERE];
    int width = LEAST;
    for (size_t i = 0; i < own->count; i++) {
        own_where(&own->at[i], where);
        width = (int)strlen(where) > width ? (int)strlen(where) : width;
    }
    return width;
}

static void jobs_print(const struct own_jobs *own)
{
    const struct tool_style style = tool_style(stdout);
    const int width = where_width(own);
    if (own->count == 0) {
        puts("nothing runs");
        return;
    }
    fputs(style.bold, stdout);
    print_row("job", "state", "since", "size", "where", width, "program");
    fputs(style.end, stdout);
    for (size_t i = 0; i < own->count; i++)
        print_own(&own->at[i], width);
}

static json_t *json_lent(const struct lent *others)
{
    json_t *lent = json_array();
    for (size_t i = 0; i < others->count; i++)
        json_array_append_new(lent, json_of_lent(&others->at[i]));
    return lent;
}

static void jobs_print_json(const struct own_jobs *own, const struct lent *others,
                            const struct all_jobs *grid)
{
    json_t *mine = json_array();
    for (size_t i = 0; i < own->count; i++)
        json_array_append_new(mine, own_job_json(&own->at[i], false));
    tool_print_json(json_pack("{s:o, s:o, s:o, s:i, s:i}", "jobs", mine, "lent", json_lent(others),
                              "grid", all_jobs_json(grid), "silent", (int)grid->silent, "old",
                              (int)grid->old));
}

int tool_jobs(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"all", 'a', NULL, 0, "the jobs of everybody, on the whole grid", 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = job_parse,
                              .children = shared,
                              .doc = "The jobs of your mpiruns on this desktop: since when they "
                                     "run, ranks x lanes, on which peers, what is lost."};
    static struct lent others;
    struct job_order o = {0};
    struct own_jobs own = {0};
    struct all_jobs grid = {0};
    struct client *c;
    struct err e = {0};
    int rc = job_begin(argc, argv, &argp, &o, &c);
    if (rc != TOOL_OK)
        return rc;
    if (own_jobs_ask(&own, c, &e) != 0 ||
        (o.all && (lent_ask(&others, c, &e) != 0 || all_jobs_ask(&grid, c, &e) != 0)))
        rc = tool_fail(&e);
    else if (o.shared.json)
        jobs_print_json(&own, &others, &grid);
    else if (o.all)
        all_jobs_print(&grid);
    else
        jobs_print(&own);
    own_jobs_clear(&own);
    all_jobs_clear(&grid);
    client_close(c);
    return rc;
}

/* --- job --- */

/* A row for each rank, a column for each lane; the leader is marked. */
static void job_print_rank(const struct own_job *j, unsigned rank, const struct tool_style *style)
{
    const unsigned leader = own_job_leader(j, rank);
    printf("%6u", rank);
    for (unsigned lane = 0; lane < j->is.lanes; lane++) {
        const struct part_place *p = own_job_place(j, rank, lane);
        char cell[96] = "-";
        if (p->state != 0)
            snprintf(cell, sizeof cell, "%s%s%s%s", lane == leader && j->is.lanes > 1 ? "*" : "",
                     p->name, p->state == PLACE_RUNS ? "" : " ",
                     p->state == PLACE_RUNS ? "" : place_state_text(p));
        printf("  %s%-22s%s", p->state == PLACE_LOST ? style->bad : "", cell,
               p->state == PLACE_LOST ? style->end : "");
    }
    printf("\n");
}

static void job_print(const struct own_job *j, const struct notices_past *past)
{
    const struct tool_style style = tool_style(stdout);
    char when[24], span[24];
    const uint64_t now = moment_now_ms();
    printf("%s%s%s  %s\n", style.bold, j->is.name, style.end, j->is.program);
    if (j->is.waits > 0) {
        printf("  waits for %u slots since %s (%s), as pid %u: place %u, %u of them free\n",
               j->is.waits, moment_text(j->is.began_ms / 1000, now / 1000, when),
               moment_span((now - j->is.began_ms) / 1000, span), j->is.pid, j->is.place,
               j->is.free);
        return;
    }
    printf("  %s since %s (%s), as pid %u; %u rank%s in %u lane%s, %u process%s lost\n",
           own_job_state(j), moment_text(j->is.began_ms / 1000, now / 1000, when),
           moment_span((now - j->is.began_ms) / 1000, span), j->is.pid, j->is.ranks,
           j->is.ranks == 1 ? "" : "s", (unsigned)j->is.lanes, j->is.lanes == 1 ? "" : "s",
           own_job_lost(j), own_job_lost(j) == 1 ? "" : "es");
    printf("%s%6s", style.dim, "rank");
    for (unsigned lane = 0; lane < j->is.lanes; lane++)
        printf("  lane %-17u", lane);
    printf("%s\n", style.end);
    for (unsigned rank = 0; rank < j->is.ranks; rank++)
        job_print_rank(j, rank, &style);
    if (j->is.lanes > 1)
        printf("%s* leads: what it prints is shown%s\n", style.dim, style.end);
    notices_print_job(past, j->is.name);
}

static void job_print_json(const struct own_job *j, const struct notices_past *past)
{
    json_t *one = own_job_json(j, true);
    json_object_set_new(one, "events", notices_json_job(past, j->is.name));
    tool_print_json(one);
}

static const struct own_job *job_find(const struct own_jobs *all, const char *name, struct err *e)
{
    const struct own_job *j = own_jobs_find(all, name);
    if (j == NULL)
        err_set(e, ENOENT, "no job %.60s of yours runs from this desktop; p2pctl jobs shows them",
                name);
    return j;
}

static int job_print_output(struct client *c, const struct job_order *o)
{
    struct err e = {0};
    const int rc = o->shared.json ? printed_show_json(c, o->name, &e)
                                  : printed_show(c, o->name, o->follow, &e);
    return rc == 0 ? TOOL_OK : tool_fail(&e);
}

int tool_job(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', NULL, 0,
         "what its ranks have printed, as far as it is kept; also of a job in the history", 0},
        {"follow", 'f', NULL, 0, "with --output: go on until the job is over", 0},
        {0}};
    const struct argp argp = {
        .options = options,
        .parser = job_parse,
        .children = shared,
        .args_doc = "JOB",
        .doc = "One job: which rank is on which desktop, in each lane, and "
               "what was lost and what goes on in its place. JOB is its name or the number in it."};
    static struct notices_past past;
    struct job_order o = {.named = true};
    struct own_jobs own = {0};
    struct client *c;
    struct err e = {0};
    int rc = job_begin(argc, argv, &argp, &o, &c);
    if (rc != TOOL_OK)
        return rc;
    if (o.output) {
        rc = job_print_output(c, &o);
        client_close(c);
        return rc;
    }
    const struct own_job *j = notices_ask(&past, c, &e) == 0 && own_jobs_ask(&own, c, &e) == 0
                                  ? job_find(&own, o.name, &e)
                                  : NULL;
    if (j == NULL)
        rc = tool_fail(&e);
    else
        (o.shared.json ? job_print_json : job_print)(j, &past);
    own_jobs_clear(&own);
    client_close(c);
    return rc;
}

/* --- cancel, hold, release --- */

static void no_row(void *ctx, const struct message *m)
{
    (void)ctx, (void)m;
}

static int control(struct client *c, const struct own_job *j, enum roster_verb verb, struct err *e)
{
    struct message order = {.kind = MSG_local_control, .local_control.verb = (uint8_t)verb};
    struct msg_local_done done;
    memcpy(order.local_control.name, j->is.name, sizeof order.local_control.name);
    return client_ask(c, &order, ANSWER_MS, no_row, NULL, &done, e);
}

static int job_control(int argc, char **argv, enum roster_verb verb, const char *doc)
{
    static const char *const done[] = {[ROSTER_TERMINATE] = "is told to end",
                                       [ROSTER_PAUSE] = "is held",
                                       [ROSTER_RESUME] = "goes on"};
    const struct argp argp = {
        .parser = job_parse, .children = shared, .args_doc = "JOB", .doc = doc};
    struct job_order o = {.named = true};
    struct own_jobs own = {0};
    struct client *c;
    struct err e = {0};
    int rc = job_begin(argc, argv, &argp, &o, &c);
    if (rc != TOOL_OK)
        return rc;
    const struct own_job *j = own_jobs_ask(&own, c, &e) == 0 ? job_find(&own, o.name, &e) : NULL;
    if (j == NULL || control(c, j, verb, &e) != 0)
        rc = tool_fail(&e);
    else if (o.shared.json)
        tool_print_json(json_pack("{s:s, s:s}", "job", j->is.name, "done", done[verb]));
    else
        printf("%s %s\n", j->is.name, done[verb]);
    own_jobs_clear(&own);
    client_close(c);
    return rc;
}

int tool_cancel(int argc, char **argv)
{
    return job_control(argc, argv, ROSTER_TERMINATE, "Ends a job of yours, as Ctrl-C would.");
}

int tool_hold(int argc, char **argv)
{
    return job_control(argc, argv, ROSTER_PAUSE,
                       "Stops all processes of a job of yours; it keeps its slots.");
}

int tool_release(int argc, char **argv)
{
    return job_control(argc, argv, ROSTER_RESUME, "Lets a job go on that was held.");
}
