/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.c -- brings a job's results home. When a peer is lost on the way, the sources are chosen
 * anew, and what is here already stays. */
#include "collect.h"
#include "overlay/base/text.h"
#include "overlay/files/writer.h"
#include <errno.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 8, TRIES = 3, SHOWN = 160 };

/* What one source has, as it said once. */
struct listed {
    struct result *at;
    size_t count, most;
    bool done, tried;
    char why[sizeof((struct err *)0)->text]; /* its peer was lost */
};

struct collection {
    struct client *client;
    const struct collect_order *order;
    struct collect_report *report;
    struct writer *writer;
    struct merge_source *sources; /* as in the order */
    struct listed *listed;        /* likewise */
    struct merge_name *names;     /* of the sources that were chosen */
    size_t count;
    struct collect_progress now;
    uint8_t *buffer; /* GRID_READ */
    unsigned lines;  /* said */
    size_t unsaid;
    size_t gone;
    char first_gone[SHOWN];
};

/* --- lines --- */

__attribute__((format(printf, 2, 3))) static void collect_say(struct collection *c,
                                                              const char *format, ...)
{
    char line[1024];
    va_list args;
    if (c->lines == LINES_MOST) {
        c->unsaid++;
        return;
    }
    c->lines++;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_clean((uint8_t *)line, strlen(line), false);
    c->order->say(c->order->ctx, line);
}

static const char *shown(const char *path, char out[SHOWN])
{
    const size_t length = strlen(path);
    snprintf(out, SHOWN, "%s%s", length < SHOWN ? "" : "...",
             length < SHOWN ? path : path + length - (SHOWN - 4));
    return out;
}

static bool is_stopped(const struct collection *c)
{
    return atomic_load(c->order->stop);
}

static const struct collect_source *asked(const struct collection *c, const struct merge_source *s)
{
    return &c->order->sources[s - c->sources];
}

/* --- which sources, and what they have --- */

static int listed_add(void *ctx, const struct result *what, struct err *e)
{
    struct listed *l = ctx;
    if (l->count == l->most) {
        const size_t most = l->most == 0 ? 64 : 2 * l->most;
        struct result *more = realloc(l->at, most * sizeof *more);
        if (more == NULL)
            return err_set(e, ENOMEM, "out of memory");
        l->at = more;
        l->most = most;
    }
    struct result *r = &l->at[l->count++];
    *r = *what;
    r->path = strdup(what->path);
    r->target = what->target != NULL ? strdup(what->target) : NULL;
    return r->path == NULL || (what->target != NULL && r->target == NULL)
               ? err_set(e, ENOMEM, "out of memory")
               : 0;
}

static void listed_clear(struct listed *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free((char *)l->at[i].path);
        free((char *)l->at[i].target);
    }
    free(l->at);
    l->at = NULL;
    l->count = l->most = 0;
    l->done = false;
}

/* Its ranks' results are another lane's to give, or lost. */
static void source_lose(struct collection *c, struct merge_source *s, const struct err *e)
{
    struct listed *l = &c->listed[s - c->sources];
    listed_clear(l);
    s->reached = false;
    memcpy(l->why, e->text, sizeof l->why);
}

/* Nothing is here yet: then a lane that is whole is better than two with gaps. */
static void sources_forget(struct collection *c)
{
    for (size_t i = 0; c->report->written == 0 && i < c->order->count; i++)
        c->sources[i].order = MERGE_UNUSED;
}

/* Ranks whose results nobody has. */
static size_t sources_choose(struct collection *c, uint8_t *work)
{
    const struct collect_order *o = c->order;
    size_t lacking = merge_choose(c->sources, o->count, work, o->ranks);
    for (size_t i = 0; i < o->count && lacking > 0; i++)
        if (o->sources[i].hope == COLLECT_MAYBE && !c->listed[i].tried) {
            c->sources[i].reached = c->listed[i].tried = true; /* for want of a better one */
            lacking = merge_choose(c->sources, o->count, work, o->ranks);
        }
    return lacking;
}

/* False: one was lost meanwhile, so others are to be chosen. */
static bool sources_list(struct collection *c)
{
    for (size_t i = 0; i < c->order->count; i++) {
        struct err e = {0};
        struct merge_source *s = &c->sources[i];
        struct listed *l = &c->listed[i];
        if (s->order == MERGE_UNUSED || l->done || is_stopped(c))
            continue;
        if (client_results(c->client, &asked(c, s)->where, listed_add, l, &e) != 0) {
            source_lose(c, s, &e);
            return false;
        }
        l->done = true;
    }
    return true;
}

/* --- one set of names --- */

static int names_gather(struct collection *c)
{
    size_t all = 0;
    for (size_t i = 0; i < c->order->count; i++)
        all += c->sources[i].order != MERGE_UNUSED ? c->listed[i].count : 0;
    free(c->names);
    c->count = 0;
    c->names = calloc(all + 1, sizeof c->names[0]);
    if (c->names == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < c->order->count; i++)
        for (size_t k = 0; c->sources[i].order != MERGE_UNUSED && k < c->listed[i].count; k++)
            c->names[c->count++] =
                (struct merge_name){.what = c->listed[i].at[k], .from = &c->sources[i]};
    qsort(c->names, c->count, sizeof c->names[0], merge_compare);
    return 0;
}

/* Of its parts' digests. A file that cannot be read differs from all others. */
static void name_digest(struct collection *c, struct merge_name *n)
{
    crypto_generichash_state all;
    uint8_t part[GRID_DIGEST];
    crypto_generichash_init(&all, NULL, 0, MERGE_DIGEST);
    for (uint64_t at = 0; at < n->what.size; at += GRID_DIGESTED) {
        struct err e = {0};
        if (is_stopped(c) || client_digest_result(c->client, &asked(c, n->from)->where,
                                                  n->what.path, at, part, &e) != 0)
            return;
        crypto_generichash_update(&all, part, sizeof part);
    }
    crypto_generichash_final(&all, n->digest, MERGE_DIGEST);
    n->digested = true;
}

static void names_judge(struct collection *c)
{
    merge_doubt(c->names, c->count);
    for (size_t i = 0; i < c->count; i++)
        if (c->names[i].doubtful)
            name_digest(c, &c->names[i]);
    merge_judge(c->names, c->count);
    c->now = (struct collect_progress){0};
    for (size_t i = 0; i < c->count; i++)
        if (c->names[i].verdict != MERGE_LEAVE && c->names[i].what.kind == RESULT_FILE) {
            c->now.all_files++;
            c->now.all_bytes += c->names[i].what.size;
        }
}

/* --- files --- */

/* -EAGAIN: it has changed while it was read; *what is what it is now. */
static int file_read(struct collection *c, const struct merge_name *n, struct result *what,
                     struct writer_file *f, struct err *e)
{
    for (uint64_t at = 0; at < what->size;) {
        struct grid_bytes bytes = {.to = c->buffer};
        if (is_stopped(c))
            return -EINTR;
        int rc =
            client_read_result(c->client, &asked(c, n->from)->where, n->what.path, at, &bytes, e);
        if (rc != 0)
            return rc;
        if (bytes.size != what->size || bytes.mtime_ns != what->mtime_ns || bytes.length == 0) {
            what->size = bytes.size;
            what->mtime_ns = bytes.mtime_ns;
            return -EAGAIN;
        }
        rc = writer_write(f, at, bytes.to, bytes.length, e);
        if (rc != 0)
            return rc;
        at += bytes.length;
        c->now.bytes += bytes.length;
        c->order->progress(c->order->ctx, &c->now);
    }
    return 0;
}

static int file_try(struct collection *c, const struct merge_name *n, struct result *what,
                    struct err *e)
{
    struct writer_file f;
    const uint64_t before = c->now.bytes;
    int rc = writer_begin(c->writer, &f, what->path, what->size, e);
    if (rc == 0)
        rc = file_read(c, n, what, &f, e);
    if (rc == 0)
        return writer_commit(c->writer, &f, what, e);
    writer_abandon(&f);
    c->now.bytes = before;
    return rc;
}

static int file_collect(struct collection *c, const struct merge_name *n, struct result *what,
                        struct err *e)
{
    int rc = -EAGAIN;
    if (writer_has(c->writer, what)) {
        c->now.bytes += what->size;
        return 0;
    }
    for (int i = 0; i < (c->order->meanwhile ? 1 : TRIES) && rc == -EAGAIN; i++)
        rc = file_try(c, n, what, e);
    if (rc == -EAGAIN)
        return c->order->meanwhile ? 0 : err_set(e, EAGAIN, "it is still being written");
    if (rc == 0) {
        c->report->written++;
        c->report->bytes += what->size;
    }
    return rc;
}

/* --- all of it --- */

static void tell_of_two(struct collection *c, const struct merge_name *n, const char *path)
{
    char name[SHOWN], other[SHOWN];
    c->report->beside++;
    if (!c->order->meanwhile)
        collect_say(c, "%s is not the same on all peers: what rank %u wrote on %s is kept as %s",
                    shown(n->what.path, name), n->from->rank_count > 0 ? n->from->ranks[0] : 0,
                    asked(c, n->from)->name, shown(path, other));
}

static int name_collect(struct collection *c, const struct merge_name *n, struct err *e)
{
    char path[RESULT_PATH + 32];
    struct result what = n->what;
    if (n->verdict == MERGE_BESIDE) {
        snprintf(path, sizeof path, "%s.rank-%u", n->what.path,
                 n->from->rank_count > 0 ? n->from->ranks[0] : 0);
        what.path = path;
        tell_of_two(c, n, path);
    }
    switch (what.kind) {
    case RESULT_FILE:
        return file_collect(c, n, &what, e);
    case RESULT_FOLDER:
        return writer_folder(c->writer, &what, e);
    case RESULT_LINK:
        return writer_link(c->writer, &what, e);
    case RESULT_GONE:
        if (c->gone++ == 0)
            shown(what.path, c->first_gone);
        return 0;
    case RESULT_KINDS:
        break;
    }
    return 0;
}

/* The peer is gone, not only this one file. */
static bool is_loss(int rc)
{
    return rc == -EHOSTUNREACH || rc == -ETIMEDOUT;
}

/* False: a peer was lost, so others are to be chosen. */
static bool names_collect(struct collection *c)
{
    c->gone = 0;
    for (size_t i = 0; i < c->count && !is_stopped(c); i++) {
        const struct merge_name *n = &c->names[i];
        struct err e = {0};
        char name[SHOWN];
        int rc = n->verdict == MERGE_LEAVE ? 0 : name_collect(c, n, &e);
        c->now.files += rc == 0 && n->verdict != MERGE_LEAVE && n->what.kind == RESULT_FILE;
        if (rc == 0 || rc == -EINTR)
            continue;
        if (is_loss(rc)) {
            source_lose(c, &c->sources[n->from - c->sources], &e);
            return false;
        }
        c->report->missing += rc != -EPERM; /* left out on purpose */
        if (strncmp(e.text, WRITER_ERROR, sizeof WRITER_ERROR - 1) == 0)
            collect_say(c, "%s", e.text);
        else
            collect_say(c, "the result %s could not be fetched from %s: %s",
                        shown(n->what.path, name), asked(c, n->from)->name, e.text);
    }
    return true;
}

/* One line for each peer that had what nobody else has. */
static void collect_tell_lost(struct collection *c, const uint8_t *work)
{
    for (size_t i = 0; i < c->order->count; i++) {
        const struct merge_source *s = &c->sources[i];
        for (size_t k = 0; k < s->rank_count && !s->reached; k++)
            if (s->ranks[k] < c->order->ranks && work[s->ranks[k]] == 0) {
                collect_say(c, "the results of rank %u cannot be fetched from %s: %s", s->ranks[k],
                            asked(c, s)->name,
                            c->listed[i].why[0] != '\0' ? c->listed[i].why : "it was lost");
                break;
            }
    }
}

static void collect_sum_up(struct collection *c, size_t lacking, const uint8_t *work)
{
    if (c->order->meanwhile)
        return;
    if (c->order->expected && lacking > 0) {
        c->report->missing += lacking;
        collect_tell_lost(c, work);
    }
    c->lines = 0;
    if (c->unsaid > 0)
        collect_say(c, "and %zu more lines like these", c->unsaid);
    if (is_stopped(c)) {
        c->report->missing++;
        collect_say(c, "interrupted: %zu of %zu results are in %s", c->now.files, c->now.all_files,
                    c->order->folder);
    }
    if (c->gone == 1)
        collect_say(c, "the job removed %s: it stays in %s", c->first_gone, c->order->folder);
    else if (c->gone > 1)
        collect_say(c, "the job removed %s and %zu more: they stay in %s", c->first_gone,
                    c->gone - 1, c->order->folder);
}

static int collect_all(struct collection *c, uint8_t *work)
{
    size_t lacking = 0;
    for (bool settled = false; !settled;) {
        c->report->beside = 0;
        sources_forget(c);
        lacking = sources_choose(c, work);
        settled = sources_list(c);
        if (settled && names_gather(c) != 0)
            return -ENOMEM;
        if (settled) {
            names_judge(c);
            settled = names_collect(c);
        }
    }
    collect_sum_up(c, lacking, work);
    return 0;
}

/* A lease has several lanes, and ends once. */
static void leases_let_go(struct collection *c)
{
    const struct collect_order *o = c->order;
    for (size_t i = 0; i < o->count; i++) {
        bool said = false;
        for (size_t k = 0; k < i && !said; k++)
            said = id_equal(&o->sources[k].where.lease, &o->sources[i].where.lease);
        if (!said)
            client_results_done(c->client, &o->sources[i].where);
    }
}

static int collection_open(struct collection *c, struct err *e)
{
    const struct collect_order *o = c->order;
    c->buffer = malloc(GRID_READ);
    c->sources = calloc(o->count + 1, sizeof c->sources[0]);
    c->listed = calloc(o->count + 1, sizeof c->listed[0]);
    if (c->buffer == NULL || c->sources == NULL || c->listed == NULL || sodium_init() < 0)
        return err_set(e, ENOMEM, "out of memory");
    for (size_t i = 0; i < o->count; i++)
        c->sources[i] = (struct merge_source){.lane = o->sources[i].where.lane,
                                              .ranks = o->sources[i].ranks,
                                              .rank_count = o->sources[i].count,
                                              .states = o->sources[i].states,
                                              .reached = o->sources[i].hope == COLLECT_THERE};
    return writer_open(&c->writer, o->folder, o->umask, e);
}

static void collection_close(struct collection *c)
{
    for (size_t i = 0; c->listed != NULL && i < c->order->count; i++)
        listed_clear(&c->listed[i]);
    writer_close(c->writer);
    free(c->listed);
    free(c->sources);
    free(c->names);
    free(c->buffer);
}

int collect(struct client *client, const struct collect_order *order, struct collect_report *report,
            struct err *e)
{
    struct collection c = {.client = client, .order = order, .report = report};
    uint8_t *work = malloc(order->ranks + 1);
    *report = (struct collect_report){0};
    int rc = work != NULL ? collection_open(&c, e) : err_set(e, ENOMEM, "out of memory");
    if (rc == 0)
        rc = collect_all(&c, work);
    if (rc == -ENOMEM)
        err_set(e, ENOMEM, "out of memory");
    if (rc == 0 && !order->meanwhile)
        leases_let_go(&c);
    collection_close(&c);
    free(work);
    return rc;
}
