/* SPDX-License-Identifier: BSD-3-Clause */
/* processors.c -- what a processor is called, and what libraries are told where these differ. */
#include "src/survive/processors.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define OLD "sse2 ssse3 sse4_2 popcnt avx f16c"
#define USUAL OLD " fma avx2 bmi2"
#define LARGE USUAL " avx512f avx512bw avx512dq avx512vl"

static struct processor processor(const char *cpuinfo, unsigned usable)
{
    struct processor p;
    FILE *f = fmemopen((char *)cpuinfo, strlen(cpuinfo), "r");
    processor_read(&p, f, usable);
    fclose(f);
    return p;
}

static struct processor intel(unsigned model, const char *flags, unsigned usable)
{
    char text[512];
    snprintf(text, sizeof text,
             "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: %u\n"
             "model name\t: Some CPU @ 3 GHz\nflags\t\t: fpu %s lm\n\nprocessor\t: 1\nmodel\t: 9\n",
             model, flags);
    return processor(text, usable);
}

static void test_read(void **state)
{
    (void)state;
    char text[PROCESSOR_TEXT];
    struct processor p = intel(158, USUAL, 8), again;
    processor_text(&p, "x86_64", text);
    assert_string_equal(text, "x86_64+v3+8+GenuineIntel-6-158");
    assert_true(processor_parse(&again, text, strlen(text)));
    assert_memory_equal(&p, &again, sizeof p);
    assert_int_equal(intel(158, LARGE, 8).features, 4);
    assert_int_equal(intel(42, OLD, 8).features, 2);
    assert_int_equal(intel(42, "sse2 ssse3x sse4_2 popcnt", 8).features, 1);
    assert_int_equal(intel(42, "", 8).features, 0);
    p = processor(
        "processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n", 4);
    processor_text(&p, "aarch64", text);
    assert_string_equal(text, "aarch64+v0+4+0x41-0xd08");
    p = processor("\n", 4);
    assert_string_equal(p.model, "unknown");
    processor_read(&p, NULL, 3);
    assert_string_equal(p.model, "unknown");
    assert_int_equal(p.usable, 3);
}

/* It comes from a peer. */
static void test_parse_only_that(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "x86_64",
                                      "x86_64+v3",
                                      "x86_64+v3+8",
                                      "x86_64+v3+8+",
                                      "x86_64+v5+8+m",
                                      "x86_64+v3+0+m",
                                      "x86_64+v3+8+m m",
                                      "x86_64+v3+8+m:le",
                                      "+v3+8+m",
                                      "x86_64+v3+123456+m"};
    struct processor p;
    char longer[4096];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (processor_parse(&p, bad[i], strlen(bad[i])))
            fail_msg("%s", bad[i]);
    memset(longer, 'm', sizeof longer);
    memcpy(longer, "x86_64+v3+8+", 12);
    assert_false(processor_parse(&p, longer, sizeof longer));
    assert_true(processor_parse(&p, longer, 12 + PROCESSOR_MODEL));
    assert_false(processor_parse(&p, longer, 12 + PROCESSOR_MODEL + 1));
}

static void expect(const struct common *c, const char *expected)
{
    char all[1024] = "";
    struct common_setting s;
    for (unsigned i = 0; common_setting(c, i, &s); i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s=%s;", s.name, s.value);
    assert_string_equal(all, expected);
}

static void expect_of(struct processor a, struct processor b, const char *expected)
{
    struct common c = {.count = 0}, turned = {.count = 0};
    common_add(&c, &a);
    common_add(&c, &b);
    common_add(&c, &a);
    expect(&c, expected);
    common_add(&turned, &b);
    common_add(&turned, &a);
    expect(&turned, expected);
}

#define NO_AVX512 "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL;"

static void test_common(void **state)
{
    (void)state;
    expect(&(struct common){.count = 0}, "");
    expect_of(intel(158, USUAL, 8), intel(158, USUAL, 8), "");
    expect_of(intel(158, USUAL, 8), intel(158, USUAL, 4), "OMP_NUM_THREADS=4;");
    expect_of(intel(158, USUAL, 8), intel(60, USUAL, 8),
              "OPENBLAS_CORETYPE=Haswell;NPY_DISABLE_CPU_FEATURES=" NO_AVX512);
    expect_of(intel(143, LARGE, 8), intel(85, LARGE, 8), "OPENBLAS_CORETYPE=Haswell;");
    expect_of(intel(143, LARGE, 16), intel(158, USUAL, 8),
              "OMP_NUM_THREADS=8;OPENBLAS_CORETYPE=Haswell;NPY_DISABLE_CPU_FEATURES=" NO_AVX512);
    expect_of(intel(158, USUAL, 8), intel(42, OLD, 8),
              "OPENBLAS_CORETYPE=Nehalem;NPY_DISABLE_CPU_FEATURES=AVX F16C FMA3 AVX2 " NO_AVX512
              "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4;");
    /* one that hides what it has, as a virtual one does */
    expect_of(intel(158, USUAL, 8), intel(158, "sse2", 8),
              "OPENBLAS_CORETYPE=Prescott;NPY_DISABLE_CPU_FEATURES=AVX F16C FMA3 AVX2 " NO_AVX512
              "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4;");
    expect_of(processor("CPU part\t: 0xd08\n", 4), processor("CPU part\t: 0xd0b\n", 4), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_parse_only_that),
        cmocka_unit_test(test_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
