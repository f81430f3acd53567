/* SPDX-License-Identifier: BSD-3-Clause */
/* grid_jobs.c -- a question for the jobs of the whole grid. What the submitters' daemons tell is
 * passed on as it comes; at the end follow the slots whose holders did not answer, as the peers
 * that lend them tell of them. */
#include "grid_jobs.h"
#include "overlay/base/names.h"
#include "overlay/client/words.h"
#include "overlay/crypto/identity.h"
#include "overlay/discovery/walk.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUESTIONS_MAX = 8, /* at once */
    PEER_MS = 3000,    /* for a peer to answer */
    LOOK_MS = 100,
    WAIT_MS_MAX = 60000, /* for all of it */
    PAGES_MAX = 16,      /* of one peer */
    ROWS_MAX = 4096,     /* of one question */
    JOBS_SINCE = 9,      /* version of the protocol */
};

/* A peer that the walk has found. */
struct asked {
    struct id peer;
    char name[64];
    uint64_t until_ms; /* 0: it has answered, or will not any more */
    uint16_t page;
    bool answered, old;
};

/* Slots of one user of one desktop, at all peers that lend him some. */
struct holding {
    struct part_held held;
    uint32_t peers;
    char where[sizeof((struct part_grid_job *)0)->where];
};

struct grid_question {
    struct grid_jobs *all;
    void *client;
    uint32_t token, asked; /* the client's, and this daemon's */
    struct walk *walk;     /* NULL: it is over */
    unsigned silent;
    uint64_t until_ms;
    struct asked *peers;
    size_t peer_count;
    struct holding *holdings;
    size_t holding_count;
    uint32_t rows;
    bool cut; /* there was more than it takes */
};

struct grid_jobs {
    struct node *node;
    struct walks *walks;
    struct told_jobs told;
    grid_jobs_say_fn *say;
    struct event *timer;
    struct grid_question *at[QUESTIONS_MAX];
    size_t count;
    uint32_t token;
};

/* --- rows --- */

static void say_job(struct grid_question *q, const struct id *peer, const char *from,
                    const struct part_grid_job *job)
{
    struct message m = {.kind = MSG_local_grid_job};
    const struct part_peer self = links_self(q->all->node->links);
    if (q->rows == ROWS_MAX) {
        q->cut = true;
        return;
    }
    q->rows++;
    m.local_grid_job.token = q->token;
    m.local_grid_job.peer = *peer;
    m.local_grid_job.own = id_equal(peer, &self.id);
    snprintf(m.local_grid_job.from, sizeof m.local_grid_job.from, "%s", from);
    m.local_grid_job.job = *job;
    q->all->say(q->client, &m);
}

static struct asked *find_asked(const struct grid_question *q, const struct id *peer)
{
    for (size_t i = 0; i < q->peer_count; i++)
        if (id_equal(&q->peers[i].peer, peer))
            return &q->peers[i];
    return NULL;
}

static void say_holdings(struct grid_question *q)
{
    for (size_t i = 0; i < q->holding_count; i++) {
        const struct holding *h = &q->holdings[i];
        const struct asked *holder = find_asked(q, &h->held.holder);
        struct part_grid_job job = {.state = GRID_JOB_UNKNOWN,
                                    .slots = h->held.slots,
                                    .peers = h->peers,
                                    .age_ms = h->held.age_ms};
        if (holder != NULL && holder->answered)
            continue;
        memcpy(job.user, h->held.user, sizeof job.user);
        memcpy(job.where, h->where, sizeof job.where);
        say_job(q, &h->held.holder, holder != NULL ? holder->name : h->held.from, &job);
    }
}

/* --- the beginning and the end of a question --- */

static void question_free(struct grid_question *q)
{
    struct grid_jobs *g = q->all;
    for (size_t i = 0; i < g->count; i++)
        if (g->at[i] == q)
            g->at[i] = g->at[--g->count];
    if (q->walk != NULL)
        walk_cancel(q->walk);
    free(q->peers);
    free(q->holdings);
    free(q);
}

static void question_end(struct grid_question *q)
{
    struct message m = {.kind = MSG_local_done};
    say_holdings(q);
    m.local_done.token = q->token;
    m.local_done.count = q->rows;
    m.local_done.silent = q->silent;
    for (size_t i = 0; i < q->peer_count; i++) {
        m.local_done.spares += q->peers[i].old;
        m.local_done.silent += !q->peers[i].answered && !q->peers[i].old;
    }
    if (q->cut)
        snprintf(m.local_done.reason, sizeof m.local_done.reason,
                 "there are more than %d jobs: the others are not shown", ROWS_MAX);
    q->all->say(q->client, &m);
    question_free(q);
}

static bool is_over(const struct grid_question *q, uint64_t now)
{
    if (now >= q->until_ms)
        return true;
    for (size_t i = 0; i < q->peer_count; i++)
        if (q->peers[i].until_ms > now)
            return false;
    return q->walk == NULL;
}

static void grid_jobs_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct grid_jobs *g = ctx;
    (void)fd, (void)what;
    for (size_t i = g->count; i-- > 0;)
        if (is_over(g->at[i], node_now_ms()))
            question_end(g->at[i]);
    if (g->count > 0)
        evtimer_add(g->timer, &(struct timeval){.tv_usec = LOOK_MS * 1000});
}

/* --- asking --- */

static void ask_page(struct grid_question *q, struct asked *a, const struct part_peer *peer)
{
    struct message m = {.kind = MSG_jobs_ask};
    m.jobs_ask.token = q->asked;
    m.jobs_ask.page = a->page;
    a->until_ms = link_send(q->all->node->links, peer, &m) == 0 ? node_now_ms() + PEER_MS : 0;
}

static void grid_jobs_on_ad(void *ctx, const struct msg_ad_answer *said, unsigned rtt_us)
{
    struct grid_question *q = ctx;
    const struct part_ad *ad = &said->ad;
    struct links *links = q->all->node->links;
    struct asked *more = realloc(q->peers, (q->peer_count + 1) * sizeof *more);
    (void)rtt_us;
    if (more == NULL)
        return;
    q->peers = more;
    struct asked *a = &more[q->peer_count++];
    const unsigned version = link_version(links, &ad->peer.id);
    *a = (struct asked){.peer = ad->peer.id, .old = version != 0 && version < JOBS_SINCE};
    memcpy(a->name, ad->name, sizeof a->name);
    if (!a->old)
        ask_page(q, a, &ad->peer);
}

static void grid_jobs_on_walked(void *ctx, unsigned answered, unsigned silent)
{
    struct grid_question *q = ctx;
    (void)answered;
    q->walk = NULL;
    q->silent = silent;
}

void grid_jobs_ask(struct grid_jobs *g, void *client, const struct msg_local_grid_jobs *question)
{
    struct message full = {.kind = MSG_local_done};
    const uint32_t ms =
        question->timeout_ms < WAIT_MS_MAX ? question->timeout_ms : (uint32_t)WAIT_MS_MAX;
    struct grid_question *q = g->count < QUESTIONS_MAX ? calloc(1, sizeof *q) : NULL;
    if (q != NULL) {
        *q = (struct grid_question){.all = g, .client = client, .token = question->token};
        q->asked = ++g->token;
        q->until_ms = node_now_ms() + ms;
        q->walk = walk_start(g->walks, 0, (int)ms, NULL, grid_jobs_on_ad, grid_jobs_on_walked, q);
    }
    if (q == NULL || q->walk == NULL) {
        free(q);
        full.local_done.token = question->token;
        full.local_done.code = EAGAIN;
        strcpy(full.local_done.reason, "p2pd has too many searches going on; try again");
        g->say(client, &full);
        return;
    }
    g->at[g->count++] = q;
    evtimer_add(g->timer, &(struct timeval){.tv_usec = LOOK_MS * 1000});
}

/* --- answers --- */

static void add_held(struct grid_question *q, const struct part_held *held, const char *lender)
{
    size_t i = 0;
    while (i < q->holding_count && (!id_equal(&q->holdings[i].held.holder, &held->holder) ||
                                    strcmp(q->holdings[i].held.user, held->user) != 0))
        i++;
    if (i == q->holding_count) {
        struct holding *more = i < ROWS_MAX ? realloc(q->holdings, (i + 1) * sizeof *more) : NULL;
        q->cut = q->cut || more == NULL;
        if (more == NULL)
            return;
        q->holdings = more;
        more[q->holding_count++] = (struct holding){.held = *held, .peers = 1};
        names_add(more[i].where, sizeof more[i].where, lender);
        return;
    }
    struct holding *h = &q->holdings[i];
    h->peers++;
    names_add(h->where, sizeof h->where, lender);
    h->held.slots += held->slots;
    if (held->age_ms > h->held.age_ms)
        h->held.age_ms = held->age_ms;
}

static void take_answer(struct grid_question *q, struct asked *a, const struct link_peer *from,
                        const struct msg_jobs_answer *said)
{
    for (size_t i = 0; i < said->jobs_count; i++)
        say_job(q, &a->peer, a->name, &said->jobs[i]);
    for (size_t i = 0; i < said->lent_count; i++)
        add_held(q, &said->lent[i], a->name);
    a->page++;
    a->until_ms = 0;
    if (a->page >= said->pages)
        a->answered = true;
    else if (a->page < PAGES_MAX)
        ask_page(q, a, &from->peer);
    else
        q->cut = a->answered = true;
}

static void grid_jobs_on_answer(struct grid_jobs *g, const struct link_peer *from,
                                const struct msg_jobs_answer *said)
{
    for (size_t i = 0; i < g->count; i++) {
        struct asked *a =
            g->at[i]->asked == said->token ? find_asked(g->at[i], &from->peer.id) : NULL;
        if (a != NULL && a->until_ms != 0 && a->page == said->page)
            take_answer(g->at[i], a, from, said);
    }
}

static void grid_jobs_on_ask(struct grid_jobs *g, const struct link_peer *from,
                             const struct msg_jobs_ask *ask)
{
    struct msg_jobs_answer answer = {0};
    const struct message m = {.kind = MSG_jobs_answer, .jobs_answer = &answer};
    told_jobs_answer(&g->told, from, ask, &answer);
    link_send(g->node->links, &from->peer, &m); /* if it is lost, the asker counts a silent peer */
}

enum takes {
#define TO_grid_jobs(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void grid_jobs_take(struct grid_jobs *g, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case TAKES_jobs_ask:
        grid_jobs_on_ask(g, from, &m->jobs_ask);
        break;
    case TAKES_jobs_answer:
        grid_jobs_on_answer(g, from, m->jobs_answer);
        break;
    }
}

/* --- the part --- */

static void grid_jobs_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct grid_jobs *g = ctx;
    (void)why;
    for (size_t i = 0; i < g->count; i++) {
        struct asked *a = find_asked(g->at[i], peer);
        if (a != NULL)
            a->until_ms = 0;
    }
}

void grid_jobs_forget(struct grid_jobs *g, const void *client)
{
    for (size_t i = g->count; i-- > 0;)
        if (g->at[i]->client == client)
            question_free(g->at[i]);
}

struct grid_jobs *grid_jobs_open(struct node *node, struct walks *walks,
                                 const struct told_jobs *told, grid_jobs_say_fn *say)
{
    struct grid_jobs *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    *g = (struct grid_jobs){.node = node, .walks = walks, .told = *told, .say = say};
    g->timer = evtimer_new(node->base, grid_jobs_on_time, g);
    if (g->timer != NULL && links_on_gone(node->links, grid_jobs_on_gone, g) == 0)
        return g;
    if (g->timer != NULL)
        event_free(g->timer);
    free(g);
    return NULL;
}

void grid_jobs_close(struct grid_jobs *g)
{
    if (g == NULL)
        return;
    while (g->count > 0)
        question_free(g->at[0]);
    links_forget_gone(g->node->links, grid_jobs_on_gone, g);
    event_free(g->timer);
    free(g);
}
