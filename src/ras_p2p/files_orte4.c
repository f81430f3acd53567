/* SPDX-License-Identifier: BSD-3-Clause */
/* files_orte4.c -- the parameters of files that travel, the job's programs, and what they need of a
 * peer. */
#include "ras_p2p.h"
#include "src/common/log.h"
#include "src/common/param.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void register_text(const mca_base_component_t *base, const char *name, const char *brief,
                          const char *help, char **value)
{
    param_short_name(param_text(base, name, help, OPAL_INFO_LVL_2, value), brief);
}

void ras_p2p_files_register(struct ras_p2p_component *c, const mca_base_component_t *base)
{
    static const mca_base_var_enum_value_t modes[] = {
        {FILES_AUTO, "auto"}, {FILES_NONE, "none"}, {FILES_SHARED, "shared"}, {0, NULL}};
    c->files = FILES_AUTO;
    c->files_index = param_word(
        base, "files",
        "auto: the job's programs and the files of the folder that it is started in go along with "
        "it to its peers; none: nothing does, the peers have it all; shared: the peers share the "
        "folder, and the job works in it",
        OPAL_INFO_LVL_2, modes, &c->files);
    param_short_name(c->files_index, "p2p_files");
    register_text(base, "files_input", "p2p_files_input",
                  "The files that go along, and no others, separated by commas: "
                  "in.dat,tables/*.bin,dir/ (default: all of the folder, as far as it is within "
                  "the limit)",
                  &c->files_input);
    c->files_limit = (char *)"64M";
    register_text(base, "files_limit", "p2p_files_limit",
                  "How much the job's folder may hold to go along as a whole, in bytes or such as "
                  "512M; of a larger one goes what the command line names",
                  &c->files_limit);
    register_text(base, "files_binaries", "p2p_files_binaries",
                  "Builds of the job's program for several kinds of machine: "
                  "x86_64:./app,aarch64:./app.arm",
                  &c->files_binaries);
}

/* Its own, if the command line exports one; else what is in mpirun's environment. */
static const char *variable(const orte_app_context_t *app, const char *name)
{
    const size_t length = strlen(name);
    for (char **v = app->env; v != NULL && *v != NULL; v++)
        if (strncmp(*v, name, length) == 0 && (*v)[length] == '=')
            return *v + length + 1;
    return getenv(name);
}

/* With --set-cwd-to-session-dir ORTE knows of none; names are of the folder that mpirun is in. */
static const char *folder_of(orte_app_context_t *app)
{
    if (app->cwd == NULL)
        app->cwd = getcwd(NULL, 0);
    return app->cwd != NULL ? app->cwd : "/";
}

struct gather_app *ras_p2p_apps(const orte_job_t *job, size_t *count)
{
    struct gather_app *apps = calloc((size_t)job->apps->size + 1, sizeof *apps);
    *count = 0;
    for (int i = 0; apps != NULL && i < job->apps->size; i++) {
        orte_app_context_t *app = opal_pointer_array_get_item(job->apps, i);
        if (app != NULL)
            apps[(*count)++] = (struct gather_app){.program = app->app,
                                                   .words = app->argv,
                                                   .cwd = folder_of(app),
                                                   .library_path = variable(app, "LD_LIBRARY_PATH"),
                                                   .python_path = variable(app, "PYTHONPATH"),
                                                   .python_base = variable(app, "PYTHONUSERBASE")};
    }
    return apps;
}

int ras_p2p_require(const orte_job_t *job, struct job_request *r, struct err *e)
{
    size_t count;
    struct gather_app *apps = ras_p2p_apps(job, &count);
    struct ras_p2p_component *ras = &mca_ras_p2p_component;
    struct binaries_want *want = &ras->programs;
    int rc = apps != NULL ? param_check(ras->files_index, e) : err_set(e, ENOMEM, "out of memory");
    if (rc == 0 && count > 0)
        rc = binaries_parse(&ras->binaries, ras->files_binaries, &apps[0], getenv("PATH"), e);
    if (rc == 0)
        rc = binaries_require(want, apps, count, &ras->binaries, getenv("PATH"), e);
    free(apps);
    if (rc != 0)
        return rc;
    ras->programs_require = binaries_join(r->require, want->require);
    if (ras->programs_require == NULL)
        return err_set(e, ENOMEM, "out of memory");
    log_trace(ras->verbose, 1, -1, -1, NULL, "its programs need: %s; of the system: %s",
              want->require, want->system);
    r->require = ras->programs_require;
    r->needs = want->system;
    return 0;
}
