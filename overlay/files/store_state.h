/* SPDX-License-Identifier: BSD-3-Clause */
/* store_state.h -- shared by store.c (which trees are kept), tree.c (what is in one) and
 * tree_files.c and tree_check.c (its files) only. */
#ifndef P2P_OVERLAY_FILES_STORE_STATE_H
#define P2P_OVERLAY_FILES_STORE_STATE_H
#include "store.h"
#include "overlay/base/idmap.h"

enum {
    STORE_FILE = STORE_PATH + 16 + LIST_PATH,
    STORE_FOLDER = STORE_PATH - HASH_TEXT - 16, /* of its own path: "/trees/", a name, ".part" */
};

/* Where an object is, for the map of all of them. */
struct tree_object {
    struct tree *tree;
    size_t object;
};

struct tree {
    struct store *store;
    struct tree *next;
    struct hash hash;
    struct list *list;
    size_t list_size;
    struct tree_object *objects; /* of each object */
    uint32_t *next_same;         /* of each chunk: the next one with the same bytes; itself: none */
    uint8_t *have;               /* a bit for each object */
    uint8_t *named;              /* for each entry: it is another name of a file of another tree */
    uint64_t have_bytes;         /* of files, those that are here several times as well */
    size_t have_count, adopted, linked;
    uint64_t own;  /* bytes on the disk that no other tree has */
    uint64_t used; /* seconds since 1970 */
    unsigned locks;
    bool whole, pinned, unsure; /* unsure: this machine was started again since it was made */
    char about[STORE_ABOUT + 1];
    char path[STORE_PATH + 1];
};

struct store {
    char folder[STORE_FOLDER + 1], boot[64];
    uint64_t bound;
    int lock;
    struct log *log;
    struct tree *trees;
    struct idmap objects; /* tree_objects, by the first bytes of their hashes */
    uint8_t *chunk;       /* room for one */
};

/* store.c */
void store_index(struct store *s, struct tree *t);
/* Of a tree that has it; NULL: none has. */
struct tree_object *store_object(const struct store *s, const struct hash *hash);

/* tree.c */
struct tree *tree_new(struct store *s, const uint8_t *list, size_t length, struct err *e);
void tree_free(struct tree *t);
void tree_mark(struct tree *t, size_t object);
/* The files here that are the same in another tree, mode and time too: no more is needed for them
 * than a name. */
const struct list_entry *tree_twin(const struct tree *t, const struct list_entry *one,
                                   struct tree **in);

/* tree_files.c: 0 or -errno */
int tree_make(struct tree *t); /* its folder, empty, with the list */
int tree_write(struct tree *t, size_t chunk, const uint8_t *bytes, size_t length);
int tree_read(const struct tree *t, size_t chunk, uint8_t *out); /* its size */
int tree_link(struct tree *t, const struct list_entry *one, const struct tree *from,
              const struct list_entry *twin);
int tree_finish(struct tree *t); /* links, modes, times; it gets its name */
int tree_doubt(struct tree *t);  /* the other way round: it is looked at again */
uint64_t tree_measure(const struct tree *t);
void tree_touch(const struct tree *t);
int tree_note(const struct tree *t, const char *name, const void *bytes, size_t length);
void tree_file(const struct tree *t, const struct list_entry *one, char path[STORE_FILE]);

/* tree_check.c: of a whole tree */
bool tree_is_unchanged(const struct tree *t);
/* Is that file of it as it came? */
bool tree_has_file(const struct tree *t, const struct list_entry *one);
#endif
