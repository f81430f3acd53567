/* SPDX-License-Identifier: BSD-3-Clause */
/* web_state.c -- rows become the page's state and patches of it; its metrics; how events are
 * framed. */
#include "overlay/web/state.h"
#include "overlay/client/words.h"
#include "overlay/web/metrics.h"
#include "overlay/web/patch.h"
#include "overlay/web/stream.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* As a browser does it. */
static void apply(json_t *target, json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach(patch, key, value)
    {
        json_t *known = json_object_get(target, key);
        if (json_is_null(value))
            json_object_del(target, key);
        else if (json_is_object(value) && json_is_object(known))
            apply(known, value);
        else
            json_object_set_new(target, key, json_deep_copy(value));
    }
}

static void patches_to(const char *from, const char *to, const char *expected)
{
    json_t *was = json_loads(from, 0, NULL), *is = json_loads(to, 0, NULL);
    json_t *patch = patch_make(was, is);
    char *text = patch != NULL ? json_dumps(patch, JSON_COMPACT | JSON_SORT_KEYS) : strdup("");
    assert_string_equal(text, expected);
    if (patch != NULL)
        apply(was, patch);
    assert_true(json_equal(was, is));
    free(text);
    json_decref(patch);
    json_decref(was);
    json_decref(is);
}

static void test_patches(void **state)
{
    (void)state;
    patches_to("{}", "{}", "");
    patches_to("{\"a\":1}", "{\"a\":1}", "");
    patches_to("{\"a\":1}", "{\"a\":2}", "{\"a\":2}");
    patches_to("{\"a\":1,\"b\":2}", "{\"b\":2}", "{\"a\":null}");
    patches_to("{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":1,\"c\":3}}", "{\"a\":{\"c\":3}}");
    patches_to("{\"a\":[1,2]}", "{\"a\":[1,3]}", "{\"a\":[1,3]}");
    patches_to("{\"a\":{\"b\":1}}", "{\"a\":5}", "{\"a\":5}");
    patches_to("{\"a\":5}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}");
}

static struct message peer_row(uint8_t id, const char *name, unsigned slots, unsigned slots_free)
{
    struct message m = {.kind = MSG_local_peer};
    m.local_peer.ad.peer.id.b[0] = id;
    snprintf(m.local_peer.ad.name, sizeof m.local_peer.ad.name, "%s", name);
    m.local_peer.ad.slots = (uint16_t)slots;
    m.local_peer.ad.slots_free = (uint16_t)slots_free;
    return m;
}

static json_t *look_at_peers(struct web_state *s, unsigned count, unsigned slots_free)
{
    web_state_begin(s, OVERVIEW_PEERS, false);
    for (unsigned i = 0; i < count; i++) {
        const struct message m =
            peer_row((uint8_t)(i + 1), i == 0 ? "heron" : "egret", 4, slots_free);
        web_state_take(s, &m);
    }
    return web_state_end(s, 0);
}

static void test_peers_come_and_go(void **state)
{
    struct web_state *s = web_state_new();
    json_t *patch = look_at_peers(s, 2, 4);
    (void)state;
    assert_int_equal(json_object_size(json_object_get(web_state_whole(s), "peers")), 2);
    json_decref(patch);
    assert_null(look_at_peers(s, 2, 4));
    patch = look_at_peers(s, 1, 3);
    char *text = json_dumps(patch, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"peers\":{\"0100000000000000000000000000000000000000\":{"
                              "\"slots_free\":3},\"0200000000000000000000000000000000000000\":"
                              "null}}");
    free(text);
    json_decref(patch);
    web_state_free(s);
}

static void take_job(struct web_state *s, enum place_state of_lane_0)
{
    struct message job = {.kind = MSG_local_job, .local_job = {.ranks = 1, .lanes = 2}};
    struct msg_local_places rows = {.places_count = 2};
    struct message places = {.kind = MSG_local_places, .local_places = &rows};
    strcpy(job.local_job.name, "mpirun-7");
    strcpy(rows.places[0].name, "heron");
    strcpy(rows.places[1].name, "egret");
    rows.places[0].state = (uint8_t)of_lane_0;
    rows.places[1].lane = 1;
    rows.places[1].state = PLACE_RUNS;
    web_state_begin(s, OVERVIEW_JOBS, false);
    web_state_take(s, &job);
    web_state_take(s, &places);
}

static const json_t *process(const struct web_state *s, const char *key)
{
    const json_t *job = json_object_get(json_object_get(web_state_whole(s), "jobs"), "mpirun-7");
    return json_object_get(json_object_get(job, "processes"), key);
}

static void test_another_lane_takes_over(void **state)
{
    struct web_state *s = web_state_new();
    (void)state;
    take_job(s, PLACE_RUNS);
    json_decref(web_state_end(s, 0));
    assert_true(json_is_true(json_object_get(process(s, "0.0"), "leads")));
    assert_false(json_is_true(json_object_get(process(s, "0.1"), "leads")));
    take_job(s, PLACE_LOST);
    json_t *patch = web_state_end(s, 0);
    char *text = json_dumps(patch, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"jobs\":{\"mpirun-7\":{\"lost\":1,\"processes\":{\"0.0\":{"
                              "\"leads\":false,\"state\":\"lost\"},\"0.1\":{\"leads\":true}}}}}");
    free(text);
    json_decref(patch);
    web_state_free(s);
}

/* Places without their job, and parts that were not asked for, are passed over. */
static void test_rows_out_of_place(void **state)
{
    struct web_state *s = web_state_new();
    struct msg_local_places rows = {.places_count = 1};
    struct message m = {.kind = MSG_local_places, .local_places = &rows};
    struct message_whole empty;
    (void)state;
    web_state_begin(s, 0, false);
    web_state_take(s, &m);
    m = peer_row(1, "heron", 1, 1);
    web_state_take(s, &m);
    for (unsigned kind = 0x80; kind < 0x100; kind++)
        web_state_take(s, message_clear(&empty, (enum message_kind)kind));
    json_decref(web_state_end(s, 0));
    assert_int_equal(json_object_size(json_object_get(web_state_whole(s), "peers")), 0);
    web_state_free(s);
}

static void test_since_when(void **state)
{
    struct web_state *s = web_state_new();
    struct message m = {.kind = MSG_local_granted, .local_granted = {.age_ms = 400, .slots = 2}};
    (void)state;
    for (unsigned i = 0; i < 2; i++) { /* the second time it is older, and the same lease */
        m.local_granted.age_ms = 400 + 1003 * i;
        m.local_granted.holder.b[0] = 1;
        web_state_begin(s, OVERVIEW_DESKTOP, false);
        web_state_take(s, &m);
        json_t *patch = web_state_end(s, 10000 + 1000 * i);
        assert_true((patch != NULL) == (i == 0));
        json_decref(patch);
    }
    web_state_free(s);
}

static void test_log_is_bounded(void **state)
{
    struct web_state *s = web_state_new();
    const struct msg_local_notice notice = {.what = NOTICE_NEWS};
    (void)state;
    for (unsigned i = 0; i < 3 * WEB_LOG; i++)
        json_decref(web_state_happen(s, &notice));
    assert_int_equal(json_array_size(json_object_get(web_state_whole(s), "log")), WEB_LOG);
    web_state_free(s);
}

static void test_metrics(void **state)
{
    struct web_state *s = web_state_new();
    struct message self = {.kind = MSG_local_self};
    (void)state;
    strcpy(self.local_self.ad.name, "a\"b\\c");
    json_decref(look_at_peers(s, 2, 3));
    web_state_begin(s, OVERVIEW_DESKTOP, false);
    web_state_take(s, &self);
    json_decref(web_state_end(s, 0));
    char *text = web_metrics(web_state_whole(s));
    assert_non_null(strstr(text, "\np2pgrid_peers 2\n"));
    assert_non_null(strstr(text, "\np2pgrid_grid_slots 8\n"));
    assert_non_null(strstr(text, "\np2pgrid_grid_slots_free 6\n"));
    assert_non_null(strstr(text, "p2pgrid_info{name=\"a\\\"b\\\\c\",version=\"\"} 1\n"));
    assert_non_null(strstr(text, "\n# TYPE p2pgrid_peers_lost counter\n"));
    assert_non_null(strstr(text, "\np2pgrid_peers_lost_total 0\n"));
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    free(text);
    web_state_free(s);
}

static void test_frames(void **state)
{
    json_t *data = json_pack("{s:s}", "text", "two\nlines");
    char *frame = web_stream_frame("notice", data);
    (void)state;
    assert_string_equal(frame, "event: notice\ndata: {\"text\":\"two\\nlines\"}\n\n");
    assert_true(web_stream_fits(0, WEB_BACKLOG_MOST));
    assert_false(web_stream_fits(1, WEB_BACKLOG_MOST));
    assert_false(web_stream_fits(SIZE_MAX, 1));
    free(frame);
    json_decref(data);
}

/* The rows of one question. */
static json_t *tell_grid(struct web_state *s, uint64_t now_ms, unsigned lost)
{
    struct msg_local_grid_job row = {.job = {.state = 1, .ranks = 2, .lost = lost, .age_ms = 900}};
    row.peer.b[0] = 1;
    strcpy(row.job.user, "ada");
    strcpy(row.job.name, "mpirun-9");
    web_state_take_grid(s, &row, now_ms);
    row.own = 1;
    strcpy(row.job.name, "mpirun-7"); /* which is among the own ones */
    web_state_take_grid(s, &row, now_ms);
    row.own = 0;
    row.job = (struct part_grid_job){.state = 6, .slots = 2, .user = "ben"};
    web_state_take_grid(s, &row, now_ms);
    web_state_take_grid(s, &row, now_ms);
    return web_state_end_grid(s);
}

static void test_jobs_of_others(void **state)
{
    struct web_state *s = web_state_new();
    (void)state;
    take_job(s, PLACE_RUNS);
    json_decref(web_state_end(s, 0));
    json_decref(tell_grid(s, 1000000, 0));
    json_t *grid = json_object_get(web_state_whole(s), "grid");
    assert_int_equal(json_object_size(grid), 3);
    const json_t *one = json_object_get(grid, "0100000000000000000000000000000000000000-mpirun-9");
    assert_int_equal(json_integer_value(json_object_get(one, "since_ms")), 999100);
    assert_null(json_object_get(one, "age_ms"));
    assert_null(tell_grid(s, 1000700, 0)); /* told a moment later, it began at the same time */
    json_t *patch = tell_grid(s, 1000700, 1);
    char *text = json_dumps(patch, JSON_COMPACT);
    assert_string_equal(text, "{\"grid\":{\"0100000000000000000000000000000000000000-mpirun-9\":{"
                              "\"lost\":1}}}");
    free(text);
    json_decref(patch);
    assert_null(look_at_peers(s, 0, 0)); /* a look in between leaves them */
    patch = web_state_end_grid(s);
    assert_int_equal(json_object_size(json_object_get(web_state_whole(s), "grid")), 0);
    json_decref(patch);
    web_state_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_jobs_of_others),
        cmocka_unit_test(test_peers_come_and_go),
        cmocka_unit_test(test_rows_out_of_place),
        cmocka_unit_test(test_another_lane_takes_over),
        cmocka_unit_test(test_since_when),
        cmocka_unit_test(test_log_is_bounded),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
