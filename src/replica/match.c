/* SPDX-License-Identifier: BSD-3-Clause */
/* match.c -- pairs messages and receives by the rules of MPI, and by the leader's choices. */
#include "match.h"
#include "memory.h"
#include <assert.h>
#include <stdlib.h>

struct match_choice {
    struct match_choice *next;
    uint64_t wildcard, number, place;
    int source, tag;
};

void match_init(struct match *m, int worlds, int self)
{
    *m = (struct match){.worlds = worlds, .self = self, .until = UINT64_MAX, .place = UINT64_MAX};
    TAILQ_INIT(&m->any);
    TAILQ_INIT(&m->arrivals);
    m->choices_end = &m->choices;
    m->source = memory_zeroed((size_t)worlds * sizeof *m->source);
}

static void match_choices_free(struct match_choice **first)
{
    while (*first) {
        struct match_choice *c = *first;
        *first = c->next;
        free(c);
    }
}

/* One that was used is used again: a follower that is behind gets one for each message. */
static struct match_choice *match_choice_new(struct match *m)
{
    struct match_choice *c = m->spare;
    if (!c)
        return memory_zeroed(sizeof *c);
    m->spare = c->next;
    return c;
}

static void match_choice_used(struct match *m, struct match_choice *c)
{
    c->next = m->spare;
    m->spare = c;
}

void match_clear(struct match *m)
{
    struct engine_message *message;
    while ((message = TAILQ_FIRST(&m->arrivals))) {
        match_take(m, message);
        free(message);
    }
    for (int i = 0; m->source && i < m->worlds; i++)
        free(m->source[i]);
    free(m->source);
    m->source = NULL;
    match_choices_free(&m->choices);
    match_choices_free(&m->spare);
    m->choices_end = &m->choices;
}

static struct match_source *match_source_make(struct match *m, int world)
{
    struct match_source *s = memory_zeroed(sizeof *s);
    TAILQ_INIT(&s->posted);
    TAILQ_INIT(&s->unexpected);
    return m->source[world] = s;
}

static inline struct match_source *match_source_of(struct match *m, int world)
{
    assert(world >= 0 && world < m->worlds);
    struct match_source *s = m->source[world];
    return s ? s : match_source_make(m, world);
}

static inline bool tag_accepts(int wanted, int tag)
{
    return wanted == tag || (wanted == ENGINE_ANY_TAG && tag >= 0);
}

static inline bool receive_is_wild(const struct engine_receive *r)
{
    return r->source == ENGINE_ANY_SOURCE;
}

static struct engine_receive *match_first_any(struct match *m, int source, int tag, uint64_t number)
{
    struct engine_receive *r;
    TAILQ_FOREACH (r, &m->any, posted)
        if (r->bound ? r->number == number && r->bound_source == source && r->bound_tag == tag
                     : tag_accepts(r->tag, tag))
            return r;
    return NULL;
}

static inline struct engine_receive *match_first_certain(struct match *m, int source, int tag)
{
    struct engine_receive *r;
    TAILQ_FOREACH (r, &match_source_of(m, source)->posted, posted)
        if (tag_accepts(r->tag, tag))
            break;
    return r;
}

/* The receive that was posted first among those that accept the message. */
static struct engine_receive *match_first_receive(struct match *m, int source, int tag,
                                                  uint64_t number)
{
    struct engine_receive *any = match_first_any(m, source, tag, number);
    struct engine_receive *r = match_first_certain(m, source, tag);
    if (!r || !any)
        return r ? r : any;
    return any->order < r->order ? any : r;
}

static inline void match_unpost_certain(struct match *m, struct engine_receive *r)
{
    TAILQ_REMOVE(&match_source_of(m, r->source)->posted, r, posted);
    m->certain--;
}

static void match_unpost(struct match *m, struct engine_receive *r)
{
    if (!receive_is_wild(r)) {
        match_unpost_certain(m, r);
        return;
    }
    TAILQ_REMOVE(&m->any, r, posted);
    if (!r->bound)
        m->unbound--;
}

/* An earlier message that r accepts waits for a choice: r has to wait too. */
static bool match_is_behind(struct match *m, const struct engine_receive *r, int source,
                            uint64_t order)
{
    struct engine_message *i;
    TAILQ_FOREACH (i, &match_source_of(m, source)->unexpected, queued) {
        if (i->order == order)
            return false;
        if (tag_accepts(r->tag, i->tag))
            return true;
    }
    return false;
}

/* A request of the program to its own agent is never from its future. */
static bool match_may_choose(const struct match *m, int source, uint64_t order)
{
    return order < m->until || source == m->self;
}

/* May r take the message that came as order-th? A bound receive was chosen for just this one. */
static bool match_may_take(struct match *m, const struct engine_receive *r, int source,
                           uint64_t order, bool leads, bool *decided)
{
    *decided = false;
    if (receive_is_wild(r) && r->bound)
        return r->place <= m->place;
    if (receive_is_wild(r))
        return *decided = leads && match_may_choose(m, source, order);
    return leads || m->unbound == 0 || !match_is_behind(m, r, source, order);
}

/* Where no receive is posted from any source there is nothing to choose. */
static struct engine_receive *match_certain_for(struct match *m, int source, int tag)
{
    struct engine_receive *r = match_first_certain(m, source, tag);
    if (r)
        match_unpost_certain(m, r);
    return r;
}

static struct engine_receive *match_choose_for(struct match *m, int source, int tag,
                                               uint64_t number, bool leads, bool *decided)
{
    struct engine_receive *r = match_first_receive(m, source, tag, number);
    if (!r)
        return NULL;
    if (!match_may_take(m, r, source, m->arrived, leads, decided)) {
        m->held_back |= match_first_certain(m, source, tag) != NULL;
        return NULL;
    }
    match_unpost(m, r);
    return r;
}

struct engine_receive *match_receive_for(struct match *m, int source, int tag, uint64_t number,
                                         bool leads, bool *decided)
{
    *decided = false;
    struct engine_receive *r = TAILQ_EMPTY(&m->any)
                                   ? match_certain_for(m, source, tag)
                                   : match_choose_for(m, source, tag, number, leads, decided);
    if (r)
        r->number = number;
    return r;
}

void match_queue(struct match *m, struct engine_message *message)
{
    message->unexpected = message->was_unexpected = true;
    message->order = m->arrived++;
    TAILQ_INSERT_TAIL(&match_source_of(m, message->source)->unexpected, message, queued);
    TAILQ_INSERT_TAIL(&m->arrivals, message, arrival);
}

/* It is older than all that came while a receive had it, except what came before it on its channel.
 */
void match_requeue(struct match *m, struct engine_message *message)
{
    struct match_source *s = match_source_of(m, message->source);
    struct engine_message *i, *before = NULL, *after = NULL;
    TAILQ_FOREACH (i, &s->unexpected, queued)
        if (i->channel == message->channel && i->number < message->number)
            before = i;
        else if (i->channel == message->channel && !after)
            after = i;
    message->unexpected = message->was_unexpected = true;
    message->order = m->arrived++;
    m->held_back = true;
    if (after)
        TAILQ_INSERT_BEFORE(after, message, queued);
    else
        TAILQ_INSERT_TAIL(&s->unexpected, message, queued);
    if (before)
        TAILQ_INSERT_AFTER(&m->arrivals, before, message, arrival);
    else
        TAILQ_INSERT_HEAD(&m->arrivals, message, arrival);
}

void match_take(struct match *m, struct engine_message *message)
{
    assert(message->unexpected);
    message->unexpected = false;
    TAILQ_REMOVE(&match_source_of(m, message->source)->unexpected, message, queued);
    TAILQ_REMOVE(&m->arrivals, message, arrival);
}

/* An unbound receive that was posted earlier might take it. */
static bool match_is_reserved(struct match *m, const struct engine_message *message)
{
    struct engine_receive *r;
    if (m->unbound == 0)
        return false;
    TAILQ_FOREACH (r, &m->any, posted)
        if (!r->bound && tag_accepts(r->tag, message->tag))
            return true;
    return false;
}

struct engine_message *match_find(struct match *m, int source, int tag, bool leads)
{
    struct engine_message *message;
    if (source == ENGINE_ANY_SOURCE) {
        TAILQ_FOREACH (message, &m->arrivals, arrival)
            if (tag_accepts(tag, message->tag))
                break;
    } else {
        TAILQ_FOREACH (message, &match_source_of(m, source)->unexpected, queued)
            if (tag_accepts(tag, message->tag))
                break;
    }
    return message && (leads || !match_is_reserved(m, message)) ? message : NULL;
}

struct engine_message *match_exact(struct match *m, int source, int tag, uint64_t number)
{
    struct engine_message *message;
    TAILQ_FOREACH (message, &match_source_of(m, source)->unexpected, queued)
        if (message->number == number && message->tag == tag)
            return message;
    return NULL;
}

static bool match_apply_choice(struct match *m, struct engine_receive *r)
{
    struct match_choice **at = &m->choices, *c;
    while (*at && (*at)->wildcard != r->wildcard)
        at = &(*at)->next;
    if (!(c = *at))
        return false;
    *at = c->next;
    if (m->choices_end == &c->next)
        m->choices_end = at;
    r->bound = true;
    r->bound_source = c->source;
    r->bound_tag = c->tag;
    r->number = c->number;
    r->place = c->place;
    match_choice_used(m, c);
    return true;
}

/* The first that a leader may choose. */
static struct engine_message *match_find_any(struct match *m, int tag)
{
    struct engine_message *message;
    TAILQ_FOREACH (message, &m->arrivals, arrival)
        if (tag_accepts(tag, message->tag) && match_may_choose(m, message->source, message->order))
            break;
    return message;
}

static struct engine_message *match_certain_message_for(struct match *m,
                                                        const struct engine_receive *r, bool leads)
{
    struct engine_message *message = match_find(m, r->source, r->tag, true);
    if (!message || leads || !match_is_reserved(m, message))
        return message;
    m->held_back = true;
    return NULL;
}

static struct engine_message *match_message_for(struct match *m, struct engine_receive *r,
                                                bool leads, bool *decided)
{
    if (!receive_is_wild(r))
        return match_certain_message_for(m, r, leads);
    if (match_apply_choice(m, r))
        return r->place <= m->place ? match_exact(m, r->bound_source, r->bound_tag, r->number)
                                    : NULL;
    if (!leads)
        return NULL;
    struct engine_message *message = match_find_any(m, r->tag);
    *decided = message != NULL;
    return message;
}

struct engine_message *match_post(struct match *m, struct engine_receive *r, bool leads,
                                  bool *decided)
{
    *decided = false;
    r->bound = false;
    r->order = m->order++;
    if (receive_is_wild(r))
        r->wildcard = m->wildcards++;
    struct engine_message *message = match_message_for(m, r, leads, decided);
    if (message) {
        match_take(m, message);
        r->number = message->number;
    } else if (receive_is_wild(r)) {
        TAILQ_INSERT_TAIL(&m->any, r, posted);
        m->unbound += !r->bound;
    } else {
        TAILQ_INSERT_TAIL(&match_source_of(m, r->source)->posted, r, posted);
        m->certain++;
    }
    return message;
}

/* A replica has served a later request at this place, and so all before it by then. */
static void match_lower_places(struct match *m, uint64_t place)
{
    struct engine_receive *r;
    struct match_choice *c;
    TAILQ_FOREACH (r, &m->any, posted)
        if (r->bound && r->place > place)
            r->place = place;
    for (c = m->choices; c; c = c->next)
        if (c->place > place)
            c->place = place;
}

void match_bind(struct match *m, uint64_t wildcard, int source, int tag, uint64_t number,
                uint64_t place)
{
    struct engine_receive *r;
    if (place < m->latest)
        match_lower_places(m, place);
    m->latest = place;
    TAILQ_FOREACH (r, &m->any, posted)
        if (r->wildcard == wildcard)
            break;
    if (!r) {
        struct match_choice *c = match_choice_new(m);
        *c = (struct match_choice){NULL, wildcard, number, place, source, tag};
        *m->choices_end = c;
        m->choices_end = &c->next;
        return;
    }
    m->unbound -= !r->bound;
    r->bound = true;
    r->bound_source = source;
    r->bound_tag = tag;
    r->number = number;
    r->place = place;
}

static void match_pair_off(struct match *m, struct engine_receive *r,
                           struct engine_message *message)
{
    match_unpost(m, r);
    match_take(m, message);
    r->number = message->number;
}

static bool match_pair_bound(struct match *m, struct engine_receive **r,
                             struct engine_message **message)
{
    TAILQ_FOREACH (*r, &m->any, posted)
        if ((*r)->bound && (*r)->place <= m->place &&
            (*message = match_exact(m, (*r)->bound_source, (*r)->bound_tag, (*r)->number))) {
            match_pair_off(m, *r, *message);
            return true;
        }
    return false;
}

static bool match_pair_first(struct match *m, bool leads, struct engine_receive **r,
                             struct engine_message **message, bool *decided)
{
    bool held_back = false;
    TAILQ_FOREACH (*message, &m->arrivals, arrival) {
        const struct engine_message *i = *message;
        *r = match_first_receive(m, i->source, i->tag, i->number);
        if (!*r)
            continue;
        if (match_may_take(m, *r, i->source, i->order, leads, decided)) {
            match_pair_off(m, *r, *message);
            return true;
        }
        held_back |= match_first_certain(m, i->source, i->tag) != NULL;
    }
    m->held_back = held_back;
    return false;
}

/* A follower need not look at all that has come for each choice of its leader: messages and
 * receives from a certain source have found each other when the later of the two came, except where
 * they were held back. */
bool match_pair(struct match *m, bool leads, struct engine_receive **r,
                struct engine_message **message, bool *decided)
{
    *decided = false;
    if (!leads && match_pair_bound(m, r, message))
        return true;
    return (leads || (m->held_back && m->certain > 0)) &&
           match_pair_first(m, leads, r, message, decided);
}

void match_withdraw(struct match *m, struct engine_receive *r)
{
    match_unpost(m, r);
}

void match_shut(struct match *m, uint64_t until, uint64_t place)
{
    m->until = until;
    m->place = place;
}

bool match_is_shut_out(const struct match *m)
{
    const struct engine_message *i;
    TAILQ_FOREACH (i, &m->arrivals, arrival)
        if (!match_may_choose(m, i->source, i->order))
            return true;
    return false;
}

bool match_is_due(const struct match *m, uint64_t place)
{
    const struct engine_receive *r;
    TAILQ_FOREACH (r, &m->any, posted)
        if (r->bound && r->place <= place)
            return true;
    return m->choices != NULL && m->choices->place <= place; /* no later one has a lower place */
}
