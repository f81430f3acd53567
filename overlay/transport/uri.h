/* SPDX-License-Identifier: BSD-3-Clause */
/* uri.h -- the address of mpirun's control channel in the command line that starts an orted. */
#ifndef P2P_OVERLAY_TRANSPORT_URI_H
#define P2P_OVERLAY_TRANSPORT_URI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The port in `JOB.RANK;tcp://ADDRESS,ADDRESS:PORT`; 0: there is none in the text. */
uint16_t uri_port(const char *text, size_t length);
/* The text with every such address, and those of IPv6 behind it, become 127.0.0.1:port. NULL: no
 * memory, or there is none. Free it. */
char *uri_rewrite(const char *text, uint16_t port);
#endif
