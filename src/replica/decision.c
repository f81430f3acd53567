/* SPDX-License-Identifier: BSD-3-Clause */
/* decision.c -- the leader decides and tells; the others follow; nothing that depends on a decision
 * leaves a replica before all living replicas of its rank hold it.
 *
 * When the leader dies, each other replica passes what it holds to the next one, which leads when
 * it has heard all of them: it then holds every decision that anybody may have acted on. */
#include "state.h"
#include "src/survive/commit.h"
#include <errno.h>
#include <string.h>

enum { MATCH_BYTES = 36, PLACE_BYTES = 8, TELL_BYTES = 4096 };

static lanes_t others(const struct engine *e)
{
    return e->of[e->rank].living & (lanes_t)~only(e->lane);
}

static uint64_t least_of(const struct engine *e, const uint64_t *by_lane)
{
    uint64_t least = UINT64_MAX;
    FOR_LANES (k, others(e))
        if (by_lane[k] < least)
            least = by_lane[k];
    return least;
}

/* A run counts before it is a record. */
static void note(const struct engine *e)
{
    if (e->commit != NULL)
        commit_note(e->commit, e->decide.known + (e->decide.run > 0), e->committed);
}

void engine_publish(struct engine *e, struct commit *commit)
{
    e->commit = commit;
    note(e);
}

static void commit(struct engine *e)
{
    e->committed = least_of(e, e->holds);
    decide_forget(&e->decide, e->committed);
    note(e);
    receive_say_kept(e);
}

static bool link_keeps(const struct engine *e, int lane)
{
    return e->call.keeps && e->call.keeps(e->ctx, vpid_of(e, e->rank, lane));
}

/* What this replica has told over a link that keeps it is held: no word of it is waited for. */
static void look_who_keeps(struct engine *e)
{
    if (!e->leads || e->committed >= e->decide.told)
        return;
    FOR_LANES (k, others(e))
        if (e->holds[k] < e->decide.told && link_keeps(e, k))
            e->holds[k] = e->decide.told;
    commit(e);
}

/* Of more than two replicas each waits for the words of the others. */
static void put_decisions(struct engine *e, int lane, const uint8_t *bytes, size_t length,
                          uint64_t first)
{
    struct header h = {.kind = HEADER_DECIDE, .length = (uint32_t)length, .number = first};
    if (e->leads && others(e) == only(lane) && link_keeps(e, lane))
        h.flags = HEADER_KEPT;
    if (length > 0)
        engine_put(e, vpid_of(e, e->rank, lane), &h, bytes, NULL);
}

static void put_number(struct engine *e, uint8_t kind, uint8_t flags, int lane, uint64_t extent)
{
    struct header h = {.kind = kind, .flags = flags, .number = e->decide.known, .extent = extent};
    engine_put(e, vpid_of(e, e->rank, lane), &h, NULL, NULL);
}

void decision_tell(struct engine *e)
{
    const uint8_t *bytes;
    uint64_t first;
    decide_close_run(&e->decide);
    if (e->decide.told != e->decide.known) {
        size_t length = decide_tell(&e->decide, &bytes, &first);
        FOR_LANES (k, others(e))
            put_decisions(e, k, bytes, length, first);
    }
    look_who_keeps(e);
}

bool decision_holds(const struct engine *e, uint64_t depends)
{
    return depends > e->committed;
}

bool decision_holds_all(struct engine *e)
{
    if (e->decide.run > 0 || decision_holds(e, e->decide.known))
        decision_tell(e);
    return decision_holds(e, e->decide.known);
}

bool decision_has_untold(const struct engine *e)
{
    return e->decide.run > 0 || e->decide.told != e->decide.known;
}

static bool is_much(const struct decide *d)
{
    return d->kept.tail - d->kept.head - d->told_at > TELL_BYTES;
}

/* One batch at a time is on its way; more is collected until it is acknowledged, or needed. */
static bool may_tell(const struct engine *e)
{
    const struct decide *d = &e->decide;
    return decide_is_worth_telling(d, e->now_ms, e->rests) &&
           (least_of(e, e->said) >= d->told || is_much(d));
}

int decision_progress(struct engine *e)
{
    look_who_keeps(e);
    if (!may_tell(e))
        return 0;
    decision_tell(e);
    return 1;
}

void engine_rests(struct engine *e, bool rests)
{
    e->rests = rests;
}

bool engine_waits_for_word(const struct engine *e)
{
    return e->waits_for_leader || !TAILQ_EMPTY(&e->pending);
}

bool engine_follows(const struct engine *e)
{
    return !e->leads || e->decide.due.head != e->decide.due.tail;
}

bool engine_committed(struct engine *e)
{
    decision_tell(e);
    return e->committed >= e->decide.known;
}

bool decision_settled(const struct engine *e)
{
    return e->decide.run == 0 && e->committed >= e->decide.known;
}

void engine_decision_give(struct engine *e, enum engine_decision kind, const void *value,
                          size_t length)
{
    if (!others(e))
        return;
    e->counts.decisions++;
    if (length == 0) {
        decide_not_yet(&e->decide, kind, e->now_ms);
        note(e);
        e->polls_since_ms = e->polls_since_ms ? e->polls_since_ms : e->now_ms;
        return;
    }
    e->polls_since_ms = 0;
    decide_add(&e->decide, kind, value, (uint32_t)length);
    note(e);
    /* Who asks for the time computes, and so do the others: each word would interrupt them. */
    if (kind == DECIDE_TIME ? is_much(&e->decide) : may_tell(e))
        decision_tell(e);
}

void decision_match(struct engine *e, const struct engine_receive *r, int source, int tag,
                    uint64_t number)
{
    uint8_t value[MATCH_BYTES + PLACE_BYTES];
    header_put_u64(value, r->comm->name.group);
    header_put_u32(value + 8, r->comm->name.count);
    header_put_u64(value + 12, r->wildcard);
    header_put_u32(value + 20, (uint32_t)source);
    header_put_u32(value + 24, (uint32_t)tag);
    header_put_u64(value + 28, number);
    header_put_u64(value + MATCH_BYTES, e->place);
    engine_decision_give(e, DECIDE_MATCH, value, r->comm->by_place ? sizeof value : MATCH_BYTES);
}

/* The due ones are used up: from here on this replica decides alone. */
static void promoted(struct engine *e)
{
    e->waits_for_leader = false;
    if (!engine_follows(e))
        receive_all_pairs(e);
}

int decision_due(struct engine *e, enum engine_decision kind, void *value, size_t max, bool peek)
{
    uint8_t found = 0;
    int rc = decide_take(&e->decide, kind, value, max, peek, &found);
    if (rc == -EPROTO)
        engine_stop(e, 1,
                    "lanes have diverged: rank %d asks for a decision of kind %d in lane %d, its "
                    "leader made one of kind %d; the program depends on something that differs "
                    "between hosts, so no result is given",
                    e->rank, kind, e->lane, found);
    if (rc == -EMSGSIZE)
        engine_stop(e, 1,
                    "lanes have diverged: rank %d gets a longer outcome than lane %d has asked for",
                    e->rank, e->lane);
    e->waits_for_leader = rc == -EAGAIN;
    if (rc >= 0 && !peek && e->leads)
        promoted(e);
    return rc >= 0 ? rc : -EAGAIN;
}

int engine_decision_take(struct engine *e, enum engine_decision kind, void *value, size_t max)
{
    return decision_due(e, kind, value, max, false);
}

static int bind(struct engine *e, const struct decide_record *r)
{
    const uint8_t *p = r->value;
    const bool placed = r->size == MATCH_BYTES + PLACE_BYTES;
    if (r->size != MATCH_BYTES && !placed)
        return -EPROTO;
    int source = (int)header_get_u32(p + 20), tag = (int)header_get_u32(p + 24);
    struct engine_comm *c = comm_find(e, header_get_u64(p), header_get_u32(p + 8));
    if (source < 0 || source >= e->ranks)
        return -EPROTO;
    if (!c || c->freed)
        return 0;
    int rc = match_bind(&c->match, header_get_u64(p + 12), source, tag, header_get_u64(p + 28),
                        placed ? header_get_u64(p + MATCH_BYTES) : 0);
    receive_pairs(e, c);
    return rc;
}

/* Keeps what is new in the payload. *end: the number after its last one. */
static int learn(struct engine *e, const struct header *h, const uint8_t *payload, uint64_t *end)
{
    struct decide_record r;
    uint64_t number = h->number;
    if (number > e->decide.known)
        return -EPROTO;
    for (size_t at = 0, n; at < h->length; at += n, number++) {
        n = decide_read(&r, payload + at, h->length - at);
        if (n == 0)
            return -EPROTO;
        if (number == e->decide.known)
            decide_learn(&e->decide, &r);
    }
    *end = number;
    return 0;
}

/* Acts on the choices from this number on. */
static int bind_all(struct engine *e, const struct header *h, const uint8_t *payload, uint64_t from)
{
    struct decide_record r;
    uint64_t number = h->number;
    for (size_t at = 0; at < h->length; number++) {
        at += decide_read(&r, payload + at, h->length - at);
        if (number >= from && r.kind == DECIDE_MATCH && bind(e, &r) != 0)
            return -EPROTO;
    }
    return 0;
}

static void says(struct engine *e, int lane, uint64_t number)
{
    if (e->said[lane] < number)
        e->said[lane] = number;
    if (e->holds[lane] < number)
        e->holds[lane] = number;
    commit(e);
}

void decision_arrived(struct engine *e, int vpid, const struct header *h, const uint8_t *payload)
{
    uint64_t end, before = e->decide.known;
    int rc = learn(e, h, payload, &end);
    if (rc == 0) {
        says(e, lane_of(e, vpid), end);
        FOR_LANES (k, others(e))
            put_number(e, HEADER_DECIDED, h->flags & HEADER_KEPT, k, 0);
        rc = bind_all(e, h, payload, before);
    }
    if (rc != 0)
        engine_declare(e, vpid, "its decisions make no sense");
}

void decision_held(struct engine *e, int vpid, uint64_t number)
{
    if (number <= e->said[lane_of(e, vpid)])
        return;
    says(e, lane_of(e, vpid), number);
    if (e->leads && may_tell(e))
        decision_tell(e);
}

/* All have agreed: what one of them lacks it is sent. */
static void lead(struct engine *e)
{
    const uint8_t *bytes;
    FOR_LANES (k, others(e)) {
        size_t length = decide_from(&e->decide, e->holds[k], &bytes);
        put_decisions(e, k, bytes, length, e->holds[k]);
    }
    e->leads = true;
    promoted(e);
}

static void agree(struct engine *e)
{
    const uint8_t *bytes;
    int to = e->leader;
    size_t length = decide_from(&e->decide, e->holds[to], &bytes);
    put_decisions(e, to, bytes, length, e->holds[to]);
    put_number(e, HEADER_AGREE, 0, to, (uint64_t)vpid_of(e, e->rank, to));
}

static void try_to_lead(struct engine *e)
{
    if (e->leader == e->lane && !e->leads && !(others(e) & ~e->agreed))
        lead(e);
}

void decision_lanes_changed(struct engine *e)
{
    int leader = lowest(e->of[e->rank].living);
    commit(e);
    if (leader != e->leader) {
        e->leader = leader;
        if (leader != e->lane)
            agree(e);
    }
    try_to_lead(e);
}

void decision_agreed(struct engine *e, int vpid, const struct header *h)
{
    if (h->extent != (uint64_t)e->self)
        return;
    e->agreed |= only(lane_of(e, vpid));
    decision_held(e, vpid, h->number);
    try_to_lead(e);
}
