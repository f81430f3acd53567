/* SPDX-License-Identifier: BSD-3-Clause */
/* own.c -- every rank does to files in its working folder, and in that of TMPDIR, what programs do,
 * and finds each time that it is alone: names of its rank, so that only another copy of it could
 * disturb. A barrier stands where two copies would meet. The first thing that is not as it should
 * be is a line on stderr, and ends the job.
 *
 *     own [READS]    a file to read, with its first line expected to be "input" */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, __LINE__, #condition,              \
                    strerror(errno));                                                              \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)

static const char *name(const char *what)
{
    static char names[4][64];
    static unsigned next;
    char *one = names[next++ % 4];
    snprintf(one, sizeof names[0], "%s.%d", what, rank);
    return one;
}

static int has(const char *path, const char *text)
{
    char bytes[256] = "";
    const int fd = open(path, O_RDONLY);
    const ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes - 1);
    close(fd);
    return n >= 0 && strcmp(bytes, text) == 0;
}

static void put(const char *path, const char *text, int flags)
{
    const int fd = open(path, O_WRONLY | O_CREAT | flags, 0644);
    EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void append(void)
{
    put(name("log"), "one\n", O_APPEND);
    meet();
    put(name("log"), "two\n", O_APPEND);
    meet();
    EXPECT(has(name("log"), "one\ntwo\n"));
}

static void rename_over(void)
{
    put(name("table.tmp"), "whole\n", O_TRUNC);
    meet();
    EXPECT(rename(name("table.tmp"), name("table")) == 0);
    EXPECT(has(name("table"), "whole\n"));
    meet();
    EXPECT(unlink(name("table")) == 0);
    EXPECT(access(name("table"), F_OK) != 0 && errno == ENOENT);
}

static void exclude(void)
{
    const int fd = open(name("lock"), O_RDWR | O_CREAT | O_EXCL, 0600);
    struct flock all = {.l_type = F_WRLCK};
    EXPECT(fd >= 0 && fcntl(fd, F_SETLK, &all) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    meet(); /* both copies hold it */
    EXPECT(open(name("lock"), O_RDWR | O_CREAT | O_EXCL, 0600) < 0 && errno == EEXIST);
    meet();
    EXPECT(close(fd) == 0 && unlink(name("lock")) == 0);
}

static void folders(void)
{
    char inside[80];
    EXPECT(mkdir(name("work"), 0755) == 0);
    snprintf(inside, sizeof inside, "%s/in", name("work"));
    put(inside, "in\n", O_EXCL);
    meet();
    EXPECT(unlink(inside) == 0);
    EXPECT(rmdir(name("work")) == 0);
    meet();
    EXPECT(access(name("work"), F_OK) != 0);
}

static void map(void)
{
    put(name("mapped"), "0000", O_TRUNC);
    meet();
    const int fd = open(name("mapped"), O_RDWR);
    char *bytes = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(fd >= 0 && bytes != MAP_FAILED && bytes[0] == '0');
    meet();
    bytes[0]++;
    meet();
    EXPECT(bytes[0] == '1' && munmap(bytes, 4) == 0 && close(fd) == 0);
}

/* It is /tmp, unless nothing could be mounted for the job. */
static const char *temporary_folder(void)
{
    const char *const folder = getenv("TMPDIR"), *const view = getenv("P2PGRID_VIEW");
    const char *const aside = view != NULL ? strstr(view, "/lane-") : NULL;
    EXPECT(folder != NULL);
    EXPECT(aside == NULL ? strcmp(folder, "/tmp") == 0
                         : strncmp(folder, view, (size_t)(aside - view) + sizeof "/lane-") == 0);
    return folder;
}

static void temporary(void)
{
    char path[512], mine[] = "own-XXXXXX", folder[512];
    const char *const tmp = temporary_folder();
    const int fd = mkstemp(mine);
    EXPECT(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0 && unlink(mine) == 0);
    snprintf(folder, sizeof folder, "%s/own-XXXXXX", tmp);
    EXPECT(mkdtemp(folder) != NULL && rmdir(folder) == 0);
    snprintf(path, sizeof path, "%s/own-of-%d", tmp, rank);
    put(path, "mine\n", O_EXCL);
    meet();
    EXPECT(has(path, "mine\n") && unlink(path) == 0);
}

/* Ranks of one copy on one desktop share what they write. */
static void share(void)
{
    if (rank == 0)
        put("result", "of all\n", O_EXCL);
    meet();
    EXPECT(rank != 0 || has("result", "of all\n"));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        EXPECT(has(argv[1], "input\n"));
        meet();
        put(argv[1], "changed\n", O_TRUNC);
        meet();
        EXPECT(has(argv[1], "changed\n"));
    }
    append();
    rename_over();
    exclude();
    folders();
    map();
    temporary();
    share();
    meet();
    if (rank == 0)
        puts("every copy had its own");
    MPI_Finalize();
    return 0;
}
