/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h -- what the page shows, as one JSON object (doc/json.md): made of the rows of
 * local_overview and local_history, part by part. */
#ifndef P2P_OVERLAY_WEB_STATE_H
#define P2P_OVERLAY_WEB_STATE_H
#include "overlay/wire/message.h"
#include <jansson.h>

enum { WEB_PEERS_MOST = 4096, WEB_PLACES_MOST = 4096, WEB_GRID_MOST = 512, WEB_LOG = 64 };

struct web_state;

struct web_state *web_state_new(void); /* NULL: no memory */
void web_state_free(struct web_state *s);
/* The rows of these parts (bits of enum overview_part) come now; what of them does not come is
 * gone. history: the rows of local_history, too. */
void web_state_begin(struct web_state *s, unsigned parts, bool history);
void web_state_take(struct web_state *s, const struct message *m);
/* What has changed, as a merge patch; NULL: nothing. now_ms: since 1970. */
json_t *web_state_end(struct web_state *s, uint64_t now_ms);
/* The jobs of others, row by row of local_grid_job, whenever they come; then what has changed. */
void web_state_take_grid(struct web_state *s, const struct msg_local_grid_job *row,
                         uint64_t now_ms);
json_t *web_state_end_grid(struct web_state *s);
/* Something has happened: the row as JSON, kept among the last WEB_LOG. A new reference. */
json_t *web_state_happen(struct web_state *s, const struct msg_local_notice *notice);
json_t *web_state_whole(const struct web_state *s); /* the state's own */
#endif
