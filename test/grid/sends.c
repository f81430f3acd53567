/* SPDX-License-Identifier: BSD-3-Clause */
/* sends.c -- a job without Open MPI: the files of a folder travel, and a command is started where
 * they are. usage: sends FOLDER SLOTS PER_PEER SECONDS COMMAND
 * [REQUIREMENT]. It goes on for so many seconds
 * after all leases have started or failed. */
#include "overlay/client/p2pgrid.h"
#include "overlay/core/lease/request.h"
#include "overlay/files/hashes.h"
#include "overlay/files/list.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct list *list;
static struct hashes *hashes;
static struct err error;
static bool failed;    /* one was not started */
static size_t skipped; /* of each path: the folder's own */

static int add(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    const char *name = path + skipped;
    const uint64_t mtime =
        (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
    struct hash *chunks;
    char target[LIST_PATH + 1];
    if (at->level == 0)
        return 0;
    if (kind == FTW_D)
        return list_add_folder(list, name, st->st_mode & 0777, mtime, &error);
    if (kind == FTW_SL) {
        const ssize_t n = readlink(path, target, LIST_PATH);
        target[n > 0 ? n : 0] = '\0';
        return list_add_link(list, name, target, mtime, &error);
    }
    const int fd = open(path, O_RDONLY);
    int rc = hashes_file(hashes, fd, st, &chunks, &error);
    close(fd);
    if (rc == 0) {
        rc = list_add_file(list, LIST_FILE, name, st->st_mode & 0777, mtime, (uint64_t)st->st_size,
                           chunks, &error);
        free(chunks);
    }
    return rc;
}

static int stop(void)
{
    fprintf(stderr, "sends: %s\n", error.text);
    return 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until so many leases have started or failed, or the time is over. */
static unsigned hear(struct client *c, unsigned count, double until, double begin)
{
    struct grid_event event;
    unsigned ended = 0;
    while (ended < count && now() < until) {
        struct pollfd p = {.fd = client_fd(c), .events = POLLIN};
        if (poll(&p, 1, 100) < 0)
            break;
        while (client_event(c, &event) == 1) {
            char id[ID_TEXT + 1];
            id_text(&event.lease, id);
            if (event.kind == GRID_FETCHING)
                printf("fetching %.6s %llu %llu\n", id, (unsigned long long)event.have,
                       (unsigned long long)event.all);
            else
                printf("%s %.6s %.2f %s\n",
                       event.kind == GRID_LAUNCHED        ? "started"
                       : event.kind == GRID_LAUNCH_FAILED ? "failed"
                                                          : "ended",
                       id, now() - begin, event.text);
            fflush(stdout);
            ended += event.kind != GRID_FETCHING;
            failed = failed || event.kind == GRID_LAUNCH_FAILED;
        }
    }
    return ended;
}

int main(int argc, char **argv)
{
    struct client *c;
    struct grid_lease *leases;
    size_t count, spares;
    struct grid_files files;
    if (argc != 6 && argc != 7)
        return 2;
    const struct request want = {.slots = (unsigned)atoi(argv[2]),
                                 .per_peer = (unsigned)atoi(argv[3]),
                                 .per_lease = (unsigned)atoi(argv[3]),
                                 .require = argc == 7 ? argv[6] : NULL,
                                 .timeout_ms = 10000};
    list = list_new();
    hashes = hashes_open(NULL);
    skipped = strlen(argv[1]) + 1;
    if (nftw(argv[1], add, 16, FTW_PHYS) != 0 || list_end(list, &error) != 0 ||
        client_open(&c, NULL, &error) != 0 || client_files(c, list, argv[1], &files, &error) != 0 ||
        client_allocate(c, &want, &leases, &count, &spares, &error) != 0)
        return stop();
    printf("files %u, bytes %llu, list %u, read %llu\n", files.count,
           (unsigned long long)files.bytes, files.size, (unsigned long long)hashes_read(hashes));
    hashes_close(hashes);
    const struct grid_launch launch = {
        .command = argv[5], .files = files, .job_folder = argv[1], .lanes = 1};
    const double begin = now();
    for (size_t i = 0; i < count; i++)
        if (client_launch(c, &leases[i].id, &launch, &error) != 0)
            return stop();
    const unsigned ended = hear(c, (unsigned)count, begin + 300, begin);
    hear(c, UINT32_MAX, now() + atof(argv[4]), begin);
    client_close(c);
    free(leases);
    list_free(list);
    return failed || ended < count;
}
