/* SPDX-License-Identifier: BSD-3-Clause */
/* seeds.c -- the corpus that the fuzzers of messages begin with: one message of each kind with
 * something in every field, written by the real encoder. usage: seeds FOLDER */
#include "overlay/wire/message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t last; /* numbers all of them differently */

static void fill_id(struct id *id)
{
    memset(id->b, (int)(++last % 16 * 17), ID_BYTES); /* as the peers of ring.c */
}

static void fill_text(char *text, size_t max)
{
    snprintf(text, max + 1, "cores > %u", (unsigned)(++last % 8));
}

static const uint8_t bytes[] = "some bytes";

#define U8(f) m->f = (uint8_t)(++last % 4);
#define U16(f) m->f = (uint16_t)++last;
#define U32(f) m->f = (uint32_t)++last;
#define U64(f) m->f = ++last;
#define ID(f) fill_id(&m->f);
#define HASH(f) memset(m->f.b, (int)(++last % 16 * 17), HASH_BYTES);
#define ADDR(f) m->f.port = 7117;
#define TEXT(f, max) fill_text(m->f, max);
#define LINES(f, max) fill_text(m->f, max);
#define BYTES(f, max)                                                                              \
    m->f = bytes;                                                                                  \
    m->f##_length = (max) < sizeof bytes - 1 ? (max) : sizeof bytes - 1;
#define ONE(part, f) fill_part_##part(&m->f);
#define LIST(part, f, max)                                                                         \
    m->f##_count = (max) < 2 ? (max) : 2;                                                          \
    for (unsigned i = 0; i < m->f##_count; i++)                                                    \
        fill_part_##part(&m->f[i]);
#define SINCE(version)
#define MORE(max)
#define PART(name)                                                                                 \
    static void fill_part_##name(struct part_##name *m)                                            \
    {
#define MESSAGE(name, kind, to)                                                                    \
    static void fill_msg_##name(struct msg_##name *m)                                              \
    {                                                                                              \
        (void)m;
#define END }
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"

static void save(const char *folder, const char *fuzzer, const char *name, const uint8_t *head,
                 size_t head_length, const uint8_t *body, size_t length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, fuzzer);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", folder, fuzzer, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(head, 1, head_length, f) != head_length ||
        fwrite(body, 1, length, f) != length || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* For message.c: a body whose length is right. For ring.c: it comes from a neighbour. */
static void save_frame(const char *folder, const char *name, const uint8_t *frame, size_t length)
{
    const uint8_t *kind = frame + WIRE_HEADER - 1;
    size_t body = length - WIRE_HEADER;
    const uint8_t join[] = {
        3, 6, 1, 1, 255, 6, 1, 1, (uint8_t)(body >> 8), (uint8_t)body, (uint8_t)(*kind - 0x10)};
    const uint8_t framed = 1;
    save(folder, "message", name, &framed, 1, kind, body + 1);
    if (*kind >= 0x10 && *kind < 0x40 && body < 2048)
        save(folder, "ring", name, join, sizeof join, kind + 1, body);
}

int main(int argc, char **argv)
{
    static struct message_whole said;
    static uint8_t frame[WIRE_MAX_FRAME];
    if (argc != 2) {
        fprintf(stderr, "usage: seeds FOLDER\n");
        return 2;
    }
#define SAVE(name, fields)                                                                         \
    message_clear(&said, MSG_##name);                                                              \
    fill_msg_##name(fields);                                                                       \
    save_frame(argv[1], #name, frame, message_encode(&said.message, frame, sizeof frame));
#define MESSAGE(name, number, to) SAVE(name, &said.message.name)
#define LARGE(name, number, to) SAVE(name, &said.large.name)
#include "overlay/wire/message_only.h"
#include "overlay/wire/message.def"
#include "overlay/wire/message_undef.h"
    return 0;
}
