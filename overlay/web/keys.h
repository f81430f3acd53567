/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.h -- who may look at the page. A link lets one browser in, once and for a minute; the
 * browser then has a session, and a token that its scripts send with what changes something.
 * Metrics have a key of their own. Keys are compared in constant time. */
#ifndef P2P_OVERLAY_WEB_KEYS_H
#define P2P_OVERLAY_WEB_KEYS_H
#include "request.h"
#include <stddef.h>

enum {
    WEB_RANDOM = WEB_KEY / 2, /* bytes of which a key is made */
    WEB_LINKS = 8,            /* the oldest goes */
    WEB_SESSIONS = 16,        /* the one used longest ago goes */
    WEB_LINK_MS = 60 * 1000,
    WEB_SESSION_MS = 12 * 3600 * 1000, /* without a look at the page */
};

struct web_keys {
    struct web_link {
        char key[WEB_KEY + 1]; /* "": none */
        uint64_t ends_ms;
    } links[WEB_LINKS];
    struct web_session {
        char key[WEB_KEY + 1], token[WEB_KEY + 1];
        uint64_t used_ms;
    } sessions[WEB_SESSIONS];
    char metrics[WEB_KEY + 1]; /* "": nobody reads them by a key */
    unsigned next_link;
};

void web_key_make(char out[WEB_KEY + 1], const uint8_t random[WEB_RANDOM]);

void web_keys_link(struct web_keys *k, uint64_t now_ms, const uint8_t random[WEB_RANDOM],
                   char out[WEB_KEY + 1]);
/* The link's session, made of two times so many random bytes; NULL: there is no such link (any
 * more). It is used up. */
const struct web_session *web_keys_enter(struct web_keys *k, uint64_t now_ms, const char *link,
                                         const uint8_t random[2 * WEB_RANDOM]);
/* The session, used now; NULL: there is none. */
const struct web_session *web_keys_session(struct web_keys *k, uint64_t now_ms, const char *key);
/* May this request change something? */
bool web_keys_may_write(struct web_keys *k, uint64_t now_ms, const struct web_request *r);
bool web_keys_may_read(struct web_keys *k, uint64_t now_ms, const struct web_request *r);
bool web_keys_may_measure(struct web_keys *k, uint64_t now_ms, const struct web_request *r);
/* Everybody is out: links, sessions, the metrics' key. */
void web_keys_clear(struct web_keys *k);
#endif
