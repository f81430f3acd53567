/* SPDX-License-Identifier: BSD-3-Clause */
/* homes_ompi4.c -- who is a file's home, and what is asked of it.
 *
 * A file keeps the home that it was first opened at, whichever communicator opens it later: those
 * of its members that have opened the path before know. All requests to a home, also those of the
 * home itself, are served in the one order that its leader decides. */
#include "homes.h"
#include "view_name.h"
#include "ompi/mca/hook/base/base.h"
#include "ompi/mca/hook/hook.h"
#include "ompi/mca/rte/rte.h"
#include "src/common/param.h"
#include "src/common/selection.h"

/* --- should there be any? --- */

/* Elsewhere files are the desktop's, or the network's, as ever. */
static bool path_is_of_view(const char *path)
{
    const char *slash = strrchr(path, '/');
    char real[PATH_MAX];
    char *folder = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    const bool known = view_folder() != NULL && folder != NULL && realpath(folder, real) != NULL;
    free(folder);
    return known && view_holds(real);
}

static bool process_is_alone_with_its_host(void)
{
    return ompi_process_info.num_local_peers + 1 >= (int)ompi_process_info.num_procs;
}

static bool process_wants_home(const char *path)
{
    const char *files = getenv("OMPI_MCA_p2p_files");
    const bool lanes = replica.engine != NULL && replica.lanes > 1;
    return path_is_of_view(path) && (files == NULL || strcmp(files, "shared") != 0) &&
           (lanes || !process_is_alone_with_its_host());
}

static bool on_the_grid(void)
{
    const char *ras = getenv("OMPI_MCA_ras");
    return ras != NULL && selection_names(ras, "p2p");
}

bool homes_are_wanted(const ompio_file_t *fh)
{
    ompi_communicator_t *c = fh->f_comm;
    int own, any;
    struct err e = {0};
    if (param_check(replica.file_home_index, &e) != 0)
        link_say_first(e.text);
    switch ((enum file_home)replica.file_home) {
    case FILE_HOME_NEVER:
        return false;
    case FILE_HOME_ALWAYS:
        return true;
    case FILE_HOME_AUTO:
        break;
    }
    own = any = on_the_grid() && process_wants_home(fh->f_fullfilename != NULL ? fh->f_fullfilename
                                                                               : fh->f_filename);
    if (on_the_grid() && c != NULL && c != MPI_COMM_NULL)
        c->c_coll->coll_allreduce(&own, &any, 1, MPI_INT, MPI_MAX, c,
                                  c->c_coll->coll_allreduce_module);
    return any;
}

/* --- names --- */

int homes_find(const char *path)
{
    const struct known *k;
    if (replica.homes != NULL)
        LIST_FOREACH (k, &replica.homes->known, next)
            if (strcmp(k->path, path) == 0)
                return k->home;
    return -1;
}

void homes_note(const char *path, int home)
{
    const size_t length = strlen(path) + 1;
    struct known *k;
    LIST_FOREACH (k, &replica.homes->known, next)
        if (strcmp(k->path, path) == 0)
            break;
    if (k == NULL && (k = malloc(sizeof *k + length)) != NULL) {
        memcpy(k->path, path, length);
        LIST_INSERT_HEAD(&replica.homes->known, k, next);
    }
    if (k != NULL)
        k->home = home;
}

/* --- requests --- */

static void ask_answered(struct wire_message *m)
{
    ((struct ask *)m)->done = true;
}

/* A request that was answered here may still be needed by a lane that is behind. */
static void asking_await_room(size_t weight)
{
    struct homes *h = replica.homes;
    wire_enter(&h->wire);
    while (h->asking > 0 && h->asking + weight > replica.params.window_limit)
        wire_wait(&h->wire);
    wire_leave(&h->wire);
}

struct ask *ask_begin(int home, const uint64_t words[HOME_WORDS], struct parcel *body,
                      size_t length, size_t room)
{
    struct homes *h = replica.homes;
    struct parcel *head = parcel_new(HOME_WORDS * sizeof *words);
    struct ask *a = malloc(sizeof *a + room);
    if (a == NULL)
        link_stop(NULL, 1, "no memory for a request to a file's home");
    memset(a, 0, sizeof *a);
    a->message.done = ask_answered;
    memcpy(head->bytes, words, HOME_WORDS * sizeof *words);
    asking_await_room(length);
    wire_step(&h->wire);
    pthread_mutex_lock(&h->wire.order);
    wire_receive(&h->wire, &a->message, home, WIRE_ANSWER, &a->answer, sizeof a->answer + room,
                 false);
    parcel_send(head, home, WIRE_REQUEST, HOME_WORDS * sizeof *words, &h->asking, NULL);
    if (body != NULL)
        parcel_send(body, home, WIRE_BODY, length, &h->asking, NULL);
    pthread_mutex_unlock(&h->wire.order);
    return a;
}

void ask_await(struct ask *a, int home, bool settle)
{
    struct wire *w = &replica.homes->wire;
    wire_enter(w);
    while (!*(volatile bool *)&a->done)
        wire_wait(w);
    if (settle)
        wire_settle(w, home == wire_self(w));
    wire_leave(w);
}

struct home_answer ask_now(int home, enum home_kind kind, uint64_t file, uint64_t number,
                           const void *body, size_t length)
{
    const uint64_t words[HOME_WORDS] = {
        [HOME_KIND] = kind, [HOME_FILE] = file, [HOME_NUMBER] = number, [HOME_BYTES] = length};
    struct parcel *p = length > 0 ? parcel_new(length) : NULL;
    if (p != NULL)
        memcpy(p->bytes, body, length);
    struct ask *a = ask_begin(home, words, p, length, 0);
    ask_await(a, home, true);
    const struct home_answer answer = a->answer;
    free(a);
    return answer;
}

void homes_attach(int home)
{
    struct homes *h = replica.homes;
    if (home == wire_self(&h->wire) || h->attached[home])
        return;
    h->attached[home] = true;
    ask_now(home, HOME_ATTACH, 0, 0, NULL, 0);
}

/* --- start and end --- */

static bool homes_are_done(const struct homes *h)
{
    return agent_has_stopped(&h->agent) && h->asking == 0;
}

static void stop_tell_self(struct homes *h)
{
    const uint64_t words[HOME_WORDS] = {[HOME_KIND] = HOME_STOP};
    struct parcel *p = parcel_new(sizeof words);
    memcpy(p->bytes, words, sizeof words);
    wire_step(&h->wire);
    parcel_send(p, wire_self(&h->wire), WIRE_REQUEST, sizeof words, &h->asking, NULL);
}

/* In MPI_Finalize, before all else. A home goes when all who may ask have said that they will not.
 */
static void homes_finish(void)
{
    struct homes *h = replica.homes;
    struct known *k;
    if (h == NULL || replica.stopped)
        return;
    for (int i = 0; i < wire_size(&h->wire); i++)
        if (h->attached[i])
            ask_now(i, HOME_LEAVE, 0, 0, NULL, 0);
    wire_enter(&h->wire);
    while (home_is_awaited(h->agent.home))
        wire_wait(&h->wire);
    wire_settle(&h->wire, true);
    stop_tell_self(h);
    while (!homes_are_done(h))
        wire_wait(&h->wire);
    wire_leave(&h->wire);
    agent_stop(&h->agent);
    wire_close(&h->wire);
    while ((k = LIST_FIRST(&h->known)) != NULL) {
        LIST_REMOVE(k, next);
        free(k);
    }
    free(h->attached);
    free(h);
    replica.homes = NULL;
}

static ompi_hook_base_component_1_0_0_t homes_hook = {
    .hookm_version = {OMPI_HOOK_BASE_VERSION_1_0_0, .mca_component_name = "replica_files"},
    .hookm_mpi_finalize_top = homes_finish,
};

int homes_start(void)
{
    struct homes *h = replica.homes;
    if (h != NULL)
        return OMPI_SUCCESS;
    h = replica.homes = calloc(1, sizeof *h);
    if (h == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    LIST_INIT(&h->known);
    wire_open(&h->wire);
    h->attached = calloc((size_t)wire_size(&h->wire), sizeof *h->attached);
    if (h->attached == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    ompi_hook_base_register_callbacks(&homes_hook);
    return agent_start(&h->agent);
}
