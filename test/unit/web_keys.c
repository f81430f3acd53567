/* SPDX-License-Identifier: BSD-3-Clause */
/* web_keys.c -- links count once and for a minute; sessions, tokens and the metrics' key are apart.
 */
#include "overlay/web/keys.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static uint8_t seed;

/* Other bytes each time. */
static const uint8_t *some(void)
{
    static uint8_t bytes[2 * WEB_RANDOM];
    seed++;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(seed + 7 * i);
    return bytes;
}

static const struct web_session *enter(struct web_keys *k, uint64_t now)
{
    char link[WEB_KEY + 1];
    web_keys_link(k, now, some(), link);
    return web_keys_enter(k, now, link, some());
}

static struct web_request request(const char *session, const char *token, const char *bearer)
{
    struct web_request r = {0};
    snprintf(r.session, sizeof r.session, "%s", session);
    snprintf(r.token, sizeof r.token, "%s", token);
    snprintf(r.bearer, sizeof r.bearer, "%s", bearer);
    return r;
}

static void test_a_link_counts_once(void **state)
{
    struct web_keys k = {0};
    char link[WEB_KEY + 1];
    (void)state;
    web_keys_link(&k, 1000, some(), link);
    assert_int_equal(strlen(link), WEB_KEY);
    assert_non_null(web_keys_enter(&k, 1000, link, some()));
    assert_null(web_keys_enter(&k, 1000, link, some()));
    assert_null(web_keys_enter(&k, 1000, "", some()));
}

static void test_a_link_ends(void **state)
{
    struct web_keys k = {0};
    char link[WEB_KEY + 1];
    (void)state;
    web_keys_link(&k, 1000, some(), link);
    assert_null(web_keys_enter(&k, 1000 + WEB_LINK_MS, link, some()));
    assert_null(web_keys_enter(&k, 1000, link, some())); /* it is used up all the same */
}

static void test_links_are_bounded(void **state)
{
    struct web_keys k = {0};
    char first[WEB_KEY + 1], link[WEB_KEY + 1];
    (void)state;
    web_keys_link(&k, 1, some(), first);
    for (int i = 0; i < WEB_LINKS; i++)
        web_keys_link(&k, 1, some(), link);
    assert_null(web_keys_enter(&k, 1, first, some()));
    assert_non_null(web_keys_enter(&k, 1, link, some()));
}

static void test_writes_need_both(void **state)
{
    struct web_keys k = {0};
    const struct web_session *one = enter(&k, 1), *two = enter(&k, 1);
    (void)state;
    assert_string_not_equal(one->key, one->token);
    const struct web_request good = request(one->key, one->token, "");
    const struct web_request none = request(one->key, "", "");
    const struct web_request others = request(one->key, two->token, "");
    const struct web_request no_session = request("", one->token, "");
    assert_true(web_keys_may_write(&k, 2, &good));
    assert_false(web_keys_may_write(&k, 2, &none));
    assert_false(web_keys_may_write(&k, 2, &others));
    assert_false(web_keys_may_write(&k, 2, &no_session));
    assert_true(web_keys_may_read(&k, 2, &none));
    assert_false(web_keys_may_read(&k, 2, &no_session));
}

static void test_sessions_end(void **state)
{
    struct web_keys k = {0};
    const struct web_session *s = enter(&k, 1);
    const struct web_request r = request(s->key, s->token, "");
    (void)state;
    assert_true(web_keys_may_read(&k, WEB_SESSION_MS - 1, &r)); /* used: it goes on from here */
    assert_true(web_keys_may_write(&k, 2ull * WEB_SESSION_MS - 2, &r));
    assert_false(web_keys_may_write(&k, 4ull * WEB_SESSION_MS, &r));
    assert_false(web_keys_may_read(&k, 4ull * WEB_SESSION_MS, &r));
}

/* The one that was used longest ago makes room. */
static void test_sessions_are_bounded(void **state)
{
    struct web_keys k = {0};
    char keys[WEB_SESSIONS + 1][WEB_KEY + 1];
    (void)state;
    for (unsigned i = 0; i < WEB_SESSIONS; i++)
        memcpy(keys[i], enter(&k, 10 + i)->key, WEB_KEY + 1);
    assert_non_null(web_keys_session(&k, 100, keys[0]));
    memcpy(keys[WEB_SESSIONS], enter(&k, 101)->key, WEB_KEY + 1);
    assert_non_null(web_keys_session(&k, 102, keys[0]));
    assert_null(web_keys_session(&k, 102, keys[1]));
    assert_non_null(web_keys_session(&k, 102, keys[WEB_SESSIONS]));
}

static void test_metrics(void **state)
{
    struct web_keys k = {0};
    const struct web_session *s = enter(&k, 1);
    const struct web_request session = request(s->key, "", ""), nobody = request("", "", "");
    (void)state;
    assert_true(web_keys_may_measure(&k, 2, &session));
    assert_false(web_keys_may_measure(&k, 2, &nobody));
    web_key_make(k.metrics, some());
    const struct web_request bearer = request("", "", k.metrics);
    assert_true(web_keys_may_measure(&k, 2, &bearer));
    assert_false(web_keys_may_read(&k, 2, &bearer));
    assert_false(web_keys_may_measure(&k, 2, &nobody));
    web_keys_clear(&k);
    assert_false(web_keys_may_measure(&k, 2, &bearer));
    assert_false(web_keys_may_measure(&k, 2, &session));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_link_counts_once),
        cmocka_unit_test(test_a_link_ends),
        cmocka_unit_test(test_links_are_bounded),
        cmocka_unit_test(test_writes_need_both),
        cmocka_unit_test(test_sessions_end),
        cmocka_unit_test(test_sessions_are_bounded),
        cmocka_unit_test(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
