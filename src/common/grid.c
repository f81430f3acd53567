/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c -- the connection changes hands: to the thread with grid_work(), back with grid_worked().
 */
#include "grid.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct grid {
    struct client *client;
    int answered; /* eventfd */
    bool busy;
    pthread_t thread;
    grid_work_fn *work; /* the thread's while busy, and all that follows */
    void *ctx;
    struct request request; /* what it points to is malloc'd */
    struct answer answer;
    pthread_mutex_t lock; /* of the following, which both sides use */
    char waiting[GRID_LINE + 1];
};

static void request_clear(struct request *r)
{
    free((char *)r->require);
    free((char *)r->needs);
    free((struct id *)r->exclude);
    *r = (struct request){0};
}

static int request_copy(struct request *out, const struct request *r)
{
    const size_t size = r->exclude_count * sizeof *r->exclude;
    struct id *exclude = malloc(size + 1);
    char *require = strdup(r->require != NULL ? r->require : "");
    char *needs = strdup(r->needs != NULL ? r->needs : "");
    if (exclude != NULL && size > 0)
        memcpy(exclude, r->exclude, size);
    *out = *r;
    out->require = require;
    out->needs = needs;
    out->exclude = exclude;
    return exclude != NULL && require != NULL && needs != NULL ? 0 : -ENOMEM;
}

void answer_clear(struct answer *answer)
{
    free(answer->leases);
    *answer = (struct answer){0};
}

int grid_open(struct grid **out, const char *socket, struct err *e)
{
    struct grid *g = calloc(1, sizeof *g);
    if (g == NULL)
        return err_set(e, ENOMEM, "out of memory");
    pthread_mutex_init(&g->lock, NULL);
    g->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = g->answered < 0 ? err_set(e, errno, "eventfd: %s", strerror(errno))
                             : client_open(&g->client, socket, e);
    if (rc != 0) {
        if (g->answered >= 0)
            close(g->answered);
        free(g);
        return rc;
    }
    *out = g;
    return 0;
}

void grid_close(struct grid *g)
{
    if (g->busy)
        return;
    client_close(g->client);
    close(g->answered);
    answer_clear(&g->answer);
    request_clear(&g->request);
    free(g);
}

struct client *grid_client(struct grid *g)
{
    assert(!g->busy);
    return g->client;
}

bool grid_busy(const struct grid *g)
{
    return g->busy;
}

static void *grid_thread(void *p)
{
    struct grid *g = p;
    g->work(g->client, g->ctx);
    const uint64_t one = 1;
    while (write(g->answered, &one, sizeof one) < 0 && errno == EINTR) {
    }
    return NULL;
}

int grid_work(struct grid *g, grid_work_fn *work, void *ctx, struct err *e)
{
    if (g->busy)
        return err_set(e, EBUSY, "a question to the grid is on its way already");
    g->work = work;
    g->ctx = ctx;
    /* Signals are mpirun's: the thread inherits a mask without them. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&g->thread, NULL, grid_thread, g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return err_set(e, rc, "no thread to ask the grid with: %s", strerror(rc));
    g->busy = true;
    return 0;
}

void grid_worked(struct grid *g)
{
    assert(g->busy);
    uint64_t ignored;
    while (read(g->answered, &ignored, sizeof ignored) < 0 && errno == EINTR) {
    }
    pthread_join(g->thread, NULL);
    g->busy = false;
}

static void grid_on_waiting(void *ctx, const char *line)
{
    struct grid *g = ctx;
    pthread_mutex_lock(&g->lock);
    snprintf(g->waiting, sizeof g->waiting, "%s", line);
    pthread_mutex_unlock(&g->lock);
}

bool grid_waiting(struct grid *g, char *line, size_t size)
{
    pthread_mutex_lock(&g->lock);
    snprintf(line, size, "%s", g->waiting);
    pthread_mutex_unlock(&g->lock);
    return line[0] != '\0';
}

static void grid_serve(struct client *client, void *ctx)
{
    struct grid *g = ctx;
    struct answer *a = &g->answer;
    client_allocate_waiting(client, &g->request, grid_on_waiting, g, &a->leases, &a->count,
                            &a->spares, &a->err);
}

int grid_ask(struct grid *g, const struct request *request, struct err *e)
{
    if (g->busy)
        return err_set(e, EBUSY, "a question to the grid is on its way already");
    request_clear(&g->request);
    answer_clear(&g->answer);
    if (request_copy(&g->request, request) != 0)
        return err_set(e, ENOMEM, "out of memory");
    return grid_work(g, grid_serve, g, e);
}

int grid_answer_fd(const struct grid *g)
{
    return g->answered;
}

void grid_answer(struct grid *g, struct answer *answer)
{
    grid_worked(g);
    *answer = g->answer;
    g->answer = (struct answer){0};
}
