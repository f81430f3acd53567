/* SPDX-License-Identifier: BSD-3-Clause */
/* own_names.c -- has the dynamic linker know this object by its other names, too. */
#include "own_names.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The linker compares files the first time that it hears a name, and names from then on. */
static void keep_name(const char *folder, int folder_length, const char *name, int length)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%.*s%.*s.so", folder_length, folder, length, name) <
        (int)sizeof path)
        (void)dlopen(path, RTLD_LAZY | RTLD_NOLOAD); /* for as long as the process lives */
}

void own_names_keep(const void *inside, const char *names)
{
    Dl_info self;
    const char *slash = dladdr(inside, &self) != 0 ? strrchr(self.dli_fname, '/') : NULL;
    if (slash == NULL)
        return;
    for (const char *at = names; *at != '\0';) {
        const int length = (int)strcspn(at, " ");
        if (length > 0)
            keep_name(self.dli_fname, (int)(slash + 1 - self.dli_fname), at, length);
        at += length + (at[length] == ' ');
    }
}
