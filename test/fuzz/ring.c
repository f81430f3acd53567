/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c -- a member that says anything at all: the ring stays within its memory, keeps its lists
 * in order and always has a next deadline. The input is a script: what happens, after how long,
 * with which bytes. */
#include "overlay/core/ring/ring.h"
#include "script.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct part_peer peer(unsigned n)
{
    struct part_peer p = {.addr = {.port = 7117}};
    memset(p.id.b, (int)(n % 16 * 17), ID_BYTES); /* few, so that they meet again */
    p.addr.ip[15] = (uint8_t)n;
    return p;
}

/* The kind and the body come from the script; the frame around them is always right. */
static bool read_message(struct script *s, struct message *m, uint8_t *frame)
{
    size_t length = script_next(s) << 8 | script_next(s);
    length = length % 2048 < s->left ? length % 2048 : s->left;
    struct wire_writer w = {.base = frame, .size = WIRE_HEADER};
    wire_put_u32(&w, (uint32_t)length + 1);
    wire_put_u8(&w, (uint8_t)(0x10 + script_next(s) % 0x30));
    length = length < s->left ? length : s->left;
    w.at = 0;
    wire_put_u32(&w, (uint32_t)length + 1);
    memcpy(frame + WIRE_HEADER, s->at, length);
    s->at += length;
    s->left -= length;
    return message_decode(m, frame, length + WIRE_HEADER);
}

static void check(const struct ring *ring)
{
    struct id last = ring_self(ring)->id;
    const struct part_peer *p;
    for (unsigned i = 0; (p = ring_successor(ring, i)) != NULL; i++) {
        if (!id_between(&p->id, &last, &ring_self(ring)->id))
            abort();
        last = p->id;
    }
    if (ring_standing(ring) != RING_GONE && ring_deadline(ring) == UINT64_MAX)
        abort();
}

static void feed(struct ring *ring, struct script *s, struct ring_out *out)
{
    static struct message m;
    static uint8_t frame[4096];
    uint64_t now = 1;
    while (s->left > 0) {
        unsigned what = script_next(s);
        struct part_record record = {.key = peer(what).id, .value = frame, .value_length = what};
        struct ring_event e = {.kind = (enum ring_event_kind)(what % 16 % (RING_CANCEL + 1)),
                               .peer = peer(script_next(s)),
                               .message = &m,
                               .token = what + 1u,
                               .record = &record,
                               .value = frame,
                               .value_length = what,
                               .key = peer(what).id,
                               .want = what,
                               .require = "cores > 1"};
        now += (uint64_t)script_next(s) * script_next(s) * 100;
        if (what >= 128)
            e.kind = RING_MESSAGE;
        if (e.kind == RING_MESSAGE && !read_message(s, &m, frame))
            continue;
        if (e.kind == RING_LEAVE && what != RING_LEAVE)
            continue;
        ring_step(ring, &e, now, out);
        check(ring);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ring_out out;
    struct ring_setup setup = {
        .self = peer(5), .seed = 1, .record_bytes = RING_RECORDS_MIN, .searches = 1};
    struct script s = {.at = data, .left = size};
    void *memory = malloc(ring_size(&setup));
    if (memory == NULL)
        abort();
    feed(ring_init(memory, &setup, 1), &s, &out);
    free(memory);
    return 0;
}
