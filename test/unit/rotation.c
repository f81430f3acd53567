/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation.c -- the statement that the authority has another key: what it lists, which ones are
 * read, and which one counts. */
#include "rotation.h"
#include <openssl/pem.h>

static void test_who_is_listed(void **state)
{
    (void)state;
    struct rotation *r = statement("grid");
    time_t now = time(NULL);
    struct identity *alder = load("alder"), *cedar = load("cedar"), *mallory = load("mallory");
    assert_true(rotation_lets_in(r, own(alder), now));
    assert_false(rotation_lets_in(r, own(alder), r->until));
    assert_false(rotation_lets_in(r, own(cedar), now)); /* was revoked */
    assert_false(rotation_lets_in(r, own(mallory), now));
    identity_free(alder);
    identity_free(cedar);
    identity_free(mallory);
    rotation_free(r);
}

static void test_only_whole_ones_are_read(void **state)
{
    (void)state;
    struct rotation *r = statement("grid"), *back = NULL;
    uint8_t *frame = malloc(r->length);
    memcpy(frame, r->frame, r->length);
    assert_int_equal(rotation_read(&back, frame, r->length, NULL), 0);
    rotation_free(back);
    for (size_t i = 0; i < r->length; i += 7) {
        frame[i] ^= 1;
        assert_true(rotation_read(&back, frame, r->length, NULL) < 0);
        frame[i] ^= 1;
        assert_true(rotation_read(&back, frame, i, NULL) < 0);
    }
    struct msg_rotation said = r->said;
    said.good_length -= ROTATION_HASH; /* one left out */
    assert_true(rotation_take(&back, &said, NULL) < 0);
    said = r->said;
    said.until++;
    assert_true(rotation_take(&back, &said, NULL) < 0);
    free(frame);
    rotation_free(r);
}

/* Both must sign, and the old one must say the same of the new one. */
static void test_one_key_is_not_enough(void **state)
{
    (void)state;
    struct rotation *r = statement("grid"), *made = NULL;
    FILE *f = fopen(in("before/authority.key"), "re");
    EVP_PKEY *old = PEM_read_PrivateKey(f, NULL, NULL, NULL),
             *fresh = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    fclose(f);
    assert_true(rotation_sign(&made, &r->said, old, old, NULL) < 0);
    assert_true(rotation_sign(&made, &r->said, old, fresh, NULL) < 0);
    struct msg_rotation said = r->said;
    said.cross = said.after; /* signed by itself */
    said.cross_length = said.after_length;
    assert_true(rotation_sign(&made, &said, old, fresh, NULL) < 0);
    EVP_PKEY_free(old);
    EVP_PKEY_free(fresh);
    rotation_free(r);
}

static void test_the_first_change_counts(void **state)
{
    (void)state;
    struct rotation *first = statement("grid"), *other = statement("stolen"),
                    *second = statement("twice");
    struct id nobody = {{1}};
    assert_int_equal(rotation_judge(first, &first->from, NULL), ROTATION_NEW);
    assert_int_equal(rotation_judge(first, &first->to, first), ROTATION_KNOWN);
    assert_int_equal(rotation_judge(first, &first->to, NULL), ROTATION_PAST);
    assert_int_equal(rotation_judge(first, &nobody, NULL), ROTATION_OTHER);
    assert_int_equal(rotation_judge(other, &first->to, first), ROTATION_OTHER);
    assert_int_equal(rotation_judge(other, &first->to, NULL), ROTATION_OTHER);
    assert_int_equal(rotation_judge(second, &first->to, first), ROTATION_NEW);
    assert_int_equal(rotation_judge(first, &second->to, second), ROTATION_KNOWN);
    assert_int_equal(rotation_judge(second, &first->from, NULL), ROTATION_OTHER);
    rotation_free(first);
    rotation_free(other);
    rotation_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_listed),
        cmocka_unit_test(test_only_whole_ones_are_read),
        cmocka_unit_test(test_one_key_is_not_enough),
        cmocka_unit_test(test_the_first_change_counts),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
