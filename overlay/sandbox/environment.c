/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.c -- the environment of a launched command. */
#include "environment.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const inherited[] = {"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ"};

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return strncmp(a, b, n) == 0 && b[n] == '=';
}

static bool is_inherited(const char *entry)
{
    if (strncmp(entry, "OMPI_MCA_", 9) == 0)
        return true;
    for (size_t i = 0; i < sizeof inherited / sizeof inherited[0]; i++) {
        size_t n = strlen(inherited[i]);
        if (strncmp(entry, inherited[i], n) == 0 && entry[n] == '=')
            return true;
    }
    return false;
}

int environment_set(char **environment, const char *entry)
{
    size_t i = 0;
    while (environment[i] != NULL && !same_name(entry, environment[i]))
        i++;
    if (i == ENVIRONMENT_MAX)
        return -E2BIG;
    char *copy = strdup(entry);
    if (copy == NULL)
        return -ENOMEM;
    free(environment[i]);
    environment[i] = copy;
    return 0;
}

char **environment_make(char *const *own, const uint8_t *added, size_t length)
{
    char **environment = calloc(ENVIRONMENT_MAX + 1, sizeof *environment);
    int rc = environment != NULL ? 0 : -ENOMEM;
    for (; rc == 0 && *own != NULL; own++)
        if (is_inherited(*own))
            rc = environment_set(environment, *own);
    const char *entry = (const char *)added, *end = entry + length;
    if (rc == 0 && length > 0 && end[-1] != '\0')
        rc = -EINVAL;
    for (; rc == 0 && length > 0 && entry < end; entry += strlen(entry) + 1)
        rc = strchr(entry, '=') > entry ? environment_set(environment, entry) : -EINVAL;
    if (rc == 0)
        return environment;
    environment_free(environment);
    errno = -rc;
    return NULL;
}

void environment_free(char **environment)
{
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        free(environment[i]);
    free(environment);
}
