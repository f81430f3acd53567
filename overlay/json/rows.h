/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h -- messages of the local socket as JSON: the same names wherever one is shown, in what
 * p2pctl prints with --json (doc/json.md) and in the state of the page. */
#ifndef P2P_OVERLAY_JSON_ROWS_H
#define P2P_OVERLAY_JSON_ROWS_H
#include "overlay/wire/message.h"
#include <jansson.h>

json_t *json_of_ad(const struct part_ad *ad); /* what a peer offers */
json_t *
json_of_peer(const struct msg_local_peer *peer); /* the same, and what else is known of it */
json_t *json_of_confinement(unsigned bits);
json_t *json_of_lines(const char *text);
json_t *json_of_neighbour(const struct part_peer *peer);
json_t *json_of_lent(const struct msg_local_granted *lease); /* a lease of others here */
json_t *json_of_terms(const struct msg_local_terms *terms);
/* until: as lending_until() has it. */
json_t *json_of_member(const char *name, const struct id *id, bool here, const char *state,
                       uint64_t until, uint64_t seen);
/* Of one that is not there: away, revoked. now: seconds since 1970. */
const char *member_away_text(const struct msg_local_member *m, uint64_t now);
json_t *json_of_job(const struct msg_local_job *job);
json_t *json_of_process(const struct part_place *place, bool leads);
const char *job_state_text(const struct msg_local_job *job);  /* runs, held, ends, waits */
const char *place_state_text(const struct part_place *place); /* runs, lost, finished */
json_t *json_of_names(const char *list); /* a list as overlay/base/names.h has it */
json_t *json_of_grid_job(const struct msg_local_grid_job *row);
/* runs, held, ends, waits, reserves, unknown */
const char *grid_job_state_text(const struct part_grid_job *job);
json_t *json_of_past(const struct msg_local_past *past);
json_t *json_of_notice(const struct msg_local_notice *notice);
json_t *json_of_transfer(const struct msg_local_transfer *transfer);
json_t *json_of_totals(const struct msg_local_totals *totals);
#endif
