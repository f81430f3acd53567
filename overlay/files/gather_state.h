/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_state.h -- shared by gather.c (what is asked for) and gather_walk.c (what is there). */
#ifndef P2P_OVERLAY_FILES_GATHER_STATE_H
#define P2P_OVERLAY_FILES_GATHER_STATE_H
#include "gather.h"
#include "pattern.h"
#include <limits.h>

enum {
    GATHER_LINKS = 16, /* one after the other */
    GATHER_TREES = 32,
    GATHER_PYTHON = 24,
};

struct gather {
    const struct gather_order *order;
    struct gathering *out;
    struct pattern_rules ignore;
    char *ignore_text;
    const char *asked;                 /* by what the list of names was given: for errors */
    char **pattern;                    /* of the input, ended by NULL; NULL: everything */
    bool *used;                        /* which of them matched something */
    bool bounded;                      /* by this: */
    char tree[GATHER_TREES][PATH_MAX]; /* folders that were added as a whole, or were too large */
    size_t tree_count;
    uint64_t limit;   /* of all bytes so far and those that are being added */
    bool environment; /* what is being added is one */
};

/* What is below the folder at `path` ("": the job's): all, or what a pattern matches. -EFBIG: it is
 * more than the limit. */
int gather_walk(struct gather *g, const char *path, bool all);
/* One file or link of the job's folder or from elsewhere, and what a link leads to; a folder with
 * all in it. -ENOENT; -EACCES: it cannot be read; -EPERM: it is none that may travel. */
int gather_name(struct gather *g, const char *absolute);
/* What stands there is put into the list as a file of its own, whatever the links on the way; a
 * folder with all in it, if it is none of the system's and no home. */
int gather_outside(struct gather *g, const char *absolute);
/* A folder with all in it, as far as the limit allows; environment: also a hidden one of the home.
 * True in *came: it goes along. */
int gather_tree(struct gather *g, const char *absolute, bool environment, bool *came);
/* If that program is Python: the modules that it finds outside of its own folders. */
int gather_python(struct gather *g, const struct gather_app *app, const char *program);
/* Of a Python: "python3.11". */
bool gather_python_name(const char *program, char out[GATHER_PYTHON]);
/* A folder elsewhere, by its real path: can it not go along as a whole? */
bool gather_outside_is_closed(const struct gather *g, const char *real);
/* Below the job's folder: the rest of the path, "" for the folder itself; NULL: it is elsewhere. */
const char *gather_beneath(const struct gather *g, const char *absolute);
#endif
