/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.c -- links, sessions, tokens. */
#include "keys.h"
#include <sodium.h>
#include <string.h>

void web_key_make(char out[WEB_KEY + 1], const uint8_t random[WEB_RANDOM])
{
    sodium_bin2hex(out, WEB_KEY + 1, random, WEB_RANDOM);
}

/* Both are WEB_KEY digits; the one that is kept may be none at all. */
static bool key_is(const char *kept, const char *said)
{
    return kept[0] != '\0' && strlen(said) == WEB_KEY && sodium_memcmp(kept, said, WEB_KEY) == 0;
}

void web_keys_link(struct web_keys *k, uint64_t now_ms, const uint8_t random[WEB_RANDOM],
                   char out[WEB_KEY + 1])
{
    struct web_link *l = &k->links[k->next_link];
    k->next_link = (k->next_link + 1) % WEB_LINKS;
    web_key_make(l->key, random);
    l->ends_ms = now_ms + WEB_LINK_MS;
    memcpy(out, l->key, sizeof l->key);
}

static bool use_link(struct web_keys *k, uint64_t now_ms, const char *key)
{
    for (unsigned i = 0; i < WEB_LINKS; i++) {
        struct web_link *l = &k->links[i];
        if (!key_is(l->key, key))
            continue;
        const bool good = now_ms < l->ends_ms;
        *l = (struct web_link){0};
        return good;
    }
    return false;
}

static bool session_lives(const struct web_session *s, uint64_t now_ms)
{
    return s->key[0] != '\0' && now_ms - s->used_ms < WEB_SESSION_MS;
}

static struct web_session *oldest_session(struct web_keys *k)
{
    struct web_session *s = &k->sessions[0];
    for (unsigned i = 1; i < WEB_SESSIONS; i++)
        if (s->key[0] != '\0' &&
            (k->sessions[i].key[0] == '\0' || k->sessions[i].used_ms < s->used_ms))
            s = &k->sessions[i];
    return s;
}

const struct web_session *web_keys_enter(struct web_keys *k, uint64_t now_ms, const char *link,
                                         const uint8_t random[2 * WEB_RANDOM])
{
    if (!use_link(k, now_ms, link))
        return NULL;
    struct web_session *s = oldest_session(k);
    web_key_make(s->key, random);
    web_key_make(s->token, random + WEB_RANDOM);
    s->used_ms = now_ms;
    return s;
}

const struct web_session *web_keys_session(struct web_keys *k, uint64_t now_ms, const char *key)
{
    for (unsigned i = 0; i < WEB_SESSIONS; i++) {
        struct web_session *s = &k->sessions[i];
        if (!key_is(s->key, key) || !session_lives(s, now_ms))
            continue;
        s->used_ms = now_ms;
        return s;
    }
    return NULL;
}

bool web_keys_may_read(struct web_keys *k, uint64_t now_ms, const struct web_request *r)
{
    return web_keys_session(k, now_ms, r->session) != NULL;
}

bool web_keys_may_write(struct web_keys *k, uint64_t now_ms, const struct web_request *r)
{
    const struct web_session *s = web_keys_session(k, now_ms, r->session);
    return s != NULL && key_is(s->token, r->token);
}

bool web_keys_may_measure(struct web_keys *k, uint64_t now_ms, const struct web_request *r)
{
    return key_is(k->metrics, r->bearer) || web_keys_may_read(k, now_ms, r);
}

void web_keys_clear(struct web_keys *k)
{
    sodium_memzero(k, sizeof *k);
}
