/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/replica/cycle.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct cycle_range range = {
    .first = -27, .last = -1026, .fixed_first = -100, .fixed_last = -102, .window = 10};

/* As Open MPI gives them out. */
static int next_tag(int tag)
{
    tag = tag > range.last ? tag - 1 : range.first;
    return cycle_has(&range, tag) ? tag : range.fixed_last - 1;
}

static void use(struct cycle *c, int tag)
{
    assert_true(cycle_begin(c, &range, tag));
    cycle_end(c, tag);
}

static int use_many(struct cycle *c, int tag, int times)
{
    for (int i = 0; i < times; i++, tag = next_tag(tag))
        use(c, tag);
    return tag;
}

static void test_which_tags(void **state)
{
    (void)state;
    assert_false(cycle_has(&range, -26));
    assert_true(cycle_has(&range, -27));
    assert_true(cycle_has(&range, -99));
    assert_false(cycle_has(&range, -100));
    assert_false(cycle_has(&range, -102));
    assert_true(cycle_has(&range, -1026));
    assert_false(cycle_has(&range, -1027));
}

static void test_over_after_others(void **state)
{
    (void)state;
    struct cycle c = {0};
    assert_false(cycle_is_over(&c, &range, -27));
    use_many(&c, -27, 10); /* nine after the first */
    assert_false(cycle_is_over(&c, &range, -27));
    use(&c, -37);
    assert_true(cycle_is_over(&c, &range, -27));
    assert_false(cycle_is_over(&c, &range, -28));
    assert_false(cycle_begin(&c, &range, -27));
    cycle_clear(&c);
}

/* Another lane names what is still to come here; however far that is, it is not over. */
static void test_what_is_to_come_is_not_over(void **state)
{
    (void)state;
    struct cycle c = {0};
    use(&c, -27);
    for (int tag = -28; tag > -27 - 499; tag--)
        assert_false(cycle_is_over(&c, &range, tag));
    cycle_clear(&c);
}

static void test_not_over_in_flight(void **state)
{
    (void)state;
    struct cycle c = {0};
    assert_true(cycle_begin(&c, &range, -27));
    use_many(&c, -28, 60);
    assert_false(cycle_is_over(&c, &range, -27));
    assert_true(cycle_begin(&c, &range, -27)); /* its next round */
    cycle_end(&c, -27);
    cycle_end(&c, -27);
    assert_false(cycle_is_over(&c, &range, -27)); /* there may be one more */
    use_many(&c, -88, 10);
    assert_true(cycle_is_over(&c, &range, -27));
    cycle_clear(&c);
}

static void test_many_in_flight(void **state)
{
    (void)state;
    struct cycle c = {0};
    int tag = -200;
    for (int i = 0; i < 300; i++)
        assert_true(cycle_begin(&c, &range, tag - i));
    for (int i = 0; i < 300; i++)
        assert_false(cycle_is_over(&c, &range, tag - i));
    for (int i = 0; i < 300; i++)
        cycle_end(&c, tag - i);
    cycle_clear(&c);
}

/* One that is started again and again. */
static void test_persistent(void **state)
{
    (void)state;
    struct cycle c = {0};
    int tag = -111;
    for (int i = 0; i < 40; i++) {
        use(&c, -110);
        tag = use_many(&c, tag, 9);
    }
    assert_false(cycle_is_over(&c, &range, -110));
    use_many(&c, tag, 1);
    assert_true(cycle_is_over(&c, &range, -110));
    cycle_clear(&c);
}

/* Tags come again, and the places of old ones are not kept. */
static void test_round_and_round(void **state)
{
    (void)state;
    struct cycle c = {0};
    int tag = -27;
    for (int i = 0; i < 5000; i++, tag = next_tag(tag)) {
        assert_false(cycle_is_over(&c, &range, tag));
        use(&c, tag);
    }
    assert_true(c.size <= 128);
    cycle_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_tags),
        cmocka_unit_test(test_over_after_others),
        cmocka_unit_test(test_what_is_to_come_is_not_over),
        cmocka_unit_test(test_not_over_in_flight),
        cmocka_unit_test(test_many_in_flight),
        cmocka_unit_test(test_persistent),
        cmocka_unit_test(test_round_and_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
