/* SPDX-License-Identifier: BSD-3-Clause */
/* searches.c -- all the searches for slots that go on: takes them on, and hands each the answers to
 * its asks. */
#include "search_run.h"
#include "wait_run.h"
#include "overlay/core/lease/request_message.h"
#include "overlay/crypto/identity.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void searches_on_answer(struct searches *all, const struct link_peer *from,
                               const struct msg_lease_answer *answer)
{
    struct search_run *r = all->at[answer->token % SEARCHES_MAX];
    const struct search_event event = {
        .kind = SEARCH_ANSWER, .peer = from->peer, .owner = from->card->owner, .answer = answer};
    if (r != NULL)
        search_run_step(r, &event);
    else /* too late, or nobody's */
        for (size_t i = 0; i < answer->offers_count; i++)
            search_run_give_back(all, &from->peer, &answer->offers[i].lease);
}

static void searches_on_place(struct searches *all, const struct link_peer *from,
                              const struct msg_lease_place *place)
{
    for (unsigned i = 0; i < SEARCHES_MAX; i++)
        if (all->waits[i] != NULL && id_equal(wait_run_id(all->waits[i]), &place->wait)) {
            wait_run_place(all->waits[i], &from->peer, place);
            return;
        }
}

enum takes {
#define TO_search(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void searches_take(struct searches *all, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_lease_answer:
        searches_on_answer(all, from, m->lease_answer);
        break;
    case MSG_lease_place:
        searches_on_place(all, from, &m->lease_place);
        break;
    }
}

static void searches_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct searches *all = ctx;
    const struct search_event event = {.kind = SEARCH_GONE, .peer.id = *peer, .why = why};
    for (unsigned i = 0; i < SEARCHES_MAX; i++)
        if (all->at[i] != NULL)
            search_run_note(all->at[i], &event);
}

static int parse_require(const char *text, struct require *require, struct err *e)
{
    struct require_error wrong;
    char line[sizeof e->text];
    if (require_parse(require, text, &wrong))
        return 0;
    require_error_text(&wrong, text, line, sizeof line);
    return err_set(e, EINVAL, "%s", line);
}

static struct search_run *find_place(struct searches *all)
{
    unsigned i = 0;
    while (i < SEARCHES_MAX && all->at[i] != NULL)
        i++;
    struct search_run *r = i < SEARCHES_MAX ? calloc(1, sizeof *r) : NULL;
    if (r != NULL) {
        r->all = all;
        r->number = i;
        all->at[i] = r;
    }
    return r;
}

/* The request points to the message and to `exclude`. */
static int read_want(const struct msg_local_allocate *want, struct request *request,
                     struct require *require, struct id *exclude, struct err *e)
{
    const char *problem = request_read(request, want, exclude);
    return problem != NULL ? err_set(e, EINVAL, "%s", problem)
                           : parse_require(want->require, require, e);
}

static int start(struct search_run *r, const struct request *request, const struct require *require,
                 struct err *e)
{
    if (search_run_begin(r, request, require) == 0)
        return 0;
    search_run_free(r);
    return err_set(e, EAGAIN, "p2pd has too many searches going on; try again");
}

struct search_run *searches_begin(struct searches *all, void *owner, void *holder,
                                  const struct msg_local_allocate *want, struct wait_run *wait)
{
    struct id exclude[REQUEST_EXCLUDES];
    struct request request;
    struct require require;
    if (read_want(want, &request, &require, exclude, NULL) != 0)
        return NULL;
    struct search_run *r = find_place(all);
    if (r == NULL)
        return NULL;
    r->owner = owner;
    r->holder = holder;
    r->token = want->token;
    r->wait = wait;
    return start(r, &request, &require, NULL) == 0 ? r : NULL;
}

int searches_start(struct searches *all, void *owner, void *holder,
                   const struct msg_local_allocate *want, struct err *e)
{
    struct id exclude[REQUEST_EXCLUDES];
    struct request request;
    struct require require;
    int rc = read_want(want, &request, &require, exclude, e);
    if (rc == 0 && want->wait_s > 0)
        return wait_run_begin(all, owner, holder, want, e);
    if (rc != 0)
        return rc;
    struct search_run *r = find_place(all);
    if (r == NULL)
        return err_set(e, EAGAIN, "p2pd is busy with %d other searches; try again", SEARCHES_MAX);
    r->owner = owner;
    r->holder = holder;
    r->token = want->token;
    return start(r, &request, &require, e);
}

bool searches_waiting(const struct searches *all, const void *owner, struct wait_told *told)
{
    for (unsigned i = 0; i < SEARCHES_MAX; i++)
        if (all->waits[i] != NULL && wait_run_is_of(all->waits[i], owner)) {
            *told = *wait_run_told(all->waits[i]);
            return true;
        }
    return false;
}

static void cancel_waits(struct searches *all, const void *owner)
{
    for (unsigned i = 0; i < SEARCHES_MAX; i++)
        if (all->waits[i] != NULL && (owner == NULL || wait_run_is_of(all->waits[i], owner)))
            wait_run_cancel(all->waits[i]);
}

void searches_cancel(struct searches *all, const void *owner)
{
    cancel_waits(all, owner);
    for (unsigned i = 0; i < SEARCHES_MAX; i++)
        if (all->at[i] != NULL && (all->at[i]->owner == owner || all->at[i]->holder == owner))
            search_run_cancel(all->at[i]);
}

int searches_open(struct searches **out, struct node *node, struct overlay *overlay,
                  struct walks *walks, struct borrowed *borrowed,
                  const struct search_watcher *watcher, struct err *e)
{
    struct searches *all = calloc(1, sizeof *all);
    const struct passwd *user = getpwuid(getuid());
    *out = NULL;
    if (all == NULL || sodium_init() < 0 ||
        links_on_gone(node->links, searches_on_gone, all) != 0) {
        free(all);
        return err_set(e, ENOMEM, "out of memory");
    }
    all->node = node;
    all->overlay = overlay;
    all->walks = walks;
    all->borrowed = borrowed;
    all->watcher = *watcher;
    if (user != NULL)
        snprintf(all->user, sizeof all->user, "%.31s", user->pw_name);
    else
        snprintf(all->user, sizeof all->user, "uid %u", (unsigned)getuid());
    *out = all;
    return 0;
}

void searches_close(struct searches *all)
{
    if (all == NULL)
        return;
    links_forget_gone(all->node->links, searches_on_gone, all);
    cancel_waits(all, NULL);
    for (unsigned i = 0; i < SEARCHES_MAX; i++)
        if (all->at[i] != NULL)
            search_run_cancel(all->at[i]);
    free(all);
}
