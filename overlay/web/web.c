/* SPDX-License-Identifier: BSD-3-Clause */
/* web.c -- when the page is served, and to whom. */
#include "web.h"
#include "overlay/base/file.h"
#include "overlay/base/log.h"
#include "overlay/client/words.h"
#include "overlay/node/history.h"
#include "web_parts.h"
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HISTORY_SHOWN = 50,
    GRID_TOKEN = 1, /* of the question for the jobs of everybody; no other has one */
    GRID_PATIENCE_MS = 5000,
    /* It takes a message to each peer: at the soonest after so long, and so much more for each. */
    GRID_MS = 3000,
    GRID_PEER_MS = 20,
};

/* --- asking the daemon --- */

static void web_end_grid(struct web *w)
{
    const json_t *peers = json_object_get(web_state_whole(w->state), "peers");
    w->grid_asked = false;
    w->grid_due_ms = node_now_ms() + GRID_MS + GRID_PEER_MS * json_object_size(peers);
    browsers_patch(w, web_state_end_grid(w->state));
}

static void web_hear(void *ctx, const struct message *m)
{
    struct web *w = ctx;
    if (m->kind == MSG_local_notice)
        browsers_happen(w, &m->local_notice);
    else if (m->kind == MSG_local_grid_job)
        web_state_take_grid(w->state, &m->local_grid_job, history_now_ms());
    else if (m->kind == MSG_local_done && m->local_done.token == GRID_TOKEN)
        web_end_grid(w);
    else if (m->kind != MSG_local_done)
        web_state_take(w->state, m);
}

json_t *web_look(struct web *w, unsigned parts, bool history)
{
    const struct message overview = {.kind = MSG_local_overview,
                                     .local_overview.parts = (uint8_t)parts};
    const struct message past = {.kind = MSG_local_history, .local_history.most = HISTORY_SHOWN};
    web_state_begin(w->state, parts, history);
    local_ask(w->client, &overview);
    if (history)
        local_ask(w->client, &past);
    return web_state_end(w->state, history_now_ms());
}

void web_ask_grid(struct web *w)
{
    const struct message question = {
        .kind = MSG_local_grid_jobs,
        .local_grid_jobs = {.token = GRID_TOKEN, .timeout_ms = GRID_PATIENCE_MS}};
    if (w->grid_asked || node_now_ms() < w->grid_due_ms)
        return;
    w->grid_asked = true;
    local_ask(w->client, &question);
}

/* --- the metrics' key, which outlives the daemon, as a reader has it in a file --- */

static void metrics_path(const struct web *w, char path[SETTINGS_PATH + 16])
{
    snprintf(path, SETTINGS_PATH + 16, "%s/metrics.key", w->node->settings.state);
}

static void metrics_load(struct web *w)
{
    char path[SETTINGS_PATH + 16], key[WEB_KEY + 1] = "";
    metrics_path(w, path);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return;
    if (fread(key, 1, WEB_KEY, f) == WEB_KEY && strspn(key, "0123456789abcdef") == WEB_KEY)
        memcpy(w->keys.metrics, key, sizeof key);
    fclose(f);
}

static int metrics_make(struct web *w, struct err *e)
{
    char path[SETTINGS_PATH + 16];
    uint8_t random[WEB_RANDOM];
    struct file f;
    metrics_path(w, path);
    if (w->keys.metrics[0] != '\0')
        return 0;
    int rc = file_begin(&f, path, 0600, e);
    if (rc != 0)
        return rc;
    randombytes_buf(random, sizeof random);
    web_key_make(w->keys.metrics, random);
    rc = file_end(&f, fprintf(f.stream, "%s\n", w->keys.metrics) > 0, e);
    if (rc != 0)
        w->keys.metrics[0] = '\0';
    return rc;
}

static void metrics_forget(const struct web *w)
{
    char path[SETTINGS_PATH + 16];
    metrics_path(w, path);
    if (remove(path) != 0 && errno != ENOENT)
        log_warn(w->node->log, "%s: %s", path, strerror(errno));
}

/* --- serving --- */

static void web_stop(struct web *w)
{
    const bool served = w->client != NULL;
    browsers_close(w);
    server_close(w);
    local_detach(w->client);
    w->client = NULL;
    w->grid_asked = false;
    w->grid_due_ms = 0;
    web_state_free(w->state);
    w->state = NULL;
    if (served)
        log_info(w->node->log, "the page is not served any more");
}

static int web_attach(struct web *w, struct err *e)
{
    const struct message watch = {.kind = MSG_local_watch, .local_watch.past = WEB_LOG};
    w->state = web_state_new();
    w->client = w->state != NULL ? local_attach(w->local, web_hear, w) : NULL;
    if (w->client == NULL)
        return err_set(e, EAGAIN, "too many programs ask p2pd at once");
    local_ask(w->client, &watch);
    return 0;
}

static int web_start(struct web *w, struct err *e)
{
    if (w->client != NULL)
        return 0;
    int rc = web_attach(w, e);
    if (rc == 0)
        rc = browsers_open(w, e);
    if (rc == 0)
        rc = server_open(w, e);
    if (rc != 0)
        web_stop(w);
    else
        log_info(w->node->log, "the page is served at http://127.0.0.1:%u/", (unsigned)w->port);
    return rc;
}

void web_reload(struct web *w)
{
    const struct settings *s = &w->node->settings;
    struct err e = {0};
    if (w->client != NULL &&
        (s->web == SETTINGS_WEB_NEVER || (s->web_port != 0 && s->web_port != w->port)))
        web_stop(w);
    if (s->web == SETTINGS_WEB_ALWAYS && web_start(w, &e) != 0)
        log_warn(w->node->log, "the page is not served: %s", e.text);
}

int web_open(struct web **out, struct node *node, struct local *local, struct err *e)
{
    struct web *w = calloc(1, sizeof *w);
    *out = w;
    if (w == NULL)
        return err_set(e, ENOMEM, "out of memory");
    w->node = node;
    w->local = local;
    metrics_load(w);
    web_reload(w);
    return 0;
}

void web_close(struct web *w)
{
    if (w == NULL)
        return;
    web_stop(w);
    web_keys_clear(&w->keys);
    free(w);
}

/* --- what p2pctl web asks for --- */

static void make_link(struct web *w, struct msg_local_page *out)
{
    uint8_t random[WEB_RANDOM];
    char key[WEB_KEY + 1];
    randombytes_buf(random, sizeof random);
    web_keys_link(&w->keys, node_now_ms(), random, key);
    snprintf(out->url, sizeof out->url, "http://127.0.0.1:%u/enter?token=%s", (unsigned)w->port,
             key);
    out->seconds = WEB_LINK_MS / 1000;
}

static int web_begin(struct web *w, const struct msg_local_web *ask, struct msg_local_page *out,
                     struct err *e)
{
    if (w->node->settings.web == SETTINGS_WEB_NEVER)
        return err_set(e, EPERM, "p2pd.conf says web = \"never\"");
    int rc = web_start(w, e);
    if (rc == 0 && ask->verb == PAGE_METRICS)
        rc = metrics_make(w, e);
    if (rc == 0 && ask->verb == PAGE_METRICS)
        memcpy(out->key, w->keys.metrics, sizeof w->keys.metrics);
    if (rc == 0 && ask->verb == PAGE_LINK)
        make_link(w, out);
    return rc;
}

void web_ask(struct web *w, const struct msg_local_web *ask, struct msg_local_page *out,
             struct err *e)
{
    if (ask->verb >= PAGE_VERBS)
        err_set(e, EINVAL, "there is no such verb");
    else if (ask->verb == PAGE_CLOSE) {
        web_stop(w);
        web_keys_clear(&w->keys);
        metrics_forget(w);
    } else if (ask->verb != PAGE_TELL)
        web_begin(w, ask, out, e);
    out->open = w->client != NULL;
    out->port = w->client != NULL ? w->port : 0;
}
