/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.c -- p2pctl cache: the files of jobs that this desktop keeps. */
#include "overlay/base/size.h"
#include "overlay/files/store.h"
#include "print_json.h"
#include "tool.h"
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CACHE_MS = 30000, CACHE_SHORT = 12, CACHE_MOST = 4096 };

struct cache_options {
    struct tool_options shared;
    const char *words[3]; /* list | trim [SIZE] | pin WHICH | unpin WHICH */
    unsigned count;
};

struct cache_rows {
    struct msg_local_cached *at;
    size_t count;
};

static error_t cache_parse(int key, char *value, struct argp_state *state)
{
    struct cache_options *w = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &w->shared;
    else if (key == ARGP_KEY_ARG && w->count < 2)
        w->words[w->count++] = value;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void cache_row(void *ctx, const struct message *m)
{
    struct cache_rows *rows = ctx;
    struct msg_local_cached *more = m->kind == MSG_local_cached && rows->count < CACHE_MOST
                                        ? realloc(rows->at, (rows->count + 1) * sizeof *more)
                                        : NULL;
    if (more == NULL)
        return;
    rows->at = more;
    rows->at[rows->count++] = m->local_cached;
}

static int cache_ask(struct client *c, const struct msg_local_cache *ask, struct cache_rows *rows,
                     struct err *e)
{
    struct message question = {.kind = MSG_local_cache, .local_cache = *ask};
    struct msg_local_done done;
    free(rows->at);
    *rows = (struct cache_rows){0};
    return client_ask(c, &question, CACHE_MS, cache_row, rows, &done, e);
}

static void cache_hex(const struct hash *h, char out[HASH_TEXT + 1])
{
    sodium_bin2hex(out, HASH_TEXT + 1, h->b, HASH_BYTES);
}

/* --- shown --- */

static void print_rows(const struct cache_rows *rows)
{
    const struct tool_style style = tool_style(stdout);
    uint64_t here = 0;
    char hex[HASH_TEXT + 1], size[24], when[32];
    for (size_t i = 0; i < rows->count; i++) {
        const struct msg_local_cached *r = &rows->at[i];
        const time_t used = (time_t)r->used;
        struct tm local;
        cache_hex(&r->files.list, hex);
        here += r->here;
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime_r(&used, &local));
        printf("%.*s  %10s  %s%s%s  %s  %s\n", CACHE_SHORT, hex, tool_size(r->files.bytes, size),
               style.dim, when, style.end,
               r->locks > 0               ? "in use"
               : r->pinned                ? "pinned"
               : r->here < r->files.bytes ? "partly"
                                          : "-",
               r->about);
    }
    if (rows->count == 0)
        printf("no files of jobs are kept here\n");
    else
        printf("%zu kept, %s%s%s\n", rows->count, tool_size(here, size),
               rows->at[0].bound > 0 ? " of at most " : "",
               rows->at[0].bound > 0 ? tool_size(rows->at[0].bound, (char[24]){0}) : "");
}

static void print_json(const struct cache_rows *rows)
{
    json_t *all = json_array();
    char hex[HASH_TEXT + 1];
    for (size_t i = 0; i < rows->count; i++) {
        const struct msg_local_cached *r = &rows->at[i];
        cache_hex(&r->files.list, hex);
        json_array_append_new(
            all, json_pack("{s:s, s:I, s:I, s:I, s:I, s:i, s:b, s:s}", "list", hex, "bytes",
                           (json_int_t)r->files.bytes, "here", (json_int_t)r->here, "files",
                           (json_int_t)r->files.count, "used", (json_int_t)r->used, "locks",
                           (int)r->locks, "pinned", (int)r->pinned, "about", r->about));
    }
    const uint64_t bound = rows->count > 0 ? rows->at[0].bound : 0;
    tool_print_json(json_pack("{s:o, s:I}", "kept", all, "bound", (json_int_t)bound));
}

/* --- what is asked for --- */

/* By the beginning of its name, which must be that of one. */
static int choose(const struct cache_rows *rows, const char *begins, struct hash *out,
                  struct err *e)
{
    char hex[HASH_TEXT + 1];
    size_t found = 0;
    for (size_t i = 0; i < rows->count; i++) {
        cache_hex(&rows->at[i].files.list, hex);
        if (begins[0] == '\0' || strncmp(hex, begins, strlen(begins)) != 0)
            continue;
        *out = rows->at[i].files.list;
        found++;
    }
    if (found == 1)
        return 0;
    return err_set(e, ENOENT,
                   "%s kept files have a name that begins with '%s': see p2pctl cache list",
                   found == 0 ? "no" : "several", begins);
}

static int cache_do(struct client *c, const struct cache_options *w, struct cache_rows *rows,
                    struct err *e)
{
    const char *verb = w->count > 0 ? w->words[0] : "list", *what = w->words[1];
    struct msg_local_cache ask = {.verb = CACHE_LIST};
    int rc = cache_ask(c, &ask, rows, e);
    if (rc != 0 || strcmp(verb, "list") == 0)
        return rc;
    if (strcmp(verb, "trim") == 0) {
        ask.verb = CACHE_TRIM;
        if (what != NULL && !size_parse(&ask.bytes, what))
            return err_set(e, EINVAL, "'%s' is no size: write 512M or 4G", what);
    } else {
        ask.verb = strcmp(verb, "pin") == 0 ? CACHE_PIN : CACHE_UNPIN;
        rc = choose(rows, what, &ask.list, e);
    }
    return rc == 0 ? cache_ask(c, &ask, rows, e) : rc;
}

static bool is_usage(const struct cache_options *w)
{
    const char *verb = w->count > 0 ? w->words[0] : "list";
    if (strcmp(verb, "list") == 0)
        return w->count < 2;
    if (strcmp(verb, "trim") == 0)
        return true;
    return (strcmp(verb, "pin") == 0 || strcmp(verb, "unpin") == 0) && w->count == 2;
}

int tool_cache(int argc, char **argv)
{
    static const struct argp_child children[] = {{&tool_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        NULL,
        cache_parse,
        "[list | trim [SIZE] | pin WHICH | unpin WHICH]",
        "The files of jobs that this desktop keeps, so that they need not come again.\v"
        "trim removes what was used longest ago until at most SIZE is left (0: all), except what "
        "is in use or pinned. WHICH is the beginning of a name that list shows.",
        children,
        NULL,
        NULL};
    struct cache_options w = {.count = 0};
    struct cache_rows rows = {0};
    struct client *c;
    struct err e = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &w);
    if (!is_usage(&w)) {
        fprintf(stderr, "p2pctl cache: list, trim [SIZE], pin WHICH or unpin WHICH\n");
        return TOOL_USAGE;
    }
    int rc = tool_connect(&c, &w.shared);
    if (rc != TOOL_OK)
        return rc;
    rc = cache_do(c, &w, &rows, &e);
    client_close(c);
    if (rc == 0 && w.shared.json)
        print_json(&rows);
    else if (rc == 0)
        print_rows(&rows);
    free(rows.at);
    return rc == 0 ? TOOL_OK : tool_fail(&e);
}
