/* SPDX-License-Identifier: BSD-3-Clause */
/* look.c -- programs that look at a clock, or at their machine, more often in one lane than in
 * another.
 *
 * Lanes may differ in that (decide.c): a program that waits for a file, say, looks as often as it
 * happens to. A follower waits for what its leader sees; if that looks no more, and in turn waits
 * for this lane, as for a large send, both would wait for ever. So the follower tells its leader at
 * which place its program is (place.c), and the leader answers when its own has left that place:
 * what it has seen there is known here then, and the look is the follower's own. The other way
 * round a leader that is far ahead waits until its followers have used what it has seen
 * (engine_is_ahead()); one whose program has left the place of all that has used it.
 *
 * A process that waits for programs of other lanes has left the places where these are: within one
 * place a program begins nothing that another lane could wait for. What a collective begins later,
 * by itself, is counted when its process makes progress. So a process asks after some
 * milliseconds in which it did, at each place anew, and believes an answer there alone. */
#include "state.h"

enum { PATIENCE_MS = 5 };

/* Not the first time that it is asked: the place may not be counted yet. */
bool look_is_missed(struct engine *e)
{
    const bool polled = e->look.since_ms > 0;
    if (!polled)
        e->look.since_ms = e->now_ms;
    return polled && e->place < e->look.asked && e->place < e->look.past;
}

void look_ends(struct engine *e)
{
    e->look.since_ms = 0;
}

static void look_ask(struct engine *e, int lane)
{
    struct header h = {.kind = HEADER_LOOKS, .number = e->leads, .extent = e->place};
    link_put(e, replica_of(e, e->rank, lane), &h, NULL, NULL);
}

/* Once at each place: the answer comes when the leader leaves it, however often it looks before. */
static void look_ask_leader(struct engine *e)
{
    if (e->leader == e->lane || e->place < e->look.asked)
        return; /* it leads soon; or has asked */
    e->look.asked = e->place + 1;
    look_ask(e, e->leader);
}

/* Again after each answer, if it goes on looking there. */
static void look_ask_followers(struct engine *e)
{
    FOR_LANES (k, other_lanes(e))
        if (e->look.bytes[k] <= e->used[k]) {
            e->look.bytes[k] = e->decide.bytes;
            look_ask(e, k);
        }
}

void look_ask_due(struct engine *e)
{
    if (e->leads && !engine_is_ahead(e)) {
        look_ends(e);
    } else if (e->look.since_ms == 0) {
        e->look.since_ms = e->leads ? e->now_ms : 0;
    } else if (e->now_ms - e->look.since_ms >= PATIENCE_MS) {
        if (e->leads)
            look_ask_followers(e);
        else
            look_ask_leader(e);
    }
}

static void look_answer_lane(struct engine *e, int lane)
{
    struct header h = {.kind = HEADER_PAST, .extent = e->place};
    e->look.asking &= (lanes_t)~lane_bit(lane);
    e->look.following &= (lanes_t)~lane_bit(lane);
    if (e->leads)
        decision_tell(e);
    link_put(e, replica_of(e, e->rank, lane), &h, NULL, NULL);
}

void look_answer(struct engine *e)
{
    FOR_LANES (k, e->leads ? e->look.asking : e->look.asking & ~e->look.following)
        if (e->place > e->look.at[k])
            look_answer_lane(e, k);
}

/* Of a follower: perhaps before this process leads. */
void look_asked(struct engine *e, int lane, const struct header *h)
{
    e->look.at[lane] = h->extent;
    e->look.asking |= lane_bit(lane);
    if (h->number == 0)
        e->look.following |= lane_bit(lane);
    look_answer(e);
}

void look_told(struct engine *e, int lane, uint64_t place)
{
    if (e->leads && e->used[lane] < e->look.bytes[lane])
        e->used[lane] = e->look.bytes[lane];
    else if (lane == e->leader && e->look.past < place)
        e->look.past = place;
}

/* The next one may be behind the last. */
void look_forget_leader(struct engine *e)
{
    e->look.asked = e->look.past = e->look.since_ms = 0;
}
