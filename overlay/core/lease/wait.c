/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c -- one job that waits for slots. */
#include "wait.h"
#include "phrase.h"
#include <assert.h>
#include <string.h>

/* --- the order --- */

uint32_t wait_weight(unsigned in_use, uint64_t waited_ms)
{
    const uint64_t halvings = waited_ms / WAIT_AGE_MS;
    return halvings < 32 ? in_use >> halvings : 0;
}

bool wait_lets_pass(uint64_t front_ms)
{
    uint64_t hold = WAIT_HOLD_MS;
    while (front_ms >= hold + hold / 2) {
        front_ms -= hold + hold / 2;
        hold *= 2;
    }
    return front_ms >= hold;
}

static bool wants_too_much(const struct wait *w)
{
    return w->told.there > 0 && w->told.there < w->setup.slots;
}

struct part_waiter wait_waiter(const struct wait *w, uint64_t now_ms)
{
    const uint64_t waited = now_ms - w->begun_ms;
    return (struct part_waiter){.wait = w->setup.id,
                                .slots = w->setup.slots,
                                .weight = wait_weight(w->in_use, waited),
                                .since = w->setup.since,
                                .yields = wait_lets_pass(w->front_ms) || wants_too_much(w)};
}

/* --- what it says --- */

static struct wait_action *wait_do(struct wait *w, enum wait_action_kind kind)
{
    assert(w->out->count < WAIT_ACTIONS);
    struct wait_action *a = &w->out->action[w->out->count++];
    *a = (struct wait_action){.kind = kind};
    return a;
}

static void tell_peers(struct wait *w, enum wait_action_kind kind)
{
    for (size_t i = 0; i < w->peer_count && !w->setup.within; i++)
        wait_do(w, kind)->peer = w->peers[i].peer;
}

static void enter_all(struct wait *w, uint64_t now)
{
    tell_peers(w, WAIT_ENTER);
    w->round_ms = now + WAIT_ROUND_MS;
}

static void search(struct wait *w)
{
    w->phase = WAIT_SEARCHING;
    w->fits_anew = true;
    wait_do(w, WAIT_SEARCH);
}

static void finish(struct wait *w)
{
    if (w->phase != WAIT_ENDED)
        tell_peers(w, WAIT_LEAVE);
    w->phase = WAIT_ENDED;
}

/* --- what it knows --- */

static bool is_fresh(const struct wait_peer *p, uint64_t now)
{
    return p->heard_ms != 0 && now < p->heard_ms + WAIT_FRESH_MS;
}

static unsigned bounded(const struct wait *w, unsigned slots)
{
    return w->setup.per_peer != 0 && w->setup.per_peer < slots ? w->setup.per_peer : slots;
}

/* Free slots that it could have now, without those that are kept for others. */
static uint64_t count_open(const struct wait *w, uint64_t now)
{
    uint64_t open = 0;
    for (size_t i = 0; i < w->peer_count; i++) {
        const struct wait_peer *p = &w->peers[i];
        if (is_fresh(p, now) && p->free > p->kept)
            open += bounded(w, (unsigned)(p->free - p->kept));
    }
    return open;
}

static void forget_others(struct wait *w, uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->other_count; i++)
        if (now < w->others[i].heard_ms + WAIT_FRESH_MS)
            w->others[kept++] = w->others[i];
    w->other_count = kept;
}

static bool is_same(const struct wait_told *a, const struct wait_told *b)
{
    return a->place == b->place && a->free == b->free && a->there == b->there &&
           a->yields == b->yields;
}

static void count_front(struct wait *w, uint64_t now)
{
    bool in_front = true;
    for (size_t i = 0; i < w->other_count; i++)
        in_front = in_front && w->others[i].yields;
    if (in_front && w->looked)
        w->front_ms += now - w->looked_ms;
    w->looked_ms = now;
}

static void look_around(struct wait *w, uint64_t now)
{
    count_front(w, now);
    struct wait_told told = {.place = (unsigned)w->other_count + 1, .wanted = w->setup.slots};
    uint64_t free = 0, there = 0;
    bool all_heard = w->peer_count > 0;
    for (size_t i = 0; i < w->peer_count; i++) {
        const struct wait_peer *p = &w->peers[i];
        all_heard = all_heard && p->heard_ms != 0;
        there += bounded(w, p->slots);
        free += is_fresh(p, now) ? bounded(w, p->free) : 0;
    }
    told.free = free < told.wanted ? (unsigned)free : told.wanted;
    told.there = !all_heard ? w->told.there : there < UINT32_MAX ? (unsigned)there : UINT32_MAX;
    told.yields = wait_waiter(w, now).yields;
    const bool changed = !w->looked || !is_same(&told, &w->told);
    w->told = told;
    w->looked = w->looked || all_heard;
    if (changed && w->looked)
        wait_do(w, WAIT_TELL);
}

/* --- what happens --- */

/* The peers that do not fit any more forget it by themselves. */
static void on_fits(struct wait *w, const struct part_peer *peer, unsigned slots)
{
    if (w->fits_anew) {
        w->fits_anew = false;
        w->peer_count = 0;
        w->named = 0;
    }
    if (w->peer_count == WAIT_PEERS_MAX ||
        (w->peer_count >= WAIT_PEERS_LEAST && w->named >= 4 * (uint64_t)w->setup.slots))
        return;
    w->peers[w->peer_count++] = (struct wait_peer){.peer = *peer};
    w->named += bounded(w, slots);
}

static void on_short(struct wait *w, uint64_t now)
{
    const bool was_enough = count_open(w, now) >= w->setup.slots;
    uint64_t again = WAIT_AGAIN_MS;
    w->vain = was_enough ? w->vain + 1 : 0;
    for (unsigned i = 0; i < w->vain && again < WAIT_AGAIN_MOST_MS; i++)
        again *= 2;
    w->phase = WAIT_QUEUED;
    w->fits_anew = false;
    w->again_ms = now + again;
    w->look_ms = now + (w->setup.within ? WAIT_ROUND_MS : WAIT_LOOK_MS);
    enter_all(w, now);
}

static bool is_its_turn(const struct wait *w, uint64_t now)
{
    return w->phase == WAIT_QUEUED && !w->setup.within && now >= w->again_ms &&
           count_open(w, now) >= w->setup.slots;
}

static void on_before(struct wait *w, const struct part_before *before, uint64_t now)
{
    for (size_t i = 0; i < w->other_count; i++)
        if (id_equal(&w->others[i].wait, &before->wait)) {
            w->others[i].heard_ms = now;
            w->others[i].yields = before->yields != 0;
            return;
        }
    if (w->other_count < WAIT_BEFORE_MAX)
        w->others[w->other_count++] = (struct wait_other){before->wait, now, before->yields != 0};
}

static void on_place(struct wait *w, const struct wait_event *event, uint64_t now)
{
    const struct msg_lease_place *said = event->place;
    for (size_t i = 0; i < w->peer_count; i++) {
        struct wait_peer *p = &w->peers[i];
        if (!id_equal(&p->peer.id, &event->peer.id))
            continue;
        p->heard_ms = now;
        p->slots = said->slots;
        p->free = said->free;
        p->kept = said->kept;
        p->others = said->others;
        for (size_t k = 0; k < said->before_count; k++)
            on_before(w, &said->before[k], now);
    }
    if (!w->looked)
        look_around(w, now); /* the first line comes as soon as all have answered */
    if (is_its_turn(w, now))
        search(w);
}

static void count_in_use(struct wait *w, unsigned own)
{
    uint64_t all = own;
    for (size_t i = 0; i < w->peer_count; i++)
        all += w->peers[i].others;
    w->in_use = all < UINT32_MAX ? (unsigned)all : UINT32_MAX;
}

static void on_tick(struct wait *w, const struct wait_event *event, uint64_t now)
{
    if (now >= w->give_up_ms) {
        wait_do(w, WAIT_GIVE_UP);
        finish(w);
        return;
    }
    count_in_use(w, event->in_use);
    forget_others(w, now);
    if (now >= w->round_ms) {
        look_around(w, now); /* what was answered since the last round */
        enter_all(w, now);
    }
    if (is_its_turn(w, now) || (w->phase == WAIT_QUEUED && now >= w->look_ms))
        search(w);
}

static void take(struct wait *w, const struct wait_event *event, uint64_t now)
{
    switch (event->kind) {
    case WAIT_BEGIN:
        count_in_use(w, event->in_use);
        search(w);
        break;
    case WAIT_TICK:
        on_tick(w, event, now);
        break;
    case WAIT_FITS:
        on_fits(w, &event->peer, event->slots);
        break;
    case WAIT_SHORT:
        on_short(w, now);
        break;
    case WAIT_PLACE:
        on_place(w, event, now);
        break;
    case WAIT_GRANTED:
    case WAIT_CANCEL:
        finish(w);
        break;
    }
}

void wait_init(struct wait *w, const struct wait_setup *setup, uint64_t now_ms)
{
    *w = (struct wait){.setup = *setup,
                       .begun_ms = now_ms,
                       .give_up_ms = now_ms + setup->for_ms,
                       .round_ms = now_ms + WAIT_ROUND_MS,
                       .told = {.place = 1, .wanted = setup->slots}};
}

void wait_step(struct wait *w, const struct wait_event *event, uint64_t now_ms,
               struct wait_out *out)
{
    out->count = 0;
    w->out = out;
    if (w->phase != WAIT_ENDED)
        take(w, event, now_ms);
    w->out = NULL;
}

uint64_t wait_deadline(const struct wait *w)
{
    uint64_t due = w->round_ms < w->give_up_ms ? w->round_ms : w->give_up_ms;
    if (w->phase == WAIT_ENDED)
        return UINT64_MAX;
    if (w->phase == WAIT_QUEUED && w->look_ms < due)
        due = w->look_ms;
    return due;
}

void wait_text(const struct wait_told *told, char *out, size_t size)
{
    struct phrase p;
    const unsigned before = told->place - 1;
    phrase_begin(&p, out, size);
    phrase_add_number(&p, told->free);
    phrase_add(&p, " of ");
    phrase_add_number(&p, told->wanted);
    phrase_add(&p, " slots free");
    if (told->there > 0 && told->there < told->wanted) {
        phrase_add(&p, "; the desktops that fit have ");
        phrase_add_number(&p, told->there);
        phrase_add(&p, " in all");
    }
    phrase_add(&p, "; ");
    if (before == 0)
        phrase_add(&p, "this job is next");
    else {
        phrase_add_number(&p, before);
        phrase_add(&p, before == 1 ? " job is before this one" : " jobs are before this one");
    }
    if (told->yields && told->there >= told->wanted)
        phrase_add(&p, "; others may pass it for a while");
}
