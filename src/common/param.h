/* SPDX-License-Identifier: BSD-3-Clause */
/* param.h -- MCA parameters, registered as Open MPI's own components do: each component has
 * _priority and _verbose, ompi_info shows which words a parameter takes, and its version is that of
 * this package. Names end with the unit of a time (_ms, _s); sizes are bytes, and their help says
 * so. */
#ifndef P2P_SRC_COMMON_PARAM_H
#define P2P_SRC_COMMON_PARAM_H
#include "opal_config.h"
#include "opal/mca/base/mca_base_framework.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/mca.h"
#include "overlay/base/err.h"
#include <stdbool.h>

/* For the version field of a component; P2P_MAJOR... are configure's. */
#define PARAM_VERSION(field) MCA_BASE_MAKE_VERSION(field, P2P_MAJOR, P2P_MINOR, P2P_RELEASE)

/* _priority, whose default *priority holds, and _verbose, whose default is the framework's. */
void param_common(const mca_base_component_t *c, const mca_base_framework_t *framework,
                  int *priority, int *verbose);

/* These return the parameter's index. The value that is there is the default. */
int param_int(const mca_base_component_t *c, const char *name, const char *help,
              mca_base_var_info_lvl_t level, int *value);
int param_unsigned(const mca_base_component_t *c, const char *name, const char *help,
                   mca_base_var_info_lvl_t level, unsigned *value);
int param_size(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, size_t *value);
int param_bool(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, bool *value);
int param_text(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, char **value);
/* It may be given by this name as well, such as p2p_files for ras_p2p_files. */
void param_short_name(int index, const char *name);
/* One of some words; `values` ends with {0, NULL}. A word that is none of them leaves the default,
 * and param_check() says so. */
int param_word(const mca_base_component_t *c, const char *name, const char *help,
               mca_base_var_info_lvl_t level, const mca_base_var_enum_value_t *values, int *value);
/* Was it given a word that it takes, or none? Else -EINVAL, with the line for the user. */
int param_check(int index, struct err *e);
/* Did anybody give it a value? */
bool param_is_given(int index);

/* In mpirun: one line for each parameter that is given by its old name. Open MPI takes it, but
 * tells of it only where it comes from a file. */
void param_tell_renamed(void);
#endif
