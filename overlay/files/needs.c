/* SPDX-License-Identifier: BSD-3-Clause */
/* needs.c -- what is needed of a system, gathered, written and read. */
#include "needs.h"
#include <stdio.h>
#include <string.h>

static const char signs[] = " :|;";

static bool fits(const char *word, size_t most)
{
    return word[0] != '\0' && strlen(word) <= most && strpbrk(word, signs) == NULL;
}

static struct need *find(struct needs *n, const char *name)
{
    for (unsigned i = 0; i < n->count; i++)
        if (strcmp(n->at[i].name, name) == 0)
            return &n->at[i];
    if (n->count == NEEDS_MOST)
        return NULL;
    struct need *need = &n->at[n->count++];
    need->count = 0;
    strcpy(need->name, name);
    return need;
}

void needs_add(struct needs *n, const char *name, const char *version)
{
    struct need *need = fits(name, ELF_LIBRARY) ? find(n, name) : NULL;
    if (need == NULL || version == NULL || !fits(version, ELF_SYMBOL))
        return;
    for (unsigned i = 0; i < need->count; i++) {
        if (elf_is_covered(version, need->version[i]))
            return;
        if (elf_is_covered(need->version[i], version)) {
            strcpy(need->version[i], version);
            return;
        }
    }
    if (need->count < NEEDS_VERSIONS)
        strcpy(need->version[need->count++], version);
}

static size_t write_need(const struct need *need, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, " %s", need->name);
    for (unsigned i = 0; i < need->count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, ":%s", need->version[i]);
    return at;
}

void needs_write(const struct needs *n, const char *machine, const char *between,
                 char out[NEEDS_TEXT + 1])
{
    char one[2 + ELF_LIBRARY + NEEDS_VERSIONS * (ELF_SYMBOL + 1)];
    size_t at = strlen(out);
    if (at + strlen(between) + strlen(machine) > NEEDS_TEXT)
        return;
    at += (size_t)snprintf(out + at, NEEDS_TEXT + 1 - at, "%s%s", between, machine);
    for (unsigned i = 0; i < n->count; i++) {
        const size_t length = write_need(&n->at[i], one, sizeof one);
        if (at + length > NEEDS_TEXT)
            return;
        memcpy(out + at, one, length + 1);
        at += length;
    }
}

/* A word of the text; false: it is empty, or longer than that. */
static bool take_word(const char **at, char *out, size_t most)
{
    const size_t length = strcspn(*at, signs);
    if (length == 0 || length > most)
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    return true;
}

const char *needs_read(struct needs *n, const char *text, char machine[16], bool *last)
{
    char name[ELF_LIBRARY + 1], version[ELF_SYMBOL + 1];
    n->count = 0;
    if (!take_word(&text, machine, 15))
        return NULL;
    while (*text == ' ') {
        text++;
        if (!take_word(&text, name, ELF_LIBRARY))
            return NULL;
        needs_add(n, name, NULL);
        while (*text == ':') {
            text++;
            if (!take_word(&text, version, ELF_SYMBOL))
                return NULL;
            needs_add(n, name, version);
        }
    }
    *last = *text != '|';
    return *text != '\0' ? text + 1 : text;
}
