/* SPDX-License-Identifier: BSD-3-Clause */
/* borrow_read.c -- what is borrowed, by owner, by reservation and by peer. */
#include "borrow.h"
#include <string.h>

const struct borrow_lease *borrow_find(const struct borrow *b, const void *owner,
                                       const struct id *lease)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->at[i].owner == owner && id_equal(&b->at[i].lease, lease))
            return &b->at[i];
    return NULL;
}

const struct borrow_lease *borrow_nth(const struct borrow *b, const void *owner, size_t nth)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->at[i].owner == owner && nth-- == 0)
            return &b->at[i];
    return NULL;
}

size_t borrow_count(const struct borrow *b, const void *owner)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++)
        count += b->at[i].owner == owner;
    return count;
}

size_t borrow_list(const struct borrow *b, const void *owner, struct candidate_borrowed *list,
                   size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count && count < most; i++) {
        const struct borrow_lease *one = &b->at[i];
        if (one->owner != owner)
            continue;
        list[count] = (struct candidate_borrowed){.peer = one->peer, .slots = one->slots};
        memcpy(list[count++].site, one->site, sizeof one->site);
    }
    return count;
}

unsigned borrow_in_use(const struct borrow *b)
{
    unsigned slots = 0;
    for (size_t i = 0; i < b->count; i++)
        slots += id_is_zero(&b->at[i].within) ? b->at[i].slots : 0;
    return slots;
}

unsigned borrow_used(const struct borrow *b, const struct id *reservation)
{
    unsigned used = 0;
    for (size_t i = 0; i < b->count; i++)
        used += id_equal(&b->at[i].within, reservation) ? b->at[i].slots : 0;
    return used;
}

struct lease_capacity borrow_capacity(const struct borrow *b, const void *owner,
                                      const struct id *reservation, const struct id *peer)
{
    struct lease_capacity capacity = {0};
    unsigned taken = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct borrow_lease *one = &b->at[i];
        if (!id_equal(&one->peer.id, peer))
            continue;
        if (one->owner == owner)
            capacity.slots += one->slots;
        else if (id_equal(&one->within, reservation))
            taken += one->slots;
    }
    capacity.left = taken < capacity.slots ? capacity.slots - taken : 0;
    return capacity;
}

bool borrow_returns(const struct borrow *b, uint64_t now_ms)
{
    return b->released_ms != 0 && now_ms < b->released_ms + BORROW_RETURNS_MS;
}
