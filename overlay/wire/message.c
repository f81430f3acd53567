/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c -- put and get for every part and message of message.def. */
#include "message.h"
#include "version.h"
#include <string.h>

/* --- put --- */
#define PART(name)                                                                                 \
    static void put_part_##name(struct wire_writer *w, const struct part_##name *m)                \
    {                                                                                              \
        const bool absent = w->absent;
#define MESSAGE(name, kind, to)                                                                    \
    static void put_msg_##name(struct wire_writer *w, const struct msg_##name *m)                  \
    {                                                                                              \
        const bool absent = w->absent;
#define U8(f) wire_put_u8(w, m->f);
#define U16(f) wire_put_u16(w, m->f);
#define U32(f) wire_put_u32(w, m->f);
#define U64(f) wire_put_u64(w, m->f);
#define ID(f) wire_put_id(w, &m->f);
#define HASH(f) wire_put_hash(w, &m->f);
#define ADDR(f) wire_put_addr(w, &m->f);
#define TEXT(f, max) wire_put_text(w, m->f, max);
#define LINES(f, max) wire_put_lines(w, m->f, max);
#define BYTES(f, max) wire_put_bytes(w, m->f, m->f##_length, max);
#define ONE(part, f) put_part_##part(w, &m->f);
#define LIST(part, f, max)                                                                         \
    if (m->f##_count > (max))                                                                      \
        w->failed = true;                                                                          \
    wire_put_u16(w, m->f##_count);                                                                 \
    for (unsigned i = 0; !w->failed && i < m->f##_count; i++)                                      \
        put_part_##part(w, &m->f[i]);
#define SINCE(version) wire_put_since(w, version);
#define MORE(max)
#define END                                                                                        \
    (void)m;                                                                                       \
    w->absent = absent;                                                                            \
    }
#include "message.def"
#include "message_undef.h"

/* --- get --- */
#define PART(name)                                                                                 \
    static void get_part_##name(struct wire_reader *r, struct part_##name *m)                      \
    {                                                                                              \
        const bool absent = r->absent;
#define MESSAGE(name, kind, to)                                                                    \
    static void get_msg_##name(struct wire_reader *r, struct msg_##name *m)                        \
    {                                                                                              \
        const bool absent = r->absent;
#define U8(f) m->f = wire_get_u8(r);
#define U16(f) m->f = wire_get_u16(r);
#define U32(f) m->f = wire_get_u32(r);
#define U64(f) m->f = wire_get_u64(r);
#define ID(f) wire_get_id(r, &m->f);
#define HASH(f) wire_get_hash(r, &m->f);
#define ADDR(f) wire_get_addr(r, &m->f);
#define TEXT(f, max) wire_get_text(r, m->f, max);
#define LINES(f, max) wire_get_lines(r, m->f, max);
#define BYTES(f, max) m->f = wire_get_bytes(r, &m->f##_length, max);
#define ONE(part, f) get_part_##part(r, &m->f);
#define LIST(part, f, max)                                                                         \
    m->f##_count = wire_get_u16(r);                                                                \
    if (m->f##_count > (max))                                                                      \
        r->failed = true;                                                                          \
    if (r->failed)                                                                                 \
        m->f##_count = 0;                                                                          \
    for (unsigned i = 0; !r->failed && i < m->f##_count; i++)                                      \
        get_part_##part(r, &m->f[i]);
#define SINCE(version) wire_get_since(r, version);
#define MORE(max) wire_get_more(r, max);
#define END                                                                                        \
    (void)m;                                                                                       \
    r->absent = absent;                                                                            \
    }
#include "message.def"
#include "message_undef.h"

/* A LARGE one has its room there. */
static void message_place(struct message_whole *w)
{
    switch ((unsigned)w->message.kind) {
#define MESSAGE(name, kind, to)
#define LARGE(name, kind, to)                                                                      \
    case MSG_##name:                                                                               \
        w->message.name = &w->large.name;                                                          \
        return;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    }
}

struct message *message_clear(struct message_whole *w, enum message_kind kind)
{
    memset(&w->message, 0, sizeof w->message);
    w->message.kind = kind;
    memset(&w->large, 0, sizeof w->large);
    message_place(w);
    return &w->message;
}

void message_copy(struct message_whole *w, const struct message *m)
{
    w->message = *m;
    switch ((unsigned)m->kind) {
#define MESSAGE(name, kind, to)
#define LARGE(name, kind, to)                                                                      \
    case MSG_##name:                                                                               \
        w->large.name = *m->name;                                                                  \
        w->message.name = &w->large.name;                                                          \
        return;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    }
}

static void get_body(struct wire_reader *r, struct message *m)
{
    switch (m->kind) {
#define MESSAGE(name, kind, to)                                                                    \
    case MSG_##name:                                                                               \
        get_msg_##name(r, (struct msg_##name *)message_##name(m));                                 \
        return;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    }
    r->failed = true;
}

static struct wire_writer frame_begin(uint8_t *out, size_t size, enum message_kind kind,
                                      unsigned version)
{
    struct wire_writer w = {
        .base = out, .size = size < WIRE_MAX_FRAME ? size : WIRE_MAX_FRAME, .version = version};
    wire_put_u32(&w, 0); /* the length: known at the end */
    wire_put_u8(&w, (uint8_t)kind);
    return w;
}

static size_t frame_end(const struct wire_writer *w)
{
    if (w->failed)
        return 0;
    struct wire_writer head = {.base = w->base, .size = 4};
    wire_put_u32(&head, (uint32_t)(w->at - 4));
    return w->at;
}

#define MESSAGE(name, kind, to)                                                                    \
    size_t message_put_##name(const struct msg_##name *m, uint8_t *out, size_t size)               \
    {                                                                                              \
        struct wire_writer w = frame_begin(out, size, MSG_##name, WIRE_HIGHEST);                   \
        put_msg_##name(&w, m);                                                                     \
        return frame_end(&w);                                                                      \
    }
#include "message_only.h"
#include "message.def"
#include "message_undef.h"

size_t message_encode_version(const struct message *m, uint8_t *out, size_t size, unsigned version)
{
    struct wire_writer w = frame_begin(out, size, m->kind, version);
    switch (m->kind) {
#define MESSAGE(name, kind, to)                                                                    \
    case MSG_##name:                                                                               \
        put_msg_##name(&w, message_##name(m));                                                     \
        return frame_end(&w);
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    }
    return 0;
}

size_t message_encode(const struct message *m, uint8_t *out, size_t size)
{
    return message_encode_version(m, out, size, WIRE_HIGHEST);
}

long message_frame_length(const uint8_t *in, size_t have)
{
    if (have < 4)
        return 0;
    struct wire_reader r = {.base = in, .size = have};
    uint32_t rest = wire_get_u32(&r);
    if (rest < 1 || rest > WIRE_MAX_FRAME - 4)
        return -1;
    return (long)rest + 4;
}

/* A frame that begins like one of ours. */
static bool frame_open(struct wire_reader *r, const uint8_t *frame, size_t length, unsigned version,
                       enum message_kind *kind)
{
    if (length < WIRE_HEADER || message_frame_length(frame, length) != (long)length)
        return false;
    *r = (struct wire_reader){.base = frame, .size = length, .at = 4, .version = version};
    *kind = (enum message_kind)wire_get_u8(r);
    return true;
}

static bool message_get(struct wire_reader *r, struct message *m)
{
    get_body(r, m);
    return !r->failed && r->at == r->size;
}

static bool kind_is_large(enum message_kind kind)
{
    switch ((unsigned)kind) {
#define MESSAGE(name, kind, to)
#define LARGE(name, kind, to)                                                                      \
    case MSG_##name:                                                                               \
        return true;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    }
    return false;
}

bool message_decode_version(struct message *m, const uint8_t *frame, size_t length,
                            unsigned version)
{
    struct wire_reader r;
    return frame_open(&r, frame, length, version, &m->kind) && !kind_is_large(m->kind) &&
           message_get(&r, m);
}

bool message_decode_whole(struct message_whole *w, const uint8_t *frame, size_t length,
                          unsigned version)
{
    struct wire_reader r;
    if (!frame_open(&r, frame, length, version, &w->message.kind))
        return false;
    message_place(w);
    return message_get(&r, &w->message);
}

bool message_decode(struct message *m, const uint8_t *frame, size_t length)
{
    return message_decode_version(m, frame, length, WIRE_HIGHEST);
}

enum receiver message_receiver(enum message_kind kind)
{
    switch (kind) {
#define MESSAGE(name, kind, to)                                                                    \
    case MSG_##name:                                                                               \
        return RECEIVER_##to;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    }
    return RECEIVER_inside;
}

uint32_t message_token(const struct message *m)
{
    switch ((unsigned)m->kind) {
#define TO_row(name)                                                                               \
    case MSG_##name:                                                                               \
        return message_##name(m)->token;
#define TO_rpc_row(name) TO_row(name)
#include "message_to.h"
    }
    return 0;
}

void message_set_token(struct message *question, uint32_t token)
{
    switch ((unsigned)question->kind) {
#define TO_local(name)                                                                             \
    case MSG_##name:                                                                               \
        ((struct msg_##name *)message_##name(question))->token = token;                            \
        return;
#define TO_rpc(name) TO_local(name)
#include "message_to.h"
    }
}

const char *message_name(enum message_kind kind)
{
    switch (kind) {
#define MESSAGE(name, kind, to)                                                                    \
    case MSG_##name:                                                                               \
        return #name;
#include "message_only.h"
#include "message.def"
#include "message_undef.h"
    }
    return "?";
}
