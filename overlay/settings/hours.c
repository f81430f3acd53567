/* SPDX-License-Identifier: BSD-3-Clause */
/* hours.c -- when a machine is lent. */
#include "hours.h"
#include <string.h>

enum { EVERY_DAY = 0x7f };

static bool hours_take_day(const char **at, unsigned *day)
{
    static const char *const names[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
    for (unsigned i = 0; i < 7; i++)
        if (strncmp(*at, names[i], 3) == 0) {
            *day = i;
            *at += 3;
            return true;
        }
    return false;
}

/* mon-fri,sun; over the end of the week too: sat-mon. */
static bool hours_take_days(const char **at, uint8_t *days)
{
    unsigned first, last;
    do {
        if (**at == ',')
            (*at)++;
        if (!hours_take_day(at, &first))
            return false;
        last = first;
        if (**at == '-') {
            (*at)++;
            if (!hours_take_day(at, &last))
                return false;
        }
        for (unsigned d = first;; d = (d + 1) % 7) {
            *days |= (uint8_t)(1u << d);
            if (d == last)
                break;
        }
    } while (**at == ',');
    return true;
}

static bool is_two_digits(const char *at)
{
    return at[0] >= '0' && at[0] <= '9' && at[1] >= '0' && at[1] <= '9';
}

static bool hours_take_time(const char **at, uint16_t *minutes)
{
    const char *t = *at;
    if (!is_two_digits(t) || t[2] != ':' || !is_two_digits(t + 3))
        return false;
    unsigned hour = (unsigned)(t[0] - '0') * 10 + (unsigned)(t[1] - '0');
    unsigned minute = (unsigned)(t[3] - '0') * 10 + (unsigned)(t[4] - '0');
    *minutes = (uint16_t)(hour * 60 + minute);
    *at += 5;
    return minute < 60 && *minutes <= HOURS_DAY;
}

bool hours_parse(struct hours *h, const char *text, const char **why)
{
    const char *at = text;
    *h = (struct hours){.to = HOURS_DAY};
    *why = "write days and times as in mon-fri 18:00-08:00";
    if (*at >= 'a' && *at <= 'z') {
        if (!hours_take_days(&at, &h->days))
            return false;
        if (*at == '\0')
            return true;
        if (*at++ != ' ')
            return false;
    } else {
        h->days = EVERY_DAY;
    }
    if (!hours_take_time(&at, &h->from) || *at++ != '-' || !hours_take_time(&at, &h->to) ||
        *at != '\0')
        return false;
    *why = "it begins when it ends";
    return h->from != h->to;
}

static bool hours_cover_one(const struct hours *h, unsigned weekday, unsigned minute)
{
    bool today = h->days >> weekday & 1, yesterday = h->days >> (weekday + 6) % 7 & 1;
    if (h->from < h->to)
        return today && minute >= h->from && minute < h->to;
    return (today && minute >= h->from) || (yesterday && minute < h->to);
}

bool hours_cover(const struct hours *all, size_t count, unsigned weekday, unsigned minute)
{
    for (size_t i = 0; i < count; i++)
        if (hours_cover_one(&all[i], weekday, minute))
            return true;
    return count == 0;
}
