/* SPDX-License-Identifier: BSD-3-Clause */
/* aggregate_orte4.c -- from files to the environment, where Open MPI looks for each parameter. */
#include "aggregate.h"
#include "opal_config.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/base/mca_base_vari.h"
#include "opal/util/argv.h"
#include <stdio.h>
#include <stdlib.h>

static const char prefix[] = "OMPI_MCA_mca_base_param_file_prefix";

static void aggregate_read(const char *files, char between, bool only_of_job)
{
    char **names = opal_argv_split(files, between), variable[256];
    opal_list_t values;
    const mca_base_var_file_value_t *v;
    OBJ_CONSTRUCT(&values, opal_list_t);
    for (int i = opal_argv_count(names) - 1; i >= 0; i--) /* the first one counts most */
        (void)mca_base_parse_paramfile(names[i], &values);
    OPAL_LIST_FOREACH(v, &values, mca_base_var_file_value_t)
    {
        snprintf(variable, sizeof variable, "OMPI_MCA_%s", v->mbvfv_var);
        if (v->mbvfv_value != NULL && (!only_of_job || aggregate_is_of_job(v->mbvfv_var)))
            setenv(variable, v->mbvfv_value, 0);
    }
    OPAL_LIST_DESTRUCT(&values);
    opal_argv_free(names);
}

static char **files_of(const char *parameter)
{
    char **files = NULL;
    const int index = mca_base_var_find("opal", "mca", "base", parameter);
    return index >= 0 && mca_base_var_get_value(index, &files, NULL, NULL) == OPAL_SUCCESS ? files
                                                                                           : NULL;
}

/* The parameter is emptied after that: orteds get what it stood for, and need not look for files;
 * and mpirun does not say that --am is not to be used. */
void aggregate_take(void)
{
    char **files = files_of("param_file_prefix");
    if (files == NULL || !aggregate_names_grid(*files))
        return;
    aggregate_read(*files, ':', false);
    setenv("OMPI_MCA_ras", "p2p", 0); /* where there is no such file, too */
    unsetenv(prefix);
    free(*files);
    *files = NULL;
}

void aggregate_pass_on(void)
{
    char **tuned = files_of("envar_file_prefix"), **usual = files_of("param_files");
    if (tuned != NULL && *tuned != NULL)
        aggregate_read(*tuned, ',', true);
    if (usual != NULL && *usual != NULL)
        aggregate_read(*usual, ',', true);
}
