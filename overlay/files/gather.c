/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c -- programs first, then what the command line or the user names, then the whole folder
 * as far as it is small enough. */
#include "gather.h"
#include "binaries.h"
#include "gather_state.h"
#include "libraries.h"
#include "secret.h"
#include "overlay/base/beneath.h"
#include "overlay/manifest/program.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    IGNORE_MOST = 64 * 1024, /* bytes of .p2pignore */
    INPUTS_MOST = 1024,      /* items of a list */
    SCRIPT_LINE = 255,
    SCRIPTS = 4, /* a script's interpreter that is a script ... */
};

/* --- names --- */

bool gather_normal(const char *cwd, const char *name, char *out, size_t size)
{
    char joined[2 * PATH_MAX], *rest = NULL;
    size_t at = 0;
    if (size == 0 || snprintf(joined, sizeof joined, "%s/%s", name[0] == '/' ? "" : cwd, name) >=
                         (int)sizeof joined)
        return false;
    out[0] = '\0';
    for (char *part = strtok_r(joined, "/", &rest); part != NULL;
         part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            char *slash = strrchr(out, '/');
            at = slash != NULL ? (size_t)(slash - out) : 0;
            out[at] = '\0';
            continue;
        }
        const int n = snprintf(out + at, size - at, "/%s", part);
        if ((size_t)n >= size - at)
            return false;
        at += (size_t)n;
    }
    return at > 0 || snprintf(out, size, "/") < (int)size;
}

static bool is_below(const char *path, const char *folder)
{
    return path_beneath(path, folder) != NULL;
}

void gather_common(const char *const *folders, size_t count, char *out, size_t size)
{
    snprintf(out, size, "%s", count > 0 ? folders[0] : "");
    for (size_t i = 1; i < count; i++)
        while (out[0] != '\0' && !is_below(folders[i], out))
            *strrchr(out, '/') = '\0';
    if (strcmp(out, "/") == 0)
        out[0] = '\0';
}

enum gather_folder gather_judge(const char *folder, const char *home)
{
    static const char *const system[] = {"/usr", "/lib",  "/lib32", "/lib64", "/bin", "/sbin",
                                         "/etc", "/proc", "/sys",   "/dev",   "/run", "/boot"};
    struct stat st;
    if (folder[0] != '/' || folder[1] == '\0' || stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return GATHER_NONE;
    for (size_t i = 0; i < sizeof system / sizeof system[0]; i++)
        if (is_below(folder, system[i]))
            return GATHER_NONE;
    if (home != NULL && home[0] == '/' &&
        (is_below(home, folder) || (is_below(folder, home) && folder[strlen(home) + 1] == '.')))
        return GATHER_NAMED;
    return (st.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) ? GATHER_NAMED : GATHER_WHOLE;
}

/* Of a path: does one of its names look like a secret's? */
static bool is_secret(const struct gather *g, const char *absolute)
{
    char copy[PATH_MAX], *rest = NULL;
    const char *beneath = gather_beneath(g, absolute);
    snprintf(copy, sizeof copy, "%s", beneath != NULL ? beneath : absolute);
    for (char *part = strtok_r(copy, "/", &rest); part != NULL; part = strtok_r(NULL, "/", &rest))
        if (secret_by_name(part))
            return true;
    return false;
}

/* What a file cannot be had for is no fault of the job's; memory and bounds are. */
static int unless_broken(int rc)
{
    return rc == -E2BIG || rc == -ENOMEM || rc == -EFBIG ? rc : 0;
}

/* --- folders --- */

/* As much of a folder as the limit allows, or nothing of it. */
static int add_folder(struct gather *g, const char *beneath)
{
    const size_t before = g->out->list.count;
    char absolute[PATH_MAX];
    if (snprintf(absolute, sizeof absolute, "%s/%s", g->order->folder, beneath) >=
        (int)sizeof absolute)
        return 0;
    g->bounded = true;
    g->limit = g->order->limit;
    int rc = gather_name(g, absolute);
    g->bounded = false;
    if (rc == -EFBIG || rc == -E2BIG) {
        gathered_cut(&g->out->list, before);
        rc = 0;
    }
    return unless_broken(rc);
}

/* --- interpreters with folders of their own --- */

static void note_large(struct gather *g, const char *path)
{
    if (g->out->large[0] == '\0' && !program_is_of_system(path))
        snprintf(g->out->large, sizeof g->out->large, "%.255s", path);
}

/* A folder elsewhere, as a whole, or not at all if it is larger than the limit by itself. */
static int add_elsewhere(struct gather *g, const char *absolute)
{
    const size_t before = g->out->list.count;
    g->bounded = true;
    g->limit = g->out->list.bytes + g->order->limit;
    int rc = gather_outside(g, absolute);
    g->bounded = false;
    if (rc == -EFBIG || rc == -E2BIG) {
        gathered_cut(&g->out->list, before);
        note_large(g, absolute);
        rc = 0;
    }
    return unless_broken(rc);
}

static int add_tree(struct gather *g, const char *absolute)
{
    const char *beneath = gather_beneath(g, absolute);
    for (size_t i = 0; i < g->tree_count; i++)
        if (strcmp(g->tree[i], absolute) == 0)
            return 0;
    if (g->tree_count == GATHER_TREES || strlen(absolute) >= sizeof g->tree[0])
        return 0;
    strcpy(g->tree[g->tree_count++], absolute);
    return beneath == NULL    ? add_elsewhere(g, absolute)
           : *beneath != '\0' ? add_folder(g, beneath)
                              : 0;
}

int gather_tree(struct gather *g, const char *absolute, bool environment, bool *came)
{
    const size_t before = g->out->list.count;
    g->environment = environment;
    const int rc = add_tree(g, absolute);
    g->environment = false;
    *came = g->out->list.count > before;
    return rc;
}

static int add_environment_tree(struct gather *g, const char *absolute)
{
    bool came;
    return gather_tree(g, absolute, true, &came);
}

/* A Python with its own modules, as pyenv makes it. */
static bool is_python_of_its_own(const char *program, const char *top)
{
    char name[GATHER_PYTHON], mark[PATH_MAX + 64];
    if (program_is_of_system(program) || !gather_python_name(program, name))
        return false;
    snprintf(mark, sizeof mark, "%s/lib/%s/os.py", top, name);
    return access(mark, F_OK) == 0;
}

/* "home = /opt/python/bin" of pyvenv.cfg: the Python that an environment was made with. */
static bool read_home(const char *path, char home[PATH_MAX])
{
    char line[PATH_MAX + 16];
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
        found = sscanf(line, " home = %4095[^\n]", home) == 1;
    if (f != NULL)
        fclose(f);
    return found && home[0] == '/';
}

/* The folder above the one that a program is in, if it is an environment of Python's or conda's:
 * what the program loads from there is named nowhere. */
static int add_environment(struct gather *g, const char *program)
{
    char top[PATH_MAX], mark[PATH_MAX + 16], home[PATH_MAX];
    if (!gather_normal("/", program, top, sizeof top))
        return 0;
    for (int i = 0; i < 2 && top[0] != '\0'; i++)
        *strrchr(top, '/') = '\0';
    snprintf(mark, sizeof mark, "%s/conda-meta", top);
    if (top[0] == '\0')
        return 0;
    if (access(mark, F_OK) == 0 || is_python_of_its_own(program, top))
        return add_environment_tree(g, top);
    snprintf(mark, sizeof mark, "%s/pyvenv.cfg", top);
    if (access(mark, F_OK) != 0)
        return 0;
    int rc = add_environment_tree(g, top);
    if (rc == 0 && read_home(mark, home) && !program_is_of_system(home)) {
        char *slash = strrchr(home, '/');
        *slash = '\0';
        rc = home[0] != '\0' ? add_environment_tree(g, home) : 0;
    }
    return rc;
}

/* --- programs --- */

static int add_program(struct gather *g, const struct gather_app *app, const char *path,
                       unsigned scripts);

static int add_libraries(struct gather *g, const char *path, const char *library_path)
{
    struct libraries libraries;
    char normal[PATH_MAX];
    int rc = libraries_find(&libraries, path, library_path);
    for (size_t i = 0; i < libraries.count && rc == 0; i++)
        if (gather_normal("/", libraries.path[i], normal, sizeof normal))
            rc = unless_broken(gather_name(g, normal));
    g->out->by_variable |= libraries.by_variable;
    libraries_clear(&libraries);
    return unless_broken(rc);
}

/* "#!/opt/x/python -u" or "#!/usr/bin/env python": what the kernel would execute, and what env
 * would. False: it is no script. */
static bool read_interpreter(const char *path, char name[SCRIPT_LINE + 1])
{
    char line[SCRIPT_LINE + 1], *rest = NULL;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n < 3 || memcmp(line, "#!", 2) != 0)
        return false;
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *word = strtok_r(line + 2, " \t", &rest);
    if (word == NULL)
        return false;
    const char *base = strrchr(word, '/');
    if (strcmp(base != NULL ? base + 1 : word, "env") == 0)
        do
            word = strtok_r(NULL, " \t", &rest);
        while (word != NULL && (word[0] == '-' || strchr(word, '=') != NULL));
    if (word == NULL)
        return false;
    strcpy(name, word);
    return true;
}

static int add_interpreter(struct gather *g, const struct gather_app *app, const char *path,
                           unsigned scripts)
{
    char name[SCRIPT_LINE + 1], found[PROGRAM_PATH + 1];
    if (scripts == SCRIPTS || !read_interpreter(path, name) ||
        program_find(found, name, app->cwd, g->order->search) != 0)
        return 0;
    int rc = add_environment(g, found);
    if (rc == 0)
        rc = gather_python(g, app, found);
    return rc != 0 || program_is_of_system(found) ? rc : add_program(g, app, found, scripts + 1);
}

static int add_program(struct gather *g, const struct gather_app *app, const char *path,
                       unsigned scripts)
{
    char normal[PATH_MAX];
    int rc =
        gather_normal("/", path, normal, sizeof normal) ? unless_broken(gather_name(g, normal)) : 0;
    if (rc == 0)
        rc = add_libraries(g, path, app->library_path);
    return rc == 0 ? add_interpreter(g, app, path, scripts) : rc;
}

static int add_app(struct gather *g, const struct gather_app *app)
{
    char path[PROGRAM_PATH + 1];
    if (program_find(path, app->program, app->cwd, g->order->search) != 0)
        return 0; /* it is missing there as it is here */
    int rc = add_environment(g, path);
    if (rc == 0)
        rc = gather_python(g, app, path);
    return rc != 0 || program_is_of_system(path) ? rc : add_program(g, app, path, 0);
}

static int add_builds(struct gather *g)
{
    const struct binaries *b = g->order->builds;
    int rc = 0;
    for (size_t i = 0; b != NULL && i < b->count && rc == 0; i++)
        rc = add_program(g, &g->order->apps[0], b->at[i].path, 0);
    return rc;
}

int gather_link(const char *folder, const struct gather_app *app, const char *search,
                const char *build, char *link, char *target, struct err *e)
{
    char named[PROGRAM_PATH + 1], program[PATH_MAX], file[PATH_MAX];
    const size_t length = strlen(folder);
    link[0] = '\0';
    if (program_find(named, app->program, app->cwd, search) != 0)
        snprintf(named, sizeof named, "%s/%s", app->cwd, app->program);
    if (!gather_normal("/", named, program, sizeof program) ||
        !gather_normal("/", build, file, sizeof file) || !is_below(program, folder) ||
        !is_below(file, folder))
        return err_set(e, EINVAL,
                       "p2p_files_binaries: %s and %s must both be in the job's folder, %s", named,
                       build, folder);
    if (strcmp(program, file) == 0)
        return 0;
    snprintf(link, PATH_MAX, "%s", program + length + 1);
    snprintf(target, PATH_MAX, "%s", file); /* it is at the same path there */
    return 0;
}

/* --- what the command line names --- */

static int add_word_file(struct gather *g, const struct gather_app *app, const char *path,
                         const struct stat *st)
{
    const bool large = gather_beneath(g, path) == NULL && (uint64_t)st->st_size > g->order->limit;
    if (is_secret(g, path)) {
        if (g->out->secret[0] == '\0')
            snprintf(g->out->secret, sizeof g->out->secret, "%.255s", path);
        return 0;
    }
    if (large) {
        note_large(g, path);
        return 0;
    }
    const int rc = (st->st_mode & 0111) != 0 ? add_environment(g, path) : 0;
    if (rc != 0)
        return rc;
    if ((st->st_mode & 0111) != 0 && !program_is_of_system(path))
        return add_program(g, app, path, 0);
    return unless_broken(gather_name(g, path));
}

/* A word that is the name of something here, or ends with one after a '='. */
static int add_word(struct gather *g, const struct gather_app *app, const char *word)
{
    char path[PATH_MAX];
    struct stat st;
    const char *equals = strchr(word, '=');
    if (word[0] == '\0' || strlen(word) >= PATH_MAX ||
        !gather_normal(app->cwd, word, path, sizeof path) || stat(path, &st) != 0)
        return equals != NULL ? add_word(g, app, equals + 1) : 0;
    if (S_ISREG(st.st_mode))
        return add_word_file(g, app, path, &st);
    return S_ISDIR(st.st_mode) && !is_secret(g, path) ? add_tree(g, path) : 0;
}

static int add_words(struct gather *g)
{
    int rc = 0;
    for (size_t i = 0; i < g->order->app_count; i++) {
        const struct gather_app *app = &g->order->apps[i];
        for (char *const *word = app->words; word != NULL && *word != NULL && rc == 0; word++)
            if (word != app->words)
                rc = add_word(g, app, *word);
    }
    return rc;
}

/* --- what the user names --- */

static bool is_pattern(const char *item)
{
    return strpbrk(item, "*?[") != NULL;
}

/* One file or folder by its name: exactly that, also where it looks like a secret. */
static int add_item(struct gather *g, const char *item, struct err *e)
{
    char path[PATH_MAX];
    const char *cwd = g->order->app_count > 0 ? g->order->apps[0].cwd : g->order->folder;
    g->environment = true; /* it is asked for: hidden or not */
    int rc = gather_normal(cwd, item, path, sizeof path) ? gather_name(g, path) : -ENAMETOOLONG;
    g->environment = false;
    if (rc == 0 && is_below(g->out->large, path))
        g->out->large[0] = '\0'; /* it came after all */
    if (rc == 0 || rc == -E2BIG || rc == -ENOMEM)
        return rc;
    if (rc == -EPERM)
        return err_set(e, EPERM,
                       "%s: %s cannot travel: it is no file or folder of yours, or one of the "
                       "system's",
                       g->asked, path);
    return err_set(e, -rc, "%s: %s: %s", g->asked, path, strerror(-rc));
}

static char **split(char *list)
{
    char **items = calloc(INPUTS_MOST + 1, sizeof *items), *rest = NULL;
    size_t count = 0;
    for (char *item = items != NULL ? strtok_r(list, ",", &rest) : NULL;
         item != NULL && count < INPUTS_MOST; item = strtok_r(NULL, ",", &rest)) {
        item += strspn(item, " ");
        size_t length = strlen(item);
        while (length > 1 && (item[length - 1] == ' ' || item[length - 1] == '/'))
            item[--length] = '\0';
        if (item[0] == '.' && item[1] == '/')
            item += 2;
        if (*item != '\0')
            items[count++] = item;
    }
    return items;
}

/* Names one by one, then one walk for all that have wildcards. */
static int add_items(struct gather *g, char **items, struct err *e)
{
    size_t patterns = 0;
    int rc = 0;
    for (size_t i = 0; items[i] != NULL && rc == 0; i++)
        if (is_pattern(items[i]))
            items[patterns++] = items[i];
        else
            rc = add_item(g, items[i], e);
    items[patterns] = NULL;
    if (rc != 0 || patterns == 0)
        return rc;
    g->pattern = items;
    g->used = calloc(patterns, sizeof g->used[0]);
    rc = g->used != NULL ? gather_walk(g, "", false) : -ENOMEM;
    for (size_t i = 0; i < patterns && rc == 0; i++)
        if (!g->used[i])
            rc = err_set(e, ENOENT, "%s: '%s' matches nothing in %s", g->asked, items[i],
                         g->order->folder);
    free(g->used);
    g->used = NULL;
    g->pattern = NULL;
    return rc;
}

static int add_list(struct gather *g, const char *asked, const char *list, struct err *e)
{
    g->asked = asked;
    char *copy = strdup(list != NULL ? list : ""), **items = copy != NULL ? split(copy) : NULL;
    const int rc = items != NULL ? add_items(g, items, e) : -ENOMEM;
    free(items);
    free(copy);
    return rc;
}

/* --- the folder --- */

static int read_ignore(struct gather *g, struct err *e)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/.p2pignore", g->order->folder) >= (int)sizeof path)
        return 0;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    g->ignore_text = calloc(1, IGNORE_MOST + 1);
    const ssize_t n = g->ignore_text != NULL ? read(fd, g->ignore_text, IGNORE_MOST + 1) : -1;
    close(fd);
    if (n > IGNORE_MOST)
        return err_set(e, EFBIG, "%s is longer than 64 KiB", path);
    if (n < 0)
        return g->ignore_text != NULL ? 0 : -ENOMEM;
    const int rc = pattern_rules(&g->ignore, g->ignore_text);
    return rc == -E2BIG ? err_set(e, E2BIG, "%s has more than %d rules", path, PATTERN_RULES) : rc;
}

static int add_whole(struct gather *g)
{
    const size_t before = g->out->list.count;
    g->bounded = true;
    g->limit = g->order->limit;
    int rc = gather_walk(g, "", true);
    g->bounded = false;
    if (rc == -EFBIG || rc == -E2BIG) {
        gathered_cut(&g->out->list, before);
        g->out->over = true;
        rc = 0;
    }
    return unless_broken(rc);
}

static int gather_all(struct gather *g, struct err *e)
{
    const struct gather_order *o = g->order;
    const enum gather_folder kind = gather_judge(o->folder, o->home);
    int rc = kind != GATHER_NONE ? read_ignore(g, e) : 0;
    for (size_t i = 0; i < o->app_count && rc == 0; i++)
        rc = add_app(g, &o->apps[i]);
    if (rc == 0)
        rc = add_builds(g);
    if (rc == 0)
        rc = add_list(g, "the job's files", o->preload, e);
    if (rc == 0 && o->input != NULL)
        return add_list(g, "p2p_files_input", o->input, e);
    if (rc == 0)
        rc = add_words(g);
    g->out->named = (unsigned)g->out->list.count;
    return rc == 0 && kind == GATHER_WHOLE ? add_whole(g) : rc;
}

int gather(struct gathering *out, const struct gather_order *order, struct err *e)
{
    struct gather g = {.order = order, .out = out};
    *out = (struct gathering){0};
    int rc = gather_all(&g, e);
    if (rc == 0)
        rc = gathered_close(&out->list, order->folder);
    free(g.ignore_text);
    free(g.ignore.rule);
    if (rc == -E2BIG)
        return err_set(e, E2BIG, "more than %d files are to travel", GATHERED_MOST);
    return rc != 0 ? err_set(e, -rc, "the job's files: %s", strerror(-rc)) : 0;
}

void gathering_clear(struct gathering *g)
{
    gathered_clear(&g->list);
    *g = (struct gathering){0};
}
