/* SPDX-License-Identifier: BSD-3-Clause */
/* overlay.c -- what the overlay costs and how well it does, from 64 to 16,384 peers in the
 * simulator, beside what is aimed at and beside what earlier systems did on the same network: a
 * supernode, and round robin gossip. */
#include "gossip.h"
#include "job.h"
#include "measure.h"
#include "overlay/core/ring/ring.h"
#include "supernode.h"
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned moments_s[MEASURE_MOMENTS] = {2, 5, 10, 20, 30};

enum { GOSSIP_S = 60 };

static void print_right(const char *what, const double right[MEASURE_MOMENTS])
{
    printf("  %s vanished at once, lookups right after", what);
    for (unsigned m = 0; m < MEASURE_MOMENTS; m++)
        printf("%s%2u s %5.1f%%", m == 0 ? " " : ", ", moments_s[m], right[m]);
}

/* A record is lost when all its copies vanish: with `share` of all peers gone that befalls
 * share^copies of the records, whatever the overlay does. */
static double forced_by_chance(unsigned records, double share)
{
    double expected = records;
    for (unsigned i = 0; i < RING_COPIES; i++)
        expected *= share;
    return expected;
}

static void print_vanished(const char *what, const struct vanished *v, unsigned records,
                           double share)
{
    print_right(what, v->right);
    printf("; %u of %u records lost (%u had no copy left; by chance %.1f)\n", v->lost, records,
           v->forced, forced_by_chance(records, share));
}

static void print_measured(const struct measured *r)
{
    printf(
        "\n%u peers, %zu bytes of state each (at most 16384); joined within %u s, one exact ring "
        "after %u s\n",
        r->peers, r->state_bytes, r->joined_s, r->formed_s);
    printf("  hops of a lookup       mean %5.2f, p99 %2.0f  (aim: mean %.1f)\n", r->hops,
           r->hops_p99, r->log2 / 2.0 + 1);
    printf("  idle, a peer           %5.0f bytes/s, %.1f messages/s\n", r->idle_bytes,
           r->idle_messages);
    printf(
        "  64 nearest that fit    %5.1f messages in a row, at most %.0f (aim: %u), %.0f in all\n",
        r->chain, r->chain_most, 2 * r->log2, r->search_messages);
    printf("    their mean distance  %5.3f of that of the true ones (aim: 1.100)\n", r->quality);
    print_vanished("a quarter", &r->quarter, r->records, 0.25);
    print_vanished("half     ", &r->half, r->records, 0.5);
}

static void print_supernode(unsigned peers)
{
    struct supernode_result quarter = supernode_measure(peers, 1, 25, moments_s),
                            half = supernode_measure(peers, 1, 50, moments_s);
    printf(
        "  supernode: 2 messages a lookup, %u for the 64 nearest: all have to be pinged; idle %.0f "
        "bytes/s a peer, %.0f at the supernode; none right from its death on\n",
        2 + 2 * peers, quarter.peer_bytes, quarter.supernode_bytes);
    print_right("  a quarter", quarter.right);
    printf("\n");
    print_right("  half     ", half.right);
    printf("\n");
}

static void print_gossip(unsigned peers)
{
    struct gossip_result g = gossip_measure(peers, GOSSIP_S, 1, 25);
    printf(
        "  gossip: 0 messages a lookup; %.0f bytes/s a peer; a quarter that vanished is forgotten "
        "by all after %.1f s; %.0f false deaths per 1000 node-hours\n",
        g.bytes_per_second, g.forgotten_s, g.false_deaths * 1000.0 / g.node_hours);
}

static void print_job(unsigned members, unsigned busy_permille, unsigned node_hours)
{
    struct watched w = job_measure(members, busy_permille, node_hours);
    printf(
        "  %2u peers%s cut: declared by all after %.2f s (median of 21; worst %.2f s; aim: 1.00); "
        "%.1f false deaths per 1000 node-hours; %.0f bytes/s a member\n",
        members, busy_permille > 0 ? ", a third of them busy," : ",", w.median_s, w.worst_s,
        w.false_deaths * 1000.0 / w.node_hours, w.bytes);
}

struct options {
    unsigned min, max, node_hours;
    unsigned long seed;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'n':
        o->min = (unsigned)strtoul(arg, NULL, 10);
        return o->min >= 64 ? 0 : EINVAL;
    case 'm':
        o->max = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case 'h':
        o->node_hours = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case 's':
        o->seed = strtoul(arg, NULL, 10);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"min", 'n', "N", 0, "peers to begin with, at least 64 (64)", 0},
        {"max", 'm', "N", 0, "peers to end with (16384); 0: only the peers of a job", 0},
        {"node-hours", 'h', "N", 0, "simulated, for false deaths (1000); 0: no job", 0},
        {"seed", 's', "N", 0, "where all chance comes from (1)", 0},
        {0},
    };
    static const struct argp argp = {options, parse, NULL, "Measures the overlay in the simulator.",
                                     NULL,    NULL,  NULL};
    struct options o = {.min = 64, .max = 16384, .node_hours = 1000, .seed = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("The overlay in the simulator: 64 sites, 1 permille of messages lost; seed %lu\n",
           o.seed);
    for (unsigned n = o.min; n <= o.max; n *= 4) {
        struct measured r = measure(n, o.seed, moments_s);
        print_measured(&r);
        print_supernode(n);
        print_gossip(n);
    }
    if (o.node_hours == 0)
        return 0;
    printf("\nThe peers of one job watch each other; one of them is\n");
    for (unsigned members = 16; members <= 64; members *= 4) {
        print_job(members, 0, o.node_hours);
        print_job(members, 333, o.node_hours);
    }
    return 0;
}
