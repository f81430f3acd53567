/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.c -- made from the lists of messages, as the codec is. */
#include "kept.h"
#include <stdlib.h>
#include <string.h>

/* --- layout --- */

#define PART(name)                                                                                 \
    static void layout_part_##name(FILE *out, unsigned version)                                    \
    {
#define MESSAGE(name, kind, to)                                                                    \
    static void layout_msg_##name(FILE *out, unsigned version)                                     \
    {
#define U8(f) fputs(" u8", out);
#define U16(f) fputs(" u16", out);
#define U32(f) fputs(" u32", out);
#define U64(f) fputs(" u64", out);
#define ID(f) fputs(" id", out);
#define HASH(f) fputs(" hash", out);
#define ADDR(f) fputs(" addr", out);
#define TEXT(f, max) fprintf(out, " text %d", (int)(max));
#define LINES(f, max) fprintf(out, " lines %d", (int)(max));
#define BYTES(f, max) fprintf(out, " bytes %d", (int)(max));
#define ONE(part, f) layout_part_##part(out, version);
#define LIST(part, f, max)                                                                         \
    fprintf(out, " list %d (", (int)(max));                                                        \
    layout_part_##part(out, version);                                                              \
    fputs(" )", out);
#define SINCE(since)                                                                               \
    if (version < (since))                                                                         \
        return;
#define MORE(max) fprintf(out, " more %d", (int)(max));
#define END                                                                                        \
    (void)out, (void)version;                                                                      \
    }
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"

static void layout_fields(FILE *out, unsigned kind, unsigned version)
{
    switch (kind) {
#define MESSAGE(name, number, to)                                                                  \
    case number:                                                                                   \
        layout_msg_##name(out, version);                                                           \
        return;
#include "overlay/wire/message_only.h"
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"
    }
}

/* --- an example: every field of a message has another value --- */

static void example_run(void *out, size_t size, unsigned n)
{
    memset(out, (int)(n % 256), size);
}

static uint64_t example_number(unsigned n, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i + 1 < bytes; i++)
        v = v << 8 | (i + 1);
    return v << 8 | n % 256;
}

static const uint8_t example_bytes[] = "bytes";

#define PART(name)                                                                                 \
    static void example_part_##name(struct part_##name *m, unsigned *n)                            \
    {
#define MESSAGE(name, kind, to)                                                                    \
    static void example_msg_##name(struct msg_##name *m, unsigned *n)                              \
    {
#define U8(f) m->f = (uint8_t)example_number(++*n, 1);
#define U16(f) m->f = (uint16_t)example_number(++*n, 2);
#define U32(f) m->f = (uint32_t)example_number(++*n, 4);
#define U64(f) m->f = example_number(++*n, 8);
#define ID(f) example_run(m->f.b, sizeof m->f.b, ++*n);
#define HASH(f) ID(f)
#define ADDR(f)                                                                                    \
    example_run(m->f.ip, sizeof m->f.ip, ++*n);                                                    \
    m->f.port = (uint16_t)example_number(*n, 2);
#define TEXT(f, max) snprintf(m->f, (max) < 8 ? (max) + 1 : 8, "t%u", ++*n % 1000);
#define LINES(f, max) snprintf(m->f, (max) < 8 ? (max) + 1 : 8, "l\n%u", ++*n % 1000);
#define BYTES(f, max)                                                                              \
    m->f = example_bytes;                                                                          \
    m->f##_length = 1 + ++*n % ((max) < 5 ? (max) : 5);
#define ONE(part, f) example_part_##part(&m->f, n);
#define LIST(part, f, max)                                                                         \
    m->f##_count = (max) < 2 ? (max) : 2;                                                          \
    for (unsigned i = 0; i < m->f##_count; i++)                                                    \
        example_part_##part(&m->f[i], n);
#define SINCE(since)
#define MORE(max)
#define END                                                                                        \
    (void)m, (void)n;                                                                              \
    }
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"

struct message *kept_example(struct message_whole *said, unsigned kind)
{
    unsigned n = 0;
    struct message *m = message_clear(said, (enum message_kind)kind);
    switch (kind) {
#define MESSAGE(name, number, to)                                                                  \
    case number:                                                                                   \
        example_msg_##name(&m->name, &n);                                                          \
        break;
#define LARGE(name, number, to)                                                                    \
    case number:                                                                                   \
        example_msg_##name(m->name, &n);                                                           \
        break;
#include "overlay/wire/message_only.h"
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"
    }
    return m;
}

/* --- values --- */

static void put_hex(FILE *out, const void *bytes, size_t length)
{
    const uint8_t *b = bytes;
    fputc(' ', out);
    for (size_t i = 0; i < length; i++)
        fprintf(out, "%02x", b[i]);
    if (length == 0)
        fputc('-', out);
}

#define PART(name)                                                                                 \
    static void values_part_##name(FILE *out, const struct part_##name *m, unsigned version)       \
    {
#define MESSAGE(name, kind, to)                                                                    \
    static void values_msg_##name(FILE *out, const struct msg_##name *m, unsigned version)         \
    {
#define U8(f) fprintf(out, " %u", m->f);
#define U16(f) U8(f)
#define U32(f) U8(f)
#define U64(f) fprintf(out, " %llu", (unsigned long long)m->f);
#define ID(f) put_hex(out, m->f.b, sizeof m->f.b);
#define HASH(f) ID(f)
#define ADDR(f)                                                                                    \
    put_hex(out, m->f.ip, sizeof m->f.ip);                                                         \
    fprintf(out, " %u", m->f.port);
#define TEXT(f, max) put_hex(out, m->f, strlen(m->f));
#define LINES(f, max) TEXT(f, max)
#define BYTES(f, max) put_hex(out, m->f, m->f##_length);
#define ONE(part, f) values_part_##part(out, &m->f, version);
#define LIST(part, f, max)                                                                         \
    fprintf(out, " %u", m->f##_count);                                                             \
    for (unsigned i = 0; i < m->f##_count; i++)                                                    \
        values_part_##part(out, &m->f[i], version);
#define SINCE(since)                                                                               \
    if (version < (since))                                                                         \
        return;
#define MORE(max)
#define END                                                                                        \
    (void)out, (void)m, (void)version;                                                             \
    }
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"

void kept_values(FILE *out, const struct message *m, unsigned version)
{
    switch (m->kind) {
#define MESSAGE(name, number, to)                                                                  \
    case number:                                                                                   \
        values_msg_##name(out, &m->name, version);                                                 \
        return;
#define LARGE(name, number, to)                                                                    \
    case number:                                                                                   \
        values_msg_##name(out, m->name, version);                                                  \
        return;
#include "overlay/wire/message_only.h"
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"
    }
}

/* --- all of them --- */

/* A message that is new: its first word is SINCE. */
bool kept_layout(FILE *out, unsigned kind, unsigned version)
{
    static struct message_whole said;
    static uint8_t frame[WIRE_MAX_FRAME];
    if (message_encode_version(kept_example(&said, kind), frame, sizeof frame, version) == 0)
        return false;
    fprintf(out, "0x%02x", kind);
    layout_fields(out, kind, version);
    return true;
}

void kept_write(FILE *out, bool local, unsigned version)
{
    static struct message_whole said;
    static uint8_t frame[WIRE_MAX_FRAME];
    for (unsigned kind = local ? KEPT_LOCAL : 0; kind < (local ? 0x100 : KEPT_LOCAL); kind++) {
        if (message_name((enum message_kind)kind)[0] == '?' || !kept_layout(out, kind, version))
            continue;
        const struct message *m = kept_example(&said, kind);
        fputs(" |", out);
        put_hex(out, frame, message_encode_version(m, frame, sizeof frame, version));
        fputs(" |", out);
        kept_values(out, m, version);
        fputc('\n', out);
    }
}
