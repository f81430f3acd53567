/* SPDX-License-Identifier: BSD-3-Clause */
/* join.c -- p2pctl join: makes this desktop's key, has it admitted to a grid, and leaves everything
 * where p2pd looks. */
#include "print_json.h"
#include "tool.h"
#include "overlay/base/addr.h"
#include "newcomer.h"
#include "overlay/base/file.h"
#include "overlay/settings/settings.h"
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 64 };

struct join_options {
    const char *token, *name, *config;
    bool json;
};

static const char doc[] =
    "Joins the grid of an invitation.\v"
    "TOKEN is what p2pctl invite has printed on a desktop of the grid; - reads it from standard "
    "input. The key of this desktop is made here and never leaves it.";

static const struct argp_option options[] = {
    {"name", 'n', "PEER", 0, "what this peer is called (default: the host's name)", 0},
    {"config", 'c', "FILE", 0, "the settings of p2pd, when they are not at their usual place", 0},
    {"json", 'j', NULL, 0, "print one JSON object", 1},
    TOOL_HELP_OPTION,
    {0},
};

static error_t join_parse(int key, char *value, struct argp_state *state)
{
    struct join_options *w = state->input;
    switch (key) {
    case 'h':
        return tool_help(state);
    case 'n':
        w->name = value;
        return 0;
    case 'c':
        w->config = value;
        return 0;
    case 'j':
        w->json = true;
        tool_json_errors();
        return 0;
    case ARGP_KEY_ARG:
        if (w->token != NULL)
            argp_error(state, "what is '%s'?", value);
        w->token = value;
        return 0;
    case ARGP_KEY_END:
        if (w->token == NULL)
            argp_error(state, "the invitation is missing: p2pctl invite prints one");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* --- what is here already --- */

static int path_in(char out[PATH_SIZE], const char *folder, const char *file, struct err *e)
{
    if (snprintf(out, PATH_SIZE, "%s/%s", folder, file) >= PATH_SIZE)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
    return 0;
}

static bool is_over(const char *certificate)
{
    FILE *f = fopen(certificate, "re");
    X509 *c = f != NULL ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    bool over = c != NULL && X509_cmp_current_time(X509_get0_notAfter(c)) < 0;
    X509_free(c);
    if (f != NULL)
        fclose(f);
    return over;
}

/* A member that was away for too long may come back; one whose certificate is good stays. */
static int check_free(const char *keys, struct err *e)
{
    char certificate[PATH_SIZE];
    int rc = path_in(certificate, keys, "peer.crt", e);
    if (rc < 0 || access(certificate, F_OK) < 0 || is_over(certificate))
        return rc;
    return err_set(e, EEXIST,
                   "this desktop is in a grid already; to join another one, move %s away", keys);
}

/* --- the key --- */

static EVP_PKEY *read_key(const char *path)
{
    FILE *f = fopen(path, "re");
    EVP_PKEY *key = f != NULL ? PEM_read_PrivateKey(f, NULL, NULL, NULL) : NULL;
    if (f != NULL)
        fclose(f);
    return key;
}

/* On disk before it is admitted: an invitation works once. */
static EVP_PKEY *find_key(const char *keys, bool *made, struct err *e)
{
    char path[PATH_SIZE];
    struct file f;
    *made = false;
    if (file_make_folder(keys, e) < 0 || path_in(path, keys, "peer.key", e) < 0)
        return NULL;
    EVP_PKEY *key = read_key(path);
    if (key != NULL)
        return key;
    if (access(path, F_OK) == 0) {
        err_set(e, EINVAL, "%s: no key in there; move it away", path);
        return NULL;
    }
    key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (key == NULL || file_begin(&f, path, 0600, e) < 0) {
        EVP_PKEY_free(key);
        err_set(e, EIO, "OpenSSL cannot make an Ed25519 key");
        return NULL;
    }
    bool ok = PEM_write_PrivateKey(f.stream, key, NULL, NULL, 0, NULL, NULL);
    *made = true;
    if (file_end(&f, ok, e) == 0)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

/* --- what stays --- */

static int write_certificate(const char *folder, const char *file, X509 *c, struct err *e)
{
    char path[PATH_SIZE];
    struct file f;
    int rc = path_in(path, folder, file, e);
    if (rc == 0)
        rc = file_begin(&f, path, 0644, e);
    return rc < 0 ? rc : file_end(&f, PEM_write_X509(f.stream, c), e);
}

/* As p2pd itself leaves it: ways into the ring. */
static int write_peers(const char *state, const struct entry *entry, struct err *e)
{
    char path[PATH_SIZE], id[ID_TEXT + 1], where[ADDR_TEXT + 1];
    struct file f;
    int rc = file_make_folder(state, e);
    if (rc == 0)
        rc = path_in(path, state, "peers", e);
    if (rc == 0)
        rc = file_begin(&f, path, 0600, e);
    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < entry->peer_count; i++) {
        id_text(&entry->peers[i].id, id);
        addr_text(&entry->peers[i].addr, where);
        fprintf(f.stream, "%s %s\n", id, where);
    }
    return file_end(&f, true, e);
}

static int join_write(const struct settings *s, const struct entry *entry, struct err *e)
{
    int rc = write_certificate(s->keys, "authority.crt", entry->authority, e);
    if (rc == 0)
        rc = write_peers(s->state, entry, e);
    return rc < 0 ? rc : write_certificate(s->keys, "peer.crt", entry->certificate, e);
}

/* What was made for nothing. Folders only when they are empty: others may have files there. */
static void undo(const struct settings *s)
{
    static const char *const files[] = {"peer.key", "peer.crt", "authority.crt"};
    char path[PATH_SIZE];
    struct err none = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (path_in(path, s->keys, files[i], &none) == 0)
            unlink(path);
    if (path_in(path, s->state, "peers", &none) == 0 && unlink(path) == 0)
        rmdir(s->state);
    if (rmdir(s->keys) == 0 && path_in(path, s->keys, "", &none) == 0)
        rmdir(dirname(path));
}

/* --- all of it --- */

static int read_token(struct token *t, const char *word, struct err *e)
{
    char line[512] = "";
    if (strcmp(word, "-") != 0)
        return token_parse(t, word, e);
    if (fgets(line, sizeof line, stdin) == NULL)
        return err_set(e, EINVAL, "no invitation on standard input");
    return token_parse(t, line, e);
}

int tool_host_name(char out[64], struct err *e)
{
    if (gethostname(out, 64) < 0)
        return err_set(e, errno, "this machine has no name: give --name");
    out[63] = '\0';
    out[strcspn(out, ".")] = '\0';
    if (out[0] == '\0' || strcmp(out, "localhost") == 0)
        return err_set(e, EINVAL, "this machine is called '%s' like many others: give --name", out);
    return 0;
}

static int join(const struct join_options *w, const char *name, struct entry *entry, struct err *e)
{
    struct settings s;
    struct token token;
    EVP_PKEY *key = NULL;
    bool made = false;
    int rc = read_token(&token, w->token, e);
    if (rc == 0)
        rc = settings_read(&s, w->config, e);
    if (rc == 0)
        rc = check_free(s.keys, e);
    if (rc == 0)
        key = find_key(s.keys, &made, e);
    if (key != NULL && (rc = newcomer_enter(entry, &token, name, key, e)) == 0)
        rc = join_write(&s, entry, e);
    if (made && (rc < 0 || e->code != 0))
        undo(&s);
    EVP_PKEY_free(key);
    return e->code != 0 ? -e->code : rc;
}

static const char *as_whom(enum entry_owner owner)
{
    switch (owner) {
    case ENTRY_SELF:
        return "It is an owner's of its own: its programs run as guests on other desktops, in a "
               "sandbox, and theirs here.";
    case ENTRY_INVITER:
        return "It belongs to the owner of the desktop that invited it: what he starts runs here "
               "as you, and yours there as that owner, without a sandbox.";
    case ENTRY_OTHER:
        return "It belongs to an owner who has desktops in the grid: what he starts there runs "
               "here as you, and yours there as that owner, without a sandbox.";
    }
    return "";
}

static const char *owner_word(enum entry_owner owner)
{
    return owner == ENTRY_SELF ? "self" : owner == ENTRY_INVITER ? "inviter" : "other";
}

int tool_join(int argc, char **argv)
{
    static const struct argp argp = {options, join_parse, "TOKEN", doc, NULL, NULL, NULL};
    struct join_options w = {0};
    struct entry entry = {0};
    struct err e = {0};
    char host[NAME_SIZE];
    argp_parse(&argp, argc, argv, 0, NULL, &w);
    if (w.name == NULL && tool_host_name(host, &e) < 0)
        return tool_fail(&e);
    const char *name = w.name != NULL ? w.name : host;
    if (strlen(name) >= NAME_SIZE) {
        err_set(&e, EINVAL, "'%s' is no name for a peer: 1 to %d letters", name, NAME_SIZE - 1);
        return tool_fail(&e);
    }
    if (join(&w, name, &entry, &e) < 0)
        return tool_fail(&e);
    if (w.json)
        tool_print_json(json_pack("{s:s, s:s, s:s, s:s}", "name", name, "grid", entry.grid,
                                  "inviter", entry.inviter, "owner", owner_word(entry.owner)));
    else
        printf("This desktop is %s of grid '%s' now, let in by %s.\n%s\nStart its daemon: p2pd "
               "--detach\n",
               name, entry.grid, entry.inviter, as_whom(entry.owner));
    entry_free(&entry);
    return TOOL_OK;
}
