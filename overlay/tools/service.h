/* SPDX-License-Identifier: BSD-3-Clause */
/* service.h -- p2pd as a service of the user's systemd. */
#ifndef P2P_OVERLAY_TOOLS_SERVICE_H
#define P2P_OVERLAY_TOOLS_SERVICE_H
#include <stdbool.h>

bool service_is_enabled(void);
/* Does systemd keep that user's services running without a login? */
bool service_lingers(const char *user);
#endif
