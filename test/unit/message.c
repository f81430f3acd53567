/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/wire/message.h"
#include "overlay/wire/version.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct message example(void)
{
    struct message m;
    memset(&m, 0, sizeof m);
    m.kind = MSG_ad_answer;
    m.ad_answer.token = 7;
    struct part_ad *ad = &m.ad_answer.ad;
    ad->peer.id.b[0] = 0xaa;
    ad->peer.addr.port = 7117;
    strcpy(ad->name, "desk");
    ad->memory = 16ull << 30;
    ad->labels_count = 2;
    strcpy(ad->labels[0].text, "lab");
    strcpy(ad->labels[1].text, "office");
    return m;
}

static void test_round_trip(void **state)
{
    (void)state;
    uint8_t frame[1024], again[1024];
    struct message m = example(), back;
    size_t n = message_encode(&m, frame, sizeof frame);
    assert_true(n > WIRE_HEADER);
    assert_int_equal(message_frame_length(frame, 4), (long)n);
    assert_true(message_decode(&back, frame, n));
    assert_string_equal(back.ad_answer.ad.labels[1].text, "office");
    assert_int_equal(back.ad_answer.ad.memory, 16ull << 30);
    assert_int_equal(message_encode(&back, again, sizeof again), n);
    assert_memory_equal(frame, again, n);
}

static void test_every_cut_is_refused(void **state)
{
    (void)state;
    uint8_t frame[1024], cut[1024];
    struct message m = example(), back;
    size_t n = message_encode(&m, frame, sizeof frame);
    for (size_t k = WIRE_HEADER; k < n; k++) { /* a shorter frame that says so itself */
        memcpy(cut, frame, k);
        struct wire_writer w = {.base = cut, .size = 4};
        wire_put_u32(&w, (uint32_t)(k - 4));
        assert_false(message_decode(&back, cut, k));
    }
    for (size_t k = 0; k < n; k++)
        assert_int_equal(message_encode(&m, cut, k), 0);
    frame[3]++; /* one byte more than the fields fill */
    frame[n] = 0;
    assert_false(message_decode(&back, frame, n + 1));
}

static void test_large_ones_are_held_beside(void **state)
{
    static struct message_whole whole, copy;
    struct msg_local_places places = {.token = 7, .places_count = 2};
    const struct message m = {.kind = MSG_local_places, .local_places = &places};
    struct message small;
    uint8_t frame[1024];
    (void)state;
    strcpy(places.places[1].name, "heron");
    const size_t n = message_encode(&m, frame, sizeof frame);
    assert_true(n > WIRE_HEADER);
    assert_false(message_decode(&small, frame, n)); /* it has no room for the list */
    assert_true(message_decode_whole(&whole, frame, n, WIRE_HIGHEST));
    assert_ptr_equal(whole.message.local_places, &whole.large.local_places);
    assert_string_equal(message_local_places(&whole.message)->places[1].name, "heron");
    assert_int_equal(message_token(&whole.message), 7);
    message_copy(&copy, &whole.message);
    message_clear(&whole, MSG_local_places);
    assert_int_equal(whole.message.local_places->places_count, 0);
    assert_string_equal(copy.message.local_places->places[1].name, "heron");
}

static void test_bounds(void **state)
{
    (void)state;
    uint8_t frame[4096];
    struct message m = example();
    m.ad_answer.ad.labels_count = 17;
    assert_int_equal(message_encode(&m, frame, sizeof frame), 0);
    const uint8_t huge[] = {0x7f, 0xff, 0xff, 0xff}, empty[] = {0, 0, 0, 0};
    assert_int_equal(message_frame_length(huge, sizeof huge), -1);
    assert_int_equal(message_frame_length(empty, sizeof empty), -1);
    assert_int_equal(message_frame_length(huge, 3), 0);
    const uint8_t unknown[] = {0, 0, 0, 1, 0};
    assert_false(message_decode(&m, unknown, sizeof unknown));
}

static void test_text_has_no_nul(void **state)
{
    (void)state;
    const uint8_t raw[] = {0, 3, 'a', 0, 'b'};
    struct wire_reader r = {.base = raw, .size = sizeof raw};
    char out[9];
    wire_get_text(&r, out, 8);
    assert_true(r.failed);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_large_ones_are_held_beside),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_text_has_no_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
