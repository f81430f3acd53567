/* SPDX-License-Identifier: BSD-3-Clause */
/* demands.c -- demands [KEY=VALUE]... PROGRAM [ARG]...: spawns a program that need not be one of
 * MPI, with this info, and says what became of it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char key[64], message[MPI_MAX_ERROR_STRING];
    MPI_Comm children;
    MPI_Info info;
    int rank, at = 1, length = 0, all = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    for (const char *is; at < argc - 1 && (is = strchr(argv[at], '=')) != NULL; at++) {
        snprintf(key, sizeof key, "%.*s", (int)(is - argv[at]), argv[at]);
        MPI_Info_set(info, key, is + 1);
    }
    MPI_Info_set(info, "ompi_non_mpi", "true");
    if (at < argc && rank == 0) {
        all = MPI_Comm_spawn(argv[at], argv + at + 1, 1, info, 0, MPI_COMM_SELF, &children,
                             MPI_ERRCODES_IGNORE);
        MPI_Error_string(all, message, &length);
        printf("spawned: %s\n", all == MPI_SUCCESS ? "yes" : message);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
