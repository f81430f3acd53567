/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c -- p2pctl peers: every peer of the grid, nearest first. */
#include "tool.h"
#include "print_json.h"
#include "overlay/base/addr.h"
#include "all_peers.h"

static void peers_print_one(const struct msg_local_peer *p, const struct tool_style *style)
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

static void peers_print(const struct all_peers *p)
{
    const struct tool_style style = tool_style(stdout);
    unsigned slots = 0, slots_free = 0;
    printf("%s%-16s %-22s %9s  %-9s %5s %9s %6s  %-7s %s%s\n", style.bold, "name", "address",
           "distance", "slots", "cores", "memory", "load", "openmpi", "site", style.end);
    for (size_t i = 0; i < p->count; i++) {
        peers_print_one(&p->at[i], &style);
        slots += p->at[i].ad.slots;
        slots_free += p->at[i].ad.slots_free;
    }
    printf("%s%zu peer%s, %u of %u slots free", style.dim, p->count, p->count == 1 ? "" : "s",
           slots_free, slots);
    if (p->silent > 0)
        printf("; %u did not answer", p->silent);
    printf("%s\n", style.end);
    tool_print_lines(p->other_versions);
}

static void peers_print_json(const struct all_peers *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->count; i++)
        json_array_append_new(list, json_of_peer(&p->at[i]));
    tool_print_json(json_pack("{s:o, s:i, s:o}", "peers", list, "silent", p->silent,
                              "other_versions", json_of_lines(p->other_versions)));
}

int tool_peers(int argc, char **argv)
{
    struct all_peers all = {0};
    struct tool_options options = {0};
    struct client *client;
    struct err e = {0};
    tool_parse(argc, argv, "Walks the whole grid and shows every peer that answers, nearest first.",
               &options);
    int rc = tool_connect(&client, &options);
    if (rc != TOOL_OK)
        return rc;
    if (all_peers_ask(&all, client, NULL, &e) != 0)
        rc = tool_fail(&e);
    else
        (options.json ? peers_print_json : peers_print)(&all);
    all_peers_clear(&all);
    client_close(client);
    return rc;
}
