/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c -- p2pctl status: this desktop's own peer. */
#include "tool.h"
#include "print_json.h"
#include "overlay/base/addr.h"
#include "overlay/base/lane_roots.h"
#include "overlay/core/lease/lease.h"
#include <jansson.h>
#include <string.h>

enum { ANSWER_MS = 5000, NEIGHBOURS_MAX = 64 };

struct status {
    struct msg_local_self self;
    struct msg_local_neighbour near[NEIGHBOURS_MAX];
    size_t near_count;
    struct msg_local_granted leases[LEASE_MAX];
    size_t lease_count;
    char other_versions[TOOL_LINES + 1];
};

static void status_row(void *ctx, const struct message *m)
{
    struct status *s = ctx;
    if (m->kind == MSG_local_self)
        s->self = m->local_self;
    else if (m->kind == MSG_local_neighbour && s->near_count < NEIGHBOURS_MAX)
        s->near[s->near_count++] = m->local_neighbour;
    else if (m->kind == MSG_local_granted && s->lease_count < LEASE_MAX)
        s->leases[s->lease_count++] = m->local_granted;
}

static void print_ring(const struct status *s)
{
    char where[ADDR_TEXT + 1], id[TOOL_SHORT_ID + 1];
    if (s->near_count == 0)
        printf("  ring     alone\n");
    for (size_t i = 0; i < s->near_count; i++) {
        const struct msg_local_neighbour *n = &s->near[i];
        addr_text(&n->peer.addr, where);
        printf("  %-8s %s %s  %s\n", i == 0 ? "ring" : "", n->place == 0 ? "before" : "after ",
               tool_short_id(&n->peer.id, id), where);
    }
}

static void print_leases(const struct status *s)
{
    char id[TOOL_SHORT_ID + 1], holder[TOOL_SHORT_ID + 1];
    for (size_t i = 0; i < s->lease_count; i++) {
        const struct msg_local_granted *l = &s->leases[i];
        printf("  %-8s %s  %u slot%s for %s of peer %s, %llu s", i == 0 ? "leases" : "",
               tool_short_id(&l->lease, id), l->slots, l->slots == 1 ? "" : "s", l->user,
               tool_short_id(&l->holder, holder), (unsigned long long)(l->age_ms / 1000));
        if (l->pid != 0)
            printf(", runs as pid %u", l->pid);
        printf("\n");
    }
}

static void status_print(const struct status *s)
{
    const struct part_ad *ad = &s->self.ad;
    const struct tool_style style = tool_style(stdout);
    char id[ID_TEXT + 1], where[ADDR_TEXT + 1], memory[24], disk[24];
    id_text(&ad->peer.id, id);
    addr_text(&ad->peer.addr, where);
    printf("%s%s%s %s%s%s\n", style.bold, ad->name, style.end, style.dim, id, style.end);
    printf("  p2pd     %s, pid %u, listens at %s\n", s->self.version, s->self.pid, where);
    printf("  machine  %s %s, %u cores, %s of memory, %s of disk, load %.2f, Open MPI %s\n", ad->os,
           ad->arch, ad->cores, tool_size(ad->memory, memory), tool_size(ad->disk, disk),
           ad->load / 1000.0, ad->ompi[0] != '\0' ? ad->ompi : "missing");
    printf("  slots    %s%u of %u free%s\n", ad->slots_free > 0 ? style.good : style.bad,
           ad->slots_free, ad->slots, style.end);
    printf("  files    %s for each lane of a job\n", lanes_way_text((enum lanes_way)s->self.views));
    print_ring(s);
    print_leases(s);
    tool_print_lines(s->other_versions);
}

static json_t *json_ring(const struct status *s)
{
    json_t *before = json_null(), *after = json_array();
    for (size_t i = 0; i < s->near_count; i++)
        if (s->near[i].place == 0)
            before = json_of_neighbour(&s->near[i].peer);
        else
            json_array_append_new(after, json_of_neighbour(&s->near[i].peer));
    return json_pack("{s:o, s:o}", "predecessor", before, "successors", after);
}

static json_t *json_leases(const struct status *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->lease_count; i++) {
        const struct msg_local_granted *l = &s->leases[i];
        char id[ID_TEXT + 1], holder[ID_TEXT + 1];
        id_text(&l->lease, id);
        id_text(&l->holder, holder);
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:i, s:i, s:I}", "id", id, "holder",
                                             holder, "user", l->user, "slots", l->slots, "pid",
                                             l->pid, "age_ms", (json_int_t)l->age_ms));
    }
    return all;
}

static void status_print_json(const struct status *s)
{
    json_t *all = json_of_ad(&s->self.ad);
    json_object_set_new(all, "version", json_string(s->self.version));
    json_object_set_new(all, "pid", json_integer(s->self.pid));
    json_object_set_new(all, "listen", json_pack("[O]", json_object_get(all, "address")));
    json_object_set_new(all, "views", json_string(lanes_way_text((enum lanes_way)s->self.views)));
    json_object_set_new(all, "ring", json_ring(s));
    json_object_set_new(all, "leases", json_leases(s));
    json_object_set_new(all, "other_versions", json_of_lines(s->other_versions));
    tool_print_json(all);
}

int tool_status(int argc, char **argv)
{
    static struct status s;
    struct tool_options options = {0};
    struct message question = {.kind = MSG_local_status};
    struct msg_local_done done;
    struct client *c;
    struct err e = {0};
    tool_parse(argc, argv,
               "Shows this desktop's own peer: who and where it is, its neighbours on the "
               "ring, its slots, and the leases it granted.",
               &options);
    int rc = tool_connect(&c, &options);
    if (rc != TOOL_OK)
        return rc;
    if (client_ask(c, &question, ANSWER_MS, status_row, &s, &done, &e) != 0)
        rc = tool_fail(&e);
    else
        memcpy(s.other_versions, done.reason, sizeof s.other_versions);
    if (rc == TOOL_OK)
        (options.json ? status_print_json : status_print)(&s);
    client_close(c);
    return rc;
}
