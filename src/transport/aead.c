/* SPDX-License-Identifier: BSD-3-Clause */
/* aead.c -- records of AES-256-GCM, encrypted from where the data lies and decrypted to where it
 * goes. */
#include "aead.h"
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { HEADER = 4, TAG = 16, NONCE = 12, WHOLE = HEADER + SEAL_RECORD + TAG, RAW = 4 * WHOLE };

struct direction {
    EVP_CIPHER_CTX *cipher;
    uint8_t key[SEAL_KEY];
    uint64_t records;
    size_t begin, end; /* in its buffer */
};

struct seal {
    struct direction out, in;
    uint8_t out_bytes[WHOLE], in_bytes[RAW];
};

static bool direction_begin(struct direction *d, const uint8_t key[SEAL_KEY], bool encrypt)
{
    memcpy(d->key, key, SEAL_KEY);
    d->cipher = EVP_CIPHER_CTX_new();
    return d->cipher != NULL &&
           EVP_CipherInit_ex(d->cipher, EVP_aes_256_gcm(), NULL, d->key, NULL, encrypt) == 1;
}

static void direction_end(struct direction *d)
{
    EVP_CIPHER_CTX_free(d->cipher);
}

struct seal *seal_new(const uint8_t out[SEAL_KEY], const uint8_t in[SEAL_KEY])
{
    struct seal *s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    s->out = s->in = (struct direction){0};
    if (!direction_begin(&s->out, out, true) || !direction_begin(&s->in, in, false)) {
        seal_free(s);
        return NULL;
    }
    return s;
}

void seal_free(struct seal *s)
{
    if (s == NULL)
        return;
    direction_end(&s->out);
    direction_end(&s->in);
    OPENSSL_cleanse(&s->out, sizeof s->out);
    OPENSSL_cleanse(&s->in, sizeof s->in);
    free(s);
}

static bool rekey(struct direction *d)
{
    return EVP_Digest(d->key, SEAL_KEY, d->key, NULL, EVP_sha256(), NULL) == 1 &&
           EVP_CipherInit_ex(d->cipher, NULL, NULL, d->key, NULL, -1) == 1;
}

/* Sets the nonce of the next record, and takes its length. */
static bool record_begin(struct direction *d, const uint8_t header[HEADER])
{
    uint8_t nonce[NONCE] = {0};
    uint64_t number = htole64(d->records++);
    int none;
    if (d->records % SEAL_REKEY == 0 && !rekey(d))
        return false;
    memcpy(nonce, &number, sizeof number);
    return EVP_CipherInit_ex(d->cipher, NULL, NULL, NULL, nonce, -1) == 1 &&
           EVP_CipherUpdate(d->cipher, NULL, &none, header, HEADER) == 1;
}

/* --- out --- */

/* The whole record is in out_bytes; true unless OpenSSL fails, which is for want of memory. */
static bool record_seal(struct seal *s, const struct iovec *v, size_t length)
{
    struct direction *d = &s->out;
    uint32_t header = htole32((uint32_t)length);
    uint8_t *to = s->out_bytes + HEADER;
    memcpy(s->out_bytes, &header, HEADER);
    bool good = record_begin(d, s->out_bytes);
    for (size_t left = length; good && left > 0; v++) {
        int n = (int)(v->iov_len < left ? v->iov_len : left);
        good = EVP_CipherUpdate(d->cipher, to, &n, v->iov_base, n) == 1;
        to += n;
        left -= (size_t)n;
    }
    int none;
    d->begin = 0;
    d->end = HEADER + length + TAG;
    return good && EVP_CipherFinal_ex(d->cipher, to, &none) == 1 &&
           EVP_CIPHER_CTX_ctrl(d->cipher, EVP_CTRL_AEAD_GET_TAG, TAG, to) == 1;
}

/* False: the socket takes no more, or is broken. */
static bool send_rest(struct seal *s, int fd)
{
    struct direction *d = &s->out;
    while (d->begin < d->end) {
        ssize_t n =
            send(fd, s->out_bytes + d->begin, d->end - d->begin, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        d->begin += (size_t)n;
    }
    return true;
}

ssize_t seal_write(struct seal *s, int fd, const struct iovec *v, int n)
{
    size_t length = 0;
    if (!send_rest(s, fd))
        return -1;
    for (int i = 0; i < n; i++)
        length += v[i].iov_len;
    if (length > SEAL_RECORD)
        length = SEAL_RECORD;
    if (length == 0)
        return 0;
    if (!record_seal(s, v, length)) {
        errno = EPIPE;
        return -1;
    }
    (void)send_rest(s, fd); /* a broken socket says so again */
    return (ssize_t)length;
}

bool seal_is_out(const struct seal *s)
{
    return s->out.begin == s->out.end;
}

/* --- in --- */

static size_t next_length(const struct seal *s)
{
    uint32_t length;
    memcpy(&length, s->in_bytes + s->in.begin, HEADER);
    return le32toh(length);
}

bool seal_is_ready(const struct seal *s)
{
    size_t have = s->in.end - s->in.begin;
    return have >= HEADER &&
           (next_length(s) > SEAL_RECORD || have >= HEADER + next_length(s) + TAG);
}

/* Where `at` bytes of the room are used up already. */
static bool decrypt_into(struct direction *d, const struct iovec *v, int n, size_t at,
                         const uint8_t *from, size_t length)
{
    for (; n > 0 && length > 0; v++, n--) {
        if (at >= v->iov_len) {
            at -= v->iov_len;
            continue;
        }
        int piece = (int)(v->iov_len - at < length ? v->iov_len - at : length);
        if (EVP_CipherUpdate(d->cipher, (uint8_t *)v->iov_base + at, &piece, from, piece) != 1)
            return false;
        from += piece;
        length -= (size_t)piece;
        at = 0;
    }
    return length == 0;
}

static bool record_open(struct seal *s, const struct iovec *v, int n, size_t at)
{
    struct direction *d = &s->in;
    size_t length = next_length(s);
    uint8_t *record = s->in_bytes + d->begin, last[TAG];
    int none;
    d->begin += HEADER + length + TAG;
    return record_begin(d, record) && decrypt_into(d, v, n, at, record + HEADER, length) &&
           EVP_CIPHER_CTX_ctrl(d->cipher, EVP_CTRL_AEAD_SET_TAG, TAG, record + HEADER + length) ==
               1 &&
           EVP_CipherFinal_ex(d->cipher, last, &none) == 1;
}

static ssize_t fill(struct seal *s, int fd)
{
    struct direction *d = &s->in;
    if (d->begin > 0) {
        memmove(s->in_bytes, s->in_bytes + d->begin, d->end - d->begin);
        d->end -= d->begin;
        d->begin = 0;
    }
    ssize_t n = recv(fd, s->in_bytes + d->end, RAW - d->end, MSG_DONTWAIT);
    d->end += n > 0 ? (size_t)n : 0;
    return n;
}

ssize_t seal_read(struct seal *s, int fd, const struct iovec *v, int n)
{
    size_t room = 0, got = 0;
    for (int i = 0; i < n; i++)
        room += v[i].iov_len;
    assert(room >= SEAL_RECORD);
    while (!seal_is_ready(s)) {
        ssize_t more = fill(s, fd);
        if (more <= 0)
            return more;
    }
    while (seal_is_ready(s) && room - got >= SEAL_RECORD) {
        size_t length = next_length(s);
        if (length == 0 || length > SEAL_RECORD || !record_open(s, v, n, got)) {
            errno = EBADMSG;
            return -1;
        }
        got += length;
    }
    return (ssize_t)got;
}
