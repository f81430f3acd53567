/* SPDX-License-Identifier: BSD-3-Clause */
/* edit.h -- changes one setting in the text of p2pd.conf and leaves the rest as it is written:
 * order, comments, empty lines. */
#ifndef P2P_OVERLAY_SETTINGS_EDIT_H
#define P2P_OVERLAY_SETTINGS_EDIT_H
#include <stdbool.h>
#include <stddef.h>

/* The text with `name = value`, in the place of the statement that counts, which is the last one,
 * or at the end; others of that name go. value NULL: with none of them. `value` is in the words of
 * the file (edit_quote). The caller frees it; NULL: no memory. */
char *edit_setting(const char *text, const char *name, const char *value);
/* Does a statement of the text set it? */
bool edit_has(const char *text, const char *name);
/* "..." that the parser reads as `word`; false: it does not fit, or has a control character. */
bool edit_quote(const char *word, char *out, size_t size);
#endif
