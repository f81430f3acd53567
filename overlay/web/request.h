/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h -- what a browser, or a reader of metrics, asks of the page: the head of an HTTP
 * request as it came, read without trusting any of it. */
#ifndef P2P_OVERLAY_WEB_REQUEST_H
#define P2P_OVERLAY_WEB_REQUEST_H
#include <stdbool.h>
#include <stdint.h>

enum { WEB_KEY = 32, WEB_PAUSE_MOST_S = 7 * 24 * 3600 }; /* a key: hexadecimal digits */

enum web_ask {
    WEB_MISDIRECTED, /* for another host: some page's name was made to point here */
    WEB_FOREIGN,     /* another page's script sends it */
    WEB_UNKNOWN,     /* there is no such thing */
    WEB_NOT_SO,      /* not by this method */
    WEB_BAD,         /* it cannot be read */
    WEB_ENTER,       /* by the link that p2pctl web has printed */
    WEB_PAGE,
    WEB_STYLE,
    WEB_SCRIPT,
    WEB_ICON, /* which browsers ask for by themselves, on the link's page too */
    WEB_STATE,
    WEB_EVENTS,
    WEB_METRICS,
    WEB_PAUSE,
    WEB_RESUME,
};

/* As evhttp has cut it; NULL: it is not there. */
struct web_head {
    bool post; /* else GET */
    const char *target, *host, *origin, *cookie, *authorization, *token;
};

struct web_request {
    enum web_ask ask;
    char link[WEB_KEY + 1];    /* of WEB_ENTER */
    char session[WEB_KEY + 1]; /* of the cookie; "": none */
    char token[WEB_KEY + 1];   /* for what changes something; "": none */
    char bearer[WEB_KEY + 1];  /* for metrics; "": none */
    uint32_t seconds;          /* of WEB_PAUSE; 0: until it is resumed */
    bool suspend;
};

/* port: at which the page is served. */
void web_request_read(struct web_request *out, const struct web_head *head, uint16_t port);
/* "p2pgrid-8080": ports share cookies, so that each daemon's has a name of its own. */
enum { WEB_COOKIE = 15 };
const char *web_cookie_name(uint16_t port, char out[WEB_COOKIE + 1]);
#endif
