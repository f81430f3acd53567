/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c -- p2pctl peers: every peer of the grid, nearest first. */
#include "tool.h"
#include "ad_json.h"
#include "addr.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WALK_MS = 20000, GRACE_MS = 3000 };

struct peers {
    struct msg_local_peer *at;
    size_t count, room;
    bool progress;
};

static void take(void *ctx, const struct message *m)
{
    struct peers *p = ctx;
    if (m->kind != MSG_local_peer)
        return;
    if (p->count == p->room) {
        size_t room = p->room == 0 ? 64 : 2 * p->room;
        struct msg_local_peer *more = realloc(p->at, room * sizeof *more);
        if (more == NULL)
            return;
        p->at = more;
        p->room = room;
    }
    p->at[p->count++] = m->local_peer;
    if (p->progress)
        fprintf(stderr, "\r%zu peers...", p->count);
}

static int by_round_trip(const void *a, const void *b)
{
    const struct msg_local_peer *x = a, *y = b;
    if (x->rtt_us != y->rtt_us)
        return x->rtt_us < y->rtt_us ? -1 : 1;
    return strcmp(x->ad.name, y->ad.name);
}

static void print_one(const struct msg_local_peer *p, const struct tool_style *style)
{
    const struct part_ad *ad = &p->ad;
    char where[ADDR_TEXT + 1], memory[24], rtt[24], slots[16];
    addr_text(&ad->peer.addr, where);
    snprintf(slots, sizeof slots, "%u of %u", ad->slots_free, ad->slots);
    printf("%-16s %-22s %9s  %s%-9s%s %5u %9s %6.2f  %-7s %s\n", ad->name, where,
           p->rtt_us == 0 ? "here" : tool_round_trip(p->rtt_us, rtt),
           ad->slots_free > 0 ? style->good : style->dim, slots, style->end, ad->cores,
           tool_size(ad->memory, memory), ad->load / 1000.0, ad->ompi[0] != '\0' ? ad->ompi : "-",
           ad->site);
}

static void print(const struct peers *p, unsigned silent)
{
    const struct tool_style style = tool_style(stdout);
    unsigned slots = 0, slots_free = 0;
    printf("%s%-16s %-22s %9s  %-9s %5s %9s %6s  %-7s %s%s\n", style.bold, "name", "address",
           "distance", "slots", "cores", "memory", "load", "openmpi", "site", style.end);
    for (size_t i = 0; i < p->count; i++) {
        print_one(&p->at[i], &style);
        slots += p->at[i].ad.slots;
        slots_free += p->at[i].ad.slots_free;
    }
    printf("%s%zu peer%s, %u of %u slots free", style.dim, p->count, p->count == 1 ? "" : "s",
           slots_free, slots);
    if (silent > 0)
        printf("; %u did not answer", silent);
    printf("%s\n", style.end);
}

static void print_json(const struct peers *p, unsigned silent)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->count; i++) {
        json_t *one = tool_json_ad(&p->at[i].ad);
        json_object_set_new(one, "rtt_us", json_integer(p->at[i].rtt_us));
        json_array_append_new(list, one);
    }
    tool_print_json(json_pack("{s:o, s:i}", "peers", list, "silent", silent));
}

int tool_peers(int argc, char **argv)
{
    struct peers p = {.progress = isatty(2)};
    struct tool_options options = {0};
    struct message question = {.kind = MSG_local_peers};
    struct msg_local_done done;
    struct client *c;
    struct err e = {0};
    tool_parse(argc, argv, "Walks the whole grid and shows every peer that answers, nearest first.",
               &options);
    int rc = tool_connect(&c, &options);
    if (rc != TOOL_OK)
        return rc;
    question.local_peers.timeout_ms = WALK_MS;
    int failed = client_ask(c, &question, WALK_MS + GRACE_MS, take, &p, &done, &e);
    if (p.progress)
        fprintf(stderr, "\r\033[K");
    if (p.count > 0)
        qsort(p.at, p.count, sizeof p.at[0], by_round_trip);
    if (failed != 0)
        rc = tool_fail(&e);
    else if (options.json)
        print_json(&p, done.silent);
    else
        print(&p, done.silent);
    free(p.at);
    client_close(c);
    return rc;
}
