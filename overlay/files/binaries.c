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

/* Of "libmpi.so.40.30.4", one that travels; "": it is not known. */
static const char *series_of_mpi(const char *file)
{
    static const char *const series[] = {"3.0", "3.1", "4.0", "4.1", "5.0"};
    unsigned number;
    return sscanf(file, "libmpi.so.40.%u.", &number) == 1 && number / 10 < 5 ? series[number / 10]
                                                                             : "";
}

static int require_one(struct binaries_want *want, const char *path, const char *library_path,
                       const char *between, struct err *e)
{
    struct library_needs needs;
    if (libraries_needs(&needs, path, library_path) != 0)
        return 0; /* a script */
    const char *machines = machines_of(needs.machine), *mpi = series_of_mpi(needs.mpi_file);
    const bool glibc = needs.glibc[0] != '\0';
    if (machines != NULL)
        snprintf(want->require, sizeof want->require, "%s%s%s%s%s", machines,
                 glibc ? " && libc >= " : "", needs.glibc, mpi[0] != '\0' ? " && ompi == " : "",
                 mpi);
    needs_write(&needs.system, needs.machine, between, want->system);
    return check_mpi(&needs, path, e);
}

static int require_builds(struct binaries_want *want, const struct binaries *b,
                          const char *library_path, struct err *e)
{
    const bool several = b->count > 1;
    char *out = want->require;
    size_t at = 0;
    int rc = 0;
    for (size_t i = 0; i < b->count && rc == 0 && at <= BINARIES_REQUIRE; i++) {
        struct binaries_want one = {0};
        memcpy(one.system, want->system, sizeof one.system);
        rc = require_one(&one, b->at[i].path, library_path, i > 0 ? "|" : "", e);
        memcpy(want->system, one.system, sizeof one.system);
        at += (size_t)snprintf(out + at, BINARIES_REQUIRE + 1 - at, "%s(%s)%s",
                               i > 0     ? " || "
                               : several ? "("
                                         : "",
                               one.require, several && i == b->count - 1 ? ")" : "");
    }
    return rc == 0 && at > BINARIES_REQUIRE ? err_set(e, E2BIG, "p2p_files_binaries is too long")
                                            : rc;
}

static int require_app(struct binaries_want *want, const struct gather_app *app, const char *search,
                       struct err *e)
{
    char path[PROGRAM_PATH + 1];
    if (program_find(path, app->program, app->cwd, search) != 0 || program_is_of_system(path))
        return 0;
    return require_one(want, path, app->library_path, "", e);
}

/* False: there is no room. */
static bool append(char *out, size_t most, const char *between, const char *more)
{
    if (more[0] == '\0' || strstr(out, more) != NULL)
        return true; /* programs are mostly alike */
    const size_t at = strlen(out);
    return (size_t)snprintf(out + at, most + 1 - at, "%s%s", at > 0 ? between : "", more) <=
           most - at;
}

int binaries_require(struct binaries_want *want, const struct gather_app *apps, size_t count,
                     const struct binaries *b, const char *search, struct err *e)
{
    int rc = 0;
    *want = (struct binaries_want){0};
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct binaries_want one = {0};
        rc = i == 0 && b->count > 0 ? require_builds(&one, b, apps[i].library_path, e)
                                    : require_app(&one, &apps[i], search, e);
        if (rc == 0 && !append(want->require, BINARIES_REQUIRE, " && ", one.require))
            rc = err_set(e, E2BIG, "the job's programs differ too much in what they need");
        const size_t system = strlen(want->system);
        if (rc == 0 && !append(want->system, NEEDS_TEXT, ";", one.system))
            want->system[system] = '\0'; /* one that is not asked for is met at its start */
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
