/* SPDX-License-Identifier: BSD-3-Clause */
/* session_keys.c -- datagrams between two peers: only the right one opens them, once, unchanged, in
 * time.
 */
#include "overlay/crypto/session_keys.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const uint8_t words[] = "how are you?";

static size_t closed(const struct aead_key *key, uint64_t number, uint8_t packet[AEAD_PACKET])
{
    return aead_seal(key, number, words, sizeof words, packet);
}

static void test_there_and_back(void **state)
{
    struct aead_key key, other;
    struct window window = {0}, others = {0};
    uint8_t packet[AEAD_PACKET], frame[AEAD_FRAME];
    (void)state;
    aead_draw(&key);
    aead_draw(&other);
    size_t length = closed(&key, 1, packet);
    assert_int_equal(length, AEAD_HEAD + sizeof words + AEAD_TAG);
    assert_int_equal(aead_name(packet, length), key.name);
    assert_null(memmem(packet, length, words, sizeof words));
    assert_int_equal(aead_open(&other, &others, packet, length, frame), 0);
    other.name = key.name; /* a name alone opens nothing */
    assert_int_equal(aead_open(&other, &others, packet, length, frame), 0);
    assert_int_equal(aead_open(&key, &window, packet, length, frame), sizeof words);
    assert_memory_equal(frame, words, sizeof words);
    assert_int_equal(aead_open(&key, &window, packet, length, frame), 0);
}

/* Any bit that is turned, any byte that is missing: refused, and the real one is still taken. */
static void test_any_change(void **state)
{
    struct aead_key key;
    struct window window = {0};
    uint8_t packet[AEAD_PACKET], frame[AEAD_FRAME];
    (void)state;
    aead_draw(&key);
    size_t length = closed(&key, 5, packet);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(aead_open(&key, &window, packet, length, frame), 0);
        packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t n = 0; n < length; n++)
        assert_int_equal(aead_open(&key, &window, packet, n, frame), 0);
    assert_int_equal(aead_open(&key, &window, packet, length, frame), sizeof words);
}

static void test_bounds(void **state)
{
    static uint8_t longest[AEAD_FRAME + 1], packet[AEAD_PACKET], frame[AEAD_FRAME];
    struct aead_key key;
    struct window window = {0};
    (void)state;
    aead_draw(&key);
    assert_int_equal(aead_seal(&key, 1, longest, AEAD_FRAME + 1, packet), 0);
    assert_int_equal(aead_seal(&key, 0, longest, 1, packet), 0);
    assert_int_equal(aead_seal(&key, 1, longest, AEAD_FRAME, packet), AEAD_PACKET);
    assert_int_equal(aead_open(&key, &window, packet, AEAD_PACKET, frame), AEAD_FRAME);
}

/* a draws a key for b; from then on b's packets reach a. */
static uint64_t give(struct session_keys *a, struct session_keys *b, uint64_t now)
{
    uint64_t replaced;
    session_keys_take(b, session_keys_give(a, &replaced, now), now);
    return replaced;
}

static size_t pass(struct session_keys *from, struct session_keys *to, uint64_t now)
{
    uint8_t packet[AEAD_PACKET], frame[AEAD_FRAME];
    size_t length = session_keys_seal(from, words, sizeof words, packet, now);
    return length > 0 ? session_keys_open(to, packet, length, frame, now) : 0;
}

static void test_keys_end(void **state)
{
    struct session_keys a = {0}, b = {0};
    uint64_t now = 100000;
    (void)state;
    assert_int_equal(pass(&b, &a, now), 0);
    assert_int_equal(give(&a, &b, now), 0);
    assert_int_equal(pass(&b, &a, now), sizeof words);
    assert_int_equal(pass(&a, &b, now), 0); /* the other direction has no key yet */
    assert_int_equal(pass(&b, &a, now + SESSION_KEY_MS - 1), sizeof words);
    assert_int_equal(pass(&b, &a, now + SESSION_KEY_MS), 0);
    give(&a, &b, now + SESSION_KEY_MS);
    assert_int_equal(pass(&b, &a, now + SESSION_KEY_MS), sizeof words);
    session_keys_drop(&b);
    assert_int_equal(pass(&b, &a, now + SESSION_KEY_MS), 0);
    assert_false(session_keys_idle(&a, now + 2 * SESSION_KEY_MS - 1));
    assert_true(session_keys_idle(&a, now + 3 * SESSION_KEY_MS));
}

/* Packets that are on their way while keys change still arrive, and no key is kept for ever. */
static void test_keys_cross(void **state)
{
    struct session_keys a = {0}, b = {0};
    uint8_t packet[AEAD_PACKET], frame[AEAD_FRAME];
    uint64_t now = 100000;
    (void)state;
    give(&a, &b, now);
    size_t length = session_keys_seal(&b, words, sizeof words, packet, now);
    uint64_t first = b.ours.name;
    for (unsigned i = 0; i < SESSION_KEYS - 1; i++)
        assert_int_equal(give(&a, &b, now), 0);
    assert_int_equal(session_keys_open(&a, packet, length, frame, now), sizeof words);
    assert_int_equal(give(&a, &b, now), first);
    assert_int_equal(session_keys_open(&a, packet, length, frame, now), 0);
    assert_int_equal(pass(&b, &a, now), sizeof words);
}

static void test_when_to_ask(void **state)
{
    struct session_keys a = {0}, b = {0};
    uint64_t now = 100000;
    (void)state;
    assert_true(session_keys_ask(&b, now));
    assert_false(session_keys_ask(&b, now + SESSION_ASK_MS - 1));
    assert_true(session_keys_ask(&b, now + SESSION_ASK_MS));
    give(&a, &b, now);
    give(&b, &a, now);
    assert_false(session_keys_ask(&b, now + SESSION_RENEW_MS - 1));
    assert_true(session_keys_ask(&b, now + SESSION_RENEW_MS));
    now += SESSION_RENEW_MS;
    give(&a, &b, now);
    assert_int_equal(pass(&b, &a, now), sizeof words);
    assert_true(session_keys_ask(&b, now + SESSION_SILENT_MS)); /* sent, nothing came back */
    assert_int_equal(pass(&a, &b, now + SESSION_SILENT_MS), sizeof words);
    assert_false(session_keys_ask(&b, now + 2 * SESSION_SILENT_MS - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_any_change),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_keys_end),
        cmocka_unit_test(test_keys_cross),     cmocka_unit_test(test_when_to_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
