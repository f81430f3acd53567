/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation.c -- the authority has another key: members stay members, whether they know it already
 * or were away, and who has the old key lets nobody in and changes nothing any more. */
#include "overlay/membership/authority.h"
#include "overlay/membership/certificates.h"
#include "overlay/base/file.h"
#include "overlay/crypto/identity.h"
#include "overlay/membership/ledger.h"
#include "overlay/crypto/rotation.h"
#include "handshake.h"
#include "temporary.h"
#include <errno.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { DAY = 24 * 3600 };

static char folder[] = "/tmp/p2pgrid-rotation-XXXXXX";

static const char *in(const char *file)
{
    static char paths[8][128];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, file);
    return path;
}

static void copy(const char *from, const char *to)
{
    char command[600];
    snprintf(command, sizeof command, "cp -rT %s %s", in(from), in(to));
    assert_int_equal(system(command), 0);
}

static struct authority *open_authority(const char *grid)
{
    struct authority *a;
    assert_int_equal(authority_open(&a, in(grid), NULL), 0);
    return a;
}

static void issue(const char *grid, const char *name)
{
    struct authority *a = open_authority(grid);
    struct authority_order order = {.peer = name, .days = 10};
    assert_int_equal(authority_issue(a, &order, in(name), NULL), 0);
    authority_close(a);
}

static struct authority_change change(const char *grid)
{
    struct authority *a = open_authority(grid);
    struct authority_change c = {.seconds = 10 * DAY};
    assert_int_equal(authority_rotate(a, NULL, &c, NULL), 0);
    authority_close(a);
    return c;
}

static void revoke(const char *grid, const char *name)
{
    struct ledger l;
    assert_int_equal(ledger_read(&l, in(grid), NULL), 0);
    struct ledger_entry entry = *ledger_find(&l, name, time(NULL), NULL);
    entry.revoked = true;
    assert_int_equal(ledger_add(in(grid), &entry, NULL), 0);
    ledger_free(&l);
}

/* Stolen before the key was changed, and changed by the thief: `stolen`. `before` is the folder of
 * then, in `twice` the key was changed once more. */
static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL ||
        authority_create(in("grid"), "fen", &(struct authority_terms){.days = 100}, NULL) < 0)
        return -1;
    issue("grid", "alder");
    issue("grid", "birch");
    issue("grid", "cedar");
    revoke("grid", "cedar");
    copy("grid", "before");
    copy("grid", "stolen");
    struct authority_change c = change("grid");
    issue("stolen", "mallory");
    change("stolen");
    copy("grid", "twice");
    change("twice");
    return c.members == 2 && c.unlisted == 0 ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static struct identity *load(const char *name)
{
    struct identity *i;
    struct err e = {0};
    if (identity_load(&i, in(name), &e) < 0)
        fail_msg("%s: %s", name, e.text);
    return i;
}

static X509 *own(const struct identity *i)
{
    return SSL_CTX_get0_certificate(identity_tls(i));
}

static struct rotation *statement(const char *grid)
{
    struct rotation *r = rotation_load(in(grid));
    assert_non_null(r);
    return r;
}

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

/* --- handshakes --- */

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

/* --- the folder --- */

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
        cmocka_unit_test(test_who_is_listed),
        cmocka_unit_test(test_only_whole_ones_are_read),
        cmocka_unit_test(test_one_key_is_not_enough),
        cmocka_unit_test(test_the_first_change_counts),
        cmocka_unit_test(test_members_stay_members),
        cmocka_unit_test(test_a_newcomer_learns_what_was),
        cmocka_unit_test(test_a_stolen_key_makes_no_other),
        cmocka_unit_test(test_changed_twice),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_a_locked_one_stays_locked),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
