/* SPDX-License-Identifier: BSD-3-Clause */
/* walls.c -- what a guest's job may take and touch. */
#include "walls.h"
#include <string.h>

static uint64_t part(uint64_t all, unsigned slots, unsigned of)
{
    return of == 0 || slots >= of ? all : all / of * slots;
}

void walls_of_guest(struct msg_room_order *order, const struct settings *s,
                    const struct part_ad *ad, unsigned slots)
{
    order->guest = 1;
    order->required = s->confinement;
    order->memory = part(ad->memory, slots, ad->slots);
    order->disk = part(ad->disk, slots, ad->slots);
    order->processes = s->processes;
    order->open_files = s->open_files;
    order->nice = (uint8_t)s->nice;
    order->readable_count = (uint16_t)s->readable_count;
    for (size_t i = 0; i < s->readable_count; i++)
        strcpy(order->readable[i].text, s->readable[i]);
}
