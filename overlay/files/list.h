/* SPDX-License-Identifier: BSD-3-Clause */
/* list.h -- the files of a job's folder, or of a result: names, and which bytes are in them. Others
 * send lists, so one that was read is inside all bounds and names nothing outside its folder.
 *
 *     u8 1 | u32 count | entry...
 *     entry   u8 kind | bytes path | u16 mode | u64 mtime, ns since 1970 | u64 size | hash... |
 * bytes target
 *
 * In the wire's own codec (wire.h). A file has a hash for each LIST_CHUNK bytes begun, the last one
 * shorter; only a link has a target. Entries are in the order of list_compare(), and a folder
 * stands before what is in it. There is one way to write a list, and its hash is its name. */
#ifndef P2P_OVERLAY_FILES_LIST_H
#define P2P_OVERLAY_FILES_LIST_H
#include "overlay/base/err.h"
#include "overlay/base/hash.h"
#include <stddef.h>

enum {
    LIST_CHUNK = 1024 * 1024,
    LIST_PATH = 1023, /* bytes of a path, or of a link's target */
    LIST_NAME = 255,  /* of one name in it */
    LIST_DEPTH = 64,  /* folders in folders */
    LIST_ENTRIES = 200000,
    LIST_CHUNKS = 1024 * 1024,    /* of all files */
    LIST_SIZE = 64 * 1024 * 1024, /* of a list */
};

enum list_kind {
    LIST_FILE = 1,
    LIST_FOLDER,
    LIST_LINK,         /* its target is resolved by those who follow it, inside their view */
    LIST_OUTSIDE,      /* a file whose path is absolute: a library, an interpreter */
    LIST_OUTSIDE_LINK, /* a link whose path is absolute, in a folder of such files */
};

struct list_entry {
    enum list_kind kind;
    char *path;         /* "data/in.dat", relative to the folder; outside: "/opt/lib/libx.so" */
    char *target;       /* of a link; else NULL */
    unsigned mode;      /* 0 to 0777 */
    uint64_t mtime;     /* nanoseconds since 1970 */
    uint64_t size;      /* bytes of a file; else 0 */
    size_t first_chunk; /* of the list's */
    size_t chunk_count;
};

/* Different bytes, and where they are for the first time. */
struct list_object {
    struct hash hash;
    uint32_t size;
    size_t chunk; /* of the list's */
};

struct list {
    struct list_entry *entries;
    size_t count, most;
    struct hash *chunks; /* of all files, one after the other */
    uint32_t *object_of; /* of each chunk: its place among the objects */
    uint32_t *entry_of;  /* of each chunk: the file that it is in */
    size_t chunk_count, chunk_capacity;
    struct list_object *objects; /* in the order in which they occur first */
    size_t object_count;
    uint64_t bytes; /* of all files */
};

/* --- making one: add in any order, then list_end() --- */
struct list *list_new(void); /* NULL: no memory */
void list_free(struct list *l);
/* chunks: of the content, list_chunks(size) of them; copied, as the path is. 0, or *e says what is
 * wrong with it: the name, the size, or that there are too many. */
int list_add_file(struct list *l, enum list_kind kind, const char *path, unsigned mode,
                  uint64_t mtime, uint64_t size, const struct hash *chunks, struct err *e);
int list_add_folder(struct list *l, const char *path, unsigned mode, uint64_t mtime, struct err *e);
/* An absolute path: LIST_OUTSIDE_LINK. */
int list_add_link(struct list *l, const char *path, const char *target, uint64_t mtime,
                  struct err *e);
/* Sorts it and numbers its objects. Folders that are missing are added (mode 0755, mtime 0).
 * -EEXIST and the like: a name is there twice, or below what is no folder. */
int list_end(struct list *l, struct err *e);

/* --- its bytes --- */
/* malloc'd; -E2BIG when it is longer than LIST_SIZE. */
int list_encode(const struct list *l, uint8_t **out, size_t *length, struct err *e);
int list_decode(struct list **out, const uint8_t *bytes, size_t length, struct err *e);

/* --- looking at it --- */
size_t list_chunks(uint64_t size);
/* Bytes of the i-th chunk of a file. */
uint32_t list_chunk_size(uint64_t file_size, size_t i);
const struct list_entry *list_find(const struct list *l, const char *path); /* NULL: not in it */
const struct hash *list_hashes(const struct list *l, const struct list_entry *entry);
/* Do both files have the same bytes? */
bool list_same(const struct list *a, const struct list_entry *x, const struct list *b,
               const struct list_entry *y);
/* As strcmp(), but a folder's content follows it at once: '/' comes before all other bytes. */
int list_compare(const char *a, const char *b);
bool list_is_link(const struct list_entry *entry);
bool list_is_outside(const struct list_entry *entry);
/* May such an entry be in a list? Relative: no "..", ".", empty part or more than LIST_DEPTH parts;
 * outside: absolute, and below none of the system's folders. */
bool list_path_is_good(const char *path, enum list_kind kind);
/* BLAKE2b-256. */
void list_hash(struct hash *out, const void *bytes, size_t length);
#endif
