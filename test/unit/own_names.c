/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/common/own_names.h"
#include "temporary.h"
#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char folder[64];

/* Some library, put there as an installation does it: a new file in the old one's place. */
static void install(void)
{
    Dl_info library;
    char command[PATH_MAX + 256];
    assert_int_not_equal(dladdr((void *)(uintptr_t)sodium_init, &library), 0);
    snprintf(command, sizeof command,
             "cd '%s' && cp '%s' new && mv new one.so && ln -sf one.so two.so && ln -sf one.so "
             "three.so",
             folder, library.dli_fname);
    assert_int_equal(system(command), 0);
}

static const void *loaded(const char *name)
{
    void *handle = dlopen(temporary_path(folder, name), RTLD_NOW);
    assert_non_null(handle);
    return dlsym(handle, "sodium_init");
}

static void a_name_stays_what_it_was(void **state)
{
    (void)state;
    assert_int_equal(temporary_make(folder), 0);
    install();
    const void *inside = loaded("one.so");
    own_names_keep(inside, "two absent  four");
    install();
    assert_ptr_equal(loaded("two.so"), inside);
    assert_ptr_not_equal(loaded("three.so"), inside); /* which nobody has kept */
    assert_null(dlopen(temporary_path(folder, "absent.so"), RTLD_NOW));
    own_names_keep(NULL, "two"); /* in no object */
    temporary_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_name_stays_what_it_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
