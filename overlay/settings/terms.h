/* SPDX-License-Identifier: BSD-3-Clause */
/* terms.h -- the part of p2pd.conf that is its owner's policy: to whom, when and how much the
 * machine is lent. */
#ifndef P2P_OVERLAY_SETTINGS_TERMS_H
#define P2P_OVERLAY_SETTINGS_TERMS_H
#include "settings.h"
#include <confuse.h>

/* clang-format off */
#define TERMS_OPTIONS \
    CFG_STR_LIST("allow", NULL, CFGF_NONE), \
    CFG_STR_LIST("deny", NULL, CFGF_NONE), \
    CFG_STR_LIST("hours", NULL, CFGF_NONE), \
    CFG_BOOL("only_when_idle", cfg_false, CFGF_NONE), \
    CFG_BOOL("encrypt", cfg_false, CFGF_NONE), \
    CFG_BOOL("show_programs", cfg_false, CFGF_NONE), \
    CFG_INT("idle_minutes", 10, CFGF_NONE), \
    CFG_STR("owner_returns", NULL, CFGF_NODEFAULT)
#define LIMITS_OPTIONS \
    CFG_STR("cores", NULL, CFGF_NODEFAULT), \
    CFG_INT("slots", 0, CFGF_NODEFAULT), \
    CFG_INT("slots_each", 0, CFGF_NODEFAULT), \
    CFG_INT("share_minutes", 0, CFGF_NODEFAULT), \
    CFG_INT("unused_minutes", 0, CFGF_NODEFAULT), \
    CFG_STR("memory", NULL, CFGF_NODEFAULT), \
    CFG_STR("disk", NULL, CFGF_NODEFAULT), \
    CFG_INT("nice", 0, CFGF_NODEFAULT), \
    CFG_INT("processes", 0, CFGF_NODEFAULT), \
    CFG_INT("open_files", 0, CFGF_NODEFAULT), \
    CFG_STR_LIST("readable", NULL, CFGF_NONE), \
    CFG_STR_LIST("confinement", NULL, CFGF_NONE)
/* clang-format on */

void terms_default(struct settings *s);
int terms_set(struct settings *s, cfg_t *cfg, struct err *e);
const char *terms_owner_back(enum settings_owner_back what); /* "suspend" */
#endif
