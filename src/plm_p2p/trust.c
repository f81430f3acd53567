/* SPDX-License-Identifier: BSD-3-Clause */
/* trust.c -- a spawn request is whitelisted: what makes mpirun read or write a file, or start
 * anything itself, is none of a peer's business. */
#include "trust.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool is_own(const char *word, size_t length, const char *own)
{
    static const char *const always[] = {"localhost", "127.0.0.1", "::1"};
    const size_t first = strcspn(own, ".");
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strlen(always[i]) == length && strncasecmp(always[i], word, length) == 0)
            return true;
    return length >= first && strncasecmp(word, own, first) == 0 &&
           (length == first || word[first] == '.');
}

bool trust_names(const char *hosts, const char *own)
{
    for (const char *word = hosts; word != NULL && *word != '\0';) {
        word += strspn(word, " ");
        const size_t span = strcspn(word, ",");
        size_t length = 0;
        while (length < span && word[length] != ':' && word[length] != ' ')
            length++;
        if (length > 0 && is_own(word, length, own))
            return true;
        word += span + (word[span] == ',');
    }
    return false;
}

static bool is_usual(const char *word, const char *const *usual)
{
    while (*usual != NULL && strcmp(*usual, word) != 0)
        usual++;
    return *usual != NULL;
}

int trust_judge(const struct trust_spawn *s, struct err *e)
{
    static const char *const mappers[] = {"round_robin", "ppr", "locality", NULL},
                             *const personalities[] = {"ompi", NULL};
    enum { SEQUENCE = 20, STAGED = 21, BY_FILE = 22 }; /* of Open MPI's mapping policies */
    if (s->strange != NULL)
        return err_set(e, EPERM, "has %s, which a peer may not ask for", s->strange);
    if (trust_names(s->hosts, s->own))
        return err_set(
            e, EPERM,
            "asks for processes on %s, where mpirun is, which starts none itself: leave 'host' out",
            s->own);
    if (s->mapper != NULL && !is_usual(s->mapper, mappers))
        return err_set(e, EPERM, "asks for the mapper '%.32s', which reads files of mpirun's",
                       s->mapper);
    if (s->map_by == SEQUENCE || s->map_by == STAGED || s->map_by == BY_FILE)
        return err_set(e, EPERM, "asks to be placed as files of mpirun's say");
    for (char *const *p = s->personality; p != NULL && *p != NULL; p++)
        if (!is_usual(*p, personalities))
            return err_set(e, EPERM, "asks for the personality '%.32s'", *p);
    return 0;
}
