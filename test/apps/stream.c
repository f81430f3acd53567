/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c -- rank 0 sends for a long time, and rank 1 only receives: one way, large and small by
 * turns. `stream MIB FOLDER`: in the process of PMIX_RANK 3, the second lane's rank 1, every
 * message takes a while; rank 0 of each lane leaves the most memory that it ever had in FOLDER. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 4 << 20, SMALL = 8 << 10, SMALLS = 128, SLOW_US = 10000 };

/* VmHWM, KiB. */
static long most_memory(void)
{
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f != NULL && kib == 0 && fgets(line, sizeof line, f) != NULL)
        sscanf(line, "VmHWM: %ld", &kib);
    if (f != NULL)
        fclose(f);
    return kib;
}

static void leave_note(const char *folder, const char *process, long before)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, process);
    FILE *f = fopen(path, "we");
    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fprintf(f, "%ld %ld\n", before, most_memory());
    fclose(f);
}

int main(int argc, char **argv)
{
    static char bytes[LARGE];
    const char *process = getenv("PMIX_RANK");
    int rank, good = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3 || process == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(bytes, 1, sizeof bytes);
    long before = most_memory(), rounds = atol(argv[1]) / 5; /* 5 MiB each */
    for (long i = 0; i < rounds; i++)
        for (int j = 0; j <= SMALLS; j++) {
            int length = j == 0 ? LARGE : SMALL;
            if (rank == 0) {
                memcpy(bytes, &i, sizeof i);
                MPI_Send(bytes, length, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                continue;
            }
            MPI_Recv(bytes, length, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            good = good && memcmp(bytes, &i, sizeof i) == 0;
            if (j == 0 && strcmp(process, "3") == 0)
                usleep(SLOW_US);
        }
    if (rank == 0)
        leave_note(argv[2], process, before);
    int all;
    MPI_Reduce(&good, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("stream: %ld MiB, %s\n", rounds * 5, all ? "all right" : "WRONG");
    MPI_Finalize();
    return 0;
}
