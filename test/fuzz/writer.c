/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.c -- another desktop names results as it likes, in a folder with links that lead out of
 * it: what lies beside the folder stays as it was, and everything written is plain. */
#include "overlay/files/writer.h"
#include "ground.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The user has links there that lead out. */
static void make_job(void)
{
    ground_make("job");
    symlinkat("../out", ground_at, "job/d");
    symlinkat("../out/canary", ground_at, "job/l");
    symlinkat("/", ground_at, "job/r");
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

static void writer_one(struct writer *p, unsigned how, const char *path, const char *target)
{
    struct writer_file f;
    struct stat st;
    const struct result what = {.kind = RESULT_FILE,
                                .mode = (uint16_t)(how * 0x4321),
                                .size = how % 8,
                                .mtime_ns = how * 0x123456789abcull,
                                .path = path,
                                .target = target};
    if (how % 4 == 0) {
        writer_folder(p, &what, NULL);
    } else if (how % 4 == 1) {
        if (writer_link(p, &what, NULL) == 0 && target[0] == '/')
            abort(); /* the folder's own name is no target that a fuzzer finds */
    } else if (writer_begin(p, &f, path, what.size, NULL) == 0) {
        if (fstat(f.fd, &st) != 0 || !S_ISREG(st.st_mode))
            abort();
        if (writer_write(&f, 0, "1234567", what.size, NULL) != 0 || how % 4 == 2)
            writer_abandon(&f);
        else
            writer_commit(p, &f, &what, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writer *p;
    char job[64];
    make_job();
    snprintf(job, sizeof job, "%s/job", ground);
    if (writer_open(&p, job, 022, NULL) != 0)
        abort();
    for (int i = 0; size > 0 && i < 16; i++) {
        const unsigned how = *data++;
        size--;
        char *path = next_text(&data, &size), *target = next_text(&data, &size);
        writer_one(p, how, path, target);
        free(path);
        free(target);
    }
    writer_close(p);
    ground_check();
    return 0;
}
