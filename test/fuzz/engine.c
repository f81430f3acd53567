/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c -- a replica whose three fellows (2 ranks, 2 lanes) say anything at all while its own
 * program sends, receives and probes: it stays within its memory, and stops with a line at worst.
 */
#include "src/replica/engine.h"
#include "src/replica/header.h"
#include "script.h"
#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 2,
    LANES = 2,
    PROCESSES = RANKS * LANES,
    REQUESTS = 24,
    BYTES = 2048,
    CYCLE = -27, /* the first tag of a nonblocking collective */
    COOKIES = 256
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct script script;
    struct engine *engine;
    struct engine_comm *comm;
    struct header last; /* that this replica wrote: it names the communicator */
    void *cookies[COOKIES];
    unsigned cookie_count;
    struct engine_send sends[REQUESTS];
    struct engine_receive receives[REQUESTS];
    unsigned sent, received;
    bool stopped;
    uint64_t now_ms;
    uint8_t out[BYTES], in[REQUESTS][BYTES];
};

static int on_send(void *ctx, int replica, const uint8_t *header, const void *payload,
                   size_t length, void *cookie)
{
    struct world *w = ctx;
    (void)replica;
    if (!header_read(&w->last, header) || w->last.length != length)
        abort();
    for (size_t i = 0; i < length; i++) /* all of it can be read */
        w->out[0] ^= ((const uint8_t *)payload)[i];
    if (cookie == NULL)
        return 0;
    if (w->cookie_count == COOKIES)
        return 1;
    w->cookies[w->cookie_count++] = cookie;
    return 0;
}

static void on_lost(void *ctx, int replica, const char *why)
{
    (void)ctx, (void)replica, (void)why;
}

static void on_sent(void *ctx, struct engine_send *s)
{
    (void)ctx, (void)s;
}

static void on_received(void *ctx, struct engine_receive *r)
{
    (void)ctx, (void)r;
}

static void on_stop(void *ctx, int status, const char *line)
{
    struct world *w = ctx;
    if (status != 0 && line[0] == '\0')
        abort();
    w->stopped = true;
}

static bool on_lend(void *ctx, int replica, const void *bytes, uint8_t rkey[ENGINE_RKEY])
{
    struct world *w = ctx;
    (void)replica, (void)bytes;
    memset(rkey, 0, ENGINE_RKEY);
    return script_next(&w->script) % 2;
}

static void on_take_back(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY])
{
    (void)ctx, (void)replica, (void)rkey;
}

static bool on_borrow(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY], void *to,
                      size_t length)
{
    struct world *w = ctx;
    (void)replica;
    memset(to, rkey[0], length); /* all of it can be written */
    return script_next(&w->script) % 4 != 0;
}

static struct header read_header(struct world *w)
{
    struct script *s = &w->script;
    unsigned how = script_next(s);
    struct header h = {.kind = (uint8_t)(1 + script_next(s) % HEADER_RECALLED),
                       .flags = (uint8_t)(script_next(s) % 8),
                       .tag = (int)(script_next(s) % 4) - 1,
                       .group = w->last.group,
                       .count = w->last.count,
                       .number = script_next(s) % 8,
                       .extent = script_next(s) * (how & 1 ? 1u : 16u)};
    if (how & 2)
        h.group = script_next(s);
    if (how & 4)
        h.number = UINT64_MAX - h.number;
    if (how & 8)
        h.extent = UINT64_MAX - h.extent;
    if (how & 16)
        h.tag += INT32_MIN + 1;
    if (how & 128)
        h.tag = CYCLE - script_next(s);
    h.length = script_next(s) * (how & 32 ? 8u : 1u);
    if (h.kind == HEADER_RTS && how & 64)
        h.length = ENGINE_RKEY;
    return h;
}

/* As the transport does: what is no header ends the link, and a payload may be placed. */
static void arrive(struct world *w, int replica)
{
    uint8_t bytes[HEADER_BYTES], payload[8 * 256];
    struct header h = read_header(w), checked;
    header_write(bytes, &h);
    if (!header_read(&checked, bytes)) {
        engine_dead(w->engine, replica);
        return;
    }
    for (unsigned i = 0; i < h.length; i++)
        payload[i] = (uint8_t)script_next(&w->script);
    if (h.length == 0 || script_next(&w->script) % 2 == 0) {
        engine_arrived(w->engine, replica, bytes, payload);
        return;
    }
    void *room = engine_place(w->engine, replica, bytes);
    if (room == NULL)
        return;
    memcpy(room, payload, h.length);
    engine_arrived(w->engine, replica, bytes, room);
}

static void send(struct world *w)
{
    if (w->sent == REQUESTS)
        return;
    struct engine_send *s = &w->sends[w->sent++];
    unsigned how = script_next(&w->script);
    *s = (struct engine_send){.comm = w->comm,
                              .to = (int)(how & 1),
                              .tag = how & 128 ? CYCLE - (int)w->sent : (int)(how >> 1 & 1),
                              .length = (how >> 2 & 3) * (BYTES / 3),
                              .data = w->out,
                              .span = {w->out, BYTES},
                              .held = (how & 32) != 0,
                              .synchronous = (how & 16) != 0};
    if ((how & 64) == 0 || s->held || s->synchronous ||
        !engine_send_now(w->engine, s->comm, s->to, s->tag, s->data, s->length))
        engine_send(w->engine, s);
}

static void receive(struct world *w)
{
    if (w->received == REQUESTS)
        return;
    struct engine_receive *r = &w->receives[w->received];
    unsigned how = script_next(&w->script);
    *r = (struct engine_receive){.comm = w->comm,
                                 .from = (int)(how % 3) - 1,
                                 .tag =
                                     how & 128 ? CYCLE - (int)w->received : (int)(how >> 2 & 3) - 1,
                                 .capacity = how & 64 ? 5 : BYTES,
                                 .span = {how & 32 ? w->out : w->in[w->received], BYTES},
                                 .awaited = (how & 16) != 0,
                                 .inner = (how & 128) != 0,
                                 .data = w->in[w->received]};
    w->received++;
    engine_receive(w->engine, r);
}

static void probe(struct world *w)
{
    struct engine_status status;
    struct engine_message *taken;
    unsigned how = script_next(&w->script);
    bool take = how & 1 && w->received < REQUESTS;
    if (engine_probe(w->engine, w->comm, (int)(how >> 1 & 3) % 3 - 1, (int)(how >> 3 & 3) - 1,
                     false, &status, take ? &taken : NULL) != 1 ||
        !take)
        return;
    struct engine_receive *r = &w->receives[w->received];
    *r = (struct engine_receive){.comm = w->comm, .capacity = BYTES, .data = w->in[w->received++]};
    engine_message_receive(w->engine, taken, r);
}

static void decide(struct world *w)
{
    uint8_t value[64] = {1};
    if (engine_follows(w->engine))
        engine_decision_take(w->engine, DECIDE_OTHER, value, sizeof value);
    else
        engine_decision_give(w->engine, DECIDE_OTHER, value, script_next(&w->script) % 64);
}

static void act(struct world *w)
{
    unsigned what = script_next(&w->script);
    int replica = 1 + (int)(what >> 4) % (PROCESSES - 1); /* this one is 0 */
    switch (what % 16) {
    case 0:
        send(w);
        break;
    case 1:
        receive(w);
        break;
    case 2:
        probe(w);
        break;
    case 3:
        decide(w);
        break;
    case 4:
        engine_dead(w->engine, replica);
        break;
    case 5:
        if (w->cookie_count > 0)
            engine_wrote(w->engine, w->cookies[--w->cookie_count]);
        break;
    case 6:
        w->now_ms += script_next(&w->script) * 16;
        break;
    case 7:
        if (w->received > 0)
            engine_cancel(w->engine, &w->receives[script_next(&w->script) % w->received]);
        break;
    case 8:
        if (w->received > 0)
            engine_await(w->engine, &w->receives[script_next(&w->script) % w->received]);
        break;
    case 9:
        engine_deliver_withheld(w->engine, w->now_ms, 8, (what & 128) != 0);
        break;
    case 10:
        if (w->sent > 0)
            engine_await_send(w->engine, &w->sends[script_next(&w->script) % w->sent]);
        break;
    default:
        arrive(w, replica);
    }
    engine_progress(w->engine, ++w->now_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;
    static const struct engine_callbacks callbacks = {.send = on_send,
                                                      .lost = on_lost,
                                                      .expose = on_lend,
                                                      .revoke = on_take_back,
                                                      .remote_read = on_borrow,
                                                      .sent = on_sent,
                                                      .received = on_received,
                                                      .stop = on_stop};
    const int members[RANKS] = {0, 1};
    memset(&w, 0, sizeof w);
    w.script = (struct script){data, size};
    struct engine_limits limits = engine_default_limits;
    const unsigned how = script_next(&w.script);
    limits.eager = BYTES / 3;
    limits.fragment = 256;
    limits.log = 4 * BYTES;
    limits.cycle.window = 4;
    limits.verify = (how & 1) != 0;
    w.engine = engine_create(RANKS, LANES, 0, 0, NULL, &limits, &callbacks, &w);
    w.comm = engine_comm_add(w.engine, members, RANKS, NULL, 0, false);
    while (w.script.left > 0 && !w.stopped)
        act(&w);
    while (w.cookie_count > 0)
        engine_wrote(w.engine, w.cookies[--w.cookie_count]);
    engine_destroy(w.engine);
    return 0;
}
