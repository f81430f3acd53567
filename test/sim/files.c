/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c -- many peers fetch the files of one: how long it takes over links of so many Mbit/s, and
 * how often each object leaves the offerer, with peers that die meanwhile and peers that give
 * nothing but noise. The machines are those of the daemon (swarm.h, fetch.h); a link's bytes are
 * shared evenly by what goes over it. usage: files [--seed N] [--peers N] [--mbytes N] [--mbit N]
 * [--dying N] [--liars N] [--schedules N] */
#include "overlay/core/files/fetch.h"
#include "overlay/core/files/swarm.h"
#include "overlay/base/random.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT = 1024 * 1024, FLOWS = 4096 };

struct plan {
    uint64_t seed;
    unsigned peers, objects, mbit, dying, liars;
};

struct flow {
    unsigned from, to; /* peers; `peers` is the offerer */
    uint32_t object;
    double left; /* bytes */
    bool used;
};

struct desk {
    struct part_peer who;
    struct fetch fetch;
    uint8_t *have;
    unsigned count;
    bool dead, liar;
    uint64_t dies_ms, ended_ms;
};

struct world {
    struct plan plan;
    struct desk *desks;
    struct swarm *swarm;
    struct flow flows[FLOWS];
    unsigned top; /* none at or after this one is used */
    uint64_t now_ms, chance;
    uint64_t left_offerer; /* objects */
    unsigned *up, *down;
};

static void fail(const struct world *w, const char *what)
{
    const struct plan *p = &w->plan;
    printf(
        "%s\ntest/sim/files --seed %llu --peers %u --mbytes %u --mbit %u --dying %u --liars %u\n",
        what, (unsigned long long)p->seed, p->peers, p->objects, p->mbit, p->dying, p->liars);
    exit(1);
}

static unsigned desk_of(const struct world *w, const struct id *id)
{
    return id_is_zero(id) ? w->plan.peers : id->b[0] * 256u + id->b[1] - 1;
}

static bool has(const struct desk *d, uint32_t o)
{
    return d->have[o / 8] >> (o % 8) & 1;
}

static void start_flow(struct world *w, unsigned from, unsigned to, uint32_t object)
{
    for (unsigned i = 0; i < FLOWS; i++)
        if (!w->flows[i].used) {
            w->flows[i] = (struct flow){from, to, object, OBJECT, true};
            w->top = i >= w->top ? i + 1 : w->top;
            w->left_offerer += from == w->plan.peers;
            return;
        }
    fail(w, "too much is on its way");
}

static void do_all(struct world *w, unsigned to, const struct fetch_out *out)
{
    struct desk *d = &w->desks[to];
    for (size_t i = 0; i < out->count; i++) {
        const struct fetch_action *a = &out->action[i];
        const unsigned giver = desk_of(w, &a->peer.id);
        switch (a->kind) {
        case FETCH_ASK:
            if (giver == w->plan.peers || !w->desks[giver].dead)
                start_flow(w, giver, to, a->object);
            break;
        case FETCH_FAILED:
            swarm_failed(w->swarm, &d->who.id, a->object, &a->peer.id, a->wrong);
            break;
        case FETCH_JOIN:
            if (!swarm_join(w->swarm, &d->who, d->have, (w->plan.objects + 7) / 8))
                fail(w, "it was not let in");
            break;
        case FETCH_OVER:
            fail(w, "it gave up");
        }
    }
}

static void assign(struct world *w)
{
    struct swarm_gift gift;
    struct fetch_out out;
    while (swarm_next(w->swarm, &gift)) {
        const unsigned to = desk_of(w, &gift.to.id);
        fetch_get(&w->desks[to].fetch, (uint32_t)gift.object, &gift.from,
                  has(&w->desks[to], (uint32_t)gift.object), w->now_ms, &out);
        do_all(w, to, &out);
    }
}

static void arrive(struct world *w, struct flow *f)
{
    struct desk *d = &w->desks[f->to];
    struct fetch_out out = {.count = 0};
    const struct id *giver =
        f->from == w->plan.peers ? &(struct id){.b = {0}} : &w->desks[f->from].who.id;
    const bool right = f->from == w->plan.peers || !w->desks[f->from].liar;
    const int place = fetch_data(&d->fetch, giver, f->object, 0, OBJECT, OBJECT, w->now_ms);
    f->used = false;
    if (place < 0)
        return;
    fetch_done(&d->fetch, place, right, &out);
    do_all(w, f->to, &out);
    if (!right)
        return;
    if (has(d, f->object))
        fail(w, "it came twice");
    d->have[f->object / 8] |= (uint8_t)(1u << f->object % 8);
    swarm_got(w->swarm, &d->who.id, f->object);
    if (++d->count == w->plan.objects)
        d->ended_ms = w->now_ms;
}

static void die(struct world *w, unsigned who)
{
    struct fetch_out out;
    w->desks[who].dead = true;
    swarm_leaves(w->swarm, &w->desks[who].who.id);
    for (unsigned i = 0; i < w->top; i++)
        if (w->flows[i].used && (w->flows[i].from == who || w->flows[i].to == who))
            w->flows[i].used = false;
    for (unsigned i = 0; i < w->plan.peers; i++)
        if (!w->desks[i].dead) {
            fetch_gone(&w->desks[i].fetch, &w->desks[who].who.id, &out);
            do_all(w, i, &out);
        }
}

static void step(struct world *w)
{
    const unsigned all = w->plan.peers + 1;
    const unsigned step_ms = w->plan.mbit < 100 ? 500 / w->plan.mbit : 5;
    const double bytes = w->plan.mbit * 1e6 / 8 / 1000 * step_ms;
    struct fetch_out out;
    memset(w->up, 0, all * sizeof *w->up);
    memset(w->down, 0, all * sizeof *w->down);
    while (w->top > 0 && !w->flows[w->top - 1].used)
        w->top--;
    for (unsigned i = 0; i < w->top; i++)
        if (w->flows[i].used)
            w->up[w->flows[i].from]++, w->down[w->flows[i].to]++;
    w->now_ms += step_ms;
    for (unsigned i = 0; i < w->top; i++) {
        struct flow *f = &w->flows[i];
        if (!f->used)
            continue;
        const double out_rate = bytes / w->up[f->from], in_rate = bytes / w->down[f->to];
        f->left -= out_rate < in_rate ? out_rate : in_rate;
        if (f->left <= 0)
            arrive(w, f);
    }
    for (unsigned i = 0; i < w->plan.peers; i++) {
        struct desk *d = &w->desks[i];
        if (!d->dead && d->dies_ms != 0 && w->now_ms >= d->dies_ms)
            die(w, i);
        if (d->dead || d->ended_ms != 0)
            continue;
        fetch_tick(&d->fetch, w->now_ms, &out);
        do_all(w, i, &out);
    }
    assign(w);
}

static bool is_over(const struct world *w)
{
    for (unsigned i = 0; i < w->plan.peers; i++)
        if (!w->desks[i].dead && w->desks[i].ended_ms == 0)
            return false;
    return true;
}

static void begin(struct world *w)
{
    const struct plan *p = &w->plan;
    const uint64_t alone_ms = (uint64_t)p->objects * OBJECT * 8 / (p->mbit * 1000ull);
    struct fetch_out out;
    w->desks = calloc(p->peers, sizeof *w->desks);
    w->up = calloc(p->peers + 1, sizeof *w->up);
    w->down = calloc(p->peers + 1, sizeof *w->down);
    w->swarm = swarm_init(malloc(swarm_size(p->objects, p->peers)), p->objects, p->peers);
    for (unsigned i = 0; i < p->peers; i++) {
        struct desk *d = &w->desks[i];
        d->who.id.b[0] = (uint8_t)((i + 1) / 256);
        d->who.id.b[1] = (uint8_t)((i + 1) % 256);
        d->have = calloc(p->objects / 8 + 1, 1);
        d->dies_ms = i < p->dying ? 1 + splitmix64(&w->chance) % alone_ms : 0;
        d->liar = i >= p->dying && i < p->dying + p->liars;
    }
    for (unsigned i = 0; i < p->peers; i++) {
        fetch_init(&w->desks[i].fetch, 0, &out);
        do_all(w, i, &out);
    }
    assign(w);
}

static void end(struct world *w)
{
    for (unsigned i = 0; i < w->plan.peers; i++)
        free(w->desks[i].have);
    free(w->desks);
    free(w->up);
    free(w->down);
    free(w->swarm);
}

/* Ratios: of the time to that of one peer alone, of what left the offerer to the size. */
static void run(const struct plan *plan, double *time, double *left)
{
    static struct world w;
    memset(&w, 0, sizeof w);
    w.plan = *plan;
    w.chance = plan->seed;
    begin(&w);
    const double alone_ms = plan->objects * (double)OBJECT * 8 / (plan->mbit * 1000.0);
    while (!is_over(&w)) {
        step(&w);
        if ((double)w.now_ms > 20 * alone_ms + 60000)
            fail(&w, "it does not end");
    }
    *time = (double)w.now_ms / alone_ms;
    *left = (double)w.left_offerer / plan->objects;
    if (plan->dying + plan->liars == 0 && *left > 1.02)
        fail(&w, "objects leave the offerer more than once");
    const bool long_enough = plan->objects >= 16 * plan->peers; /* for each to have some of it */
    if (long_enough && plan->dying + plan->liars <= plan->peers / 4 && (*time > 1.5 || *left > 1.3))
        fail(&w, "it takes too long, or too much leaves the offerer");
    end(&w);
}

static unsigned number(int argc, char **argv, const char *name, unsigned usual)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return (unsigned)strtoul(argv[i + 1], NULL, 10);
    return usual;
}

static void show(const struct plan *p)
{
    double time, left;
    run(p, &time, &left);
    printf("%3u peers, %4u MiB, %u Mbit/s, %u die, %u lie: %.2f times as long as one alone, %.2f "
           "times the size left the offerer\n",
           p->peers, p->objects, p->mbit, p->dying, p->liars, time, left);
}

int main(int argc, char **argv)
{
    struct plan p = {.seed = number(argc, argv, "--seed", 1),
                     .peers = number(argc, argv, "--peers", 16),
                     .objects = number(argc, argv, "--mbytes", 1024),
                     .mbit = number(argc, argv, "--mbit", 100),
                     .dying = number(argc, argv, "--dying", 0),
                     .liars = number(argc, argv, "--liars", 0)};
    show(&p);
    if (argc > 1)
        return 0;
    p.dying = 3;
    show(&p);
    p.dying = 0;
    p.liars = 2;
    show(&p);
    for (p.seed = 2; p.seed < 62; p.seed++) {
        double time, left;
        uint64_t chance = p.seed;
        p.peers = 1 + (unsigned)(splitmix64(&chance) % 24);
        p.objects = 1 + (unsigned)(splitmix64(&chance) % 160);
        p.mbit = 10u << splitmix64(&chance) % 5;
        p.dying = (unsigned)(splitmix64(&chance) % (p.peers + 1)) / 2;
        p.liars = (unsigned)(splitmix64(&chance) % (p.peers - p.dying + 1)) / 2;
        run(&p, &time, &left);
    }
    printf("60 others: all that lived got all\n");
    return 0;
}
