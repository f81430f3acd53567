/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c -- p2pctl grid create, issue, lock, unlock, rotate: founding a grid, keys for its peers,
 * and a passphrase for its authority. */
#include "tool.h"
#include "print_json.h"
#include "overlay/membership/authority.h"
#include "passphrase.h"
#include "rotate.h"
#include "overlay/settings/settings.h"
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_MAX = 4096, GROUPS_MAX = 8, GRID_DAYS = 3650, PATH_SIZE = 4096 };

struct order {
    const char *what, *target; /* create NAME, issue FOLDER, lock and unlock [FOLDER] */
    const char *out, *owner, *config, *file, *socket;
    const char *names[NAMES_MAX], *groups[GROUPS_MAX];
    size_t name_count, group_count;
    double days;
    bool encrypt, json;
};

static const char doc[] =
    "Founds a grid, with this desktop as its first peer; or makes keys by hand.\n\n"
    "  p2pctl grid create NAME\n"
    "  p2pctl grid create NAME --out=FOLDER\n"
    "  p2pctl grid issue FOLDER --name=PEER --out=KEYS\n"
    "  p2pctl grid lock [FOLDER]\n"
    "  p2pctl grid unlock [FOLDER]\n"
    "  p2pctl grid rotate\n\v"
    "The authority of the grid is kept in ~/.config/p2pgrid/authority, or in FOLDER, and then no "
    "peer is made. Whoever has it can admit peers: keep it safe, and lock it: its key then lies "
    "there "
    "encrypted, and p2pctl invite, revoke and grid issue ask for the passphrase. Others join with "
    "p2pctl invite "
    "and "
    "p2pctl join; or KEYS goes to ~/.config/p2pgrid/keys of that peer. "
    "With several --name, each peer's keys are in KEYS/PEER. All peers issued from one FOLDER "
    "belong to "
    "its founder, unless --owner says otherwise; jobs of other owners are a peer's guests and run "
    "confined.";

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print one JSON object", 0},
    {"out", 'o', "FOLDER", 0, "where the keys are written", 0},
    {"name", 'n', "PEER", 0, "the peer's name; may be given several times", 0},
    {"config", 'c', "FILE", 0, "the settings of p2pd, when they are not at their usual place", 0},
    {"owner", 'w', "ID", 0, "the id of the owner's key, instead of the founder's", 0},
    {"group", 'g', "GROUP", 0, "a group that the peer is in; may be given several times", 0},
    {"passphrase-file", 'p', "FILE", 0,
     "where the passphrase is, in the first line; -: standard input", 0},
    {"encrypt", 'e', NULL, 0,
     "create: every peer lends only to jobs that encrypt what their ranks tell each other", 0},
    {"days", 'D', "N", 0,
     "valid for N days (create: 3650, issue: 365); rotate: a member that is away may come back for "
     "N days "
     "(30)",
     0},
    {"socket", 's', "PATH", 0,
     "rotate: the daemon's socket (default: $P2PGRID_SOCKET, or the usual place)", 0},
    TOOL_HELP_OPTION,
    {0},
};

static void take_days(struct order *o, const char *value, struct argp_state *state)
{
    char *end;
    double days = strtod(value, &end);
    if (*end != '\0' || end == value || !(days != 0 && days >= -36500 && days <= 36500))
        argp_error(state, "--days=%s: must be a number of days", value);
    o->days = days;
}

static bool is_verb(const char *word)
{
    static const char *const verbs[] = {"create", "issue", "lock", "unlock", "rotate"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(word, verbs[i]) == 0)
            return true;
    return false;
}

static void take_word(struct order *o, const char *word, struct argp_state *state)
{
    if (o->what == NULL && is_verb(word))
        o->what = word;
    else if (o->what == NULL)
        argp_error(state, "create, issue, lock, unlock or rotate, not '%s'", word);
    else if (o->target == NULL)
        o->target = word;
    else
        argp_error(state, "what is '%s'?", word);
}

/* By the daemon, which tells the others. */
static void check_rotate(const struct order *o, struct argp_state *state)
{
    if (o->target != NULL)
        argp_error(state, "rotate changes the key that p2pd uses, not that in a folder");
    if (o->days < 0 || o->days > 365 || (o->days > 0 && o->days < 0.0001))
        argp_error(state, "--days: a member that is away has up to 365 days");
}

static void grid_check(const struct order *o, struct argp_state *state)
{
    if (o->what == NULL)
        argp_error(state, "create, issue, lock, unlock or rotate?");
    else if (o->what[0] == 'r')
        check_rotate(o, state);
    else if (o->what[0] == 'l' || o->what[0] == 'u')
        return;
    else if (o->target == NULL)
        argp_error(state, "%s",
                   o->what[0] == 'c' ? "the grid needs a name" : "which grid's folder?");
    else if (o->out == NULL && o->what[0] == 'i')
        argp_error(state, "--out=FOLDER is missing: where shall the keys go?");
    else if (o->what[0] == 'c' && o->name_count > 1)
        argp_error(state, "this desktop has one name");
    else if (o->what[0] == 'i' && o->name_count == 0)
        argp_error(state, "--name=PEER is missing");
}

static error_t grid_parse(int key, char *value, struct argp_state *state)
{
    struct order *o = state->input;
    switch (key) {
    case 'h':
        return tool_help(state);
    case 'o':
        o->out = value;
        return 0;
    case 'c':
        o->config = value;
        return 0;
    case 'w':
        o->owner = value;
        return 0;
    case 's':
        o->socket = value;
        return 0;
    case 'p':
        o->file = value;
        return 0;
    case 'D':
        take_days(o, value, state);
        return 0;
    case 'e':
        o->encrypt = true;
        return 0;
    case 'j':
        o->json = true;
        tool_json_errors();
        return 0;
    case 'n':
        if (o->name_count == NAMES_MAX)
            argp_error(state, "more than %d peers at once", NAMES_MAX);
        o->names[o->name_count++] = value;
        return 0;
    case 'g':
        if (o->group_count == GROUPS_MAX)
            argp_error(state, "more than %d groups", GROUPS_MAX);
        o->groups[o->group_count++] = value;
        return 0;
    case ARGP_KEY_ARG:
        take_word(o, value, state);
        return 0;
    case ARGP_KEY_END:
        grid_check(o, state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static int issue_one(struct authority *a, const struct order *o, const char *name, struct err *e)
{
    struct authority_order order = {.peer = name,
                                    .owner = o->owner,
                                    .groups = o->groups,
                                    .group_count = o->group_count,
                                    .days = o->days != 0 ? o->days : AUTHORITY_PEER_DAYS};
    char out[PATH_SIZE];
    if (o->name_count == 1)
        return authority_issue(a, &order, o->out, e);
    if (snprintf(out, sizeof out, "%s/%s", o->out, name) >= (int)sizeof out)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", o->out);
    return authority_issue(a, &order, out, e);
}

/* Asks for the passphrase where the authority is locked. */
static int open_authority(struct authority **out, const char *folder, const char *file,
                          struct err *e)
{
    struct passphrase word = {.length = 0};
    if (!authority_is_locked(folder))
        return authority_open(out, folder, e);
    int rc = passphrase_ask(&word, file, false, e);
    const struct keyfile_access with = passphrase_access(&word);
    if (rc == 0)
        rc = authority_open_with(out, folder, &with, e);
    passphrase_forget(&word);
    return rc;
}

static int grid_lock(struct authority *a, const char *file, struct err *e)
{
    struct passphrase word = {.length = 0};
    int rc = passphrase_ask(&word, file, true, e);
    const struct keyfile_access with = passphrase_access(&word);
    if (rc == 0)
        rc = keyfile_check(with.passphrase, with.length, e);
    if (rc == 0)
        rc = authority_lock(a, &with, e);
    passphrase_forget(&word);
    return rc;
}

static int change_lock(const struct order *o, struct err *e)
{
    struct settings s;
    struct authority *a = NULL;
    bool locks = o->what[0] == 'l';
    int rc = o->target == NULL ? settings_read(&s, o->config, e) : 0;
    const char *folder = o->target != NULL ? o->target : s.authority;
    if (rc == 0 && authority_is_locked(folder) == locks)
        rc = err_set(e, EALREADY, "%s is %s", folder, locks ? "locked already" : "not locked");
    if (rc == 0)
        rc = open_authority(&a, folder, o->file, e);
    if (rc == 0)
        rc = locks ? grid_lock(a, o->file, e) : authority_lock(a, NULL, e);
    authority_close(a);
    if (rc == 0 && o->json)
        tool_print_json(json_pack("{s:s, s:b}", "authority", folder, "locked", locks));
    else if (rc == 0)
        printf("%s is %s\n", folder,
               locks ? "locked: invite, revoke and grid issue ask for the passphrase"
                     : "not locked any more");
    return rc;
}

static int grid_issue(const struct order *o, struct err *e)
{
    struct authority *a;
    int rc = open_authority(&a, o->target, o->file, e);
    if (rc < 0)
        return rc;
    if (o->name_count > 1 && mkdir(o->out, 0700) < 0 && errno != EEXIST)
        rc = err_set(e, errno, "%s: %s", o->out, strerror(errno));
    for (size_t i = 0; rc == 0 && i < o->name_count; i++)
        rc = issue_one(a, o, o->names[i], e);
    authority_close(a);
    return rc;
}

/* On this desktop, which becomes its first peer. */
static int grid_create(const struct order *o, const struct authority_terms *terms, struct err *e)
{
    struct settings s;
    char host[SETTINGS_TEXT + 1], certificate[SETTINGS_PATH + 32];
    struct authority_order order = {.peer = host, .days = AUTHORITY_PEER_DAYS};
    struct authority *a;
    int rc = settings_read(&s, o->config, e);
    if (rc == 0 && o->name_count == 0)
        rc = tool_host_name(host, e);
    else
        order.peer = o->names[0];
    if (rc == 0)
        rc = authority_check(&order, e);
    if (rc < 0)
        return rc;
    snprintf(certificate, sizeof certificate, "%s/peer.crt", s.keys);
    if (access(certificate, F_OK) == 0)
        return err_set(e, EEXIST, "this desktop is in a grid already; to found one, move %s away",
                       s.keys);
    rc = authority_create(s.authority, o->target, terms, e);
    if (rc == 0)
        rc = authority_open(&a, s.authority, e);
    if (rc < 0)
        return rc;
    rc = authority_issue(a, &order, s.keys, e);
    authority_close(a);
    if (rc == 0 && o->json)
        tool_print_json(json_pack("{s:s, s:s, s:s}", "grid", o->target, "name", order.peer,
                                  "authority", s.authority));
    else if (rc == 0)
        printf("Grid '%s' is founded, and this desktop is its first peer, %s.\n"
               "  Start its daemon:      p2pd --detach\n"
               "  Let in another one:    p2pctl invite\n"
               "Keep %s safe: whoever has it can admit peers.\n"
               "  Lock it:               p2pctl grid lock\n",
               o->target, order.peer, s.authority);
    return rc;
}

int tool_grid(int argc, char **argv)
{
    static const struct argp argp = {
        options, grid_parse, "create NAME\nissue FOLDER\nlock [FOLDER]\nunlock [FOLDER]\nrotate",
        doc,     NULL,       NULL,
        NULL};
    static struct order o;
    struct err e = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    const struct authority_terms terms = {.days = o.days != 0 ? (int)o.days : GRID_DAYS,
                                          .encrypt = o.encrypt};
    int rc;
    if (o.what[0] == 'r')
        return rotate(&(struct tool_options){.json = o.json, .socket = o.socket}, o.days, o.file);
    if (o.what[0] == 'i')
        rc = grid_issue(&o, &e);
    else if (o.what[0] != 'c')
        rc = change_lock(&o, &e);
    else
        rc = o.out != NULL ? authority_create(o.out, o.target, &terms, &e)
                           : grid_create(&o, &terms, &e);
    if (rc < 0)
        return tool_fail(&e);
    if (o.out != NULL && o.json)
        tool_print_json(json_pack("{s:s}", "out", o.out));
    else if (o.out != NULL)
        printf("%s\n", o.out);
    return TOOL_OK;
}
