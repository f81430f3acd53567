/* SPDX-License-Identifier: BSD-3-Clause */
/* header.c -- reads what other processes wrote; nothing is believed that was not looked at. */
#include "header.h"

static bool has_payload(uint8_t kind)
{
    switch ((enum header_kind)kind) {
    case HEADER_EAGER:
    case HEADER_OFFER:
    case HEADER_BULK:
    case HEADER_ACK:
    case HEADER_DECIDE:
    case HEADER_DEAD:
        return true;
    case HEADER_ASK:
    case HEADER_HAVE:
    case HEADER_DECIDED:
    case HEADER_AGREE:
    case HEADER_RALLY:
    case HEADER_WHERE:
    case HEADER_HERE:
    case HEADER_ATTACH:
    case HEADER_PING:
    case HEADER_PONG:
    case HEADER_BYE:
    case HEADER_DONE:
        return false;
    }
    return false;
}

bool header_read(struct header *h, const uint8_t *p)
{
    h->kind = p[0];
    h->flags = p[1];
    h->tag = (int32_t)header_get_u32(p + 4);
    h->group = header_get_u64(p + 8);
    h->count = header_get_u32(p + 16);
    h->length = header_get_u32(p + 20);
    h->number = header_get_u64(p + 24);
    h->extent = header_get_u64(p + 32);
    if (h->kind < HEADER_EAGER || h->kind > HEADER_DONE)
        return false;
    return h->length == 0 || has_payload(h->kind);
}
