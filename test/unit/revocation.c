/* SPDX-License-Identifier: BSD-3-Clause */
/* revocation.c -- a member that was put out stays out: names find one member, lists count only when
 * the authority has signed them, and a certificate is renewed for its own key alone. */
#include "overlay/membership/ledger.h"
#include "overlay/membership/member.h"
#include "overlay/membership/renewal.h"
#include "overlay/crypto/revocation.h"
#include "overlay/membership/authority.h"
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-revocation-XXXXXX";

static const char *in(const char *file)
{
    return temporary_path(folder, file);
}

static struct authority *open_authority(const char *grid)
{
    struct authority *a;
    assert_int_equal(authority_open(&a, in(grid), NULL), 0);
    return a;
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL ||
        authority_create(in("grid"), "fen", &(struct authority_terms){.days = 10}, NULL) < 0 ||
        authority_create(in("other"), "fen", &(struct authority_terms){.days = 10}, NULL) < 0)
        return -1;
    struct authority *a = open_authority("grid");
    struct authority_order order = {.peer = "alder", .days = 10};
    int rc = authority_issue(a, &order, in("alder"), NULL);
    order.peer = "birch";
    order.owner = "self";
    rc += authority_issue(a, &order, in("birch"), NULL);
    authority_close(a);
    return rc;
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static void test_ledger(void **state)
{
    (void)state;
    struct ledger l;
    struct err e = {0}, none = {0};
    time_t now = time(NULL);
    assert_int_equal(ledger_read(&l, in("grid"), NULL), 0);
    assert_int_equal(l.count, 2);
    const struct ledger_entry *alder = ledger_find(&l, "alder", now, NULL);
    assert_non_null(alder);
    assert_null(ledger_named(&l, "alder", &alder->id, now)); /* itself is no other */
    assert_null(ledger_find(&l, "oak", now, &none));
    assert_non_null(strstr(none.text, "no member 'oak'"));
    struct ledger_entry twin = *alder;
    twin.id.b[0] ^= 1;
    ledger_free(&l);

    assert_int_equal(ledger_add(in("grid"), &twin, NULL), 0);
    assert_int_equal(ledger_read(&l, in("grid"), NULL), 0);
    assert_null(ledger_find(&l, "alder", now, &e));
    assert_int_equal(e.code, EEXIST);
    char id[ID_TEXT + 1];
    id_text(&twin.id, id);
    assert_non_null(ledger_find(&l, id, now, NULL));
    ledger_free(&l);

    twin.revoked = true;
    assert_int_equal(ledger_add(in("grid"), &twin, NULL), 0);
    assert_int_equal(ledger_read(&l, in("grid"), NULL), 0);
    assert_int_equal(l.count, 3);
    assert_non_null(ledger_find(&l, "alder", now, NULL)); /* the other one is a member no more */
    assert_null(ledger_find(&l, "birch", now + 11 * 24 * 3600, NULL));
    ledger_free(&l);
}

static void test_owner(void **state)
{
    (void)state;
    struct ledger l;
    struct id owner, nobody = {{1}};
    char text[ID_TEXT + 1];
    struct err e = {0}, old = {0};
    time_t now = time(NULL);
    assert_int_equal(ledger_read(&l, in("grid"), NULL), 0);
    struct ledger_entry birch = *ledger_find(&l, "birch", now, NULL);
    assert_int_equal(ledger_owner(&l, "birch", now, &owner, NULL), 0);
    assert_true(id_equal(&owner, &birch.id)); /* its own */
    id_text(&birch.owner, text);
    assert_int_equal(ledger_owner(&l, text, now, &owner, NULL), 0);
    assert_int_equal(ledger_owner(&l, "oak", now, &owner, &e), -ENOENT);
    id_text(&nobody, text);
    assert_int_equal(ledger_owner(&l, text, now, &owner, &e), -ENOENT);
    assert_non_null(strstr(e.text, "knows no owner"));
    ledger_free(&l);

    birch.owned = false;
    assert_int_equal(ledger_add(in("grid"), &birch, NULL), 0);
    assert_int_equal(ledger_read(&l, in("grid"), NULL), 0);
    assert_int_equal(ledger_owner(&l, "birch", now, &owner, &old), -ENOENT);
    assert_non_null(strstr(old.text, "joined before"));
    ledger_free(&l);
}

static void test_signed_list(void **state)
{
    (void)state;
    struct identity *i;
    assert_int_equal(identity_load(&i, in("alder"), NULL), 0);
    struct authority *a = open_authority("grid"), *other = open_authority("other");
    struct revocation *r = calloc(1, sizeof *r), *back = calloc(1, sizeof *back);
    r->list.serial = 7;
    r->list.revoked_count = 1;
    r->list.revoked[0].peer.b[3] = 9;
    assert_int_equal(revocation_sign(r, authority_key(a), NULL), 0);
    assert_true(revocation_is_signed(&r->list, identity_authority(i)));
    assert_true(revocation_has(&r->list, &r->list.revoked[0].peer));

    assert_int_equal(revocation_save(r, folder, NULL), 0);
    revocation_load(back, folder, identity_authority(i));
    assert_int_equal(back->list.serial, 7);
    assert_true(revocation_is_signed(&back->list, identity_authority(i)));

    back->list.revoked_count = 0; /* an entry left out */
    assert_false(revocation_is_signed(&back->list, identity_authority(i)));
    assert_int_equal(revocation_sign(back, authority_key(other), NULL), 0);
    assert_false(revocation_is_signed(&back->list, identity_authority(i)));
    assert_int_equal(revocation_save(back, folder, NULL), 0);
    revocation_load(back, folder, identity_authority(i));
    assert_int_equal(back->list.serial, 0); /* of another grid: none */
    free(r);
    free(back);
    authority_close(a);
    authority_close(other);
    identity_free(i);
}

static void test_revoked_identity(void **state)
{
    (void)state;
    struct identity *i;
    assert_int_equal(identity_load(&i, in("alder"), NULL), 0);
    struct part_revoked one = {.peer = {.b = {1, 2}}};
    assert_false(identity_is_revoked(i, &one.peer));
    assert_int_equal(identity_revoke(i, &one, 1), 0);
    assert_true(identity_is_revoked(i, &one.peer));
    assert_int_equal(identity_revoke(i, NULL, 0), 0);
    assert_false(identity_is_revoked(i, &one.peer));
    identity_free(i);
}

static int renew(struct identity *i, struct authority *a, EVP_PKEY *key, double days, struct err *e)
{
    struct authority_order order = {.peer = "alder", .days = days};
    unsigned char *der = NULL;
    X509 *c = NULL;
    assert_int_equal(authority_admit(a, &order, key, &c, NULL), 0);
    int length = i2d_X509(c, &der);
    int rc = identity_renew(i, der, (size_t)length, e);
    OPENSSL_free(der);
    X509_free(c);
    return rc;
}

static void test_renewal(void **state)
{
    (void)state;
    struct identity *i, *again;
    struct err e = {0};
    assert_int_equal(identity_load(&i, in("alder"), NULL), 0);
    struct authority *a = open_authority("grid"), *other = open_authority("other");
    EVP_PKEY *mine = SSL_CTX_get0_privatekey(identity_tls(i)), *foreign;
    time_t before = identity_card(i)->ends;
    foreign = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    assert_int_equal(renew(i, a, foreign, 20, &e), -EINVAL);
    assert_int_not_equal(renew(i, other, mine, 20, NULL), 0);
    assert_int_equal(identity_renew(i, (const uint8_t *)"no", 2, NULL), -EINVAL);
    assert_int_equal(identity_card(i)->ends, before);
    assert_int_equal(renew(i, a, mine, 20, NULL), 0);
    assert_true(identity_card(i)->ends > before + 9 * 24 * 3600);
    assert_int_equal(identity_load(&again, in("alder"), NULL), 0);
    assert_int_equal(identity_card(again)->ends, identity_card(i)->ends);
    EVP_PKEY_free(foreign);
    identity_free(i);
    identity_free(again);
    authority_close(a);
    authority_close(other);
}

static void test_when_to_renew(void **state)
{
    (void)state;
    enum { DAY = 24 * 3600 };
    assert_int_equal(renewal_due(0, 365 * DAY), 335 * DAY);
    assert_int_equal(renewal_due(0, 3 * DAY), 2 * DAY);
}

static void test_owner_of_its_own(void **state)
{
    (void)state;
    struct identity *i;
    assert_int_equal(identity_load(&i, in("birch"), NULL), 0);
    assert_true(id_equal(&identity_card(i)->id, &identity_card(i)->owner));
    identity_free(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ledger),           cmocka_unit_test(test_owner),
        cmocka_unit_test(test_signed_list),      cmocka_unit_test(test_revoked_identity),
        cmocka_unit_test(test_renewal),          cmocka_unit_test(test_when_to_renew),
        cmocka_unit_test(test_owner_of_its_own),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
