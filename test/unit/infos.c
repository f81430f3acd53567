/* SPDX-License-Identifier: BSD-3-Clause */
/* infos.c -- what is put into a list is in it with its type, and what a tool sends is read only
 * when it is what it should be. */
#include "src/pmix_server/infos.h"
#include <pmix.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void a_list_has_what_was_put(void **state)
{
    struct infos all = {0};
    char name[] = "desk1";
    (void)state;
    put_text(&all, PMIX_HOSTNAME, name);
    put_u32(&all, "a", UINT32_MAX);
    put_u64(&all, "b", UINT64_MAX);
    put_bool(&all, "c", true);
    put_proc(&all, "d", "mpirun-7", 3);
    name[0] = 'x'; /* it was copied */
    assert_int_equal(all.count, 5);
    assert_string_equal(all.at[0].key, PMIX_HOSTNAME);
    assert_int_equal(all.at[0].value.type, PMIX_STRING);
    assert_string_equal(all.at[0].value.data.string, "desk1");
    assert_int_equal(all.at[1].value.type, PMIX_UINT32);
    assert_int_equal(all.at[1].value.data.uint32, UINT32_MAX);
    assert_int_equal(all.at[2].value.type, PMIX_UINT64);
    assert_true(all.at[2].value.data.uint64 == UINT64_MAX);
    assert_true(all.at[3].value.data.flag);
    assert_int_equal(all.at[4].value.type, PMIX_PROC);
    assert_string_equal(all.at[4].value.data.proc->nspace, "mpirun-7");
    assert_int_equal(all.at[4].value.data.proc->rank, 3);
    infos_free(&all);
    assert_int_equal(all.count, 0);
    assert_null(all.at);
}

static void a_list_goes_into_a_list(void **state)
{
    struct infos inner = {0}, outer = {0}, *heap = calloc(1, sizeof *heap);
    (void)state;
    put_text(&inner, PMIX_HOSTNAME, "desk1");
    put_u32(&inner, "a", 1);
    put_list(&outer, "one", &inner);
    assert_int_equal(inner.count, 0); /* it is the other's now */
    assert_int_equal(outer.count, 1);
    assert_int_equal(outer.at[0].value.type, PMIX_DATA_ARRAY);
    assert_int_equal(outer.at[0].value.data.darray->type, PMIX_INFO);
    assert_int_equal(outer.at[0].value.data.darray->size, 2);
    *heap = outer;
    infos_release(heap);
}

static void only_numbers_are_numbers(void **state)
{
    pmix_info_t info = {.value = {.type = PMIX_UINT16, .data.uint16 = 7}};
    uint64_t n = 0;
    (void)state;
    assert_true(take_number(&info, &n));
    assert_int_equal(n, 7);
    info.value = (pmix_value_t){.type = PMIX_INT, .data.integer = 8};
    assert_true(take_number(&info, &n));
    assert_int_equal(n, 8);
    info.value = (pmix_value_t){.type = PMIX_INT, .data.integer = -1};
    assert_false(take_number(&info, &n));
    info.value = (pmix_value_t){.type = PMIX_INT64, .data.int64 = INT64_MIN};
    assert_false(take_number(&info, &n));
    info.value = (pmix_value_t){.type = PMIX_STRING, .data.string = "9"};
    assert_false(take_number(&info, &n));
}

static void only_text_that_fits_is_text(void **state)
{
    pmix_info_t info = {.value = {.type = PMIX_STRING, .data.string = "1234567"}};
    char out[8] = "";
    (void)state;
    assert_true(take_text(&info, out, sizeof out));
    assert_string_equal(out, "1234567");
    info.value.data.string = "12345678";
    assert_false(take_text(&info, out, sizeof out));
    info.value.data.string = NULL;
    assert_false(take_text(&info, out, sizeof out));
    info.value = (pmix_value_t){.type = PMIX_UINT64, .data.uint64 = 1};
    assert_false(take_text(&info, out, sizeof out));
    assert_string_equal(out, "1234567"); /* untouched */
}

static void a_flag_without_a_value_is_set(void **state)
{
    pmix_info_t info = {.value = {.type = PMIX_UNDEF}};
    (void)state;
    assert_true(take_flag(&info));
    info.value = (pmix_value_t){.type = PMIX_BOOL, .data.flag = false};
    assert_false(take_flag(&info));
    info.value.data.flag = true;
    assert_true(take_flag(&info));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_what_was_put),
        cmocka_unit_test(a_list_goes_into_a_list),
        cmocka_unit_test(only_numbers_are_numbers),
        cmocka_unit_test(only_text_that_fits_is_text),
        cmocka_unit_test(a_flag_without_a_value_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
