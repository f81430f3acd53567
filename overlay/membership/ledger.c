/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger.c -- the file `ledger`: ID ENDS admitted|revoked NAME [KEY NONCE|- [OWNER]], a line each.
 */
#include "ledger.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, LINE = 320 };

static int ledger_open(const char *folder, int flags)
{
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/ledger", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC, 0600);
}

int ledger_add(const char *folder, const struct ledger_entry *entry, struct err *e)
{
    char line[LINE], id[ID_TEXT + 1], key[ID_TEXT + 1], owner[ID_TEXT + 1];
    id_text(&entry->id, id);
    id_text(&entry->key, key);
    id_text(&entry->owner, owner);
    int length = snprintf(line, sizeof line, "%s %lld %s %s %s %s%s%s\n", id,
                          (long long)entry->ends, entry->revoked ? "revoked" : "admitted",
                          entry->name, key, entry->nonce[0] != '\0' ? entry->nonce : "-",
                          entry->owned ? " " : "", entry->owned ? owner : "");
    int fd = ledger_open(folder, O_WRONLY | O_CREAT | O_APPEND);
    bool ok = fd >= 0 && write(fd, line, (size_t)length) == length && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    return ok ? 0 : err_set(e, why, "cannot write %s/ledger: %s", folder, strerror(why));
}

static struct ledger_entry *ledger_entry_of(const struct ledger *l, const struct id *id)
{
    for (size_t i = 0; i < l->count; i++)
        if (id_equal(&l->at[i].id, id))
            return &l->at[i];
    return NULL;
}

const struct ledger_entry *ledger_at(const struct ledger *l, const struct id *id)
{
    return ledger_entry_of(l, id);
}

const struct ledger_entry *ledger_of_key(const struct ledger *l, const struct id *key)
{
    for (size_t i = 0; i < l->count; i++)
        if (id_equal(&l->at[i].key, key))
            return &l->at[i];
    return NULL;
}

static bool ledger_parse(struct ledger_entry *entry, const char *line)
{
    char id[ID_TEXT + 1], key[ID_TEXT + 1], owner[ID_TEXT + 1], what[16];
    long long ends;
    memset(entry, 0, sizeof *entry);
    int fields = sscanf(line, "%40s %lld %15s %63s %40s %32s %40s", id, &ends, what, entry->name,
                        key, entry->nonce, owner);
    entry->owned = fields == 7;
    if ((fields != 4 && fields != 6 && fields != 7) || !id_parse(&entry->id, id) ||
        !id_parse(&entry->key, fields >= 6 ? key : id) ||
        (entry->owned && !id_parse(&entry->owner, owner)))
        return false;
    if (strcmp(entry->nonce, "-") == 0)
        entry->nonce[0] = '\0';
    entry->ends = (time_t)ends;
    entry->revoked = strcmp(what, "revoked") == 0;
    return true;
}

static int ledger_take(struct ledger *l, const struct ledger_entry *entry)
{
    struct ledger_entry *there = ledger_entry_of(l, &entry->id);
    if (there == NULL) {
        struct ledger_entry *more = realloc(l->at, (l->count + 1) * sizeof *more);
        if (more == NULL)
            return -ENOMEM;
        l->at = more;
        there = &more[l->count++];
    }
    *there = *entry;
    return 0;
}

int ledger_read(struct ledger *l, const char *folder, struct err *e)
{
    struct ledger_entry entry;
    char line[LINE];
    int rc = 0;
    memset(l, 0, sizeof *l);
    int fd = ledger_open(folder, O_RDONLY);
    if (fd < 0 && errno == ENOENT)
        return 0; /* no peer was admitted yet */
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (f == NULL)
        return err_set(e, errno, "cannot read %s/ledger: %s", folder, strerror(errno));
    while (rc == 0 && fgets(line, sizeof line, f) != NULL)
        if (ledger_parse(&entry, line))
            rc = ledger_take(l, &entry);
    fclose(f);
    if (rc < 0)
        ledger_free(l);
    return rc < 0 ? err_set(e, ENOMEM, "no memory") : 0;
}

void ledger_free(struct ledger *l)
{
    free(l->at);
    memset(l, 0, sizeof *l);
}

static bool is_member(const struct ledger_entry *entry, time_t now)
{
    return !entry->revoked && entry->ends > now;
}

const struct ledger_entry *ledger_named(const struct ledger *l, const char *name,
                                        const struct id *self, time_t now)
{
    for (size_t i = 0; i < l->count; i++)
        if (is_member(&l->at[i], now) && strcmp(l->at[i].name, name) == 0 &&
            (self == NULL || !id_equal(&l->at[i].id, self)))
            return &l->at[i];
    return NULL;
}

const struct ledger_entry *ledger_find(const struct ledger *l, const char *word, time_t now,
                                       struct err *e)
{
    char first[ID_TEXT + 1], second[ID_TEXT + 1];
    struct id id;
    const struct ledger_entry *found = id_parse(&id, word) ? ledger_entry_of(l, &id) : NULL;
    if (found == NULL)
        found = ledger_named(l, word, NULL, now);
    if (found == NULL) {
        err_set(e, ENOENT, "the grid has no member '%s'; p2pctl peers shows their names", word);
        return NULL;
    }
    const struct ledger_entry *other = ledger_named(l, word, &found->id, now);
    if (other == NULL)
        return found;
    id_text(&found->id, first);
    id_text(&other->id, second);
    err_set(e, EEXIST, "several members are called '%s': give an id, %s or %s", word, first,
            second);
    return NULL;
}

static bool ledger_owns_one(const struct ledger *l, const struct id *owner, time_t now)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].owned && is_member(&l->at[i], now) && id_equal(&l->at[i].owner, owner))
            return true;
    return false;
}

int ledger_owner(const struct ledger *l, const char *word, time_t now, struct id *out,
                 struct err *e)
{
    struct err why = {0};
    if (id_parse(out, word) && ledger_owns_one(l, out, now))
        return 0;
    const struct ledger_entry *found = ledger_find(l, word, now, &why);
    if (found == NULL && why.code != ENOENT)
        return err_set(e, why.code, "%s", why.text);
    if (found == NULL || !is_member(found, now))
        return err_set(e, ENOENT, "the grid knows no owner '%s': name a desktop of his", word);
    if (!found->owned)
        return err_set(e, ENOENT,
                       "'%s' joined before the ledger said whose desktop it is; it will when "
                       "its certificate is renewed",
                       word);
    *out = found->owner;
    return 0;
}
