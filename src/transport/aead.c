/* SPDX-License-Identifier: BSD-3-Clause */
/* aead.c -- records of AES-128-OCB, encrypted from where the data lies and decrypted to where it
 * goes, in one pass; by way of the record where that is in pieces. */
#include "aead.h"
#include "overlay/base/bytes.h"
#include <assert.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { HEADER = 4, TAG = 16, NONCE = 12, WHOLE = HEADER + AEAD_RECORD + TAG };
enum { RECORDS = 4, RAW = RECORDS * WHOLE }; /* in a call of the system; they stay in the cache */

struct direction {
    EVP_CIPHER_CTX *cipher;
    uint8_t key[AEAD_KEY];
    uint64_t records;
    size_t begin, end; /* in its buffer */
};

struct aead {
    struct direction out, in;
    uint8_t out_bytes[RAW], in_bytes[RAW];
};

static bool direction_begin(struct direction *d, const uint8_t key[AEAD_KEY], bool encrypt)
{
    memcpy(d->key, key, AEAD_KEY);
    d->cipher = EVP_CIPHER_CTX_new();
    return d->cipher != NULL &&
           EVP_CipherInit_ex(d->cipher, EVP_aes_128_ocb(), NULL, d->key, NULL, encrypt) == 1;
}

static void direction_end(struct direction *d)
{
    EVP_CIPHER_CTX_free(d->cipher);
}

struct aead *aead_new(const uint8_t out[AEAD_KEY], const uint8_t in[AEAD_KEY])
{
    struct aead *s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    s->out = s->in = (struct direction){0};
    if (!direction_begin(&s->out, out, true) || !direction_begin(&s->in, in, false)) {
        aead_free(s);
        return NULL;
    }
    return s;
}

void aead_free(struct aead *s)
{
    if (s == NULL)
        return;
    direction_end(&s->out);
    direction_end(&s->in);
    OPENSSL_cleanse(&s->out, sizeof s->out);
    OPENSSL_cleanse(&s->in, sizeof s->in);
    free(s);
}

static bool direction_rekey(struct direction *d)
{
    uint8_t hash[EVP_MAX_MD_SIZE];
    if (EVP_Digest(d->key, AEAD_KEY, hash, NULL, EVP_sha256(), NULL) != 1)
        return false;
    memcpy(d->key, hash, AEAD_KEY);
    OPENSSL_cleanse(hash, sizeof hash);
    return EVP_CipherInit_ex(d->cipher, NULL, NULL, d->key, NULL, -1) == 1;
}

/* Sets the nonce of the next record, and takes its length. */
static bool record_begin(struct direction *d, const uint8_t header[HEADER])
{
    uint8_t nonce[NONCE] = {0};
    const uint64_t number = d->records++;
    int none;
    if (d->records % AEAD_REKEY == 0 && !direction_rekey(d))
        return false;
    bytes_put_u64(nonce, number);
    return EVP_CipherInit_ex(d->cipher, NULL, NULL, NULL, nonce, -1) == 1 &&
           EVP_CipherUpdate(d->cipher, NULL, &none, header, HEADER) == 1;
}

/* All of a record's text, and whether it is over as it should be. */
static bool record_text(struct direction *d, uint8_t *to, const uint8_t *from, size_t length)
{
    int most, rest;
    return EVP_CipherUpdate(d->cipher, to, &most, from, (int)length) == 1 &&
           EVP_CipherFinal_ex(d->cipher, to + most, &rest) == 1 && (size_t)(most + rest) == length;
}

/* The next byte of what an iovec has. */
struct cursor {
    const struct iovec *v;
    size_t at;
};

static void cursor_pass_end(struct cursor *c)
{
    while (c->at == c->v->iov_len)
        *c = (struct cursor){c->v + 1, 0};
}

/* Where the next `length` bytes are, more than none; NULL: in pieces. */
static uint8_t *cursor_whole(struct cursor *c, size_t length)
{
    cursor_pass_end(c);
    return c->v->iov_len - c->at >= length ? (uint8_t *)c->v->iov_base + c->at : NULL;
}

/* The next bytes of the same piece, at most as many. */
static uint8_t *cursor_piece(struct cursor *c, size_t *length)
{
    cursor_pass_end(c);
    uint8_t *bytes = (uint8_t *)c->v->iov_base + c->at;
    if (*length > c->v->iov_len - c->at)
        *length = c->v->iov_len - c->at;
    c->at += *length;
    return bytes;
}

/* --- out --- */

static void cursor_gather(struct cursor *c, uint8_t *to, size_t length)
{
    for (size_t at = 0, n; at < length; at += n) {
        n = length - at;
        const uint8_t *from = cursor_piece(c, &n);
        memcpy(to + at, from, n);
    }
}

/* Puts a whole record behind what out_bytes has; true unless OpenSSL fails, which happens without
 * memory. */
static bool record_encrypt(struct aead *s, struct cursor *c, size_t length)
{
    struct direction *d = &s->out;
    uint8_t *record = s->out_bytes + d->end, *text = record + HEADER;
    const uint8_t *from = cursor_whole(c, length);
    if (from != NULL)
        c->at += length;
    else
        cursor_gather(c, text, length);
    bytes_put_u32(record, (uint32_t)length);
    d->end += HEADER + length + TAG;
    return record_begin(d, record) && record_text(d, text, from != NULL ? from : text, length) &&
           EVP_CIPHER_CTX_ctrl(d->cipher, EVP_CTRL_AEAD_GET_TAG, TAG, text + length) == 1;
}

/* False: the socket takes no more, or is broken. */
static bool aead_send_rest(struct aead *s, int fd)
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

ssize_t aead_write(struct aead *s, int fd, const struct iovec *v, int n)
{
    struct cursor c = {v, 0};
    size_t total = 0, taken = 0;
    if (!aead_send_rest(s, fd))
        return -1;
    s->out.begin = s->out.end = 0;
    for (int i = 0; i < n; i++)
        total += v[i].iov_len;
    if (total > RECORDS * AEAD_RECORD)
        total = RECORDS * AEAD_RECORD;
    for (size_t length; taken < total; taken += length) {
        length = total - taken < AEAD_RECORD ? total - taken : AEAD_RECORD;
        if (!record_encrypt(s, &c, length)) {
            errno = EPIPE;
            return -1;
        }
    }
    (void)aead_send_rest(s, fd); /* a broken socket says so again */
    return (ssize_t)taken;
}

bool aead_is_out(const struct aead *s)
{
    return s->out.begin == s->out.end;
}

/* --- in --- */

static size_t record_next_length(const struct aead *s)
{
    return bytes_get_u32(s->in_bytes + s->in.begin);
}

bool aead_is_ready(const struct aead *s)
{
    size_t have = s->in.end - s->in.begin;
    return have >= HEADER &&
           (record_next_length(s) > AEAD_RECORD || have >= HEADER + record_next_length(s) + TAG);
}

static void cursor_scatter(struct cursor *c, const uint8_t *from, size_t length)
{
    for (size_t at = 0, n; at < length; at += n) {
        n = length - at;
        uint8_t *to = cursor_piece(c, &n);
        memcpy(to, from + at, n);
    }
}

static bool record_decrypt(struct aead *s, struct cursor *c)
{
    struct direction *d = &s->in;
    const size_t length = record_next_length(s);
    uint8_t *record = s->in_bytes + d->begin, *text = record + HEADER;
    uint8_t *to = cursor_whole(c, length);
    d->begin += HEADER + length + TAG;
    if (!record_begin(d, record) ||
        EVP_CIPHER_CTX_ctrl(d->cipher, EVP_CTRL_AEAD_SET_TAG, TAG, text + length) != 1 ||
        !record_text(d, to != NULL ? to : text, text, length))
        return false;
    if (to != NULL)
        c->at += length;
    else
        cursor_scatter(c, text, length);
    return true;
}

static ssize_t aead_fill(struct aead *s, int fd)
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

ssize_t aead_read(struct aead *s, int fd, const struct iovec *v, int n)
{
    struct cursor c = {v, 0};
    size_t room = 0, got = 0;
    for (int i = 0; i < n; i++)
        room += v[i].iov_len;
    assert(room >= AEAD_RECORD);
    while (!aead_is_ready(s)) {
        ssize_t more = aead_fill(s, fd);
        if (more <= 0)
            return more;
    }
    while (aead_is_ready(s) && room - got >= AEAD_RECORD) {
        size_t length = record_next_length(s);
        if (length == 0 || length > AEAD_RECORD || !record_decrypt(s, &c)) {
            errno = EBADMSG;
            return -1;
        }
        got += length;
    }
    return (ssize_t)got;
}
