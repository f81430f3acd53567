/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h -- the files of jobs that this desktop keeps. One process uses it at a time: p2pd.
 *
 *     FOLDER/trees/HEX/        a list's files, HEX its hash; HEX.part: not all are here yet
 *         list                 its bytes (list.h); its mtime is when it was used last
 *         files/               the folder's content, with the list's modes and times
 *         outside/             what has absolute paths: outside/opt/lib/libx.so
 *         about, pinned, have  whose it is; it stays; which objects have come
 *
 * A tree that is here is never written again: rooms see it through an overlay. Files that two trees
 * have in common, with the same mode and time, are one file with two names. */
#ifndef P2P_OVERLAY_FILES_STORE_H
#define P2P_OVERLAY_FILES_STORE_H
#include "list.h"

struct log;
struct store;
struct tree;

enum { STORE_PATH = 511, STORE_ABOUT = 255 };

/* Makes the folder; reads what is there. bound: bytes; 0: as much as fits on the disk. */
int store_open(struct store **out, const char *folder, uint64_t bound, struct log *log,
               struct err *e);
void store_close(struct store *s);
void store_set_bound(struct store *s, uint64_t bound);
uint64_t store_bytes(const struct store *s);

/* The tree of that list, locked until tree_release(): complete, as it was left, or empty. Makes
 * room by the bound and on the disk: what was used longest ago goes, unless it is locked or pinned.
 * -ENOSPC, and *e says in a line how much is missing. */
int store_tree(struct store *s, const uint8_t *list, size_t length, const char *about,
               struct tree **out, struct err *e);
/* The same where the list is here already; NULL: it is not. */
struct tree *store_lookup(struct store *s, const struct hash *list);
/* The same for a job that starts: it gets what was signed. Where somebody has changed what is kept,
 * it goes, to be fetched anew; -EBUSY: a running job has it. */
int store_start(struct store *s, const struct hash *list, struct tree **out, struct err *e);
void tree_release(struct tree *t);

const struct list *tree_list(const struct tree *t);
const struct hash *tree_hash(const struct tree *t); /* of the list */
size_t tree_list_size(const struct tree *t);        /* bytes */
bool tree_is_whole(const struct tree *t);
uint64_t tree_have(const struct tree *t); /* bytes; all: tree_list()->bytes */
bool tree_has(const struct tree *t, size_t object);
/* A bit for each object that is here; their length in bytes. */
const uint8_t *tree_bits(const struct tree *t, uint32_t *length);
/* FOLDER/trees/HEX: below it files/ and outside/. Of a whole tree. */
const char *tree_path(const struct tree *t);

/* An object that came: -EBADMSG when it is not what the list says, -ENOSPC, -EIO. The last one
 * makes the tree whole. */
int tree_put(struct tree *t, size_t object, const uint8_t *bytes, size_t length, struct err *e);
/* Takes what other trees have, up to about that many bytes at a time; 0 once there is no more. */
int tree_adopt(struct tree *t, size_t bytes, struct err *e);
/* Its size in bytes, or -ENOENT, -EIO. `out` has room for LIST_CHUNK. Not checked against the hash:
 * its reader does that. */
int tree_get(const struct tree *t, size_t object, uint8_t *out);

/* For `p2pctl cache`: what it asks of p2pd. */
enum cache_verb { CACHE_LIST, CACHE_TRIM, CACHE_PIN, CACHE_UNPIN };

struct tree_state {
    struct hash list;
    uint64_t here, bytes, used; /* used: seconds since 1970 */
    uint32_t size, count;
    unsigned locks;
    bool pinned;
    char about[STORE_ABOUT + 1];
};
/* The i-th, the one used last first; false: there are fewer. */
bool store_describe(struct store *s, size_t i, struct tree_state *out);
/* Removes what was used longest ago, until at most so many bytes are left. How many went. */
uint64_t store_trim(struct store *s, uint64_t bytes);
int store_pin(struct store *s, const struct hash *list, bool pinned, struct err *e);
#endif
