/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c -- a program that goes by what its machine says: ranks of one host meet, each sends as
 * many bytes as its host's name has, or there is room on the disk and in memory. Its children are
 * not replicas: what they ask is their own.
 *
 *     machine ROUNDS */
#include <errno.h>
#include <mpi.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("machine: rank %d: %s: wrong\n", rank, what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void send_bytes(unsigned long how_many)
{
    static char to[65536], from[65536];
    MPI_Sendrecv(to, (int)(how_many % sizeof to), MPI_BYTE, (rank + 1) % size, 1, from, sizeof from,
                 MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The desktops of a test have names of one length, those of a lab have not. */
static unsigned long length_of_name(const char *name)
{
    return strlen(name) * 100 + strtoul(name + strcspn(name, "0123456789"), NULL, 10);
}

static void meet_on_host(const char *name)
{
    MPI_Comm host;
    int here = 0;
    MPI_Comm_split(MPI_COMM_WORLD, (int)length_of_name(name), rank, &host);
    MPI_Comm_size(host, &here);
    MPI_Barrier(host);
    MPI_Comm_free(&host);
    check(here >= 1 && here <= size, "the ranks of this host");
}

static unsigned long room(int round)
{
    struct statfs disk;
    struct statvfs disk_too;
    struct sysinfo memory;
    long free_pages = 1;
    int rc = 0;
    FILE *file = fopen("written", "w");
    check(file != NULL && fprintf(file, "%*d", 20000, round) > 0 && fflush(file) == 0, "writing");
    switch (round % 7) {
    case 0:
        rc = statfs(".", &disk);
        break;
    case 1:
        rc = fstatfs(fileno(file), &disk);
        break;
    case 2:
        rc = statvfs(".", &disk_too);
        break;
    case 3:
        rc = fstatvfs(fileno(file), &disk_too);
        break;
    case 4:
        free_pages = sysconf(_SC_AVPHYS_PAGES);
        break;
    case 5:
        free_pages = get_avphys_pages();
        break;
    default:
        rc = sysinfo(&memory);
        break;
    }
    check(rc == 0 && free_pages > 0, "asking for room");
    fclose(file);
    return round % 7 < 2   ? disk.f_bfree
           : round % 7 < 4 ? disk_too.f_bfree
           : round % 7 < 6 ? (unsigned long)free_pages
                           : memory.freeram / memory.mem_unit;
}

static void make_child(void)
{
    int status = 1;
    char name[65];
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            if (time(NULL) == 0 || gethostname(name, sizeof name) != 0 || MPI_Wtime() < 0)
                _exit(1);
        _exit(0);
    }
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child");
}

static void look_up(const char *name)
{
    struct addrinfo *found = NULL;
    check(getaddrinfo(name, NULL, NULL, &found) == 0, "looking up the own address");
    freeaddrinfo(found);
    check(gethostbyname(name) != NULL, "looking up the own address in the old way");
}

int main(int argc, char **argv)
{
    char first[65], name[65], processor[MPI_MAX_PROCESSOR_NAME];
    char first_processor[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    struct utsname machine;
    struct statfs none;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    check(gethostname(first, sizeof first) == 0 && *first != '\0', "the host's name");
    errno = 0;
    check(gethostname(name, 2) == -1 && errno == ENAMETOOLONG, "no room for the host's name");
    check(statfs("/there is none", &none) == -1 && errno == ENOENT, "the room in no folder");
    look_up(first);
    MPI_Get_processor_name(first_processor, &length);
    check(length > 0 && (size_t)length == strlen(first_processor), "the processor's name");
    for (int round = 0; round < atoi(argv[1]); round++) {
        check(gethostname(name, sizeof name) == 0 && strcmp(name, first) == 0, "the same name");
        check(uname(&machine) == 0 && strcmp(machine.nodename, first) == 0, "the name by uname");
        MPI_Get_processor_name(processor, &length);
        check(strcmp(processor, first_processor) == 0, "the same processor");
        send_bytes((unsigned long)length + length_of_name(processor));
        meet_on_host(name);
        send_bytes(length_of_name(name));
        send_bytes(room(round));
        if (round % 10 == 0)
            make_child();
        usleep(10000);
    }
    printf("machine: rank %d is on %s\n", rank, first);
    MPI_Finalize();
    return 0;
}
