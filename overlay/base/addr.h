/* SPDX-License-Identifier: BSD-3-Clause */
/* addr.h -- struct addr to and from text and the system's socket addresses. */
#ifndef P2P_OVERLAY_BASE_ADDR_H
#define P2P_OVERLAY_BASE_ADDR_H
#include "err.h"
#include "id.h"
#include <netinet/in.h>
#include <sys/socket.h>

enum { ADDR_TEXT = 55 /* "[IPv6]:port" */, ADDR_HOST = 253 };

void addr_text(const struct addr *a, char out[ADDR_TEXT + 1]);    /* IPv4 as such */
void addr_ip_text(const struct addr *a, char out[ADDR_TEXT + 1]); /* without the port */
/* "192.0.2.7:7117", "[::1]:7117", "192.0.2.7" (with default_port), "*:7117" (every address of this
 * machine, IPv6 and IPv4); no names. */
int addr_parse(struct addr *a, const char *text, uint16_t default_port, struct err *e);
bool addr_parse_ip(struct addr *a, const char *ip); /* leaves the port */
/* "HOST", "HOST:PORT" or "[IPV6]:PORT" into its two halves. */
int addr_split(const char *text, uint16_t default_port, char host[ADDR_HOST + 1], uint16_t *port,
               struct err *e);
socklen_t addr_to_sock(const struct addr *a, struct sockaddr_storage *s);
/* IPv4 as a mapped address, for sockets that speak both. */
void addr_to_sock6(const struct addr *a, struct sockaddr_in6 *s);
bool addr_from_sock(struct addr *a, const struct sockaddr *s); /* false: neither IPv4 nor IPv6 */
bool addr_is_any(const struct addr *a);                        /* 0.0.0.0 or :: */
bool addr_is_loopback(const struct addr *a);
#endif
