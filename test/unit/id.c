/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/base/id.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct id at(uint8_t first, uint8_t last)
{
    struct id r = {{0}};
    r.b[0] = first;
    r.b[ID_BYTES - 1] = last;
    return r;
}

static void test_between_wraps(void **state)
{
    (void)state;
    struct id a = at(10, 0), b = at(20, 0), c = at(250, 0);
    assert_true(id_between(&b, &a, &c));
    assert_false(id_between(&a, &b, &c));
    assert_true(id_between(&a, &c, &b)); /* over zero */
    assert_false(id_between(&a, &a, &b));
    assert_false(id_between(&b, &a, &b));
    assert_true(id_between_or_at(&b, &a, &b));
    assert_true(id_between(&b, &a, &a)); /* the whole circle but a */
    assert_false(id_between(&a, &a, &a));
    assert_true(id_between_or_at(&a, &a, &a));
}

static void test_power_carries(void **state)
{
    (void)state;
    struct id a = at(0, 255), r = id_plus_power(&a, 0);
    assert_int_equal(r.b[ID_BYTES - 1], 0);
    assert_int_equal(r.b[ID_BYTES - 2], 1);
    struct id top = at(0x80, 7);
    r = id_plus_power(&top, ID_BITS - 1); /* wraps past 2^160 */
    assert_int_equal(r.b[0], 0);
    assert_int_equal(r.b[ID_BYTES - 1], 7);
}

static void test_distance_adds_up(void **state)
{
    (void)state;
    struct id a = at(200, 9), b = id_plus_power(&a, 77), d = id_distance(&a, &b);
    struct id zero = {{0}}, one = id_plus_power(&zero, 77);
    assert_true(id_equal(&d, &one));
    d = id_distance(&a, &a);
    assert_true(id_is_zero(&d));
}

static void test_text(void **state)
{
    (void)state;
    char text[ID_TEXT + 1];
    struct id a = at(0xab, 0x1f), b;
    id_text(&a, text);
    assert_true(id_parse(&b, text));
    assert_true(id_equal(&a, &b));
    assert_false(id_parse(&b, "ab"));
    text[3] = 'x';
    assert_false(id_parse(&b, text));
    assert_false(id_parse(&b, "ab000000000000000000000000000000000000001f0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between_wraps),
        cmocka_unit_test(test_power_carries),
        cmocka_unit_test(test_distance_adds_up),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
