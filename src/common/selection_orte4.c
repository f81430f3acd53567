/* SPDX-License-Identifier: BSD-3-Clause */
/* selection_orte4.c -- the selection of ras, from wherever Open MPI takes its parameters. */
#include "selection.h"
#include "orte_config.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_var.h"
#include <stdlib.h>

/* mpirun knows the selection from its command line, which it puts into the environment, or from a
 * parameter file. Only in mpirun does ras register its selection itself, later than we are asked,
 * and in orted and ranks never. So it is registered here; a second registration of the same name
 * gives the same value. */
static const char *selection_read(void)
{
    const char *given = getenv("OMPI_MCA_ras");
    if (given != NULL)
        return given;
    int index = mca_base_var_find("orte", "ras", NULL, NULL);
    if (index < 0) {
        /* Open MPI keeps the address until its end, when this object may be unloaded. */
        char **storage = calloc(1, sizeof *storage);
        index = mca_base_var_register(
            "orte", "ras", NULL, NULL,
            "Default selection set of components for the ras framework (<none> means use all "
            "components that can be found)",
            MCA_BASE_VAR_TYPE_STRING, NULL, 0, MCA_BASE_VAR_FLAG_SETTABLE, OPAL_INFO_LVL_2,
            MCA_BASE_VAR_SCOPE_ALL_EQ, storage);
    }
    char **value = NULL;
    if (index < 0 || mca_base_var_get_value(index, &value, NULL, NULL) != OPAL_SUCCESS)
        return NULL;
    return value == NULL ? NULL : *value;
}

bool selection_is_p2p(void)
{
    return selection_names(selection_read(), "p2p");
}
