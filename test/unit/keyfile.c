/* SPDX-License-Identifier: BSD-3-Clause */
/* keyfile.c -- a locked authority needs its passphrase, and signs ahead what renews certificates.
 */
#include "overlay/membership/authority.h"
#include "overlay/membership/certificates.h"
#include "overlay/crypto/identity.h"
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { DAY = 24 * 3600, GRID_DAYS = 3650 };

static char folder[] = "/tmp/p2pgrid-keyfile-XXXXXX";
static char grid[64], other[64];

#define WORD(text)                                                                                 \
    {                                                                                              \
        .passphrase = (const uint8_t *)(text), .length = sizeof(text) - 1                          \
    }
static const struct keyfile_access right = WORD("correct horse"), wrong = WORD("wrong horse");

static int set_up(void **state)
{
    (void)state;
    const struct authority_terms terms = {.days = GRID_DAYS};
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(grid, sizeof grid, "%s/grid", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return authority_create(grid, "fen", &terms, NULL) +
           authority_create(other, "fen", &terms, NULL);
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static struct authority *open_with(const struct keyfile_access *with)
{
    struct authority *a = NULL;
    struct err e = {0};
    assert_int_equal(authority_open_with(&a, grid, with, &e), 0);
    return a;
}

static int refused(const struct keyfile_access *with)
{
    struct authority *a = NULL;
    struct err e = {0};
    assert_true(authority_open_with(&a, grid, with, &e) < 0);
    assert_null(a);
    return e.code;
}

static X509 *admit(struct authority *a, const char *name, struct id *id)
{
    struct authority_order order = {.peer = name, .owner = "self", .days = AUTHORITY_PEER_DAYS};
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    X509 *c = NULL;
    assert_int_equal(authority_admit(a, &order, key, &c, NULL), 0);
    assert_int_equal(identity_of_certificate(id, c), 0);
    EVP_PKEY_free(key);
    return c;
}

static size_t kept(const char *in, const struct id *id)
{
    struct certificates d;
    assert_int_equal(certificates_read(&d, in, id, NULL), 0);
    size_t count = d.count;
    certificates_clear(&d);
    return count;
}

static void plant(const char *in, const struct id *id, X509 *c)
{
    struct certificates d = {.at = {c}, .count = 1};
    assert_int_equal(certificates_write(&d, in, id, NULL), 0);
}

static void test_passphrase(void **state)
{
    (void)state;
    uint8_t seed[KEYFILE_SEED] = {0};
    struct authority *a = open_with(NULL);
    assert_int_equal(authority_lock(a, &right, NULL), 0);
    authority_close(a);
    assert_true(authority_is_locked(grid));
    assert_int_equal(refused(NULL), ENOKEY);
    assert_int_equal(refused(&wrong), EKEYREJECTED);
    a = open_with(&right);
    assert_true(authority_seed(a, seed));
    authority_close(a);
    const struct keyfile_access held = {.seed = seed};
    authority_close(open_with(&held));
    seed[0] ^= 1;
    assert_int_equal(refused(&held), EINVAL);
    a = open_with(&right);
    assert_int_equal(authority_lock(a, NULL, NULL), 0);
    authority_close(a);
    authority_close(open_with(NULL));
}

static void test_signed_ahead(void **state)
{
    (void)state;
    struct authority *a = open_with(NULL);
    struct id birch, cedar;
    struct identity_card was, next;
    struct certificates d;
    X509 *c = admit(a, "birch", &birch);
    assert_int_equal(authority_last_end(a, 1), 1);
    assert_int_equal(kept(grid, &birch), 1);
    assert_int_equal(authority_lock(a, &right, NULL), 0);
    assert_int_equal(kept(grid, &birch), GRID_DAYS / (AUTHORITY_PEER_DAYS - 30) + 1);
    X509_free(admit(a, "cedar", &cedar));
    assert_int_equal(kept(grid, &cedar), kept(grid, &birch));

    assert_int_equal(identity_read(&was, c, NULL), 0);
    assert_int_equal(certificates_read(&d, grid, &birch, NULL), 0);
    assert_null(certificates_pick(&d, was.ends - 31 * DAY, was.ends)); /* before it is due */
    X509 *later = certificates_pick(&d, was.ends - 30 * DAY, was.ends);
    assert_non_null(later);
    assert_int_equal(X509_verify(later, X509_get0_pubkey(authority_certificate(a))), 1);
    assert_int_equal(identity_read(&next, later, NULL), 0);
    assert_true(id_equal(&next.id, &was.id) && id_equal(&next.owner, &was.owner));
    assert_string_equal(next.name, "birch");
    assert_true(next.ends == was.ends + (AUTHORITY_PEER_DAYS - 30) * DAY);
    certificates_clear(&d);
    X509_free(c);
    assert_int_equal(authority_lock(a, NULL, NULL), 0);
    assert_int_equal(kept(grid, &birch), 1);
    /* It may have been copied meanwhile: a revoked peer is in the list for as long. */
    assert_true(authority_last_end(a, 1) > time(NULL) + (GRID_DAYS - 1) * (time_t)DAY);
    authority_close(a);
}

/* Who may write into the folder and has no passphrase gets nothing signed. */
static void test_planted(void **state)
{
    (void)state;
    struct authority *a = NULL;
    struct id mallory;
    assert_int_equal(authority_open(&a, other, NULL), 0);
    X509 *c = admit(a, "mallory", &mallory);
    authority_close(a);
    plant(grid, &mallory, c);
    a = open_with(NULL);
    assert_true(authority_store(a, c, NULL) < 0);
    assert_int_equal(authority_lock(a, &right, NULL), 0);
    assert_int_equal(kept(grid, &mallory), 0);
    authority_close(a);
    X509_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signed_ahead),
        cmocka_unit_test(test_passphrase),
        cmocka_unit_test(test_planted),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
