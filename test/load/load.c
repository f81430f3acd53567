/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c -- can Open MPI load every component? Binds all symbols now, and looks for the component's
 * own, under each name that is installed.
 * needs: all */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load(const char *folder, const char *file)
{
    char path[4096], symbol[256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(symbol, sizeof symbol, "%.*s_component", (int)(strlen(file) - strlen(".so")), file);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        printf("%s: %s\n", file, dlerror());
        return 1;
    }
    const int missing = dlsym(object, symbol) == NULL;
    printf("%s: %s %s\n", file, missing ? "lacks" : "has", symbol);
    dlclose(object);
    return missing;
}

int main(void)
{
    char folder[2048];
    const char *build = getenv("builddir");
    snprintf(folder, sizeof folder, "%s/components", build != NULL ? build : ".");
    DIR *dir = opendir(folder);
    int failures = 0, count = 0;
    for (const struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
        const char *end = strrchr(d->d_name, '.');
        if (end != NULL && strcmp(end, ".so") == 0 && strncmp(d->d_name, "mca_", 4) == 0) {
            failures += load(folder, d->d_name);
            count++;
        }
    }
    if (dir != NULL)
        closedir(dir);
    printf("%d components in %s, %d cannot be loaded\n", count, folder, failures);
    return failures > 0 || count < 3;
}
