/* SPDX-License-Identifier: BSD-3-Clause */
/* home.c -- requests of any bytes to a file's home: it reads nothing outside of them, writes
 * nothing outside of its answers, and answers each at most once. Paths are always the same one. */
#include "src/pml_replica/file/home.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OTHERS = 4, REQUESTS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned answers;

static void *room(void *ctx, size_t length)
{
    (void)ctx;
    return malloc(length);
}

static void answer(void *ctx, int to, void *bytes, size_t length)
{
    (void)ctx;
    struct home_answer a;
    if (to < 0 || to >= OTHERS || length < sizeof a || length > sizeof a + HOME_PIECE)
        abort();
    memcpy(&a, bytes, sizeof a);
    if (length > sizeof a && (int64_t)(length - sizeof a) != a.value)
        abort();
    answers++;
    free(bytes);
}

static bool gives_up(void *ctx, const char *path, int error)
{
    (void)ctx, (void)path, (void)error;
    return false;
}

static void is_shared(void *ctx, const char *path)
{
    (void)ctx, (void)path;
    abort();
}

/* In memory of its own, so that a byte too many is found. */
static void serve(struct home *h, int source, const uint64_t *words, const uint8_t *data,
                  size_t size, const char *path)
{
    uint64_t own[HOME_WORDS];
    memcpy(own, words, sizeof own);
    if (own[HOME_KIND] == HOME_OPEN || own[HOME_KIND] == HOME_DELETE)
        own[HOME_BYTES] = strlen(path);
    const size_t length = home_body_length(own);
    if (length == SIZE_MAX)
        return;
    uint8_t *body = calloc(1, length > 0 ? length : 1);
    if (own[HOME_KIND] == HOME_OPEN || own[HOME_KIND] == HOME_DELETE)
        memcpy(body, path, length);
    else
        memcpy(body, data, size < length ? size : length);
    if (own[HOME_KIND] == HOME_DELETE)
        answers++; /* the file stays */
    else
        home_serve(h, source, own, body);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct home_calls calls = {room, answer, gives_up, is_shared, NULL};
    struct home *h = home_new(&calls, 1, 0, 1);
    const int fd = memfd_create("home", MFD_CLOEXEC);
    char path[64];
    uint64_t words[HOME_WORDS];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    answers = 0;
    unsigned asked = 0;
    for (int i = 0; i < REQUESTS && size > sizeof words + 1; i++) {
        memcpy(words, data + 1, sizeof words);
        words[HOME_KIND] %= HOME_STOP + 2;
        words[HOME_FILE] %= 4;
        const int source = data[0] % OTHERS;
        size_t body = data[0] / OTHERS;
        data += sizeof words + 1;
        size -= sizeof words + 1;
        body = body < size ? body : size;
        serve(h, source, words, data, body, path);
        asked++;
        data += body;
        size -= body;
    }
    if (answers > asked)
        abort();
    home_free(h);
    close(fd);
    return 0;
}
