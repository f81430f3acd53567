/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h -- the hashes of the protocol (doc/replication.md, section 10): all lanes find the same.
 */
#ifndef P2P_SRC_REPLICA_HASH_H
#define P2P_SRC_REPLICA_HASH_H
#include <stddef.h>
#include <stdint.h>

/* Of a communicator's name: one value more. */
uint64_t hash_mix(uint64_t hash, uint64_t value);
/* Of a channel: one message more. */
uint64_t hash_roll(uint64_t hash, int tag, size_t length);
/* Of a payload. Pieces may be hashed one after the other: all except the last must be a multiple of
 * 8 bytes long. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);
#endif
