/* SPDX-License-Identifier: BSD-3-Clause */
/* other_versions.c -- the oldest one makes room for the next. */
#include "other_versions.h"
#include <stdio.h>
#include <string.h>

static bool is_at(const struct other_version *v, const struct addr *at)
{
    return v->text[0] != '\0' && memcmp(v->at.ip, at->ip, sizeof at->ip) == 0;
}

static struct other_version *place_for(struct other_versions *o, const struct addr *at)
{
    struct other_version *oldest = &o->all[0];
    for (unsigned i = 0; i < OTHER_VERSIONS; i++) {
        if (is_at(&o->all[i], at))
            return &o->all[i];
        if (o->all[i].seen_ms < oldest->seen_ms)
            oldest = &o->all[i];
    }
    *oldest = (struct other_version){.at = *at};
    return oldest;
}

bool other_version_note(struct other_versions *o, const struct addr *at, const char *text,
                        uint64_t now_ms)
{
    struct other_version *v = place_for(o, at);
    const bool news = strncmp(v->text, text, OTHER_VERSION_TEXT) != 0 ||
                      now_ms - v->told_ms >= OTHER_VERSION_LOG_MS;
    snprintf(v->text, sizeof v->text, "%s", text);
    v->seen_ms = now_ms;
    if (news)
        v->told_ms = now_ms;
    return news;
}

void other_version_forget(struct other_versions *o, const struct addr *at)
{
    for (unsigned i = 0; i < OTHER_VERSIONS; i++)
        if (is_at(&o->all[i], at))
            o->all[i] = (struct other_version){0};
}

void other_versions_text(const struct other_versions *o, char *out, size_t size, uint64_t now_ms)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < OTHER_VERSIONS; i++) {
        const struct other_version *v = &o->all[i];
        const size_t length = strlen(v->text) + (used > 0);
        if (v->text[0] == '\0' || now_ms - v->seen_ms > OTHER_VERSION_MS || length >= size - used)
            continue;
        snprintf(out + used, size - used, "%s%s", used > 0 ? "\n" : "", v->text);
        used += length;
    }
}
