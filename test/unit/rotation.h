/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation.h -- grids whose authority has another key, for the tests of that: `grid`; `before` is
 * its folder of then; `stolen` is a copy of `before` whose key a thief has changed; in `twice` the
 * key was changed once more. */
#ifndef P2P_TEST_UNIT_ROTATION_H
#define P2P_TEST_UNIT_ROTATION_H
#include "overlay/crypto/identity.h"
#include "overlay/crypto/rotation.h"
#include "overlay/membership/authority.h"
#include "overlay/membership/certificates.h"
#include "overlay/membership/ledger.h"
#include "temporary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { DAY = 24 * 3600 };

static char folder[] = "/tmp/p2pgrid-rotation-XXXXXX";

static inline const char *in(const char *file)
{
    return temporary_path(folder, file);
}

static inline void copy(const char *from, const char *to)
{
    char command[600];
    snprintf(command, sizeof command, "cp -rT %s %s", in(from), in(to));
    assert_int_equal(system(command), 0);
}

static inline struct authority *open_authority(const char *grid)
{
    struct authority *a;
    assert_int_equal(authority_open(&a, in(grid), NULL), 0);
    return a;
}

static inline void issue(const char *grid, const char *name)
{
    struct authority *a = open_authority(grid);
    struct authority_order order = {.peer = name, .days = 10};
    assert_int_equal(authority_issue(a, &order, in(name), NULL), 0);
    authority_close(a);
}

static inline struct authority_change change(const char *grid)
{
    struct authority *a = open_authority(grid);
    struct authority_change c = {.seconds = 10 * DAY};
    assert_int_equal(authority_rotate(a, NULL, &c, NULL), 0);
    authority_close(a);
    return c;
}

static inline void revoke(const char *grid, const char *name)
{
    struct ledger l;
    assert_int_equal(ledger_read(&l, in(grid), NULL), 0);
    struct ledger_entry entry = *ledger_find(&l, name, time(NULL), NULL);
    entry.revoked = true;
    assert_int_equal(ledger_add(in(grid), &entry, NULL), 0);
    ledger_free(&l);
}

static inline int set_up(void **state)
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

static inline int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static inline struct identity *load(const char *name)
{
    struct identity *i;
    struct err e = {0};
    if (identity_load(&i, in(name), &e) < 0)
        fail_msg("%s: %s", name, e.text);
    return i;
}

static inline X509 *own(const struct identity *i)
{
    return SSL_CTX_get0_certificate(identity_tls(i));
}

static inline struct rotation *statement(const char *grid)
{
    struct rotation *r = rotation_load(in(grid));
    assert_non_null(r);
    return r;
}
#endif
