/* SPDX-License-Identifier: BSD-3-Clause */
/* fractal.c -- the Mandelbrot set, drawn band by band.
 *
 * The image is made in bands of BAND rows. Each rank computes a block of the
 * band's rows (blocks differ in size), MPI_Gatherv collects them on rank 0,
 * and rank 0 appends them to a PGM file. Rank 0 computes a sample of the rows
 * again and compares.
 *
 * usage: fractal WIDTH HEIGHT ITERATIONS [FILE]
 *        prints one line: the digest of the image, the same on any number of ranks
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAND = 26, SAMPLE = 40 };

static void draw_row(unsigned char *out, int y, int width, int height, int limit)
{
    double ci = -1.25 + 2.5 * y / height;
    for (int x = 0; x < width; x++) {
        double cr = -2.1 + 2.8 * x / width, zr = 0, zi = 0;
        int i = 0;
        for (; i < limit && zr * zr + zi * zi < 4.0; i++) {
            double t = zr * zr - zi * zi + cr;
            zi = 2.0 * zr * zi + ci;
            zr = t;
        }
        out[x] = i == limit ? 0 : (unsigned char)(1 + i % 255);
    }
}

/* the first row of rank r's block in a band of that many rows */
static int block(int r, int size, int rows)
{
    return rows * r / size;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int width = argc > 3 ? atoi(argv[1]) : 0, height = argc > 3 ? atoi(argv[2]) : 0;
    int limit = argc > 3 ? atoi(argv[3]) : 0;
    if (width < 1 || height < 1 || limit < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: fractal WIDTH HEIGHT ITERATIONS [FILE]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const char *name = argc > 4 ? argv[4] : "fractal.pgm";
    unsigned char *mine = malloc((size_t)width * BAND), *band = NULL, *again = NULL;
    int *counts = malloc(size * sizeof *counts), *starts = malloc(size * sizeof *starts);
    uint64_t digest = 0xcbf29ce484222325u;
    FILE *f = NULL;

    if (rank == 0) {
        band = malloc((size_t)width * BAND);
        again = malloc(width);
        f = fopen(name, "wb");
        if (!f) {
            perror(name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        fprintf(f, "P5\n%d %d\n255\n", width, height);
    }
    for (int top = 0; top < height; top += BAND) {
        int rows = height - top < BAND ? height - top : BAND;
        for (int r = 0; r < size; r++) {
            starts[r] = block(r, size, rows) * width;
            counts[r] = block(r + 1, size, rows) * width - starts[r];
        }
        int first = block(rank, size, rows), end = block(rank + 1, size, rows);
        for (int y = first; y < end; y++)
            draw_row(mine + (size_t)(y - first) * width, top + y, width, height, limit);
        MPI_Gatherv(mine, counts[rank], MPI_UNSIGNED_CHAR, band, counts, starts, MPI_UNSIGNED_CHAR,
                    0, MPI_COMM_WORLD);
        if (rank != 0)
            continue;
        for (int y = 0; y < rows; y++) {
            if ((top + y) % SAMPLE != SAMPLE / 2)
                continue;
            draw_row(again, top + y, width, height, limit);
            if (memcmp(again, band + (size_t)y * width, width) != 0) {
                fprintf(stderr, "fractal: row %d is wrong\n", top + y);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        for (size_t i = 0; i < (size_t)rows * width; i++)
            digest = (digest ^ band[i]) * 0x100000001b3u;
        fwrite(band, width, rows, f);
    }
    if (rank == 0) {
        if (fclose(f) != 0) {
            perror(name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        printf("fractal: %d x %d, %d iterations, %d ranks, digest %016llx\n", width, height, limit,
               size, (unsigned long long)digest);
    }
    free(mine), free(band), free(again), free(counts), free(starts);
    MPI_Finalize();
    return 0;
}
