/* SPDX-License-Identifier: BSD-3-Clause */
/* patience.c -- how long mpirun waits for slots, and what it says meanwhile. */
#include "patience.h"
#include "overlay/base/size.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SAID_APART_S = 60 };

int patience_parse(const char *text, unsigned *seconds, struct err *e)
{
    *seconds = 0;
    if (text == NULL || text[0] == '\0' || strcmp(text, "0") == 0)
        return 0;
    const char last = text[strlen(text) - 1];
    if ((last < '0' || last > '9') && seconds_parse(seconds, text))
        return 0;
    return err_set(e, EINVAL,
                   "ras_p2p_wait '%.40s' is no time: write 30s, 10m or 2h, or 0 to be refused at "
                   "once",
                   text);
}

bool patience_says(struct patience *p, const char *line, unsigned now_s)
{
    if (p->begun && (strcmp(p->said, line) == 0 || now_s < p->said_s + SAID_APART_S))
        return false;
    p->begun = true;
    p->said_s = now_s;
    snprintf(p->said, sizeof p->said, "%s", line);
    return true;
}

static void span(char out[32], unsigned seconds)
{
    if (seconds < 60)
        snprintf(out, 32, "%u s", seconds);
    else if (seconds < 3600)
        snprintf(out, 32, "%u m", seconds / 60);
    else if (seconds % 3600 < 60)
        snprintf(out, 32, "%u h", seconds / 3600);
    else
        snprintf(out, 32, "%u h %u m", seconds / 3600, seconds % 3600 / 60);
}

void patience_line(char *out, size_t size, const char *line, unsigned waited_s, unsigned most_s)
{
    char waited[32], most[32];
    span(waited, waited_s);
    span(most, most_s);
    snprintf(out, size, "waiting: %s; %s of %s", line, waited, most);
}
