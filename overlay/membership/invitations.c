/* SPDX-License-Identifier: BSD-3-Clause */
/* invitations.c -- a file with a line for each: SECRET ENDS USED BY OWNER GROUP..., empty fields as
 * "-". */
#include "invitations.h"
#include "overlay/base/file.h"
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, LINE = 1024, SECRET_TEXT = 2 * TOKEN_SECRET };

struct invitations {
    char path[PATH_SIZE];
    struct invitation at[INVITATIONS];
    size_t count;
};

static const char *or_dash(const char *text)
{
    return text[0] != '\0' ? text : "-";
}

static void invitation_word(char *out, size_t size, const char *word)
{
    snprintf(out, size, "%s", strcmp(word, "-") == 0 ? "" : word);
}

static bool invitation_parse(struct invitation *one, char *line)
{
    char *save = NULL, *word[5];
    size_t length;
    memset(one, 0, sizeof *one);
    for (int i = 0; i < 5; i++)
        if ((word[i] = strtok_r(i == 0 ? line : NULL, " \n", &save)) == NULL)
            return false;
    if (sodium_hex2bin(one->secret, TOKEN_SECRET, word[0], strlen(word[0]), NULL, &length, NULL) !=
            0 ||
        length != TOKEN_SECRET)
        return false;
    one->ends = (time_t)strtoll(word[1], NULL, 10);
    one->used = (time_t)strtoll(word[2], NULL, 10);
    invitation_word(one->by, sizeof one->by, word[3]);
    invitation_word(one->owner, sizeof one->owner, word[4]);
    for (const char *group;
         one->group_count < IDENTITY_GROUPS && (group = strtok_r(NULL, " \n", &save)) != NULL;)
        invitation_word(one->groups[one->group_count++], sizeof one->groups[0], group);
    return true;
}

static void invitation_print(FILE *f, const struct invitation *one)
{
    char secret[SECRET_TEXT + 1];
    sodium_bin2hex(secret, sizeof secret, one->secret, TOKEN_SECRET);
    fprintf(f, "%s %lld %lld %s %s", secret, (long long)one->ends, (long long)one->used,
            or_dash(one->by), or_dash(one->owner));
    for (size_t i = 0; i < one->group_count; i++)
        fprintf(f, " %s", one->groups[i]);
    fputc('\n', f);
}

static int invitations_save(const struct invitations *all, struct err *e)
{
    struct file fresh;
    int rc = file_begin(&fresh, all->path, 0600, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < all->count; i++)
        invitation_print(fresh.stream, &all->at[i]);
    return file_end(&fresh, true, e);
}

static void invitations_forget_old(struct invitations *all, time_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].ends + INVITATION_KEPT_S > now)
            all->at[kept++] = all->at[i];
    all->count = kept;
}

int invitations_open(struct invitations **out, const char *folder, time_t now, struct err *e)
{
    struct invitations *all = calloc(1, sizeof *all);
    char line[LINE];
    if (all == NULL)
        return err_set(e, ENOMEM, "no memory");
    snprintf(all->path, sizeof all->path, "%s/invitations", folder);
    FILE *f = fopen(all->path, "re");
    while (f != NULL && all->count < INVITATIONS && fgets(line, sizeof line, f) != NULL)
        all->count += invitation_parse(&all->at[all->count], line);
    if (f == NULL && errno != ENOENT) {
        free(all);
        return err_set(e, errno, "cannot read %s/invitations: %s", folder, strerror(errno));
    }
    if (f != NULL)
        fclose(f);
    invitations_forget_old(all, now);
    *out = all;
    return 0;
}

void invitations_close(struct invitations *all)
{
    if (all != NULL)
        sodium_memzero(all, sizeof *all);
    free(all);
}

size_t invitations_count(const struct invitations *all)
{
    return all->count;
}

int invitations_end(struct invitations *all, time_t now, struct err *e)
{
    for (unsigned i = 0; i < all->count; i++)
        if (all->at[i].ends > now)
            all->at[i].ends = now;
    return invitations_save(all, e);
}

time_t invitations_last(const struct invitations *all, time_t now)
{
    time_t last = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].used == 0 && all->at[i].ends > now && all->at[i].ends > last)
            last = all->at[i].ends;
    return last;
}

int invitation_add(struct invitations *all, const struct invitation *fresh, time_t now,
                   struct err *e)
{
    invitations_forget_old(all, now);
    if (all->count == INVITATIONS)
        return err_set(
            e, ENOSPC,
            "there are %d invitations already; the oldest is forgotten %d days after its end",
            INVITATIONS, INVITATION_KEPT_S / (24 * 3600));
    all->at[all->count++] = *fresh;
    int rc = invitations_save(all, e);
    if (rc < 0)
        all->count--;
    return rc;
}

const struct invitation *invitation_find(const struct invitations *all, const struct id *id)
{
    for (size_t i = 0; i < all->count; i++) {
        struct id known = token_id(all->at[i].secret);
        if (id_equal(&known, id))
            return &all->at[i];
    }
    return NULL;
}

static const char *date_text(time_t t, char out[32])
{
    struct tm tm;
    if (localtime_r(&t, &tm) == NULL || strftime(out, 32, "%Y-%m-%d %H:%M", &tm) == 0)
        strcpy(out, "?");
    return out;
}

int invitation_check(const struct invitation *one, time_t now, struct err *e)
{
    char when[32];
    if (one->used != 0)
        return err_set(e, EACCES,
                       "this invitation was used already, by %s on %s; ask for another one",
                       one->by, date_text(one->used, when));
    if (one->ends <= now)
        return err_set(e, EACCES, "this invitation ended on %s; ask for another one",
                       date_text(one->ends, when));
    return 0;
}

int invitation_use(struct invitations *all, const struct invitation *one, const char *by,
                   time_t now, struct err *e)
{
    struct invitation *mine = &all->at[one - all->at];
    struct invitation was = *mine;
    mine->used = now;
    snprintf(mine->by, sizeof mine->by, "%s", by);
    int rc = invitations_save(all, e);
    if (rc < 0)
        *mine = was;
    return rc;
}
