/* SPDX-License-Identifier: BSD-3-Clause */
/* inner.c -- what an inner node of the tree of ads knows of its halves. */
#include "inner.h"
#include "cell.h"
#include <string.h>

/* --- as a value --- */

static void put_cell(struct wire_writer *w, const struct part_cell *c)
{
    wire_put_u64(w, c->prefix);
    wire_put_u8(w, c->depth);
}

static void get_cell(struct wire_reader *r, struct part_cell *c)
{
    c->prefix = wire_get_u64(r);
    c->depth = wire_get_u8(r);
}

static void put_peer(struct wire_writer *w, const struct part_peer *p)
{
    wire_put_id(w, &p->id);
    wire_put_addr(w, &p->addr);
}

static void get_peer(struct wire_reader *r, struct part_peer *p)
{
    wire_get_id(r, &p->id);
    wire_get_addr(r, &p->addr);
}

static void put_half(struct wire_writer *w, const struct inner_half *h)
{
    wire_put_u16(w, h->held);
    wire_put_u8(w, h->age);
    wire_put_u8(w, h->little);
    put_peer(w, &h->owner);
    wire_put_u8(w, h->count);
    for (unsigned i = 0; i < h->count; i++) {
        put_cell(w, &h->branches[i].cell);
        put_peer(w, &h->branches[i].owner);
        wire_put_u16(w, h->branches[i].held);
        wire_put_u8(w, h->branches[i].only);
    }
}

static bool get_half(struct wire_reader *r, struct inner_half *h)
{
    h->held = wire_get_u16(r);
    h->age = wire_get_u8(r);
    h->little = wire_get_u8(r);
    get_peer(r, &h->owner);
    h->count = wire_get_u8(r);
    if (h->count > INNER_BRANCHES)
        return false;
    for (unsigned i = 0; i < h->count; i++) {
        get_cell(r, &h->branches[i].cell);
        get_peer(r, &h->branches[i].owner);
        h->branches[i].held = wire_get_u16(r);
        h->branches[i].only = wire_get_u8(r);
        if (!cell_sane(&h->branches[i].cell))
            return false;
    }
    return true;
}

uint16_t inner_pack(const struct inner *m, uint8_t *value, uint16_t size)
{
    struct wire_writer w = {.base = value, .size = size};
    put_cell(&w, &m->cell);
    put_half(&w, &m->half[0]);
    put_half(&w, &m->half[1]);
    return w.failed ? 0 : (uint16_t)w.at;
}

bool inner_unpack(struct inner *m, const uint8_t *value, uint16_t length)
{
    struct wire_reader r = {.base = value, .size = length};
    memset(m, 0, sizeof *m);
    get_cell(&r, &m->cell);
    return get_half(&r, &m->half[0]) && get_half(&r, &m->half[1]) && !r.failed && r.at == r.size &&
           cell_sane(&m->cell) && m->cell.depth < CELL_DEPTH_MAX;
}

/* --- what it knows --- */

unsigned inner_held(const struct inner *m)
{
    return m->half[0].held + m->half[1].held;
}

/* The half as one branch. */
static struct part_branch as_branch(const struct inner *m, unsigned which)
{
    return (struct part_branch){.cell = cell_half(&m->cell, which),
                                .owner = m->half[which].owner,
                                .held = m->half[which].held};
}

unsigned inner_which(const struct inner *m, uint64_t place)
{
    return place >> (63 - m->cell.depth) & 1;
}

void inner_tell(struct inner *m, const struct part_peer *cell_owner,
                const struct msg_ad_report *said)
{
    struct inner_half *h = &m->half[inner_which(m, said->cell.prefix)];
    uint8_t little = said->held <= INNER_LITTLE && !said->split ? h->little : 0;
    memset(h, 0, sizeof *h);
    if (said->held == 0)
        return;
    h->held = said->held;
    h->little = little;
    h->owner = *cell_owner;
    for (unsigned i = 0; i < said->branches_count && h->count < INNER_BRANCHES; i++)
        if (cell_sane(&said->branches[i].cell) &&
            cell_holds(&said->cell, said->branches[i].cell.prefix) &&
            said->branches[i].cell.depth >= said->cell.depth)
            h->branches[h->count++] = said->branches[i];
}

void inner_clear(struct inner *m, unsigned which)
{
    memset(&m->half[which], 0, sizeof m->half[which]);
}

bool inner_grow_older(struct inner *m)
{
    for (unsigned which = 0; which < 2; which++) {
        struct inner_half *h = &m->half[which];
        if (h->held == 0)
            continue;
        if (h->held <= INNER_LITTLE && h->little < INNER_PATIENCE)
            h->little++;
        if (++h->age > INNER_AGE)
            inner_clear(m, which);
    }
    return inner_held(m) > 0;
}

static unsigned half_branches(const struct inner *m, unsigned which, bool whole,
                              struct part_branch *out)
{
    const struct inner_half *h = &m->half[which];
    if (h->held == 0)
        return 0;
    if (whole || h->count == 0) {
        *out = as_branch(m, which);
        return 1;
    }
    memcpy(out, h->branches, h->count * sizeof *out);
    return h->count;
}

unsigned inner_branches(const struct inner *m, struct part_branch *out)
{
    unsigned n = half_branches(m, 0, false, out);
    return n + half_branches(m, 1, false, out + n);
}

unsigned inner_summary(const struct inner *m, const struct part_peer *self, unsigned here,
                       struct part_branch *out)
{
    unsigned most = INNER_BRANCHES - (here > 0), count[2], n = 0;
    for (unsigned which = 0; which < 2; which++)
        count[which] = m->half[which].count > 0 ? m->half[which].count : m->half[which].held > 0;
    bool first = count[0] >= count[1];
    bool one = count[0] + count[1] > most;
    bool both = one && 1 + (first ? count[1] : count[0]) > most;
    if (here > 0)
        out[n++] = (struct part_branch){
            .cell = m->cell, .owner = *self, .held = (uint16_t)here, .only = 1};
    n += half_branches(m, 0, both || (one && first), out + n);
    return n + half_branches(m, 1, both || (one && !first), out + n);
}

bool inner_same(const struct inner *a, const struct inner *b)
{
    struct part_branch x[2 * INNER_BRANCHES], y[2 * INNER_BRANCHES];
    unsigned n = inner_branches(a, x);
    if (n != inner_branches(b, y))
        return false;
    for (unsigned i = 0; i < n; i++)
        if (!cell_equal(&x[i].cell, &y[i].cell) || !id_equal(&x[i].owner.id, &y[i].owner.id))
            return false;
    return true;
}
