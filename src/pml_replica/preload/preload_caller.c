/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_caller.c -- who calls: by the library that the call comes from, and by its thread. */
#include "caller.h"
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool name_begins_as(const char *path, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name_in(path), names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool name_is_of_mpi(const char *path)
{
    static const char *const names[] = {"libmpi",  "libopen-",  "mca_",    "libmca_",
                                        "libpmix", "libhwloc.", "libevent"};
    return name_begins_as(path, names, sizeof names / sizeof *names);
}

/* They need what nobody else can compute. */
static bool name_is_of_encryption(const char *path)
{
    static const char *const names[] = {"libcrypt", "libssl",    "libgcrypt", "libgnutls",
                                        "libnss",   "libnettle", "libsodium", "libmbed",
                                        "libbotan", "libuuid"};
    return name_begins_as(path, names, sizeof names / sizeof *names);
}

bool caller_is_mpi(const void *caller)
{
    Dl_info object;
    return dladdr(caller, &object) != 0 && object.dli_fname != NULL &&
           name_is_of_mpi(object.dli_fname);
}

/* --- the program's own code --- */

enum { RANGES = 512 };
static struct range {
    uintptr_t first, last;
    enum caller caller;
} ranges[RANGES]; /* by address */
static size_t range_count;
static bool is_mpi;

/* The names of what an object is linked with; NULL after the last. */
static const char *object_needs(const struct dl_phdr_info *object, unsigned number)
{
    const ElfW(Dyn) *d = NULL;
    for (unsigned i = 0; i < object->dlpi_phnum && d == NULL; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr); /* NOLINT */
    uintptr_t texts = 0;
    for (const ElfW(Dyn) *at = d; at != NULL && at->d_tag != DT_NULL; at++)
        if (at->d_tag == DT_STRTAB)
            texts = at->d_un.d_ptr;
    for (; texts != 0 && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && number-- == 0) /* not all systems relocate the table's place */
            return (const char *)((texts < object->dlpi_addr ? object->dlpi_addr : 0) + texts +
                                  d->d_un.d_val); /* NOLINT */
    return NULL;
}

/* Which the program itself is linked with; and those of Python, which others may be. */
static struct dl_phdr_info program;

static bool object_is_library(const char *path)
{
    const char *need;
    if (name_is_of_mpi(path) || name_is_of_encryption(path))
        return false;
    for (unsigned i = 0; (need = object_needs(&program, i)) != NULL; i++)
        if (strcmp(need, name_in(path)) == 0)
            return true;
    return strncmp(name_in(path), "libpython3", strlen("libpython3")) == 0;
}

static bool object_uses_mpi(const struct dl_phdr_info *object)
{
    const char *need;
    for (unsigned i = 0; (need = object_needs(object, i)) != NULL; i++)
        if (strncmp(need, "libmpi", strlen("libmpi")) == 0)
            return true;
    return false;
}

/* A tool that somebody preloads makes no MPI program of a shell. */
static bool object_is_preloaded(const char *path)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, name_in(path)) != NULL;
}

static enum caller caller_in(const struct dl_phdr_info *object, bool is_first)
{
    const char *name = object->dlpi_name;
    if (strstr(name, "/libgfortran.so") != NULL)
        return CALLER_FORTRAN;
    if (strstr(name, "/libstdc++.so") != NULL)
        return CALLER_CXX;
    if (strstr(name, "/libR.so") != NULL)
        return CALLER_R;
    const bool uses = !name_is_of_mpi(name) && object_uses_mpi(object) &&
                      (is_first || !object_is_preloaded(name));
    is_mpi = is_mpi || uses;
    if (is_first || uses)
        return CALLER_PROGRAM;
    return object_is_library(name) ? CALLER_LIBRARY : CALLER_OTHER;
}

static void range_insert(struct range new)
{
    if (range_count == RANGES)
        return;
    size_t at = range_count++;
    for (; at > 0 && ranges[at - 1].first > new.first; at--)
        ranges[at] = ranges[at - 1];
    ranges[at] = new;
}

/* The program comes first. */
static int range_add(struct dl_phdr_info *object, size_t size, void *ctx)
{
    bool *is_first = ctx;
    (void)size;
    if (*is_first)
        program = *object;
    const enum caller caller = caller_in(object, *is_first);
    *is_first = false;
    for (unsigned i = 0; caller != CALLER_OTHER && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t first = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0)
            range_insert((struct range){first, first + part->p_memsz, caller});
    }
    return 0;
}

enum caller caller_of(const void *caller)
{
    const uintptr_t address = (uintptr_t)caller;
    size_t begin = 0, end = range_count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (address < ranges[middle].first)
            end = middle;
        else if (address >= ranges[middle].last)
            begin = middle + 1;
        else
            return ranges[middle].caller;
    }
    return CALLER_OTHER;
}

bool program_is_mpi(void)
{
    return is_mpi;
}

/* --- its threads --- */

static pthread_t first_thread;
static bool has_first_thread, has_helpers;

static void fork_begins(void)
{
    has_helpers = true;
}

static void child_begins(void)
{
    has_first_thread = false;
}

bool thread_is_first(void)
{
    return has_first_thread && pthread_equal(pthread_self(), first_thread);
}

bool program_has_helpers(void)
{
    return has_helpers;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    if (caller_of(CALLER) >= CALLER_PROGRAM)
        has_helpers = true;
    return STOCK(pthread_create)(thread, attr, start, arg);
}

__attribute__((constructor)) static void find_program(void)
{
    bool is_first = true;
    dl_iterate_phdr(range_add, &is_first);
    first_thread = pthread_self();
    has_first_thread = pthread_atfork(fork_begins, NULL, child_begins) == 0;
}
