/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c -- a function is put between a library and the next one; whose process is at the other
 * end. */
#include "src/common/import_hook.h"
#include "src/common/socket_user.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static unsigned calls;

static double count_strtod(const char *text, char **end)
{
    calls++;
    return strtod(text, end);
}

typedef void *loads_fn(const char *text, size_t flags, void *error);
typedef void delete_fn(void *json);

static void read_number(void *library)
{
    loads_fn *loads = (loads_fn *)dlsym(library, "json_loads");
    delete_fn *delete = (delete_fn *)dlsym(library, "json_delete");
    void *json = loads != NULL && delete != NULL ? loads("[1.5]", 0, NULL) : NULL;
    assert_non_null(json);
    delete (json);
}

static void test_import(void **state)
{
    (void)state;
    void (*const ours)(void) = (void (*)(void))count_strtod;
    void *library = dlopen("libjansson.so.4", RTLD_NOW);
    assert_non_null(library);
    assert_int_equal(import_hook("libnobody.so", "strtod", ours), -ENOENT);
    assert_int_equal(import_hook("libjansson.so", "no_such_function", ours), -ENOENT);
    read_number(library);
    assert_int_equal(calls, 0);
    assert_int_equal(import_hook("libjansson.so", "strtod", ours), 0);
    read_number(library);
    assert_int_equal(calls, 1);
}

static int call(int listening, int *caller)
{
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    *caller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&at, &length), 0);
    assert_int_equal(connect(*caller, (struct sockaddr *)&at, sizeof at), 0);
    return accept(listening, NULL, NULL);
}

static void test_visitor(void **state)
{
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int caller, listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listening, 1), 0);
    if (!socket_user_known())
        skip();
    int connection = call(listening, &caller);
    assert_true(socket_user_is(connection, geteuid()));
    assert_false(socket_user_is(connection, geteuid() + 1));
    close(caller);
    assert_false(socket_user_is(connection, geteuid()));
    assert_false(socket_user_is(listening, geteuid()));
    close(connection);
    close(listening);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visitor),
        cmocka_unit_test(test_import),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
