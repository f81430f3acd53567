/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h -- names of peers in one text, with a space in between: as many as fit. */
#ifndef P2P_OVERLAY_BASE_NAMES_H
#define P2P_OVERLAY_BASE_NAMES_H
#include <stdbool.h>
#include <stddef.h>

/* False: there is no room for it. One that is there already is not added. */
bool names_add(char *list, size_t size, const char *name);
/* The first names, as many as take `width` characters, at least one, and how many more of `all`
 * there are: "desk1, desk2 and 3 more"; "none". */
void names_text(const char *list, size_t all, size_t width, char *out, size_t size);
#endif
