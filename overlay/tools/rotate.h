/* SPDX-License-Identifier: BSD-3-Clause */
/* rotate.h -- p2pctl grid rotate; an exit code. */
#ifndef P2P_OVERLAY_TOOLS_ROTATE_H
#define P2P_OVERLAY_TOOLS_ROTATE_H

struct tool_options;

/* days: for who is away, 0: the usual; file: of the passphrase, or NULL. */
int rotate(const struct tool_options *options, double days, const char *file);
#endif
