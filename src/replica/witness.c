/* SPDX-License-Identifier: BSD-3-Clause */
/* witness.c -- decisions that some replica of their rank may lack go along with what depends on
 * them, so that nothing waits for that replica's word.
 *
 * Each process lists such decisions of its own rank and of others, as it comes to know of them.
 * Before a frame goes on a link, that of the list goes which the link was not sent yet. So a
 * process that depends on a decision, by whatever chain of messages, is its witness. When a leader
 * has died, the next one asks all processes, which have by then all handled the deaths that it
 * knows of: what nobody who lives has been told, nobody depends on (doc/replication.md, section 6).
 *
 * Causal message logging, as in Elnozahy and Zwaenepoel, "Manetho", IEEE Transactions on Computers
 * 41(5), 1992, with the logs kept by all. */
#include "state.h"
#include <stdlib.h>
#include <string.h>

enum { OWNER_BYTES = 12, FRAME_BYTES = 4096, SETTLE_MS = 10 };

/* | rank 4 | number 8 | record (decide.h) | */
struct witnessed {
    uint32_t rank;
    uint64_t number;
    struct decide_record record;
};

/* Its length, or 0 if it makes no sense. */
static size_t witnessed_read(const struct engine *e, struct witnessed *w, const uint8_t *bytes,
                             size_t length)
{
    if (length < OWNER_BYTES)
        return 0;
    w->rank = bytes_get_u32(bytes);
    w->number = bytes_get_u64(bytes + 4);
    const size_t n = decide_read(&w->record, bytes + OWNER_BYTES, length - OWNER_BYTES);
    return n > 0 && w->rank < (uint32_t)e->ranks ? OWNER_BYTES + n : 0;
}

static const uint8_t *list_head(const struct engine *e)
{
    return e->witness.list.base + e->witness.list.head;
}

static size_t list_length(const struct engine *e)
{
    return e->witness.list.tail - e->witness.list.head;
}

static void list_add(struct engine *e, int rank, uint64_t number, const uint8_t *record,
                     size_t length)
{
    uint8_t *p = fifo_extend(&e->witness.list, OWNER_BYTES + length);
    bytes_put_u32(p, (uint32_t)rank);
    bytes_put_u64(p + 4, number);
    memcpy(p + OWNER_BYTES, record, length);
    e->witness.added += OWNER_BYTES + length;
}

/* Every living replica of this rank holds those below, as far as this process can say. */
static uint64_t own_held(const struct engine *e)
{
    return e->committed < e->decide.known ? e->committed : e->decide.known;
}

static uint64_t rank_held(const struct engine *e, uint32_t rank)
{
    return rank == (uint32_t)e->rank ? own_held(e) : e->by_rank[rank].held;
}

/* --- output --- */

uint64_t witness_decided(const struct engine *e)
{
    return e->decide.known + (e->decide.run > 0) + e->witness.foreign;
}

bool witness_settled(const struct engine *e)
{
    return list_length(e) == 0;
}

/* As long as only this rank's decisions count they are counted one by one. After that a mark is set
 * at what is known, and when all before it is held, another one. */
uint64_t witness_shown(struct engine *e)
{
    struct witness *w = &e->witness;
    if (w->foreign == 0)
        return e->committed;
    if (e->committed < w->mark.own || w->added - list_length(e) < w->mark.added)
        return w->shown;
    w->shown = w->mark.decided;
    w->mark.decided = witness_decided(e);
    w->mark.own = e->decide.known + (e->decide.run > 0);
    w->mark.added = w->added;
    if (decision_settled(e) && witness_settled(e))
        w->shown = w->mark.decided;
    return w->shown;
}

/* --- what is held --- */

static void witness_trim(struct engine *e)
{
    struct witness *w = &e->witness;
    struct witnessed i;
    while (w->list.head < w->list.tail) {
        const size_t n = witnessed_read(e, &i, list_head(e), list_length(e));
        if (i.number >= rank_held(e, i.rank))
            break;
        w->list.head += n;
    }
}

void witness_held(struct engine *e, int rank, uint64_t number)
{
    if (rank != e->rank && e->by_rank[rank].held < number)
        e->by_rank[rank].held = number;
    if (list_length(e) == 0)
        return;
    witness_trim(e);
    decision_publish(e);
}

/* --- passing on --- */

static void list_own(struct engine *e)
{
    struct decide_record r;
    const uint8_t *bytes;
    uint64_t number;
    decide_close_run(&e->decide);
    const size_t length = decide_since(&e->decide, &e->witness.own, &bytes, &number);
    for (size_t at = 0, n; at < length; at += n, number++) {
        n = decide_read(&r, bytes + at, length - at);
        if (number >= own_held(e))
            list_add(e, e->rank, number, bytes + at, n);
    }
}

static void put_records(struct engine *e, int to, const uint8_t *bytes, size_t length)
{
    const struct header h = {
        .kind = HEADER_WITNESS, .length = (uint32_t)length, .extent = own_held(e)};
    link_write(e, to, &h, bytes, NULL);
}

/* The replicas of this rank are told its decisions by other frames. */
static bool is_passed(const struct engine *e, int to, const struct witnessed *i)
{
    return i->number >= rank_held(e, i->rank) &&
           (i->rank != (uint32_t)e->rank || world_of(e, to) != e->rank);
}

/* In frames of a bounded size, or of one record; without what is held by now. */
static void put_list(struct engine *e, int to, const uint8_t *bytes, size_t length)
{
    struct witnessed i;
    uint8_t frame[FRAME_BYTES];
    size_t filled = 0;
    for (size_t at = 0, n; at < length; at += n) {
        n = witnessed_read(e, &i, bytes + at, length - at);
        if (!is_passed(e, to, &i))
            continue;
        if (filled > 0 && filled + n > sizeof frame) {
            put_records(e, to, frame, filled);
            filled = 0;
        }
        if (n > sizeof frame) {
            put_records(e, to, bytes + at, n);
        } else {
            memcpy(frame + filled, bytes + at, n);
            filled += n;
        }
    }
    if (filled > 0)
        put_records(e, to, frame, filled);
}

void witness_pass(struct engine *e, int to, bool program)
{
    struct witness *w = &e->witness;
    if (program && e->decide.known + e->decide.run > e->committed)
        list_own(e);
    uint64_t unsent = w->added - e->link[to].passed;
    if (unsent > list_length(e))
        unsent = list_length(e);
    e->link[to].passed = w->added;
    if (unsent > 0)
        put_list(e, to, w->list.base + w->list.tail - unsent, unsent);
}

/* --- hearing --- */

static void learn_foreign(struct engine *e, const struct witnessed *i, const uint8_t *record,
                          size_t length)
{
    struct witness *w = &e->witness;
    struct rank *r = &e->by_rank[i->rank];
    if (i->number < r->known || i->number < r->held)
        return;
    r->known = i->number + 1;
    if (w->foreign == 0)
        w->shown = w->mark.decided =
            e->committed < witness_decided(e) ? e->committed : witness_decided(e);
    w->foreign++;
    list_add(e, (int)i->rank, i->number, record, length);
}

/* A replica that is slow to read its leader's link hears of many, most of them in their order. */
static bool ahead_add(struct engine *e, uint64_t number, const uint8_t *record, size_t length)
{
    struct ahead *a, *before;
    TAILQ_FOREACH_REVERSE (before, &e->witness.ahead, aheads, by_number)
        if (before->number <= number)
            break;
    if (before && before->number == number)
        return false;
    a = memory_record(sizeof *a, length);
    a->number = number;
    a->length = length;
    memcpy(a->record, record, length);
    if (before)
        TAILQ_INSERT_AFTER(&e->witness.ahead, before, a, by_number);
    else
        TAILQ_INSERT_HEAD(&e->witness.ahead, a, by_number);
    return true;
}

/* Of this rank: what lacks here before it is in a link that survives its writer, and was left out
 * therefore. It waits until that is read. */
static bool learn_own(struct engine *e, const struct witnessed *i, const uint8_t *record,
                      size_t length)
{
    if (i->number <= e->decide.known)
        return decision_relayed(e, i->number, record, length);
    if (e->leads)
        return false;
    if (ahead_add(e, i->number, record, length))
        list_add(e, e->rank, i->number, record, length);
    return true;
}

static bool learn(struct engine *e, const struct witnessed *i, const uint8_t *record, size_t length)
{
    if (i->rank == (uint32_t)e->rank)
        return learn_own(e, i, record, length);
    learn_foreign(e, i, record, length);
    return true;
}

/* Its leader tells it as well, and has its answer then: a word now is for one that may have died.
 */
static void say_learned(struct engine *e, uint64_t before)
{
    if (e->decide.known != before && e->crossed)
        decision_say_known(e, 0);
}

void witness_learn_ahead(struct engine *e)
{
    const uint64_t before = e->decide.known;
    struct ahead *a;
    while ((a = TAILQ_FIRST(&e->witness.ahead)) && a->number <= e->decide.known &&
           decision_relayed(e, a->number, a->record, a->length)) {
        TAILQ_REMOVE(&e->witness.ahead, a, by_number);
        free(a);
    }
    say_learned(e, before);
}

void witness_clear(struct engine *e)
{
    struct ahead *a;
    while ((a = TAILQ_FIRST(&e->witness.ahead))) {
        TAILQ_REMOVE(&e->witness.ahead, a, by_number);
        free(a);
    }
    free(e->witness.list.base);
}

void witness_arrived(struct engine *e, int replica, const struct header *h, const uint8_t *payload)
{
    struct witnessed i;
    const uint64_t before = e->decide.known;
    bool sound = true;
    witness_held(e, world_of(e, replica), h->extent);
    for (size_t at = 0, n; sound && at < h->length; at += n) {
        n = witnessed_read(e, &i, payload + at, h->length - at);
        sound = n > 0 && learn(e, &i, payload + at + OWNER_BYTES, n - OWNER_BYTES);
    }
    say_learned(e, before);
    witness_learn_ahead(e);
    decision_publish(e);
    if (!sound)
        death_declare(e, replica, "its witness makes no sense");
}

/* --- asking whether all is held: before good-byes, for output, and lest the list grow --- */

static int nearest_replica(const struct engine *e, int rank)
{
    const lanes_t living = e->by_rank[rank].living;
    return replica_of(e, rank, lane_in(living, e->lane) ? e->lane : lowest_lane(living));
}

/* Are this rank's decisions below the number held? The answer says of all that are. */
static void settle_ask(struct engine *e, int rank, uint64_t number)
{
    struct rank *r = &e->by_rank[rank];
    const struct header h = {.kind = HEADER_SETTLE, .number = number};
    const int to = nearest_replica(e, rank);
    if (r->settling == to + 1)
        return;
    r->settling = to + 1;
    link_ask(e, to, &h, NULL);
}

/* Of another rank that is in the list which is known, and not known to be held. */
void witness_settle(struct engine *e)
{
    for (int i = 0; i < e->ranks && list_length(e) > 0; i++) {
        const struct rank *r = &e->by_rank[i];
        if (r->known > r->held)
            settle_ask(e, i, r->known);
    }
}

/* As long as messages come from a rank they say what is held: only what was listed before the last
 * time, and still is, is asked about. */
void witness_settle_due(struct engine *e)
{
    if (list_length(e) == 0 || e->now_ms - e->witness.settle_ms < SETTLE_MS)
        return;
    e->witness.settle_ms = e->now_ms;
    for (int i = 0; i < e->ranks; i++) {
        struct rank *r = &e->by_rank[i];
        if (r->aged > r->held)
            settle_ask(e, i, r->aged);
        r->aged = r->known;
    }
}

static void settle_answer(struct engine *e, int replica)
{
    const struct header h = {.kind = HEADER_SETTLED, .number = own_held(e)};
    e->link[replica].settle = 0;
    link_put(e, replica, &h, NULL, NULL);
}

void witness_settle_asked(struct engine *e, int replica, uint64_t number)
{
    if (own_held(e) >= number) {
        settle_answer(e, replica);
        return;
    }
    e->link[replica].settle = number;
    e->witness.asked = true;
    decision_tell(e);
}

/* More is held by all than before. */
void witness_own_held(struct engine *e)
{
    bool left = false;
    witness_held(e, e->rank, 0);
    for (int i = 0; e->witness.asked && i < e->ranks * e->lanes; i++) {
        if (e->link[i].settle == 0 || e->link[i].dead)
            continue;
        if (own_held(e) >= e->link[i].settle)
            settle_answer(e, i);
        else
            left = true;
    }
    e->witness.asked = left;
}

void witness_settle_told(struct engine *e, int replica, uint64_t number)
{
    struct rank *r = &e->by_rank[world_of(e, replica)];
    if (r->settling == replica + 1)
        r->settling = 0;
    witness_held(e, world_of(e, replica), number);
}

/* --- the next leader asks for what the dead one has decided --- */

static bool recall_asks(const struct engine *e, int replica)
{
    return replica != e->self &&
           lane_in(e->by_rank[world_of(e, replica)].living, lane_of(e, replica));
}

/* Word of the deaths that this process knows of goes before on each link. Of those that are not
 * there, and were never met, others know whether they have died. */
static void recall_ask(struct engine *e)
{
    struct header h = {.kind = HEADER_RECALL, .number = ++e->witness.recall};
    uint8_t *gone = memory_zeroed((size_t)(e->ranks * e->lanes) * 4);
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].left) {
            bytes_put_u32(gone + h.length, (uint32_t)i);
            h.length += 4;
        }
    e->witness.recalls = true;
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        struct link *link = &e->link[i];
        link->recalling = recall_asks(e, i);
        if (link->recalling)
            link_ask(e, i, &h, gone);
    }
    free(gone);
}

static bool recall_is_over(const struct engine *e)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].recalling && recall_asks(e, i))
            return false;
    return true;
}

/* Asks when the program needs a decision, and not before: many programs never do. */
bool witness_recalled(struct engine *e)
{
    struct witness *w = &e->witness;
    if (!w->to_recall)
        return true;
    if (!w->recalls && decision_is_awaited(e))
        recall_ask(e);
    if (!w->recalls || !recall_is_over(e))
        return false;
    w->to_recall = w->recalls = false;
    return true;
}

void witness_of_death(struct engine *e, int replica)
{
    struct witness *w = &e->witness;
    if (world_of(e, replica) == e->rank && !e->leads)
        w->to_recall = true;
    if (w->recalls) /* others may have taken frames of this one after they had answered */
        recall_ask(e);
}

void witness_of_leaving(struct engine *e, int replica)
{
    if (e->witness.recalls && e->link[replica].left)
        recall_ask(e);
}

static bool is_met_and_there(const struct link *link)
{
    return link->used && !link->dead && !link->finished;
}

/* Whoever asks could not reach it. If it answers here it lives. */
static void recall_look_for(struct engine *e, int replica)
{
    const struct header h = {.kind = HEADER_PING};
    struct link *link = &e->link[replica];
    link->gone = is_met_and_there(link);
    if (link->gone)
        link_put(e, replica, &h, NULL, NULL);
}

/* Frames of a dead process are taken until its death is acted on. */
static bool recall_is_final(const struct engine *e)
{
    if (e->deaths)
        return false;
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].gone && is_met_and_there(&e->link[i]))
            return false;
    return true;
}

/* What this process knows, and was not sent before, goes before the answer. Of its own rank others
 * may have told it more since it has agreed. */
static void recall_answer(struct engine *e, int replica)
{
    const struct header h = {.kind = HEADER_RECALLED, .number = e->link[replica].recall};
    e->link[replica].recall = 0;
    if (world_of(e, replica) == e->rank)
        decision_pass(e, lane_of(e, replica));
    link_put(e, replica, &h, NULL, NULL);
}

void witness_recall_answer(struct engine *e)
{
    if (!e->witness.to_answer || !recall_is_final(e))
        return;
    e->witness.to_answer = false;
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].recall > 0)
            recall_answer(e, i);
}

void witness_recall_asked(struct engine *e, int replica, const struct header *h,
                          const uint8_t *gone)
{
    for (size_t at = 0; at + 4 <= h->length; at += 4) {
        const uint32_t i = bytes_get_u32(gone + at);
        if (i < (uint32_t)(e->ranks * e->lanes))
            recall_look_for(e, (int)i);
    }
    e->link[replica].recall = h->number;
    e->witness.to_answer = true;
    witness_recall_answer(e);
}

void witness_recall_told(struct engine *e, int replica, uint64_t number)
{
    if (number == e->witness.recall)
        e->link[replica].recalling = false;
}

void witness_lost(struct engine *e, int replica)
{
    struct rank *r = &e->by_rank[world_of(e, replica)];
    e->link[replica].settle = e->link[replica].recall = 0;
    if (r->settling == replica + 1)
        r->settling = 0;
    if (r->living == 0)
        witness_held(e, world_of(e, replica), UINT64_MAX); /* nobody is left who could differ */
}
