/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/ring/vivaldi.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { N = 12 };

/* Three sites, 10 ms apart in a row; within a site 400 us. */
static uint32_t truth(unsigned a, unsigned b)
{
    return 400 + 10000u * (uint32_t)abs((int)(a % 3) - (int)(b % 3));
}

static void test_learns_the_distances(void **state)
{
    (void)state;
    static struct vivaldi v[N];
    uint64_t random = 1;
    for (unsigned i = 0; i < N; i++)
        vivaldi_init(&v[i]);
    for (unsigned n = 0; n < 20000; n++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned a = (unsigned)(random >> 33) % N, b = (unsigned)(random >> 45) % N;
        struct id peer = {{(uint8_t)b}};
        if (a != b)
            vivaldi_measure(&v[a], &peer, truth(a, b), &v[b].place, random);
    }
    unsigned good = 0, all = 0;
    for (unsigned a = 0; a < N; a++)
        for (unsigned b = 0; b < a; b++) {
            double guess = vivaldi_rtt_us(&v[a].place, &v[b].place), rtt = truth(a, b);
            all++;
            good += guess > rtt * 0.8 - 300 && guess < rtt * 1.2 + 300;
        }
    assert_in_range(good, all * 9 / 10, all);
}

static void test_one_late_answer_moves_nothing(void **state)
{
    (void)state;
    struct vivaldi v;
    struct part_coordinate there = {.x = 5000, .height = 100, .error = 10};
    struct id peer = {{1}};
    vivaldi_init(&v);
    for (unsigned i = 0; i < 200; i++)
        vivaldi_measure(&v, &peer, 3000, &there, i);
    struct part_coordinate before = v.place;
    vivaldi_measure(&v, &peer, 900000, &there, 7); /* a queue somewhere */
    assert_in_range(vivaldi_rtt_us(&before, &v.place), 0, before.height * 2 + 200);
}

static void test_nonsense_is_ignored(void **state)
{
    (void)state;
    struct vivaldi v;
    vivaldi_init(&v);
    struct part_coordinate before = v.place, far = {.x = INT32_MAX}, good = {.x = 100, .error = 1};
    struct id peer = {{1}};
    vivaldi_measure(&v, &peer, 100, &far, 1);
    vivaldi_measure(&v, &peer, 0, &good, 1);
    vivaldi_measure(&v, &peer, UINT32_MAX, &good, 1);
    assert_memory_equal(&before, &v.place, sizeof before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_the_distances),
        cmocka_unit_test(test_one_late_answer_moves_nothing),
        cmocka_unit_test(test_nonsense_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
