/* SPDX-License-Identifier: BSD-3-Clause */
/* browsers.c -- those that look at the page: each has the whole state once, and then what changes,
 * at most a few times a second. One that does not read is dropped; it may come again. */
#include "overlay/client/words.h"
#include "overlay/node/history.h"
#include "web_parts.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>

enum {
    TICK_MS = 1000,
    SOON_MS = 60,      /* after something has happened: more may come with it */
    RARELY_TICKS = 10, /* members and the history are looked at so seldom */
    QUIET_MS =
        15000,   /* then a browser is told that nothing has happened: one that is gone is found */
    READ_S = 20, /* one that reads nothing for so long is gone */
    SEEN = OVERVIEW_DESKTOP | OVERVIEW_PEERS | OVERVIEW_JOBS | OVERVIEW_TRANSFERS | OVERVIEW_TOTALS,
};

/* --- one browser --- */

static void browser_forget(struct browser *b)
{
    struct web *w = b->web;
    for (size_t i = 0; i < w->browser_count; i++)
        if (w->browsers[i] == b) {
            w->browsers[i] = w->browsers[--w->browser_count];
            break;
        }
    if (w->browser_count == 0)
        event_del(w->tick);
    free(b);
}

static void browser_on_close(struct evhttp_connection *connection, void *ctx)
{
    struct browser *b = ctx;
    struct evhttp_request *request = b->request;
    (void)connection;
    browser_forget(b);
    if (evhttp_request_get_connection(request) == NULL)
        evhttp_request_free(request); /* its connection has left it to whom it was given */
}

static void browser_drop(struct browser *b)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(b->request);
    evhttp_connection_set_closecb(connection, NULL, NULL);
    browser_forget(b);
    evhttp_connection_free(connection);
}

static struct bufferevent *browser_stream(const struct browser *b)
{
    return evhttp_connection_get_bufferevent(evhttp_request_get_connection(b->request));
}

/* False: it is dropped. */
static bool browser_say(struct browser *b, const char *text)
{
    struct evbuffer *piece = evbuffer_new();
    const size_t backlog = evbuffer_get_length(bufferevent_get_output(browser_stream(b)));
    const bool fits = piece != NULL && web_stream_fits(backlog, strlen(text)) &&
                      evbuffer_add(piece, text, strlen(text)) == 0;
    if (fits)
        evhttp_send_reply_chunk(b->request, piece);
    if (piece != NULL)
        evbuffer_free(piece);
    b->said_ms = node_now_ms();
    if (!fits)
        browser_drop(b);
    return fits;
}

/* --- all of them --- */

static void browsers_say(struct web *w, const char *name, json_t *data)
{
    char *frame = web_stream_frame(name, data);
    for (size_t i = w->browser_count; frame != NULL && i-- > 0;)
        browser_say(w->browsers[i], frame);
    free(frame);
}

void browsers_patch(struct web *w, json_t *patch)
{
    if (patch != NULL)
        browsers_say(w, "patch", patch);
    json_decref(patch);
}

static void browsers_look(struct web *w, unsigned parts, bool history)
{
    browsers_patch(w, web_look(w, parts, history));
}

/* A session that has ended, as the page was closed, sees no more. */
static void browsers_check(struct web *w)
{
    const uint64_t now = node_now_ms();
    for (size_t i = w->browser_count; i-- > 0;) {
        struct browser *b = w->browsers[i];
        if (web_keys_session(&w->keys, now, b->session) == NULL)
            browser_drop(b);
        else if (now - b->said_ms >= QUIET_MS)
            browser_say(b, ":\n\n");
    }
}

static void browsers_on_tick(evutil_socket_t fd, short what, void *ctx)
{
    struct web *w = ctx;
    (void)fd, (void)what;
    const bool rarely = ++w->ticks % RARELY_TICKS == 0;
    browsers_look(w, rarely ? OVERVIEW_ALL : SEEN, rarely);
    web_ask_grid(w);
    browsers_check(w);
}

static void browsers_on_soon(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    browsers_look(ctx, SEEN, true);
}

void browsers_look_soon(struct web *w)
{
    const struct timeval soon = {.tv_usec = SOON_MS * 1000};
    if (w->browser_count > 0 && !event_pending(w->soon, EV_TIMEOUT, NULL))
        event_add(w->soon, &soon);
}

void browsers_happen(struct web *w, const struct msg_local_notice *notice)
{
    json_t *one = web_state_happen(w->state, notice);
    if (w->browser_count > 0)
        browsers_say(w, "notice", one);
    json_decref(one);
    browsers_look_soon(w);
}

/* --- coming and going --- */

static void browser_greet(struct browser *b, const struct web_session *session)
{
    struct web *w = b->web;
    json_t *hello = json_pack("{s:s, s:I, s:O}", "token", session->token, "now_ms",
                              (json_int_t)history_now_ms(), "state", web_state_whole(w->state));
    char *frame = web_stream_frame("state", hello);
    if (frame != NULL)
        browser_say(b, frame);
    free(frame);
    json_decref(hello);
}

void browsers_add(struct web *w, struct evhttp_request *request, const struct web_session *session)
{
    const struct timeval period = {.tv_sec = TICK_MS / 1000}, slow = {.tv_sec = READ_S};
    struct browser *b = w->browser_count < WEB_STREAMS_MOST ? calloc(1, sizeof *b) : NULL;
    if (b == NULL) {
        evhttp_send_error(request, HTTP_SERVUNAVAIL, "too many browsers look");
        return;
    }
    *b = (struct browser){.web = w, .request = request};
    memcpy(b->session, session->key, sizeof b->session);
    browsers_look(w, OVERVIEW_ALL, true); /* before it is one of them: it gets all of it */
    w->browsers[w->browser_count++] = b;
    if (w->browser_count == 1)
        event_add(w->tick, &period);
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), browser_on_close, b);
    evhttp_send_reply_start(request, HTTP_OK, "OK");
    bufferevent_set_timeouts(browser_stream(b), NULL, &slow);
    browser_greet(b, session);
    web_ask_grid(w);
}

int browsers_open(struct web *w, struct err *e)
{
    w->tick = event_new(w->node->base, -1, EV_PERSIST, browsers_on_tick, w);
    w->soon = evtimer_new(w->node->base, browsers_on_soon, w);
    return w->tick != NULL && w->soon != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
}

void browsers_close(struct web *w)
{
    while (w->browser_count > 0)
        browser_drop(w->browsers[0]);
    if (w->tick != NULL)
        event_free(w->tick);
    if (w->soon != NULL)
        event_free(w->soon);
    w->tick = w->soon = NULL;
}
