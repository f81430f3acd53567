/* SPDX-License-Identifier: BSD-3-Clause */
/* lending.c -- hours, members, and the owner's coming and going. */
#include "overlay/lend/lending.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { MON, TUE, WED, THU, FRI, SAT, SUN, MINUTE = 60 * 1000 };

static bool covered(const char *text, unsigned weekday, unsigned hour, unsigned minute)
{
    struct hours h;
    const char *why;
    assert_true(hours_parse(&h, text, &why));
    return hours_cover(&h, 1, weekday, hour * 60 + minute);
}

static void test_hours(void **state)
{
    (void)state;
    assert_true(covered("mon-fri 18:00-08:00", MON, 18, 0));
    assert_false(covered("mon-fri 18:00-08:00", MON, 17, 59));
    assert_false(covered("mon-fri 18:00-08:00", MON, 7, 59)); /* begun on Sunday: no */
    assert_true(covered("mon-fri 18:00-08:00", SAT, 7, 59));  /* begun on Friday */
    assert_false(covered("mon-fri 18:00-08:00", SAT, 8, 0));
    assert_true(covered("sat,sun", SUN, 12, 0));
    assert_false(covered("sat,sun", MON, 0, 0));
    assert_true(covered("sat-mon", MON, 23, 59));
    assert_false(covered("sat-mon", TUE, 0, 0));
    assert_true(covered("22:00-06:00", WED, 5, 59));
    assert_true(covered("00:00-24:00", THU, 23, 59));
    assert_true(hours_cover(NULL, 0, FRI, 600));
}

static void test_bad_hours(void **state)
{
    static const char *const bad[] = {"",         "mon-",  "monday",          "mon 8:00-9:00",
                                      "24:01-8",  "18:00", "18:60-19:00",     "18:00-18:00",
                                      "mon  sat", "fri,",  "08:00-09:00 mon", "25:00-26:00"};
    struct hours h;
    const char *why;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (hours_parse(&h, bad[i], &why))
            fail_msg("'%s' was taken", bad[i]);
}

static void test_members(void **state)
{
    struct settings s = {
        .allow = {"@lab", "alder"}, .allow_count = 2, .deny = {"birch"}, .deny_count = 1};
    struct identity_card who = {.name = "oak", .groups = {"night", "lab"}, .group_count = 2};
    struct id self = {.b = {1}};
    char hex[ID_TEXT + 1];
    (void)state;
    assert_true(lending_allows(&s, &self, &who));
    who.group_count = 1;
    assert_false(lending_allows(&s, &self, &who));
    strcpy(who.name, "alder");
    assert_true(lending_allows(&s, &self, &who));
    strcpy(s.deny[0], "@night");
    assert_false(lending_allows(&s, &self, &who));
    who.owner = self; /* the owner's own peers are no guests */
    assert_true(lending_allows(&s, &self, &who));
    who.owner.b[0] = 7;
    id_text(&who.owner, hex);
    s = (struct settings){.allow = {"all"}, .allow_count = 1, .deny_count = 1};
    strcpy(s.deny[0], hex);
    assert_false(lending_allows(&s, &self, &who));
    who.owner.b[0] = 8;
    assert_true(lending_allows(&s, &self, &who));
    s.allow_count = 0;
    assert_false(lending_allows(&s, &self, &who));
}

static struct lending l;
static struct settings s;
static struct lending_view v;
static struct lending_act act;

static enum lending_state after(uint64_t ms)
{
    v.now_ms += ms;
    lending_step(&l, &s, &v, &act);
    return act.state;
}

static void fresh(void)
{
    l = (struct lending){0};
    s = (struct settings){.idle_minutes = 10};
    v = (struct lending_view){.now_ms = 1000, .weekday = MON, .minute = 600, .leases = 1};
}

static void test_pause_and_leave(void **state)
{
    (void)state;
    fresh();
    assert_int_equal(after(0), LENDING_OPEN);
    l.paused = true;
    assert_int_equal(after(0), LENDING_PAUSED);
    assert_false(act.suspend || act.end_all || act.quit);
    l.stop_guests = true;
    after(0);
    assert_true(act.suspend);
    l = (struct lending){.leaving = true, .leave_by_ms = v.now_ms + 5000};
    assert_int_equal(after(4999), LENDING_LEAVING);
    assert_false(act.end_all || act.quit);
    assert_int_equal(act.end_by_ms, l.leave_by_ms);
    after(1);
    assert_true(act.end_all && act.quit);
    v.leases = 0; /* nothing to wait for */
    l.leave_by_ms = v.now_ms + 5000;
    after(0);
    assert_true(!act.end_all && act.quit);
}

static void test_hours_close(void **state)
{
    const char *why;
    (void)state;
    fresh();
    assert_true(hours_parse(&s.hours[0], "18:00-08:00", &why));
    s.hours_count = 1;
    assert_int_equal(after(0), LENDING_HOURS);
    assert_false(act.end_all); /* what runs goes on */
    v.minute = 18 * 60;
    assert_int_equal(after(0), LENDING_OPEN);
}

static void test_idle_only(void **state)
{
    (void)state;
    fresh();
    s.idle_only = true;
    assert_int_equal(after(0), LENDING_IN_USE); /* not known to be idle yet */
    assert_int_equal(after(10 * MINUTE - 1), LENDING_IN_USE);
    assert_int_equal(after(1), LENDING_OPEN);
    v.in_use = true;
    assert_int_equal(after(1000), LENDING_IN_USE);
    assert_false(act.suspend || act.end_all); /* nothing: as the owner said */
    v.in_use = false;
    assert_int_equal(after(1000), LENDING_IN_USE);
    v.sure = true; /* the desktop has waited already */
    assert_int_equal(after(1000), LENDING_OPEN);
    s.idle_only = false;
    v.in_use = true;
    assert_int_equal(after(1000), LENDING_OPEN);
}

static void test_owner_returns(void **state)
{
    (void)state;
    fresh();
    s.idle_only = true;
    s.owner_back = SETTINGS_SUSPEND;
    v.sure = true;
    after(0);
    assert_false(act.suspend);
    v.in_use = true;
    after(1000);
    after(LENDING_SURE_MS - 1);
    assert_false(act.suspend);
    after(1);
    assert_true(act.suspend);
    v.in_use = false;
    after(1000);
    assert_false(act.suspend);
    s.owner_back = SETTINGS_LEAVE;
    v.in_use = true;
    after(1000);
    assert_int_equal(act.end_by_ms, 0); /* not sure yet */
    after(LENDING_AWAY_MS - 1);
    assert_int_equal(act.end_by_ms, v.now_ms + 1);
    assert_false(act.end_all);
    after(1);
    assert_true(act.end_all && !act.quit);
    v.leases = 0;
    after(1000);
    assert_false(act.end_all);
}

static void test_load(void **state)
{
    (void)state;
    assert_false(lending_load_is_use(300, 0, 4));
    assert_true(lending_load_is_use(2000, 0, 4));
    assert_false(lending_load_is_use(4200, 4, 4));
    assert_true(lending_load_is_use(6000, 4, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hours),         cmocka_unit_test(test_bad_hours),
        cmocka_unit_test(test_members),       cmocka_unit_test(test_pause_and_leave),
        cmocka_unit_test(test_hours_close),   cmocka_unit_test(test_idle_only),
        cmocka_unit_test(test_owner_returns), cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
