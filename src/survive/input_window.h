/* SPDX-License-Identifier: BSD-3-Clause */
/* input_window.h -- how much of mpirun's input may be read now. Every lane of rank 0 gets the same
 * bytes; none is ever more than a window ahead of what the slowest open lane has passed on to its
 * process.
 */
#ifndef P2P_SRC_SURVIVE_INPUT_WINDOW_H
#define P2P_SRC_SURVIVE_INPUT_WINDOW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INPUT_WINDOW_LANES = 8, INPUT_WINDOW_BYTES = 256 * 1024 };

struct input_window {
    uint64_t read; /* bytes read from the input so far, and sent to every open lane */
    bool open[INPUT_WINDOW_LANES];       /* its process lives and reads */
    uint64_t passed[INPUT_WINDOW_LANES]; /* bytes that its process was given */
};

void input_window_open(struct input_window *f, unsigned lane);
void input_window_close(struct input_window *f, unsigned lane);
/* A lane tells how many bytes it has passed on; false: it cannot be true, and changes nothing. */
bool input_window_passed(struct input_window *f, unsigned lane, uint64_t bytes);
void input_window_read(struct input_window *f, size_t bytes);
/* Bytes that may be read now: 0 while the window is full or no lane is open. */
size_t input_window_room(const struct input_window *f);
bool input_window_wanted(const struct input_window *f); /* is any lane open? */
#endif
