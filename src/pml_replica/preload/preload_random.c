/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_random.c -- the system's random numbers, where the program asks for them: the same in all
 * copies of a rank.
 *
 * Programs seed their own generators with these: that of Fortran does so by itself, and so do those
 * of C++ (std::random_device) and Python. Lanes with other numbers would compute other things, and
 * after a death a rank would go on with those of another lane. Taken are calls of the program and
 * the libraries of its language, in its first thread: in a program that is linked with MPI, in the
 * process that the launcher has started, as Python, and in all once MPI has begun. A library for
 * encryption has the system's own. */
#include "caller.h"
#include "draws.h"
#include "preload.h"
#include "random.h"
#include "src/common/secret.h"
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

extern struct preload_questions p2pgrid_preload_questions;

#define FIRST_PROCESS_VARIABLE "P2PGRID_FIRST_PROCESS"

static struct draws draws;
static bool draws_are_there, is_first_process;

/* The launcher's process may become another program, and stays the first. Its children do not. */
static void find_first_process(void)
{
    char own[16];
    snprintf(own, sizeof own, "%d", (int)getpid());
    setenv(FIRST_PROCESS_VARIABLE, own, 0);
    const char *first = getenv(FIRST_PROCESS_VARIABLE);
    is_first_process = first != NULL && strcmp(first, own) == 0;
}

/* Before MPI_Init, which takes the secret out of the environment. */
__attribute__((constructor)) static void draws_find(void)
{
    const struct draws_of of = {.secret = getenv(SECRET_VARIABLE),
                                .level = getenv("OMPI_MCA_errmgr_replica_level"),
                                .process = getenv("OMPI_COMM_WORLD_RANK"),
                                .processes = getenv("OMPI_COMM_WORLD_SIZE")};
    find_first_process();
    draws_are_there = draws_begin(&draws, &of);
}

static bool draws_are_asked(const void *caller)
{
    return draws_are_there && thread_is_first() && caller_of(caller) != CALLER_OTHER &&
           (is_first_process || program_is_mpi() || p2pgrid_preload_questions.fact != NULL);
}

/* --- calls --- */

ssize_t getrandom(void *out, size_t size, unsigned flags)
{
    if (size > SSIZE_MAX || !draws_are_asked(CALLER))
        return STOCK(getrandom)(out, size, flags);
    draws_take(&draws, out, size);
    return (ssize_t)size;
}

int getentropy(void *out, size_t size)
{
    if (size > 256 || !draws_are_asked(CALLER))
        return STOCK(getentropy)(out, size);
    draws_take(&draws, out, size);
    return 0;
}

/* Of glibc 2.36 and later: not declared in older ones. */
uint32_t arc4random(void);
void arc4random_buf(void *out, size_t size);
uint32_t arc4random_uniform(uint32_t bound);

static uint32_t draw_word(void)
{
    uint32_t word;
    draws_take(&draws, &word, sizeof word);
    return word;
}

uint32_t arc4random(void)
{
    return draws_are_asked(CALLER) ? draw_word() : STOCK(arc4random)();
}

void arc4random_buf(void *out, size_t size)
{
    if (draws_are_asked(CALLER))
        draws_take(&draws, out, size);
    else
        STOCK(arc4random_buf)(out, size);
}

/* As likely as each other: what is left over of 2^32 is drawn again. */
uint32_t arc4random_uniform(uint32_t bound)
{
    if (!draws_are_asked(CALLER))
        return STOCK(arc4random_uniform)(bound);
    uint32_t word;
    do
        word = draw_word();
    while (bound > 1 && word < -bound % bound);
    return bound > 1 ? word % bound : 0;
}

/* std::random_device::operator(): an instruction of the processor's, mostly. */
unsigned p2pgrid_random_device(const void *device) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned p2pgrid_random_device(const void *device)
{
    static unsigned (*stock)(const void *);
    if (draws_are_asked(CALLER))
        return draw_word();
    if (stock == NULL)
        stock = (unsigned (*)(const void *))dlsym(RTLD_NEXT, "_ZNSt13random_device9_M_getvalEv");
    return stock(device);
}

/* --- devices --- */

/* Descriptors of them that the program has opened; what was closed since is looked at again. */
enum { DESCRIPTORS = 1024 };
static bool may_be_device[DESCRIPTORS];

static bool path_is_device(const char *path)
{
    return path != NULL && (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

static bool descriptor_is_device(int fd)
{
    struct stat s;
    if (fd < 0 || fd >= DESCRIPTORS || !may_be_device[fd])
        return false;
    may_be_device[fd] = fstat(fd, &s) == 0 && S_ISCHR(s.st_mode) && major(s.st_rdev) == 1 &&
                        (minor(s.st_rdev) == 8 || minor(s.st_rdev) == 9);
    return may_be_device[fd];
}

void random_opened(int fd, const char *path, const void *caller)
{
    if (fd >= 0 && fd < DESCRIPTORS && path_is_device(path) && draws_are_asked(caller))
        may_be_device[fd] = true;
}

/* Within libc a stream reads by no call that could be taken. */
static ssize_t stream_read(void *none, char *out, size_t size)
{
    (void)none;
    if (!thread_is_first())
        return STOCK(getrandom)(out, size, 0);
    draws_take(&draws, out, size);
    return (ssize_t)size;
}

FILE *random_stream(const char *path, const char *mode, const void *caller)
{
    if (!path_is_device(path) || *mode != 'r' || strchr(mode, '+') != NULL ||
        caller_of(caller) == CALLER_CXX || !draws_are_asked(caller))
        return NULL;
    return fopencookie(NULL, mode, (cookie_io_functions_t){.read = stream_read});
}

static bool take_read(int fd, void *out, size_t size)
{
    if (!descriptor_is_device(fd) || !thread_is_first() || size > SSIZE_MAX)
        return false;
    draws_take(&draws, out, size);
    return true;
}

ssize_t read(int fd, void *out, size_t size)
{
    return take_read(fd, out, size) ? (ssize_t)size : STOCK(read)(fd, out, size);
}

ssize_t __read_chk(int fd, void *out, size_t size, size_t room);
ssize_t __read_chk(int fd, void *out, size_t size, size_t room)
{
    return size <= room && take_read(fd, out, size) ? (ssize_t)size
                                                    : STOCK(__read_chk)(fd, out, size, room);
}

/* --- seeds --- */

/* Programs seed with their pid, or an address, too: the leader's seed is that of all. */
#define TAKE_SEED(call, type)                                                                      \
    void call(type seed)                                                                           \
    {                                                                                              \
        if (p2pgrid_preload_questions.fact != NULL && caller_of(CALLER) != CALLER_OTHER)           \
            p2pgrid_preload_questions.fact(&seed, sizeof seed);                                    \
        STOCK(call)(seed);                                                                         \
    }
TAKE_SEED(srand, unsigned)
TAKE_SEED(srandom, unsigned)
TAKE_SEED(srand48, long)

/* R seeds with the time and this. Else it names files with it, in a folder of its own. */
pid_t getpid(void)
{
    static pid_t of, told;
    const pid_t own = STOCK(getpid)();
    if (caller_of(CALLER) != CALLER_R)
        return own;
    if (of != own) { /* in a child it is asked for anew, and nobody is there who tells */
        told = of = own;
        if (p2pgrid_preload_questions.fact == NULL ||
            !p2pgrid_preload_questions.fact(&told, sizeof told))
            of = 0;
    }
    return of == own ? told : own;
}
