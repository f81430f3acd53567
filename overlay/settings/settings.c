/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c -- p2pd.conf, parsed by libconfuse, checked here. */
#include "settings.h"
#include "overlay/base/size.h"
#include "overlay/base/addr.h"
#include "overlay/base/confinement.h"
#include "overlay/base/log.h"
#include "terms.h"
#include <confuse.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libconfuse passes no pointer to its error function, so an option with a name that no file can
 * have holds it. */
static const char errors[] = " ";

static void settings_note_error(cfg_t *cfg, const char *format, va_list args)
{
    struct err *e = (struct err *)(void *)cfg_getstr(cfg, errors);
    char what[256];
    vsnprintf(what, sizeof what, format, args);
    err_set(e, EINVAL, "%s, line %d: %s", cfg->filename, cfg->line, what);
}

static const char *home_folder(void)
{
    const char *dir = getenv("HOME");
    if (dir != NULL && *dir == '/')
        return dir;
    const struct passwd *user = getpwuid(getuid());
    return user != NULL ? user->pw_dir : NULL;
}

static int set_path(char out[SETTINGS_PATH + 1], const char *base, const char *rest, struct err *e)
{
    if (snprintf(out, SETTINGS_PATH + 1, "%s%s", base, rest) > SETTINGS_PATH)
        return err_set(e, ENAMETOOLONG, "%s%s: too long a path", base, rest);
    return 0;
}

int settings_default(struct settings *s, struct err *e)
{
    const char *dir = home_folder();
    if (dir == NULL)
        return err_set(e, ENOENT, "no home folder: set HOME");
    memset(s, 0, sizeof *s);
    snprintf(s->listen, sizeof s->listen, "*:%d", SETTINGS_PORT);
    s->log_level = LOG_LEVEL_INFO;
    strcpy(s->cores, "all");
    s->nice = 10;
    s->processes = 512;
    s->unused_minutes = 60;
    s->share_minutes = 8 * 60;
    s->open_files = 1024;
    s->confinement = CONFINE_USUAL;
    terms_default(s);
    int rc = set_path(s->keys, dir, "/.config/p2pgrid/keys", e);
    if (rc == 0)
        rc = set_path(s->authority, dir, "/.config/p2pgrid/authority", e);
    if (rc == 0)
        rc = set_path(s->state, dir, "/.local/state/p2pgrid", e);
    if (rc == 0)
        rc = set_path(s->work, dir, "/.local/state/p2pgrid/work", e);
    const char *cache = getenv("XDG_CACHE_HOME");
    if (rc == 0)
        rc = cache != NULL && cache[0] == '/' ? set_path(s->cache, cache, "/p2pgrid", e)
                                              : set_path(s->cache, dir, "/.cache/p2pgrid", e);
    s->cache_size = 8ull << 30;
    return rc;
}

static int set_text(char *out, size_t size, cfg_t *cfg, const char *name, struct err *e)
{
    const char *value = cfg_getstr(cfg, name);
    if (value == NULL)
        return 0;
    if (strlen(value) >= size)
        return err_set(e, EINVAL, "%s: %s: longer than %zu characters", cfg->filename, name,
                       size - 1);
    strcpy(out, value);
    return 0;
}

static int set_folder_to(char out[SETTINGS_PATH + 1], const char *value, const cfg_t *cfg,
                         const char *name, struct err *e)
{
    if (value[0] == '~' && value[1] == '/' && home_folder() != NULL)
        return set_path(out, home_folder(), value + 1, e);
    if (value[0] != '/')
        return err_set(e, EINVAL, "%s: %s = '%s': must begin with / or ~/", cfg->filename, name,
                       value);
    return set_path(out, value, "", e);
}

static int set_folder(char out[SETTINGS_PATH + 1], cfg_t *cfg, const char *name, struct err *e)
{
    const char *value = cfg_getstr(cfg, name);
    return value == NULL ? 0 : set_folder_to(out, value, cfg, name, e);
}

static int set_readable(struct settings *s, cfg_t *cfg, struct err *e)
{
    unsigned n = cfg_size(cfg, "readable");
    int rc = 0;
    if (n > SETTINGS_READABLE)
        return err_set(e, EINVAL, "%s: readable: more than %d folders", cfg->filename,
                       SETTINGS_READABLE);
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = set_folder_to(s->readable[i], cfg_getnstr(cfg, "readable", i), cfg, "readable", e);
    s->readable_count = n;
    return rc;
}

/* An empty list: guests are admitted however little can be enforced. */
static int set_confinement(struct settings *s, cfg_t *cfg, struct err *e)
{
    cfg_opt_t *option = cfg_getopt(cfg, "confinement");
    if (option == NULL || !(option->flags & CFGF_MODIFIED))
        return 0;
    s->confinement = 0;
    for (unsigned i = 0; i < cfg_size(cfg, "confinement"); i++) {
        const char *word = cfg_getnstr(cfg, "confinement", i);
        unsigned bit;
        if (!confinement_bit(word, &bit))
            return err_set(e, EINVAL,
                           "%s: confinement: '%s' is none of limits, syscalls, files, tcp, "
                           "signals, sockets, peers, cgroup",
                           cfg->filename, word);
        s->confinement |= bit;
    }
    return 0;
}

static int set_cores(struct settings *s, cfg_t *cfg, struct err *e)
{
    const char *value = cfg_getstr(cfg, "cores");
    if (value != NULL && !core_list_is_valid(value))
        return err_set(e, EINVAL, "%s: cores = '%s': must be all, none, or a list such as 2-7,12",
                       cfg->filename, value);
    return set_text(s->cores, sizeof s->cores, cfg, "cores", e);
}

static int set_bytes(uint64_t *out, cfg_t *cfg, const char *name, struct err *e)
{
    const char *value = cfg_getstr(cfg, name);
    if (value != NULL && !size_parse(out, value))
        return err_set(e, EINVAL, "%s: %s = '%s' is no size: write 512M or 4G", cfg->filename, name,
                       value);
    return 0;
}

static int set_number(unsigned *out, cfg_t *cfg, const char *name, long low, long high,
                      struct err *e)
{
    if (cfg_size(cfg, name) == 0)
        return 0;
    long value = cfg_getint(cfg, name);
    if (value < low || value > high)
        return err_set(e, EINVAL, "%s: %s = %ld: must be %ld to %ld", cfg->filename, name, value,
                       low, high);
    *out = (unsigned)value;
    return 0;
}

static int set_address(char *out, cfg_t *cfg, const char *name, const char *value, struct err *e)
{
    char host[ADDR_HOST + 1];
    uint16_t port;
    struct err why = {0};
    if (addr_split(value, SETTINGS_PORT, host, &port, &why) < 0)
        return err_set(e, EINVAL, "%s: %s: %s", cfg->filename, name, why.text);
    strcpy(out, value); /* addr_split has bounded it */
    return 0;
}

static int set_listen(struct settings *s, cfg_t *cfg, struct err *e)
{
    const char *value = cfg_getstr(cfg, "listen");
    struct addr a;
    struct err why = {0};
    if (value == NULL)
        return 0;
    if (addr_parse(&a, value, SETTINGS_PORT, &why) < 0)
        return err_set(e, EINVAL, "%s: listen: %s", cfg->filename, why.text);
    return set_address(s->listen, cfg, "listen", value, e);
}

static int set_join(struct settings *s, cfg_t *cfg, struct err *e)
{
    unsigned n = cfg_size(cfg, "join");
    if (n > SETTINGS_JOIN)
        return err_set(e, EINVAL, "%s: join: more than %d addresses", cfg->filename, SETTINGS_JOIN);
    for (unsigned i = 0; i < n; i++) {
        int rc = set_address(s->join[i], cfg, "join", cfg_getnstr(cfg, "join", i), e);
        if (rc < 0)
            return rc;
    }
    s->join_count = n;
    return 0;
}

static int set_labels(struct settings *s, cfg_t *cfg, struct err *e)
{
    unsigned n = cfg_size(cfg, "labels");
    if (n > SETTINGS_LABELS)
        return err_set(e, EINVAL, "%s: labels: more than %d", cfg->filename, SETTINGS_LABELS);
    for (unsigned i = 0; i < n; i++) {
        const char *label = cfg_getnstr(cfg, "labels", i);
        if (*label == '\0' || strlen(label) > SETTINGS_WORD)
            return err_set(e, EINVAL, "%s: labels: '%s': 1 to %d characters", cfg->filename, label,
                           SETTINGS_WORD);
        strcpy(s->labels[i], label);
    }
    s->label_count = n;
    return 0;
}

static int set_web(struct settings *s, cfg_t *cfg, struct err *e)
{
    static const char *const words[] = {[SETTINGS_WEB_ASKED] = "asked",
                                        [SETTINGS_WEB_ALWAYS] = "always",
                                        [SETTINGS_WEB_NEVER] = "never"};
    const char *value = cfg_getstr(cfg, "web");
    if (value == NULL)
        return 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(value, words[i]) == 0) {
            s->web = (enum settings_web)i;
            return 0;
        }
    }
    return err_set(e, EINVAL, "%s: web = '%s': must be asked, always or never", cfg->filename,
                   value);
}

static int set_log(struct settings *s, cfg_t *cfg, struct err *e)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    const char *value = cfg_getstr(cfg, "log");
    if (value == NULL)
        return 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(value, words[i]) == 0) {
            s->log_level = i;
            return 0;
        }
    }
    return err_set(e, EINVAL, "%s: log = '%s': must be error, warning, info or debug",
                   cfg->filename, value);
}

static int set_all(struct settings *s, cfg_t *cfg, struct err *e)
{
    s->lan = cfg_getbool(cfg, "lan") == cfg_true;
    s->pmix = cfg_getbool(cfg, "pmix") == cfg_true;
    int rc = set_text(s->site, sizeof s->site, cfg, "site", e);
    if (rc == 0)
        rc = set_labels(s, cfg, e);
    if (rc == 0)
        rc = set_listen(s, cfg, e);
    if (rc == 0 && cfg_getstr(cfg, "address") != NULL)
        rc = set_address(s->address, cfg, "address", cfg_getstr(cfg, "address"), e);
    if (rc == 0)
        rc = set_join(s, cfg, e);
    if (rc == 0)
        rc = set_folder(s->keys, cfg, "keys", e);
    if (rc == 0)
        rc = set_folder(s->authority, cfg, "authority", e);
    if (rc == 0)
        rc = set_folder(s->state, cfg, "state", e);
    if (rc == 0)
        rc = set_folder(s->work, cfg, "work", e);
    if (rc == 0)
        rc = set_folder(s->cache, cfg, "cache", e);
    if (rc == 0)
        rc = set_bytes(&s->cache_size, cfg, "cache_size", e);
    if (rc == 0)
        rc = set_text(s->socket, sizeof s->socket, cfg, "socket", e);
    if (rc == 0)
        rc = set_cores(s, cfg, e);
    if (rc == 0)
        rc = set_number(&s->slots, cfg, "slots", 0, SETTINGS_SLOTS, e);
    if (rc == 0)
        rc = set_number(&s->slots_each, cfg, "slots_each", 1, SETTINGS_SLOTS, e);
    if (rc == 0)
        rc = set_number(&s->share_minutes, cfg, "share_minutes", 0, 7 * 24 * 60, e);
    if (rc == 0)
        rc = set_number(&s->unused_minutes, cfg, "unused_minutes", 1, 7 * 24 * 60, e);
    if (rc == 0)
        rc = set_bytes(&s->memory, cfg, "memory", e);
    if (rc == 0)
        rc = set_bytes(&s->disk, cfg, "disk", e);
    if (rc == 0)
        rc = set_number(&s->nice, cfg, "nice", 0, 19, e);
    if (rc == 0)
        rc = set_number(&s->processes, cfg, "processes", 16, 1000000, e);
    if (rc == 0)
        rc = set_number(&s->open_files, cfg, "open_files", 64, 1000000, e);
    if (rc == 0)
        rc = set_readable(s, cfg, e);
    if (rc == 0)
        rc = set_confinement(s, cfg, e);
    if (rc == 0)
        rc = set_web(s, cfg, e);
    if (rc == 0)
        rc = set_number(&s->web_port, cfg, "web_port", 0, 65535, e);
    if (rc == 0)
        rc = terms_set(s, cfg, e);
    return rc < 0 ? rc : set_log(s, cfg, e);
}

/* How the parser ended: *fresh is filled in, or why not. */
static int settings_end(struct settings *fresh, cfg_t *cfg, int parsed, const struct err *why,
                        struct err *e)
{
    if (parsed == CFG_SUCCESS)
        return set_all(fresh, cfg, e);
    return err_set(e, EINVAL, "%s", why->code != 0 ? why->text : cfg->filename);
}

/* `name` is for the error, which has the line, too. */
static int settings_parse(struct settings *fresh, FILE *from, const char *name, struct err *e)
{
    struct err why = {0};
    char *why_text = (char *)&why;
    cfg_opt_t options[] = {
        CFG_STR("site", NULL, CFGF_NODEFAULT),
        CFG_STR_LIST("labels", NULL, CFGF_NONE),
        CFG_STR("listen", NULL, CFGF_NODEFAULT),
        CFG_STR("address", NULL, CFGF_NODEFAULT),
        CFG_STR_LIST("join", NULL, CFGF_NONE),
        CFG_STR("keys", NULL, CFGF_NODEFAULT),
        CFG_STR("authority", NULL, CFGF_NODEFAULT),
        CFG_STR("state", NULL, CFGF_NODEFAULT),
        CFG_STR("work", NULL, CFGF_NODEFAULT),
        CFG_STR("cache", NULL, CFGF_NODEFAULT),
        CFG_STR("cache_size", NULL, CFGF_NODEFAULT),
        CFG_STR("socket", NULL, CFGF_NODEFAULT),
        CFG_STR("web", NULL, CFGF_NODEFAULT),
        CFG_INT("web_port", 0, CFGF_NODEFAULT),
        TERMS_OPTIONS,
        LIMITS_OPTIONS,
        CFG_STR("log", NULL, CFGF_NODEFAULT),
        CFG_BOOL("lan", cfg_false, CFGF_NONE),
        CFG_BOOL("pmix", cfg_false, CFGF_NONE),
        CFG_SIMPLE_STR(errors, &why_text),
        CFG_END(),
    };
    cfg_t *cfg = cfg_init(options, CFGF_NONE);
    if (cfg == NULL)
        return err_set(e, ENOMEM, "no memory");
    cfg_set_error_function(cfg, settings_note_error);
    cfg->filename = strdup(name);
    const int rc = cfg->filename != NULL
                       ? settings_end(fresh, cfg, cfg_parse_fp(cfg, from), &why, e)
                       : err_set(e, ENOMEM, "no memory");
    why_text = NULL; /* or cfg_free would free it */
    cfg_free(cfg);
    return rc;
}

/* A file that is given with -c may be named from the folder in which p2pd was started. */
static int settings_find(struct settings *s, const char *path, struct err *e)
{
    char here[SETTINGS_PATH + 1];
    if (path == NULL)
        return set_path(s->file, home_folder(), "/.config/p2pgrid/p2pd.conf", e);
    if (path[0] == '/')
        return set_path(s->file, path, "", e);
    if (getcwd(here, sizeof here - 1) == NULL)
        return err_set(e, errno, "%s: where it is: %s", path, strerror(errno));
    strcat(here, "/");
    return set_path(s->file, here, path, e);
}

int settings_read(struct settings *s, const char *path, struct err *e)
{
    struct settings fresh;
    int rc = settings_default(&fresh, e);
    if (rc == 0)
        rc = settings_find(&fresh, path, e);
    if (rc < 0)
        return rc;
    FILE *f = fopen(path != NULL ? path : fresh.file, "re");
    if (f != NULL)
        rc = settings_parse(&fresh, f, path != NULL ? path : fresh.file, e);
    else if (path != NULL || errno != ENOENT)
        rc = err_set(e, errno, "%s: %s", path != NULL ? path : fresh.file, strerror(errno));
    if (f != NULL)
        fclose(f);
    if (rc == 0)
        *s = fresh;
    return rc;
}

int settings_read_text(struct settings *s, const char *text, const char *name, struct err *e)
{
    struct settings fresh;
    int rc = settings_default(&fresh, e);
    if (rc < 0)
        return rc;
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "re");
    if (f == NULL)
        return err_set(e, errno, "%s: %s", name, strerror(errno));
    rc = settings_parse(&fresh, f, name, e);
    fclose(f);
    if (rc == 0)
        *s = fresh;
    return rc;
}
