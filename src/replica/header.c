/* SPDX-License-Identifier: BSD-3-Clause */
/* header.c -- reads what other processes wrote, and checks it. */
#include "header.h"

static bool kind_has_payload(uint8_t kind)
{
    switch ((enum header_kind)kind) {
    case HEADER_EAGER:
    case HEADER_RTS:
    case HEADER_DATA:
    case HEADER_ACK:
    case HEADER_DECIDE:
    case HEADER_DEAD:
    case HEADER_WITNESS:
    case HEADER_RECALL:
        return true;
    case HEADER_CTS:
    case HEADER_HAVE:
    case HEADER_DECIDED:
    case HEADER_AGREE:
    case HEADER_BARRIER:
    case HEADER_WHERE:
    case HEADER_HERE:
    case HEADER_ATTACH:
    case HEADER_PING:
    case HEADER_PONG:
    case HEADER_BYE:
    case HEADER_DONE:
    case HEADER_SETTLE:
    case HEADER_SETTLED:
    case HEADER_RECALLED:
    case HEADER_LOOKS:
    case HEADER_PAST:
        return false;
    }
    return false;
}

bool header_read(struct header *h, const uint8_t *p)
{
    h->kind = p[0];
    h->flags = p[1];
    h->tag = (int32_t)bytes_get_u32(p + 4);
    h->group = bytes_get_u64(p + 8);
    h->count = bytes_get_u32(p + 16);
    h->length = bytes_get_u32(p + 20);
    h->number = bytes_get_u64(p + 24);
    h->extent = bytes_get_u64(p + 32);
    if (h->kind < HEADER_EAGER || h->kind > HEADER_PAST)
        return false;
    return h->length == 0 || kind_has_payload(h->kind);
}
