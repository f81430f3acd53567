/* SPDX-License-Identifier: BSD-3-Clause */
/* web_request.c -- what is asked of the page, and what is refused. */
#include "overlay/web/request.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define KEY "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

static struct web_request ask(struct web_head head)
{
    struct web_request r;
    web_request_read(&r, &head, 8080);
    return r;
}

static enum web_ask get(const char *target)
{
    return ask((struct web_head){.target = target, .host = "127.0.0.1:8080"}).ask;
}

static void test_paths(void **state)
{
    (void)state;
    assert_int_equal(get("/"), WEB_PAGE);
    assert_int_equal(get("/?x=1"), WEB_PAGE);
    assert_int_equal(get("/page.css"), WEB_STYLE);
    assert_int_equal(get("/page.js"), WEB_SCRIPT);
    assert_int_equal(get("/favicon.ico"), WEB_ICON);
    assert_int_equal(get("/state"), WEB_STATE);
    assert_int_equal(get("/events"), WEB_EVENTS);
    assert_int_equal(get("/metrics"), WEB_METRICS);
    assert_int_equal(get("/enter"), WEB_ENTER);
    assert_int_equal(get("/pause"), WEB_NOT_SO);
    assert_int_equal(get("/state/"), WEB_UNKNOWN);
    assert_int_equal(get("/../etc/passwd"), WEB_UNKNOWN);
    assert_int_equal(get(""), WEB_UNKNOWN);
    assert_int_equal(get("http://127.0.0.1:8080/"), WEB_UNKNOWN);
    assert_int_equal(
        ask((struct web_head){.post = true, .target = "/", .host = "127.0.0.1:8080"}).ask,
        WEB_NOT_SO);
    assert_int_equal(get(NULL), WEB_BAD);
}

/* A page of somewhere else whose name was made to point here, and a script of it. */
static void test_hosts(void **state)
{
    static const char *const wrong[] = {
        "evil.example",    "evil.example:8080", "127.0.0.1",
        "127.0.0.1:8081",  "localhost",         "localhost:80800",
        "127.0.0.1:8080x", "[::1]:8080",        "",
        " localhost:8080", "LOCALHOST:8080",    "127.0.0.1.evil.example:8080"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(ask((struct web_head){.target = "/", .host = wrong[i]}).ask,
                         WEB_MISDIRECTED);
    assert_int_equal(ask((struct web_head){.target = "/"}).ask, WEB_MISDIRECTED);
    assert_int_equal(ask((struct web_head){.target = "/", .host = "localhost:8080"}).ask, WEB_PAGE);
}

static void test_origins(void **state)
{
    static const char *const wrong[] = {"http://evil.example", "https://127.0.0.1:8080", "null", "",
                                        "http://127.0.0.1:8081"};
    struct web_head head = {.post = true, .target = "/resume", .host = "localhost:8080"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        head.origin = wrong[i];
        assert_int_equal(ask(head).ask, WEB_FOREIGN);
    }
    head.origin = "http://localhost:8080";
    assert_int_equal(ask(head).ask, WEB_RESUME);
}

static const char *cookie(const char *text)
{
    static struct web_request r;
    r = ask((struct web_head){.target = "/", .host = "localhost:8080", .cookie = text});
    return r.session;
}

static void test_cookies(void **state)
{
    (void)state;
    assert_string_equal(cookie(NULL), "");
    assert_string_equal(cookie("p2pgrid-8080=" KEY), KEY);
    assert_string_equal(cookie("a=b; p2pgrid-8080=" KEY "; c=d"), KEY);
    assert_string_equal(cookie("p2pgrid-8081=" OTHER "; p2pgrid-8080=" KEY), KEY);
    assert_string_equal(cookie("xp2pgrid-8080=" KEY), "");
    assert_string_equal(cookie("p2pgrid-8080=" KEY "0"), "");
    assert_string_equal(cookie("p2pgrid-8080=0123"), "");
    assert_string_equal(cookie("p2pgrid-8080=0123456789ABCDEF0123456789ABCDEF"), "");
    assert_string_equal(cookie("p2pgrid-8080=; p2pgrid-8080=" KEY), KEY);
    assert_string_equal(cookie(";;; ;=;p2pgrid-8080"), "");
}

static void test_keys_of_a_request(void **state)
{
    (void)state;
    const struct web_request r = ask((struct web_head){.target = "/enter?x=1&token=" KEY "&y",
                                                       .host = "localhost:8080",
                                                       .authorization = "Bearer " OTHER,
                                                       .token = OTHER});
    assert_int_equal(r.ask, WEB_ENTER);
    assert_string_equal(r.link, KEY);
    assert_string_equal(r.bearer, OTHER);
    assert_string_equal(r.token, OTHER);
    const struct web_request none = ask((struct web_head){.target = "/enter?token=" KEY "0",
                                                          .host = "localhost:8080",
                                                          .authorization = "Basic " OTHER,
                                                          .token = OTHER " "});
    assert_string_equal(none.link, "");
    assert_string_equal(none.bearer, "");
    assert_string_equal(none.token, "");
}

static struct web_request pause_by(const char *target)
{
    return ask((struct web_head){.post = true, .target = target, .host = "localhost:8080"});
}

static void test_pauses(void **state)
{
    static const char *const wrong[] = {"/pause?seconds=",       "/pause?seconds=x",
                                        "/pause?seconds=-1",     "/pause?seconds=1x",
                                        "/pause?seconds=604801", "/pause?seconds=99999999999999",
                                        "/pause?suspend=2"};
    (void)state;
    assert_int_equal(pause_by("/pause").ask, WEB_PAUSE);
    assert_int_equal(pause_by("/pause").seconds, 0);
    assert_false(pause_by("/pause").suspend);
    const struct web_request both = pause_by("/pause?seconds=7200&suspend=1");
    assert_int_equal(both.seconds, 7200);
    assert_true(both.suspend);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(pause_by(wrong[i]).ask, WEB_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),   cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_origins), cmocka_unit_test(test_cookies),
        cmocka_unit_test(test_pauses),  cmocka_unit_test(test_keys_of_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
