/* SPDX-License-Identifier: BSD-3-Clause */
/* io.c -- writes FILE in every way that MPI-IO knows, reads it back, and leaves it with contents
 * that depend on ROUNDS alone: 4 ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 3000, BLOCK = 1000, LINE = 17 };

static int rank, size;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("io: rank %d, line %d: not %s\n", rank, __LINE__, #what);                       \
            fflush(stdout);                                                                        \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                          \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static MPI_File start(const char *name, int mode)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &f));
    return f;
}

/* Cell i of the round belongs to rank i % size: collective, through a view with holes. */
static void interleaved(MPI_File f, int round)
{
    static int out[CELLS], in[CELLS];
    MPI_Offset at = (MPI_Offset)round * CELLS * size * (MPI_Offset)sizeof(int);
    MPI_Datatype cells;
    MPI_Status s;
    int n;
    for (int i = 0; i < CELLS; i++)
        out[i] = round * 1000000 + i * size + rank;
    MPI_Type_vector(CELLS, 1, size, MPI_INT, &cells);
    MPI_Type_commit(&cells);
    OK(MPI_File_set_view(f, at + rank * (MPI_Offset)sizeof(int), MPI_INT, cells, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_all(f, out, CELLS, MPI_INT, &s));
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == CELLS);
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, 0, in, CELLS, MPI_INT, &s));
    CHECK(memcmp(in, out, sizeof in) == 0);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&cells);
}

/* Each rank its own blocks, by itself; what one has written another one reads and overwrites. */
static void independent(MPI_File f, int round)
{
    static char own[BLOCK], other[BLOCK];
    MPI_Request r;
    int next = (rank + 1) % size;
    MPI_Offset at = (MPI_Offset)round * BLOCK * size;
    memset(own, 'a' + (round + rank) % 26, sizeof own);
    OK(MPI_File_write_at(f, at + rank * BLOCK, own, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at(f, at + next * BLOCK, other, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < BLOCK; i++)
        CHECK(other[i] == 'a' + (round + next) % 26);
    MPI_Barrier(MPI_COMM_WORLD);
    other[0] = (char)('0' + rank);
    OK(MPI_File_iwrite_at(f, at + next * BLOCK, other, 1, MPI_CHAR, &r));
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    OK(MPI_File_seek(f, at + next * BLOCK + BLOCK - 1, MPI_SEEK_SET));
    OK(MPI_File_write(f, other, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_iread_at(f, at + rank * BLOCK, own, BLOCK, MPI_CHAR, &r));
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(own[0] == '0' + (rank + size - 1) % size && own[BLOCK - 1] == own[0]);
}

/* Lines by the shared pointer: in the order of ranks, then in any order, each once. */
static void shared(MPI_File f, int round)
{
    char line[LINE + 1], *all;
    int seen[4] = {0};
    MPI_Offset at;
    OK(MPI_File_seek_shared(f, (MPI_Offset)round * LINE * 2 * size, MPI_SEEK_SET));
    snprintf(line, sizeof line, "round%4d rank %c\n", round % 1000, (char)('0' + rank));
    OK(MPI_File_write_ordered(f, line, LINE, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_write_shared(f, line, LINE, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK(at == (MPI_Offset)(round + 1) * LINE * 2 * size);
    all = malloc((size_t)(2 * LINE * size));
    OK(MPI_File_read_at(f, (MPI_Offset)round * LINE * 2 * size, all, 2 * LINE * size, MPI_CHAR,
                        MPI_STATUS_IGNORE));
    for (int i = 0; i < size; i++) {
        const char *ordered = all + i * LINE, *any = all + (size + i) * LINE;
        CHECK(ordered[LINE - 2] == '0' + i && atoi(ordered + 5) == round);
        CHECK(any[LINE - 2] >= '0' && any[LINE - 2] < '4' && atoi(any + 5) == round);
        CHECK(seen[any[LINE - 2] - '0']++ == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* in any order no longer: the file is to be known */
    OK(MPI_File_write_at(f, ((MPI_Offset)round * 2 * size + size + rank) * LINE, line, LINE,
                         MPI_CHAR, MPI_STATUS_IGNORE));
    free(all);
}

static void sizes(const char *name)
{
    MPI_File f =
        start(name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Offset n;
    MPI_Status s;
    char bytes[10] = {0};
    int count;
    OK(MPI_File_set_size(f, 5));
    OK(MPI_File_get_size(f, &n));
    CHECK(n == 5);
    OK(MPI_File_read_at(f, 2, bytes, 10, MPI_CHAR, &s));
    MPI_Get_count(&s, MPI_CHAR, &count);
    CHECK(count == 3);
    MPI_File second;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                        MPI_INFO_NULL, &second) != MPI_SUCCESS);
    OK(MPI_File_close(&f));
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &second) !=
          MPI_SUCCESS);
}

/* Of a call that fails: the same in all ranks. */
static int class_of(int error)
{
    int class, least, most;
    MPI_Error_class(error, &class);
    MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(least == most);
    return class;
}

static void errors(const char *name)
{
    MPI_File f;
    char wrong[4300];
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f)) ==
          MPI_ERR_NO_SUCH_FILE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_RDWR,
                                 MPI_INFO_NULL, &f)) == MPI_ERR_AMODE);
    snprintf(wrong, sizeof wrong, "%s.no/folder", name);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, wrong, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                 MPI_INFO_NULL, &f)) == MPI_ERR_NO_SUCH_FILE);
    if (rank == 0)
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank after the other adds to what all have made, by itself; the last one removes it. */
static void alone(const char *name)
{
    MPI_File f = start(name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI_Offset at;
    char all[4] = {0}, own = (char)('a' + rank);
    OK(MPI_File_close(&f));
    for (int i = 0; i < size; i++) {
        if (i == rank) {
            OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL,
                             &f));
            OK(MPI_File_get_position(f, &at));
            CHECK(at == rank);
            OK(MPI_File_write(f, &own, 1, MPI_CHAR, MPI_STATUS_IGNORE));
            OK(MPI_File_close(&f));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    f = start(name, MPI_MODE_RDONLY);
    CHECK(class_of(MPI_File_write_at(f, 0, &own, 1, MPI_CHAR, MPI_STATUS_IGNORE)) ==
          MPI_ERR_READ_ONLY);
    OK(MPI_File_read_at_all(f, 0, all, size, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(memcmp(all, "abcd", sizeof all) == 0);
    OK(MPI_File_close(&f));
    if (rank == size - 1)
        OK(MPI_File_delete(name, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f) != MPI_SUCCESS);
}

/* All write all of the file at once, and it is one rank's in the end, whole. */
static void atomic(const char *name)
{
    enum { WHOLE = 3 << 20 };
    MPI_File f = start(name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    int flag = 0;
    char *all = malloc(WHOLE);
    CHECK(all != NULL);
    OK(MPI_File_set_atomicity(f, 1));
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK(flag);
    memset(all, 'a' + rank, WHOLE);
    OK(MPI_File_write_at(f, 0, all, WHOLE, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at(f, 0, all, WHOLE, MPI_CHAR, MPI_STATUS_IGNORE));
    for (int i = 0; i < WHOLE; i++)
        CHECK(all[i] == all[0] && all[0] >= 'a' && all[0] < 'a' + size);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&f));
    free(all);
}

int main(int argc, char **argv)
{
    char name[3][4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    CHECK(argc > 1 && size == 4);
    for (int i = 0; i < 3; i++)
        snprintf(name[i], sizeof name[i], "%s.%d", argv[1], i);
    for (int i = 0; i < rounds; i++) {
        const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
        MPI_File f[3] = {start(name[0], mode), start(name[1], mode), start(name[2], mode)};
        interleaved(f[0], i);
        independent(f[1], i);
        shared(f[2], i);
        for (int k = 0; k < 3; k++)
            OK(MPI_File_close(&f[k]));
        char gone[4200];
        snprintf(gone, sizeof gone, "%s.gone", argv[1]);
        sizes(gone);
        if (i == 0) {
            errors(gone);
            alone(gone);
            atomic(gone);
        }
    }
    if (rank == 0)
        printf("io: %d ranks, %d rounds, all right\n", size, rounds);
    MPI_Finalize();
    return 0;
}
