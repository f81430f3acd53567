/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_machine.c -- what a program asks its machine: the host's name, how much room there is on
 * a disk and in memory, how many processors there are. The leader's machine answers.
 *
 * Programs group their ranks by host, send its name, and choose how they compute by the room and
 * the processors that there are; lanes whose desktops have other ones would diverge. What Open MPI
 * asks for is its own business, as with the clock (preload_clock.c). */
#include "caller.h"
#include "preload.h"
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

extern struct preload_questions p2pgrid_preload_questions;
static const struct preload_questions *const ask = &p2pgrid_preload_questions;

/* --- its name --- */

/* Told once: it stays when the leader dies, and then all threads, and children, may have it. */
static struct utsname told_name;
static bool name_is_told;

static bool machine_is_told(const void *caller)
{
    if (caller_is_mpi(caller))
        return false;
    if (__atomic_load_n(&name_is_told, __ATOMIC_ACQUIRE))
        return true;
    struct utsname name;
    memset(&name, 0, sizeof name);
    const int before = errno;
    const bool told =
        ask->fact != NULL && STOCK(uname)(&name) == 0 && ask->fact(&name, sizeof name);
    errno = before;
    if (told) {
        told_name = name;
        __atomic_store_n(&name_is_told, true, __ATOMIC_RELEASE);
    }
    return told;
}

int uname(struct utsname *name)
{
    if (!machine_is_told(CALLER))
        return STOCK(uname)(name);
    *name = told_name;
    return 0;
}

int gethostname(char *name, size_t size)
{
    if (!machine_is_told(CALLER))
        return STOCK(gethostname)(name, size);
    const size_t length = strlen(told_name.nodename) + 1;
    memcpy(name, told_name.nodename, length < size ? length : size);
    if (length <= size)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Who looks up the address of its own host gets the own one, also where nobody knows the other's
 * name. */
static const char *name_to_look_up(const char *name, struct utsname *own, const void *caller)
{
    return name != NULL && !caller_is_mpi(caller) &&
                   __atomic_load_n(&name_is_told, __ATOMIC_ACQUIRE) &&
                   strcmp(name, told_name.nodename) == 0 && STOCK(uname)(own) == 0
               ? own->nodename
               : name;
}

int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
    struct utsname own;
    return STOCK(getaddrinfo)(name_to_look_up(name, &own, CALLER), service, hints, found);
}

struct hostent *gethostbyname(const char *name)
{
    struct utsname own;
    return STOCK(gethostbyname)(name_to_look_up(name, &own, CALLER));
}

/* --- its room --- */

/* Another one whenever it is asked. */
#define TAKE_ROOM(call, room, parameters, arguments)                                               \
    int call parameters                                                                            \
    {                                                                                              \
        struct {                                                                                   \
            int rc, error;                                                                         \
            struct room found;                                                                     \
        } fact;                                                                                    \
        memset(&fact, 0, sizeof fact);                                                             \
        const int before = errno;                                                                  \
        fact.rc = STOCK(call) arguments;                                                           \
        fact.error = fact.rc != 0 ? errno : before;                                                \
        if (fact.rc == 0)                                                                          \
            fact.found = *out;                                                                     \
        if (ask->fact != NULL && !caller_is_mpi(CALLER) && ask->fact(&fact, sizeof fact) &&        \
            fact.rc == 0)                                                                          \
            *out = fact.found;                                                                     \
        errno = fact.error;                                                                        \
        return fact.rc;                                                                            \
    }
TAKE_ROOM(statfs, statfs, (const char *path, struct statfs *out), (path, out))
TAKE_ROOM(statfs64, statfs64, (const char *path, struct statfs64 *out), (path, out))
TAKE_ROOM(fstatfs, statfs, (int fd, struct statfs *out), (fd, out))
TAKE_ROOM(fstatfs64, statfs64, (int fd, struct statfs64 *out), (fd, out))
TAKE_ROOM(statvfs, statvfs, (const char *restrict path, struct statvfs *restrict out), (path, out))
TAKE_ROOM(statvfs64, statvfs64, (const char *restrict path, struct statvfs64 *restrict out),
          (path, out))
TAKE_ROOM(fstatvfs, statvfs, (int fd, struct statvfs *out), (fd, out))
TAKE_ROOM(fstatvfs64, statvfs64, (int fd, struct statvfs64 *out), (fd, out))
TAKE_ROOM(sysinfo, sysinfo, (struct sysinfo * out), (out))

/* --- its processors and pages --- */

static long number_told(long own, const void *caller)
{
    long number = own;
    const int before = errno;
    if (ask->fact != NULL && !caller_is_mpi(caller))
        (void)ask->fact(&number, sizeof number);
    errno = before;
    return number;
}

long sysconf(int name)
{
    const long own = STOCK(sysconf)(name);
    switch (name) {
    case _SC_NPROCESSORS_ONLN:
    case _SC_NPROCESSORS_CONF:
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
        return number_told(own, CALLER);
    default:
        return own;
    }
}

int get_nprocs(void)
{
    return (int)number_told(STOCK(get_nprocs)(), CALLER);
}

int get_nprocs_conf(void)
{
    return (int)number_told(STOCK(get_nprocs_conf)(), CALLER);
}

long get_phys_pages(void)
{
    return number_told(STOCK(get_phys_pages)(), CALLER);
}

long get_avphys_pages(void)
{
    return number_told(STOCK(get_avphys_pages)(), CALLER);
}

/* OpenMP's, for C and for Fortran: what the thread may run on. Its library may have been loaded
 * where it cannot be found from here, so it is not asked. */
int omp_get_num_procs(void);
int omp_get_num_procs_(void);

static int usable_processors(const void *caller)
{
    cpu_set_t set;
    const long own =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : STOCK(get_nprocs)();
    return (int)number_told(own, caller);
}

int omp_get_num_procs(void)
{
    return usable_processors(CALLER);
}

int omp_get_num_procs_(void)
{
    return usable_processors(CALLER);
}
