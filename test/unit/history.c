/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/node/history.h"
#include "overlay/client/words.h"
#include "temporary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(struct history *h, unsigned number)
{
    struct msg_local_past past = {.what = PAST_JOB, .began_ms = number, .slots = number};
    struct err e = {0};
    snprintf(past.name, sizeof past.name, "mpirun-%u", number);
    snprintf(past.text, sizeof past.text, "done");
    assert_int_equal(history_add(h, &past, &e), 0);
}

static void expect(const struct history *h, size_t i, unsigned number)
{
    char name[64];
    const struct msg_local_past *past = history_at(h, i);
    snprintf(name, sizeof name, "mpirun-%u", number);
    assert_non_null(past);
    assert_string_equal(past->name, name);
    assert_int_equal(past->slots, number);
}

static char folder[] = "/tmp/p2pgrid-history.XXXXXX", path[96];

static void test_kept(void **state)
{
    (void)state;
    struct history *h = history_open(folder);
    assert_null(history_at(h, 0));
    add(h, 1);
    add(h, 2);
    expect(h, 0, 2);
    history_close(h);
    h = history_open(folder);
    add(h, 3);
    history_close(h);
    h = history_open(folder);
    for (unsigned i = 0; i < 3; i++)
        expect(h, i, 3 - i);
    assert_null(history_at(h, 3));
    history_close(h);
}

static void test_bounded(void **state)
{
    (void)state;
    struct history *h = history_open(folder);
    struct stat after;
    off_t most = 0;
    for (unsigned i = 0; i < 5 * HISTORY_MOST; i++) {
        add(h, i);
        assert_int_equal(stat(path, &after), 0);
        most = after.st_size > most ? after.st_size : most;
    }
    history_close(h);
    assert_true(most < 2 * HISTORY_MOST * 128);
    h = history_open(folder);
    expect(h, 0, 5 * HISTORY_MOST - 1);
    expect(h, HISTORY_MOST - 1, 4 * HISTORY_MOST);
    assert_null(history_at(h, HISTORY_MOST));
    history_close(h);
}

/* Half a frame, and then more of them. */
static void test_torn(void **state)
{
    (void)state;
    struct history *h = history_open(folder);
    add(h, 7);
    history_close(h);
    struct stat now;
    stat(path, &now);
    assert_int_equal(truncate(path, now.st_size - 5), 0);
    h = history_open(folder);
    expect(h, 0, 5 * HISTORY_MOST - 1);
    add(h, 8);
    history_close(h);
    h = history_open(folder);
    expect(h, 0, 8);
    expect(h, 1, 5 * HISTORY_MOST - 1);
    history_close(h);
}

static unsigned heard;
static void hear(void *ctx, const char *text)
{
    (void)ctx;
    assert_string_equal(text, "birch runs ./app");
    heard++;
}

static void test_news(void **state)
{
    (void)state;
    struct history *h = history_open(folder);
    history_say(h, "nobody listens");
    history_listen(h, hear, NULL);
    history_say(h, "%s runs ./app", "birch");
    assert_int_equal(heard, 1);
    history_close(h);
    history_say(NULL, "nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_bounded),
                                       cmocka_unit_test(test_torn), cmocka_unit_test(test_news)};
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/history", folder);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    return temporary_remove(folder) != 0 ? 1 : rc;
}
