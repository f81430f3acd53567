/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c -- p2pctl members: the peers that are there, and those that are away. */
#include "print_json.h"
#include "all_peers.h"
#include "moment.h"
#include "overlay/core/lease/lending_state.h"
#include "tool.h"
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 5000 };

struct members {
    struct msg_local_member *at;
    size_t count;
};

static void member_row(void *ctx, const struct message *m)
{
    struct members *all = ctx;
    if (m->kind != MSG_local_member)
        return;
    struct msg_local_member *more = realloc(all->at, (all->count + 1) * sizeof *more);
    if (more == NULL)
        return;
    all->at = more;
    all->at[all->count++] = m->local_member;
}

static const struct msg_local_peer *present(const struct all_peers *p, const struct id *id)
{
    for (size_t i = 0; i < p->count; i++)
        if (id_equal(&p->at[i].ad.peer.id, id))
            return &p->at[i];
    return NULL;
}

static uint64_t present_until(const struct msg_local_peer *p)
{
    return lending_until((enum lending_state)p->ad.closed, p->until);
}

/* For people: with the end of a pause. */
static const char *present_state(const struct msg_local_peer *p, uint64_t now, char out[80])
{
    char when[24];
    const uint64_t until = present_until(p);
    snprintf(out, 80, "%s", lending_text((enum lending_state)p->ad.closed));
    if (until != 0)
        snprintf(out, 80, "lends nothing now: paused until %s", moment_text(until, now, when));
    return out;
}

static void print_one(const char *name, const char *state, const char *seen, const char *style,
                      const char *end)
{
    printf("%s%-20s %-12s %s%s\n", style, name, seen, state, end);
}

static void members_print(const struct all_peers *p, const struct members *all)
{
    const struct tool_style style = tool_style(stdout);
    const uint64_t now = moment_now_ms() / 1000;
    unsigned away = 0;
    char state[80];
    print_one("name", "state", "last seen", style.bold, style.end);
    for (size_t i = 0; i < p->count; i++)
        print_one(p->at[i].ad.name, present_state(&p->at[i], now, state), "now", "", "");
    for (size_t i = 0; i < all->count; i++) {
        const struct msg_local_member *m = &all->at[i];
        char span[24], seen[32] = "never";
        if (present(p, &m->peer) != NULL)
            continue;
        if (m->seen != 0)
            snprintf(seen, sizeof seen, "%s ago", moment_span(now - m->seen, span));
        print_one(m->name, member_away_text(m, now), seen, style.dim, style.end);
        away += !m->revoked;
    }
    printf("%s%zu here, %u away%s\n", style.dim, p->count, away, style.end);
}

static void members_print_json(const struct all_peers *p, const struct members *all)
{
    const uint64_t now = moment_now_ms() / 1000;
    json_t *rows = json_array();
    for (size_t i = 0; i < p->count; i++)
        json_array_append_new(rows,
                              json_of_member(p->at[i].ad.name, &p->at[i].ad.peer.id, true,
                                             lending_text((enum lending_state)p->at[i].ad.closed),
                                             present_until(&p->at[i]), now));
    for (size_t i = 0; i < all->count; i++) {
        const struct msg_local_member *m = &all->at[i];
        if (present(p, &m->peer) == NULL)
            json_array_append_new(rows, json_of_member(m->name, &m->peer, false,
                                                       member_away_text(m, now), 0, m->seen));
    }
    tool_print_json(json_pack("{s:o}", "members", rows));
}

int tool_members(int argc, char **argv)
{
    struct tool_options options = {0};
    struct all_peers there = {0};
    struct members all = {0};
    struct message question = {.kind = MSG_local_members};
    struct msg_local_done done;
    struct client *c;
    struct err e = {0};
    tool_parse(argc, argv,
               "The members of the grid: those that are there and whether they lend, and those "
               "that are away, with when this desktop saw them last. Where the authority is, all "
               "that were admitted are listed; elsewhere, those that this desktop has met.",
               &options);
    int rc = tool_connect(&c, &options);
    if (rc != TOOL_OK)
        return rc;
    if (all_peers_ask(&there, c, NULL, &e) != 0 ||
        client_ask(c, &question, ANSWER_MS, member_row, &all, &done, &e) != 0)
        rc = tool_fail(&e);
    else
        (options.json ? members_print_json : members_print)(&there, &all);
    all_peers_clear(&there);
    free(all.at);
    client_close(c);
    return rc;
}
