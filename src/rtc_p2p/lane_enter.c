/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_enter.c -- chroot(2), which orted's room leaves to it for this alone. */
#include "lane_enter.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the room gave it. Root's own jobs have all rights, as before. */
static int give_up_chroot(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SYS_CHROOT, 0, 0) != 1)
        return 0;
    return syscall(SYS_capset, &head, none) == 0 ? 0 : -errno;
}

static int change_root(const struct lane_roots *roots, unsigned lane)
{
    char root[PATH_MAX], here[PATH_MAX];
    if (roots->way == LANES_ASIDE || lane == 0)
        return 0;
    if (snprintf(root, sizeof root, "%s%u", roots->prefix, lane) >= (int)sizeof root)
        return -ENAMETOOLONG;
    if (getcwd(here, sizeof here) == NULL)
        strcpy(here, "/");
    return chroot(root) == 0 && (chdir(here) == 0 || chdir("/") == 0) ? 0 : -errno;
}

int lane_enter(const struct lane_roots *roots, unsigned lane, struct err *e)
{
    if (lane >= roots->count)
        return err_set(e, ENOENT, "lane %u has no view of the job's folder here, %u have", lane,
                       roots->count);
    int rc = change_root(roots, lane);
    if (rc == 0)
        rc = give_up_chroot();
    return rc == 0 ? 0 : err_set(e, -rc, "lane %u's view: %s", lane, strerror(-rc));
}

int lane_variable(const struct lane_roots *r, unsigned lane, unsigned number, char *text,
                  unsigned size)
{
    int n = -1;
    if (number == 0 && r->way == LANES_ASIDE)
        n = snprintf(text, size, LANE_VIEW_VARIABLE "=%s/lane-%u/tree", r->room, lane);
    else if (number == 0)
        n = snprintf(text, size, LANE_VIEW_VARIABLE "=%s", r->folder);
    else if (number == 1 && r->way != LANES_ASIDE)
        n = snprintf(text, size, "TMPDIR=/tmp");
    else if (number == 1)
        n = snprintf(text, size, "TMPDIR=%s/lane-%u/tmp", r->room, lane);
    else if (number == 2 && r->homes)
        n = snprintf(text, size, "HOME=%s/lane-%u/home", r->room, lane);
    return n >= 0 && (unsigned)n < size ? 0 : -1;
}
