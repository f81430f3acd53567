/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the group is, and what is written for limits. What the kernel makes of it:
 * test/security/delegated. */
#include "overlay/sandbox/cgroup.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char unified[] =
    "22 1 0:20 / /proc rw,nosuid - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    "31 23 0:27 / /sys/fs/pstore rw - pstore pstore rw\n";

static void expect(const char *membership, const char *mounts, const char *path)
{
    char found[CGROUP_PATH + 1];
    if (path == NULL) {
        assert_false(cgroup_locate(found, membership, mounts));
        return;
    }
    assert_true(cgroup_locate(found, membership, mounts));
    assert_string_equal(found, path);
}

static void test_own_group(void **state)
{
    (void)state;
    expect("0::/user.slice/app.slice/p2pd.service\n", unified,
           "/sys/fs/cgroup/user.slice/app.slice/p2pd.service");
    expect("0::/\n", unified, "/sys/fs/cgroup");
    /* Both versions at once: the line of version 2 counts. */
    expect("9:name=systemd:/a\n4:memory:/b/0::/no\n0::/c\n",
           "38 31 0:35 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
           "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
           "/sys/fs/cgroup/unified/c");
    expect("4:memory:/b\n", unified, NULL);
    expect("", unified, NULL);
    expect("0::/a\n", "22 1 0:20 / /proc rw - proc proc rw\n", NULL);
    expect("0::/a\n", "", NULL);
    expect("0::/a\n", "nonsense - cgroup2 \n", NULL);
}

static void test_mounts_that_show_a_part(void **state)
{
    (void)state;
    const char part[] = "30 23 0:26 /user /here rw - cgroup2 cgroup2 rw\n";
    expect("0::/user/me\n", part, "/here/me");
    expect("0::/user\n", part, "/here");
    expect("0::/users/me\n", part, NULL);
    expect("0::/me\n", part, NULL);
    expect("0::/a\n", "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n", "/my groups/a");
}

static void test_a_path_that_is_too_long(void **state)
{
    (void)state;
    char membership[CGROUP_PATH + 64] = "0::/";
    memset(membership + 4, 'a', CGROUP_PATH);
    expect(membership, unified, NULL);
}

static void expect_setting(const struct cgroup_setting *s, const char *file, const char *text)
{
    assert_string_equal(s->file, file);
    assert_string_equal(s->text, text);
}

static void test_limits(void **state)
{
    (void)state;
    struct cgroup_setting s[CGROUP_SETTINGS];
    assert_int_equal(cgroup_settings(s, &(struct cgroup_limits){0}), 0);
    assert_int_equal(cgroup_settings(s, &(struct cgroup_limits){1 << 30, 64, 19}), 5);
    expect_setting(&s[0], "memory.max", "1207959552"); /* an eighth above: the room tells why */
    expect_setting(&s[1], "memory.swap.max", "0");
    expect_setting(&s[2], "memory.oom.group", "1");
    expect_setting(&s[3], "pids.max", "65");
    expect_setting(&s[4], "cpu.weight.nice", "19");
    assert_int_equal(cgroup_settings(s, &(struct cgroup_limits){0, UINT32_MAX, 0}), 1);
    expect_setting(&s[0], "pids.max", "4294967296");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_group),
        cmocka_unit_test(test_mounts_that_show_a_part),
        cmocka_unit_test(test_a_path_that_is_too_long),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
