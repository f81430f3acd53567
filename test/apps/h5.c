/* SPDX-License-Identifier: BSD-3-Clause */
/* h5.c -- an HDF5 file that all ranks write and read: `h5 FILE ROUNDS`. Each round writes a matrix
 * by rows (collectively, whole), by columns (collectively, strided) and by rows of chunks
 * (independently), and all read what others wrote; after it they are quiet for 0.1 s, as programs
 * that compute. `h5 FILE ROUNDS RANKS`, without mpirun, reads back what so many ranks have written,
 * as any program on one machine does. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 64, COLUMNS = 256 }; /* of a rank */

static int rank, size;

static void give_up(void)
{
    int inited;
    MPI_Initialized(&inited);
    if (inited)
        MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("h5: rank %d, line %d: not %s\n", rank, __LINE__, #what);                       \
            fflush(stdout);                                                                        \
            give_up();                                                                             \
        }                                                                                          \
    } while (0)

static int value(int round, hsize_t row, hsize_t column)
{
    return round * 1000003 + (int)row * 4099 + (int)column;
}

/* The part of a rank: rows of all columns, or columns of all rows. */
static void part_of(int of, int columns, hsize_t at[2], hsize_t n[2])
{
    at[0] = columns ? 0 : (hsize_t)of * ROWS;
    at[1] = columns ? (hsize_t)of * COLUMNS : 0;
    n[0] = columns ? (hsize_t)(ROWS * size) : ROWS;
    n[1] = columns ? COLUMNS : (hsize_t)(COLUMNS * size);
}

static void move(hid_t set, hid_t transfer, int round, int of, int columns, int writes)
{
    hsize_t at[2], n[2];
    part_of(of, columns, at, n);
    int *part = malloc(n[0] * n[1] * sizeof *part);
    CHECK(part != NULL);
    hid_t memory = H5Screate_simple(2, n, NULL), file = H5Dget_space(set);
    CHECK(H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, n, NULL) >= 0);
    for (hsize_t i = 0; i < n[0] * n[1]; i++)
        part[i] = writes ? value(round, at[0] + i / n[1], at[1] + i % n[1]) : -1;
    if (writes)
        CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, file, transfer, part) >= 0);
    else
        CHECK(H5Dread(set, H5T_NATIVE_INT, memory, file, transfer, part) >= 0);
    for (hsize_t i = 0; i < n[0] * n[1]; i++)
        CHECK(part[i] == value(round, at[0] + i / n[1], at[1] + i % n[1]));
    H5Sclose(memory);
    H5Sclose(file);
    free(part);
}

static hid_t file_of_all(const char *name, int round)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    hid_t f = round == 0 ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                         : H5Fopen(name, H5F_ACC_RDWR, access);
    CHECK(f >= 0);
    H5Pclose(access);
    return f;
}

static const char *name_of(char name[64], int round, int kind)
{
    snprintf(name, 64, "matrix %d %d", round, kind);
    return name;
}

static hid_t matrix(hid_t f, int round, int kind)
{
    char name[64];
    const hsize_t n[2] = {(hsize_t)(ROWS * size), (hsize_t)(COLUMNS * size)}, c[2] = {32, 100};
    hid_t space = H5Screate_simple(2, n, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    if (kind == 2)
        CHECK(H5Pset_chunk(how, 2, c) >= 0);
    hid_t set = H5Dcreate(f, name_of(name, round, kind), H5T_NATIVE_INT, space, H5P_DEFAULT, how,
                          H5P_DEFAULT);
    CHECK(set >= 0);
    H5Sclose(space);
    H5Pclose(how);
    return set;
}

static void one_round(const char *name, int round)
{
    hid_t f = file_of_all(name, round), all = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_dxpl_mpio(all, H5FD_MPIO_COLLECTIVE) >= 0);
    for (int kind = 0; kind < 3; kind++) {
        hid_t set = matrix(f, round, kind), transfer = kind == 2 ? H5P_DEFAULT : all;
        move(set, transfer, round, rank, kind == 1, 1);
        CHECK(H5Fflush(f, H5F_SCOPE_GLOBAL) >= 0);
        MPI_Barrier(MPI_COMM_WORLD);
        move(set, transfer, round, (rank + 1) % size, kind != 1, 0);
        H5Dclose(set);
    }
    H5Pclose(all);
    CHECK(H5Fclose(f) >= 0);
}

/* Alone: the matrices of all rounds, whole, and nothing else. */
static void read_back(const char *path, int rounds)
{
    char name[64];
    H5G_info_t all;
    hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(f >= 0 && H5Gget_info(f, &all) >= 0 && all.nlinks == (hsize_t)rounds * 3);
    for (int round = 0; round < rounds; round++)
        for (int kind = 0; kind < 3; kind++) {
            hid_t set = H5Dopen(f, name_of(name, round, kind), H5P_DEFAULT);
            CHECK(set >= 0);
            for (int of = 0; of < size; of++)
                move(set, H5P_DEFAULT, round, of, 0, 0);
            H5Dclose(set);
        }
    CHECK(H5Fclose(f) >= 0);
    printf("h5: %d rounds of %d ranks are in it, all right\n", rounds, size);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        size = atoi(argv[3]);
        read_back(argv[1], atoi(argv[2]));
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 3);
    for (int round = 0; round < atoi(argv[2]); round++) {
        one_round(argv[1], round);
        if (rank == 0) {
            printf("h5: round %d is written\n", round);
            fflush(stdout);
        }
        usleep(100000);
    }
    if (rank == 0)
        printf("h5: %d ranks, %s rounds, all right\n", size, argv[2]);
    MPI_Finalize();
    return 0;
}
