/* SPDX-License-Identifier: BSD-3-Clause */
/* identity.c -- keys are made, kept private, and let in whom the grid admitted and nobody else. */
#include "overlay/membership/authority.h"
#include "overlay/crypto/identity.h"
#include "handshake.h"
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-identity-XXXXXX";

static const char *in(const char *file)
{
    return temporary_path(folder, file);
}

static void issue(const char *grid, const char *peer, int days)
{
    static const char *const groups[] = {"lab", "night"};
    struct authority_order order = {.peer = peer, .groups = groups, .group_count = 2, .days = days};
    struct authority *a;
    struct err e = {0};
    assert_int_equal(authority_open(&a, in(grid), &e), 0);
    assert_int_equal(authority_issue(a, &order, in(peer), &e), 0);
    authority_close(a);
}

static int set_up(void **state)
{
    (void)state;
    struct err e = {0};
    if (mkdtemp(folder) == NULL ||
        authority_create(in("grid"), "fen", &(struct authority_terms){.days = 10}, &e) < 0 ||
        authority_create(in("other"), "fen", &(struct authority_terms){.days = 10}, &e) < 0)
        return -1;
    issue("grid", "alder", 10);
    issue("grid", "birch", 10);
    issue("grid", "late", -1);
    issue("other", "mallory", 10);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static void test_card(void **state)
{
    (void)state;
    struct identity *i, *j;
    struct err e = {0};
    assert_int_equal(identity_load(&i, in("alder"), &e), 0);
    assert_int_equal(identity_load(&j, in("birch"), &e), 0);
    const struct identity_card *a = identity_card(i), *b = identity_card(j);
    assert_string_equal(a->name, "alder");
    assert_string_equal(a->grid, "fen");
    assert_int_equal(a->group_count, 2);
    assert_string_equal(a->groups[1], "night");
    assert_false(id_equal(&a->id, &b->id));
    assert_true(id_equal(&a->owner, &b->owner));
    assert_false(id_equal(&a->id, &a->owner));
    assert_true(a->ends > time(NULL) + 9 * 24 * 3600);
    identity_free(i);
    identity_free(j);
}

/* Read again: the same peer, or nothing changes. */
static void test_reload(void **state)
{
    (void)state;
    struct identity *i;
    struct err e = {0};
    assert_int_equal(identity_load(&i, in("alder"), &e), 0);
    const struct identity_card was = *identity_card(i);
    const SSL_CTX *before = identity_tls(i);
    assert_int_equal(identity_reload(i, in("birch"), &e), -EINVAL);
    assert_non_null(strstr(e.text, "restart"));
    assert_true(identity_reload(i, in("late"), &e) < 0);
    assert_true(identity_reload(i, in("nowhere"), &e) < 0);
    assert_memory_equal(identity_card(i), &was, sizeof was);
    assert_ptr_equal(identity_tls(i), before);
    assert_int_equal(identity_reload(i, in("alder"), &e), 0);
    assert_memory_equal(identity_card(i), &was, sizeof was);
    assert_ptr_not_equal(identity_tls(i), before);
    identity_free(i);
}

static void test_key_stays_private(void **state)
{
    (void)state;
    struct identity *i;
    struct err e = {0};
    struct stat st;
    assert_int_equal(stat(in("alder/peer.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(in("grid/authority.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chmod(in("birch/peer.key"), 0644), 0);
    assert_int_equal(identity_load(&i, in("birch"), &e), -EACCES);
    assert_non_null(strstr(e.text, "chmod 600"));
    assert_int_equal(chmod(in("birch/peer.key"), 0600), 0);
}

static void test_bad_keys_have_a_reason(void **state)
{
    (void)state;
    struct identity *i;
    struct err late = {0}, none = {0};
    assert_int_equal(identity_load(&i, in("late"), &late), -EACCES);
    assert_non_null(strstr(late.text, "expired"));
    assert_int_equal(identity_load(&i, in("nowhere"), &none), -ENOENT);
    assert_non_null(strstr(none.text, "nowhere/peer.key"));
}

/* Which id a key gets is known to nobody before it is admitted; it stays for good then. */
static void test_ids_are_drawn(void **state)
{
    (void)state;
    struct authority *a;
    struct err e = {0};
    struct identity_card first, again, renewed;
    struct id of_key;
    X509 *c[4];
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    struct authority_order order = {.peer = "elm", .days = 1};
    assert_int_equal(authority_open(&a, in("grid"), &e), 0);
    assert_int_equal(authority_admit(a, &order, key, &c[0], &e), 0);
    assert_int_equal(identity_read(&first, c[0], &e), 0);
    assert_int_equal(identity_of_key(&of_key, key), 0);
    assert_false(id_equal(&first.id, &of_key));
    assert_int_equal(strlen(first.nonce), IDENTITY_NONCE_TEXT);
    order.peer = "elm2"; /* whoever comes again, under whatever name, is the same */
    assert_int_equal(authority_admit(a, &order, key, &c[1], &e), 0);
    assert_int_equal(identity_read(&again, c[1], &e), 0);
    assert_true(id_equal(&first.id, &again.id));
    order.nonce = first.nonce;
    assert_int_equal(authority_admit(a, &order, key, &c[2], &e), 0);
    assert_int_equal(identity_read(&renewed, c[2], &e), 0);
    assert_true(id_equal(&first.id, &renewed.id));
    order.nonce = ""; /* of a member from before nonces: renewed as it is */
    assert_int_equal(authority_admit(a, &order, key, &c[3], &e), 0);
    assert_int_equal(identity_read(&renewed, c[3], &e), 0);
    assert_true(id_equal(&renewed.id, &of_key));
    order.nonce = "abc";
    assert_int_equal(authority_admit(a, &order, key, &c[3], &e), -EINVAL);
    for (int i = 0; i < 4; i++)
        X509_free(c[i]);
    EVP_PKEY_free(key);
    authority_close(a);
}

/* Nothing can be prepared: what id a key gets depends on who admits it. */
static void test_ids_of_one_key_differ_by_grid(void **state)
{
    (void)state;
    struct authority *a;
    struct err e = {0};
    struct identity_card cards[2];
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    struct authority_order order = {.peer = "yew", .days = 1};
    for (int i = 0; i < 2; i++) {
        X509 *c;
        assert_int_equal(authority_create(in(i == 0 ? "one" : "two"), "g",
                                          &(struct authority_terms){.days = 1}, &e),
                         0);
        assert_int_equal(authority_open(&a, in(i == 0 ? "one" : "two"), &e), 0);
        assert_int_equal(authority_admit(a, &order, key, &c, &e), 0);
        assert_int_equal(identity_read(&cards[i], c, &e), 0);
        X509_free(c);
        authority_close(a);
    }
    assert_false(id_equal(&cards[0].id, &cards[1].id));
    EVP_PKEY_free(key);
}

static void test_bad_orders_are_refused(void **state)
{
    (void)state;
    struct authority *a;
    struct err e = {0}, again = {0}, owner = {0};
    assert_int_equal(authority_open(&a, in("grid"), &e), 0);
    struct authority_order order = {.peer = "two words", .days = 1};
    assert_int_equal(authority_issue(a, &order, in("x"), &e), -EINVAL);
    order = (struct authority_order){.peer = "alder", .days = 1};
    assert_int_equal(authority_issue(a, &order, in("alder"), &again), -EEXIST);
    order = (struct authority_order){.peer = "ash", .owner = "12", .days = 1};
    assert_int_equal(authority_issue(a, &order, in("ash"), &owner), -EINVAL);
    authority_close(a);
}

/* A handshake in memory, a at the dialling end: true when both ends are content. */
static bool shake(struct identity *a, struct identity *b)
{
    SSL *client = SSL_new(identity_tls(a)), *server = SSL_new(identity_tls(b));
    bool ok = handshake(client, server) && SSL_version(client) == TLS1_3_VERSION;
    SSL_free(client);
    SSL_free(server);
    return ok;
}

static void test_only_members_shake_hands(void **state)
{
    (void)state;
    struct identity *alder, *birch, *mallory;
    struct err e = {0};
    assert_int_equal(identity_load(&alder, in("alder"), &e), 0);
    assert_int_equal(identity_load(&birch, in("birch"), &e), 0);
    assert_int_equal(identity_load(&mallory, in("mallory"), &e), 0);
    assert_true(shake(alder, birch));
    assert_true(shake(birch, alder));
    assert_false(shake(mallory, birch));
    assert_false(shake(birch, mallory));
    identity_free(alder);
    identity_free(birch);
    identity_free(mallory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_drawn),
        cmocka_unit_test(test_ids_of_one_key_differ_by_grid),
        cmocka_unit_test(test_card),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_key_stays_private),
        cmocka_unit_test(test_bad_keys_have_a_reason),
        cmocka_unit_test(test_bad_orders_are_refused),
        cmocka_unit_test(test_only_members_shake_hands),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
