/* SPDX-License-Identifier: BSD-3-Clause */
/* param_opal4.c -- registers parameters with OPAL, which ORTE's and OMPI's components share. */
#include "param.h"
#include "log.h"
#include "opal/constants.h"
#include "opal/mca/base/mca_base_var_enum.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Old names, which work for one version more. */
static const struct {
    const char *framework, *component, *old, *name;
} renamed[] = {
    {"plm", "p2p", "timeout", "timeout_s"},  {"plm", "p2p", "limit_seconds", "limit_time_s"},
    {"pml", "replica", "lag", "lag_ms"},     {"pml", "replica", "drop_after", "drop_after_ms"},
    {"pml", "replica", "retry", "retry_ms"}, {"pml", "replica", "silence", "silence_ms"},
};
enum { RENAMED = sizeof renamed / sizeof renamed[0] };

static void add_old_name(const mca_base_component_t *c, const char *name, int index)
{
    for (unsigned i = 0; i < RENAMED; i++)
        if (strcmp(renamed[i].framework, c->mca_type_name) == 0 &&
            strcmp(renamed[i].component, c->mca_component_name) == 0 &&
            strcmp(renamed[i].name, name) == 0)
            (void)mca_base_var_register_synonym(index, c->mca_project_name, c->mca_type_name,
                                                c->mca_component_name, renamed[i].old,
                                                MCA_BASE_VAR_SYN_FLAG_DEPRECATED);
}

void param_tell_renamed(void)
{
    for (unsigned i = 0; i < RENAMED; i++) {
        char variable[128];
        snprintf(variable, sizeof variable, "OMPI_MCA_%s_%s_%s", renamed[i].framework,
                 renamed[i].component, renamed[i].old);
        if (getenv(variable) != NULL)
            log_line("%s is called %s_%s_%s now: the next version will not know the old name",
                     variable + strlen("OMPI_MCA_"), renamed[i].framework, renamed[i].component,
                     renamed[i].name);
    }
}

static int param_register(const mca_base_component_t *c, const char *name, const char *help,
                          mca_base_var_info_lvl_t level, mca_base_var_type_t type,
                          mca_base_var_enum_t *words, void *value)
{
    const int index = mca_base_component_var_register(c, name, help, type, words, 0, 0, level,
                                                      MCA_BASE_VAR_SCOPE_READONLY, value);
    if (index >= 0)
        add_old_name(c, name, index);
    return index;
}

void param_common(const mca_base_component_t *c, const mca_base_framework_t *framework,
                  int *priority, int *verbose)
{
    char help[160];
    snprintf(help, sizeof help,
             "Priority among the components of %s; p2pgrid's work together, so none may be below "
             "Open MPI's own",
             c->mca_type_name);
    (void)param_int(c, "priority", help, OPAL_INFO_LVL_9, priority);
    *verbose = framework->framework_verbose;
    snprintf(help, sizeof help,
             "How much this component tells of its work on stderr: 1 what is rare, 2 what is not "
             "(default: %s_base_verbose)",
             c->mca_type_name);
    (void)param_register(c, "verbose", help, OPAL_INFO_LVL_8, MCA_BASE_VAR_TYPE_INT,
                         &mca_base_var_enum_verbose, verbose);
}

int param_int(const mca_base_component_t *c, const char *name, const char *help,
              mca_base_var_info_lvl_t level, int *value)
{
    return param_register(c, name, help, level, MCA_BASE_VAR_TYPE_INT, NULL, value);
}

int param_unsigned(const mca_base_component_t *c, const char *name, const char *help,
                   mca_base_var_info_lvl_t level, unsigned *value)
{
    return param_register(c, name, help, level, MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, value);
}

int param_size(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, size_t *value)
{
    return param_register(c, name, help, level, MCA_BASE_VAR_TYPE_SIZE_T, NULL, value);
}

int param_bool(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, bool *value)
{
    return param_register(c, name, help, level, MCA_BASE_VAR_TYPE_BOOL, NULL, value);
}

int param_text(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, char **value)
{
    return param_register(c, name, help, level, MCA_BASE_VAR_TYPE_STRING, NULL, value);
}

/* It is of no component's group, so it is still there when this object is unloaded: nothing of it
 * may lead here. */
void param_short_name(int index, const char *name)
{
    const mca_base_var_t *var = NULL;
    const int brief = index < 0 ? index
                                : mca_base_var_register_synonym(index, "orte", "p2p", NULL,
                                                                name + strlen("p2p_"), 0);
    if (brief < 0 || mca_base_var_get(brief, &var) != OPAL_SUCCESS || var->mbv_enumerator == NULL)
        return;
    mca_base_var_t *own = (mca_base_var_t *)(uintptr_t)var;
    mca_base_var_enum_t *words = own->mbv_enumerator;
    own->mbv_enumerator = NULL;
    OBJ_RELEASE(words);
}

/* An enumerator that remembers a wrong word instead of refusing it: Open MPI would print six lines
 * of its own, in each process, and go on. */
typedef struct words {
    mca_base_var_enum_t super;
    mca_base_var_enum_vfs_fn_t stock;
    int unset;
    char wrong[64];
} words_t; /* OPAL makes a class of a typedef only */

static OBJ_CLASS_INSTANCE(words_t, mca_base_var_enum_t, NULL, NULL);

static int words_read(mca_base_var_enum_t *self, const char *text, int *value)
{
    struct words *w = (struct words *)self;
    if (w->stock(self, text, value) != OPAL_SUCCESS) {
        snprintf(w->wrong, sizeof w->wrong, "%s", text);
        *value = w->unset;
    }
    return OPAL_SUCCESS;
}

static struct words *words_new(const char *name, const mca_base_var_enum_value_t *values, int unset)
{
    mca_base_var_enum_t *e;
    struct words *w = OBJ_NEW(words_t);
    if (w == NULL || mca_base_var_enum_create(name, values, &e) != OPAL_SUCCESS)
        return NULL;
    w->super.enum_name = strdup(name);
    w->super.enum_values = e->enum_values; /* its copies are ours now */
    w->super.enum_value_count = e->enum_value_count;
    e->enum_values = NULL;
    OBJ_RELEASE(e);
    w->stock = w->super.value_from_string;
    w->super.value_from_string = words_read;
    w->unset = unset;
    w->wrong[0] = '\0'; /* OBJ_NEW clears nothing */
    return w;
}

int param_word(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, const mca_base_var_enum_value_t *values, int *value)
{
    struct words *w = words_new(name, values, *value);
    if (w == NULL)
        return OPAL_ERR_OUT_OF_RESOURCE;
    const int index = param_register(c, name, help, level, MCA_BASE_VAR_TYPE_INT, &w->super, value);
    OBJ_RELEASE(w); /* OPAL keeps its own reference */
    return index;
}

/* "concentrate, spread or balanced" */
static void words_list(const struct words *w, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < w->super.enum_value_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0                               ? ""
                                 : i == w->super.enum_value_count - 1 ? " or "
                                                                      : ", ",
                                 w->super.enum_values[i].string);
}

int param_check(int index, struct err *e)
{
    const mca_base_var_t *var;
    char list[128] = "";
    if (index < 0 || mca_base_var_get(index, &var) != OPAL_SUCCESS || var->mbv_enumerator == NULL)
        return 0;
    const struct words *w = (const struct words *)var->mbv_enumerator;
    if (w->wrong[0] == '\0')
        return 0;
    words_list(w, list, sizeof list);
    return err_set(e, EINVAL, "%s '%.32s': write %s", var->mbv_full_name, w->wrong, list);
}

bool param_is_given(int index)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;
    return index >= 0 && mca_base_var_get_value(index, NULL, &source, NULL) == OPAL_SUCCESS &&
           source != MCA_BASE_VAR_SOURCE_DEFAULT;
}
