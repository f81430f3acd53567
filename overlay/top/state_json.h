/* SPDX-License-Identifier: BSD-3-Clause */
/* state_json.h -- the state as one object, for p2pctl top --json (doc/json.md). */
#ifndef P2P_OVERLAY_TOP_STATE_JSON_H
#define P2P_OVERLAY_TOP_STATE_JSON_H
#include "state.h"

json_t *top_state_json(const struct top_state *s);
#endif
