/* SPDX-License-Identifier: BSD-3-Clause */
/* session_keys.c -- when keys begin and end. */
#include "session_keys.h"

const struct seal_key *pair_give(struct pair *p, uint64_t *replaced, uint64_t now_ms)
{
    struct pair_given *g = &p->given[p->next];
    p->next = (p->next + 1) % PAIR_KEYS;
    *replaced = g->key.name;
    *g = (struct pair_given){.until_ms = now_ms + PAIR_KEY_MS};
    seal_draw(&g->key);
    p->used_ms = now_ms;
    return &g->key;
}

void pair_take(struct pair *p, const struct seal_key *key, uint64_t now_ms)
{
    p->ours = *key;
    p->number = 0;
    p->taken_ms = p->heard_ms = now_ms;
}

void pair_drop(struct pair *p)
{
    p->ours.name = 0;
    p->asked_ms = 0;
}

static bool has_key(const struct pair *p, uint64_t now_ms)
{
    return p->ours.name != 0 && now_ms - p->taken_ms < PAIR_KEY_MS;
}

bool pair_asks(struct pair *p, uint64_t now_ms)
{
    bool asked = p->asked_ms != 0 && now_ms - p->asked_ms < PAIR_ASK_MS;
    bool renew = !has_key(p, now_ms) || now_ms - p->taken_ms >= PAIR_RENEW_MS;
    bool silent = p->number > 0 && now_ms - p->heard_ms >= PAIR_SILENT_MS &&
                  now_ms - p->asked_ms >= PAIR_SILENT_MS;
    if (asked || !(renew || silent))
        return false;
    p->asked_ms = now_ms;
    return true;
}

size_t pair_close(struct pair *p, const uint8_t *frame, size_t length, uint8_t packet[SEAL_MAX],
                  uint64_t now_ms)
{
    p->used_ms = now_ms;
    return has_key(p, now_ms) ? seal_close(&p->ours, ++p->number, frame, length, packet) : 0;
}

size_t pair_open(struct pair *p, const uint8_t *packet, size_t length, uint8_t frame[SEAL_FRAME],
                 uint64_t now_ms)
{
    uint64_t name = seal_name(packet, length);
    for (unsigned i = 0; name != 0 && i < PAIR_KEYS; i++) {
        struct pair_given *g = &p->given[i];
        if (g->key.name != name || g->until_ms <= now_ms)
            continue;
        size_t opened = seal_open(&g->key, &g->window, packet, length, frame);
        if (opened > 0)
            p->heard_ms = p->used_ms = now_ms;
        return opened;
    }
    return 0;
}

bool pair_idle(const struct pair *p, uint64_t now_ms)
{
    return now_ms - p->used_ms >= PAIR_KEY_MS;
}
