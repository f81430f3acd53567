/* SPDX-License-Identifier: BSD-3-Clause */
/* lending_state.c -- whether a peer lends its slots now, in words. */
#include "lending_state.h"

const char *lending_text(enum lending_state state)
{
    switch (state) {
    case LENDING_OPEN:
        return "lends";
    case LENDING_PAUSED:
        return "lends nothing now: paused by its owner";
    case LENDING_LEAVING:
        return "lends nothing now: it leaves the grid";
    case LENDING_HOURS:
        return "lends nothing at this time of the day";
    case LENDING_IN_USE:
        return "lends nothing now: its owner uses it";
    }
    return "lends nothing";
}

uint64_t lending_until(enum lending_state state, uint64_t said)
{
    enum { TIME_BITS = 40 }; /* more than anything that shows times can take */
    return state == LENDING_PAUSED && said >> TIME_BITS == 0 ? said : 0;
}
