/* SPDX-License-Identifier: BSD-3-Clause */
/* binaries.c -- what a program's file says becomes what a peer must have. */
#include "overlay/files/binaries.h"
#include "overlay/core/lease/require.h"
#include "made_elf.h"
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-binaries-XXXXXX";

static void make(const char *name, unsigned machine, const char *library, const char *version)
{
    char path[128];
    const struct made_elf e = {.machine = machine, .needed = {library}, .version = {version}};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_elf(path, &e);
    chmod(path, 0755);
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    make("app", EM_X86_64, "libmpi.so.40", "GLIBC_2.38");
    make("app.arm", EM_AARCH64, "libmpi.so.40", "GLIBC_2.17");
    make("static", EM_X86_64, "libm.so.6", NULL);
    make("mpich", EM_X86_64, "libmpich.so.12", "GLIBC_2.2.5");
    make("odd", 9999, "libm.so.6", NULL);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static struct binaries_want want;
static const char *const out = want.require;
static struct err e;

static int ask(const char *program, const char *second, const char *builds)
{
    const struct gather_app apps[] = {{.program = program, .cwd = folder},
                                      {.program = second, .cwd = folder}};
    struct binaries b;
    e = (struct err){0};
    int rc = binaries_parse(&b, builds, &apps[0], "/usr/bin:/bin", &e);
    return rc != 0 ? rc
                   : binaries_require(&want, apps, second != NULL ? 2 : 1, &b, "/usr/bin:/bin", &e);
}

static void test_one(void **state)
{
    (void)state;
    assert_int_equal(ask("./app", NULL, NULL), 0);
    assert_string_equal(out, "arch == x86_64 && libc >= 2.38");
    assert_int_equal(ask("./app", "./app", NULL), 0);
    assert_string_equal(out, "arch == x86_64 && libc >= 2.38");
    assert_int_equal(ask("./static", NULL, ""), 0);
    assert_string_equal(out, "arch == x86_64");
    assert_int_equal(ask("sh", NULL, NULL), 0);
    assert_string_equal(out, "");
    assert_int_equal(ask("./odd", NULL, NULL), 0);
    assert_string_equal(out, "");
    assert_int_equal(ask("./none", NULL, NULL), 0);
    assert_string_equal(out, "");
}

static void test_another_mpi(void **state)
{
    (void)state;
    assert_int_equal(ask("./mpich", NULL, NULL), -ENOEXEC);
    assert_non_null(strstr(e.text, "mpich is linked with the libmpich.so.12 of another MPI"));
}

static void test_builds(void **state)
{
    (void)state;
    struct require r;
    struct require_error wrong;
    struct part_ad ad = {0};
    assert_int_equal(ask("./app", NULL, "x86_64:./app, aarch64:./app.arm"), 0);
    assert_true(require_parse(&r, out, &wrong));
    strcpy(ad.arch, "aarch64");
    strcpy(ad.libc, "glibc 2.31");
    assert_true(require_fits(&r, &ad, 1));
    strcpy(ad.arch, "x86_64");
    assert_false(require_fits(&r, &ad, 1));
    strcpy(ad.libc, "glibc 2.39");
    assert_true(require_fits(&r, &ad, 1));
    strcpy(ad.arch, "riscv64");
    assert_false(require_fits(&r, &ad, 1));
}

static void test_wrong_builds(void **state)
{
    (void)state;
    assert_int_equal(ask("./app", NULL, "x86_64:./app.arm"), -ENOEXEC);
    assert_non_null(strstr(e.text, "./app.arm is built for aarch64, not for x86_64"));
    assert_int_equal(ask("./app", NULL, "x86_64:./none"), -ENOENT);
    assert_int_equal(ask("./app", NULL, "x86_64"), -EINVAL);
    assert_int_equal(ask("./app", NULL, ":./app"), -EINVAL);
    assert_int_equal(ask("./app", NULL, "x86_64:./app,x86_64:./static"), -EINVAL);
}

static void test_joined(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {NULL, "arch == x86_64", "arch == x86_64"},
        {" ", "arch == x86_64", "arch == x86_64"},
        {"cores > 1 || mem > 1G", "arch == x86_64", "(cores > 1 || mem > 1G) && arch == x86_64"},
        {"cores > 1", "", "cores > 1"},
        {"cores >", "arch == x86_64", "cores >"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *both = binaries_join(cases[i][0], cases[i][1]);
        assert_string_equal(both, cases[i][2]);
        free(both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),    cmocka_unit_test(test_another_mpi),
        cmocka_unit_test(test_builds), cmocka_unit_test(test_wrong_builds),
        cmocka_unit_test(test_joined),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
