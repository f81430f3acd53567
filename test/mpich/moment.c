/* SPDX-License-Identifier: BSD-3-Clause */
/* moment.c -- preloaded into a program: tells how long it was in MPI, or stops one copy of a rank
 * at a moment.
 *
 * MOMENT_FILE alone: the first copy of rank 0 writes there how many microseconds lay between the
 * end of MPI_Init and the begin of MPI_Finalize. With MOMENT_COPY, which says a process number of
 * the job, and MOMENT_US: so many microseconds after MPI_Init that process writes "TMPDIR PID"
 * there, a pipe that somebody reads, and stops, to be killed where it stands.
 */
#include <mpi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct timespec begin;
static long wanted_us;
static char file[512];
static char words[512];

static int is_copy(const char *number)
{
    const char *mine = getenv("OMPI_COMM_WORLD_RANK");
    return mine && atol(mine) == atol(number);
}

static void say(int flags)
{
    int fd = open(file, O_WRONLY | flags, 0600);
    if (fd < 0)
        return;
    if (dprintf(fd, "%s\n", words) < 0)
        perror("moment");
    close(fd);
}

static void *stop(void *unused)
{
    struct timespec pause = {.tv_sec = wanted_us / 1000000, .tv_nsec = wanted_us % 1000000 * 1000};
    nanosleep(&pause, NULL);
    say(O_NONBLOCK);
    kill(getpid(), SIGSTOP);
    return unused;
}

static void begins(void)
{
    const char *path = getenv("MOMENT_FILE"), *copy = getenv("MOMENT_COPY"),
               *us = getenv("MOMENT_US");
    pthread_t thread;
    if (!path || !is_copy(copy ? copy : "0"))
        return;
    snprintf(file, sizeof file, "%s", path);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (!us)
        return;
    wanted_us = atol(us);
    snprintf(words, sizeof words, "%s %d", getenv("TMPDIR"), (int)getpid());
    if (pthread_create(&thread, NULL, stop, NULL) == 0)
        pthread_detach(thread);
}

static void ends(void)
{
    struct timespec now;
    if (!file[0] || words[0])
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(words, sizeof words, "%lld",
             (now.tv_sec - begin.tv_sec) * 1000000LL + (now.tv_nsec - begin.tv_nsec) / 1000);
    say(O_CREAT | O_TRUNC);
}

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    begins();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);
    begins();
    return code;
}

int MPI_Finalize(void)
{
    ends();
    return PMPI_Finalize();
}

/* The same for programs in Fortran, whose calls do not come by those of C. */
void mpi_init_(MPI_Fint *code);
void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code);
void mpi_finalize_(MPI_Fint *code);

void mpi_init_(MPI_Fint *code)
{
    void (*real)(MPI_Fint *);
    *(void **)&real = dlsym(RTLD_NEXT, "mpi_init_");
    real(code);
    begins();
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code)
{
    void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
    *(void **)&real = dlsym(RTLD_NEXT, "mpi_init_thread_");
    real(required, provided, code);
    begins();
}

void mpi_finalize_(MPI_Fint *code)
{
    void (*real)(MPI_Fint *);
    *(void **)&real = dlsym(RTLD_NEXT, "mpi_finalize_");
    ends();
    real(code);
}
