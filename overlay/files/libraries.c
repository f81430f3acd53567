/* SPDX-License-Identifier: BSD-3-Clause */
/* libraries.c -- a queue of files; each names libraries, and who loaded it. What is found in one of
 * the system's folders, or by the dynamic linker's defaults, is each peer's own. */
#include "libraries.h"
#include "overlay/manifest/program.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct object {
    char *path;
    int loader; /* in the queue; -1: none */
    bool has_runpath;
    char *rpath;
};

struct search {
    struct object object[LIBRARIES_MOST];
    int count;
    const char *library_path;
    bool by_variable;
    struct library_needs needs;
    struct elf elf; /* that is being read, and the one of a candidate */
    struct elf candidate;
};

static bool read_elf(struct elf *elf, const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && elf_read(elf, fd);
    if (fd >= 0)
        close(fd);
    return is;
}

/* The folder that $ORIGIN stands for: a program's own, after links; a library's where it was found.
 */
static void origin_of(const struct object *o, char out[PATH_MAX])
{
    if (o->loader >= 0 || realpath(o->path, out) == NULL)
        snprintf(out, PATH_MAX, "%s", o->path);
    char *slash = strrchr(out, '/');
    if (slash != NULL)
        *slash = '\0';
}

/* One folder of a search path, its variables filled in; false: it cannot be used. */
static bool expand(const struct object *o, const char *word, size_t length, char out[PATH_MAX])
{
    char origin[PATH_MAX];
    size_t at = 0;
    origin_of(o, origin);
    for (size_t i = 0; i < length && at < PATH_MAX - 1;) {
        const bool braced = strncmp(word + i, "${ORIGIN}", 9) == 0;
        if (braced || strncmp(word + i, "$ORIGIN", 7) == 0) {
            at += (size_t)snprintf(out + at, PATH_MAX - at, "%s", origin);
            i += braced ? 9 : 7;
        } else if (word[i] == '$') {
            return false; /* $LIB and $PLATFORM are for the system's own libraries */
        } else {
            out[at++] = word[i++];
        }
    }
    if (at >= PATH_MAX)
        return false;
    out[at] = '\0';
    return out[0] == '/';
}

/* Is there a library of the same machine in one of these folders? */
static bool find_in(struct search *s, const struct object *o, const char *folders, const char *name,
                    char out[PATH_MAX])
{
    char folder[PATH_MAX];
    for (const char *at = folders, *end; at != NULL && *at != '\0';
         at = *end != '\0' ? end + 1 : NULL) {
        end = at + strcspn(at, ":;");
        if (expand(o, at, (size_t)(end - at), folder) &&
            snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX &&
            read_elf(&s->candidate, out) && strcmp(s->candidate.machine, s->needs.machine) == 0)
            return true;
    }
    return false;
}

/* RPATH of the object and of those that loaded it, unless one has RUNPATH; LD_LIBRARY_PATH;
 * RUNPATH. */
static bool find_library(struct search *s, int i, const char *runpath, const char *name,
                         char out[PATH_MAX])
{
    if (strchr(name, '/') != NULL)
        return name[0] == '/' && snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
    if (!s->object[i].has_runpath)
        for (int k = i; k >= 0; k = s->object[k].loader)
            if (!s->object[k].has_runpath &&
                find_in(s, &s->object[k], s->object[k].rpath, name, out))
                return true;
    if (find_in(s, &s->object[i], s->library_path, name, out)) {
        s->by_variable |= !program_is_of_system(out);
        return true;
    }
    return find_in(s, &s->object[i], runpath, name, out);
}

static int add_object(struct search *s, const char *path, int loader)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->object[i].path, path) == 0)
            return 0;
    if (s->count == LIBRARIES_MOST)
        return -E2BIG;
    char *copy = strdup(path);
    if (copy == NULL)
        return -ENOMEM;
    s->object[s->count++] = (struct object){.path = copy, .loader = loader};
    return 0;
}

/* Open MPI's and MPICH's; `travels`: where it is, if it is not the system's. */
static void note_mpi(struct search *s, const char *name, const char *travels)
{
    char real[PATH_MAX];
    if ((strncmp(name, "libmpi.so.", 10) != 0 && strncmp(name, "libmpich.so.", 12) != 0) ||
        s->needs.mpi[0] != '\0')
        return;
    snprintf(s->needs.mpi, sizeof s->needs.mpi, "%s", name);
    if (travels != NULL && realpath(travels, real) != NULL)
        snprintf(s->needs.mpi_file, sizeof s->needs.mpi_file, "%s", strrchr(real, '/') + 1);
}

/* A peer's ad tells of its glibc and of its Open MPI, which may be in a folder of its own. */
static bool is_told(const char *name)
{
    static const char *const told[] = {
        "libc.so.", "libm.so.", "libpthread.so.",  "libdl.so.",   "librt.so.",   "libutil.so.",
        "ld-linux", "libmpi",   "libopen-rte.so.", "libopen-pal", "libmpich.so."};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (strncmp(name, told[i], strlen(told[i])) == 0)
            return true;
    return false;
}

/* A library of the system: `found` is where, or NULL: where the linker looks by itself. */
static void note_system(struct search *s, const struct elf *elf, const char *name,
                        const char *found)
{
    const char *at = found != NULL && program_lies_in_system(found) ? found : name;
    if (is_told(name))
        return;
    needs_add(&s->needs.system, at, NULL);
    for (unsigned i = 0; i < elf->symbols_count; i++)
        if (strcmp(elf->symbols[i].library, name) == 0)
            needs_add(&s->needs.system, at, elf->symbols[i].version);
}

/* One of the libraries that the i-th object names: it is one more object, or the system's. */
static int take_library(struct search *s, int i, const struct elf *elf, const char *name)
{
    char found[PATH_MAX];
    const bool is_found = find_library(s, i, elf->runpath, name, found);
    const bool travels = is_found && !program_is_of_system(found);
    note_mpi(s, name, travels ? found : NULL);
    if (travels)
        return add_object(s, found, i);
    note_system(s, elf, name, is_found ? found : NULL);
    return 0;
}

static int read_object(struct search *s, int i)
{
    struct object *o = &s->object[i];
    struct elf *elf = &s->elf;
    if (!read_elf(elf, o->path))
        return i == 0 ? -ENOEXEC : 0;
    if (i == 0) {
        memcpy(s->needs.machine, elf->machine, sizeof s->needs.machine);
        memcpy(s->needs.interpreter, elf->interpreter, sizeof s->needs.interpreter);
        needs_add(&s->needs.system, elf->interpreter, NULL);
    }
    if (elf_is_older(s->needs.glibc, elf->glibc))
        memcpy(s->needs.glibc, elf->glibc, sizeof s->needs.glibc);
    o->has_runpath = elf->runpath[0] != '\0';
    if ((o->rpath = strdup(elf->rpath)) == NULL)
        return -ENOMEM;
    int rc = 0;
    for (unsigned k = 0; k < elf->needed_count && rc == 0; k++)
        rc = take_library(s, i, elf, elf->needed[k]);
    return rc;
}

static void search_free(struct search *s)
{
    for (int i = 0; s != NULL && i < s->count; i++) {
        free(s->object[i].path);
        free(s->object[i].rpath);
    }
    free(s);
}

static int search_run(struct search **out, const char *path, const char *library_path)
{
    struct search *s = *out = calloc(1, sizeof *s);
    if (s == NULL)
        return -ENOMEM;
    s->library_path = library_path;
    int rc = add_object(s, path, -1);
    for (int i = 0; i < s->count && rc == 0; i++)
        rc = read_object(s, i);
    return rc;
}

int libraries_find(struct libraries *out, const char *path, const char *library_path)
{
    struct search *s;
    *out = (struct libraries){0};
    int rc = search_run(&s, path, library_path);
    if (rc == 0 && (out->path = calloc((size_t)s->count, sizeof out->path[0])) == NULL)
        rc = -ENOMEM;
    for (int i = 1; rc == 0 && i < s->count; i++) {
        out->path[out->count++] = s->object[i].path;
        s->object[i].path = NULL;
    }
    if (rc == 0)
        out->by_variable = s->by_variable;
    search_free(s);
    return rc;
}

void libraries_clear(struct libraries *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->path[i]);
    free(l->path);
    *l = (struct libraries){0};
}

int libraries_needs(struct library_needs *needs, const char *path, const char *library_path)
{
    struct search *s;
    int rc = search_run(&s, path, library_path);
    *needs = (struct library_needs){0};
    if (rc == 0)
        *needs = s->needs;
    search_free(s);
    return rc;
}
