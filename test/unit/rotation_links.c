/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation_links.c -- after a change of the authority's key members stay members, whether they know
 * it already or were away, and the holder of the old key gets no link and changes nothing any more.
 */
#include "rotation.h"
#include "handshake.h"
#include <openssl/ssl.h>

static int check(X509_STORE_CTX *store, void *ctx)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    (void)ctx;
    return identity_verify(SSL_get_app_data(ssl), store);
}

static SSL *end_of(struct identity *i)
{
    SSL_CTX_set_cert_verify_callback(identity_tls(i), check, NULL);
    SSL *ssl = SSL_new(identity_tls(i));
    SSL_set_app_data(ssl, i);
    return ssl;
}

static bool shake(struct identity *a, struct identity *b)
{
    SSL *client = end_of(a), *server = end_of(b);
    const bool ok = handshake(client, server);
    SSL_free(client);
    SSL_free(server);
    return ok;
}

static bool both_ways(struct identity *a, struct identity *b)
{
    return shake(a, b) && shake(b, a);
}

/* The certificate that the authority has kept for it. */
static int renew(struct identity *i, const char *grid)
{
    struct certificates d;
    uint8_t *der = NULL;
    assert_int_equal(certificates_read(&d, in(grid), &identity_card(i)->id, NULL), 0);
    X509 *fresh = certificates_pick(&d, time(NULL), 0);
    assert_non_null(fresh);
    int length = i2d_X509(fresh, &der), rc = identity_renew(i, der, (size_t)length, NULL);
    OPENSSL_free(der);
    certificates_clear(&d);
    return rc;
}

static void test_members_stay_members(void **state)
{
    (void)state;
    struct rotation *r = statement("grid");
    copy("alder", "knows");
    struct identity *knows = load("knows"), *birch = load("birch"), *mallory = load("mallory");
    struct identity_card was = *identity_card(knows);
    assert_int_equal(identity_rotate(knows, in("knows"), r, NULL), 0);
    assert_false(identity_is_current(knows, own(knows)));
    assert_int_equal(identity_ends(knows, own(knows), was.ends),
                     was.ends < r->until ? was.ends : r->until);
    assert_true(both_ways(knows, birch)); /* neither has a new certificate */
    assert_false(shake(mallory, knows));
    assert_false(shake(knows, mallory));

    assert_int_equal(renew(knows, "grid"), 0);
    assert_true(identity_is_current(knows, own(knows)));
    assert_true(id_equal(&identity_card(knows)->id, &was.id));
    assert_true(id_equal(&identity_card(knows)->owner, &was.owner));
    assert_int_equal(identity_card(knows)->ends, was.ends);
    assert_true(both_ways(knows, birch)); /* which was away and knows the old key only */
    assert_false(shake(mallory, knows));

    struct identity *again = load("knows"); /* started anew */
    assert_true(both_ways(again, birch));
    assert_true(both_ways(again, knows));
    assert_false(shake(mallory, again));
    identity_free(again);
    identity_free(knows);
    identity_free(birch);
    identity_free(mallory);
    rotation_free(r);
}

static void test_a_newcomer_learns_what_was(void **state)
{
    (void)state;
    struct rotation *r = statement("grid");
    issue("grid", "dogwood");
    struct identity *dogwood = load("dogwood"), *birch = load("birch");
    assert_false(shake(dogwood, birch)); /* which knows nothing of that key */
    assert_int_equal(identity_rotate(dogwood, in("dogwood"), r, NULL), 0);
    assert_true(both_ways(dogwood, birch));
    identity_free(dogwood);
    identity_free(birch);
    rotation_free(r);
}

/* The forged new key is no way around the list. */
static void test_a_stolen_key_makes_no_other(void **state)
{
    (void)state;
    struct rotation *r = statement("grid"), *forged = statement("stolen");
    copy("alder", "wary");
    struct identity *wary = load("wary"), *mallory = load("mallory");
    assert_int_equal(identity_rotate(wary, in("wary"), r, NULL), 0);
    assert_int_equal(renew(wary, "grid"), 0);
    assert_int_equal(identity_rotate(mallory, in("mallory"), forged, NULL), 0);
    assert_int_equal(renew(mallory, "stolen"), 0);
    assert_false(shake(mallory, wary));
    assert_false(shake(wary, mallory));
    identity_free(wary);
    identity_free(mallory);
    rotation_free(r);
    rotation_free(forged);
}

static void test_changed_twice(void **state)
{
    (void)state;
    struct rotation *first = statement("grid"), *second = statement("twice");
    copy("birch", "late");
    copy("alder", "time");
    struct identity *i = load("time"), *late = load("late"), *again;
    assert_int_equal(identity_rotate(i, in("time"), first, NULL), 0);
    assert_int_equal(renew(i, "grid"), 0);
    assert_int_equal(identity_rotate(i, in("time"), second, NULL), 0);
    assert_int_equal(renew(i, "twice"), 0);
    again = load("time");
    assert_true(both_ways(i, again));
    assert_false(shake(i, late));
    identity_free(i);
    identity_free(late);
    identity_free(again);
    rotation_free(first);
    rotation_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_stay_members),
        cmocka_unit_test(test_a_newcomer_learns_what_was),
        cmocka_unit_test(test_a_stolen_key_makes_no_other),
        cmocka_unit_test(test_changed_twice),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
