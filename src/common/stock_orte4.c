/* SPDX-License-Identifier: BSD-3-Clause */
/* stock_orte4.c -- asks a stock component as Open MPI would, and keeps its code mapped. */
#include "stock.h"
#include "opal/mca/base/mca_base_component_repository.h"
#include "opal/mca/base/mca_base_framework.h"
#include <string.h>

mca_base_module_t *stock_find(const mca_base_framework_t *framework, const char *name)
{
    mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, &framework->framework_components, mca_base_component_list_item_t)
    {
        const mca_base_component_t *c = item->cli_component;
        mca_base_module_t *module = NULL;
        int priority = 0;
        if (strcmp(c->mca_component_name, name) != 0 ||
            c->mca_query_component(&module, &priority) != OPAL_SUCCESS || module == NULL)
            continue;
        if (mca_base_component_repository_retain_component(framework->framework_name, name) ==
            OPAL_SUCCESS)
            return module;
    }
    return NULL;
}
