/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c -- names of desktops from where Open MPI's users are used to write them. */
#include "hosts.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MOST = 65536, PLACE = 300, FILE_MOST = 1 << 20 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

static struct host *host_find(struct hosts *h, const char *name)
{
    for (size_t i = 0; i < h->count; i++)
        if (strcmp(h->at[i].name, name) == 0)
            return &h->at[i];
    return NULL;
}

static int read_slots(const char *text, unsigned *slots, const char *place, struct err *e)
{
    char *end = NULL;
    const unsigned long n = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (n < 1 || n > SLOTS_MOST || *end != '\0')
        return err_set(e, EINVAL, "%s: '%.40s' is no number of slots", place, text);
    *slots = (unsigned)n;
    return 0;
}

/* A desktop that is named again has one slot more, as in Open MPI. */
static int hosts_add(struct hosts *h, const char *name, unsigned slots, const char *place,
                     struct err *e)
{
    const size_t length = strlen(name);
    if (name[0] == '+')
        return err_set(e, EINVAL, "%s: '%.40s' counts nodes; on the grid desktops have names",
                       place, name);
    if (length == 0 || length > HOSTS_NAME || strspn(name, letters) != length)
        return err_set(e, EINVAL, "%s: '%.40s' is no name of a desktop", place, name);
    struct host *known = host_find(h, name);
    if (known != NULL) {
        known->slots = (known->slots > 0 ? known->slots : 1) + (slots > 0 ? slots : 1);
        return 0;
    }
    if (h->count == HOSTS_MOST)
        return err_set(e, EINVAL,
                       "%s: more than %d desktops; ask for a label or a site instead, with --mca "
                       "ras_p2p_require",
                       place, HOSTS_MOST);
    struct host *new = &h->at[h->count++];
    snprintf(new->name, sizeof new->name, "%s", name);
    new->slots = slots;
    return 0;
}

/* Peers are called like their hosts, without the domain. */
static const char *own_name(const char *name, const char *own, char out[HOSTS_NAME + 1])
{
    if (strcmp(name, "localhost") != 0)
        return name;
    snprintf(out, HOSTS_NAME + 1, "%.*s", (int)strcspn(own, "."), own);
    return out;
}

int hosts_add_list(struct hosts *h, const char *list, const char *own, struct err *e)
{
    static const char place[] = "--host";
    char *copy = strdup(list), *rest = NULL, buffer[HOSTS_NAME + 1];
    int rc = copy != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
    for (char *word = rc == 0 ? strtok_r(copy, ",", &rest) : NULL; word != NULL && rc == 0;
         word = strtok_r(NULL, ",", &rest)) {
        unsigned slots = 0;
        char *colon = strchr(word, ':');
        if (colon != NULL) {
            *colon++ = '\0';
            if (strcmp(colon, "*") != 0 && strcmp(colon, "auto") != 0)
                rc = read_slots(colon, &slots, place, e);
        }
        if (rc == 0)
            rc = hosts_add(h, own_name(word, own, buffer), slots, place, e);
    }
    free(copy);
    return rc;
}

static bool is_key(const char *word, const char *key, size_t length)
{
    return strlen(key) == length && strncasecmp(word, key, length) == 0;
}

/* slots=2; how many a desktop has at most is its owner's to say, so that is passed over. */
static int read_key(const char *word, unsigned *slots, const char *place, struct err *e)
{
    const size_t length = strcspn(word, "=");
    if (word[length] == '=') {
        if (is_key(word, "slots", length) || is_key(word, "count", length) ||
            is_key(word, "cpu", length) || is_key(word, "cpus", length))
            return read_slots(word + length + 1, slots, place, e);
        if (is_key(word, "max_slots", length) || is_key(word, "max-slots", length))
            return 0;
    }
    return err_set(e, EINVAL, "%s: '%.40s' has no meaning on the grid; give NAME or NAME slots=N",
                   place, word);
}

static int read_line(struct hosts *h, char *line, const char *place, const char *own, struct err *e)
{
    char *rest = NULL, buffer[HOSTS_NAME + 1];
    line[strcspn(line, "#\r")] = '\0';
    const char *name = strtok_r(line, " \t", &rest);
    unsigned slots = 0;
    int rc = 0;
    if (name == NULL)
        return 0;
    for (const char *word; rc == 0 && (word = strtok_r(NULL, " \t", &rest)) != NULL;)
        rc = read_key(word, &slots, place, e);
    return rc == 0 ? hosts_add(h, own_name(name, own, buffer), slots, place, e) : rc;
}

int hosts_add_file(struct hosts *h, const char *text, const char *file, const char *own,
                   struct err *e)
{
    char *copy = strdup(text), *rest = copy, *line, place[PLACE];
    int rc = copy != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
    const size_t before = h->count;
    for (unsigned n = 1; rc == 0 && (line = strsep(&rest, "\n")) != NULL; n++) {
        snprintf(place, sizeof place, "%.250s, line %u", file, n);
        rc = read_line(h, line, place, own, e);
    }
    free(copy);
    if (rc == 0 && h->count == before)
        return err_set(e, EINVAL, "%.250s names no desktop", file);
    return rc;
}

int hosts_read_file(struct hosts *h, const char *path, const char *own, struct err *e)
{
    char *text = calloc(1, FILE_MOST + 1);
    FILE *f = fopen(path, "re");
    int rc = text != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
    if (rc == 0 && f == NULL)
        rc = err_set(e, errno, "hostfile %.250s: %s", path, strerror(errno));
    const size_t length = rc == 0 ? fread(text, 1, FILE_MOST, f) : 0;
    if (rc == 0 && (ferror(f) || length == FILE_MOST))
        rc = err_set(e, EINVAL, "hostfile %.250s cannot be read, or is far too long", path);
    if (f != NULL)
        fclose(f);
    if (rc == 0)
        rc = hosts_add_file(h, text, path, own, e);
    free(text);
    return rc;
}

int hosts_slots(const struct hosts *h, unsigned *slots, struct err *e)
{
    *slots = h->count > 0 ? h->at[0].slots : 0;
    for (size_t i = 1; i < h->count; i++)
        if (h->at[i].slots != *slots)
            return err_set(e, EINVAL,
                           "%s and %s are given different numbers of slots: give all the same, or "
                           "none: how many there are its owner says",
                           h->at[0].name, h->at[i].name);
    return 0;
}

char *hosts_require(const struct hosts *h, const char *also)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    if (also != NULL && also[0] != '\0')
        fprintf(out, "(%s) && ", also);
    for (size_t i = 0; i < h->count; i++)
        fprintf(out, "%s%s", i == 0 ? "name in (" : ", ", h->at[i].name);
    fputc(')', out);
    return fclose(out) == 0 ? text : NULL;
}
