/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.h -- how much of mpirun's input may be read now. Every lane of rank 0 gets the same bytes;
 * none is ever more than a window ahead of what the slowest open lane has passed on to its process.
 */
#ifndef P2P_SRC_SURVIVE_FEED_H
#define P2P_SRC_SURVIVE_FEED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FEED_LANES = 8, FEED_WINDOW = 256 * 1024 };

struct feed {
    uint64_t read;               /* bytes read from the input so far, and sent to every open lane */
    bool open[FEED_LANES];       /* its process lives and reads */
    uint64_t passed[FEED_LANES]; /* bytes that its process was given */
};

void feed_open(struct feed *f, unsigned lane);
void feed_close(struct feed *f, unsigned lane);
/* A lane tells how many bytes it has passed on; false: it cannot be true, and changes nothing. */
bool feed_passed(struct feed *f, unsigned lane, uint64_t bytes);
void feed_read(struct feed *f, size_t bytes);
/* Bytes that may be read now: 0 while the window is full or no lane is open. */
size_t feed_room(const struct feed *f);
bool feed_wanted(const struct feed *f); /* is any lane open? */
#endif
