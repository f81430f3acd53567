/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/lease/candidate.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 8 };

static const struct request nothing_excluded;
static const struct require anything;

static struct part_ad desk(unsigned n, const char *ompi, uint16_t slots_free)
{
    struct part_ad ad = {.slots = 4, .slots_free = slots_free, .cores = (uint16_t)n};
    ad.peer.id.b[0] = (uint8_t)n;
    snprintf(ad.name, sizeof ad.name, "desk%u", n);
    snprintf(ad.ompi, sizeof ad.ompi, "%s", ompi);
    return ad;
}

static const char *lacks; /* by the next one that is added */

static void add(struct candidates *all, struct part_ad ad, uint32_t rtt_us,
                const struct request *want, const struct require *require)
{
    const struct candidate_want w = {.request = want, .require = require, .ompi = "4.1.4"};
    candidates_add(all, &ad, rtt_us, lacks, &w);
    lacks = NULL;
}

static void test_nearest_fitting_first(void **state)
{
    (void)state;
    struct candidate room[MOST];
    struct candidates all = {.at = room, .most = MOST};
    add(&all, desk(1, "4.1.4", 4), 300, &nothing_excluded, &anything);
    add(&all, desk(2, "5.0.7", 4), 1, &nothing_excluded, &anything);
    add(&all, desk(3, "4.1.6", 4), 0, &nothing_excluded, &anything);
    add(&all, desk(4, "4.1.4", 4), 200, &nothing_excluded, &anything);
    assert_int_equal(candidates_sort(&all), 3);
    assert_string_equal(all.at[0].name, "desk3");
    assert_string_equal(all.at[1].name, "desk4");
    assert_string_equal(all.at[2].name, "desk1");
    assert_true(candidates_suffice(&all, &(struct request){.slots = 9, .spares = 2}));
    assert_false(
        candidates_suffice(&all, &(struct request){.slots = 12})); /* nothing to overbook */
    assert_false(candidates_suffice(&all, &(struct request){.slots = 1, .spares = 3}));
}

/* What its system has not keeps a peer out as its ad would, and is what a person hears of. */
static void test_a_lacking_system(void **state)
{
    (void)state;
    struct candidate room[MOST];
    struct candidates all = {.at = room, .most = MOST};
    lacks = "has no libgfortran.so.5, which the program needs";
    add(&all, desk(1, "4.1.4", 4), 10, &nothing_excluded, &anything);
    lacks = "";
    add(&all, desk(2, "4.1.4", 4), 20, &nothing_excluded, &anything);
    assert_int_equal(candidates_sort(&all), 1);
    assert_string_equal(all.at[0].name, "desk2");
    assert_string_equal(all.at[1].why, "has no libgfortran.so.5, which the program needs");
}

static void test_the_line_names_the_reasons(void **state)
{
    (void)state;
    struct candidate room[MOST];
    struct candidates all = {.at = room, .most = MOST};
    const struct id excluded = {{6}};
    const struct request want = {.slots = 32, .exclude = &excluded, .exclude_count = 1};
    struct require require;
    struct require_error wrong;
    char line[512];
    assert_true(require_parse(&require, "cores != 7", &wrong));
    add(&all, desk(1, "4.1.4", 4), 10, &want, &require);
    add(&all, desk(3, "4.1.4", 0), 20, &want, &require);
    add(&all, desk(4, "4.1.4", 4), 30, &want, &require);
    add(&all, desk(5, "5.0.7", 4), 40, &want, &require);
    add(&all, desk(6, "4.1.4", 4), 50, &want, &require);
    add(&all, desk(7, "4.1.4", 4), 60, &want, &require);
    add(&all, desk(8, "", 4), 70, &want, &require);
    assert_int_equal(candidates_sort(&all), 3);
    struct claim_peer peers[] = {
        {.state = CLAIM_OFFERED, .offered = 4}, {.state = CLAIM_UNASKED}, {.state = CLAIM_SILENT}};
    struct claim_offer offers[] = {{.slots = 4}};
    struct claim claim = {
        .request = &want, .peers = peers, .peer_count = 3, .offers = offers, .offer_count = 1};
    candidates_explain(&all, &claim, &require, 0, false, line, sizeof line);
    assert_string_equal(line, "asked for 32 slots, found 4 on 1 peer: desk3 has 0 of 4 slots free, "
                              "desk4 did not answer, desk5 runs Open MPI 5.0.7 (needs 4.1), "
                              "desk6 was not to be used, desk7 does not fit cores != 7, "
                              "desk8 has no Open MPI (needs 4.1); start "
                              "fewer processes or wait");
    assert_true(
        require_parse(&require, "!(name == egret) && name in (desk3, heron, ibis)", &wrong));
    candidates_explain(&all, &claim, &require, 1, false, line, sizeof line);
    assert_non_null(strstr(line, ", 1 peer did not answer; no peer that answered is called heron"));
}

/* Two sites of two desktops; then one of them is full. */
static void test_the_widest_domains_that_do(void **state)
{
    (void)state;
    struct candidate room[MOST];
    struct candidates all = {.at = room, .most = MOST};
    struct claim_peer peers[4];
    struct request request = {.slots = 4, .apart = 2};
    struct claim claim = {.request = &request, .peers = peers};
    for (unsigned i = 0; i < 4; i++) {
        struct part_ad ad = desk(i + 1, "4.1.4", 2);
        strcpy(ad.site, i < 2 ? "lab" : "hall");
        ad.peer.addr.ip[15] = (uint8_t)i; /* of one subnet */
        add(&all, ad, i, &nothing_excluded, &anything);
    }
    assert_int_equal(candidates_sort(&all), 4);
    candidates_claim(&all, 4, NULL, 0, &claim);
    assert_int_equal(peers[1].domain, 0);
    assert_int_equal(peers[2].domain, 2);
    assert_int_equal(peers[3].domain, 2);
    assert_int_equal(claim.per_domain, 2);
    all.at[2].slots_free = all.at[3].slots_free = 0;
    candidates_claim(&all, 4, NULL, 0, &claim); /* only peers are left to be told apart */
    assert_int_equal(peers[1].domain, 1);
    assert_int_equal(peers[3].domain, 3);
    request.apart = 0;
    candidates_claim(&all, 4, NULL, 0, &claim);
    assert_int_equal(claim.per_domain, 0);
}

/* Of two sites one has as much of the job as it may, of its two desktops only the first. */
static void test_what_is_borrowed_counts(void **state)
{
    (void)state;
    struct candidate room[MOST];
    struct candidates all = {.at = room, .most = MOST};
    struct claim_peer peers[4];
    const struct request request = {.slots = 2, .per_peer = 2, .apart = 2};
    struct claim claim = {.request = &request, .peers = peers};
    for (unsigned i = 0; i < 4; i++) {
        struct part_ad ad = desk(i + 1, "4.1.4", 2);
        strcpy(ad.site, i < 2 ? "lab" : "hall");
        add(&all, ad, i, &nothing_excluded, &anything);
    }
    assert_int_equal(candidates_sort(&all), 4);
    struct candidate_borrowed borrowed[] = {{.peer = all.at[0].peer, .site = "lab", .slots = 1},
                                            {.peer = all.at[0].peer, .site = "lab", .slots = 1}};
    candidates_claim(&all, 4, borrowed, 2, &claim);
    assert_int_equal(peers[1].domain, 0); /* the other site is enough */
    assert_int_equal(peers[0].domain_borrowed, 2);
    assert_int_equal(peers[2].domain_borrowed, 0);
    assert_int_equal(peers[0].borrowed, 2);
    assert_int_equal(peers[1].borrowed, 0);
    assert_true(claim_is_used_up(&claim, 0));
    assert_false(claim_is_used_up(&claim, 1));
    all.at[2].slots_free = all.at[3].slots_free = 0;
    candidates_claim(&all, 4, borrowed, 2, &claim); /* the other desktop of the first one is */
    assert_int_equal(peers[1].domain, 1);
    assert_int_equal(peers[0].domain_borrowed, 2);
    assert_int_equal(peers[1].domain_borrowed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_fitting_first),
        cmocka_unit_test(test_a_lacking_system),
        cmocka_unit_test(test_the_line_names_the_reasons),
        cmocka_unit_test(test_the_widest_domains_that_do),
        cmocka_unit_test(test_what_is_borrowed_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
