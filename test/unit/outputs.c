/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/borrow/outputs.h"
#include "overlay/client/words.h"
#include "temporary.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>

static char folder[] = "/tmp/p2pgrid-outputs.XXXXXX";
static char heard[1 << 21];
static size_t heard_size;
static unsigned rows;
static struct msg_local_output last;

static void hear(void *client, const struct message *m)
{
    (void)client;
    assert_int_equal(m->kind, MSG_local_output);
    last = m->local_output;
    rows++;
    memcpy(heard + heard_size, last.data, last.data_length);
    heard_size += last.data_length;
}

static void add(struct history *h, unsigned pid, uint64_t began, const void *text, size_t size,
                size_t most)
{
    struct msg_local_past past = {.what = PAST_JOB, .began_ms = began};
    struct recent output = {.at = malloc(most + 1), .most = most};
    struct err e = {0};
    snprintf(past.name, sizeof past.name, "mpirun-%u", pid);
    recent_add(&output, text, size);
    assert_int_equal(history_add(h, &past, &e), 0);
    assert_int_equal(outputs_add(folder, h, &past, &output, &e), 0);
    free(output.at);
}

static bool tell(const struct history *h, const char *name, uint64_t from)
{
    struct msg_local_printed question = {.token = 7, .from = from};
    strcpy(question.name, name);
    heard_size = rows = 0;
    return outputs_tell(folder, h, &question, hear, NULL);
}

static unsigned files(off_t *all)
{
    char path[512];
    struct stat is;
    unsigned n = 0;
    snprintf(path, sizeof path, "%s/output", folder);
    DIR *d = opendir(path);
    assert_non_null(d);
    *all = 0;
    for (const struct dirent *entry; (entry = readdir(d)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/output/%s", folder, entry->d_name);
        assert_int_equal(stat(path, &is), 0);
        assert_int_equal(is.st_mode & 0777, 0600);
        *all += is.st_size;
        n++;
    }
    closedir(d);
    return n;
}

static void test_kept(void **state)
{
    (void)state;
    struct history *h = history_open(folder);
    add(h, 11, 1, "hello\n", 6, 100);
    add(h, 12, 2, "0123456789", 10, 4);
    add(h, 13, 3, "", 0, 100);
    add(h, 14, 4, "not kept", 8, 0);
    assert_true(tell(h, "mpirun-11", 0));
    assert_int_equal(heard_size, 6);
    assert_memory_equal(heard, "hello\n", 6);
    assert_true(last.over && last.token == 7 && last.keep == 100);
    assert_string_equal(last.name, "mpirun-11");
    assert_true(tell(h, "11", 4) && heard_size == 2 && last.from == 4);
    assert_memory_equal(heard, "o\n", 2);
    assert_true(tell(h, "11", 600) && heard_size == 0);
    assert_true(tell(h, "12", 0) && last.from == 6 && heard_size == 4);
    assert_memory_equal(heard, "6789", 4);
    assert_true(tell(h, "mpirun-13", 0) && heard_size == 0 && rows == 1);
    assert_false(tell(h, "14", 0));
    assert_false(tell(h, "1", 0));
    assert_false(tell(h, "", 0));
    add(h, 11, 5, "again\n", 6, 100); /* another one with that number: the last one is meant */
    assert_true(tell(h, "11", 0));
    assert_memory_equal(heard, "again\n", 6);
    history_close(h);
    h = history_open(folder);
    assert_true(tell(h, "12", 0) && heard_size == 4);
    history_close(h);
}

static void test_large(void **state)
{
    (void)state;
    static char text[100001];
    struct history *h = history_open(folder);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7 + i / 256);
    add(h, 21, 6, text, sizeof text, 100000);
    assert_true(tell(h, "21", 0));
    assert_int_equal(heard_size, 100000);
    assert_memory_equal(heard, text + 1, 100000);
    assert_true(tell(h, "21", 50000) && heard_size == 50001);
    assert_memory_equal(heard, text + 50000, 50001);
    history_close(h);
}

/* With the history, and all of them together. */
static void test_bounded(void **state)
{
    (void)state;
    static char text[1 << 20];
    struct history *h = history_open(folder);
    off_t all;
    for (unsigned i = 0; i < 40; i++)
        add(h, 100 + i, 100 + i, text, sizeof text, sizeof text);
    assert_int_equal(files(&all), 31);
    assert_true(all <= OUTPUTS_MOST);
    assert_true(tell(h, "139", 0) && !tell(h, "100", 0) && !tell(h, "11", 0));
    for (unsigned i = 0; i < HISTORY_MOST; i++)
        add(h, 1000 + i, 1000 + i, "x", 1, 8);
    assert_int_equal(files(&all), HISTORY_MOST);
    assert_false(tell(h, "139", 0));
    history_close(h);
    outputs_sweep(folder, NULL); /* the history is lost */
    assert_int_equal(files(&all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_bounded)};
    if (mkdtemp(folder) == NULL)
        return 1;
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    return temporary_remove(folder) != 0 ? 1 : rc;
}
