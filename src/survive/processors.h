/* SPDX-License-Identifier: BSD-3-Clause */
/* processors.h -- the copies of a rank are to compute alike, to the last bit, or a program that
 * stops at a tolerance stops at different rounds. Libraries choose their ways by the processor and
 * by how many there are; on desktops that differ they are told to use what all of them have. */
#ifndef P2P_SRC_SURVIVE_PROCESSORS_H
#define P2P_SRC_SURVIVE_PROCESSORS_H
#include <stdbool.h>
#include <stdio.h>

enum { PROCESSOR_MODEL = 63, PROCESSOR_TEXT = PROCESSOR_MODEL + 64 };

struct processor {
    unsigned features; /* the level of the x86-64 psABI, 1 to 4; 0: another architecture */
    unsigned usable;   /* processors that a process may run on */
    char model[PROCESSOR_MODEL + 1]; /* letters, digits and '-' */
};

/* cpuinfo: as in /proc/cpuinfo (proc(5)), of which the first processor counts; NULL: unknown. */
void processor_read(struct processor *p, FILE *cpuinfo, unsigned usable);
/* As one word without ':', behind the architecture's name. */
void processor_text(const struct processor *p, const char *architecture, char out[PROCESSOR_TEXT]);
bool processor_parse(struct processor *p, const char *text, size_t length);

/* What is common to those of a job: zeroed, then each is added. */
struct common {
    struct processor first;
    unsigned count, features, usable; /* the least of all */
    bool other_models, other_counts;
};
void common_add(struct common *c, const struct processor *p);

/* What a rank's environment is to hold, unless the user says otherwise: the setting with that
 * number, from 0 on; false: there are no more. */
struct common_setting {
    const char *name;
    char value[128];
};
bool common_setting(const struct common *c, unsigned number, struct common_setting *out);
#endif
