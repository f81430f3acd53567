/* SPDX-License-Identifier: BSD-3-Clause */
/* aggregate.c -- reads a list of parameter files as Open MPI writes it. */
#include "aggregate.h"
#include <string.h>

bool aggregate_names_grid(const char *files)
{
    static const char own[] = "p2p";
    while (files != NULL && *files != '\0') {
        const size_t length = strcspn(files, ":");
        const char *slash = memrchr(files, '/', length);
        const char *name = slash != NULL ? slash + 1 : files;
        const size_t rest = length - (size_t)(name - files);
        if (rest == sizeof own - 1 && memcmp(name, own, rest) == 0)
            return true;
        files += length + (files[length] == ':');
    }
    return false;
}

bool aggregate_is_of_job(const char *parameter)
{
    static const char *const beginnings[] = {
        "ras_p2p_",         "plm_p2p_",     "rmaps_locality_", "errmgr_replica_", "pml_replica_",
        "grpcomm_replica_", "iof_replica_", "osc_replica_",    "fs_replica_",     "fbtl_replica_"};
    if (strcmp(parameter, "ras") == 0)
        return true;
    for (unsigned i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(parameter, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}
