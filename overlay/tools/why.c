/* SPDX-License-Identifier: BSD-3-Clause */
/* why.c -- p2pctl why: which peers would be chosen for a job, and why the others would not. */
#include "tool.h"
#include "print_json.h"
#include "order.h"
#include "pick.h"
#include "overlay/files/binaries.h"
#include "src/ras_p2p/request.h"
#include "overlay/core/lease/require.h"
#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MOST = 65536, LIST = 200 };

struct order {
    struct tool_options shared;
    struct pick_want want;
    const char *require_text, *builds;
    char **words; /* the program's command line; NULL: none is given */
    struct require require;
    struct binaries_want wanted; /* by the program */
};

static const char doc[] =
    "Shows which peers a job would get if it were started now, which ranks they would run, and why "
    "the other peers would not be used: also those that PROGRAM cannot run on. Nothing is "
    "reserved.";

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "as with mpirun -n", 0},
    {"level", 'l', "R", 0, "as errmgr_replica_level: 2, or 0:3,1-:2 (1)", 0},
    {"require", 'r', "EXPRESSION", 0, "as ras_p2p_require", 0},
    {"spares", 'p', "N", 0, "as ras_p2p_spares (0)", 0},
    {"binaries", 'b', "LIST", 0, "as p2p_files_binaries", 0},
    {"strategy", 'm', "WORD", 0, "as rmaps_locality_strategy: concentrate, spread or balanced", 0},
    {0},
};

static void take_require(struct order *o, const char *text, struct argp_state *state)
{
    struct require_error wrong;
    char line[1024];
    if (require_parse(&o->require, text, &wrong))
        return;
    require_error_text(&wrong, text, line, sizeof line);
    argp_error(state, "%s", line);
}

/* What the program needs of a peer, besides what the user asks for. */
static void take_program(struct order *o, struct argp_state *state)
{
    char here[PATH_MAX];
    struct binaries builds;
    struct err e = {0};
    struct gather_app app = {.cwd = getcwd(here, sizeof here) != NULL ? here : "/",
                             .library_path = getenv("LD_LIBRARY_PATH")};
    if (o->words != NULL) {
        app.program = o->words[0];
        app.words = o->words;
        if (binaries_parse(&builds, o->builds, &app, getenv("PATH"), &e) != 0 ||
            binaries_require(&o->wanted, &app, 1, &builds, getenv("PATH"), &e) != 0)
            argp_error(state, "%s", e.text);
    }
    char *both = binaries_join(o->require_text, o->wanted.require);
    if (both == NULL)
        argp_failure(state, TOOL_FAILED, 0, "out of memory");
    take_require(o, both, state);
    free(both);
}

static error_t why_parse(int key, char *value, struct argp_state *state)
{
    struct order *o = state->input;
    struct err e = {0};
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->shared;
        return 0;
    case 'n':
        o->want.ranks = order_number(value, "ranks", 1, RANKS_MOST, state);
        return 0;
    case 'p':
        o->want.spares = order_number(value, "spares", 0, RANKS_MOST, state);
        return 0;
    case 'l':
        if (level_parse(&o->want.level, value, &e) != 0)
            argp_error(state, "%s", e.text);
        return 0;
    case 'm':
        if (request_strategy(value, &o->want.strategy, &e) != 0)
            argp_error(state, "%s", e.text);
        return 0;
    case 'r':
        o->require_text = value;
        return 0;
    case 'b':
        o->builds = value;
        return 0;
    case ARGP_KEY_ARGS:
        o->words = state->argv + state->next;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (o->want.ranks == 0)
            argp_error(state, "--ranks=N is missing: for how many ranks?");
        take_program(o, state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* "0-3, 7": the ranks of these lanes that would run on a candidate. */
static const char *list_ranks(const struct pick *p, size_t candidate, unsigned lane, unsigned lanes,
                              char out[LIST])
{
    size_t at = 0;
    out[0] = '\0';
    for (unsigned k = lane; k < lanes; k++) {
        const unsigned *place = &p->place[(size_t)k * p->ranks];
        for (unsigned i = 0; i < p->ranks && at < LIST - 30; i++) {
            unsigned last = i;
            if (place[i] != candidate)
                continue;
            while (last + 1 < p->ranks && place[last + 1] == candidate)
                last++;
            at += (size_t)snprintf(out + at, LIST - at, "%s%u", at > 0 ? ", " : "", i);
            if (last > i)
                at += (size_t)snprintf(out + at, LIST - at, "-%u", last);
            i = last;
        }
    }
    return out;
}

/* What becomes of a candidate, in words. */
static void why_explain(const struct pick *p, size_t i, char *out, size_t size)
{
    const struct candidate *c = &p->candidates.at[i];
    char ranks[LIST], copies[LIST];
    if (!c->fits) {
        snprintf(out, size, "%s", c->why);
    } else if (p->slots[i] > 0) {
        list_ranks(p, i, 0, 1, ranks);
        list_ranks(p, i, 1, p->lanes, copies);
        snprintf(out, size, "runs %s%s%s%s%s", ranks[0] != '\0' ? "rank " : "", ranks,
                 ranks[0] != '\0' && copies[0] != '\0' ? ", " : "",
                 copies[0] != '\0' ? "a copy of " : "", copies);
    } else if (p->spares[i] > 0) {
        snprintf(out, size, "is a spare");
    } else if (c->slots_free == 0) {
        snprintf(out, size, "has 0 of %u slots free", c->slots);
    } else {
        snprintf(out, size, "%s", p->enough ? "is not needed: others suffice" : "would be used");
    }
}

static void why_print(const struct pick *p, const struct all_peers *all)
{
    const struct tool_style style = tool_style(stdout);
    char line[2 * LIST + 64], rtt[24], slots[16];
    printf("%s%-16s %9s  %-9s %s%s\n", style.bold, "name", "distance", "slots", "outcome",
           style.end);
    for (size_t i = 0; i < p->candidates.count; i++) {
        const struct candidate *c = &p->candidates.at[i];
        const bool used = p->slots[i] + p->spares[i] > 0;
        why_explain(p, i, line, sizeof line);
        snprintf(slots, sizeof slots, "%u of %u", c->slots_free, c->slots);
        printf("%-16s %9s  %-9s %s%s%s\n", c->name,
               c->rtt_us == 0 ? "here" : tool_round_trip(c->rtt_us, rtt), slots,
               used ? style.good : "", line, used ? style.end : "");
    }
    if (all->silent > 0)
        printf("%s%u more did not answer%s\n", style.dim, all->silent, style.end);
    tool_print_lines(all->other_versions);
}

static json_t *json_copies(const struct pick *p, size_t candidate)
{
    json_t *all = json_array();
    for (unsigned lane = 0; p->enough && lane < p->lanes; lane++)
        for (unsigned rank = 0; rank < p->ranks; rank++)
            if (p->place[(size_t)lane * p->ranks + rank] == candidate)
                json_array_append_new(all, json_pack("{s:i, s:i}", "rank", rank, "lane", lane));
    return all;
}

static void why_print_json(const struct pick *p, const struct all_peers *all)
{
    json_t *list = json_array();
    char line[2 * LIST + 64];
    for (size_t i = 0; i < p->candidates.count; i++) {
        const struct candidate *c = &p->candidates.at[i];
        why_explain(p, i, line, sizeof line);
        json_array_append_new(list, json_pack("{s:s, s:I, s:i, s:b, s:i, s:i, s:o, s:s}", "name",
                                              c->name, "rtt_us", (json_int_t)c->rtt_us,
                                              "slots_free", c->slots_free, "fits", c->fits, "slots",
                                              p->slots[i], "spares", p->spares[i], "runs",
                                              json_copies(p, i), "why", line));
    }
    tool_print_json(json_pack("{s:b, s:s, s:o, s:i, s:o}", "enough", p->enough, "why", p->why,
                              "peers", list, "silent", all->silent, "other_versions",
                              json_of_lines(all->other_versions)));
}

int tool_why(int argc, char **argv)
{
    static const struct argp_child children[] = {{&tool_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {options, why_parse, "[PROGRAM [WORD...]]", doc, children,
                                     NULL,    NULL};
    static struct order o;
    struct all_peers all = {0};
    struct pick pick = {0};
    struct client *client;
    struct err e = {0};
    level_parse(&o.want.level, "1", &e);
    o.want.require = &o.require;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
    int rc = tool_connect(&client, &o.shared);
    if (rc != TOOL_OK)
        return rc;
    if (all_peers_ask(&all, client, o.wanted.system, &e) != 0 ||
        pick_make(&pick, &all, &o.want, &e) != 0) {
        rc = tool_fail(&e);
    } else {
        (o.shared.json ? why_print_json : why_print)(&pick, &all);
        rc = pick.enough ? TOOL_OK : TOOL_FAILED;
        if (!pick.enough)
            fprintf(stderr, "p2pctl: %s\n", pick.why);
    }
    pick_clear(&pick);
    all_peers_clear(&all);
    client_close(client);
    return rc;
}
