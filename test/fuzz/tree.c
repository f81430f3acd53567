/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c -- another desktop's lists of files, and their bytes, come into the store of this one:
 * none, or exactly what the list says and inside of the store; nothing else is made or changed. */
#include "overlay/files/store.h"
#include "overlay/wire/wire.h"
#include "ground.h"
#include "names.h"
#include <linux/openat2.h>
#include <sys/syscall.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LISTS = 3, LIST_ROOM = 65536, CONTENTS = 3, SOME = 300 };

static uint8_t bytes[LIST_ROOM], content[LIST_CHUNK];
static const uint64_t sizes[] = {0, 1, 5, SOME, 0, LIST_CHUNK + 1, 1ull << 40, ~0ull};

/* --- a list --- */

static const uint8_t *content_of(unsigned letter, size_t length)
{
    memset(content, 'a' + (int)(letter % CONTENTS), length);
    return content;
}

static const uint32_t lengths[] = {1, 5, SOME, LIST_CHUNK};

/* Of so many bytes of one letter. */
static const struct hash *hash_of(unsigned letter, uint32_t length)
{
    static struct hash known[CONTENTS][4];
    static bool made;
    unsigned which = 0;
    for (unsigned i = 0; i < CONTENTS && !made; i++)
        for (unsigned k = 0; k < 4; k++)
            list_hash(&known[i][k], content_of(i, lengths[k]), lengths[k]);
    made = true;
    while (which < 3 && lengths[which] != length)
        which++;
    return &known[letter % CONTENTS][which];
}

/* Of a file whose chunks are all of one letter, or of nothing that is. */
static void put_hashes(struct wire_writer *w, uint64_t size, unsigned letter)
{
    for (size_t i = 0; i < list_chunks(size) && i < 4; i++) {
        struct hash h = *hash_of(letter, list_chunk_size(size, i));
        h.b[0] ^= letter % 16 == 15;
        wire_put_hash(w, &h);
    }
}

static void put_text(struct wire_writer *w, const char *text)
{
    wire_put_bytes(w, (const uint8_t *)text, (uint32_t)strlen(text), LIST_ROOM);
}

static void write_entry(struct wire_writer *w, struct script *s)
{
    char path[2048], target[2048];
    const unsigned kind = script_next(s), letter = script_next(s);
    const bool link = kind % 8 == LIST_LINK || kind % 8 == LIST_OUTSIDE_LINK;
    const uint64_t size = link || kind % 8 == LIST_FOLDER ? kind > 250 : sizes[letter / 16 % 8];
    name_next(s, ground, path, sizeof path);
    wire_put_u8(w, (uint8_t)(kind % 8));
    put_text(w, path);
    wire_put_u16(w, (uint16_t)(link                  ? 0777
                               : script_next(s) < 16 ? script_next(s) * 257
                                                     : script_next(s) * 2 + 1));
    wire_put_u64(w, script_next(s) * 0x123456789abcull);
    wire_put_u64(w, size);
    put_hashes(w, size, letter);
    if (link) {
        name_next(s, ground, target, sizeof target);
        put_text(w, target);
    }
}

/* Anything. */
static size_t write_list(struct script *s)
{
    struct wire_writer w = {.base = bytes, .size = sizeof bytes};
    const unsigned count = script_next(s) % 8 + 1;
    wire_put_u8(&w, 1);
    wire_put_u32(&w, count);
    for (unsigned i = 0; i < count; i++)
        write_entry(&w, s);
    return w.failed ? 0 : w.at;
}

/* One that is in order, with such names as are let in. */
static void add_entry(struct list *l, struct script *s)
{
    char path[2048], target[2048];
    struct hash hashes[2];
    struct err e;
    const unsigned kind = script_next(s) % 5 + 1, letter = script_next(s) % CONTENTS;
    const unsigned mode = script_next(s) * 2 + 1;
    const uint64_t size = sizes[script_next(s) % 6], mtime = script_next(s) % 2;
    name_next(s, ground, path, sizeof path);
    if (kind == LIST_FOLDER) {
        list_add_folder(l, path, mode, mtime, &e);
    } else if (kind == LIST_LINK || kind == LIST_OUTSIDE_LINK) {
        name_next(s, ground, target, sizeof target);
        list_add_link(l, path, target, mtime, &e);
    } else {
        for (size_t i = 0; i < list_chunks(size); i++)
            hashes[i] = *hash_of(letter, list_chunk_size(size, i));
        list_add_file(l, kind, path, mode, mtime, size, hashes, &e);
    }
}

static size_t make_list(struct script *s)
{
    struct list *l = list_new();
    struct err e;
    uint8_t *made = NULL;
    size_t length = 0;
    for (unsigned count = script_next(s) % 12; l != NULL && count > 0; count--)
        add_entry(l, s);
    if (l != NULL && list_end(l, &e) == 0 && list_encode(l, &made, &length, &e) == 0 &&
        length <= sizeof bytes)
        memcpy(bytes, made, length);
    else
        length = 0;
    free(made);
    list_free(l);
    return length;
}

/* --- what came of it --- */

static int beneath(int at, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, at, path, &how, sizeof how);
}

/* Each entry stands where it should, reached through no link. */
static void check_entry(const struct list_entry *one, int tree)
{
    char path[4096], target[2048];
    struct stat st;
    snprintf(path, sizeof path, "%s%s", list_is_outside(one) ? "outside" : "files/", one->path);
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        if (fstatat(tree, path, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
            abort();
        *slash = '/';
    }
    const int fd = beneath(tree, path);
    if (fd < 0 || fstat(fd, &st) != 0)
        abort();
    close(fd);
    if (list_is_link(one)) {
        const ssize_t n = readlinkat(tree, path, target, sizeof target);
        if (!S_ISLNK(st.st_mode) || n != (ssize_t)strlen(one->target) ||
            memcmp(target, one->target, (size_t)n) != 0)
            abort();
    } else if (one->kind == LIST_FOLDER) {
        if (!S_ISDIR(st.st_mode) || (st.st_mode & 07777) != (one->mode | 0500))
            abort();
    } else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != one->size ||
               (st.st_mode & 07777) != (one->mode | 0400)) {
        abort();
    }
}

static size_t found; /* below files/ */

static void count_one(int at, const char *name, const char *path, const struct stat *st)
{
    (void)at, (void)name, (void)st;
    found += strncmp(path, "files/", 6) == 0;
    if (strchr(path, '/') == NULL && strcmp(path, "list") != 0 && strcmp(path, "files") != 0 &&
        strcmp(path, "outside") != 0 && strcmp(path, "about") != 0 && strcmp(path, "boot") != 0)
        abort();
}

static void check_tree(const struct tree *t)
{
    const struct list *l = tree_list(t);
    size_t inside = 0;
    const int fd = open(tree_path(t), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    found = 0;
    ground_walk(fd, ".", "", count_one);
    for (size_t i = 0; i < l->count; i++) {
        inside += !list_is_outside(&l->entries[i]);
        check_entry(&l->entries[i], fd);
    }
    if (found != inside)
        abort();
    close(fd);
}

static void none(int at, const char *name, const char *path, const struct stat *st)
{
    (void)at, (void)name, (void)st;
    if (strchr(path, '/') == NULL && strcmp(path, "trees") != 0 && strcmp(path, "lock") != 0)
        abort();
}

/* --- it comes --- */

/* What this list asks for, as far as anybody has it; `most`: then the giver goes away. */
static void put_objects(struct tree *t, size_t most)
{
    const struct list *l = tree_list(t);
    struct err e;
    for (size_t i = 0; i < l->object_count && most > 0; i++) {
        const uint32_t size = l->objects[i].size;
        for (unsigned letter = 0; letter < CONTENTS; letter++) {
            if (!hash_equal(hash_of(letter, size), &l->objects[i].hash))
                continue;
            const bool had = tree_has(t, i);
            if (tree_put(t, i, content_of(letter, size), size, &e) != 0)
                abort();
            most -= !had;
            break;
        }
        if (size > 0 && !tree_has(t, i) && tree_put(t, i, content_of(9, size - 1), size, &e) == 0)
            abort(); /* wrong bytes */
    }
}

static void bring(struct store *s, size_t length, unsigned how)
{
    struct tree *t;
    struct err e = {0};
    if (store_tree(s, bytes, length, "fuzz", &t, &e) != 0) {
        if (e.text[0] == '\0')
            abort();
        return;
    }
    while (how & 1 && !tree_is_whole(t) && tree_adopt(t, LIST_CHUNK, &e) == 1)
        ;
    put_objects(t, how & 2 ? how / 4 % 4 : SIZE_MAX);
    if (!tree_is_whole(t) && tree_list(t)->object_count == 0)
        while (tree_adopt(t, LIST_CHUNK, &e) == 1)
            ;
    if (tree_is_whole(t))
        check_tree(t);
    tree_release(t);
}

/* As after a restart of the machine: what is there is looked at again. */
static void forget_boot(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/trees", folder);
    DIR *d = opendir(path);
    for (struct dirent *f; d != NULL && (f = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%.256s/boot", f->d_name);
        if (f->d_name[0] != '.')
            unlinkat(dirfd(d), path, 0);
    }
    closedir(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script s = {data, size};
    struct store *store;
    struct err e;
    char folder[128];
    ground_make("store");
    snprintf(folder, sizeof folder, "%s/store", ground);
    if (store_open(&store, folder, 0, NULL, &e) != 0)
        abort();
    for (int i = 0; i < LISTS && s.left > 0; i++) {
        const unsigned how = script_next(&s);
        const size_t length = how & 128 ? write_list(&s) : make_list(&s);
        bring(store, length, how);
        if (how & 64) {
            store_close(store);
            if (how & 32)
                forget_boot(folder);
            if (store_open(&store, folder, 0, NULL, &e) != 0)
                abort();
            bring(store, length, 1);
        }
        ground_check();
    }
    ground_walk(ground_at, "store", "", none);
    store_close(store);
    return 0;
}
