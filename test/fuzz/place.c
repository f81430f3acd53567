/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c -- another desktop names results as it likes, in a folder with links that lead out of it:
 * what lies beside the folder stays as it was, and everything written is plain. */
#include "overlay/files/place.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char top[] = "/tmp/p2pgrid-fuzz-place.XXXXXX";
static int at = -1;

static void folder_empty(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *f; d != NULL && (f = readdir(d)) != NULL;) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, f->d_name, 0) != 0) {
            folder_empty(fd, f->d_name);
            unlinkat(fd, f->d_name, AT_REMOVEDIR);
        }
    }
    if (d != NULL)
        closedir(d);
}

static void clear_up(void)
{
    folder_empty(AT_FDCWD, top);
    rmdir(top);
}

static void make_ground(void)
{
    if (at < 0) {
        at = mkdtemp(top) != NULL ? open(top, O_RDONLY | O_DIRECTORY) : -1;
        if (at < 0 || mkdirat(at, "out", 0700) != 0 ||
            close(openat(at, "out/canary", O_CREAT | O_WRONLY, 0600)) != 0)
            abort();
        atexit(clear_up);
    }
    folder_empty(at, "job");
    mkdirat(at, "job", 0700);
    symlinkat("../out", at, "job/d");
    symlinkat("../out/canary", at, "job/l");
    symlinkat("/", at, "job/r");
}

static void check_outside(void)
{
    struct stat st;
    int fd = openat(at, "out", O_RDONLY | O_DIRECTORY), names = 0, tops = 0;
    DIR *d = fdopendir(fd);
    while (readdir(d) != NULL)
        names++;
    if (names != 3 || fstatat(fd, "canary", &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_size != 0 ||
        (st.st_mode & 07777) != 0600)
        abort();
    closedir(d);
    d = fdopendir(openat(at, ".", O_RDONLY | O_DIRECTORY));
    while (readdir(d) != NULL)
        tops++;
    if (tops != 4) /* ., .., out, job */
        abort();
    closedir(d);
}

/* The next string of the input, up to a NUL. */
static char *next_text(const uint8_t **data, size_t *size)
{
    size_t n = strnlen((const char *)*data, *size);
    char *text = strndup((const char *)*data, n);
    n += n < *size;
    *data += n;
    *size -= n;
    return text;
}

static void place_one(struct place *p, unsigned how, const char *path, const char *target)
{
    struct place_file f;
    struct stat st;
    const struct result what = {.kind = RESULT_FILE,
                                .mode = (uint16_t)(how * 0x4321),
                                .size = how % 8,
                                .mtime_ns = how * 0x123456789abcull,
                                .path = path,
                                .target = target};
    if (how % 4 == 0) {
        place_folder(p, &what, NULL);
    } else if (how % 4 == 1) {
        if (place_link(p, &what, NULL) == 0 && target[0] == '/')
            abort(); /* the folder's own name is no target that a fuzzer finds */
    } else if (place_begin(p, &f, path, what.size, NULL) == 0) {
        if (fstat(f.fd, &st) != 0 || !S_ISREG(st.st_mode))
            abort();
        if (place_write(&f, 0, "1234567", what.size, NULL) != 0 || how % 4 == 2)
            place_abandon(&f);
        else
            place_commit(p, &f, &what, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct place *p;
    char job[64];
    make_ground();
    snprintf(job, sizeof job, "%s/job", top);
    if (place_open(&p, job, 022, NULL) != 0)
        abort();
    for (int i = 0; size > 0 && i < 16; i++) {
        const unsigned how = *data++;
        size--;
        char *path = next_text(&data, &size), *target = next_text(&data, &size);
        place_one(p, how, path, target);
        free(path);
        free(target);
    }
    place_close(p);
    check_outside();
    return 0;
}
