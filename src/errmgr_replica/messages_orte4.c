/* SPDX-License-Identifier: BSD-3-Clause */
/* messages_orte4.c -- has the job's messages go through pml_replica, at level 2 and up or since
 * they are to be encrypted. */
#include "errmgr_replica.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/opal_environ.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

struct choice {
    const char *name, *value;
};

/* What our message layer needs of stock components besides what the grid does. */
static const struct choice with_replica[] = {
    /* Lanes must take the same decisions, on whatever hosts they are: nothing that looks at
     * locality, or that goes past the message layer. */
    {"pml", "replica"}, {"btl", "self"},     {"osc", "replica"},
    {"io", "ompio"},    {"coll", "^sm,han"}, {"topo", "^treematch"},
};

/* All that reaches from one desktop to another. Looking for the networks of clusters first, as Open
 * MPI does, takes each rank a quarter of a second on a machine that has none; and UCX, when it is
 * but loaded, complains of what a guest may not read. */
static const struct choice with_stock[] = {
    {"pml", "ob1"}, {"btl", "self,vader,tcp"}, {"osc", "^replica,ucx"}};

enum {
    WITH_REPLICA = sizeof with_replica / sizeof with_replica[0],
    WITH_STOCK = sizeof with_stock / sizeof with_stock[0]
};

/* Nothing that the user set is touched. */
static void messages_choose(const struct choice *list, unsigned count, char ***environment)
{
    char name[128];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "OMPI_MCA_%s", list[i].name);
        opal_setenv(name, list[i].value, false, environment);
    }
}

static void messages_withdraw(const struct choice *list, unsigned count, char ***environment)
{
    char name[128];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "OMPI_MCA_%s", list[i].name);
        opal_unsetenv(name, environment);
    }
}

/* pml_replica is not opened in mpirun, but what it is told there decides which message layer the
 * job has; and the peers' parameter files have no say. */
static bool is_wanted(void)
{
    /* Open MPI keeps the address until its end, when this object may be unloaded. */
    bool *wanted = calloc(1, sizeof *wanted);
    if (wanted == NULL ||
        mca_base_var_register("ompi", "pml", "replica", "encrypt", NULL, MCA_BASE_VAR_TYPE_BOOL,
                              NULL, 0, 0, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY, wanted) < 0)
        return false;
    setenv("OMPI_MCA_pml_replica_encrypt", *wanted ? "1" : "0", 1);
    return *wanted;
}

static const char *messages_parameter(char *const *environment, const char *name)
{
    const size_t length = strlen(name);
    for (char *const *v = environment; v != NULL && *v != NULL; v++)
        if (strncmp(*v, name, length) == 0 && (*v)[length] == '=')
            return *v + length + 1;
    return NULL;
}

/* Another message layer would leave them as they are. */
static int use_replica(char ***environment, struct err *e)
{
    if (mca_errmgr_replica_component.chose_stock)
        messages_withdraw(with_stock, WITH_STOCK, environment);
    const char *pml = messages_parameter(*environment, "OMPI_MCA_pml");
    if (pml != NULL && strcmp(pml, "replica") != 0)
        return err_set(e, EINVAL,
                       "lends only to jobs that encrypt their messages, and 'pml %s' does not; "
                       "leave that out",
                       pml);
    messages_choose(with_replica, WITH_REPLICA, environment);
    opal_setenv("OMPI_MCA_pml_replica_encrypt", "1", true, environment);
    return 0;
}

void messages_begin(void)
{
    static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;
    self->encrypted = is_wanted();
    if (self->encrypted || survive_active()) {
        messages_choose(with_replica, WITH_REPLICA, &environ);
        return;
    }
    /* A user who names one of the two knows the network. */
    self->chose_stock = getenv("OMPI_MCA_pml") == NULL && getenv("OMPI_MCA_btl") == NULL;
    if (self->chose_stock)
        messages_choose(with_stock, WITH_STOCK, &environ);
}

bool survive_encrypted(void)
{
    return mca_errmgr_replica_component.encrypted;
}

int survive_encrypt(orte_job_t *job, struct err *e)
{
    int rc = use_replica(&environ, e);
    for (int i = 0; i < job->apps->size && rc == 0; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app != NULL)
            rc = use_replica(&app->env, e);
    }
    mca_errmgr_replica_component.encrypted = rc == 0;
    return rc;
}
