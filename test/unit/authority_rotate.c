/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_rotate.c -- the authority's folder: a change of its key that was cut short is
 * completed, and a locked key stays locked. */
#include "rotation.h"

static void test_cut_short(void **state)
{
    (void)state;
    struct rotation *r = statement("grid");
    struct err e = {0};
    copy("before", "cut");
    copy("grid/rotation", "cut/rotation");
    struct authority *a = open_authority("cut"); /* the old key: nothing has happened */
    assert_false(authority_is_of(in("cut"), r->after));
    authority_close(a);
    copy("grid/authority.key", "cut/authority.key");
    a = open_authority("cut");
    assert_true(authority_is_of(in("cut"), r->after));
    struct certificates d;
    struct identity *birch = load("birch");
    assert_int_equal(certificates_read(&d, in("cut"), &identity_card(birch)->id, &e), 0);
    X509 *kept = certificates_pick(&d, time(NULL), 0);
    assert_int_equal(X509_verify(kept, X509_get0_pubkey(r->after)), 1);
    certificates_clear(&d);
    authority_close(a);
    identity_free(birch);
    rotation_free(r);
}

static void test_a_locked_one_stays_locked(void **state)
{
    (void)state;
    const struct keyfile_access with = {.passphrase = (const uint8_t *)"long enough", .length = 11};
    struct authority_change c = {.seconds = DAY};
    struct certificates d;
    copy("before", "locked");
    struct authority *a = open_authority("locked");
    assert_int_equal(authority_lock(a, &with, NULL), 0);
    assert_int_equal(authority_rotate(a, &with, &c, NULL), 0);
    authority_close(a);
    assert_true(authority_is_locked(in("locked")));
    assert_int_equal(authority_open_with(&a, in("locked"), &with, NULL), 0);
    struct identity *birch = load("birch");
    assert_int_equal(certificates_read(&d, in("locked"), &identity_card(birch)->id, NULL), 0);
    assert_true(d.count > 2); /* also what renews it later */
    for (size_t i = 0; i < d.count; i++)
        assert_int_equal(X509_verify(d.at[i], X509_get0_pubkey(authority_certificate(a))), 1);
    certificates_clear(&d);
    identity_free(birch);
    authority_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_a_locked_one_stays_locked),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
