/* SPDX-License-Identifier: BSD-3-Clause */
/* aead.h -- a TCP connection whose bytes no third party can read or change: AES-128-OCB (RFC
 * 7253, by OpenSSL).
 *
 *     0        4                4 + length      + 16
 *     | length | ciphertext ... | tag           |      up to AEAD_RECORD bytes a record
 *
 * The length, little-endian, is authenticated too. Each direction of each connection has a key of
 * its own, and the nonce is the number of the record, which is not sent: so no pair of key and
 * nonce is ever used twice, and a record that is repeated, left out or moved is as wrong as one
 * that was changed. A wrong record ends the connection. A connection that is cut short is
 * one that broke: what was not acknowledged comes again over the next one, with new keys. Every
 * AEAD_REKEY records a key is replaced by half of its hash: after 16 GiB, where 4 PiB are the most
 * for one (RFC 7253, 5).
 *
 * Both calls are like writev and readv of a socket that does not block. */
#ifndef P2P_SRC_TRANSPORT_AEAD_H
#define P2P_SRC_TRANSPORT_AEAD_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { AEAD_KEY = 16, AEAD_RECORD = 64 * 1024, AEAD_REKEY = 1 << 18 };

struct aead;

/* NULL: no memory. */
struct aead *aead_new(const uint8_t out[AEAD_KEY], const uint8_t in[AEAD_KEY]);
void aead_free(struct aead *s);

/* How much was taken: a few records at most, not all of which may have left yet; -1 and errno. With
 * nothing to take, 0 or -1: it sends what is left of the last ones. */
ssize_t aead_write(struct aead *s, int fd, const struct iovec *v, int n);
/* Has all that was taken left? */
bool aead_is_out(const struct aead *s);

/* The room must hold a record. 0: the end; -1 and errno, EBADMSG: the bytes were tampered with. */
ssize_t aead_read(struct aead *s, int fd, const struct iovec *v, int n);
/* A whole record is here already: reading gives it without asking the socket. */
bool aead_is_ready(const struct aead *s);
#endif
