/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h -- every message as a struct, made from message.def; the only way onto and off the
 * wire.
 *
 * BYTES fields of a decoded message point into the frame it was decoded from. Everything else is
 * copied. A decoded message is inside all its bounds.
 *
 * A struct message is on many stacks, so it only points to what is of more than 4 KiB: m->ping is a
 * struct msg_ping, m->local_terms points to one. The maker of such a
 * message has the memory for it; one that is decoded is in a struct message_whole. */
#ifndef P2P_OVERLAY_WIRE_MESSAGE_H
#define P2P_OVERLAY_WIRE_MESSAGE_H
#include "wire.h"

#define PART(name) struct part_##name {
#define MESSAGE(name, kind, to) struct msg_##name {
#define U8(f) uint8_t f;
#define U16(f) uint16_t f;
#define U32(f) uint32_t f;
#define U64(f) uint64_t f;
#define ID(f) struct id f;
#define HASH(f) struct hash f;
#define ADDR(f) struct addr f;
#define TEXT(f, max) char f[(max) + 1];
#define LINES(f, max) char f[(max) + 1];
#define BYTES(f, max)                                                                              \
    const uint8_t *f;                                                                              \
    uint32_t f##_length;
#define ONE(part, f) struct part_##part f;
#define LIST(part, f, max)                                                                         \
    uint16_t f##_count;                                                                            \
    struct part_##part f[max];
#define SINCE(version)
#define MORE(max)
#define END                                                                                        \
    }                                                                                              \
    ;
#include "message.def"
#include "message_undef.h"

enum message_kind {
#define MESSAGE(name, kind, to) MSG_##name = kind,
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
};

enum receiver {
#define RECEIVER(name) RECEIVER_##name,
#include "receiver.def"
#undef RECEIVER
};

struct message {
    enum message_kind kind;
    union {
#define MESSAGE(name, kind, to) struct msg_##name name;
#define LARGE(name, kind, to) struct msg_##name *name;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    };
};

enum { MESSAGE_MOST = 4096 };
_Static_assert(sizeof(struct message) <= MESSAGE_MOST, "what is larger is LARGE");

/* A message of any kind, and the room for what it points to. */
struct message_whole {
    struct message message;
    union {
#define MESSAGE(name, kind, to)
#define LARGE(name, kind, to) struct msg_##name name;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    } large;
};

/* Its fields, wherever they are: message_ping(m). */
#define MESSAGE(name, kind, to)                                                                    \
    static inline const struct msg_##name *message_##name(const struct message *m)                 \
    {                                                                                              \
        return &m->name;                                                                           \
    }
#define LARGE(name, kind, to)                                                                      \
    static inline const struct msg_##name *message_##name(const struct message *m)                 \
    {                                                                                              \
        return m->name;                                                                            \
    }
#include "message_only.h"
#include "message.def"
#include "message_undef.h"

/* A message of this kind, all zero. */
struct message *message_clear(struct message_whole *w, enum message_kind kind);
void message_copy(struct message_whole *w, const struct message *m);

/* The frame of m into out: its length, or 0 when it does not fit or a field is out of its bounds.
 */
size_t message_encode(const struct message *m, uint8_t *out, size_t size);
/* For a peer that speaks an earlier version (version.h): without the fields that it does not know,
 * and 0 for a message that it does not know. */
size_t message_encode_version(const struct message *m, uint8_t *out, size_t size, unsigned version);

/* The same for one kind, without the room that a union of all kinds takes: message_put_ping(...).
 */
#define MESSAGE(name, kind, to)                                                                    \
    size_t message_put_##name(const struct msg_##name *m, uint8_t *out, size_t size);
#include "message_only.h"
#include "message.def"
#include "message_undef.h"

/* What a stream holds so far: the length of the frame at its start once the header is there, 0
 * before, -1 when no frame may be that long. */
long message_frame_length(const uint8_t *in, size_t have);

/* One whole frame. False for a kind that does not exist or is LARGE, a field out of bounds, or
 * bytes left over. */
bool message_decode(struct message *m, const uint8_t *frame, size_t length);
/* From such a peer: fields that it does not know are zero. */
bool message_decode_version(struct message *m, const uint8_t *frame, size_t length,
                            unsigned version);
/* The same for all kinds. */
bool message_decode_whole(struct message_whole *w, const uint8_t *frame, size_t length,
                          unsigned version);

/* What a program on the local socket is answered has the token of its question; 0: it has none. */
uint32_t message_token(const struct message *m);
void message_set_token(struct message *question, uint32_t token);

enum receiver message_receiver(enum message_kind kind); /* of a kind that there is */
const char *message_name(enum message_kind kind);       /* "lease_ask"; "?" for no kind */
#endif
