/* SPDX-License-Identifier: BSD-3-Clause */
/* swarm.c -- peers that say anything in any order about what they have fetched, and givers that
 * send anything: nothing is promised twice or to nobody, and the books are right at the end. */
#include "overlay/core/files/fetch.h"
#include "overlay/core/files/swarm.h"
#include "script.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEERS = 5, OBJECTS = 11 };

static struct part_peer peer_of(unsigned n)
{
    return (struct part_peer){.id = {{(uint8_t)(1 + n % (PEERS + 2))}}};
}

/* To no peer more than it was to get at a time, and nothing from itself. */
static void take_all(struct swarm *s)
{
    struct swarm_gift gift;
    for (unsigned n = 0; swarm_next(s, &gift); n++)
        if (n > PEERS * SWARM_COMING || gift.object >= OBJECTS ||
            id_equal(&gift.to.id, &gift.from.id))
            abort();
}

static void tell_swarm(struct swarm *s, struct script *in)
{
    const struct part_peer who = peer_of(script_next(in)), giver = peer_of(script_next(in));
    const size_t object = script_next(in) % (OBJECTS + 1);
    uint8_t have[2];
    switch (script_next(in) % 6) {
    case 0:
        have[0] = (uint8_t)script_next(in);
        have[1] = (uint8_t)script_next(in);
        swarm_join(s, &who, have, 1 + script_next(in) % 3);
        break;
    case 1:
        swarm_got(s, &who.id, object);
        break;
    case 2:
        swarm_failed(s, &who.id, object, &giver.id, script_next(in) & 1);
        break;
    case 3:
        swarm_rests(s, &who.id);
        break;
    case 4:
        swarm_leaves(s, &who.id);
        break;
    case 5:
        take_all(s);
    }
}

static void tell_fetch(struct fetch *f, struct script *in, uint64_t *now)
{
    const struct part_peer giver = peer_of(script_next(in));
    const uint32_t object = script_next(in) % OBJECTS, size = 300;
    struct fetch_out out = {.count = 0};
    int place;
    switch (script_next(in) % 5) {
    case 0:
        fetch_get(f, object, &giver, script_next(in) & 1, *now, &out);
        break;
    case 1:
        place = fetch_data(f, &giver.id, object, script_next(in) % (size + 1), script_next(in) * 2,
                           size, *now);
        if (place >= FETCH_COMING || (place >= 0 && f->coming[place].bytes > size))
            abort();
        if (place >= 0 && fetch_is_whole(f, place))
            fetch_done(f, place, script_next(in) & 1, &out);
        break;
    case 2:
        fetch_refused(f, &giver.id, object, &out);
        break;
    case 3:
        fetch_gone(f, &giver.id, &out);
        break;
    case 4:
        *now += script_next(in) * 100u;
        fetch_tick(f, *now, &out);
    }
    if (out.count > sizeof out.action / sizeof out.action[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script in = {data, size};
    struct swarm *s = swarm_init(malloc(swarm_size(OBJECTS, PEERS)), OBJECTS, PEERS);
    struct fetch f;
    struct fetch_out out;
    uint64_t now = 0;
    fetch_init(&f, now, &out);
    while (in.left > 0)
        if (script_next(&in) & 1)
            tell_swarm(s, &in);
        else
            tell_fetch(&f, &in, &now);
    take_all(s);
    free(s);
    return 0;
}
