/* SPDX-License-Identifier: BSD-3-Clause */
/* advise.c -- p2pctl advise: how likely a job is to finish at each level, from how often peers were
 * seen to vanish. */
#include "tool.h"
#include "print_json.h"
#include "all_peers.h"
#include "odds.h"
#include <argp.h>
#include <stdlib.h>

enum { LEVELS = 3, RANKS_MOST = 65536, ENOUGH_TIMES = 10, FIRST_DAY = 24 };

struct order {
    struct tool_options shared;
    unsigned ranks;
    double hours, lifetime, target;
};

/* What was seen; or what the user says, with nothing watched. */
struct record {
    double hours, rate;
    unsigned vanished, peers;
};

static const char doc[] =
    "Says how likely a job is to finish at replication levels 1, 2 and 3, and recommends one: from "
    "how often the grid's peers have seen each other vanish.";

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "as with mpirun -n", 0},
    {"hours", 'H', "H", 0, "how long the job runs", 0},
    {"lifetime", 'L', "HOURS", 0, "how long a peer stays on average; without it: as observed", 0},
    {"target", 't', "PERCENT", 0, "recommend the lowest level that finishes so often (99)", 0},
    {0},
};

static double positive(const char *value, const char *option, double most, struct argp_state *state)
{
    char *end;
    double x = strtod(value, &end);
    if (*end != '\0' || end == value || !(x > 0) || !(x <= most))
        argp_error(state, "--%s=%s: must be a number above 0, at most %g", option, value, most);
    return x;
}

static error_t advise_parse(int key, char *value, struct argp_state *state)
{
    struct order *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->shared;
        return 0;
    case 'n':
        o->ranks = (unsigned)positive(value, "ranks", RANKS_MOST, state);
        return 0;
    case 'H':
        o->hours = positive(value, "hours", 1e6, state);
        return 0;
    case 'L':
        o->lifetime = positive(value, "lifetime", 1e9, state);
        return 0;
    case 't':
        o->target = positive(value, "target", 99.9999, state) / 100;
        return 0;
    case ARGP_KEY_END:
        if (o->ranks == 0 || o->hours <= 0)
            argp_error(state, "--ranks=N and --hours=H are needed");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static void add_up(struct record *r, const struct all_peers *all)
{
    for (size_t i = 0; i < all->count; i++) {
        r->hours += all->at[i].ad.watched / 60.0;
        r->vanished += all->at[i].ad.vanished;
        r->peers++;
    }
    if (r->hours > 0)
        r->rate = odds_rate(r->hours, r->vanished);
    else
        r->rate = odds_rate(1.0 / 60, r->vanished); /* nobody has been watched for a minute */
}

/* 0: none reaches the target. */
static unsigned recommended(const struct order *o, double rate)
{
    for (unsigned level = 1; level <= LEVELS; level++)
        if (odds_finish(rate, o->hours, o->ranks, level) >= o->target)
            return level;
    return 0;
}

/* Has the grid been watched for long enough to say anything of so many hours? */
static bool is_enough(const struct order *o, const struct record *r)
{
    return r->peers == 0 || r->hours >= ENOUGH_TIMES * o->hours;
}

/* On its first day a grid has lost nobody, or somebody who was only switched off at night. */
static bool is_known(const struct record *r)
{
    return r->peers == 0 || r->hours >= FIRST_DAY * r->peers;
}

static void advise_print_unknown(const struct order *o, const struct record *r)
{
    printf("not known yet: the grid's %u peer%s watched each other for %.1f hours each, and a day "
           "is the least to go by\n",
           r->peers, r->peers == 1 ? " has" : "s have", r->hours / r->peers);
    printf("until then: level 2 survives any one desktop's loss (%u processes); --lifetime=HOURS "
           "computes with what you expect\n",
           2 * o->ranks);
}

static void advise_print(const struct order *o, const struct record *r)
{
    const struct tool_style style = tool_style(stdout);
    const unsigned best = recommended(o, r->rate);
    if (!is_known(r)) {
        advise_print_unknown(o, r);
        return;
    }
    if (r->peers > 0)
        printf(
            "%u of the grid's peers watched each other for %.0f peer-hours, and saw %u vanish: one "
            "in %.0f hours of a peer\n",
            r->peers, r->hours, r->vanished, 1 / r->rate);
    else
        printf("a peer vanishes once in %.0f hours\n", 1 / r->rate);
    if (!is_enough(o, r))
        printf("%sthat is little to go by: fewer than %d times the hours that the job runs%s\n",
               style.bad, ENOUGH_TIMES, style.end);
    printf("%u rank%s, %g hours:\n", o->ranks, o->ranks == 1 ? "" : "s", o->hours);
    for (unsigned level = 1; level <= LEVELS; level++)
        printf("  %slevel %u  %5u processes  finishes in %.4g %% of all cases%s%s\n",
               level == best ? style.good : "", level, level * o->ranks,
               100 * odds_finish(r->rate, o->hours, o->ranks, level),
               level == best ? "  <- recommended" : "", level == best ? style.end : "");
    if (best == 0)
        printf("no level reaches %g %%: use fewer ranks, shorter runs, or checkpoints\n",
               100 * o->target);
}

static void advise_print_json(const struct order *o, const struct record *r)
{
    const unsigned best = is_known(r) ? recommended(o, r->rate) : 0;
    json_t *levels = json_array();
    for (unsigned level = 1; level <= LEVELS; level++)
        json_array_append_new(levels, json_pack("{s:i, s:i, s:f}", "level", level, "processes",
                                                level * o->ranks, "finishes",
                                                odds_finish(r->rate, o->hours, o->ranks, level)));
    tool_print_json(json_pack("{s:b, s:f, s:i, s:i, s:f, s:f, s:o, s:o}", "known", is_known(r),
                              "peer_hours", r->hours, "vanished", r->vanished, "peers", r->peers,
                              "rate_per_hour", r->rate, "target", o->target, "levels", levels,
                              "recommended", best > 0 ? json_integer(best) : json_null()));
}

static int observe(const struct order *o, struct record *r)
{
    struct all_peers all = {0};
    struct client *client;
    struct err e = {0};
    int rc = tool_connect(&client, &o->shared);
    if (rc != TOOL_OK)
        return rc;
    if (all_peers_ask(&all, client, NULL, &e) == 0)
        add_up(r, &all);
    all_peers_clear(&all);
    client_close(client);
    return e.code != 0 ? tool_fail(&e) : TOOL_OK;
}

int tool_advise(int argc, char **argv)
{
    static const struct argp_child children[] = {{&tool_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {options, advise_parse, NULL, doc, children, NULL, NULL};
    struct order o = {.target = 0.99};
    struct record r = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    int rc = TOOL_OK;
    if (o.lifetime > 0)
        r.rate = 1 / o.lifetime;
    else
        rc = observe(&o, &r);
    if (rc == TOOL_OK)
        (o.shared.json ? advise_print_json : advise_print)(&o, &r);
    return rc;
}
