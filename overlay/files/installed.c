/* SPDX-License-Identifier: BSD-3-Clause */
/* installed.c -- looks for libraries where the dynamic linker would (ld.so(8)). Its cache is a
 * table of names and paths, which is read as what others have written: nothing in it leads out of
 * it. */
#include "installed.h"
#include "needs.h"
#include "overlay/manifest/program.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CACHE_MOST = 16 << 20, REMEMBERED_S = 3 };

static const char cache_path[] = "/etc/ld.so.cache";
static const char cache_magic[] = "glibc-ld.so.cache1.1";

/* Its layout since glibc 2.2: this, `count` entries, and text; of the machine's own byte order. */
struct cache_head {
    char magic[20];
    uint32_t count, text_length, unused[5];
};

struct cache_entry {
    int32_t flags;
    uint32_t name, path; /* offsets from the head on, each ended by NUL */
    uint32_t os;
    uint64_t hardware;
};

struct cache {
    char *bytes; /* NULL: there is none */
    const char *head;
    size_t length; /* from the head on */
    uint32_t count;
};

static void cache_open(struct cache *c, const char *path)
{
    struct stat st;
    struct cache_head head;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    *c = (struct cache){0};
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= CACHE_MOST)
        c->bytes = malloc((size_t)st.st_size);
    if (c->bytes != NULL && read(fd, c->bytes, (size_t)st.st_size) == st.st_size)
        /* an older table may stand before it */
        c->head = memmem(c->bytes, (size_t)st.st_size, cache_magic, strlen(cache_magic));
    if (fd >= 0)
        close(fd);
    if (c->head == NULL)
        return;
    c->length = (size_t)st.st_size - (size_t)(c->head - c->bytes);
    if (c->length < sizeof head) {
        c->head = NULL;
        return;
    }
    memcpy(&head, c->head, sizeof head);
    const size_t most = (c->length - sizeof head) / sizeof(struct cache_entry);
    c->count = head.count < most ? head.count : (uint32_t)most;
}

static void cache_close(struct cache *c)
{
    free(c->bytes);
}

static const char *cache_text(const struct cache *c, uint32_t at)
{
    return at < c->length && memchr(c->head + at, '\0', c->length - at) != NULL ? c->head + at : "";
}

/* An open file of this machine's format; -1: there is none. */
static int open_built(const char *path, const char *machine)
{
    static struct elf elf;
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && elf_read(&elf, fd) &&
        strcmp(elf.machine, machine) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int open_in(const char *folders, const char *name, const char *machine, char *out,
                   size_t size)
{
    int fd = -1;
    for (const char *at = folders, *end; at != NULL && *at != '\0' && fd < 0;
         at = *end != '\0' ? end + 1 : NULL) {
        end = at + strcspn(at, ":;");
        if (*at == '/' && (size_t)snprintf(out, size, "%.*s/%s", (int)(end - at), at, name) < size)
            fd = open_built(out, machine);
    }
    return fd;
}

static int open_cached(const struct cache *c, const char *name, const char *machine, char *out,
                       size_t size)
{
    struct cache_entry e;
    int fd = -1;
    for (uint32_t i = 0; i < c->count && fd < 0; i++) {
        memcpy(&e, c->head + sizeof(struct cache_head) + i * sizeof e, sizeof e);
        if (strcmp(cache_text(c, e.name), name) == 0 &&
            (size_t)snprintf(out, size, "%s", cache_text(c, e.path)) < size)
            fd = open_built(out, machine);
    }
    return fd;
}

/* A file by its path, if that is one of the system; else by its name. */
static int open_library(const struct cache *c, const char *name, const char *machine, char *out,
                        size_t size)
{
    const char *slash = strrchr(name, '/'), *base = slash != NULL ? slash + 1 : name;
    int fd = -1;
    if (slash != NULL && (size_t)snprintf(out, size, "%s", name) < size)
        fd = open_built(name, machine);
    if (fd < 0)
        fd = open_in(getenv("LD_LIBRARY_PATH"), base, machine, out, size);
    if (fd < 0)
        fd = open_cached(c, base, machine, out, size);
    if (fd < 0)
        fd = open_in("/lib:/usr/lib:/lib64:/usr/lib64:/usr/local/lib", base, machine, out, size);
    return fd;
}

/* Others ask only for what is the system's: they do not learn which files there are. */
static bool may_ask(const char *name)
{
    return strchr(name, '/') == NULL ||
           (program_lies_in_system(name) && strstr(name, "/../") == NULL);
}

static void lacks_one(const struct cache *c, const struct need *need, const char *machine,
                      char *out, size_t size)
{
    char path[PATH_MAX];
    const int fd =
        may_ask(need->name) ? open_library(c, need->name, machine, path, sizeof path) : -1;
    if (fd < 0 && may_ask(need->name) && c->head != NULL)
        snprintf(out, size, "has no %s, which the program needs", need->name);
    for (unsigned i = 0; fd >= 0 && i < need->count && out[0] == '\0'; i++)
        if (!elf_offers(need->version[i], fd))
            snprintf(out, size, "has a %s without %s, which the program needs", need->name,
                     need->version[i]);
    if (fd >= 0)
        close(fd);
}

static bool runs(const char *machine, const char *build)
{
    return strcmp(machine, build) == 0 ||
           (strcmp(machine, "x86_64") == 0 && strcmp(build, "i686") == 0) ||
           (strcmp(machine, "aarch64") == 0 && strcmp(build, "armv7l") == 0);
}

void installed_lacks_by(const char *cache, const char *needs, const char *machine, char *out,
                        size_t size)
{
    struct needs n;
    struct cache c;
    char build[16];
    bool last, one = false; /* one build of the program runs here */
    cache_open(&c, cache);
    out[0] = '\0';
    while ((needs = needs_read(&n, needs, build, &last)) != NULL) {
        if (!one && runs(machine, build)) {
            out[0] = '\0';
            for (unsigned i = 0; i < n.count && out[0] == '\0'; i++)
                lacks_one(&c, &n.at[i], build, out, size);
            one = out[0] == '\0';
        }
        if (last && out[0] != '\0')
            break;
        one = one && !last;
    }
    cache_close(&c);
}

void installed_lacks(const char *needs, const char *machine, char *out, size_t size)
{
    static char asked[NEEDS_TEXT + 1], answer[256];
    static time_t until;
    struct timespec now;
    out[0] = '\0';
    if (needs[0] == '\0')
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec >= until || strcmp(asked, needs) != 0) {
        installed_lacks_by(cache_path, needs, machine, answer, sizeof answer);
        snprintf(asked, sizeof asked, "%s", needs);
        until = now.tv_sec + REMEMBERED_S;
    }
    snprintf(out, size, "%s", answer);
}
