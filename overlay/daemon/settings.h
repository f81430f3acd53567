/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h -- what the owner of a machine decides, read from p2pd.conf. Every value has a
 * default, so that no file is needed. */
#ifndef P2P_SETTINGS_H
#define P2P_SETTINGS_H
#include "../client/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SETTINGS_TEXT = 63,
    SETTINGS_PATH = 255,
    SETTINGS_SOCKET = 107, /* sun_path */
    SETTINGS_LIST = 16,
    SETTINGS_JOIN = 32,
    SETTINGS_PORT = 7117,
};

struct settings {
    char name[SETTINGS_TEXT + 1];   /* of this peer; default: its certificate's, else the host's */
    char site[SETTINGS_TEXT + 1];   /* where it stands, "" unsaid */
    char labels[SETTINGS_LIST][33]; /* words that requirements may ask for */
    size_t label_count;
    char listen[SETTINGS_TEXT + 1];              /* "[::]:7117", "192.0.2.7:0" (any free port) */
    char address[SETTINGS_TEXT + 1];             /* what others are told to dial; "": found out */
    char join[SETTINGS_JOIN][SETTINGS_TEXT + 1]; /* HOST:PORT of peers already in the grid */
    size_t join_count;
    char keys[SETTINGS_PATH + 1];     /* folder with authority.crt, peer.crt, peer.key */
    char state[SETTINGS_PATH + 1];    /* folder for what must survive a restart */
    char work[SETTINGS_PATH + 1];     /* folder in which each lease gets its private folder */
    char socket[SETTINGS_SOCKET + 1]; /* of the same user's programs */
    unsigned slots;                   /* lent to the grid; default: cores */
    uint64_t memory;                  /* lent, bytes; 0: all */
    uint64_t disk;                    /* lent, bytes; 0: all that is free */
    unsigned lease_seconds;           /* an unrenewed lease ends after this; default 10 */
    unsigned log_level;               /* enum log_level; default LOG_INFO's */
};

/* What holds without a file: needs $HOME or the password entry, never fails otherwise. */
int settings_default(struct settings *c, struct err *e);
/* Over the defaults what `path` says; path NULL: ~/.config/p2pgrid/p2pd.conf, if there. The error
 * names file and line. *c is untouched when it fails. */
int settings_read(struct settings *c, const char *path, struct err *e);
#endif
