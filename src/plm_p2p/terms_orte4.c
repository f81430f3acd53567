/* SPDX-License-Identifier: BSD-3-Clause */
/* terms_orte4.c -- what the job binds itself to on its peers: the programs that it executes, the
 * files that it reads, what it takes at most, and that it encrypts where that is asked for. */
#include "plm_p2p.h"
#include "overlay/files/gather.h"
#include "overlay/manifest/input.h"
#include "src/survive/level.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include "overlay/manifest/program.h"
#include "src/ras_p2p/ras_p2p.h"
#include "overlay/base/size.h"
#include "src/errmgr_replica/survive_orte4.h"
#include "opal/util/argv.h"
#include "orte/runtime/orte_globals.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct plm_p2p_component *const plm = &mca_plm_p2p_component;

static bool is_in_folder(const char *path)
{
    const char *const folder = plm_p2p_files_folder();
    const size_t length = folder != NULL ? strlen(folder) : 0;
    return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* What is not found here may be there: then it is the peer's own, or orted says that it is missing.
 */
static int add_program(const char *name, const char *cwd, struct err *e)
{
    char path[PROGRAM_PATH + 1], real[PATH_MAX];
    const int rc = program_find(path, name, cwd, getenv("PATH"));
    /* A link of the folder leads elsewhere where there is no view yet; what lies elsewhere came by
     * its name. */
    if (rc == 0 && plm_p2p_files_travel() && is_in_folder(path) && realpath(path, real) != NULL &&
        strlen(real) <= PROGRAM_PATH)
        strcpy(path, real);
    if (rc == -ENAMETOOLONG)
        return err_set(e, ENAMETOOLONG, "the program's path is longer than %d characters: %s/%s",
                       PROGRAM_PATH, cwd, name);
    if (rc != 0 || program_is_of_system(path))
        return 0;
    for (size_t i = 0; i < plm->program_count; i++)
        if (strcmp(plm->programs[i].path, path) == 0)
            return 0;
    if (plm->program_count == PROGRAMS_MAX)
        return err_set(e, E2BIG, "a job has more than %d programs of its own", PROGRAMS_MAX);
    struct program *more =
        realloc(plm->programs, (plm->program_count + 1) * sizeof plm->programs[0]);
    if (more == NULL)
        return err_set(e, ENOMEM, "out of memory");
    plm->programs = more;
    const int taken = program_take(&more[plm->program_count], path, e);
    plm->program_count += taken == 0;
    return taken;
}

static int add_input(const char *name, const char *cwd, struct err *e)
{
    if (plm->input_count == INPUTS_MAX)
        return err_set(e, E2BIG, "plm_p2p_files names more than %d files", INPUTS_MAX);
    struct input *more = realloc(plm->inputs, (plm->input_count + 1) * sizeof plm->inputs[0]);
    if (more == NULL)
        return err_set(e, ENOMEM, "out of memory");
    plm->inputs = more;
    const int taken = input_take(&more[plm->input_count], name, cwd, e);
    plm->input_count += taken == 0;
    return taken;
}

typedef int add_fn(const char *name, const char *cwd, struct err *e);

/* Of a list with commas. */
static int add_each(add_fn *add, const char *list, const char *cwd, struct err *e)
{
    char **names = opal_argv_split(list != NULL ? list : "", ',');
    int rc = 0;
    for (char **name = names; name != NULL && *name != NULL && rc == 0; name++)
        rc = add(*name, cwd, e);
    opal_argv_free(names);
    return rc;
}

/* The program, all builds of it, and words of the command line that are programs: they travel. */
static int add_app_programs(const orte_app_context_t *app, const char *cwd, struct err *e)
{
    const struct binaries *builds = &mca_ras_p2p_component.binaries;
    struct stat st;
    char path[PATH_MAX];
    int rc = builds->count == 0 ? add_program(app->app, cwd, e) : 0;
    for (size_t i = 0; i < builds->count && rc == 0; i++)
        rc = add_program(builds->at[i].path, cwd, e);
    if (!plm_p2p_files_travel())
        return rc;
    for (int i = 1; app->argv != NULL && app->argv[0] != NULL && app->argv[i] != NULL && rc == 0;
         i++)
        if (plm->program_count < PROGRAMS_MAX / 2 &&
            gather_normal(cwd, app->argv[i], path, sizeof path) && stat(path, &st) == 0 &&
            S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0)
            rc = add_program(path, cwd, e);
    return rc;
}

int plm_p2p_take_programs(const orte_job_t *job, const char *prefix, struct err *e)
{
    char orted[PATH_MAX] = "orted";
    if (prefix != NULL)
        snprintf(orted, sizeof orted, "%s/bin/orted", prefix);
    int rc = add_program(orted, "", e);
    for (int i = 0; i < job->apps->size && rc == 0; i++) {
        const orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app == NULL)
            continue;
        const char *cwd = app->cwd != NULL ? app->cwd : "";
        rc = add_app_programs(app, cwd, e);
        if (rc == 0)
            rc = add_each(add_program, plm->programs_text, cwd, e);
        if (rc == 0 && plm->inputs == NULL &&
            !plm_p2p_files_travel()) /* once: files are not told apart by program */
            rc = add_each(add_input, plm->files_text, cwd, e);
    }
    return rc;
}

/* A rank that runs already goes on as it began. */
static bool is_launched(void)
{
    return ORTE_LOCAL_JOBID(plm->job->jobid) != 1 || vnodes_all_reported(plm->vnodes);
}

/* Leases of the job and spares: the first of another owner, and whether there are own ones. */
static const struct grid_lease *find_foreign(bool *own)
{
    const struct ras_p2p_component *ras = &mca_ras_p2p_component;
    const struct grid_lease *foreign = NULL;
    for (size_t i = 0; i < ras->node_count + ras->spare_count; i++) {
        const struct grid_lease *l =
            i < ras->node_count ? &ras->nodes[i].lease : &ras->spare[i - ras->node_count];
        *own |= !l->foreign;
        if (l->foreign && foreign == NULL)
            foreign = l;
    }
    return foreign;
}

static bool is_of_folder(const orte_app_context_t *app)
{
    struct stat there;
    char path[PATH_MAX];
    const char *cwd = app->cwd != NULL ? app->cwd : "";
    bool found =
        program_find(path, app->app, cwd, getenv("PATH")) == 0 && !program_is_of_system(path);
    for (int i = 1; !found && app->argv[0] != NULL && app->argv[i] != NULL; i++)
        found = snprintf(path, sizeof path, "%s/%s", cwd, app->argv[i]) < (int)sizeof path &&
                stat(path, &there) == 0;
    return found;
}

/* Does the command line name anything in the folder? `hostname` does without. */
static bool needs_folder(void)
{
    for (int i = 0; i < plm->job->apps->size; i++) {
        const orte_app_context_t *app = opal_pointer_array_get_item(plm->job->apps, i);
        if (app != NULL && is_of_folder(app))
            return true;
    }
    return false;
}

/* Where the user is working is where results go. */
static void choose_folder(const struct grid_lease *foreign)
{
    static const char *const none[] = {NULL};
    struct err e = {0};
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) == NULL)
        return;
    if (folder_check(here, none, &e) == 0)
        strcpy(plm->folder, here);
    else if (!needs_folder())
        return;
    else if (foreign != NULL)
        log_line(
            "%s belongs to another owner, so processes on your own desktops are in a "
            "sandbox as well, and cannot use %s: it %s; start mpirun in a folder of the job's own",
            foreign->name, here, e.text);
    else
        log_line("processes on your own desktops cannot use %s: it %s", here, e.text);
}

int plm_p2p_choose_sandbox(struct err *e)
{
    bool own = false;
    const struct grid_lease *foreign = find_foreign(&own);
    const int rc = param_check(plm->confine_index, e);
    if (rc != 0)
        return rc;
    plm->confine = plm->confine_when == PLM_P2P_ALWAYS || foreign != NULL;
    if (plm->confine && own && !plm_p2p_files_travel()) /* else a view takes its place */
        choose_folder(foreign);
    return 0;
}

int plm_p2p_terms(const struct grid_lease *lease, struct grid_launch *launch, struct err *e)
{
    if (plm->limit_memory != NULL && !size_parse(&launch->memory, plm->limit_memory))
        return err_set(e, EINVAL, "plm_p2p_limit_memory '%s' is no size: write 512M or 4G",
                       plm->limit_memory);
    launch->processes = plm->limit_processes > 0 ? (unsigned)plm->limit_processes : 0;
    launch->seconds = plm->limit_time_s > 0 ? (unsigned)plm->limit_time_s : 0;
    launch->programs = plm->programs;
    launch->program_count = plm->program_count;
    launch->inputs = plm->inputs;
    launch->input_count = plm->input_count;
    if (lease->encrypt && !survive_encrypted() && !is_launched()) {
        struct err why = {0};
        if (survive_encrypt(plm->job, &why) != 0)
            return err_set(e, why.code, "%s: %s", lease->name, why.text);
    }
    launch->encrypts = survive_encrypted();
    launch->confine = plm->confine;
    launch->folder = plm->folder;
    plm_p2p_files_terms(lease, launch);
    return 0;
}
