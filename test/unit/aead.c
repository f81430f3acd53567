/* SPDX-License-Identifier: BSD-3-Clause */
/* aead.c -- what comes out is what went in, and of anything else nothing comes out. */
#include "src/transport/aead.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { HEADER = 4, TAG = 16, SMALL = 100, WHOLE = HEADER + SMALL + TAG };
static const uint8_t key[2][AEAD_KEY] = {{1}, {2}};

static struct aead *ours, *theirs;
static int pipe_fd[2]; /* what ours writes theirs reads */
static uint8_t room[2 * AEAD_RECORD];

static int setup(void **state)
{
    (void)state;
    ours = aead_new(key[0], key[1]);
    theirs = aead_new(key[1], key[0]);
    return ours == NULL || theirs == NULL ||
           socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pipe_fd);
}

static int teardown(void **state)
{
    (void)state;
    aead_free(ours);
    aead_free(theirs);
    return close(pipe_fd[0]) | close(pipe_fd[1]);
}

static ssize_t take(void)
{
    struct iovec v = {room, sizeof room};
    return aead_read(theirs, pipe_fd[1], &v, 1);
}

static void expect_refused(void)
{
    assert_int_equal(take(), -1);
    assert_int_equal(errno, EBADMSG);
}

/* One record on its way, for the test to do with what it likes. */
static void intercept(uint8_t bytes[WHOLE], uint8_t what)
{
    uint8_t text[SMALL];
    struct iovec v = {text, SMALL};
    memset(text, what, SMALL);
    assert_int_equal(aead_write(ours, pipe_fd[0], &v, 1), SMALL);
    assert_int_equal(read(pipe_fd[1], bytes, WHOLE), WHOLE);
}

static void deliver(const uint8_t *bytes, size_t length)
{
    assert_int_equal(write(pipe_fd[0], bytes, length), length);
}

static void test_any_pieces(void **state)
{
    (void)state;
    enum { ALL = 3 * 1000 * 1000 };
    uint8_t *from = malloc(ALL), *to = malloc(ALL + AEAD_RECORD);
    assert_true(from != NULL && to != NULL);
    srand(1);
    for (size_t i = 0; i < ALL; i++)
        from[i] = (uint8_t)rand();
    size_t out = 0, in = 0;
    while (in < ALL) {
        size_t first = (size_t)rand() % 1000, left = ALL - out;
        size_t length = (size_t)rand() % 200000 + 1;
        length = length < left ? length : left;
        first = first < length ? first : length;
        struct iovec v[2] = {{from + out, first}, {from + out + first, length - first}};
        ssize_t n = aead_write(ours, pipe_fd[0], v, 2);
        assert_true(n >= 0 || errno == EAGAIN);
        out += n > 0 ? (size_t)n : 0;
        size_t split = (size_t)rand() % AEAD_RECORD;
        struct iovec w[2] = {{to + in, split}, {to + in + split, AEAD_RECORD - split}};
        n = aead_read(theirs, pipe_fd[1], w, 2);
        assert_true(n > 0 || errno == EAGAIN);
        in += n > 0 ? (size_t)n : 0;
    }
    assert_memory_equal(from, to, ALL);
    assert_true(aead_is_out(ours) && !aead_is_ready(theirs));
    free(from);
    free(to);
}

static void test_every_bit_counts(void **state)
{
    uint8_t bytes[WHOLE];
    for (unsigned bit = 0; bit < 8 * WHOLE; bit++) {
        intercept(bytes, 0);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        deliver(bytes, WHOLE);
        ssize_t n = take(); /* a length that is too high: it waits for the rest */
        assert_true(n == -1 && (errno == EBADMSG || (bit < 32 && errno == EAGAIN)));
        teardown(state);
        assert_int_equal(setup(state), 0);
    }
}

static void test_replayed(void **state)
{
    (void)state;
    uint8_t bytes[WHOLE];
    intercept(bytes, 1);
    deliver(bytes, WHOLE);
    assert_int_equal(take(), SMALL);
    deliver(bytes, WHOLE);
    expect_refused();
}

static void test_left_out(void **state)
{
    (void)state;
    uint8_t first[WHOLE], second[WHOLE];
    intercept(first, 1);
    intercept(second, 2);
    deliver(second, WHOLE);
    expect_refused();
}

static void test_sent_back(void **state)
{
    (void)state;
    uint8_t bytes[WHOLE];
    struct iovec v = {room, sizeof room};
    intercept(bytes, 1);
    assert_int_equal(write(pipe_fd[1], bytes, WHOLE), WHOLE);
    assert_int_equal(aead_read(ours, pipe_fd[0], &v, 1), -1);
    assert_int_equal(errno, EBADMSG);
}

/* Of a record that was cut off nothing comes out, however little is missing. */
static void test_truncated(void **state)
{
    (void)state;
    uint8_t bytes[WHOLE];
    intercept(bytes, 1);
    deliver(bytes, WHOLE - 1);
    assert_int_equal(take(), -1);
    assert_int_equal(errno, EAGAIN);
    shutdown(pipe_fd[0], SHUT_WR);
    assert_int_equal(take(), 0);
}

static void test_lengths_that_cannot_be(void **state)
{
    const uint8_t none[WHOLE] = {0}, much[WHOLE] = {1, 0, 1, 0};
    deliver(none, WHOLE);
    expect_refused();
    teardown(state);
    assert_int_equal(setup(state), 0);
    deliver(much, WHOLE);
    expect_refused();
}

static void test_keys_are_replaced(void **state)
{
    (void)state;
    uint8_t word[8] = "a word";
    struct iovec v = {word, sizeof word};
    for (unsigned i = 0; i < AEAD_REKEY + 10; i++) {
        assert_int_equal(aead_write(ours, pipe_fd[0], &v, 1), sizeof word);
        assert_int_equal(take(), sizeof word);
        assert_memory_equal(room, word, sizeof word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_bit_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replayed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sent_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lengths_that_cannot_be, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys_are_replaced, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
