/* SPDX-License-Identifier: BSD-3-Clause */
/* patience.h -- how mpirun waits for slots: for how long, and what it says meanwhile. */
#ifndef P2P_SRC_RAS_P2P_PATIENCE_H
#define P2P_SRC_RAS_P2P_PATIENCE_H
#include "overlay/base/err.h"
#include <stdbool.h>
#include <stddef.h>

/* ras_p2p_wait: "30s", "10m", "2h"; NULL, "" and "0": not at all. -EINVAL with a line. */
int patience_parse(const char *text, unsigned *seconds, struct err *e);

struct patience {
    char said[512];
    unsigned said_s; /* when; the first line is said at once */
    bool begun;
};

/* Is the line to be said, where each one stays: the first one, and then what has changed, once a
 * minute. */
bool patience_says(struct patience *p, const char *line, unsigned now_s);
/* "waiting: LINE; 3 m of 2 h" */
void patience_line(char *out, size_t size, const char *line, unsigned waited_s, unsigned most_s);
#endif
