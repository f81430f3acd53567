/* SPDX-License-Identifier: BSD-3-Clause */
/* hardware_orte4.c -- mpirun knows its machine when its PMIx server starts, which would look again:
 * ten milliseconds of each job. */
#include "errmgr_replica.h"
#include "opal/mca/hwloc/base/base.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char variable[] = "PMIX_MCA_pmix_hwloc_topo_file";

void hardware_tell(void)
{
    char *xml, path[32];
    int length;
    if (getenv(variable) != NULL || opal_hwloc_topology == NULL ||
        hwloc_topology_export_xmlbuffer(opal_hwloc_topology, &xml, &length, 0) != 0)
        return;
    const int fd = memfd_create("hardware", MFD_CLOEXEC);
    if (fd > 0 && write(fd, xml, (size_t)length - 1) == length - 1) { /* without the NUL */
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        setenv(variable, path, 1);
        mca_errmgr_replica_component.hardware = fd;
    } else if (fd >= 0) {
        close(fd);
    }
    hwloc_free_xmlbuffer(opal_hwloc_topology, xml);
}

/* No process that mpirun starts shall look for it. */
void hardware_told(void)
{
    if (mca_errmgr_replica_component.hardware <= 0)
        return;
    unsetenv(variable);
    close(mca_errmgr_replica_component.hardware);
    mca_errmgr_replica_component.hardware = 0;
}
