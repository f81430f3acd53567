/* SPDX-License-Identifier: BSD-3-Clause */
/* terms.c -- to whom and when the machine is lent, out of p2pd.conf. */
#include "terms.h"
#include <errno.h>
#include <string.h>

static const char *const returns[] = {
    [SETTINGS_NOTHING] = "nothing", [SETTINGS_SUSPEND] = "suspend", [SETTINGS_LEAVE] = "leave"};

void terms_default(struct settings *s)
{
    strcpy(s->allow[0], "all");
    s->allow_count = 1;
    s->idle_minutes = 10;
}

const char *terms_owner_back(enum settings_owner_back what)
{
    return returns[what];
}

/* A list that is not in the file leaves the default. */
static int set_whom(char (*words)[SETTINGS_WHOM + 1], size_t *count, cfg_t *cfg, const char *name,
                    struct err *e)
{
    unsigned n = cfg_size(cfg, name);
    if (!(cfg_getopt(cfg, name)->flags & CFGF_MODIFIED))
        return 0;
    if (n > SETTINGS_WHOMS)
        return err_set(e, EINVAL, "%s: %s: more than %d members", cfg->filename, name,
                       SETTINGS_WHOMS);
    for (unsigned i = 0; i < n; i++) {
        const char *word = cfg_getnstr(cfg, name, i);
        if (*word == '\0' || strlen(word) > SETTINGS_WHOM)
            return err_set(e, EINVAL,
                           "%s: %s: '%s': write all, @GROUP, a peer's name, or an owner's id",
                           cfg->filename, name, word);
        strcpy(words[i], word);
    }
    *count = n;
    return 0;
}

static int set_hours(struct settings *s, cfg_t *cfg, struct err *e)
{
    unsigned n = cfg_size(cfg, "hours");
    const char *why;
    if (n > SETTINGS_HOURS)
        return err_set(e, EINVAL, "%s: hours: more than %d", cfg->filename, SETTINGS_HOURS);
    for (unsigned i = 0; i < n; i++) {
        const char *text = cfg_getnstr(cfg, "hours", i);
        if (strlen(text) > HOURS_TEXT || !hours_parse(&s->hours[i], text, &why))
            return err_set(e, EINVAL, "%s: hours: '%.80s': %s", cfg->filename, text,
                           strlen(text) > HOURS_TEXT ? "too long" : why);
        strcpy(s->hours_text[i], text);
    }
    s->hours_count = n;
    return 0;
}

static int set_owner_back(struct settings *s, cfg_t *cfg, struct err *e)
{
    const char *value = cfg_getstr(cfg, "owner_returns");
    for (unsigned i = 0; value != NULL && i < sizeof returns / sizeof returns[0]; i++)
        if (strcmp(value, returns[i]) == 0) {
            s->owner_back = (enum settings_owner_back)i;
            return 0;
        }
    return value == NULL
               ? 0
               : err_set(e, EINVAL, "%s: owner_returns = '%s': must be nothing, suspend or leave",
                         cfg->filename, value);
}

int terms_set(struct settings *s, cfg_t *cfg, struct err *e)
{
    long minutes = cfg_getint(cfg, "idle_minutes");
    int rc = set_whom(s->allow, &s->allow_count, cfg, "allow", e);
    if (rc == 0)
        rc = set_whom(s->deny, &s->deny_count, cfg, "deny", e);
    if (rc == 0)
        rc = set_hours(s, cfg, e);
    if (rc == 0)
        rc = set_owner_back(s, cfg, e);
    if (rc == 0 && (minutes < 0 || minutes > HOURS_DAY))
        rc = err_set(e, EINVAL, "%s: idle_minutes = %ld: must be 0 to %d", cfg->filename, minutes,
                     HOURS_DAY);
    s->idle_minutes = (unsigned)minutes;
    s->encrypt = cfg_getbool(cfg, "encrypt");
    s->show_programs = cfg_getbool(cfg, "show_programs");
    s->idle_only = cfg_getbool(cfg, "only_when_idle");
    return rc;
}
