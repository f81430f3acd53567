/* SPDX-License-Identifier: BSD-3-Clause */
/* store.c -- which trees are kept, and which go when there is no more room. */
#include "store_state.h"
#include "overlay/base/file.h"
#include "overlay/base/log.h"
#include "overlay/sandbox/sweep.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { STORE_SPARE = 64 * 1024 * 1024 }; /* of the disk, left to others */

/* --- where objects are --- */

static struct id key_of(const struct hash *hash)
{
    struct id key;
    memcpy(key.b, hash->b, ID_BYTES);
    return key;
}

/* What cannot be noted for want of memory is fetched again. */
void store_index(struct store *s, struct tree *t)
{
    for (size_t i = 0; i < t->list->object_count; i++) {
        const struct id key = key_of(&t->list->objects[i].hash);
        const struct tree_object *known = idmap_get(&s->objects, &key);
        if (known == NULL || !known->tree->whole)
            idmap_put(&s->objects, &key, &t->objects[i]);
    }
}

struct tree_object *store_object(const struct store *s, const struct hash *hash)
{
    const struct id key = key_of(hash);
    struct tree_object *p = idmap_get(&s->objects, &key);
    return p != NULL && hash_equal(&p->tree->list->objects[p->object].hash, hash) ? p : NULL;
}

static void store_forget(struct store *s, struct tree *t)
{
    struct tree **at = &s->trees;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    idmap_clear(&s->objects);
    for (struct tree *other = s->trees; other != NULL; other = other->next) {
        store_index(s, other);
        other->own = tree_measure(other); /* what it shared may be its alone now */
    }
    tree_free(t);
}

static void store_remove(struct store *s, struct tree *t)
{
    const int rc = sweep_remove(t->path);
    if (rc != 0)
        log_warn(s->log, "%s cannot be removed: %s", t->path, strerror(-rc));
    store_forget(s, t);
}

/* --- what is there when it begins --- */

static uint8_t *read_note(const char *folder, const char *name, size_t most, size_t *length,
                          struct stat *st)
{
    char path[STORE_FILE];
    uint8_t *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && (uint64_t)st->st_size <= most) {
        *length = (size_t)st->st_size;
        bytes = calloc(1, *length + 1);
        if (bytes != NULL && read(fd, bytes, *length) != (ssize_t)*length) {
            free(bytes);
            bytes = NULL;
        }
    }
    close(fd);
    return bytes;
}

static void read_notes(struct tree *t)
{
    struct stat st;
    size_t length;
    char *about = (char *)read_note(t->path, "about", STORE_ABOUT, &length, &st);
    char *boot = (char *)read_note(t->path, "boot", sizeof t->store->boot, &length, &st);
    char *pinned = (char *)read_note(t->path, "pinned", 16, &length, &st);
    snprintf(t->about, sizeof t->about, "%s", about != NULL ? about : "");
    t->unsure = boot == NULL || strcmp(boot, t->store->boot) != 0;
    t->pinned = pinned != NULL;
    free(about);
    free(boot);
    free(pinned);
}

static bool has_name(const struct tree *t, const char *name, bool *part)
{
    char hex[HASH_TEXT + 1];
    sodium_bin2hex(hex, sizeof hex, t->hash.b, HASH_BYTES);
    *part = strcmp(name + strnlen(name, HASH_TEXT), ".part") == 0;
    return strncmp(name, hex, HASH_TEXT) == 0 && (*part || name[HASH_TEXT] == '\0');
}

static struct tree *store_read(struct store *s, const char *name)
{
    char path[STORE_PATH + 1];
    struct stat st;
    size_t length;
    bool part = false;
    if (snprintf(path, sizeof path, "%s/trees/%s", s->folder, name) > STORE_PATH)
        return NULL;
    uint8_t *list = read_note(path, "list", LIST_SIZE, &length, &st);
    struct tree *t = list != NULL ? tree_new(s, list, length, NULL) : NULL;
    free(list);
    if (t == NULL || !has_name(t, name, &part)) { /* half made, or no tree */
        tree_free(t);
        sweep_remove(path);
        return NULL;
    }
    strcpy(t->path, path);
    t->used = (uint64_t)st.st_mtime;
    read_notes(t);
    t->own = tree_measure(t);
    t->whole = !part;
    for (size_t i = 0; t->whole && i < t->list->object_count; i++)
        tree_mark(t, i);
    return t;
}

static void store_scan(struct store *s)
{
    char path[STORE_PATH + 1];
    snprintf(path, sizeof path, "%s/trees", s->folder);
    DIR *folder = opendir(path);
    for (struct dirent *d; folder != NULL && (d = readdir(folder)) != NULL;) {
        struct tree *t = d->d_name[0] != '.' ? store_read(s, d->d_name) : NULL;
        if (t == NULL)
            continue;
        t->next = s->trees;
        s->trees = t;
        store_index(s, t);
    }
    if (folder != NULL)
        closedir(folder);
}

static void read_boot(char *out, size_t size)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (f == NULL || fgets(out, (int)size, f) == NULL)
        snprintf(out, size, "unknown");
    out[strcspn(out, "\n")] = '\0';
    if (f != NULL)
        fclose(f);
}

static int store_claim(struct store *s, struct err *e)
{
    char path[STORE_PATH + 1];
    snprintf(path, sizeof path, "%s/lock", s->folder);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock < 0)
        return err_set(e, errno, "%s: %s", path, strerror(errno));
    if (flock(s->lock, LOCK_EX | LOCK_NB) != 0)
        return err_set(e, EBUSY, "another p2pd keeps its files in %s", s->folder);
    return 0;
}

int store_open(struct store **out, const char *folder, uint64_t bound, struct log *log,
               struct err *e)
{
    struct store *s = calloc(1, sizeof *s);
    char trees[STORE_PATH + 1];
    *out = NULL;
    if (s == NULL || sodium_init() < 0 || (s->chunk = malloc(LIST_CHUNK)) == NULL) {
        store_close(s);
        return err_set(e, ENOMEM, "no memory for the store of files");
    }
    s->bound = bound;
    s->log = log;
    read_boot(s->boot, sizeof s->boot);
    int rc = 0;
    if (strlen(folder) > STORE_FOLDER)
        rc = err_set(e, ENAMETOOLONG, "the store of files has too long a path: %s", folder);
    snprintf(s->folder, sizeof s->folder, "%s", folder);
    snprintf(trees, sizeof trees, "%s/trees", s->folder);
    if (rc == 0)
        rc = file_make_folder(trees, e);
    if (rc != 0) {
        store_close(s);
        return rc;
    }
    rc = store_claim(s, e);
    if (rc != 0) {
        store_close(s);
        return rc;
    }
    store_scan(s);
    *out = s;
    return 0;
}

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    while (s->trees != NULL) {
        struct tree *t = s->trees;
        s->trees = t->next;
        tree_free(t);
    }
    idmap_clear(&s->objects);
    if (s->lock > 0)
        close(s->lock);
    free(s->chunk);
    free(s);
}

/* --- room --- */

void store_set_bound(struct store *s, uint64_t bound)
{
    s->bound = bound;
}

uint64_t store_bytes(const struct store *s)
{
    uint64_t sum = 0;
    for (const struct tree *t = s->trees; t != NULL; t = t->next)
        sum += t->own;
    return sum;
}

/* Used longest ago, of those that may go; `keep`: not this one, nor those that it is to have files
 * of. */
static struct tree *store_oldest(const struct store *s, const struct tree *keep)
{
    struct tree *oldest = NULL, *from;
    for (struct tree *t = s->trees; t != NULL; t = t->next)
        if (t->locks == 0 && !t->pinned && t != keep &&
            (oldest == NULL || t->used < oldest->used)) {
            bool shares = false;
            for (size_t i = 0; keep != NULL && !shares && i < keep->list->count; i++)
                shares = tree_twin(keep, &keep->list->entries[i], &from) != NULL && from == t;
            oldest = shares ? oldest : t;
        }
    return oldest;
}

uint64_t store_trim(struct store *s, uint64_t bytes)
{
    uint64_t count = 0;
    for (struct tree *t; store_bytes(s) > bytes && (t = store_oldest(s, NULL)) != NULL; count++)
        store_remove(s, t);
    return count;
}

static uint64_t disk_free(const struct store *s)
{
    struct statvfs v;
    if (statvfs(s->folder, &v) != 0)
        return 0;
    const uint64_t free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
    return free_bytes > STORE_SPARE ? free_bytes - STORE_SPARE : 0;
}

static uint64_t bytes_needed(const struct tree *t)
{
    uint64_t sum = t->list_size;
    struct tree *from;
    for (size_t i = 0; i < t->list->count; i++)
        if (tree_twin(t, &t->list->entries[i], &from) == NULL)
            sum += t->list->entries[i].size;
    return sum > t->own ? sum - t->own : 0; /* some of it may have been left by an earlier time */
}

static int make_room(struct store *s, const struct tree *t, struct err *e)
{
    const uint64_t need = bytes_needed(t);
    enum { MIB = 1024 * 1024 };
    for (;;) {
        const bool bounded = s->bound == 0 || store_bytes(s) + need <= s->bound;
        const uint64_t left = disk_free(s);
        struct tree *oldest;
        if (bounded && left >= need)
            return 0;
        if ((oldest = store_oldest(s, t)) != NULL)
            store_remove(s, oldest);
        else if (!bounded)
            return err_set(e, ENOSPC,
                           "has no room for the job's files: %llu MiB are needed, its owner lets "
                           "%llu MiB be kept, and running jobs have %llu of them",
                           (unsigned long long)(need / MIB), (unsigned long long)(s->bound / MIB),
                           (unsigned long long)(store_bytes(s) / MIB));
        else
            return err_set(e, ENOSPC,
                           "has no room for the job's files: %llu MiB are needed, %llu are free "
                           "on its disk",
                           (unsigned long long)(need / MIB), (unsigned long long)(left / MIB));
    }
}

/* --- getting one --- */

static void tree_take(struct tree *t)
{
    t->locks++;
    t->used = (uint64_t)time(NULL);
    tree_touch(t);
}

void tree_release(struct tree *t)
{
    t->locks--;
    t->used = (uint64_t)time(NULL);
    tree_touch(t);
}

/* After the machine was started anew, what was written shortly before may be missing: nobody waits
 * for the disk when a tree is made, so all of it is read once more. */
static void settle_doubt(struct tree *t)
{
    if (t->unsure && t->whole && t->locks == 0 && tree_doubt(t) == 0) {
        t->whole = false;
        memset(t->have, 0, t->list->object_count / 8 + 1);
        memset(t->named, 0, t->list->count);
        t->have_bytes = t->have_count = t->adopted = 0;
        t->linked = t->list->count; /* they are there */
    }
    t->unsure = false;
}

static struct tree *store_known(const struct store *s, const struct hash *list)
{
    struct tree *t = s->trees;
    while (t != NULL && !hash_equal(&t->hash, list))
        t = t->next;
    return t;
}

struct tree *store_lookup(struct store *s, const struct hash *list)
{
    struct tree *t = store_known(s, list);
    if (t == NULL)
        return NULL;
    settle_doubt(t);
    tree_take(t);
    return t;
}

int store_start(struct store *s, const struct hash *list, struct tree **out, struct err *e)
{
    struct tree *t = *out = store_lookup(s, list);
    if (t == NULL || !t->whole || tree_is_unchanged(t))
        return 0;
    *out = NULL;
    t->locks--;
    if (t->locks > 0)
        return err_set(e, EBUSY,
                       "does not start with the job's files: somebody has changed what it keeps of "
                       "them, and a running job has them");
    if (s->log != NULL)
        log_warn(s->log, "files of jobs in %s were changed by somebody: they are fetched again",
                 t->path);
    store_remove(s, t);
    return 0;
}

static int store_begin(struct store *s, struct tree *t, const uint8_t *list, size_t length,
                       struct err *e)
{
    char hex[HASH_TEXT + 1];
    sodium_bin2hex(hex, sizeof hex, t->hash.b, HASH_BYTES);
    snprintf(t->path, sizeof t->path, "%s/trees/%s.part", s->folder, hex);
    int rc = make_room(s, t, e);
    if (rc != 0)
        return rc;
    rc = tree_make(t);
    if (rc == 0)
        rc = tree_note(t, "about", t->about, strlen(t->about));
    if (rc == 0)
        rc = tree_note(t, "list", list, length);
    if (rc == 0)
        return 0;
    sweep_remove(t->path);
    return err_set(e, -rc, "has no room for the job's files: %s: %s", s->folder, strerror(-rc));
}

int store_tree(struct store *s, const uint8_t *list, size_t length, const char *about,
               struct tree **out, struct err *e)
{
    struct hash hash;
    int rc;
    list_hash(&hash, list, length);
    *out = store_lookup(s, &hash);
    if (*out != NULL) {
        rc = (*out)->whole ? 0 : make_room(s, *out, e);
        if (rc != 0)
            tree_release(*out);
        return rc;
    }
    struct tree *t = tree_new(s, list, length, e);
    if (t == NULL)
        return e->code != 0 ? -e->code : -ENOMEM;
    snprintf(t->about, sizeof t->about, "%s", about);
    rc = store_begin(s, t, list, length, e);
    if (rc != 0) {
        tree_free(t);
        return rc;
    }
    t->own = length;
    t->next = s->trees;
    s->trees = t;
    store_index(s, t);
    tree_take(t);
    *out = t;
    return 0;
}

/* --- for people --- */

bool store_describe(struct store *s, size_t i, struct tree_state *out)
{
    const struct tree *nth = NULL;
    for (const struct tree *t = s->trees; t != NULL && nth == NULL; t = t->next) {
        size_t before = 0; /* used later, or as late and earlier in the list */
        for (const struct tree *o = s->trees; o != NULL; o = o->next)
            before += o->used > t->used;
        for (const struct tree *o = s->trees; o != t; o = o->next)
            before += o->used == t->used;
        nth = before == i ? t : NULL;
    }
    if (nth == NULL)
        return false;
    *out = (struct tree_state){.list = nth->hash,
                               .here = nth->have_bytes,
                               .bytes = nth->list->bytes,
                               .used = nth->used,
                               .size = (uint32_t)nth->list_size,
                               .count = (uint32_t)nth->list->count,
                               .locks = nth->locks,
                               .pinned = nth->pinned};
    strcpy(out->about, nth->about);
    return true;
}

int store_pin(struct store *s, const struct hash *list, bool pinned, struct err *e)
{
    struct tree *t = store_known(s, list);
    char path[STORE_FILE];
    if (t == NULL)
        return err_set(e, ENOENT, "no such files are kept here");
    snprintf(path, sizeof path, "%s/pinned", t->path);
    int rc = 0;
    if (pinned)
        rc = tree_note(t, "pinned", "", 0);
    else if (unlink(path) != 0 && errno != ENOENT)
        rc = -errno;
    if (rc != 0)
        return err_set(e, -rc, "%s: %s", path, strerror(-rc));
    t->pinned = pinned;
    return 0;
}
