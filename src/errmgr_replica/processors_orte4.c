/* SPDX-License-Identifier: BSD-3-Clause */
/* processors_orte4.c -- mpirun learns which processors the peers of a job have, and tells the ranks
 * what libraries may use where these differ. An orted says it in the signature of its topology,
 * which it sends to mpirun in any case; the name of the architecture is a part of that. */
#include "errmgr_replica.h"
#include "opal/mca/hwloc/base/base.h"
#include "opal/util/opal_environ.h"
#include "orte/mca/rmaps/rmaps_types.h"
#include "src/common/log.h"
#include "src/survive/processors.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct errmgr_replica_component *const self = &mca_errmgr_replica_component;

static unsigned usable_here(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    return all > 0 ? (unsigned)all : 1;
}

/* Before ORTE makes the signature, in mpirun as well: topologies with the same one are sent once.
 */
void processors_say(void)
{
    hwloc_obj_t root = opal_hwloc_topology != NULL ? hwloc_get_root_obj(opal_hwloc_topology) : NULL;
    for (unsigned i = 0; root != NULL && i < root->infos_count; i++) {
        struct hwloc_info_s *info = &root->infos[i];
        if (strcmp(info->name, "Architecture") != 0 || strchr(info->value, '+') != NULL)
            continue;
        struct processor own;
        char text[PROCESSOR_TEXT];
        FILE *f = fopen("/proc/cpuinfo", "re");
        processor_read(&own, f, usable_here());
        if (f != NULL)
            fclose(f);
        processor_text(&own, info->value, text);
        char *copy = strdup(text);
        if (copy != NULL) {
            free(info->value);
            info->value = copy;
        }
    }
}

/* "...:ARCHITECTURE:le" */
static bool read_signature(const char *signature, struct processor *p)
{
    const char *end = strrchr(signature, ':'), *begin = end;
    while (begin != NULL && begin > signature && begin[-1] != ':')
        begin--;
    return end != NULL && processor_parse(p, begin, (size_t)(end - begin));
}

static void find_common(const orte_job_t *job, struct common *c)
{
    struct processor p;
    for (int i = 0; i < job->map->nodes->size; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(job->map->nodes, i);
        if (node != NULL && node->topology != NULL && node->topology->sig != NULL &&
            read_signature(node->topology->sig, &p))
            common_add(c, &p);
    }
}

/* What the user gives by -x stays; true: something was set. */
static bool set_for_all(orte_job_t *job, const struct common_setting *s)
{
    bool any = false;
    for (int i = 0; i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        any |= app != NULL && opal_setenv(s->name, s->value, false, &app->env) == OPAL_SUCCESS;
    }
    return any;
}

void processors_join(orte_job_t *job)
{
    struct common common = {.count = 0};
    struct common_setting s;
    bool any = false;
    find_common(job, &common);
    if (OPAL_BINDING_POLICY_IS_SET(job->map->binding) &&
        OPAL_GET_BINDING_POLICY(job->map->binding) != OPAL_BIND_TO_NONE)
        common.other_counts = false; /* the user has said what a rank may use */
    for (unsigned i = 0; common_setting(&common, i, &s); i++)
        any |= set_for_all(job, &s);
    if (any && self->notes)
        log_line("the desktops of this job differ in their processors: so that its copies compute "
                 "alike, libraries use what all have (man pml_replica, PROCESSORS)");
}
