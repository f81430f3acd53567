/* SPDX-License-Identifier: BSD-3-Clause */
/* local_calls.c -- requests of programs on the local socket, and their answers. */
#include "config.h"
#include "local_state.h"
#include "overlay/client/socket_path.h"
#include "overlay/lend/lender.h"
#include "overlay/membership/registrar.h"
#include "status.h"
#include "overlay/node/history.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/client/p2pgrid.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <string.h>

enum { BACKLOG_MAX = 8 * 1024 * 1024 };

void local_say(void *client, const struct message *m)
{
    struct local_client *c = client;
    if (c->gone || c->deaf)
        return;
    if (c->hear != NULL) {
        c->hear(c->hear_ctx, m);
        return;
    }
    struct evbuffer *out = bufferevent_get_output(c->stream);
    if (evbuffer_get_length(out) > BACKLOG_MAX) {
        local_refuse(c, "it does not read what it is told");
        return;
    }
    size_t length = message_encode(m, c->local->frame, sizeof c->local->frame);
    if (length == 0 || bufferevent_write(c->stream, c->local->frame, length) != 0)
        local_refuse(c, "an answer to it could not be sent");
}

static void say_failed(struct local_client *c, uint32_t token, const struct err *e)
{
    struct message m = {.kind = MSG_local_done};
    m.local_done.token = token;
    m.local_done.code = (uint32_t)e->code;
    memcpy(m.local_done.reason, e->text, sizeof m.local_done.reason);
    local_say(c, &m);
}

static void say_event(void *client, const struct msg_local_event *event)
{
    struct message m = {.kind = MSG_local_event, .local_event = *event};
    local_say(client, &m);
}

void local_lease_event(void *ctx, void *owner, const struct msg_local_event *event)
{
    struct local *l = ctx;
    if (l->rpc == NULL || !rpc_event(l->rpc, owner, event))
        say_event(owner, event);
}

void local_say_waiting(void *client, const struct msg_local_waiting *row)
{
    struct message m = {.kind = MSG_local_waiting, .local_waiting = *row};
    local_say(client, &m);
}

void local_say_lease(void *client, const struct msg_local_lease *lease)
{
    struct message m = {.kind = MSG_local_lease, .local_lease = *lease};
    local_say(client, &m);
}

void local_say_done(void *client, const struct msg_local_done *done)
{
    struct message m = {.kind = MSG_local_done, .local_done = *done};
    local_say(client, &m);
}

static void say_peer(void *client, const struct message *m)
{
    struct local_client *c = client;
    if (m->kind == MSG_local_done)
        c->query = NULL;
    else if (m->kind == MSG_local_peer)
        members_see(c->local->members, &m->local_peer.ad.peer.id, m->local_peer.ad.name);
    local_say(c, m);
}

/* --- requests --- */

static void on_local_hello(struct local_client *c, const struct msg_local_hello *hello)
{
    struct message m = {.kind = MSG_local_hello};
    m.local_hello.protocol = LOCAL_PROTOCOL;
    strcpy(m.local_hello.version, PACKAGE_VERSION);
    c->greeted = true;
    bufferevent_set_timeouts(c->stream, NULL, NULL);
    local_say(c, &m);
    if (hello->protocol != LOCAL_PROTOCOL) /* the program tells its user */
        log_info(c->local->node->log, "a program of version %s came to the local socket",
                 hello->version);
}

static void on_local_allocate(struct local_client *c, const struct msg_local_allocate *want)
{
    struct err e = {0};
    void *holder = rpc_holder(c->local->rpc, c, want, &e);
    if (holder == NULL || searches_start(c->local->searches, c, holder, want, &e) != 0)
        say_failed(c, want->token, &e);
}

static void on_local_launch(struct local_client *c, const struct msg_local_launch *launch)
{
    int rc = borrowed_launch(c->local->borrowed, c, launch);
    if (rc == 0)
        return;
    borrowed_release(c->local->borrowed, c, &launch->lease);
    struct msg_local_event event = {.event = GRID_LAUNCH_FAILED, .lease = launch->lease};
    snprintf(event.text, sizeof event.text, "%s",
             rc == -ENOENT            ? "the lease has ended already"
             : rc == -EPROTONOSUPPORT ? "an older p2pgrid there takes no files of jobs: update it"
                                      : strerror(-rc));
    say_event(c, &event);
}

static void on_local_peers(struct local_client *c, const struct msg_local_peers *question)
{
    struct err e = {0};
    if (c->query == NULL)
        c->query =
            status_peers(c->local->parts.walks, c->local->node->links, question, say_peer, c);
    else
        err_set(&e, EBUSY, "the last search still goes on");
    if (c->query == NULL)
        err_set(&e, EAGAIN, "p2pd has too many searches going on; try again");
    if (e.code != 0)
        say_failed(c, question->token, &e);
}

/* Answers with one row, or with the error. */
static void say_row(struct local_client *c, uint32_t token, const struct message *row,
                    const struct err *e)
{
    struct message m = {.kind = MSG_local_done};
    if (e->code != 0) {
        say_failed(c, token, e);
        return;
    }
    local_say(c, row);
    m.local_done.token = token;
    m.local_done.count = 1;
    local_say(c, &m);
}

static void on_local_invite(struct local_client *c, const struct msg_local_invite *ask)
{
    struct message m = {.kind = MSG_local_token};
    struct err e = {0};
    m.local_token.token = ask->token;
    registrar_invite(c->local->parts.registrar, ask, &m.local_token, &e);
    say_row(c, ask->token, &m, &e);
}

static void on_local_revoke(struct local_client *c, const struct msg_local_revoke *ask)
{
    struct message m = {.kind = MSG_local_revoked};
    struct err e = {0};
    m.local_revoked.token = ask->token;
    registrar_revoke(c->local->parts.registrar, ask, &m.local_revoked, &e);
    say_row(c, ask->token, &m, &e);
}

static void on_local_rotate(struct local_client *c, const struct msg_local_rotate *ask)
{
    struct message m = {.kind = MSG_local_rotated};
    struct err e = {0};
    m.local_rotated.token = ask->token;
    registrar_rotate(c->local->parts.registrar, ask, &m.local_rotated, &e);
    say_row(c, ask->token, &m, &e);
}

static void on_local_lend(struct local_client *c, const struct msg_local_lend *wish)
{
    const struct local_parts *parts = &c->local->parts;
    struct msg_local_terms terms = {.token = wish->token};
    const struct message m = {.kind = MSG_local_terms, .local_terms = &terms};
    struct err e = {0};
    if (wish->verb == LENDER_RELOAD)
        parts->reload(parts->ctx, &e);
    else
        lender_take(parts->lender, wish);
    lender_describe(parts->lender, &terms);
    local_say(c, &m);
    say_failed(c, wish->token, &e);
}

static void on_local_lease_status(struct local_client *c, const struct msg_local_lease_status *of)
{
    borrowed_status(c->local->borrowed, c, &of->lease);
}

static void on_local_release(struct local_client *c, const struct msg_local_release *release)
{
    borrowed_release(c->local->borrowed, c, &release->lease);
}

static void on_local_status(struct local_client *c, const struct msg_local_status *question)
{
    const struct local *l = c->local;
    status_self(l->node, l->parts.overlay, l->parts.grant, question->token, local_say, c);
}

static void on_local_history(struct local_client *c, const struct msg_local_history *question)
{
    struct message m = {.kind = MSG_local_past};
    const struct msg_local_past *past;
    struct err none = {0};
    for (uint32_t i = 0;
         i < question->most && (past = history_at(c->local->node->history, i)) != NULL; i++) {
        m.local_past = *past;
        m.local_past.token = question->token;
        local_say(c, &m);
    }
    say_failed(c, question->token, &none);
}

static void on_local_members(struct local_client *c, const struct msg_local_members *question)
{
    members_tell(c->local->members, question->token, local_say, c);
}

void local_meet(struct local *l, const struct link_peer *with)
{
    if (l->members != NULL && with->certificate != NULL)
        members_see(l->members, &with->peer.id, with->card->name);
}

static void on_local_overview(struct local_client *c, const struct msg_local_overview *question)
{
    local_overview(c, question);
}

static void on_local_web(struct local_client *c, const struct msg_local_web *ask)
{
    const struct local_parts *parts = &c->local->parts;
    struct message m = {.kind = MSG_local_page, .local_page.token = ask->token};
    struct err e = {0};
    parts->page(parts->ctx, ask, &m.local_page, &e);
    say_row(c, ask->token, &m, &e);
}

static void on_local_files(struct local_client *c, const struct msg_local_files *files)
{
    struct message m = {.kind = MSG_local_offered, .local_offered.token = files->token};
    struct err e = {0};
    local_offer(c, files, &m.local_offered.files, &e);
    say_row(c, files->token, &m, &e);
}

static void on_local_cache(struct local_client *c, const struct msg_local_cache *ask)
{
    struct message m = {.kind = MSG_local_done, .local_done.token = ask->token};
    struct err e = {0};
    m.local_done.count = local_cache_rows(c, ask, &e);
    if (e.code != 0)
        say_failed(c, ask->token, &e);
    else
        local_say(c, &m);
}

/* on_NAME() for each message of the list whose receivers are these; one without does not compile.
 */
static bool local_dispatch(struct local_client *c, const struct message *m)
{
    switch ((unsigned)m->kind) {
#define TO_local(name)                                                                             \
    case MSG_##name:                                                                               \
        on_##name(c, message_##name(m));                                                           \
        return true;
#define TO_local_order(name) TO_local(name)
#define TO_program_greeting(name) TO_local(name)
#include "overlay/wire/message_to.h"
    }
    return false;
}

void local_hear(struct local *l, const struct link_peer *from, const struct message *m)
{
    const enum receiver receiver = message_receiver(m->kind);
    if (receiver == RECEIVER_search)
        searches_take(l->searches, from, m);
    else if (receiver == RECEIVER_borrowed)
        borrowed_take(l->borrowed, from, m);
    else if (receiver == RECEIVER_topology || receiver == RECEIVER_collect ||
             receiver == RECEIVER_grid_jobs)
        rpc_hear(l->rpc, from, m);
    else if (receiver == RECEIVER_peers)
        peer_cache_take(l->peer_cache, from, m);
}

void local_ask(struct local_client *c, const struct message *m)
{
    local_take(c, m);
}

void local_take(struct local_client *c, const struct message *m)
{
    if (!c->greeted && m->kind != MSG_local_hello)
        local_refuse(c, "it did not begin with hello");
    else if (!local_dispatch(c, m) && !rpc_take(c->local->rpc, c, c->pid, m))
        local_refuse(c, "it sent what only daemons say");
}
