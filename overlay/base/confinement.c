/* SPDX-License-Identifier: BSD-3-Clause */
/* confinement.c -- the words for what a machine can keep guests from. */
#include "confinement.h"
#include <stdio.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *word;
} words[] = {
    {CONFINE_FILES, "files"},       {CONFINE_TCP, "tcp"},       {CONFINE_SIGNALS, "signals"},
    {CONFINE_SYSCALLS, "syscalls"}, {CONFINE_LIMITS, "limits"}, {CONFINE_SOCKETS, "sockets"},
    {CONFINE_PEERS, "peers"},       {CONFINE_CGROUP, "cgroup"},
};

bool confinement_bit(const char *word, unsigned *bit)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) {
            *bit = words[i].bit;
            return true;
        }
    return false;
}

const char *confinement_text(unsigned bits, char *text, size_t size)
{
    size_t at = 0;
    snprintf(text, size, "nothing");
    for (size_t i = 0; i < sizeof words / sizeof *words && at < size; i++)
        if (bits & words[i].bit)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? ", " : "", words[i].word);
    return text;
}
