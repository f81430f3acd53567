/* SPDX-License-Identifier: BSD-3-Clause */
/* draws_r.c -- a program whose library seeds as R's does, by the time and its pid; to others that
 * pid is its own. Compiled thrice: with LIBRARY it is libR.so, or with LIBRARY 2 that of another
 * language, which has a number of the system for the pid. */
#include <unistd.h>
unsigned long time_to_seed(void);

#ifdef LIBRARY
#include <sys/random.h>
#include <time.h>

static unsigned long mark(void)
{
    unsigned n = (unsigned)getpid();
    if (LIBRARY == 2 && getrandom(&n, sizeof n, 0) != sizeof n)
        return 0;
    return n;
}

unsigned long time_to_seed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (unsigned long)t.tv_nsec << 16 ^ (unsigned long)t.tv_sec ^ mark() << 16;
}
#else
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    enum { MOST = 10007 };
    static char to[MOST], from[MOST];
    int rank, size, status = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const unsigned long seed = time_to_seed(), next = time_to_seed();
    if (getpid() != (pid_t)syscall(SYS_getpid))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (fork() == 0) /* no copy of a rank */
        _exit(time_to_seed() == 0);
    if (wait(&status) < 0 || status != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Sendrecv(to, (int)(seed % MOST), MPI_BYTE, (rank + 1) % size, 1, from, MOST, MPI_BYTE,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("draws: rank %d drew %lu %lu\n", rank, seed, next);
    MPI_Finalize();
    return 0;
}
#endif
