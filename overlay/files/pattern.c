/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.c -- the matcher goes back to the last star alone, and to the last `**`, so a pattern of
 * many stars costs no more than one. */
#include "pattern.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One of a set at `p` ("[a-z]"): where the set ends, or NULL when it has no end. */
static const char *match_set(const char *p, char c, bool *matches)
{
    const bool other = p[1] == '!' || p[1] == '^';
    const char *first = p + 1 + other, *at = first;
    bool in = false;
    for (; *at != '\0' && (*at != ']' || at == first); at++) {
        if (at[1] == '-' && at[2] != ']' && at[2] != '\0') {
            in |= (unsigned char)at[0] <= (unsigned char)c &&
                  (unsigned char)c <= (unsigned char)at[2];
            at += 2;
        } else {
            in |= *at == c;
        }
    }
    *matches = in != other && c != '/';
    return *at == ']' ? at + 1 : NULL;
}

/* Matches one character; NULL: it does not. */
static const char *match_one(const char *p, char c)
{
    bool matches = false;
    const char *end;
    if (*p == '?')
        return c != '/' ? p + 1 : NULL;
    if (*p == '[' && (end = match_set(p, c, &matches)) != NULL)
        return matches ? end : NULL;
    if (*p == '\\' && p[1] != '\0')
        p++;
    return *p == c ? p + 1 : NULL;
}

bool pattern_matches(const char *p, const char *s)
{
    const char *star = NULL, *star_at = NULL;   /* after `*`, and where it stands now */
    const char *stars = NULL, *stars_at = NULL; /* the same of `**` */
    const char *begin = p;
    while (*s != '\0' || *p != '\0') {
        const char *next;
        if (p[0] == '*' && p[1] == '*' && (p[2] == '/' || p[2] == '\0') &&
            (p == begin || p[-1] == '/')) {
            if (p[2] == '\0')
                return *s != '\0';
            stars = p += 3;
            stars_at = s;
            star = NULL;
        } else if (*p == '*') {
            star = ++p;
            star_at = s;
        } else if (*s != '\0' && *p != '\0' && (next = match_one(p, *s)) != NULL) {
            p = next;
            s++;
        } else if (star != NULL && *star_at != '\0' && *star_at != '/') {
            p = star;
            s = ++star_at;
        } else if (stars != NULL && (stars_at = strchr(stars_at, '/')) != NULL) {
            p = stars;
            s = ++stars_at;
            star = NULL;
        } else {
            return false;
        }
    }
    return true;
}

static void rule_read(struct pattern_rule *rule, char *line)
{
    *rule = (struct pattern_rule){0};
    if (*line == '!') {
        rule->again = true;
        line++;
    }
    size_t length = strlen(line);
    if (length > 1 && line[length - 1] == '/') {
        rule->folder = true;
        line[length - 1] = '\0';
    }
    rule->anchored = strchr(line, '/') != NULL;
    rule->pattern = *line == '/' ? line + 1 : line;
}

static void trim(char *line)
{
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL &&
           (length < 2 || line[length - 2] != '\\'))
        line[--length] = '\0';
}

int pattern_rules(struct pattern_rules *rules, char *text)
{
    char *rest = NULL;
    *rules = (struct pattern_rules){0};
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        trim(line);
        if (*line == '\0' || *line == '#')
            continue;
        if (rules->count == PATTERN_RULES)
            return -E2BIG;
        struct pattern_rule *more = realloc(rules->rule, (rules->count + 1) * sizeof *more);
        if (more == NULL)
            return -ENOMEM;
        rules->rule = more;
        rule_read(&more[rules->count++], line);
    }
    return 0;
}

bool pattern_leaves_out(const struct pattern_rules *rules, const char *path, bool folder)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (size_t i = rules->count; i-- > 0;) {
        const struct pattern_rule *rule = &rules->rule[i];
        if ((folder || !rule->folder) &&
            pattern_matches(rule->pattern, rule->anchored ? path : name))
            return !rule->again;
    }
    return false;
}
