/* SPDX-License-Identifier: BSD-3-Clause */
/* grab.c -- a bare holder of leases, for tests: allocates, starts a command in each lease, prints
 * what happens. */
#include "overlay/client/p2pgrid.h"
#include "overlay/manifest/input.h"
#include "overlay/manifest/program.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "grab [-n SLOTS] [-l SLOTS-PER-LEASE] [-s SPARES] [-t MS] [-r REQUIRE] [-c COMMAND] [-p "
    "PROGRAM[=FILE]]... [-f FILE[=FILE]]... [-e] [-g] "
    "[-h]\n"
    "  prints `lease ID PEER SLOTS RTT_US`, `launched ID PID`, `failed ID WHY`, `ended ID STATUS "
    "WHY`\n"
    "  -p: the command executes PROGRAM, which has the bytes of FILE here; -e: promises to "
    "encrypt;\n"
    "  -f: it reads a file, likewise\n"
    "  -g: give back at once and end. Else ends when every lease has ended or stdin is closed.\n";

static void print_event(const struct grid_event *e)
{
    char id[ID_TEXT + 1];
    id_text(&e->lease, id);
    switch (e->kind) {
    case GRID_LAUNCHED:
        printf("launched %s %d\n", id, e->pid);
        break;
    case GRID_LAUNCH_FAILED:
        printf("failed %s %s\n", id, e->text);
        break;
    case GRID_LEASE_ENDED:
    case GRID_PEER_SILENT:
        printf("ended %s %d %s\n", id, e->status, e->text);
        break;
    case GRID_LEASE_RECALLED:
        printf("recalled %s %s\n", id, e->text);
        break;
    case GRID_LEASE_ENDING:
        printf("ending %s %s\n", id, e->text);
        break;
    case GRID_LEASE_SEEN: /* it did not ask */
    case GRID_FETCHING:   /* it brings no files */
        break;
    case GRID_ALLOCATION_ENDED:
    case GRID_DAEMON_GONE:
        printf("daemon gone\n");
        break;
    }
}

static int watch(struct client *c, size_t leases)
{
    struct pollfd on[] = {{.fd = client_fd(c), .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    struct grid_event event;
    char byte;
    while (leases > 0) {
        if (poll(on, 2, -1) < 0 && errno != EINTR)
            return 1;
        if (on[1].revents != 0 && read(0, &byte, 1) <= 0)
            return 0;
        while (client_event(c, &event) == 1) {
            print_event(&event);
            if (event.kind == GRID_DAEMON_GONE)
                return 1;
            leases -= event.kind != GRID_LAUNCHED && event.kind != GRID_LEASE_RECALLED &&
                      event.kind != GRID_LEASE_ENDING;
        }
    }
    return 0;
}

static void add_program(struct program *all, size_t *count, char *path)
{
    struct err e = {0};
    char *file = strchr(path, '=');
    struct program *p = &all[*count];
    if (file != NULL)
        *file++ = '\0';
    if (*count < PROGRAMS_MAX && program_take(p, file != NULL ? file : path, &e) == 0) {
        snprintf(p->path, sizeof p->path, "%s", path);
        ++*count;
        return;
    }
    fprintf(stderr, "grab: %s\n", e.text);
    exit(1);
}

static void add_input(struct input *all, size_t *count, char *path)
{
    struct err e = {0};
    char *file = strchr(path, '=');
    struct input *i = &all[*count];
    if (file != NULL)
        *file++ = '\0';
    if (*count < INPUTS_MAX && input_take(i, file != NULL ? file : path, "", &e) == 0) {
        snprintf(i->path, sizeof i->path, "%s", path);
        ++*count;
        return;
    }
    fprintf(stderr, "grab: %s\n", e.text);
    exit(1);
}

int main(int argc, char **argv)
{
    struct request want = {.slots = 1, .timeout_ms = 10000};
    struct program programs[PROGRAMS_MAX];
    struct input inputs[INPUTS_MAX];
    struct grid_launch what = {.programs = programs, .inputs = inputs};
    bool give_back = false;
    for (int o; (o = getopt(argc, argv, "n:l:s:t:r:c:p:f:eg")) != -1;) {
        if (o == 'n')
            want.slots = (unsigned)atoi(optarg);
        else if (o == 'l')
            want.per_lease = (unsigned)atoi(optarg);
        else if (o == 's')
            want.spares = (unsigned)atoi(optarg);
        else if (o == 't')
            want.timeout_ms = (unsigned)atoi(optarg);
        else if (o == 'r')
            want.require = optarg;
        else if (o == 'c')
            what.command = optarg;
        else if (o == 'e')
            what.encrypts = true;
        else if (o == 'p')
            add_program(programs, &what.program_count, optarg);
        else if (o == 'f')
            add_input(inputs, &what.input_count, optarg);
        else if (o == 'g')
            give_back = true;
        else {
            fputs(usage, stderr);
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct err e = {0};
    struct client *c = NULL;
    struct grid_lease *leases;
    size_t count, spares;
    char *environment[] = {"GRAB=yes", NULL};
    what.environment = environment;
    if (client_open(&c, NULL, &e) != 0 ||
        client_allocate(c, &want, &leases, &count, &spares, &e) != 0) {
        fprintf(stderr, "grab: %s\n", e.text);
        client_close(c);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        char id[ID_TEXT + 1];
        id_text(&leases[i].id, id);
        printf("%s %s %s %u %u\n", i + spares < count ? "lease" : "spare", id, leases[i].name,
               leases[i].slots, leases[i].rtt_us);
    }
    for (size_t i = 0; what.command != NULL && i + spares < count; i++)
        if (client_launch(c, &leases[i].id, &what, &e) != 0) {
            fprintf(stderr, "grab: %s\n", e.text);
            return 1;
        }
    int rc = give_back ? 0 : watch(c, count);
    free(leases);
    client_close(c);
    return rc;
}
