/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_caller.c -- who calls, by the name of the library that the call comes from. */
#include "caller.h"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool caller_is_mpi(const void *caller)
{
    static const char *const names[] = {"libmpi",  "libopen-",  "mca_",    "libmca_",
                                        "libpmix", "libhwloc.", "libevent"};
    Dl_info object;
    if (dladdr(caller, &object) == 0 || object.dli_fname == NULL)
        return false;
    const char *slash = strrchr(object.dli_fname, '/'),
               *name = slash != NULL ? slash + 1 : object.dli_fname;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}
