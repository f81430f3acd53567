/* SPDX-License-Identifier: BSD-3-Clause */
/* elf.c -- what a program needs is read from it, and no file leads the reader out of itself. */
#include "overlay/files/elf.h"
#include "made_elf.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

struct bytes {
    const uint8_t *at;
    size_t length;
};

static bool read_bytes(void *ctx, uint64_t at, void *out, size_t length)
{
    const struct bytes *b = ctx;
    if (at > b->length || length > b->length - at)
        return false;
    memcpy(out, b->at + at, length);
    return true;
}

static bool parse(struct elf *elf, const void *at, size_t length)
{
    struct bytes b = {at, length};
    return elf_parse(elf, read_bytes, &b);
}

static const struct made_elf like = {.machine = EM_AARCH64,
                                     .rpath = "$ORIGIN/lib",
                                     .runpath = "/opt/x:/opt/y",
                                     .needed = {"libone.so.1", "libc.so.6"},
                                     .version = {"GLIBC_2.4", "GLIBC_2.36", "GLIBC_2.17", "X_9"}};

static void test_fields(void **state)
{
    (void)state;
    static struct elf elf;
    struct made_file f;
    make_elf(&f, &like);
    assert_true(parse(&elf, &f, sizeof f));
    assert_string_equal(elf.machine, "aarch64");
    assert_string_equal(elf.interpreter, "/lib/ld.so");
    assert_string_equal(elf.rpath, "$ORIGIN/lib");
    assert_string_equal(elf.runpath, "/opt/x:/opt/y");
    assert_string_equal(elf.glibc, "2.36");
    assert_int_equal(elf.needed_count, 2);
    assert_string_equal(elf.needed[0], "libone.so.1");
    assert_int_equal(elf.symbols_count, 1);
    assert_string_equal(elf.symbols[0].library, "libone.so.1");
    assert_string_equal(elf.symbols[0].version, "X_9");
}

/* Of each series the newest; what a library offers is found by its whole name. */
static void test_symbols(void **state)
{
    (void)state;
    static struct elf elf;
    struct made_file f;
    const struct made_elf both = {
        .machine = EM_X86_64,
        .needed = {"libstdc++.so.6"},
        .version = {"GLIBCXX_3.4.9", "CXXABI_1.3", "GLIBCXX_3.4.30", "GLIBCXX_3.4.11"},
        .offers = {"libx.so.1", "X_1.2", "X_1.10"}};
    make_elf(&f, &both);
    assert_true(parse(&elf, &f, sizeof f));
    assert_int_equal(elf.symbols_count, 2);
    assert_string_equal(elf.symbols[0].version, "GLIBCXX_3.4.30");
    assert_string_equal(elf.symbols[1].version, "CXXABI_1.3");
    struct bytes b = {(const uint8_t *)&f, sizeof f};
    assert_true(elf_parse_offers("X_1.10", read_bytes, &b));
    assert_false(elf_parse_offers("X_1.1", read_bytes, &b));
    assert_false(elf_parse_offers("X_1.11", read_bytes, &b));
    make_elf(&f, &like);
    assert_true(elf_parse_offers("X_1.11", read_bytes, &b)); /* it names none */
    assert_true(elf_is_covered("X_1.2", "X_1.10"));
    assert_false(elf_is_covered("X_1.10", "X_1.2"));
    assert_false(elf_is_covered("Y_1.2", "X_1.10"));
    assert_true(elf_is_covered("PLAIN", "PLAIN"));
    assert_false(elf_is_covered("PLAIN", "PLAINER"));
}

static void test_this_program(void **state)
{
    (void)state;
    static struct elf elf;
    int fd = open("/proc/self/exe", O_RDONLY);
    assert_true(elf_read(&elf, fd));
    close(fd);
    assert_true(elf.needed_count > 0);
    assert_int_equal(elf.interpreter[0], '/');
    assert_true(elf_is_older("2.0", elf.glibc));
    fd = open("/dev/null", O_RDONLY);
    assert_false(elf_read(&elf, fd));
    close(fd);
}

static void test_versions(void **state)
{
    (void)state;
    assert_true(elf_is_older("2.4", "2.36"));
    assert_true(elf_is_older("", "2.2.5"));
    assert_true(elf_is_older("2.36", "2.36.1"));
    assert_false(elf_is_older("2.36", "2.36"));
    assert_false(elf_is_older("2.36", "2.4"));
    assert_false(elf_is_older("x", "y"));
}

/* Cut off at each byte, and with each byte changed: it is read or refused. */
static void test_broken(void **state)
{
    (void)state;
    static struct elf elf;
    struct made_file f, broken;
    make_elf(&f, &like);
    for (size_t i = 0; i < sizeof f; i++)
        parse(&elf, &f, i);
    assert_false(parse(&elf, &f, 10));
    for (size_t i = 0; i < sizeof f; i++) {
        broken = f;
        ((uint8_t *)&broken)[i] ^= 0xff;
        parse(&elf, &broken, sizeof broken);
    }
}

/* A chain of versions that leads back to itself ends. */
static void test_circle(void **state)
{
    (void)state;
    static struct elf elf;
    struct made_file f;
    make_elf(&f, &like);
    f.need.vn_next = (Elf64_Word)0;
    f.need.vn_cnt = 0xffff;
    f.version[3].vna_next = (Elf64_Word)(-2 * (int)sizeof f.version[0]);
    for (unsigned i = 0; i < 16; i++)
        if (f.dynamic[i].d_tag == DT_VERNEEDNUM)
            f.dynamic[i].d_un.d_val = UINT64_MAX;
    assert_true(parse(&elf, &f, sizeof f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),       cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_this_program), cmocka_unit_test(test_versions),
        cmocka_unit_test(test_broken),       cmocka_unit_test(test_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
