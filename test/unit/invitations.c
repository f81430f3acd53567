/* SPDX-License-Identifier: BSD-3-Clause */
/* invitations.c -- an invitation lets in one, once, in its time, also after a restart. */
#include "overlay/membership/invitations.h"
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

enum { NOW = 1000000, LATER = NOW + 3600 };

static char folder[] = "/tmp/p2pgrid-invite-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static struct invitations *open_all(time_t now)
{
    struct invitations *all;
    assert_int_equal(invitations_open(&all, folder, now, NULL), 0);
    return all;
}

static struct invitation make(uint8_t first, time_t ends)
{
    struct invitation one = {.secret = {first}, .ends = ends};
    return one;
}

static void test_once_and_after_a_restart(void **state)
{
    (void)state;
    struct invitations *all = open_all(NOW);
    struct invitation one = make(1, LATER), two = make(2, LATER);
    struct err e = {0};
    strcpy(one.groups[0], "lab");
    strcpy(one.groups[1], "night");
    one.group_count = 2;
    strcpy(two.owner, "self");
    assert_int_equal(invitation_add(all, &one, NOW, NULL), 0);
    assert_int_equal(invitation_add(all, &two, NOW, NULL), 0);
    invitations_close(all);

    all = open_all(NOW);
    struct id id = token_id(one.secret);
    const struct invitation *found = invitation_find(all, &id);
    assert_non_null(found);
    assert_int_equal(found->group_count, 2);
    assert_string_equal(found->groups[1], "night");
    assert_string_equal(found->owner, "");
    assert_int_equal(invitation_check(found, NOW, &e), 0);
    assert_int_equal(invitation_use(all, found, "birch", NOW, NULL), 0);
    invitations_close(all);

    all = open_all(NOW);
    found = invitation_find(all, &id);
    assert_int_equal(invitation_check(found, NOW, &e), -EACCES);
    assert_non_null(strstr(e.text, "used already, by birch"));
    id = token_id(two.secret);
    found = invitation_find(all, &id);
    assert_string_equal(found->owner, "self");
    assert_int_equal(invitation_check(found, NOW, NULL), 0);
    invitations_close(all);
}

static void test_end(void **state)
{
    (void)state;
    struct invitations *all = open_all(NOW);
    struct invitation one = make(3, LATER);
    struct err e = {0};
    assert_int_equal(invitation_add(all, &one, NOW, NULL), 0);
    assert_int_equal(invitation_check(&one, LATER - 1, NULL), 0);
    assert_int_equal(invitation_check(&one, LATER, &e), -EACCES);
    assert_non_null(strstr(e.text, "ended on"));
    invitations_close(all);
    all = open_all(LATER + INVITATION_KEPT_S);
    struct id id = token_id(one.secret);
    assert_null(invitation_find(all, &id));
    invitations_close(all);
}

static void test_bounded_and_private(void **state)
{
    (void)state;
    struct invitations *all = open_all(LATER + INVITATION_KEPT_S);
    struct err e = {0};
    char path[128];
    struct stat st;
    for (unsigned i = 0; i < INVITATIONS; i++) {
        struct invitation one = make((uint8_t)i, 3 * (time_t)INVITATION_KEPT_S);
        assert_int_equal(invitation_add(all, &one, 2 * (time_t)INVITATION_KEPT_S, NULL), 0);
    }
    struct invitation more = make(7, 3 * (time_t)INVITATION_KEPT_S);
    assert_int_equal(invitation_add(all, &more, 2 * (time_t)INVITATION_KEPT_S, &e), -ENOSPC);
    assert_int_equal(invitations_count(all), INVITATIONS);
    invitations_close(all);
    snprintf(path, sizeof path, "%s/invitations", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_and_after_a_restart),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_bounded_and_private),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
