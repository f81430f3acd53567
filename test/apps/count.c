/* SPDX-License-Identifier: BSD-3-Clause */
/* count.c -- writes numbered lines and talks to nobody: what a grid must print of it is known to
 * the byte. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct options {
    unsigned ranks, lines, delay_us, before_us, after_us;
    bool mpi, copy;
    int status, aborting;
};

static void usage(void)
{
    fputs("usage: count [-n RANKS] [-l LINES] [-u MICROSECONDS] [-b MICROSECONDS] [-a "
          "MICROSECONDS] [-s STATUS] [-x NUMBER] [-i] [-c]\n"
          "  -n  ranks that the user asked for (default: as MPI says)\n"
          "  -u  time between two lines\n"
          "  -b  time before MPI_Init\n"
          "  -a  time between the last line and MPI_Finalize\n"
          "  -s  exit with STATUS\n"
          "  -x  the process that was launched as this number says why, and aborts\n"
          "  -i  no MPI at all\n"
          "  -c  rank 0 first copies its input to its output, as it comes\n",
          stderr);
    exit(2);
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.lines = 10, .mpi = true, .aborting = -1};
    for (int c; (c = getopt(argc, argv, "n:l:u:b:a:s:x:ic")) != -1;)
        switch (c) {
        case 'n':
            o.ranks = (unsigned)atoi(optarg);
            break;
        case 'l':
            o.lines = (unsigned)atoi(optarg);
            break;
        case 'u':
            o.delay_us = (unsigned)atoi(optarg);
            break;
        case 'b':
            o.before_us = (unsigned)atoi(optarg);
            break;
        case 'a':
            o.after_us = (unsigned)atoi(optarg);
            break;
        case 's':
            o.status = atoi(optarg);
            break;
        case 'x':
            o.aborting = atoi(optarg);
            break;
        case 'i':
            o.mpi = false;
            break;
        case 'c':
            o.copy = true;
            break;
        default:
            usage();
        }
    return o;
}

static void copy_input(void)
{
    char bytes[8192];
    ssize_t n;
    while ((n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        fwrite(bytes, 1, (size_t)n, stdout);
        fflush(stdout);
    }
}

/* All copies of a rank print the same: the launcher's number is that of the copy. */
static unsigned own_rank(const struct options *o)
{
    const char *launched = getenv("OMPI_COMM_WORLD_RANK");
    unsigned number = launched != NULL ? (unsigned)atoi(launched) : 0;
    int rank = 0;
    if (o->ranks > 0)
        return number % o->ranks;
    if (!o->mpi)
        return number;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return (unsigned)rank;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    usleep(o.before_us);
    if (o.mpi)
        MPI_Init(&argc, &argv);
    const unsigned rank = own_rank(&o);
    if (o.copy && rank == 0)
        copy_input();
    for (unsigned i = 0; i < o.lines; i++) {
        printf("rank %u line %u of %u\n", rank, i, o.lines);
        fflush(stdout);
        if (i % 10 == 0)
            fprintf(stderr, "rank %u error %u\n", rank, i / 10);
        if (o.delay_us > 0)
            usleep(o.delay_us);
    }
    const char *launched = getenv("OMPI_COMM_WORLD_RANK");
    if (launched != NULL && atoi(launched) == o.aborting) {
        fprintf(stderr, "rank %u: no such file\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    usleep(o.after_us);
    if (o.mpi)
        MPI_Finalize();
    return o.status;
}
