/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.h -- names of files with wildcards, as in .gitignore: `*` and `?` match within a name,
 * `**` over folders, [a-z] one of these; `/` at the end: a folder only. */
#ifndef P2P_OVERLAY_FILES_PATTERN_H
#define P2P_OVERLAY_FILES_PATTERN_H
#include <stdbool.h>
#include <stddef.h>

/* Does the whole of `path` ("tables/a.bin") match? The time is bounded by the product of their
 * lengths. */
bool pattern_matches(const char *pattern, const char *path);

/* The rules of one .p2pignore. */
struct pattern_rules {
    struct pattern_rule {
        const char *pattern; /* points into the text */
        bool again;          /* `!`: this takes it in again */
        bool folder;         /* only a folder */
        bool anchored;       /* it has a `/`: matches from the top; else the last name alone */
    } * rule;
    size_t count;
};
enum { PATTERN_RULES = 1024 };

/* Of a text, a rule a line, which is changed and must stay; -E2BIG: too many rules, -ENOMEM. */
int pattern_rules(struct pattern_rules *rules, char *text);
/* Is it left out? By the last rule that matches. What lies in a folder that is left out is never
 * asked for, so it is not taken in again. */
bool pattern_leaves_out(const struct pattern_rules *rules, const char *path, bool folder);
#endif
