/* SPDX-License-Identifier: BSD-3-Clause */
/* hardware.c -- hwloc's description of this machine. */
#include "hardware.h"
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

char *hardware_describe(void)
{
    hwloc_topology_t topology;
    char *xml = NULL, *own = NULL;
    int length;
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1); /* see cores_new() */
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0 &&
            hwloc_topology_export_xmlbuffer(topology, &xml, &length, 0) == 0) {
            own = strdup(xml);
            hwloc_free_xmlbuffer(topology, xml);
        }
        hwloc_topology_destroy(topology);
    }
    unsetenv("HWLOC_PLUGINS_PATH");
    return own;
}

int hardware_file(void)
{
    char *xml = hardware_describe();
    const size_t length = xml != NULL ? strlen(xml) : 0;
    int fd = memfd_create("hardware", MFD_CLOEXEC), rc = fd;
    if (fd < 0) {
        rc = -errno;
    } else if (write(fd, xml, length) != (ssize_t)length) {
        close(fd);
        rc = -ENOMEM;
    }
    free(xml);
    return rc;
}
