/* SPDX-License-Identifier: BSD-3-Clause */
/* top.c -- what `p2pctl top` shows: states beside rows of text, in many sizes and after many keys.
 */
#include "overlay/top/page.h"
#include "overlay/client/words.h"
#include "overlay/core/lease/lending_state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { NOW = 1000000 };

static struct top_state s;
static struct top_view v;
static char row_bytes[SHEET_WIDTH_MAX * CELL_BYTES + 1];

static struct msg_local_peer peer(unsigned number, unsigned rtt_us)
{
    struct msg_local_peer p = {.rtt_us = rtt_us};
    p.ad.peer.id.b[0] = (uint8_t)number;
    snprintf(p.ad.name, sizeof p.ad.name, "desk%u", number);
    strcpy(p.ad.arch, "x86_64");
    p.ad.cores = (uint16_t)(2 * number);
    p.ad.memory = (uint64_t)8 << 30;
    p.ad.slots = 4;
    p.ad.slots_free = (uint16_t)(4 - number);
    p.ad.load = 1000 * number;
    return p;
}

/* desk1, desk2, desk3, of which desk3 is the second nearest. */
static void walk(unsigned peers, uint64_t now)
{
    static uint64_t walked_ms;
    for (unsigned i = 1; i <= peers; i++) {
        const struct msg_local_peer p = peer(i, i == 1 ? 0 : 1000 / i);
        top_state_met(&s, &p, now);
    }
    top_state_told(&s, ++walked_ms);
}

static int set_up(void **state)
{
    (void)state;
    top_state_clear(&s);
    top_view_init(&v);
    strcpy(s.self.ad.name, "desk1");
    strcpy(s.terms.state, "lends");
    walk(3, NOW);
    return 0;
}

/* Two ranks in two lanes, whose processes have these states: of rank 0, then of rank 1. */
static struct own_jobs job(const unsigned char states[4])
{
    struct own_jobs all = {0};
    struct message m = {.kind = MSG_local_job};
    strcpy(m.local_job.name, "mpirun-77");
    strcpy(m.local_job.program, "./a.out");
    m.local_job.ranks = m.local_job.lanes = 2;
    m.local_job.began_ms = NOW - 5000;
    own_jobs_take(&all, &m);
    memset(&m, 0, sizeof m);
    struct msg_local_places places = {0};
    m.kind = MSG_local_places;
    m.local_places = &places;
    for (unsigned i = 0; i < 4; i++) {
        struct part_place *p = &places.places[places.places_count++];
        p->rank = i / 2;
        p->lane = (uint16_t)(i % 2);
        p->state = states[i];
        p->peer.b[0] = (uint8_t)(1 + i % 2);
        snprintf(p->name, sizeof p->name, "desk%u", 1 + i % 2);
    }
    own_jobs_take(&all, &m);
    return all;
}

static void job_is(const unsigned char states[4])
{
    struct own_jobs all = job(states);
    top_state_jobs(&s, &all);
}

static struct sheet *drawn(unsigned width, unsigned height)
{
    struct sheet *out = sheet_new(width, height, true);
    assert_non_null(out);
    page_draw(&s, &v, NOW, out);
    return out;
}

static const char *row_of(const struct sheet *sheet, unsigned row)
{
    assert_true(row < sheet->height);
    sheet_row_text(sheet, row, row_bytes);
    return row_bytes;
}

static void shows(unsigned row, const char *text)
{
    struct sheet *sheet = drawn(80, 24);
    assert_string_equal(row_of(sheet, row), text);
    sheet_free(sheet);
}

/* The first cell of each row below the headings: NULL ends them. */
static void names_are(const char *first, ...)
{
    va_list names;
    unsigned row = 4;
    va_start(names, first);
    for (const char *name = first; name != NULL; name = va_arg(names, const char *), row++) {
        struct sheet *sheet = drawn(80, 24);
        assert_memory_equal(row_of(sheet, row), name, strlen(name));
        sheet_free(sheet);
    }
    va_end(names);
    shows(row, "");
}

static void keys(const char *k)
{
    for (; *k != '\0'; k++)
        assert_true(top_view_key(&v, *k));
}

static void test_peers(void **state)
{
    (void)state;
    shows(1, "the grid: 3 peers, 0 away; 6 of 12 slots free; 0 jobs of yours");
    shows(3, "name             state          machine               load       lent distancev");
    shows(4, "desk1            lends          x86_64 2x 8.0 GiB     1.00     1 of 4      here");
    shows(5, "desk3            lends          x86_64 6x 8.0 GiB     3.00     3 of 4   0.33 ms");
    shows(6, "desk2            lends          x86_64 4x 8.0 GiB     2.00     2 of 4   0.50 ms");
    s.peers[1].closed = LENDING_PAUSED;
    shows(6, "desk2            paused         x86_64 4x 8.0 GiB     2.00     2 of 4   0.50 ms");
    struct msg_local_peer paused = peer(2, 500);
    paused.ad.closed = LENDING_PAUSED;
    paused.until = NOW / 1000 + 3600;
    top_state_met(&s, &paused, NOW);
    shows(6, "desk2            back at 01:16  x86_64 4x 8.0 GiB     2.00     2 of 4   0.50 ms");
    paused.until += 24 * 3600;
    top_state_met(&s, &paused, NOW);
    shows(6, "desk2            back at Jan  2 x86_64 4x 8.0 GiB     2.00     2 of 4   0.50 ms");
    paused.until = UINT64_MAX; /* another peer's word may be anything */
    top_state_met(&s, &paused, NOW);
    shows(6, "desk2            paused         x86_64 4x 8.0 GiB     2.00     2 of 4   0.50 ms");
}

static void test_sorted(void **state)
{
    (void)state;
    names_are("desk1", "desk3", "desk2", NULL);
    keys("r");
    names_are("desk2", "desk3", "desk1", NULL);
    keys("rs"); /* the name comes after the last column */
    names_are("desk1", "desk2", "desk3", NULL);
    keys("ss");
    names_are("desk3", "desk2", "desk1", NULL); /* most cores first */
    keys("s");
    names_are("desk3", "desk2", "desk1", NULL); /* highest load first */
    keys("s");
    names_are("desk1", "desk2", "desk3", NULL); /* most free slots first */
}

static void test_filtered(void **state)
{
    (void)state;
    keys("/K2"); /* any case; q is a letter here */
    names_are("desk2", NULL);
    keys("q");
    names_are(NULL);
    assert_true(top_view_key(&v, KEY_OF_BACKSPACE));
    keys("\n");
    names_are("desk2", NULL);
    shows(2, " 1 peers   2 jobs   3 events   4 desktop   5 history   only: K2");
    assert_true(top_view_key(&v, KEY_OF_ESCAPE));
    names_are("desk1", "desk3", "desk2", NULL);
    assert_false(top_view_key(&v, 'q'));
}

static void test_lost(void **state)
{
    (void)state;
    s.peers[2].seen_ms = NOW - 3000;
    walk(2, NOW);
    names_are("desk1", "desk2", "desk3", NULL);
    shows(6, "desk3            lost 3 s       x86_64 6x 8.0 GiB");
    shows(1, "the grid: 2 peers, 1 away; 5 of 8 slots free; 0 jobs of yours");
    walk(3, NOW);
    names_are("desk1", "desk3", "desk2", NULL);
    top_state_told(&s, 0); /* p2pd has begun anew, and has asked nobody yet */
    names_are("desk1", "desk3", "desk2", NULL);
}

static void test_notices(void **state)
{
    (void)state;
    struct msg_local_notice n = {.what = NOTICE_NODE_DOWN, .time_ms = NOW - 10};
    n.peer.b[0] = 2;
    strcpy(n.text, "desk2: an old story");
    top_state_notice(&s, &n); /* of before it was met last */
    assert_int_equal(s.peers[1].presence, PRESENCE_HERE);
    n.time_ms = NOW + 10;
    top_state_notice(&s, &n);
    top_state_notice(&s, &n); /* said again after p2pd was called again */
    assert_int_equal(s.peers[1].presence, PRESENCE_LOST);
    assert_int_equal(s.event_count, 2);
    walk(3, NOW); /* this one may have met it before */
    assert_int_equal(s.peers[1].presence, PRESENCE_LOST);
    walk(3, NOW);
    walk(3, NOW);
    assert_int_equal(s.peers[1].presence, PRESENCE_HERE);
    n.what = NOTICE_PEER_LEFT;
    n.time_ms = NOW + 20;
    strcpy(n.text, "desk2 has left");
    top_state_notice(&s, &n);
    shows(6, "desk2            away 0 s       x86_64 4x 8.0 GiB");
    walk(3, NOW + 30);
    n.what = NOTICE_PEER_LOST;
    n.time_ms = NOW + 40;
    top_state_notice(&s, &n);
    assert_int_equal(s.peers[1].presence, PRESENCE_LOST);
    assert_true(s.events[s.event_count - 1].bad);
    for (unsigned i = 0; i < 2 * TOP_EVENTS; i++)
        top_state_event(&s, NOW + 100 + i, false, "more");
    assert_int_equal(s.event_count, TOP_EVENTS);
    assert_int_equal(s.events[TOP_EVENTS - 1].time_ms, NOW + 99 + 2 * TOP_EVENTS);
}

static void test_members(void **state)
{
    (void)state;
    struct msg_local_member m = {.seen = NOW / 1000 - 120, .name = "egret"};
    m.peer.b[0] = 9;
    top_state_member(&s, &m);
    m.peer.b[0] = 1;
    top_state_member(&s, &m); /* here: this changes nothing */
    names_are("desk1", "desk3", "desk2", "egret", NULL);
    shows(7, "egret            away 2 m");
    s.peers[3].revoked = true;
    shows(7, "egret            revoked");
    shows(1, "the grid: 3 peers, 0 away; 6 of 12 slots free; 0 jobs of yours");
}

static void test_job(void **state)
{
    (void)state;
    job_is((const unsigned char[]){PLACE_RUNS, PLACE_RUNS, PLACE_RUNS, PLACE_RUNS});
    keys("2");
    shows(4, "mpirun-77        runs     5 s       2 ranks x 2   2 peers          ./a.out");
    shows(6, "mpirun-77 runs for 5 s: 2 ranks x 2 on 2 peers: ./a.out");
    shows(7, "  rank  lane 0                    lane 1");
    shows(8, "     0  *desk1                    desk2");
    job_is((const unsigned char[]){PLACE_LOST, PLACE_RUNS, PLACE_FINISHED, PLACE_RUNS});
    shows(4, "mpirun-77        runs     5 s       2 ranks x 2   1 peer, 1 lost   ./a.out");
    shows(8, "     0  desk1 lost                *desk2");
    shows(9, "     1  desk1 finished            *desk2");
    job_is((const unsigned char[]){PLACE_LOST, PLACE_LOST, PLACE_RUNS, PLACE_RUNS});
    keys("/nobody\n");
    shows(3, "no such job");
}

static void grid_job(bool own, const char *name, unsigned state)
{
    struct message m = {.kind = MSG_local_grid_job};
    m.local_grid_job.own = own;
    strcpy(m.local_grid_job.from, own ? "desk1" : "desk2");
    strcpy(m.local_grid_job.job.name, name);
    strcpy(m.local_grid_job.job.user, "ada");
    m.local_grid_job.job.state = (uint8_t)state;
    m.local_grid_job.job.ranks = 4;
    m.local_grid_job.job.peers = 3;
    m.local_grid_job.job.place = 2;
    m.local_grid_job.job.age_ms = 61000;
    all_jobs_take(&s.grid, &m);
}

static void test_jobs_of_others(void **state)
{
    const struct msg_local_done done = {0};
    (void)state;
    job_is((const unsigned char[]){PLACE_RUNS, PLACE_RUNS, PLACE_RUNS, PLACE_RUNS});
    grid_job(true, "mpirun-77", GRID_JOB_RUNS); /* as in the own ones */
    grid_job(false, "mpirun-77", GRID_JOB_RUNS);
    grid_job(true, "mpirun-78", GRID_JOB_WAITS);
    all_jobs_done(&s.grid, &done);
    keys("2");
    shows(4, "mpirun-77        runs     5 s       2 ranks x 2   2 peers          ./a.out");
    shows(5, "mpirun-77        runs     1 m       4 ranks       3 peers          ada of desk2");
    shows(6, "mpirun-78        waits    1 m       4 ranks       place 2, 0 free  ada of desk1");
    shows(7, "");
    keys("j");
    shows(8, "where its ranks are, its own desktop tells");
}

static void test_gone(void **state)
{
    (void)state;
    s.gone_ms = NOW - 12000;
    strcpy(s.gone_why, "no p2pd answers");
    shows(1, "no p2pd for 12 s, trying again: no p2pd answers");
}

static void past(unsigned i, const char *program, unsigned lost, unsigned status)
{
    s.history[i] = (struct msg_local_past){.what = PAST_JOB,
                                           .began_ms = NOW - 600000,
                                           .took_ms = 90000,
                                           .slots = 2,
                                           .lanes = 2,
                                           .lost = lost,
                                           .status = status,
                                           .name = "mpirun-7"};
    strcpy(s.history[i].program, program);
    strcpy(s.history[i].text, status == 0 ? "done" : "failed");
    s.history_count = i + 1;
}

static void test_history(void **state)
{
    (void)state;
    keys("5");
    shows(3, "nothing has run yet");
    past(0, "./a.out", 1, 0);
    past(1, "./b.out", 0, 3);
    s.history[2] = (struct msg_local_past){
        .what = PAST_LEASE, .took_ms = 1000, .slots = 1, .name = "desk9", .user = "bob"};
    s.history_count = 3;
    shows(3, "00:06              1 m  2 ranks x 2   mpirun-7: ./a.out     done, 1 lost");
    shows(4, "00:06              1 m  2 ranks x 2   mpirun-7: ./b.out     failed, status 3");
    shows(5, "00:00              1 s  1 slot        bob of desk9: a progr");
    keys("/b.out\n");
    shows(3, "00:06              1 m  2 ranks x 2   mpirun-7: ./b.out     failed, status 3");
    shows(4, "");
}

static void test_all(void **state)
{
    (void)state;
    const char *const expected[] = {"desk2", "mpirun-77", "nothing of others runs here", "./a.out",
                                    "a story"};
    size_t found = 0;
    job_is((const unsigned char[]){PLACE_RUNS, PLACE_RUNS, PLACE_RUNS, PLACE_RUNS});
    past(0, "./a.out", 0, 0);
    top_state_event(&s, NOW, true, "a story");
    struct sheet *all = page_all(&s, 80, true, NOW);
    for (unsigned row = 0; row < all->height && found < 5; row++)
        found += strstr(row_of(all, row), expected[found]) != NULL;
    assert_int_equal(found, 5);
    sheet_free(all);
}

static void test_characters(void **state)
{
    (void)state;
    struct sheet *wide = sheet_new(8, 1, false), *plain = sheet_new(8, 1, true);
    sheet_put(wide, 0, 0, 8, TINT_PLAIN, "M\u00f6we\xff\n");
    sheet_put(plain, 0, 0, 8, TINT_PLAIN, "M\u00f6we");
    assert_string_equal(row_of(wide, 0), "M\u00f6we\xff?");
    assert_string_equal(row_of(plain, 0), "M?we");
    sheet_put_right(wide, 0, 0, 6, TINT_BAD, "\u00f6we");
    assert_string_equal(row_of(wide, 0), "   \u00f6we");
    sheet_free(wide);
    sheet_free(plain);
}

/* Many peers, long names, all sizes and keys: nothing is drawn outside. */
static void test_sizes(void **state)
{
    static const int some[] = {KEY_OF_UP,
                               KEY_OF_DOWN,
                               KEY_OF_PAGE_UP,
                               KEY_OF_PAGE_DOWN,
                               KEY_OF_HOME,
                               KEY_OF_END,
                               KEY_OF_BACK_TAB,
                               '\t',
                               's',
                               'r',
                               '/',
                               '5',
                               'h',
                               KEY_OF_BACKSPACE,
                               KEY_OF_ESCAPE,
                               '\n'};
    (void)state;
    job_is((const unsigned char[]){PLACE_RUNS, PLACE_LOST, PLACE_RUNS, 0});
    for (unsigned i = 4; i < 200; i++) {
        struct msg_local_peer p = peer(i, i);
        memset(p.ad.name, 'x', sizeof p.ad.name - 1);
        top_state_met(&s, &p, NOW);
    }
    for (unsigned i = 0; i < TOP_HISTORY; i++)
        past(i, "a program whose name is long", i, i);
    srand(1);
    for (unsigned i = 0; i < 4000; i++) {
        top_view_key(&v, some[(unsigned)rand() % (sizeof some / sizeof some[0])]);
        struct sheet *sheet = drawn(i % 170, i % 61);
        for (unsigned row = 0; row < sheet->height; row++)
            assert_true(strlen(row_of(sheet, row)) <= sheet->width);
        sheet_free(sheet);
    }
    top_view_init(&v);
    assert_true(top_view_key(&v, KEY_OF_END));
    struct sheet *sheet = drawn(80, 24);
    assert_int_equal(v.at[TAB_PEERS], s.peer_count - 1);
    assert_int_equal(v.top[TAB_PEERS] + 15, s.peer_count);
    sheet_free(sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_peers, set_up),
        cmocka_unit_test_setup(test_sorted, set_up),
        cmocka_unit_test_setup(test_filtered, set_up),
        cmocka_unit_test_setup(test_lost, set_up),
        cmocka_unit_test_setup(test_notices, set_up),
        cmocka_unit_test_setup(test_members, set_up),
        cmocka_unit_test_setup(test_job, set_up),
        cmocka_unit_test_setup(test_gone, set_up),
        cmocka_unit_test_setup(test_jobs_of_others, set_up),
        cmocka_unit_test_setup(test_history, set_up),
        cmocka_unit_test_setup(test_all, set_up),
        cmocka_unit_test(test_characters),
        cmocka_unit_test_setup(test_sizes, set_up),
    };
    setenv("TZ", "UTC0", 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    top_state_clear(&s);
    return failed;
}
