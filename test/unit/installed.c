/* SPDX-License-Identifier: BSD-3-Clause */
/* installed.c -- what programs need of a system goes into a text and out of it, and the system is
 * looked at as the dynamic linker would look. */
#include "overlay/files/installed.h"
#include "overlay/files/binaries.h"
#include "overlay/files/libraries.h"
#include "made_elf.h"
#include "temporary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-installed-XXXXXX";
static char cache[128], line[256];

static char *in(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A linker's cache of two libraries, and of one whose file is gone. */
static void make_cache(void)
{
    static const char *const names[] = {"libone.so.1", "libtwo.so.2", "libgone.so.3"};
    char text[1024];
    uint32_t at = 0, head[7] = {3};
    const uint32_t begin = 48 + 3 * 24;
    FILE *f = fopen(cache, "w");
    assert_non_null(f);
    fputs("ld.so-1.7.0: an older table stands before it", f);
    fwrite("glibc-ld.so.cache1.1", 20, 1, f);
    fwrite(head, sizeof head, 1, f);
    for (unsigned i = 0; i < 3; i++) {
        const char *path = in(names[i]);
        const uint32_t entry[6] = {3, begin + at, begin + at + (uint32_t)strlen(names[i]) + 1};
        fwrite(entry, sizeof entry, 1, f);
        at += (uint32_t)sprintf(text + at, "%s%c%s", names[i], '\0', path) + 1;
    }
    fwrite(text, at, 1, f);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(cache, sizeof cache, "%s", in("cache"));
    const struct made_elf one = {.machine = EM_X86_64, .offers = {"ONE_1.2", "ONE_1.10"}};
    const struct made_elf two = {.machine = EM_AARCH64};
    write_elf(in("libone.so.1"), &one);
    write_elf(in("libtwo.so.2"), &two);
    make_cache();
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static const char *lacks(const char *needs)
{
    installed_lacks_by(cache, needs, "x86_64", line, sizeof line);
    return line;
}

static void test_found(void **state)
{
    (void)state;
    assert_string_equal(lacks(""), "");
    assert_string_equal(lacks("x86_64"), "");
    assert_string_equal(lacks("x86_64 libone.so.1:ONE_1.10:ONE_1.2"), "");
    assert_string_equal(lacks("x86_64 /usr/lib/strange/libone.so.1"), ""); /* by its name */
}

static void test_missing(void **state)
{
    (void)state;
    assert_string_equal(lacks("x86_64 libone.so.1:ONE_1.11"),
                        "has a libone.so.1 without ONE_1.11, which the program needs");
    assert_string_equal(lacks("x86_64 libone.so.1 libnone.so.9"),
                        "has no libnone.so.9, which the program needs");
    assert_string_equal(lacks("x86_64 libgone.so.3"),
                        "has no libgone.so.3, which the program needs");
    assert_string_equal(lacks("x86_64 libtwo.so.2"), /* of another machine */
                        "has no libtwo.so.2, which the program needs");
    assert_string_equal(lacks("x86_64 /lib/ld-none.so.7"),
                        "has no /lib/ld-none.so.7, which the program needs");
}

/* A second program, builds for several machines, and one that is not for this one. */
static void test_programs(void **state)
{
    (void)state;
    assert_string_equal(lacks("x86_64 libone.so.1;x86_64 libnone.so.9"),
                        "has no libnone.so.9, which the program needs");
    assert_string_equal(lacks("x86_64 libnone.so.9;x86_64 libone.so.1"),
                        "has no libnone.so.9, which the program needs");
    assert_string_equal(lacks("aarch64 libnone.so.9|x86_64 libone.so.1"), "");
    assert_string_equal(lacks("x86_64 libone.so.1|i686 libnone.so.9"), "");
    assert_string_equal(lacks("i686 libnone.so.9|x86_64 libone.so.1;x86_64 libone.so.1"), "");
    assert_string_equal(lacks("aarch64 libnone.so.9"), ""); /* its ad tells that */
}

/* What is not the system's is nobody's business, and without a cache nothing is known. */
static void test_not_told(void **state)
{
    (void)state;
    assert_string_equal(lacks("x86_64 /home/ada/libnone.so.9"), "");
    assert_string_equal(lacks("x86_64 /usr/../home/libnone.so.9"), "");
    assert_string_equal(lacks("x86_64 ../libnone.so"), "");
    installed_lacks_by(in("none"), "x86_64 libnone.so.9", "x86_64", line, sizeof line);
    assert_string_equal(line, "");
    assert_string_equal(lacks(" |;:"), "");
    assert_string_equal(lacks("x86_64 libnone.so.9 :x"), "");
}

static void test_broken_cache(void **state)
{
    (void)state;
    uint8_t bytes[2048];
    FILE *f = fopen(cache, "r");
    const size_t length = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t cut = 0; cut < length; cut++) {
        f = fopen(in("broken"), "w");
        bytes[cut] ^= 0xff;
        fwrite(bytes, 1, cut % 2 != 0 ? cut : length, f);
        bytes[cut] ^= 0xff;
        fclose(f);
        installed_lacks_by(in("broken"), "x86_64 libone.so.1:ONE_1.10", "x86_64", line,
                           sizeof line);
    }
}

/* From a program's file to the text, and this machine's own system has what this program needs. */
static void test_text(void **state)
{
    (void)state;
    struct needs n = {0}, back;
    char text[NEEDS_TEXT + 1] = "", machine[16], name[32];
    bool last;
    needs_add(&n, "libone.so.1", "ONE_1.2");
    needs_add(&n, "libone.so.1", "TWO_7");
    needs_add(&n, "libone.so.1", "ONE_1.10");
    needs_add(&n, "lib one.so", "ONE_1");
    needs_add(&n, "libtwo.so", NULL);
    needs_write(&n, "x86_64", "", text);
    assert_string_equal(text, "x86_64 libone.so.1:ONE_1.10:TWO_7 libtwo.so");
    needs_write(&n, "aarch64", "|", text);
    const char *rest = needs_read(&back, text, machine, &last);
    assert_false(last);
    assert_memory_equal(&back, &n, sizeof back.count);
    assert_string_equal(back.at[0].version[1], "TWO_7");
    assert_non_null(rest = needs_read(&back, rest, machine, &last));
    assert_string_equal(machine, "aarch64");
    assert_true(last);
    assert_null(needs_read(&back, rest, machine, &last));
    for (unsigned i = 0; i < 2 * NEEDS_MOST; i++) {
        snprintf(name, sizeof name, "lib-with-a-long-name-%u.so", i);
        needs_add(&n, name, "VERSION_1");
    }
    assert_int_equal(n.count, NEEDS_MOST);
    text[0] = '\0';
    needs_write(&n, "x86_64", "", text);
    assert_in_range(strlen(text), 900, NEEDS_TEXT);
    assert_non_null(needs_read(&back, text, machine, &last));
}

static void test_this_program(void **state)
{
    (void)state;
    struct library_needs needs;
    char text[NEEDS_TEXT + 1] = "";
    assert_int_equal(libraries_needs(&needs, "/proc/self/exe", NULL), 0);
    needs_write(&needs.system, needs.machine, "", text);
    assert_non_null(strstr(text, " libcmocka.so."));
    installed_lacks(text, needs.machine, line, sizeof line);
    assert_string_equal(line, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_programs),     cmocka_unit_test(test_not_told),
        cmocka_unit_test(test_text),         cmocka_unit_test(test_this_program),
        cmocka_unit_test(test_broken_cache),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
