/* SPDX-License-Identifier: BSD-3-Clause */
/* input.h -- the files that a job names as its input: the submitter signs their content, and a peer
 * where one is missing or differs starts nothing. */
#ifndef P2P_OVERLAY_MANIFEST_INPUT_H
#define P2P_OVERLAY_MANIFEST_INPUT_H
#include "overlay/wire/message.h"
#include "overlay/base/err.h"
#include <stdbool.h>

enum { INPUT_PATH = 255, INPUTS_MAX = 32 };

struct input {
    char path[INPUT_PATH + 1]; /* from / on */
    uint64_t size;
    uint8_t hash[32];
};

/* name: as the job's program calls it in the folder cwd. */
int input_take(struct input *i, const char *name, const char *cwd, struct err *e);
/* For sending; points into the input. */
struct part_input input_part(const struct input *i);
/* On the peer, in a process that can read no more than the job: the submitter learns whether a file
 * has the bytes that it names. The error goes on after the peer's name and a colon. */
int input_check(const struct part_input *wanted, bool guest, struct err *e);
#endif
