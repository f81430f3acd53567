/* SPDX-License-Identifier: BSD-3-Clause */
/* file_at.c -- a call may move less than it was asked to, or be interrupted. */
#include "file_at.h"
#include <errno.h>
#include <unistd.h>

int file_write_at(int fd, const void *bytes, size_t length, off_t at)
{
    for (size_t done = 0; done < length;) {
        const ssize_t n = pwrite(fd, (const char *)bytes + done, length - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return 0;
}

ssize_t file_read_at(int fd, void *bytes, size_t length, off_t at)
{
    size_t done = 0;
    while (done < length) {
        const ssize_t n = pread(fd, (char *)bytes + done, length - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}
