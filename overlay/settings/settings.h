/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h -- what the owner of a machine decides, read from p2pd.conf. Every value has a
 * default, so that no file is needed. */
#ifndef P2P_OVERLAY_SETTINGS_SETTINGS_H
#define P2P_OVERLAY_SETTINGS_SETTINGS_H
#include "overlay/base/core_list.h"
#include "overlay/base/err.h"
#include "hours.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SETTINGS_TEXT = 63,
    SETTINGS_WORD = 32,
    SETTINGS_ADDRESS = 270, /* HOST:PORT */
    SETTINGS_PATH = 255,
    SETTINGS_SOCKET = 107, /* sun_path */
    SETTINGS_LABELS = 16,
    SETTINGS_JOIN = 32,
    SETTINGS_PORT = 7117,
    SETTINGS_SLOTS = 4096,
    SETTINGS_READABLE = 16,
    SETTINGS_WHOMS = 32,
    SETTINGS_WHOM = 63,
    SETTINGS_HOURS = 14,
};

/* When the owner is back at the machine, guests ... */
enum settings_web { SETTINGS_WEB_ASKED, SETTINGS_WEB_ALWAYS, SETTINGS_WEB_NEVER };
enum settings_owner_back { SETTINGS_NOTHING, SETTINGS_SUSPEND, SETTINGS_LEAVE };

struct settings {
    char file[SETTINGS_PATH + 1]; /* that they were read from, or would be if it were there */
    char site[SETTINGS_TEXT + 1]; /* where the machine stands; "": unsaid */
    char labels[SETTINGS_LABELS][SETTINGS_WORD + 1]; /* words that requirements may ask for */
    size_t label_count;
    char listen[SETTINGS_ADDRESS + 1];  /* "*:7117"; port 0: any that is free */
    char address[SETTINGS_ADDRESS + 1]; /* where others are told to dial; "": found out */
    char join[SETTINGS_JOIN][SETTINGS_ADDRESS + 1]; /* peers that are already in the grid */
    size_t join_count;
    bool pmix; /* let this user's PMIx tools in */
    bool lan;  /* look for the grid on the local network, and let it be found there */
    char keys[SETTINGS_PATH + 1]; /* folder with authority.crt, peer.crt, peer.key */
    char
        authority[SETTINGS_PATH + 1]; /* folder of the grid's authority, on its founder's desktop */
    char state[SETTINGS_PATH + 1];    /* folder for what survives a restart */
    char work[SETTINGS_PATH + 1];     /* folder in which each lease has its own */
    char cache[SETTINGS_PATH + 1];    /* folder of what came of the files of jobs */
    uint64_t cache_size;              /* bytes kept there; 0: as much as fits on the disk */
    char socket[SETTINGS_SOCKET + 1]; /* of the same user's programs; "": the usual place */
    char cores[CORE_LIST_TEXT + 1];   /* that guests may use: "all", "none", or a list */
    unsigned slots;                   /* lent to the grid; 0: as many as there are cores */
    unsigned slots_each;              /* of these, to one other desktop; 0: all */
    unsigned share_minutes;  /* so long an owner keeps more than his share when others wait */
    unsigned unused_minutes; /* so long slots are kept for a job that starts nothing */
    uint64_t memory;         /* bytes lent; 0: all */
    uint64_t disk;           /* bytes lent; 0: all that is free */
    unsigned nice;           /* of guests: 0 to 19 */
    unsigned processes;      /* and threads, of a guest's job here */
    unsigned open_files;     /* of each process of a guest */
    unsigned
        confinement; /* bits of enum confinement: what a machine must enforce to admit guests */
    char readable[SETTINGS_READABLE][SETTINGS_PATH + 1]; /* to guests, besides the system's own */
    size_t readable_count;
    char allow[SETTINGS_WHOMS][SETTINGS_WHOM + 1]; /* see lending.h for the words */
    char deny[SETTINGS_WHOMS][SETTINGS_WHOM + 1];  /* wins over allow */
    size_t allow_count, deny_count;
    struct hours hours[SETTINGS_HOURS]; /* none: always */
    char hours_text[SETTINGS_HOURS][HOURS_TEXT + 1];
    size_t hours_count;
    bool encrypt;       /* lent only to jobs that encrypt what their ranks tell each other */
    bool show_programs; /* every member may see what programs its user's jobs run */
    bool idle_only;
    unsigned idle_minutes; /* of quiet before the machine counts as idle, when only load tells */
    enum settings_owner_back owner_back;
    enum settings_web web; /* when the page is served: once p2pctl web asks for it */
    unsigned web_port;     /* on 127.0.0.1; 0: a free one */
    unsigned log_level;    /* enum log_level */
};

/* The values without a file. Fails only for a user without a home. */
int settings_default(struct settings *s, struct err *e);
/* The file over the defaults; NULL: ~/.config/p2pgrid/p2pd.conf, if it is there. The
 * error names file and line. *s is untouched when it fails. */
int settings_read(struct settings *s, const char *path, struct err *e);
/* What a file with this text would say; the error calls it `name`. */
int settings_read_text(struct settings *s, const char *text, const char *name, struct err *e);
#endif
