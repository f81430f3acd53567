/* SPDX-License-Identifier: BSD-3-Clause */
/* keep.c -- writes down the messages of today's protocols, for all later versions to be held
 * against. usage: keep FOLDER */
#include "kept.h"
#include "overlay/client/socket_path.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void keep(const char *folder, const char *what, unsigned version)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%u", folder, what, version);
    FILE *f = fopen(path, "wx"); /* what is kept stays as it is */
    if (f == NULL && errno == EEXIST) {
        printf("%s is there already\n", path);
        return;
    }
    if (f != NULL)
        kept_write(f, strcmp(what, "local") == 0, version);
    if (f == NULL || ferror(f) || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
    printf("%s: written\n", path);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: keep FOLDER\n");
        return 2;
    }
    keep(argv[1], "links", WIRE_HIGHEST);
    keep(argv[1], "local", LOCAL_PROTOCOL);
    return 0;
}
