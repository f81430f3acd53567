/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.c -- which folder may be opened to a job. */
#include "folder.h"
#include "overlay/base/beneath.h"
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool folder_holds(const char *folder, const char *path)
{
    return path_beneath(path, strcmp(folder, "/") == 0 ? "" : folder) != NULL;
}

/* Programs keep keys, and what is executed at the next login, in such folders. */
int folder_judge(const char *folder, const char *home, struct err *e)
{
    if (folder[0] != '/' || strlen(folder) > FOLDER_PATH)
        return err_set(e, EACCES, "has no name that can be used");
    if (folder_holds(folder, home))
        return err_set(e, EACCES, "is your home, or holds it");
    if (folder_holds(home, folder) && folder[strlen(home) + 1] == '.')
        return err_set(e, EACCES, "is where programs keep settings and keys");
    return 0;
}

static const char *folder_home(void)
{
    const struct passwd *user = getpwuid(getuid());
    return user != NULL ? user->pw_dir : getenv("HOME");
}

static int folder_check_secrets(const char *folder, const char *const *secret, struct err *e)
{
    char real[PATH_MAX];
    for (; *secret != NULL; secret++)
        if (realpath(*secret, real) != NULL &&
            (folder_holds(folder, real) || folder_holds(real, folder)))
            return err_set(e, EACCES, "holds p2pgrid's own keys or folders");
    return 0;
}

int folder_check(const char *folder, const char *const *secret, struct err *e)
{
    char real[PATH_MAX], home[PATH_MAX];
    struct stat st;
    const char *named = folder_home();
    if (named == NULL || realpath(named, home) == NULL)
        return err_set(e, EACCES, "cannot be told from your home, which is not known");
    if (realpath(folder, real) == NULL || stat(real, &st) != 0)
        return err_set(e, errno, "is not there: %s", strerror(errno));
    if (strcmp(real, folder) != 0)
        return err_set(e, EACCES, "is a link's name, of %.200s", real);
    if (!S_ISDIR(st.st_mode) || st.st_uid != getuid())
        return err_set(e, EACCES, "is no folder of yours");
    int rc = folder_judge(real, home, e);
    return rc == 0 ? folder_check_secrets(real, secret, e) : rc;
}
