/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h -- server-sent events (HTML Living Standard, 9.2): how one is framed, and how much may
 * wait for a browser that does not read. */
#ifndef P2P_OVERLAY_WEB_STREAM_H
#define P2P_OVERLAY_WEB_STREAM_H
#include <jansson.h>
#include <stdbool.h>

enum {
    WEB_BACKLOG_MOST = 8 * 1024 * 1024, /* bytes that wait for one browser */
    WEB_STREAMS_MOST = 16,              /* browsers that look at once */
};

/* "event: NAME\ndata: JSON\n\n", to be freed; NULL: no memory. */
char *web_stream_frame(const char *name, json_t *data);
/* May so many bytes more wait for a browser, or is it too slow? */
bool web_stream_fits(size_t backlog, size_t more);
#endif
