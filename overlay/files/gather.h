/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h -- what of this desktop a job needs on others: of the folder that it is started in, and
 * its programs with their own libraries wherever they are. Nothing is executed, and no file's bytes
 * but those of programs are read. */
#ifndef P2P_OVERLAY_FILES_GATHER_H
#define P2P_OVERLAY_FILES_GATHER_H
#include "gathered.h"
#include "overlay/base/err.h"

struct gather_app {
    const char *program;      /* as the command line has it */
    char *const *words;       /* the command line, from the program on; NULL at the end */
    const char *cwd;          /* where its processes start */
    const char *library_path; /* their LD_LIBRARY_PATH, or NULL */
    const char *python_path;  /* their PYTHONPATH, or NULL */
    const char *python_base;  /* their PYTHONUSERBASE, or NULL */
};

struct binaries;

struct gather_order {
    const char *folder; /* the job's; "": it has none that could travel */
    const char *home;   /* the user's */
    const char *search; /* PATH */
    const struct gather_app *apps;
    size_t app_count;
    const char *input; /* exactly these of the folder, with wildcards (pattern.h), separated by
                          commas; NULL: all, up to the limit */
    const struct binaries
        *builds;                /* of the first program (binaries.h), which all travel; or NULL */
    const char *preload;        /* these in any case, separated by commas; or NULL */
    uint64_t limit;             /* bytes */
    const struct stat *written; /* files that are written to meanwhile: the output of mpirun */
    size_t written_count;
};

struct gathering {
    struct gathered list;
    unsigned secrets; /* left out, since their names look so */
    unsigned left;    /* sockets, devices, and what cannot be read */
    unsigned named;   /* entries that the command line names, with programs and libraries */
    bool by_variable; /* a library is found by LD_LIBRARY_PATH alone */
    bool python_path; /* Python is to look there */
    bool over;        /* the folder holds more than the limit: only what is named is there */
    char secret[256]; /* the first one that the command line names; "": none */
    char large[256];  /* the first one elsewhere that is over the limit by itself; "": none */
    char holder[256]; /* the first one of PYTHONPATH that cannot travel as a whole; "": none */
    char
        python_base[256]; /* below it is what pip has installed for the user; "": none goes along */
};

enum gather_folder {
    GATHER_WHOLE, /* a folder of the job's own */
    GATHER_NAMED, /* the home or above it, or one that all users share: what is named, no more */
    GATHER_NONE,  /* of the system: the peers have their own */
};
/* By its name, which contains no links, and its permissions. */
enum gather_folder gather_judge(const char *folder, const char *home);

/* The folder that holds all of these (from / on), the first one where there is one only; "" for /
 */
void gather_common(const char *const *folders, size_t count, char *out, size_t size);
/* An absolute path without "." and "..", by its text alone. False: too long. */
bool gather_normal(const char *cwd, const char *name, char *out, size_t size);

/* Several builds of a program have one name: on a machine of this build it is a link. `link` is
 * below the folder ("": it is the file itself), `target` where it leads; both PATH_MAX. -EINVAL:
 * one of them is not in the folder. */
int gather_link(const char *folder, const struct gather_app *app, const char *search,
                const char *build, char *link, char *target, struct err *e);
/* 0, or *e says what is missing or too much. out is to be cleared in any case. */
int gather(struct gathering *out, const struct gather_order *order, struct err *e);
void gathering_clear(struct gathering *g);
#endif
