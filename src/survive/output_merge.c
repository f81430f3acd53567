/* SPDX-License-Identifier: BSD-3-Clause */
/* output_merge.c -- follows one lane, keeps the others at hand, and sees when they do not say the
 * same. Rolling hash: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
#include "output_merge.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The hash of what was shown is noted every MARK_STEP bytes, for lanes that come after; of these
 * notes the last MARKS are kept. A lane further behind is compared again when it comes into their
 * reach. */
enum { MARK_STEP = 4096, MARKS = 1024 };
static const uint64_t HASH_START = 0xcbf29ce484222325u, HASH_PRIME = 0x100000001b3u;

/* The last words of a stream: byte n of it is at n % OUTPUT_MERGE_LAST_WORDS. */
struct words {
    char last[OUTPUT_MERGE_LAST_WORDS];
};

struct lane {
    bool heard, differs, told;
    uint64_t at;        /* bytes counted into the hash; never more than were shown */
    uint64_t hash;      /* of the first `at` bytes of this lane */
    struct words words; /* up to `at`; not kept up while it leads: then they are what is shown */
    uint64_t agreed;    /* up to here it was seen to be the same as what was shown */
    uint64_t differed;
    unsigned shown; /* the lane that it differs from */
    char *ahead; /* [begin, begin + kept): its bytes from `at` on; only when all before was shown */
    size_t begin, kept, capacity;
};

struct output_merge {
    unsigned lanes, leader; /* leader == lanes: nobody is heard any more */
    unsigned last;          /* the lane of which something was shown last */
    bool over;
    size_t keep_most;
    output_merge_show *show;
    void *context;
    uint64_t shown, hash; /* how much, and the hash of it */
    struct words words;
    uint64_t stuck_at; /* at the last look this was shown, and another lane had more */
    bool stuck;
    uint64_t mark[MARKS]; /* the hash at (i + k * MARKS) * MARK_STEP, for the last k */
    struct lane lane[];
};

struct output_merge *output_merge_new(unsigned lanes, size_t keep_most, output_merge_show *show,
                                      void *context)
{
    assert(lanes > 0);
    struct output_merge *m = calloc(1, sizeof *m + lanes * sizeof m->lane[0]);
    if (m == NULL)
        return NULL;
    m->lanes = lanes;
    m->keep_most = keep_most;
    m->show = show;
    m->context = context;
    m->hash = m->mark[0] = HASH_START;
    for (unsigned i = 0; i < lanes; i++)
        m->lane[i] = (struct lane){.heard = true, .hash = HASH_START};
    return m;
}

void output_merge_free(struct output_merge *m)
{
    if (m == NULL)
        return;
    for (unsigned i = 0; i < m->lanes; i++)
        free(m->lane[i].ahead);
    free(m);
}

unsigned output_merge_leader(const struct output_merge *m)
{
    return m->leader;
}

/* Reads up to the next mark only, so that a hash is known at every mark. Returns how many bytes it
 * took. */
static size_t lane_read_step(uint64_t *hash, struct words *w, uint64_t at, const char *bytes,
                             size_t count)
{
    size_t n = MARK_STEP - at % MARK_STEP;
    if (n > count)
        n = count;
    uint64_t h = *hash;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)bytes[i]) * HASH_PRIME;
    *hash = h;
    for (size_t i = n > OUTPUT_MERGE_LAST_WORDS ? n - OUTPUT_MERGE_LAST_WORDS : 0; i < n; i++)
        w->last[(at + i) % OUTPUT_MERGE_LAST_WORDS] = bytes[i];
    return n;
}

/* Is the hash of the first `at` shown bytes still known? */
static bool lane_known(const struct output_merge *m, uint64_t at, uint64_t *hash)
{
    if (at == m->shown) {
        *hash = m->hash;
        return true;
    }
    if (at > m->shown || at % MARK_STEP != 0 || m->shown - at > (uint64_t)(MARKS - 1) * MARK_STEP)
        return false;
    *hash = m->mark[at / MARK_STEP % MARKS];
    return true;
}

static void lane_compare(struct output_merge *m, struct lane *l)
{
    uint64_t hash;
    if (l->differs || !lane_known(m, l->at, &hash))
        return;
    if (hash == l->hash) {
        l->agreed = l->at;
        return;
    }
    l->differs = true;
    l->differed = l->at;
    l->shown = m->last;
}

/* Counts bytes that a lane wrote where something has been shown already. */
static void lane_follow(struct output_merge *m, struct lane *l, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t n = lane_read_step(&l->hash, &l->words, l->at, bytes, count);
        l->at += n;
        bytes += n;
        count -= n;
        lane_compare(m, l);
    }
}

/* After more was shown: the lanes that are ahead follow it with what they have kept. */
static void lane_catch_up(struct output_merge *m, struct lane *l)
{
    uint64_t n = m->shown - l->at;
    if (n > l->kept)
        n = l->kept;
    if (n == 0)
        return;
    lane_follow(m, l, l->ahead + l->begin, n);
    l->begin += n;
    l->kept -= n;
}

static void lane_show(struct output_merge *m, struct lane *leader, const char *bytes, size_t count)
{
    m->last = (unsigned)(leader - m->lane);
    m->show(m->context, bytes, count);
    while (count > 0) {
        size_t n = lane_read_step(&m->hash, &m->words, m->shown, bytes, count);
        leader->hash = leader->differs ? leader->hash : m->hash;
        m->shown += n;
        leader->at = m->shown;
        bytes += n;
        count -= n;
        if (m->shown % MARK_STEP == 0)
            m->mark[m->shown / MARK_STEP % MARKS] = m->hash;
        for (unsigned i = 0; i < m->lanes; i++)
            if (&m->lane[i] != leader)
                lane_catch_up(m, &m->lane[i]);
    }
    if (!leader->differs)
        leader->agreed = m->shown;
}

static void lane_lead(struct output_merge *m, unsigned lane)
{
    if (m->leader < m->lanes && m->lane[m->leader].at == m->shown)
        m->lane[m->leader].words = m->words;
    m->leader = lane;
    if (lane == m->lanes)
        return;
    struct lane *l = &m->lane[lane];
    if (l->kept == 0)
        return;
    char *bytes = l->ahead; /* out of the lane first: show() lets all lanes follow */
    size_t begin = l->begin, count = l->kept;
    l->ahead = NULL;
    l->begin = l->kept = l->capacity = 0;
    lane_show(m, l, bytes + begin, count);
    free(bytes);
}

static unsigned next_leader(const struct output_merge *m)
{
    unsigned lane = 0;
    while (lane < m->lanes && !m->lane[lane].heard)
        lane++;
    return lane;
}

static int lane_keep_ahead(struct lane *l, const char *bytes, size_t count)
{
    if (l->begin > 0 && l->begin + l->kept + count > l->capacity) {
        memmove(l->ahead, l->ahead + l->begin, l->kept);
        l->begin = 0;
    }
    if (l->kept + count >
        l->capacity / 2) { /* at least half of it free, or moving would cost too much */
        size_t capacity = 4 * (l->kept + count);
        char *ahead = realloc(l->ahead, capacity);
        if (ahead == NULL)
            return -ENOMEM;
        l->ahead = ahead;
        l->capacity = capacity;
    }
    memcpy(l->ahead + l->begin + l->kept, bytes, count);
    l->kept += count;
    return 0;
}

int output_merge_add(struct output_merge *m, unsigned lane, const void *bytes, size_t count)
{
    assert(lane < m->lanes);
    struct lane *l = &m->lane[lane];
    const char *p = bytes;
    if (m->over || !l->heard)
        return 0;
    if (l->at < m->shown) { /* behind what was shown, as a new leader can be too */
        size_t n = m->shown - l->at < count ? (size_t)(m->shown - l->at) : count;
        lane_follow(m, l, p, n);
        p += n;
        count -= n;
    }
    if (count == 0)
        return 0;
    if (lane == m->leader) {
        lane_show(m, l, p, count);
        return 0;
    }
    if (lane_keep_ahead(l, p, count) != 0) {
        l->heard = false;
        return -ENOMEM;
    }
    if (l->kept > m->keep_most)
        lane_lead(m, lane);
    return 0;
}

void output_merge_lose(struct output_merge *m, unsigned lane)
{
    assert(lane < m->lanes);
    if (m->over || !m->lane[lane].heard)
        return;
    m->lane[lane].heard = false;
    if (lane == m->leader)
        lane_lead(m, next_leader(m));
}

void output_merge_finish(struct output_merge *m, unsigned lane)
{
    assert(lane < m->lanes);
    struct lane *l = &m->lane[lane];
    if (m->over || !l->heard)
        return;
    if (l->at < m->shown &&
        !l->differs) { /* it ended before what was shown: that is a difference, too */
        l->differs = true;
        l->agreed = l->at;
        l->differed = l->at + 1;
        l->shown = m->last;
    }
    lane_lead(m, lane);
    m->over = true;
}

/* The lane that agrees with all that was shown and has most to add; `lanes`: none has any. */
static unsigned lane_furthest(const struct output_merge *m, bool also_lost)
{
    unsigned best = m->lanes;
    for (unsigned i = 0; i < m->lanes; i++) {
        const struct lane *l = &m->lane[i];
        if (l->kept > 0 && !l->differs && l->at == m->shown && (l->heard || also_lost) &&
            (best == m->lanes || l->kept > m->lane[best].kept))
            best = i;
    }
    return best;
}

void output_merge_check(struct output_merge *m)
{
    const unsigned lane = lane_furthest(m, false);
    if (m->over || lane == m->lanes) {
        m->stuck = false;
    } else if (m->stuck && m->stuck_at == m->shown) {
        m->stuck = false;
        lane_lead(m, lane);
    } else {
        m->stuck = true;
        m->stuck_at = m->shown;
    }
}

void output_merge_reveal(struct output_merge *m)
{
    const unsigned lane = lane_furthest(m, true);
    if (!m->over && lane != m->lanes)
        lane_lead(m, lane);
    m->over = true;
}

size_t output_merge_last_words(const struct output_merge *m, unsigned lane,
                               char words[OUTPUT_MERGE_LAST_WORDS])
{
    assert(lane < m->lanes);
    const struct lane *l = &m->lane[lane];
    uint64_t from = m->shown > OUTPUT_MERGE_LAST_WORDS ? m->shown - OUTPUT_MERGE_LAST_WORDS : 0,
             to = l->at;
    if (lane == m->leader)
        return 0;
    while (from < to && l->words.last[from % OUTPUT_MERGE_LAST_WORDS] ==
                            m->words.last[from % OUTPUT_MERGE_LAST_WORDS])
        from++;
    if (from >= to && !l->differs)
        return 0; /* the same as was shown, as far as it got, or too far behind to know */
    const uint64_t oldest = to > OUTPUT_MERGE_LAST_WORDS ? to - OUTPUT_MERGE_LAST_WORDS : 0;
    if (from > to)
        from = to;
    while (from > oldest && l->words.last[(from - 1) % OUTPUT_MERGE_LAST_WORDS] != '\n')
        from--; /* whole lines */
    size_t count = 0;
    for (; from < to; from++)
        words[count++] = l->words.last[from % OUTPUT_MERGE_LAST_WORDS];
    for (size_t i = 0; i < l->kept && count < OUTPUT_MERGE_LAST_WORDS; i++)
        words[count++] = l->ahead[l->begin + i];
    return count;
}

bool output_merge_differs(struct output_merge *m, struct output_merge_difference *d)
{
    for (unsigned i = 0; i < m->lanes; i++) {
        struct lane *l = &m->lane[i];
        if (!l->differs || l->told)
            continue;
        l->told = true;
        *d = (struct output_merge_difference){i, l->shown, l->agreed, l->differed};
        return true;
    }
    return false;
}
