/* SPDX-License-Identifier: BSD-3-Clause */
/* web_parts.h -- shared by web.c (what is asked of it, and when it is served), server.c (requests)
 * and browsers.c (those that look) only. */
#ifndef P2P_OVERLAY_WEB_WEB_PARTS_H
#define P2P_OVERLAY_WEB_WEB_PARTS_H
#include "keys.h"
#include "overlay/local/local.h"
#include "overlay/node/node.h"
#include "state.h"
#include "stream.h"
#include "web.h"
#include <event2/event.h>
#include <event2/http.h>

struct web;

/* One that reads /events. */
struct browser {
    struct web *web;
    struct evhttp_request *request;
    char session[WEB_KEY + 1];
    uint64_t said_ms;
};

struct web {
    struct node *node;
    struct local *local;
    struct local_client *client; /* NULL: the page is not served */
    struct web_keys keys;
    struct web_state *state;
    /* server.c */
    struct evhttp *http;
    struct evconnlistener *listener;
    struct event *reopen;
    uint16_t port;
    unsigned opened; /* connections, since they were counted */
    /* browsers.c */
    struct browser *browsers[WEB_STREAMS_MOST];
    size_t browser_count;
    struct event *tick, *soon;
    uint64_t ticks;
    bool grid_asked;      /* the jobs of everybody are on their way */
    uint64_t grid_due_ms; /* then they are asked for again */
};

/* web.c: asks the daemon for these parts: what has changed, or NULL. */
json_t *web_look(struct web *w, unsigned parts, bool history);

/* The same for the jobs of everybody, which come later: not more often than is good for the grid.
 */
void web_ask_grid(struct web *w);

/* server.c */
int server_open(struct web *w, struct err *e);
void server_close(struct web *w);

/* browsers.c */
int browsers_open(struct web *w, struct err *e);
void browsers_close(struct web *w); /* all of them are gone */
/* Answers with events from now on; the first one is the whole state. */
void browsers_add(struct web *w, struct evhttp_request *request, const struct web_session *session);
void browsers_happen(struct web *w, const struct msg_local_notice *notice);
void browsers_look_soon(struct web *w);
void browsers_patch(struct web *w, json_t *patch); /* NULL: nothing has changed */
#endif
