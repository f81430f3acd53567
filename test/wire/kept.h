/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.h -- each message on a line: how it is laid out in a version of the protocol, an example of
 * it as bytes, and that example's values. The names of messages and fields are no part of it. */
#ifndef P2P_TEST_WIRE_KEPT_H
#define P2P_TEST_WIRE_KEPT_H
#include "overlay/wire/message.h"
#include <stdio.h>

enum { KEPT_LOCAL = 0x80 }; /* from here on: between programs of one desktop */

/* "0x43 id", with the bounds of what has one. False: this version does not have it. */
bool kept_layout(FILE *out, unsigned kind, unsigned version);
struct message *kept_example(struct message_whole *said, unsigned kind);
void kept_values(FILE *out, const struct message *m, unsigned version);
/* All messages of that sort, each as "LAYOUT | BYTES | VALUES". */
void kept_write(FILE *out, bool local, unsigned version);
#endif
