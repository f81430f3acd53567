/* SPDX-License-Identifier: BSD-3-Clause */
/* collects.c -- a bare holder of leases, for tests: starts a command in each, which makes a lane's
 * folder by itself, and collects what these have when it is told to. */
#include "overlay/client/collect.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "collects -n SLOTS -c COMMAND -d FOLDER [-k LANES] [-m]\n"
    "  a lease for each slot; the first ones run lane 0: RANK and LANE are in the environment.\n"
    "  prints `lease ID PEER`, `launched ID PID`, and for each line of stdin collects into "
    "FOLDER:\n"
    "  `say LINE`..., `collected WRITTEN BESIDE MISSING BYTES`. -m: as if the job went on.\n";

static atomic_bool stop;

static void say(void *ctx, const char *line)
{
    (void)ctx;
    printf("say %s\n", line);
}

static void progress(void *ctx, const struct collect_progress *now)
{
    (void)ctx;
    printf("progress %llu of %llu\n", (unsigned long long)now->bytes,
           (unsigned long long)now->all_bytes);
}

static void on_stop(int number)
{
    (void)number;
    atomic_store(&stop, true);
}

static int launch_all(struct client *c, const struct grid_lease *leases, size_t count,
                      unsigned lanes, const char *command)
{
    struct err e = {0};
    for (size_t i = 0; i < count; i++) {
        char rank[32], lane[32];
        const size_t ranks = count / lanes;
        snprintf(rank, sizeof rank, "RANK=%zu", i % ranks);
        snprintf(lane, sizeof lane, "LANE=%zu", i / ranks);
        char *environment[] = {rank, lane, NULL};
        struct grid_launch what = {.command = command, .environment = environment};
        if (client_launch(c, &leases[i].id, &what, &e) != 0) {
            fprintf(stderr, "collects: %s\n", e.text);
            return 1;
        }
    }
    return 0;
}

static void print_events(struct client *c, struct collect_source *sources, size_t count)
{
    struct grid_event event;
    char id[ID_TEXT + 1];
    while (client_event(c, &event) == 1) {
        id_text(&event.lease, id);
        if (event.kind == GRID_LAUNCHED)
            printf("launched %s %d\n", id, event.pid);
        else
            printf("event %s %d %s\n", id, (int)event.kind, event.text);
        for (size_t i = 0; i < count && event.kind != GRID_LAUNCHED; i++)
            if (id_equal(&sources[i].where.lease, &event.lease))
                sources[i].hope = COLLECT_MAYBE;
    }
}

static void collect_once(struct client *c, struct collect_order *order)
{
    struct err e = {0};
    struct collect_report r;
    if (collect(c, order, &r, &e) != 0)
        printf("nothing: %s\n", e.text);
    else
        printf("collected %zu %zu %zu %llu\n", r.written, r.beside, r.missing,
               (unsigned long long)r.bytes);
}

static int serve(struct client *c, struct client *other, struct collect_order *order)
{
    struct pollfd on[] = {{.fd = client_fd(c), .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    char line[64];
    for (;;) {
        if (poll(on, 2, -1) < 0)
            continue;
        print_events(c, order->sources, order->count);
        if (on[1].revents == 0)
            continue;
        if (read(0, line, sizeof line) <= 0)
            return 0;
        collect_once(other, order);
    }
}

int main(int argc, char **argv)
{
    struct request want = {.per_lease = 1, .timeout_ms = 10000};
    struct collect_order order = {
        .umask = 022, .expected = true, .stop = &stop, .say = say, .progress = progress};
    const char *command = NULL;
    unsigned lanes = 1;
    for (int o; (o = getopt(argc, argv, "n:c:d:k:m")) != -1;)
        if (o == 'n')
            want.slots = (unsigned)atoi(optarg);
        else if (o == 'c')
            command = optarg;
        else if (o == 'd')
            order.folder = optarg;
        else if (o == 'k')
            lanes = (unsigned)atoi(optarg);
        else if (o == 'm')
            order.meanwhile = true;
    if (want.slots == 0 || command == NULL || order.folder == NULL || lanes == 0) {
        fputs(usage, stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGUSR1, on_stop);
    struct err e = {0};
    struct client *c = NULL, *other = NULL;
    struct grid_lease *leases;
    size_t count, spares;
    if (client_open(&c, NULL, &e) != 0 || client_open(&other, NULL, &e) != 0 ||
        client_allocate(c, &want, &leases, &count, &spares, &e) != 0) {
        fprintf(stderr, "collects: %s\n", e.text);
        return 1;
    }
    struct collect_source sources[64] = {0};
    static enum merge_state yes = MERGE_FINISHED;
    unsigned ranks[64];
    order.sources = sources;
    order.count = count < 64 ? count : 64;
    order.ranks = (unsigned)(count / lanes);
    for (size_t i = 0; i < order.count; i++) {
        char id[ID_TEXT + 1];
        id_text(&leases[i].id, id);
        printf("lease %s %s\n", id, leases[i].name);
        ranks[i] = (unsigned)(i % order.ranks);
        sources[i] = (struct collect_source){
            .where = {leases[i].id, leases[i].peer, leases[i].addr, (unsigned)(i / order.ranks)},
            .ranks = &ranks[i],
            .states = &yes,
            .count = 1};
        strcpy(sources[i].name, leases[i].name);
    }
    int rc = launch_all(c, leases, order.count, lanes, command);
    rc = rc == 0 ? serve(c, other, &order) : rc;
    free(leases);
    client_close(other);
    client_close(c);
    return rc;
}
