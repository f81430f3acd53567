/* SPDX-License-Identifier: BSD-3-Clause */
/* results.c -- desktops that say and send what they like as a job's results: mpirun's collection
 * comes to an end, what lies beside the folder stays as it was, and in it there are files, folders
 * and links that stay in it, under names that nothing obeys. */
#include "overlay/client/collect.h"
#include "overlay/files/writer.h"
#include "ground.h"
#include "names.h"
#include <limits.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SOURCES = 3, RANKS = 3, UMASK = 027 };

static struct script s;
static char job[128];
static bool clean;    /* the user has no links there that lead out */
static bool confused; /* a result's own name begins as our temporary ones do */

/* --- the desktops --- */

int client_results(struct client *c, const struct grid_lane *lane, grid_result_fn *each, void *ctx,
                   struct err *e)
{
    char path[2048], target[2048];
    (void)c, (void)lane;
    int rc = 0;
    for (unsigned count = script_next(&s) % 8; count > 0 && rc == 0; count--) {
        const unsigned how = script_next(&s);
        name_next(&s, job, path, sizeof path);
        name_next(&s, job, target, sizeof target);
        confused |= strstr(path, WRITER_TEMPORARY) != NULL;
        const struct result what = {.kind = RESULT_FILE + how % 4,
                                    .mode = (uint16_t)(script_next(&s) * 257),
                                    .size = how >= 252 ? UINT64_MAX - how : how / 4 % 8,
                                    .mtime_ns = script_next(&s) * 0x123456789abcull,
                                    .path = path,
                                    .target = target};
        rc = each(ctx, &what, e);
    }
    return rc != 0 ? rc : script_next(&s) < 240 ? 0 : err_set(e, EHOSTUNREACH, "it was lost");
}

int client_read_result(struct client *c, const struct grid_lane *lane, const char *path,
                       uint64_t offset, struct grid_bytes *out, struct err *e)
{
    const unsigned how = script_next(&s);
    (void)c, (void)lane, (void)path, (void)offset;
    if (how >= 240)
        return err_set(e, how % 2 ? EHOSTUNREACH : EIO, "nonsense");
    memset(out->to, 'x', GRID_READ);
    out->length = how / 16;
    out->size = how % 8;
    out->mtime_ns = script_next(&s) * 0x123456789abcull;
    return 0;
}

int client_digest_result(struct client *c, const struct grid_lane *lane, const char *path,
                         uint64_t offset, uint8_t digest[GRID_DIGEST], struct err *e)
{
    (void)c, (void)lane, (void)path, (void)offset;
    memset(digest, (int)(script_next(&s) % 2), GRID_DIGEST);
    return s.left > 0 ? 0 : err_set(e, EIO, "nonsense");
}

void client_results_done(struct client *c, const struct grid_lane *lane)
{
    (void)c, (void)lane;
}

/* --- what came of it --- */

static void check_link(int at, const char *name, const char *path)
{
    char full[8192], leads[PATH_MAX] = "";
    (void)at, (void)name;
    snprintf(full, sizeof full, "%s/%s", job, path);
    if (realpath(full, leads) == NULL && errno != ENOENT)
        return; /* it leads nowhere */
    /* Where it ends, or what is not there on the way. */
    if (strncmp(leads, job, strlen(job)) != 0 ||
        (leads[strlen(job)] != '/' && leads[strlen(job)] != '\0'))
        abort();
}

static void check_one(int at, const char *name, const char *path, const struct stat *st)
{
    if ((!confused && strncmp(name, WRITER_TEMPORARY, strlen(WRITER_TEMPORARY)) == 0) ||
        result_path_is_guarded(path, false))
        abort();
    if (S_ISLNK(st->st_mode) && clean)
        check_link(at, name, path);
    else if (!S_ISLNK(st->st_mode) && (st->st_mode & UMASK) != 0)
        abort();
}

static void say(void *ctx, const char *line)
{
    (void)ctx;
    for (; *line != '\0'; line++)
        if ((unsigned char)*line < ' ')
            abort();
}

static void progress(void *ctx, const struct collect_progress *now)
{
    (void)ctx, (void)now;
}

static void make_job(unsigned how)
{
    ground_make("job");
    snprintf(job, sizeof job, "%s/job", ground);
    clean = how % 2 == 0;
    if (clean)
        return;
    symlinkat("../out", ground_at, "job/a");
    symlinkat("../out/canary", ground_at, "job/c");
    symlinkat("/", ground_at, "job/link");
    mkdirat(ground_at, "job/b", 0700);
    symlinkat("../../out", ground_at, "job/b/d");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned ranks[] = {0, 1, 2};
    struct collect_source sources[SOURCES] = {{.hope = COLLECT_THERE}};
    enum merge_state states[RANKS];
    struct collect_report report;
    struct err e;
    atomic_bool stop = false;
    s = (struct script){data, size};
    confused = false;
    const unsigned how = script_next(&s);
    make_job(how);
    for (unsigned i = 0; i < RANKS; i++)
        states[i] = script_next(&s) % 3;
    for (unsigned i = 0; i < SOURCES; i++) {
        const unsigned which = script_next(&s);
        sources[i] = (struct collect_source){.where.lane = which % 2,
                                             .name = "desk2",
                                             .hope = which & 2 ? COLLECT_MAYBE : COLLECT_THERE,
                                             .ranks = ranks + which / 4 % RANKS,
                                             .states = states,
                                             .count = 1};
    }
    const struct collect_order order = {.folder = job,
                                        .umask = UMASK,
                                        .sources = sources,
                                        .count = how / 2 % SOURCES + 1,
                                        .ranks = RANKS,
                                        .expected = how & 64,
                                        .meanwhile = how & 128,
                                        .stop = &stop,
                                        .say = say,
                                        .progress = progress};
    if (collect(NULL, &order, &report, &e) != 0)
        abort();
    ground_check();
    ground_walk(ground_at, "job", "", check_one);
    return 0;
}
