/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h -- whether a peer can take part in a job at all, whatever the job asks for. */
#ifndef P2P_OVERLAY_CORE_LEASE_FIT_H
#define P2P_OVERLAY_CORE_LEASE_FIT_H
#include <stdbool.h>
#include <stddef.h>

/* Open MPI's processes understand each other within a series: 4.1.4 and 4.1.6, not 4.1 and 5.0. */
bool fit_series(const char *version, const char *other);
size_t fit_series_length(const char *version); /* "4.1" of "4.1.4" */
#endif
