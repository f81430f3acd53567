/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c -- what a guest's job may take and touch. */
#include "limits.h"
#include "confine.h"
#include <string.h>

static uint64_t share_of(uint64_t all, unsigned slots, unsigned of)
{
    return of == 0 || slots >= of ? all : all / of * slots;
}

static void allow_reading(struct msg_room_order *order, const struct settings *s)
{
    order->readable_count = (uint16_t)s->readable_count;
    for (size_t i = 0; i < s->readable_count; i++)
        strcpy(order->readable[i].text, s->readable[i]);
}

void limits_of_owner(struct msg_room_order *order, const struct settings *s, const char *folder)
{
    order->guest = 1;
    order->required = s->confinement & ~(unsigned)CONFINE_LIMITS;
    strcpy(order->folder, folder);
    allow_reading(order, s);
}

void limits_of_guest(struct msg_room_order *order, const struct settings *s,
                     const struct part_ad *ad, unsigned slots)
{
    order->guest = 1;
    order->required = s->confinement;
    order->memory = share_of(ad->memory, slots, ad->slots);
    order->disk = share_of(ad->disk, slots, ad->slots);
    order->processes = s->processes;
    order->open_files = s->open_files;
    order->nice = (uint8_t)s->nice;
    allow_reading(order, s);
}

static bool is_narrower(uint64_t bound, uint64_t than)
{
    return bound > 0 && (than == 0 || bound < than);
}

void limits_narrow(struct msg_room_order *order, const struct part_bounds *bounds)
{
    if (is_narrower(bounds->memory, order->memory))
        order->memory = bounds->memory;
    if (is_narrower(bounds->processes, order->processes))
        order->processes = bounds->processes;
    order->seconds = bounds->seconds;
}
