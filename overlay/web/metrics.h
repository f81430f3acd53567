/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.h -- the state as OpenMetrics text (openmetrics.io, 1.0). */
#ifndef P2P_OVERLAY_WEB_METRICS_H
#define P2P_OVERLAY_WEB_METRICS_H
#include <jansson.h>

#define WEB_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Of a web_state_whole(); to be freed. NULL: no memory. */
char *web_metrics(json_t *state);
#endif
