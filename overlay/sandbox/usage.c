/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.c -- what a room takes of its host. */
#include "usage.h"
#include "overlay/host/proctree.h"
#include <dirent.h>
#include <fts.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Shared memory is divided among the processes that share it. 0: the process cannot be read. */
static uint64_t usage_proportional(pid_t pid)
{
    char path[48], line[128];
    unsigned long long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Pss: %llu kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib * 1024;
}

static uint64_t usage_resident(pid_t pid)
{
    char path[48];
    unsigned long long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "re");
    if (f != NULL && fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    if (f != NULL)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static unsigned usage_threads(pid_t pid)
{
    char path[48];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return stat(path, &st) == 0 && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 1;
}

/* A file without a name that a process has open: made by memfd_create(2), or deleted. */
struct usage_file {
    dev_t device;
    ino_t file;
};

struct usage_census {
    struct usage *usage;
    struct usage_file *seen;
    size_t count, size;
};

/* True: it is new. Without memory to note it, it counts each time. */
static bool usage_note(struct usage_census *c, const struct stat *st)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->seen[i].device == st->st_dev && c->seen[i].file == st->st_ino)
            return false;
    if (c->count == c->size) {
        const size_t size = c->size == 0 ? 64 : 2 * c->size;
        struct usage_file *more = realloc(c->seen, size * sizeof *more);
        if (more == NULL)
            return true;
        c->seen = more;
        c->size = size;
    }
    c->seen[c->count++] = (struct usage_file){st->st_dev, st->st_ino};
    return true;
}

static bool is_in_memory(int folder, const char *name)
{
    struct statfs fs;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%.20s", folder, name);
    return statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static void usage_add_nameless(struct usage_census *c, pid_t pid)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *files = opendir(path);
    struct stat st;
    for (struct dirent *d; files != NULL && (d = readdir(files)) != NULL;) {
        if (fstatat(dirfd(files), d->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode) ||
            st.st_nlink > 0 || c->count >= USAGE_FILES || !usage_note(c, &st))
            continue;
        *(is_in_memory(dirfd(files), d->d_name) ? &c->usage->memory : &c->usage->disk) +=
            (uint64_t)st.st_blocks * 512;
        c->usage->files++;
    }
    if (files != NULL)
        closedir(files);
}

static void usage_add_process(void *ctx, const struct proctree_process *p)
{
    struct usage_census *c = ctx;
    uint64_t share = usage_proportional(p->pid);
    c->usage->memory += share > 0 ? share : usage_resident(p->pid);
    c->usage->processes += usage_threads(p->pid);
    usage_add_nameless(c, p->pid);
}

static uint64_t usage_bytes_below(const char *folder, uint64_t *files)
{
    char *const paths[] = {(char *)folder, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    uint64_t bytes = 0;
    for (FTSENT *f; walk != NULL && *files < USAGE_FILES && (f = fts_read(walk)) != NULL;) {
        if (f->fts_info == FTS_DP || f->fts_info == FTS_NS || f->fts_info == FTS_ERR)
            continue;
        bytes += (uint64_t)f->fts_statp->st_blocks * 512;
        (*files)++;
    }
    if (walk != NULL)
        fts_close(walk);
    return bytes;
}

void usage_take(struct usage *u, const char *folder, const char *memory)
{
    struct usage_census c = {.usage = u};
    memset(u, 0, sizeof *u);
    proctree_each(getpid(), usage_add_process, &c);
    free(c.seen);
    u->disk += usage_bytes_below(folder, &u->files);
    u->memory += usage_bytes_below(memory, &u->files);
}

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

bool usage_exceeds(const struct usage *u, const struct usage *most, char *why, size_t size)
{
    if (most->memory > 0 && u->memory > most->memory)
        snprintf(why, size, "it took %.0f MiB of memory, %.0f are lent to it", mib(u->memory),
                 mib(most->memory));
    else if (most->disk > 0 && u->disk > most->disk)
        snprintf(why, size, "its files took %.0f MiB, %.0f are lent to it", mib(u->disk),
                 mib(most->disk));
    else if (most->processes > 0 && u->processes > most->processes)
        snprintf(why, size, "it ran %u processes and threads, %u are allowed", u->processes,
                 most->processes);
    else if (u->files >= USAGE_FILES)
        snprintf(why, size, "it made more than %d files", USAGE_FILES - 1);
    else
        return false;
    return true;
}
