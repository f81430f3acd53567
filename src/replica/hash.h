/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h -- the hashes of the protocol (doc/replication.md, section 10): all lanes find the same.
 */
#ifndef P2P_SRC_REPLICA_HASH_H
#define P2P_SRC_REPLICA_HASH_H
#include <stddef.h>
#include <stdint.h>

#define HASH_FACTOR 0x9e3779b97f4a7c15u /* one multiplication a step */

/* Of a communicator's name: one value more. */
uint64_t hash_mix(uint64_t hash, uint64_t value);
/* Of a channel: one message more. */
static inline uint64_t hash_roll(uint64_t hash, int tag, size_t length)
{
    return (hash ^ ((uint64_t)length << 32 ^ (uint32_t)tag)) * HASH_FACTOR + 1;
}
/* Of a payload. Pieces may be hashed one after the other: all except the last must be a multiple of
 * 8 bytes long. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);
#endif
