/* SPDX-License-Identifier: BSD-3-Clause */
/* libraries.c -- libraries are found where the dynamic linker would find them. */
#include "overlay/files/libraries.h"
#include "made_elf.h"
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-libraries-XXXXXX";
static char name[8][128];

static const char *in(unsigned i, const char *file)
{
    snprintf(name[i], sizeof name[i], "%s/%s", folder, file);
    return name[i];
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || mkdir(in(0, "lib"), 0700) != 0 ||
           mkdir(in(0, "bin"), 0700) != 0 || mkdir(in(0, "deep"), 0700) != 0;
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static struct libraries found;

static bool finds(const char *path)
{
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(found.path[i], path) == 0)
            return true;
    return false;
}

static void find(const char *program, const char *library_path)
{
    libraries_clear(&found);
    assert_int_equal(libraries_find(&found, program, library_path), 0);
}

/* The program's RPATH serves its libraries, too, its RUNPATH does not. */
static void test_paths(void **state)
{
    (void)state;
    struct made_elf program = {.machine = EM_X86_64,
                               .rpath = "$ORIGIN/../lib:$ORIGIN/../deep",
                               .needed = {"libone.so", "libc.so.6"}};
    const struct made_elf one = {
        .machine = EM_X86_64, .needed = {"libtwo.so"}, .version = {"GLIBC_2.38"}};
    const struct made_elf two = {.machine = EM_X86_64};
    write_elf(in(0, "bin/app"), &program);
    write_elf(in(1, "lib/libone.so"), &one);
    write_elf(in(2, "deep/libtwo.so"), &two);
    char by_origin[200], deep[200];
    snprintf(by_origin, sizeof by_origin, "%s/bin/../lib/libone.so", folder);
    snprintf(deep, sizeof deep, "%s/bin/../deep/libtwo.so", folder);
    find(name[0], NULL);
    assert_int_equal(found.count, 2);
    assert_true(finds(by_origin) && finds(deep));
    program.runpath = program.rpath;
    write_elf(name[0], &program);
    find(name[0], NULL);
    assert_int_equal(found.count, 1);
    assert_true(finds(by_origin));
}

static void test_library_path(void **state)
{
    (void)state;
    char path[200];
    const struct made_elf program = {
        .machine = EM_X86_64, .needed = {"libone.so", "libmpi.so.40"}, .version = {"GLIBC_2.34"}};
    struct library_needs needs;
    write_elf(in(0, "bin/plain"), &program);
    find(name[0], NULL);
    assert_int_equal(found.count, 0);
    snprintf(path, sizeof path, "/nowhere:%s/lib:%s/deep", folder, folder);
    find(name[0], path);
    assert_true(found.by_variable);
    assert_int_equal(found.count, 2);
    assert_int_equal(libraries_needs(&needs, name[0], path), 0);
    assert_string_equal(needs.machine, "x86_64");
    assert_string_equal(needs.glibc, "2.38"); /* of its library */
    assert_string_equal(needs.mpi, "libmpi.so.40");
    assert_string_equal(needs.mpi_file, "");
    assert_int_equal(needs.system.count, 1); /* neither glibc nor Open MPI */
    assert_string_equal(needs.system.at[0].name, "/lib/ld.so");
}

/* A library of another machine is passed by, as ld.so does. */
static void test_other_machine(void **state)
{
    (void)state;
    char path[200];
    const struct made_elf program = {.machine = EM_AARCH64, .needed = {"libone.so"}};
    write_elf(in(0, "bin/arm"), &program);
    snprintf(path, sizeof path, "%s/lib", folder);
    find(name[0], path);
    assert_int_equal(found.count, 0);
}

/* Two that need each other, and one that is none. */
static void test_circle_and_none(void **state)
{
    (void)state;
    const struct made_elf a = {
        .machine = EM_X86_64, .runpath = "$ORIGIN", .needed = {"libb.so", "liba.so"}};
    const struct made_elf b = {.machine = EM_X86_64, .runpath = "${ORIGIN}", .needed = {"liba.so"}};
    write_elf(in(0, "deep/liba.so"), &a);
    write_elf(in(1, "deep/libb.so"), &b);
    find(name[0], NULL);
    assert_int_equal(found.count, 1);
    FILE *script = fopen(in(2, "bin/script"), "w");
    fputs("#!/bin/sh\n", script);
    fclose(script);
    libraries_clear(&found);
    assert_int_equal(libraries_find(&found, name[2], NULL), -ENOEXEC);
    assert_int_equal(libraries_find(&found, in(3, "bin/none"), NULL), -ENOEXEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_library_path),
        cmocka_unit_test(test_other_machine),
        cmocka_unit_test(test_circle_and_none),
    };
    int rc = cmocka_run_group_tests(tests, set_up, clean_up);
    libraries_clear(&found);
    return rc;
}
