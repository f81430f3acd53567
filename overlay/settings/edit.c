/* SPDX-License-Identifier: BSD-3-Clause */
/* edit.c -- finds the statements of a text as libconfuse does: NAME = VALUE or NAME += {VALUE,
 * ...}, with blanks, newlines and comments anywhere between. */
#include "edit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- words --- */

enum { KIND_END = 0, KIND_WORD = 'w', KIND_SETS = '=' }; /* or the character itself */

struct token {
    const char *at, *end;
    char kind;
};

static const char *after_line(const char *at)
{
    return at + strcspn(at, "\n");
}

static const char *after_comment(const char *at)
{
    const char *end = strstr(at + 2, "*/");
    return end != NULL ? end + 2 : at + strlen(at);
}

static const char *after_blanks(const char *at)
{
    for (;;)
        if (*at == '#' || strncmp(at, "//", 2) == 0)
            at = after_line(at);
        else if (strncmp(at, "/*", 2) == 0)
            at = after_comment(at);
        else if (*at != '\0' && strchr(" \t\r\n", *at) != NULL)
            at++;
        else
            return at;
}

static const char *after_string(const char *at)
{
    const char quote = *at++;
    for (; *at != '\0' && *at != quote; at++)
        if (*at == '\\' && at[1] != '\0')
            at++;
    return *at == quote ? at + 1 : at;
}

static const char *after_word(const char *at)
{
    for (; *at != '\0' && strchr(" \t\r\n\"'={}(),#", *at) == NULL && strncmp(at, "+=", 2) != 0;
         at++)
        if (*at == '\\' && at[1] != '\0')
            at++;
    return at;
}

static struct token token_next(const char *at)
{
    struct token t = {.at = after_blanks(at)};
    t.kind = *t.at;
    t.end = t.at + (*t.at != '\0' ? 1 : 0);
    if (t.kind == '\0' || strchr("={}(),", t.kind) != NULL)
        return t;
    if (strncmp(t.at, "+=", 2) == 0)
        return (struct token){t.at, t.at + 2, KIND_SETS};
    t.end = t.kind == '"' || t.kind == '\'' ? after_string(t.at) : after_word(t.at);
    t.kind = KIND_WORD;
    return t;
}

/* --- statements --- */

struct statement {
    const char *at, *end, *name_end;
};

static const char *after_value(const struct token *sets)
{
    struct token t = token_next(sets->end);
    if (t.kind == '{')
        while (t.kind != '}' && t.kind != KIND_END)
            t = token_next(t.end);
    return t.end;
}

static bool statement_next(const char *at, struct statement *s)
{
    for (struct token name = token_next(at), next; name.kind != KIND_END; name = next) {
        next = token_next(name.end);
        if (name.kind != KIND_WORD || next.kind != KIND_SETS)
            continue;
        *s = (struct statement){name.at, after_value(&next), name.end};
        return true;
    }
    return false;
}

static bool statement_sets(const struct statement *s, const char *name)
{
    const size_t length = strlen(name);
    return (size_t)(s->name_end - s->at) == length && memcmp(s->at, name, length) == 0;
}

static unsigned edit_count(const char *text, const char *name)
{
    struct statement s = {.end = text};
    unsigned n = 0;
    while (statement_next(s.end, &s))
        n += statement_sets(&s, name);
    return n;
}

bool edit_has(const char *text, const char *name)
{
    return edit_count(text, name) > 0;
}

/* --- changes --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* What goes with a statement: its line where nothing else is on it, or the blanks beside it. */
static void statement_widen(const char *text, struct statement *s)
{
    const char *at = s->at, *end = s->end;
    while (at > text && is_blank(at[-1]))
        at--;
    while (is_blank(*end))
        end++;
    const bool begins = at == text || at[-1] == '\n', ends = *end == '\n' || *end == '\0';
    if (!ends)
        s->end = end;
    else if (!begins)
        s->at = at;
    else {
        s->at = at;
        s->end = *end == '\n' ? end + 1 : end;
    }
}

char *edit_setting(const char *text, const char *name, const char *value)
{
    char *out = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&out, &length);
    unsigned left = edit_count(text, name);
    const bool is_new = left == 0;
    const char *done = text;
    struct statement s = {.end = text};
    while (f != NULL && statement_next(s.end, &s)) {
        if (!statement_sets(&s, name))
            continue;
        const bool replaced = --left == 0 && value != NULL;
        if (!replaced)
            statement_widen(text, &s);
        if (s.at > done)
            fwrite(done, 1, (size_t)(s.at - done), f);
        if (replaced)
            fprintf(f, "%s = %s", name, value);
        done = s.end;
    }
    if (f == NULL)
        return NULL;
    fputs(done, f);
    if (is_new && value != NULL)
        fprintf(f, "%s%s = %s\n", *done != '\0' && done[strlen(done) - 1] != '\n' ? "\n" : "", name,
                value);
    if (fclose(f) == 0)
        return out;
    free(out);
    return NULL;
}

/* In "..." the parser knows \ and ${VARIABLE}. */
bool edit_quote(const char *word, char *out, size_t size)
{
    size_t used = 0;
    if (size < 3)
        return false;
    out[used++] = '"';
    for (; *word != '\0'; word++) {
        if ((unsigned char)*word < ' ' || *word == 0x7f || used + 4 > size)
            return false;
        if (strchr("\"\\$", *word) != NULL)
            out[used++] = '\\';
        out[used++] = *word;
    }
    out[used++] = '"';
    out[used] = '\0';
    return true;
}
