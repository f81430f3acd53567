/* SPDX-License-Identifier: BSD-3-Clause */
/* files_orte4.c -- before the first launch: what goes along with the job is gathered, hashed and
 * offered to its peers, in a thread that has the connection to the daemon meanwhile. */
#include "plm_p2p.h"
#include "overlay/base/size.h"
#include "overlay/files/gather.h"
#include "overlay/files/gather_list.h"
#include "overlay/manifest/program.h"
#include "src/common/log.h"
#include "src/errmgr_replica/survive_orte4.h"
#include "src/ras_p2p/ras_p2p.h"
#include "src/survive/level.h"
#include "opal/util/argv.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct plm_p2p_component *const plm = &mca_plm_p2p_component;

struct plm_p2p_files {
    char folder[FILES_FOLDER + 1]; /* the job's; "": nothing travels */
    char *preload;                 /* that the command line wants to travel, by commas */
    uint64_t limit;
    struct gather_app *apps;
    size_t app_count;
    struct gathering got;
    struct files_offer { /* one, or one for each kind of machine */
        char machine[16];
        struct grid_files files;
    } offer[BINARIES_MOST];
    size_t offers;
    struct err err;
    bool named_only,
        named;       /* of this folder what is named goes along, and no more; there is some */
    unsigned missed; /* files that changed or went meanwhile */
    atomic_uint_fast64_t read; /* bytes looked at so far, of so many */
    atomic_uint_fast64_t all;
    int64_t begun_ms;
    struct progress progress;
};

/* ---- what is asked for ---- */

/* --preload-files and --preload-binary; ORTE must not do it once more, its own way: in the
 * session's folder, where ranks would start, nothing would be. */
static void take_preload(orte_app_context_t *app, char ***names)
{
    char *files = NULL;
    if (orte_get_attribute(&app->attributes, ORTE_APP_PRELOAD_FILES, (void **)&files,
                           OPAL_STRING)) {
        char **more = opal_argv_split(files, ',');
        for (char **name = more; name != NULL && *name != NULL; name++)
            opal_argv_append_nosize(names, *name);
        opal_argv_free(more);
        free(files);
        orte_remove_attribute(&app->attributes, ORTE_APP_PRELOAD_FILES);
        orte_remove_attribute(&app->attributes, ORTE_APP_SSNDIR_CWD);
    }
    if (!orte_get_attribute(&app->attributes, ORTE_APP_PRELOAD_BIN, NULL, OPAL_BOOL))
        return;
    char path[PROGRAM_PATH + 1];
    if (program_find(path, app->app, app->cwd != NULL ? app->cwd : "/", getenv("PATH")) == 0 &&
        !program_is_of_system(path))
        opal_argv_append_nosize(names, path);
    orte_remove_attribute(&app->attributes, ORTE_APP_PRELOAD_BIN);
    orte_remove_attribute(&app->attributes, ORTE_APP_SSNDIR_CWD);
}

/* What PATH finds here beside the system's folders, a program of an environment or of ~/bin, is
 * what runs, though no other desktop has such a PATH. */
static void name_program(orte_app_context_t *app)
{
    char path[PROGRAM_PATH + 1];
    if (app->app == NULL || strchr(app->app, '/') != NULL ||
        program_find(path, app->app, app->cwd != NULL ? app->cwd : "/", getenv("PATH")) != 0 ||
        program_lies_in_system(path))
        return;
    free(app->app);
    app->app = strdup(path);
    if (app->argv != NULL && app->argv[0] != NULL) {
        free(app->argv[0]);
        app->argv[0] = strdup(path);
    }
}

static char *preload_all(const orte_job_t *job)
{
    char **names = NULL;
    for (int i = 0; i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app == NULL)
            continue;
        take_preload(app, &names);
        if (mca_ras_p2p_component.files == FILES_AUTO)
            name_program(app);
    }
    if (mca_ras_p2p_component.files == FILES_AUTO && plm->files_text != NULL &&
        plm->files_text[0] != '\0')
        opal_argv_append_nosize(&names, plm->files_text);
    char *list = names != NULL ? opal_argv_join(names, ',') : NULL;
    opal_argv_free(names);
    return list;
}

/* Without the dots of --wd ../a, unless those go by a link. */
static void normalize(char path[PATH_MAX])
{
    char normal[PATH_MAX];
    struct stat as_is, st;
    if (gather_normal("/", path, normal, sizeof normal) && stat(path, &as_is) == 0 &&
        stat(normal, &st) == 0 && as_is.st_dev == st.st_dev && as_is.st_ino == st.st_ino)
        strcpy(path, normal);
}

/* The folder that all programs start in, or that holds theirs. */
static int choose_folder(struct plm_p2p_files *f, struct err *e)
{
    const char **folders = calloc(f->app_count + 1, sizeof *folders);
    char all[PATH_MAX];
    if (folders == NULL)
        return err_set(e, ENOMEM, "out of memory");
    for (size_t i = 0; i < f->app_count; i++)
        folders[i] = f->apps[i].cwd;
    gather_common(folders, f->app_count, all, sizeof all);
    free(folders);
    normalize(all);
    if (strlen(all) > FILES_FOLDER)
        return err_set(e, ENAMETOOLONG,
                       "the job's folder has a path of more than %d characters: start mpirun in "
                       "another one, or give --mca p2p_files none",
                       FILES_FOLDER);
    if (gather_judge(all, getenv("HOME")) != GATHER_NONE)
        strcpy(f->folder, all);
    return 0;
}

static int files_read_limit(struct plm_p2p_files *f, const char *text, struct err *e)
{
    if (size_parse(&f->limit, text))
        return 0;
    return err_set(e, EINVAL, "p2p_files_limit '%.40s' is no size: write 512M or 2G", text);
}

int plm_p2p_files_choose(const orte_job_t *job, struct err *e)
{
    const struct ras_p2p_component *ras = &mca_ras_p2p_component;
    if (plm->files != NULL)
        return 0; /* a spawned program finds what has travelled */
    struct plm_p2p_files *f = plm->files = calloc(1, sizeof *f);
    if (f == NULL)
        return err_set(e, ENOMEM, "out of memory");
    f->preload = preload_all(job);
    f->apps = ras_p2p_apps(job, &f->app_count);
    if (f->apps == NULL)
        return err_set(e, ENOMEM, "out of memory");
    int rc = files_read_limit(f, ras->files_limit, e);
    if (rc == 0 && ras->files != FILES_SHARED)
        rc = choose_folder(f, e);
    return rc;
}

/* What is to be preloaded travels in any case, unless it is there. */
bool plm_p2p_files_travel(void)
{
    const struct plm_p2p_files *f = plm->files;
    return f != NULL && f->folder[0] != '\0' &&
           (mca_ras_p2p_component.files == FILES_AUTO || f->preload != NULL);
}

const char *plm_p2p_files_folder(void)
{
    return plm->files != NULL && plm->files->folder[0] != '\0' ? plm->files->folder : NULL;
}

/* ---- in the thread ---- */

static void files_looked(void *ctx, uint64_t bytes)
{
    struct plm_p2p_files *f = ctx;
    atomic_store(&f->read, bytes);
}

static int files_gather(struct plm_p2p_files *f)
{
    const struct ras_p2p_component *ras = &mca_ras_p2p_component;
    struct stat written[2] = {{0}};
    (void)fstat(STDOUT_FILENO, &written[0]);
    (void)fstat(STDERR_FILENO, &written[1]);
    const struct gather_order order = {.folder = f->folder,
                                       .home = getenv("HOME"),
                                       .search = getenv("PATH"),
                                       .apps = f->apps,
                                       .app_count = f->app_count,
                                       .input = ras->files == FILES_AUTO ? ras->files_input : "",
                                       .preload = f->preload,
                                       .builds = &ras->binaries,
                                       .limit = f->limit,
                                       .written = written,
                                       .written_count = 2};
    const int rc = gather(&f->got, &order, &f->err);
    atomic_store(&f->all, f->got.list.bytes);
    return rc;
}

static int files_offer(struct plm_p2p_files *f, struct client *client, struct hashes *hashes,
                       const struct binary *build)
{
    char link[PATH_MAX], target[PATH_MAX];
    struct gather_listing how = {.folder = f->folder, .progress = files_looked, .ctx = f};
    struct files_offer *offer = &f->offer[f->offers];
    struct list *list;
    if (build != NULL) {
        snprintf(offer->machine, sizeof offer->machine, "%s", build->machine);
        if (gather_link(f->folder, &f->apps[0], getenv("PATH"), build->path, link, target,
                        &f->err) != 0)
            return f->err.code;
        how.link = link[0] != '\0' ? link : NULL;
        how.target = target;
    }
    f->missed = 0;
    int rc = gather_list(&list, &f->got.list, &how, hashes, &f->missed, &f->err);
    if (rc == 0) {
        rc = client_files(client, list, f->folder, &offer->files, &f->err);
        list_free(list);
    }
    f->offers += rc == 0;
    return rc;
}

static void files_work(struct client *client, void *ctx)
{
    struct plm_p2p_files *f = ctx;
    const struct binaries *builds = &mca_ras_p2p_component.binaries;
    struct hashes *hashes = NULL;
    int rc = files_gather(f);
    if (rc == 0 && (hashes = hashes_open(NULL)) == NULL)
        rc = err_set(&f->err, ENOMEM, "out of memory");
    if (rc == 0 && builds->count == 0)
        rc = files_offer(f, client, hashes, NULL);
    for (size_t i = 0; i < builds->count && rc == 0; i++)
        rc = files_offer(f, client, hashes, &builds->at[i]);
    if (hashes != NULL)
        hashes_close(hashes);
}

/* ---- before and after it ---- */

static void tick(int fd, short event, void *unused)
{
    (void)fd, (void)event, (void)unused;
    struct plm_p2p_files *f = plm->files;
    struct timeval second = {.tv_sec = 1};
    char line[PROGRESS_LINE];
    if (progress_reading(atomic_load(&f->read), atomic_load(&f->all), f->begun_ms, plm_p2p_now_ms(),
                         line)) {
        plm->shows_progress = true;
        log_progress(line);
    }
    opal_event_evtimer_add(&plm->ticking, &second);
}

int plm_p2p_files_start(struct err *e)
{
    struct timeval second = {.tv_sec = 1};
    if (!plm_p2p_files_travel() || plm->files->offers > 0)
        return 0;
    plm->files->begun_ms = plm_p2p_now_ms();
    const int rc = grid_work(ras_grid(), files_work, plm->files, e);
    if (rc != 0)
        return rc;
    opal_event_evtimer_set(orte_event_base, &plm->ticking, tick, NULL);
    opal_event_evtimer_add(&plm->ticking, &second);
    return 1;
}

static void hide_progress(void)
{
    if (plm->shows_progress)
        log_progress(NULL);
    plm->shows_progress = false;
}

/* What the user should know, or name. */
static void tell(const struct plm_p2p_files *f)
{
    const struct gathering *got = &f->got;
    if (got->over)
        log_line("%s holds more than %s, so %s goes along; name what the job reads: "
                 "--mca p2p_files_input FILE,FOLDER/,... (or raise p2p_files_limit)",
                 f->folder, mca_ras_p2p_component.files_limit,
                 got->named > 0 ? "only what the command line names" : "nothing of it");
    if (got->large[0] != '\0')
        log_line("%s is larger than %s and not in %s: it does not go along; name it with --mca "
                 "p2p_files_input if the peers do not have it",
                 got->large, mca_ras_p2p_component.files_limit, f->folder);
    if (got->holder[0] != '\0')
        log_line(
            "%s, of PYTHONPATH, is a home or holds the job's folder and does not go along: start "
            "mpirun in it, or name what is needed of it, as in --mca p2p_files_input "
            "\"*,%s/NAME\"",
            got->holder, got->holder);
    if (got->secret[0] != '\0')
        log_line("%s looks like a secret and does not go along; name it with --mca p2p_files_input "
                 "if it is to",
                 got->secret);
    if (f->missed > 0)
        log_line("%u files of %s changed or went while they were read, and do not go along",
                 f->missed, f->folder);
    log_trace(plm->verbose, 1, -1, -1, NULL,
              "%zu files, folders and links go along, %llu bytes; left out: %u that look like "
              "secrets, %u that are no files or cannot be read",
              got->list.count, (unsigned long long)got->list.bytes, got->secrets, got->left);
}

int plm_p2p_files_done(struct err *e)
{
    struct plm_p2p_files *f = plm->files;
    opal_event_evtimer_del(&plm->ticking);
    hide_progress();
    if (f->err.code != 0) {
        *e = f->err;
        return -f->err.code;
    }
    tell(f);
    const struct ras_p2p_component *ras = &mca_ras_p2p_component;
    f->named_only = ras->files == FILES_AUTO && ras->files_input == NULL &&
                    gather_judge(f->folder, getenv("HOME")) == GATHER_NAMED;
    f->named = f->got.named > 0;
    plm->by_library_path = f->got.by_variable;
    plm->by_python_path = f->got.python_path;
    snprintf(plm->python_base, sizeof plm->python_base, "%s", f->got.python_base);
    gathering_clear(&f->got);
    return 0;
}

/* Has one of its processes failed by itself, not by a signal of somebody's? */
static bool has_failed(const orte_job_t *job)
{
    for (int i = 0; i < job->procs->size; i++) {
        const orte_proc_t *p = opal_pointer_array_get_item(job->procs, i);
        const int by = p != NULL && p->exit_code > 128 ? p->exit_code - 128 : 0;
        if (p != NULL && p->exit_code > 0 && by != SIGHUP && by != SIGINT && by != SIGTERM &&
            by != SIGKILL)
            return true;
    }
    return false;
}

void plm_p2p_files_hint(void)
{
    const struct plm_p2p_files *f = plm->files;
    if (f == NULL || !f->named_only || !has_failed(plm->job))
        return;
    log_line(
        "%s is a home, or a folder of all users, so %s went along; if the job lacked a file, "
        "name what it reads: --mca p2p_files_input FILE,FOLDER/,... (or start it in a folder of "
        "its own)",
        f->folder, f->named ? "only what the command line names" : "nothing of it");
}

/* ---- on their way ---- */

void plm_p2p_files_terms(const struct grid_lease *lease, struct grid_launch *launch)
{
    const struct plm_p2p_files *f = plm->files;
    launch->lanes = level_lanes(survive_level(), LEVEL_OPEN); /* processes are not counted yet */
    if (f == NULL || f->folder[0] == '\0')
        return;
    launch->job_folder = f->folder;
    for (size_t i = 0; i < f->offers; i++)
        if (f->offers == 1 || strcmp(f->offer[i].machine, lease->arch) == 0)
            launch->files = f->offer[i].files;
}

void plm_p2p_files_come(const struct grid_event *event)
{
    char line[PROGRESS_LINE];
    const int64_t now = plm_p2p_now_ms();
    vnodes_fetching(plm->vnodes, &event->lease, now);
    progress_note(&plm->files->progress, &event->lease, event->have, event->all, now);
    if (progress_line(&plm->files->progress, now, line)) {
        plm->shows_progress = true;
        log_progress(line);
    }
}

void plm_p2p_files_came(const struct id *lease)
{
    if (plm->files == NULL)
        return;
    progress_drop(&plm->files->progress, lease);
    if (plm->files->progress.count == 0)
        hide_progress();
}
