/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c -- frames events. JSON has no line feed in it, so that its data is one line. */
#include "stream.h"
#include <stdio.h>
#include <stdlib.h>

char *web_stream_frame(const char *name, json_t *data)
{
    char *json = json_dumps(data, JSON_COMPACT), *frame = NULL;
    if (json != NULL && asprintf(&frame, "event: %s\ndata: %s\n\n", name, json) < 0)
        frame = NULL;
    free(json);
    return frame;
}

bool web_stream_fits(size_t backlog, size_t more)
{
    return backlog <= WEB_BACKLOG_MOST && more <= WEB_BACKLOG_MOST - backlog;
}
