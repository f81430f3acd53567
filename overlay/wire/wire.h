/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h -- the one codec, for links between daemons, for datagrams and for the local socket.
 *
 *     0        4      5
 *     | length | kind | body ...            a frame; length counts kind and body
 *
 *     u8 u16 u32 u64   big-endian
 *     id               20 bytes
 *     hash             32 bytes
 *     addr             16 bytes of IPv6 (or mapped IPv4), u16 port
 *     text             u16 length, that many bytes: UTF-8 without control characters (text.h)
 *     lines            the same, with line feeds and tabs
 *     bytes            u32 length, that many bytes
 *     list of M        u16 count, then that many bodies of M
 *
 * Readers never look past the end and never allocate: the first thing that does not fit makes
 * `failed` true, every later read then gives zero, and the caller looks once, at the end. Writers
 * likewise. */
#ifndef P2P_OVERLAY_WIRE_WIRE_H
#define P2P_OVERLAY_WIRE_WIRE_H
#include "overlay/base/hash.h"
#include "overlay/base/id.h"
#include <stddef.h>

enum { WIRE_HEADER = 5, WIRE_MAX_FRAME = 256 * 1024 };

struct wire_writer {
    uint8_t *base;
    size_t size, at;
    unsigned version; /* of the protocol: see SINCE in message.def */
    bool failed;
    bool absent; /* this version does not have the fields that follow: nothing is written */
};

struct wire_reader {
    const uint8_t *base;
    size_t size, at;
    unsigned version;
    bool failed;
    bool absent; /* nothing is read, and every field is zero */
};

/* The fields that follow are of this version and later ones. The first field of a message: so is
 * the message itself, and any other version fails. */
void wire_put_since(struct wire_writer *w, unsigned version);
void wire_get_since(struct wire_reader *r, unsigned version);
void wire_get_more(struct wire_reader *r, size_t max); /* skips what is left */

void wire_put_u8(struct wire_writer *w, uint8_t v);
void wire_put_u16(struct wire_writer *w, uint16_t v);
void wire_put_u32(struct wire_writer *w, uint32_t v);
void wire_put_u64(struct wire_writer *w, uint64_t v);
void wire_put_id(struct wire_writer *w, const struct id *v);
void wire_put_hash(struct wire_writer *w, const struct hash *v);
void wire_put_addr(struct wire_writer *w, const struct addr *v);
void wire_put_text(struct wire_writer *w, const char *v, size_t max); /* cleaned (text.h) */
void wire_put_lines(struct wire_writer *w, const char *v, size_t max);
void wire_put_bytes(struct wire_writer *w, const uint8_t *v, uint32_t length, uint32_t max);

uint8_t wire_get_u8(struct wire_reader *r);
uint16_t wire_get_u16(struct wire_reader *r);
uint32_t wire_get_u32(struct wire_reader *r);
uint64_t wire_get_u64(struct wire_reader *r);
void wire_get_id(struct wire_reader *r, struct id *v);
void wire_get_hash(struct wire_reader *r, struct hash *v);
void wire_get_addr(struct wire_reader *r, struct addr *v);
void wire_get_text(struct wire_reader *r, char *v, size_t max); /* v has room for max + 1 */
void wire_get_lines(struct wire_reader *r, char *v, size_t max);
const uint8_t *wire_get_bytes(struct wire_reader *r, uint32_t *length,
                              uint32_t max); /* not copied */
#endif
