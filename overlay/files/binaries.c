/* SPDX-License-Identifier: BSD-3-Clause */
/* binaries.c -- from what the ELF reader finds to words that are compared with ads. */
#include "binaries.h"
#include "libraries.h"
#include "overlay/core/lease/require.h"
#include "overlay/manifest/program.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)BINARIES_PATH == (int)PROGRAM_PATH, "both name programs");
_Static_assert((int)BINARIES_REQUIRE == (int)REQUIRE_TEXT, "it is sent as a requirement");

static int binary_check(struct binary *b, const char *name, const struct gather_app *app,
                        const char *search, struct err *e)
{
    struct library_needs needs;
    if (program_find(b->path, name, app->cwd, search) != 0)
        return err_set(e, ENOENT, "p2p_files_binaries: there is no program %s", name);
    if (libraries_needs(&needs, b->path, app->library_path) != 0)
        return err_set(e, ENOEXEC, "p2p_files_binaries: %s is no ELF program", name);
    if (strcmp(needs.machine, b->machine) != 0)
        return err_set(e, ENOEXEC, "p2p_files_binaries: %s is built for %s, not for %s", name,
                       needs.machine, b->machine);
    return 0;
}

static int binary_parse(struct binaries *b, char *word, const struct gather_app *app,
                        const char *search, struct err *e)
{
    struct binary *one = &b->at[b->count];
    char *colon = strchr(word, ':');
    if (colon == NULL || colon == word || colon[1] == '\0' ||
        (size_t)(colon - word) >= sizeof one->machine)
        return err_set(e, EINVAL,
                       "p2p_files_binaries: '%s' is not MACHINE:PROGRAM, as in "
                       "x86_64:./app,aarch64:./app.arm",
                       word);
    if (b->count == BINARIES_MOST)
        return err_set(e, E2BIG, "p2p_files_binaries: more than %d programs", BINARIES_MOST);
    *colon = '\0';
    strcpy(one->machine, word);
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->at[i].machine, word) == 0)
            return err_set(e, EINVAL, "p2p_files_binaries: %s is there twice", word);
    const int rc = binary_check(one, colon + 1, app, search, e);
    b->count += rc == 0;
    return rc;
}

int binaries_parse(struct binaries *b, const char *text, const struct gather_app *app,
                   const char *search, struct err *e)
{
    char *copy = strdup(text != NULL ? text : ""), *rest = NULL;
    int rc = copy != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
    b->count = 0;
    for (char *word = copy != NULL ? strtok_r(copy, ",", &rest) : NULL; word != NULL && rc == 0;
         word = strtok_r(NULL, ",", &rest))
        rc = binary_parse(b, word + strspn(word, " "), app, search, e);
    free(copy);
    return rc;
}

/* Machines that run programs made for others, too. */
static const char *machines_of(const char *machine)
{
    static const char *const known[][2] = {{"x86_64", "arch == x86_64"},
                                           {"aarch64", "arch == aarch64"},
                                           {"i686", "arch in (i386, i586, i686, x86_64)"},
                                           {"armv7l", "arch in (armv7l, armv8l, aarch64)"},
                                           {"riscv64", "arch == riscv64"},
                                           {"ppc64le", "arch == ppc64le"},
                                           {"ppc64", "arch == ppc64"},
                                           {"s390x", "arch == s390x"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i][0], machine) == 0)
            return known[i][1];
    return NULL;
}

/* libmpi.so.40 is that of Open MPI 3.0 and later. */
static int check_mpi(const struct library_needs *needs, const char *path, struct err *e)
{
    if (needs->mpi[0] == '\0' || strcmp(needs->mpi, "libmpi.so.40") == 0)
        return 0;
    return err_set(e, ENOEXEC,
                   "%s is linked with the %s of another MPI, whose processes this mpirun cannot "
                   "start: build it with Open MPI's mpicc",
                   path, needs->mpi);
}

static int require_one(char *out, size_t size, const char *path, const char *library_path,
                       struct err *e)
{
    struct library_needs needs;
    out[0] = '\0';
    if (libraries_needs(&needs, path, library_path) != 0)
        return 0; /* a script */
    const char *machines = machines_of(needs.machine);
    const bool glibc = needs.glibc[0] != '\0';
    if (machines != NULL)
        snprintf(out, size, "%s%s%s", machines, glibc ? " && libc >= " : "", needs.glibc);
    return check_mpi(&needs, path, e);
}

static int require_builds(char *out, size_t size, const struct binaries *b,
                          const char *library_path, struct err *e)
{
    size_t at = 0;
    int rc = 0;
    for (size_t i = 0; i < b->count && rc == 0 && at < size; i++) {
        char one[128];
        rc = require_one(one, sizeof one, b->at[i].path, library_path, e);
        at += (size_t)snprintf(out + at, size - at, "%s(%s)", i > 0 ? " || " : "", one);
    }
    return rc == 0 && at >= size ? err_set(e, E2BIG, "p2p_files_binaries is too long") : rc;
}

static int require_app(char *out, size_t size, const struct gather_app *app, const char *search,
                       struct err *e)
{
    char path[PROGRAM_PATH + 1];
    out[0] = '\0';
    if (program_find(path, app->program, app->cwd, search) != 0 || program_is_of_system(path))
        return 0;
    return require_one(out, size, path, app->library_path, e);
}

int binaries_require(char out[BINARIES_REQUIRE + 1], const struct gather_app *apps, size_t count,
                     const struct binaries *b, const char *search, struct err *e)
{
    size_t at = 0;
    int rc = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && rc == 0; i++) {
        char one[BINARIES_REQUIRE + 1];
        rc = i == 0 && b->count > 0 ? require_builds(one, sizeof one, b, apps[i].library_path, e)
                                    : require_app(one, sizeof one, &apps[i], search, e);
        if (rc != 0 || one[0] == '\0' || strstr(out, one) != NULL)
            continue; /* programs are mostly alike */
        const bool several = i == 0 && b->count > 1;
        at += (size_t)snprintf(out + at, BINARIES_REQUIRE + 1 - at, "%s%s%s%s",
                               at > 0 ? " && " : "", several ? "(" : "", one, several ? ")" : "");
        if (at > BINARIES_REQUIRE)
            rc = err_set(e, E2BIG, "the job's programs differ too much in what they need");
    }
    return rc;
}

char *binaries_join(const char *users, const char *programs)
{
    struct require r;
    struct require_error wrong;
    char *both = NULL;
    if (users == NULL || users[strspn(users, " \t")] == '\0')
        return strdup(programs);
    if (programs[0] == '\0' || !require_parse(&r, users, &wrong))
        return strdup(users);
    return asprintf(&both, "(%s) && %s", users, programs) < 0 ? NULL : both;
}
