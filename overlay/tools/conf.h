/* SPDX-License-Identifier: BSD-3-Clause */
/* conf.h -- p2pd.conf with one setting of policy changed, written as a whole; it can be undone as
 * long as p2pd has not said that it takes it. */
#ifndef P2P_OVERLAY_TOOLS_CONF_H
#define P2P_OVERLAY_TOOLS_CONF_H
#include "overlay/base/err.h"
#include "overlay/settings/policy.h"
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct conf {
    char path[PATH_MAX]; /* behind symbolic links */
    char *was;           /* its text before */
    mode_t mode;
    bool was_there, changed;
    int folder; /* locked against others that change the file; -1: not */
};

/* value NULL: the setting goes. Everything that is written is right in p2pd's own eyes. */
int conf_set(struct conf *c, const char *file, const char *name, const char *value, struct err *e);
int conf_undo(struct conf *c, struct err *e);
void conf_close(struct conf *c); /* also after a failure */
#endif
