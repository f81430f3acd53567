/* SPDX-License-Identifier: BSD-3-Clause */
/* input.c -- a peer has the submitter's file or says what is wrong with its own. */
#include "overlay/manifest/input.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-input-XXXXXX";
static char path[64];

static void put(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/data", folder);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* What the peer says after the path; "" when it has the file. */
static const char *answer_to(bool guest, const struct input *i)
{
    static struct err e;
    const struct part_input part = input_part(i);
    e = (struct err){0};
    return input_check(&part, guest, &e) == 0 ? "" : e.text + strlen(path);
}

static const char *answer(const struct input *i)
{
    return answer_to(false, i);
}

static void test_the_same_or_none(void **state)
{
    (void)state;
    struct input i;
    struct err e = {0};
    put("one");
    assert_int_equal(input_take(&i, path, "/nowhere", &e), 0);
    assert_string_equal(answer(&i), "");
    put("two");
    assert_string_equal(answer(&i), " differs from yours; copy yours there");
    put("longer");
    assert_string_equal(answer(&i), " differs from yours; copy yours there");
    unlink(path);
    assert_non_null(strstr(answer(&i), " is not there; copy it to the same place"));
    assert_non_null(strstr(answer_to(true, &i), " is not there for your job; copy it"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_string_equal(answer(&i), " cannot be read there: it is no plain file");
    unlink(path);
    put("one");
    assert_string_equal(answer(&i), "");
}

static void test_names(void **state)
{
    (void)state;
    struct input i;
    struct err e = {0};
    char name[300];
    put("one");
    assert_int_equal(input_take(&i, "data", folder, &e), 0);
    assert_string_equal(i.path, path);
    assert_true(input_take(&i, "none", folder, &e) < 0);
    assert_non_null(strstr(e.text, "/none: No such file"));
    e = (struct err){0};
    assert_true(input_take(&i, folder, "", &e) < 0);
    assert_non_null(strstr(e.text, "it is no plain file"));
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    e = (struct err){0};
    assert_true(input_take(&i, name, folder, &e) < 0);
    assert_non_null(strstr(e.text, "longer than 255 characters"));
}

static void test_a_manifest_that_names_none(void **state)
{
    (void)state;
    struct err e = {0};
    struct part_input part = {.size = 3, .hash = (const uint8_t *)"short", .hash_length = 5};
    strcpy(part.path, path);
    assert_true(input_check(&part, false, &e) < 0);
    assert_non_null(strstr(e.text, "is none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_or_none),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_manifest_that_names_none),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
