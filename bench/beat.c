/* SPDX-License-Identifier: BSD-3-Clause */
/* beat.c -- all ranks exchange messages each millisecond: `make bench-stall` asks how long they
 * wait when a peer is lost. `beat SECONDS FOLDER`: each process leaves its pauses in FOLDER/NUMBER,
 * which is there from the start: when one ended (us since the epoch), and how long it was (us). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BEAT_US = 1000, PAUSE_US = 5000, PAUSES = 10000 };

static struct pause {
    long long end, length;
} pauses[PAUSES];
static size_t count;

/* By the kernel's own clock: that of libc is the leader's in all lanes, as MPI_Wtime is. */
static long long now_us(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* One exchange: rank 0 hears all others, in any order, and answers. */
static int beat(int go)
{
    int rank, size, other;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return go;
}

int main(int argc, char **argv)
{
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    char path[512];
    MPI_Init(&argc, &argv);
    if (argc != 3 || number == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/%s", argv[2], number);
    FILE *f = fopen(path, "we");
    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    double begin = MPI_Wtime();
    for (long long last = now_us(); beat(MPI_Wtime() - begin < atof(argv[1]));) {
        long long now = now_us();
        if (now - last >= PAUSE_US && count < PAUSES)
            pauses[count++] = (struct pause){now, now - last};
        last = now;
        usleep(BEAT_US);
    }
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%lld %lld\n", pauses[i].end, pauses[i].length);
    fclose(f);
    MPI_Finalize();
    return 0;
}
