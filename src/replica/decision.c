/* SPDX-License-Identifier: BSD-3-Clause */
/* decision.c -- the leader decides and tells; the others follow; what depends on a decision leaves
 * a replica when all living replicas of its rank hold it, or with it (witness.c).
 *
 * When the leader dies, each other replica passes what it holds to the next one, which leads when
 * it has heard from all of them, and from all witnesses: it then holds every decision that anybody
 * may have acted on. */
#include "state.h"
#include "src/survive/commit.h"
#include <errno.h>
#include <string.h>

enum { MATCH_BYTES = 36, PLACE_BYTES = 8 };
enum { BATCHES = 16, BATCHES_OF_TIMES = 4 }; /* so many of them before messages have to wait */

static uint64_t least_by_lane(const struct engine *e, const uint64_t *by_lane)
{
    uint64_t least = UINT64_MAX;
    FOR_LANES (k, other_lanes(e))
        if (by_lane[k] < least)
            least = by_lane[k];
    return least;
}

/* A run of "not yet"s counts before it is a record. */
void decision_publish(struct engine *e)
{
    if (e->commit != NULL)
        commit_note(e->commit, witness_decided(e), witness_shown(e));
}

void engine_publish(struct engine *e, struct commit *commit)
{
    e->commit = commit;
    decision_publish(e);
}

static void decision_commit(struct engine *e)
{
    e->committed = least_by_lane(e, e->holds);
    decide_forget(&e->decide, e->committed);
    decision_publish(e);
    witness_own_held(e);
    have_say_deferred(e);
}

static bool link_survives(const struct engine *e, int lane)
{
    return e->call.survives && e->call.survives(e->ctx, replica_of(e, e->rank, lane));
}

/* What this replica has told over a link that survives it is held: no acknowledgement of it is
 * needed. */
static void decision_commit_by_links(struct engine *e)
{
    if (!e->leads || e->committed >= e->decide.told)
        return;
    FOR_LANES (k, other_lanes(e))
        if (e->holds[k] < e->decide.told && link_survives(e, k))
            e->holds[k] = e->decide.told;
    decision_commit(e);
}

/* Of more than two replicas each waits for the acknowledgements of the others. */
static void decision_put(struct engine *e, int lane, const uint8_t *bytes, size_t length,
                         uint64_t first)
{
    struct header h = {.kind = HEADER_DECIDE, .length = (uint32_t)length, .number = first};
    if (e->leads && other_lanes(e) == lane_bit(lane) && link_survives(e, lane))
        h.flags = HEADER_SURVIVES;
    if (length > 0)
        link_put(e, replica_of(e, e->rank, lane), &h, bytes, NULL);
}

static void decision_put_number(struct engine *e, uint8_t kind, uint8_t flags, int lane,
                                uint64_t extent)
{
    struct header h = {.kind = kind, .flags = flags, .number = e->decide.known, .extent = extent};
    link_put(e, replica_of(e, e->rank, lane), &h, NULL, NULL);
}

static void decision_put_known(struct engine *e, uint8_t flags, int lane)
{
    decision_put_number(e, HEADER_DECIDED, flags, lane, decide_used(&e->decide));
}

void decision_tell(struct engine *e)
{
    const uint8_t *bytes;
    uint64_t first;
    decide_close_run(&e->decide);
    if (e->decide.told != e->decide.known) {
        size_t length = decide_tell(&e->decide, &bytes, &first);
        e->told_ms = e->now_ms;
        FOR_LANES (k, other_lanes(e))
            decision_put(e, k, bytes, length, first);
    }
    decision_commit_by_links(e);
}

bool decision_has_untold(const struct engine *e)
{
    return e->decide.run > 0 || e->decide.told != e->decide.known;
}

static size_t decision_untold_bytes(const struct engine *e)
{
    const struct decide *d = &e->decide;
    return d->retained.tail - d->retained.head - d->told_at;
}

/* One batch at a time is on its way, and one in a tick of the clock; more is collected until then,
 * or until it is much. Whoever follows ends as much later, and nothing waits for it before; except
 * where lanes do each other's work, or go in step, as a large send is done when all lanes have it.
 */
static bool decision_may_tell(const struct engine *e)
{
    const struct decide *d = &e->decide;
    return decide_is_worth_telling(d, e->now_ms, e->rests) &&
           (decision_untold_bytes(e) > e->limits.witness / BATCHES ||
            (least_by_lane(e, e->acked) >= d->told &&
             (e->crossed || !TAILQ_EMPTY(&e->waiting) || e->now_ms != e->told_ms)));
}

/* Over a link that survives this process all is held as soon as it is told. */
static bool decision_is_held_when_told(const struct engine *e)
{
    FOR_LANES (k, other_lanes(e))
        if (!link_survives(e, k))
            return false;
    return true;
}

bool decision_tell_and_block(struct engine *e)
{
    decide_close_run(&e->decide);
    if (decision_may_tell(e) || decision_is_held_when_told(e))
        decision_tell(e);
    return decision_blocks(e, e->decide.known);
}

int decision_progress(struct engine *e)
{
    leader_try(e);
    decision_commit_by_links(e);
    if (e->look.asking)
        look_answer(e);
    if (!decision_may_tell(e))
        return 0;
    decision_tell(e);
    return 1;
}

void engine_rests(struct engine *e, bool rests)
{
    e->rests = rests;
}

bool engine_waits_for_others(const struct engine *e)
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
    witness_settle(e);
    return e->committed >= e->decide.known && witness_settled(e);
}

bool decision_settled(const struct engine *e)
{
    return e->decide.run == 0 && e->committed >= e->decide.known;
}

void engine_decision_give(struct engine *e, enum engine_decision kind, const void *value,
                          size_t length)
{
    if (!other_lanes(e))
        return;
    e->counts.decisions++;
    if (length == 0) {
        decide_not_yet(&e->decide, kind, e->now_ms);
        decision_publish(e);
        e->polls_since_ms = e->polls_since_ms ? e->polls_since_ms : e->now_ms;
        return;
    }
    e->polls_since_ms = 0;
    decide_add(&e->decide, kind, value, (uint32_t)length);
    decision_publish(e);
    /* A program that asks for the time is computing, and so are its other replicas: each frame
     * would interrupt them. */
    if (kind == DECIDE_TIME ? decision_untold_bytes(e) > e->limits.witness / BATCHES_OF_TIMES
                            : decision_may_tell(e))
        decision_tell(e);
}

void decision_match(struct engine *e, const struct engine_receive *r, int source, int tag,
                    uint64_t number)
{
    uint8_t value[MATCH_BYTES + PLACE_BYTES];
    bytes_put_u64(value, r->comm->name.group);
    bytes_put_u32(value + 8, r->comm->name.count);
    bytes_put_u64(value + 12, r->wildcard);
    bytes_put_u32(value + 20, (uint32_t)source);
    bytes_put_u32(value + 24, (uint32_t)tag);
    bytes_put_u64(value + 28, number);
    bytes_put_u64(value + MATCH_BYTES, e->place);
    engine_decision_give(e, DECIDE_MATCH, value, r->comm->by_place ? sizeof value : MATCH_BYTES);
}

/* All decisions that were due are used up: from here on this replica decides alone. */
static void leader_promoted(struct engine *e)
{
    e->waits_for_leader = false;
    if (!engine_follows(e))
        receive_all_pairs(e);
}

/* So often that a leader which waits for this program hears of it before that has nothing left. */
static void decision_say_used(struct engine *e)
{
    enum { PARTS = 4 };
    if (decide_used(&e->decide) - e->used_told >= e->limits.lead / PARTS)
        decision_say_known(e, 0);
}

int decision_due(struct engine *e, enum engine_decision kind, void *value, size_t max, bool peek)
{
    uint8_t found = 0;
    int rc = decide_take(&e->decide, kind, value, max, peek, &found);
    if (rc == -EPROTO)
        engine_stop(e, 1,
                    DIVERGED "rank %d asks for a decision of kind %d in lane %d, its leader made "
                             "one of kind %d" DIVERGED_MEND,
                    e->rank, kind, e->lane, found);
    if (rc == -EMSGSIZE)
        engine_stop(e, 1,
                    DIVERGED "rank %d gets a longer outcome than lane %d has asked "
                             "for" DIVERGED_MEND,
                    e->rank, e->lane);
    if (rc == -EAGAIN && decide_is_look(kind) && look_is_missed(e))
        rc = -ENOENT;
    if (rc != -EAGAIN)
        look_ends(e);
    e->counts.missed += rc == -ENOENT;
    e->waits_for_leader = rc == -EAGAIN;
    if (!peek)
        decision_say_used(e);
    if (e->leads && (rc == -EAGAIN || !peek)) /* nothing may be due any more */
        leader_promoted(e);
    return rc >= 0 || rc == -ENOENT ? rc : -EAGAIN;
}

int engine_decision_take(struct engine *e, enum engine_decision kind, void *value, size_t max)
{
    return decision_due(e, kind, value, max, false);
}

void engine_asks_other(struct engine *e)
{
    engine_stop(e, 1,
                DIVERGED "rank %d asks for other messages in lane %d than in lane %d" DIVERGED_MEND,
                e->rank, e->lane, e->leader);
}

static int decision_bind(struct engine *e, const struct decide_record *r)
{
    const uint8_t *p = r->value;
    const bool placed = r->size == MATCH_BYTES + PLACE_BYTES;
    if (r->size != MATCH_BYTES && !placed)
        return -EPROTO;
    int source = (int)bytes_get_u32(p + 20), tag = (int)bytes_get_u32(p + 24);
    struct engine_comm *c = comm_find(e, bytes_get_u64(p), bytes_get_u32(p + 8));
    if (source < 0 || source >= e->ranks)
        return -EPROTO;
    if (!c || c->freed)
        return 0;
    match_bind(&c->match, bytes_get_u64(p + 12), source, tag, bytes_get_u64(p + 28),
               placed ? bytes_get_u64(p + MATCH_BYTES) : 0);
    receive_pairs(e, c);
    return 0;
}

/* Takes what is new in the payload. *end: the number after its last one. */
static int decision_learn(struct engine *e, const struct header *h, const uint8_t *payload,
                          uint64_t *end)
{
    struct decide_record r;
    uint64_t number = h->number;
    if (number > e->decide.known)
        return -EPROTO;
    for (size_t at = 0, n; at < h->length; at += n, number++) {
        n = decide_read(&r, payload + at, h->length - at);
        if (n == 0 || (r.kind == DECIDE_PROBE && !probe_is_sound(e, &r)))
            return -EPROTO;
        if (number == e->decide.known)
            decide_learn(&e->decide, &r);
    }
    *end = number;
    return 0;
}

/* Acts on the choices (DECIDE_MATCH) from this number on. */
static int decision_bind_all(struct engine *e, const struct header *h, const uint8_t *payload,
                             uint64_t from)
{
    struct decide_record r;
    uint64_t number = h->number;
    for (size_t at = 0; at < h->length; number++) {
        at += decide_read(&r, payload + at, h->length - at);
        if (number >= from && r.kind == DECIDE_MATCH && decision_bind(e, &r) != 0)
            return -EPROTO;
    }
    return 0;
}

static void decision_lane_holds(struct engine *e, int lane, uint64_t number)
{
    if (e->acked[lane] < number)
        e->acked[lane] = number;
    if (e->holds[lane] < number)
        e->holds[lane] = number;
    decision_commit(e);
}

void decision_say_known(struct engine *e, uint8_t flags)
{
    e->used_told = decide_used(&e->decide);
    FOR_LANES (k, other_lanes(e))
        decision_put_known(e, flags, k);
}

bool engine_is_ahead(const struct engine *e)
{
    if (e->leads && !e->stopped)
        FOR_LANES (k, other_lanes(e))
            if (e->decide.bytes > e->used[k] && e->decide.bytes - e->used[k] > e->limits.lead)
                return true;
    return false;
}

bool decision_relayed(struct engine *e, uint64_t number, const uint8_t *record, size_t length)
{
    struct decide_record r;
    if (number < e->decide.known)
        return true;
    if (number > e->decide.known || e->leads || decide_read(&r, record, length) != length ||
        (r.kind == DECIDE_PROBE && !probe_is_sound(e, &r)))
        return false;
    decide_learn(&e->decide, &r);
    return r.kind != DECIDE_MATCH || decision_bind(e, &r) == 0;
}

void decision_arrived(struct engine *e, int replica, const struct header *h, const uint8_t *payload)
{
    uint64_t end, before = e->decide.known;
    int rc = decision_learn(e, h, payload, &end);
    if (rc == 0) {
        decision_lane_holds(e, lane_of(e, replica), end);
        decision_say_known(e, h->flags & HEADER_SURVIVES);
        rc = decision_bind_all(e, h, payload, before);
        witness_learn_ahead(e);
    }
    if (rc != 0)
        death_declare(e, replica, "its decisions make no sense");
}

void decision_acked(struct engine *e, int replica, uint64_t number)
{
    if (number <= e->acked[lane_of(e, replica)])
        return;
    const bool untold = e->leads && number > e->decide.told;
    decision_lane_holds(e, lane_of(e, replica), number);
    if (untold) /* others have told it, and it has to know that the leader holds that, too */
        decision_put_known(e, 0, lane_of(e, replica));
    if (e->leads && decision_may_tell(e))
        decision_tell(e);
}

void decision_known(struct engine *e, int replica, const struct header *h)
{
    uint64_t *used = &e->used[lane_of(e, replica)];
    *used = *used < h->extent ? h->extent : *used;
    decision_acked(e, replica, h->number);
}

void decision_pass(struct engine *e, int lane)
{
    const uint8_t *bytes;
    const size_t length = decide_from(&e->decide, e->holds[lane], &bytes);
    decision_put(e, lane, bytes, length, e->holds[lane]);
}

/* All have agreed: each is sent what it lacks. */
static void leader_hand_over(struct engine *e)
{
    e->handed_over = e->decide.known;
    FOR_LANES (k, other_lanes(e))
        decision_pass(e, k);
}

static void leader_begin(struct engine *e)
{
    e->leads = true;
    leader_promoted(e);
}

/* Does the program, or that of a follower, wait for a decision that the leader has to make?
 * Receives from any source do. */
bool decision_is_awaited(const struct engine *e)
{
    const struct engine_comm *c;
    if (e->leads)
        return false;
    LIST_FOREACH (c, &e->comms, all)
        if (c->match.unbound > 0)
            return true;
    return e->waits_for_leader || e->look.following;
}

/* What was learned from witnesses was never answered: the next leader hears here how much is used.
 */
static void leader_agree(struct engine *e)
{
    const int to = e->leader;
    decision_pass(e, to);
    decision_put_known(e, 0, to);
    decision_put_number(e, HEADER_AGREE, 0, to, (uint64_t)replica_of(e, e->rank, to));
}

void leader_try(struct engine *e)
{
    if (e->leader != e->lane || e->leads || (other_lanes(e) & ~e->agreed))
        return;
    if (e->handed_over < e->decide.known)
        leader_hand_over(e);
    if (witness_recalled(e))
        leader_begin(e);
}

/* A replica of this rank is gone. What waited for its acknowledgement alone may leave now. Was it a
 * follower, that is all: the leader stays, and with it every receive that is not decided yet. */
void decision_lanes_changed(struct engine *e)
{
    int leader = lowest_lane(e->by_rank[e->rank].living);
    decision_commit(e);
    if (leader != e->leader) {
        e->leader = leader;
        look_forget_leader(e);
        if (leader != e->lane)
            leader_agree(e);
    }
    leader_try(e);
}

void decision_agreed(struct engine *e, int replica, const struct header *h)
{
    if (h->extent != (uint64_t)e->self)
        return;
    e->agreed |= lane_bit(lane_of(e, replica));
    decision_acked(e, replica, h->number);
    leader_try(e);
}
