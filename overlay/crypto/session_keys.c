/* SPDX-License-Identifier: BSD-3-Clause */
/* session_keys.c -- when keys begin and end. */
#include "session_keys.h"

const struct aead_key *session_keys_give(struct session_keys *p, uint64_t *replaced,
                                         uint64_t now_ms)
{
    struct session_key_given *g = &p->given[p->next];
    p->next = (p->next + 1) % SESSION_KEYS;
    *replaced = g->key.name;
    *g = (struct session_key_given){.until_ms = now_ms + SESSION_KEY_MS};
    aead_draw(&g->key);
    p->used_ms = now_ms;
    return &g->key;
}

void session_keys_take(struct session_keys *p, const struct aead_key *key, uint64_t now_ms)
{
    p->ours = *key;
    p->number = 0;
    p->taken_ms = p->heard_ms = now_ms;
}

void session_keys_drop(struct session_keys *p)
{
    p->ours.name = 0;
    p->asked_ms = 0;
}

static bool has_key(const struct session_keys *p, uint64_t now_ms)
{
    return p->ours.name != 0 && now_ms - p->taken_ms < SESSION_KEY_MS;
}

bool session_keys_ask(struct session_keys *p, uint64_t now_ms)
{
    bool asked = p->asked_ms != 0 && now_ms - p->asked_ms < SESSION_ASK_MS;
    bool renew = !has_key(p, now_ms) || now_ms - p->taken_ms >= SESSION_RENEW_MS;
    bool silent = p->number > 0 && now_ms - p->heard_ms >= SESSION_SILENT_MS &&
                  now_ms - p->asked_ms >= SESSION_SILENT_MS;
    if (asked || !(renew || silent))
        return false;
    p->asked_ms = now_ms;
    return true;
}

size_t session_keys_seal(struct session_keys *p, const uint8_t *frame, size_t length,
                         uint8_t packet[AEAD_PACKET], uint64_t now_ms)
{
    p->used_ms = now_ms;
    return has_key(p, now_ms) ? aead_seal(&p->ours, ++p->number, frame, length, packet) : 0;
}

size_t session_keys_open(struct session_keys *p, const uint8_t *packet, size_t length,
                         uint8_t frame[AEAD_FRAME], uint64_t now_ms)
{
    uint64_t name = aead_name(packet, length);
    for (unsigned i = 0; name != 0 && i < SESSION_KEYS; i++) {
        struct session_key_given *g = &p->given[i];
        if (g->key.name != name || g->until_ms <= now_ms)
            continue;
        size_t opened = aead_open(&g->key, &g->window, packet, length, frame);
        if (opened > 0)
            p->heard_ms = p->used_ms = now_ms;
        return opened;
    }
    return 0;
}

bool session_keys_idle(const struct session_keys *p, uint64_t now_ms)
{
    return now_ms - p->used_ms >= SESSION_KEY_MS;
}
