/* SPDX-License-Identifier: BSD-3-Clause */
/* fetch.c -- a peer that fetches: what it asks for, and what it says when that does not come. */
#include "overlay/core/files/fetch.h"
#include "overlay/core/files/swarm.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct part_peer birch = {.id = {{2}}}, cedar = {.id = {{3}}};

static void test_it_comes(void **state)
{
    struct fetch f;
    struct fetch_out out;
    (void)state;
    fetch_init(&f, 0, &out);
    assert_int_equal(out.action[0].kind, FETCH_JOIN);
    fetch_get(&f, 7, &birch, false, 1, &out);
    assert_int_equal(out.action[0].kind, FETCH_ASK);
    assert_true(id_equal(&out.action[0].peer.id, &birch.id));
    fetch_get(&f, 7, &cedar, false, 1, &out); /* it is on its way already */
    assert_int_equal(out.count, 0);
    assert_int_equal(fetch_data(&f, &cedar.id, 7, 0, 10, 20, 2), -1);
    assert_int_equal(fetch_data(&f, &birch.id, 7, 5, 10, 20, 2), -1);
    assert_int_equal(fetch_data(&f, &birch.id, 7, 0, 21, 20, 2), -1);
    const int place = fetch_data(&f, &birch.id, 7, 0, 10, 20, 2);
    assert_true(place >= 0 && !fetch_is_whole(&f, place));
    assert_int_equal(fetch_data(&f, &birch.id, 7, 10, 10, 21, 3), -1); /* it was 20 before */
    assert_int_equal(fetch_data(&f, &birch.id, 7, 30, 10, 20, 3), -1);
    assert_int_equal(fetch_data(&f, &birch.id, 7, 10, 10, 20, 3), place);
    assert_true(fetch_is_whole(&f, place));
    fetch_done(&f, place, true, &out);
    assert_int_equal(out.count, 0);
    assert_int_equal(fetch_data(&f, &birch.id, 7, 0, 10, 20, 2), -1);
}

static void failed(const struct fetch_out *out, bool wrong)
{
    assert_int_equal(out->count, 1);
    assert_int_equal(out->action[0].kind, FETCH_FAILED);
    assert_int_equal(out->action[0].object, 7);
    assert_int_equal(out->action[0].wrong, wrong);
}

static void test_it_does_not(void **state)
{
    struct fetch f;
    struct fetch_out out;
    (void)state;
    fetch_init(&f, 0, &out);
    fetch_get(&f, 7, &birch, false, 0, &out);
    fetch_gone(&f, &cedar.id, &out);
    assert_int_equal(out.count, 0);
    fetch_gone(&f, &birch.id, &out);
    failed(&out, false);
    fetch_get(&f, 7, &birch, false, 0, &out);
    fetch_refused(&f, &birch.id, 7, &out);
    failed(&out, false);
    fetch_get(&f, 7, &birch, false, 0, &out);
    fetch_done(&f, fetch_data(&f, &birch.id, 7, 0, 20, 20, 0), false, &out);
    failed(&out, true);
    fetch_get(&f, 7, &birch, false, 0, &out);
    fetch_tick(&f, FETCH_GIVER_MS - 1, &out);
    assert_int_equal(out.count, 0);
    fetch_tick(&f, FETCH_GIVER_MS, &out);
    assert_int_equal(out.action[0].kind, FETCH_FAILED);
}

static void test_the_offerer_is_silent(void **state)
{
    struct fetch f;
    struct fetch_out out;
    (void)state;
    fetch_init(&f, 0, &out);
    fetch_tick(&f, FETCH_REJOIN_MS, &out);
    assert_int_equal(out.action[0].kind, FETCH_JOIN);
    fetch_tick(&f, FETCH_REJOIN_MS + 1, &out);
    assert_int_equal(out.count, 0);
    fetch_tick(&f, FETCH_OFFERER_MS, &out);
    assert_int_equal(out.action[0].kind, FETCH_OVER);
    fetch_tick(&f, FETCH_OFFERER_MS + 1, &out);
    assert_true(out.count == 0 || out.action[0].kind != FETCH_OVER);
}

/* --- the offerer --- */

static void test_once_from_the_offerer(void **state)
{
    struct swarm *s = swarm_init(malloc(swarm_size(2, 2)), 2, 2);
    struct swarm_gift g[4];
    const uint8_t none = 0;
    (void)state;
    assert_false(swarm_join(s, &birch, &none, 2)); /* of another list */
    assert_true(swarm_join(s, &birch, &none, 1) && swarm_join(s, &cedar, &none, 1));
    assert_true(swarm_next(s, &g[0]) && swarm_next(s, &g[1]));
    assert_false(swarm_next(s, &g[2])); /* each waits for the other's */
    assert_int_not_equal(g[0].object, g[1].object);
    assert_false(id_equal(&g[0].to.id, &g[1].to.id));
    assert_true(id_is_zero(&g[0].from.id) && id_is_zero(&g[1].from.id));
    swarm_got(s, &g[0].to.id, g[0].object);
    assert_true(swarm_next(s, &g[2]));
    assert_true(id_equal(&g[2].from.id, &g[0].to.id) && g[2].object == g[0].object);
    swarm_leaves(s, &g[0].to.id); /* before it gave it */
    swarm_failed(s, &g[2].to.id, g[2].object, &g[0].to.id, false);
    assert_true(swarm_next(s, &g[3]));
    assert_true(id_is_zero(&g[3].from.id) && g[3].object == g[2].object);
    free(s);
}

static void test_a_liar_gives_no_more(void **state)
{
    struct swarm *s = swarm_init(malloc(swarm_size(1, 3)), 1, 3);
    struct swarm_gift g;
    const uint8_t none = 0, all = 1;
    const struct part_peer alder = {.id = {{1}}};
    (void)state;
    swarm_join(s, &alder, &all, 1);
    swarm_join(s, &birch, &none, 1);
    assert_true(swarm_next(s, &g) && id_equal(&g.from.id, &alder.id));
    swarm_failed(s, &birch.id, 0, &alder.id, true);
    assert_true(swarm_next(s, &g) && id_is_zero(&g.from.id));
    assert_false(swarm_is_distrusted(s, &alder.id)); /* the one that says so may lie */
    swarm_join(s, &cedar, &none, 1);
    assert_true(swarm_next(s, &g) && id_equal(&g.from.id, &alder.id));
    swarm_failed(s, &cedar.id, 0, &alder.id, true);
    assert_true(swarm_is_distrusted(s, &alder.id));
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_comes),
        cmocka_unit_test(test_it_does_not),
        cmocka_unit_test(test_the_offerer_is_silent),
        cmocka_unit_test(test_once_from_the_offerer),
        cmocka_unit_test(test_a_liar_gives_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
