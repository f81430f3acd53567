/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.h -- the settings with which an owner says to whom, when and how much is lent: those that
 * p2pctl policy set changes. They are the parser's own (terms.h). */
#ifndef P2P_OVERLAY_SETTINGS_POLICY_H
#define P2P_OVERLAY_SETTINGS_POLICY_H
#include "overlay/base/err.h"
#include <stdbool.h>
#include <stddef.h>

enum { POLICY_VALUE = 4096 };

/* The i-th one; NULL: there are no more. */
const char *policy_name(size_t i);
bool policy_is_list(const char *name);
/* What p2pd.conf has to say for these words; a list may have any number, an empty word is an empty
 * list. -EINVAL with a line: it is no such setting, or p2pd would not take the value. */
int policy_value(const char *name, char *const words[], size_t count, char out[POLICY_VALUE],
                 struct err *e);
/* The text of the settings' file with the value, or NULL: without the setting. Everything in it is
 * right then. The caller frees it; NULL: the error names what is not. `path` is for that. */
char *policy_edit(const char *text, const char *path, const char *name, const char *value,
                  struct err *e);
#endif
