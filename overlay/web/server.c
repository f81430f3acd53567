/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c -- libevent's HTTP server on 127.0.0.1: what request.h reads is answered. */
#include "metrics.h"
#include "overlay/base/log.h"
#include "overlay/client/words.h"
#include "overlay/host/caller.h"
#include "overlay/lend/lender.h"
#include PAGE_FILES
#include "web_parts.h"
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEAD_MOST = 16 * 1024,
    BODY_MOST = 1024, /* nothing here has one */
    TIMEOUT_S = 10,   /* to send a request, and until the next one */
    CONNECTIONS_MOST = 64,
    REOPEN_MS = 200,
    TEXT_MOST = 512,
};

/* --- answers --- */

static void set_headers(struct evhttp_request *r, const char *type)
{
    static const char *const fixed[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
         "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    struct evkeyvalq *out = evhttp_request_get_output_headers(r);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        evhttp_add_header(out, fixed[i][0], fixed[i][1]);
    evhttp_add_header(out, "Content-Type", type);
}

static void reply_bytes(struct evhttp_request *r, int code, const char *reason, const char *type,
                        const void *bytes, size_t length)
{
    struct evbuffer *body = evbuffer_new();
    set_headers(r, type);
    if (body == NULL || evbuffer_add(body, bytes, length) != 0)
        evhttp_send_reply(r, HTTP_INTERNAL, "Internal Server Error", NULL);
    else
        evhttp_send_reply(r, code, reason, body);
    if (body != NULL)
        evbuffer_free(body);
}

static void reply_page(struct evhttp_request *r, const void *bytes, size_t length, const char *type)
{
    reply_bytes(r, HTTP_OK, "OK", type, bytes, length);
}

/* A line for a person, who may see it in the browser. */
static void reply_line(struct evhttp_request *r, int code, const char *reason, const char *line)
{
    char text[TEXT_MOST];
    snprintf(text, sizeof text, "%s\n", line);
    reply_bytes(r, code, reason, "text/plain; charset=utf-8", text, strlen(text));
}

static void reply_forbidden(struct evhttp_request *r)
{
    reply_line(r, 403, "Forbidden",
               "This page is for one who comes by a link: run `p2pctl web`. A link counts once, "
               "and for a minute.");
}

static void reply_json(struct evhttp_request *r, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    if (text != NULL)
        reply_bytes(r, HTTP_OK, "OK", "application/json", text, strlen(text));
    else
        evhttp_send_reply(r, HTTP_INTERNAL, "Internal Server Error", NULL);
    free(text);
}

/* --- each request --- */

/* The page follows by itself: a redirection after a click elsewhere would not carry the cookie. */
static void answer_enter(struct web *w, struct evhttp_request *r, const struct web_request *ask)
{
    static const char html[] = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
                               "<title>p2pgrid</title>"
                               "<meta http-equiv=\"refresh\" content=\"0; url=/\">"
                               "<a href=\"/\">p2pgrid</a></html>\n";
    uint8_t random[2 * WEB_RANDOM];
    char cookie[128], name[WEB_COOKIE + 1];
    randombytes_buf(random, sizeof random);
    const struct web_session *s = web_keys_enter(&w->keys, node_now_ms(), ask->link, random);
    if (s == NULL) {
        reply_forbidden(r);
        return;
    }
    snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/",
             web_cookie_name(w->port, name), s->key);
    evhttp_add_header(evhttp_request_get_output_headers(r), "Set-Cookie", cookie);
    reply_page(r, html, sizeof html - 1, "text/html; charset=utf-8");
}

static void answer_state(struct web *w, struct evhttp_request *r)
{
    json_decref(web_look(w, OVERVIEW_ALL, true));
    reply_json(r, web_state_whole(w->state));
    browsers_look_soon(w);
}

static void answer_events(struct web *w, struct evhttp_request *r, const struct web_request *ask)
{
    set_headers(r, "text/event-stream");
    browsers_add(w, r, web_keys_session(&w->keys, node_now_ms(), ask->session));
}

static void answer_metrics(struct web *w, struct evhttp_request *r)
{
    json_decref(web_look(w, OVERVIEW_ALL, false));
    char *text = web_metrics(web_state_whole(w->state));
    if (text != NULL)
        reply_bytes(r, HTTP_OK, "OK", WEB_METRICS_TYPE, text, strlen(text));
    else
        evhttp_send_reply(r, HTTP_INTERNAL, "Internal Server Error", NULL);
    free(text);
}

static void answer_lend(struct web *w, struct evhttp_request *r, const struct web_request *ask)
{
    const struct message order = {
        .kind = MSG_local_lend,
        .local_lend = {.verb = ask->ask == WEB_PAUSE ? LENDER_PAUSE : LENDER_RESUME,
                       .suspend = ask->suspend,
                       .within_s = ask->seconds}};
    log_info(w->node->log, "the page: %s", ask->ask == WEB_PAUSE ? "pause" : "resume");
    web_state_begin(w->state, 0, false); /* what it answers is of before */
    local_ask(w->client, &order);
    json_decref(web_state_end(w->state, 0));
    browsers_look_soon(w);
    reply_bytes(r, HTTP_OK, "OK", "application/json", "{}\n", 3);
}

static bool server_allows(struct web *w, const struct web_request *ask)
{
    const uint64_t now = node_now_ms();
    switch (ask->ask) {
    case WEB_MISDIRECTED:
    case WEB_FOREIGN:
    case WEB_UNKNOWN:
    case WEB_NOT_SO:
    case WEB_BAD:
    case WEB_ENTER:
    case WEB_ICON:
        return true; /* there is nothing to be seen */
    case WEB_PAGE:
    case WEB_STYLE:
    case WEB_SCRIPT:
    case WEB_STATE:
    case WEB_EVENTS:
        return web_keys_may_read(&w->keys, now, ask);
    case WEB_METRICS:
        return web_keys_may_measure(&w->keys, now, ask);
    case WEB_PAUSE:
    case WEB_RESUME:
        return web_keys_may_write(&w->keys, now, ask);
    }
    return false;
}

static void server_answer(struct web *w, struct evhttp_request *r, const struct web_request *ask)
{
    switch (ask->ask) {
    case WEB_MISDIRECTED:
        reply_line(r, 421, "Misdirected Request", "This is another host.");
        break;
    case WEB_FOREIGN:
        reply_line(r, 403, "Forbidden", "Another page has no business here.");
        break;
    case WEB_UNKNOWN:
        reply_line(r, HTTP_NOTFOUND, "Not Found", "There is no such page.");
        break;
    case WEB_NOT_SO:
        reply_line(r, HTTP_BADMETHOD, "Method Not Allowed", "Not by this method.");
        break;
    case WEB_BAD:
        reply_line(r, HTTP_BADREQUEST, "Bad Request", "This cannot be read.");
        break;
    case WEB_ENTER:
        answer_enter(w, r, ask);
        break;
    case WEB_PAGE:
        reply_page(r, page_html, sizeof page_html, "text/html; charset=utf-8");
        break;
    case WEB_STYLE:
        reply_page(r, page_css, sizeof page_css, "text/css; charset=utf-8");
        break;
    case WEB_SCRIPT:
        reply_page(r, page_js, sizeof page_js, "text/javascript; charset=utf-8");
        break;
    case WEB_ICON:
        reply_page(r, icon_svg, sizeof icon_svg, "image/svg+xml");
        break;
    case WEB_STATE:
        answer_state(w, r);
        break;
    case WEB_EVENTS:
        answer_events(w, r, ask);
        break;
    case WEB_METRICS:
        answer_metrics(w, r);
        break;
    case WEB_PAUSE:
    case WEB_RESUME:
        answer_lend(w, r, ask);
        break;
    }
}

/* A browser of another user of this machine is out, whatever it knows. */
static bool is_own_browser(struct evhttp_request *r)
{
    struct evhttp_connection *c = evhttp_request_get_connection(r);
    return c != NULL && caller_is_own(bufferevent_getfd(evhttp_connection_get_bufferevent(c)));
}

static void server_on_request(struct evhttp_request *r, void *ctx)
{
    struct web *w = ctx;
    struct evkeyvalq *in = evhttp_request_get_input_headers(r);
    const struct web_head head = {
        .post = evhttp_request_get_command(r) == EVHTTP_REQ_POST,
        .target = evhttp_request_get_uri(r),
        .host = evhttp_find_header(in, "Host"),
        .origin = evhttp_find_header(in, "Origin"),
        .cookie = evhttp_find_header(in, "Cookie"),
        .authorization = evhttp_find_header(in, "Authorization"),
        .token = evhttp_find_header(in, "X-P2PGrid-Token"),
    };
    struct web_request ask;
    web_request_read(&ask, &head, w->port);
    if (!is_own_browser(r) || !server_allows(w, &ask))
        reply_forbidden(r);
    else
        server_answer(w, r, &ask);
    sodium_memzero(&ask, sizeof ask);
}

/* --- connections are bounded: libevent does not say when one has ended, so they are counted --- */

static bool is_of_port(int fd, uint16_t port)
{
    struct sockaddr_in here = {0}, there;
    socklen_t a = sizeof here, b = sizeof there;
    return getsockname(fd, (struct sockaddr *)&here, &a) == 0 && here.sin_family == AF_INET &&
           ntohs(here.sin_port) == port && getpeername(fd, (struct sockaddr *)&there, &b) == 0;
}

static unsigned count_connections(const struct web *w)
{
    unsigned n = 0;
    const int most = getdtablesize();
    for (int fd = 0; fd < most; fd++)
        n += is_of_port(fd, w->port);
    return n;
}

static void server_on_reopen(evutil_socket_t fd, short what, void *ctx)
{
    const struct timeval again = {.tv_usec = REOPEN_MS * 1000};
    struct web *w = ctx;
    (void)fd, (void)what;
    w->opened = count_connections(w);
    if (w->opened >= CONNECTIONS_MOST)
        event_add(w->reopen, &again);
    else
        evconnlistener_enable(w->listener);
}

static struct bufferevent *server_on_connection(struct event_base *base, void *ctx)
{
    struct web *w = ctx;
    if (++w->opened >= CONNECTIONS_MOST) {
        evconnlistener_disable(w->listener);
        event_active(w->reopen, EV_TIMEOUT, 0);
    }
    return bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
}

/* --- beginning and end --- */

static int server_listen(struct web *w, struct err *e)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)w->node->settings.web_port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    w->listener =
        evconnlistener_new_bind(w->node->base, NULL, NULL,
                                LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
                                -1, (struct sockaddr *)&here, sizeof here);
    if (w->listener == NULL)
        return err_set(e, errno, "port %u of 127.0.0.1: %s (web_port in p2pd.conf)",
                       w->node->settings.web_port, strerror(errno));
    if (evhttp_bind_listener(w->http, w->listener) == NULL) {
        evconnlistener_free(w->listener);
        w->listener = NULL;
        return err_set(e, ENOMEM, "out of memory");
    }
    getsockname(evconnlistener_get_fd(w->listener), (struct sockaddr *)&here, &size);
    w->port = ntohs(here.sin_port);
    return 0;
}

int server_open(struct web *w, struct err *e)
{
    w->http = evhttp_new(w->node->base);
    w->reopen = evtimer_new(w->node->base, server_on_reopen, w);
    if (w->http == NULL || w->reopen == NULL)
        return err_set(e, ENOMEM, "out of memory");
    evhttp_set_allowed_methods(w->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
    evhttp_set_max_headers_size(w->http, HEAD_MOST);
    evhttp_set_max_body_size(w->http, BODY_MOST);
    evhttp_set_timeout(w->http, TIMEOUT_S);
    evhttp_set_bevcb(w->http, server_on_connection, w);
    evhttp_set_gencb(w->http, server_on_request, w);
    w->opened = 0;
    return server_listen(w, e);
}

void server_close(struct web *w)
{
    if (w->http != NULL)
        evhttp_free(w->http); /* and with it the listener */
    if (w->reopen != NULL)
        event_free(w->reopen);
    w->http = NULL;
    w->listener = NULL;
    w->reopen = NULL;
}
