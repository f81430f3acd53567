/* SPDX-License-Identifier: BSD-3-Clause */
/* input.h -- the files that a job says it reads: the submitter signs what is in them, and a peer
 * where one is missing or another one starts nothing. */
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
/* On the peer, by a process that may read what the job may, no more: whoever names a file learns
 * whether he knows its bytes. The error goes on after the peer's name and a colon. */
int input_check(const struct part_input *wanted, bool guest, struct err *e);
#endif
