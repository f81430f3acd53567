/* SPDX-License-Identifier: BSD-3-Clause */
/* home.h -- files of the job that this process keeps for all ranks: requests in, answers out.
 *
 * Plain C with POSIX files: no Open MPI. Every replica of the rank is given the same requests in
 * one order, and so keeps the same bytes on the disk of its own desktop. A request is HOME_WORDS
 * words and a body of home_body_length() bytes; its answer a struct home_answer, and after it the
 * bytes that were read. Words are as memory has them, between copies of one program on one kind of
 * machine. Whatever they say, nothing outside of the body is read, and nothing outside of the
 * answer is written.
 *
 *     kind      number           body                         answer
 *     OPEN      HOME_CREATE ...  the path, not ended by 0     the file's number here
 *     CLOSE
 *     WRITE                      extents, then the data       bytes written
 *     READ                       extents                      bytes read, and they themselves
 *     SIZE                                                    bytes
 *     RESIZE    bytes
 *     DRAW      bytes                                         the shared pointer before it
 *     POINT     the pointer
 *     HOLD                                                    when nobody else holds the file
 *     RELEASE
 *     DELETE                     the path
 *     ATTACH                                                  this source will say LEAVE
 *     LEAVE
 *     STOP                                                    none: the agent ends */
#ifndef P2P_SRC_PML_REPLICA_FILE_HOME_H
#define P2P_SRC_PML_REPLICA_FILE_HOME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum home_kind {
    HOME_OPEN,
    HOME_CLOSE,
    HOME_WRITE,
    HOME_READ,
    HOME_SIZE,
    HOME_RESIZE,
    HOME_DRAW,
    HOME_POINT,
    HOME_HOLD,
    HOME_RELEASE,
    HOME_DELETE,
    HOME_ATTACH,
    HOME_LEAVE,
    HOME_STOP,
};
enum home_word { HOME_KIND, HOME_FILE, HOME_NUMBER, HOME_EXTENTS, HOME_BYTES, HOME_WORDS };
enum home_mode { HOME_CREATE = 1, HOME_EXCLUSIVE = 2, HOME_READS = 4, HOME_WRITES = 8 };
enum {
    HOME_PIECE = 1 << 20,    /* bytes that a request writes or reads, at most */
    HOME_MAX_EXTENTS = 4096, /* in so many places of the file */
    HOME_MAX_PATH = 4096,
};

struct home_extent {
    uint64_t at, length;
};
struct home_answer {
    int64_t value;
    int64_t error; /* errno */
};

/* Bytes that follow the words; SIZE_MAX: they are no request. */
size_t home_body_length(const uint64_t words[HOME_WORDS]);

struct home_calls {
    void *(*buffer)(void *ctx, size_t length); /* for an answer; never NULL */
    void (*answer)(void *ctx, int to, void *buffer, size_t length);
    /* The operation failed for a reason of this desktop alone, such as a full disk. True: this copy
     * does not go on, as others do. False: there is no other, and the error is the answer. */
    bool (*gives_up)(void *ctx, const char *path, int error);
    /* Another lane has this very file open, so what one writes late undoes what the other wrote. */
    void (*is_shared)(void *ctx, const char *path);
    void *ctx;
};

struct home;
/* job: any number that other jobs do not have; lane of lanes. NULL without memory. */
struct home *home_new(const struct home_calls *calls, uint64_t job, int lane, int lanes);
void home_free(struct home *h);
/* Serves it, and answers, except HOLD, which may be answered later. */
void home_serve(struct home *h, int source, const uint64_t words[HOME_WORDS], const void *body);
bool home_is_stopped(const struct home *h);
bool home_is_awaited(const struct home *h); /* somebody who has said ATTACH has not said LEAVE */
#endif
