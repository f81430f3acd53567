/* SPDX-License-Identifier: BSD-3-Clause */
/* hours.h -- when a machine is lent, as its owner writes it: "mon-fri 18:00-08:00", "sat,sun",
 * "22:00-06:00". */
#ifndef P2P_OVERLAY_SETTINGS_HOURS_H
#define P2P_OVERLAY_SETTINGS_HOURS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOURS_DAY = 24 * 60, HOURS_TEXT = 63 };

/* One that ends before it begins ends on the day after. */
struct hours {
    uint8_t days;      /* on which it begins; bit 0: Monday */
    uint16_t from, to; /* minutes since midnight, 0..HOURS_DAY */
};

/* False: *why says what is wrong. */
bool hours_parse(struct hours *h, const char *text, const char **why);
/* weekday: 0 is Monday. Of none at all: always. */
bool hours_cover(const struct hours *all, size_t count, unsigned weekday, unsigned minute);
#endif
