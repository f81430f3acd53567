/* SPDX-License-Identifier: BSD-3-Clause */
/* autogroup.c -- reads and writes /proc/PID/autogroup: "/autogroup-NUMBER nice NICE". */
#include "autogroup.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int autogroup_lower(pid_t pid, int nice)
{
    char path[48], text[96] = "";
    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)pid);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    const char *is = n > 0 ? strstr(text, " nice ") : NULL;
    int rc = 0;
    if (is != NULL && atoi(is + strlen(" nice ")) < nice) {
        const int length = snprintf(text, sizeof text, "%d", nice);
        rc = write(fd, text, (size_t)length) < 0 && errno == EAGAIN ? -EAGAIN : 0;
    }
    close(fd);
    return rc;
}
