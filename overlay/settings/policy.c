/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.c -- which settings are policy, and how a new value comes into p2pd.conf. */
#include "policy.h"
#include "edit.h"
#include "settings.h"
#include "terms.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cfg_opt_t *policy_options(void)
{
    static const cfg_opt_t options[] = {TERMS_OPTIONS, LIMITS_OPTIONS, CFG_END()};
    return options;
}

static const cfg_opt_t *policy_find(const char *name)
{
    const cfg_opt_t *o = policy_options();
    while (o->name != NULL && strcmp(o->name, name) != 0)
        o++;
    return o->name != NULL ? o : NULL;
}

const char *policy_name(size_t i)
{
    const cfg_opt_t *o = policy_options();
    while (o->name != NULL && i-- > 0)
        o++;
    return o->name;
}

bool policy_is_list(const char *name)
{
    const cfg_opt_t *o = policy_find(name);
    return o != NULL && (o->flags & CFGF_LIST) != 0;
}

static int no_policy(const char *name, struct err *e)
{
    char names[320] = "";
    size_t used = 0;
    for (size_t i = 0; policy_name(i) != NULL && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 policy_name(i));
    return err_set(
        e, EINVAL,
        "'%.40s' is no setting of policy, which are %s; write others into p2pd.conf (listen, "
        "keys and socket count from p2pd's next start)",
        name, names);
}

/* Numbers and booleans need no quotes, and look odd in them. */
static int add_word(const char *name, const char *word, bool plain, char *out, size_t size,
                    struct err *e)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    if (plain && *word == '\0')
        return err_set(e, EINVAL, "%s: '' is no value", name);
    if (plain && word[strspn(word, letters)] == '\0' && strlen(word) < size)
        strcpy(out, word);
    else if (!edit_quote(word, out, size))
        return err_set(e, EINVAL, "%s: too long a value, or one with a control character", name);
    return 0;
}

static int add_list(const char *name, char *const words[], size_t count, char out[POLICY_VALUE],
                    struct err *e)
{
    const bool empty = count == 1 && words[0][0] == '\0';
    size_t used = (size_t)sprintf(out, "{");
    int rc = 0;
    for (size_t i = 0; i < count && !empty && rc == 0; i++) {
        if (used + 8 > POLICY_VALUE)
            return err_set(e, EINVAL, "%s: too long a list", name);
        used += (size_t)sprintf(out + used, i > 0 ? ", " : "");
        rc = add_word(name, words[i], false, out + used, POLICY_VALUE - 8 - used, e);
        used += rc == 0 ? strlen(out + used) : 0;
    }
    strcpy(out + used, "}");
    return rc;
}

/* The value alone, so that the line speaks of it and not of a file that is not written yet. */
static int policy_check(const char *name, const char *value, struct err *e)
{
    struct settings *s = calloc(1, sizeof *s);
    char *text = edit_setting("", name, value);
    const int rc = s != NULL && text != NULL ? settings_read_text(s, text, "the new value", e)
                                             : err_set(e, ENOMEM, "no memory");
    free(text);
    free(s);
    return rc;
}

int policy_value(const char *name, char *const words[], size_t count, char out[POLICY_VALUE],
                 struct err *e)
{
    const cfg_opt_t *o = policy_find(name);
    int rc;
    if (o == NULL)
        return no_policy(name, e);
    if (o->flags & CFGF_LIST)
        rc = add_list(name, words, count, out, e);
    else if (count == 1)
        rc = add_word(name, words[0], o->type != CFGT_STR, out, POLICY_VALUE, e);
    else
        rc = err_set(e, EINVAL, "%s has one value", name);
    return rc == 0 ? policy_check(name, out, e) : rc;
}

char *policy_edit(const char *text, const char *path, const char *name, const char *value,
                  struct err *e)
{
    struct settings *s = calloc(1, sizeof *s);
    char *fresh = edit_setting(text, name, value);
    int rc = 0;
    if (policy_find(name) == NULL)
        rc = no_policy(name, e);
    else if (s == NULL || fresh == NULL)
        rc = err_set(e, ENOMEM, "no memory");
    else
        rc = settings_read_text(s, fresh, path, e);
    free(s);
    if (rc == 0)
        return fresh;
    free(fresh);
    return NULL;
}
