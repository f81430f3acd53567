/* SPDX-License-Identifier: BSD-3-Clause */
/* lending.h -- whether this machine is lent now, to whom, and what becomes of guests when its owner
 * comes back. Decisions only: lender.h carries them out. */
#ifndef P2P_OVERLAY_LEND_LENDING_H
#define P2P_OVERLAY_LEND_LENDING_H
#include "overlay/core/lease/lending_state.h"
#include "overlay/crypto/identity.h"
#include "overlay/settings/settings.h"

enum {
    LENDING_AWAY_MS = 20 * 1000, /* of 30 s in all: it took some to notice, and ending takes some */
};

enum { LENDING_SURE_MS = 2000 }; /* the owner has been back for so long: no false alarm */

struct lending {
    bool paused, stop_guests; /* p2pctl pause [--suspend] */
    uint64_t paused_until_ms; /* 0: until it is told to lend again */
    bool leaving;
    uint64_t leave_by_ms;
    uint64_t quiet_since_ms; /* the machine is unused since then; 0: it is in use */
    uint64_t back_since_ms;  /* the owner is back since then; 0: is away */
};

/* What is seen, at least once a second while jobs run. */
struct lending_view {
    uint64_t now_ms;
    unsigned weekday, minute; /* local time; 0 is Monday */
    bool in_use;              /* by its owner */
    bool sure;                /* the desktop says so itself, and has waited before it said idle */
    unsigned leases;          /* of others than this very desktop */
};

struct lending_act {
    enum lending_state state;
    bool suspend;       /* guests' processes are stopped, else they run */
    uint64_t end_by_ms; /* what others run here is asked back, and ended then; 0: it may stay */
    bool end_all;       /* now */
    bool quit;          /* p2pd ends */
};

void lending_step(struct lending *l, const struct settings *s, const struct lending_view *v,
                  struct lending_act *act);

/* Is this member among them? Words: all, @GROUP, a peer's name, or the id of an owner's key. */
bool lending_names(const char (*words)[SETTINGS_WHOM + 1], size_t count,
                   const struct identity_card *who);
/* May its jobs run here at all? The owner's own always may. */
bool lending_allows(const struct settings *s, const struct id *owner,
                    const struct identity_card *who);
/* Does a load of `load` (thousandths) say that the owner computes, when `guests` slots are in use?
 */
bool lending_load_is_use(uint32_t load, unsigned guests, unsigned cores);
#endif
