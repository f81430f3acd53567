/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.c -- makes the parts of the daemon and takes them down. Where a part needs something of a
 * part that is made after it, it is given a function of this file. */
#include "daemon.h"
#include "overlay/base/file.h"
#include "overlay/base/log.h"
#include "overlay/crypto/identity.h"
#include "overlay/discovery/overlay.h"
#include "overlay/discovery/walk.h"
#include "overlay/files/fetcher.h"
#include "overlay/host/cores.h"
#include "overlay/host/machine.h"
#include "overlay/lend/allowlist.h"
#include "overlay/lend/grant.h"
#include "overlay/lend/lender.h"
#include "overlay/lend/listens.h"
#include "overlay/local/local.h"
#include "overlay/membership/member.h"
#include "overlay/membership/registrar.h"
#include "overlay/node/history.h"
#include "overlay/sandbox/confine.h"
#include "overlay/transport/datagram.h"
#include "overlay/transport/link.h"
#include "overlay/transport/tunnel.h"
#include "overlay/watch/job.h"
#include "overlay/web/web.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* --- what one part wants of a later one --- */

static void on_revoked(void *ctx, const struct id *peer)
{
    struct daemon *d = ctx;
    datagrams_forget(d->datagrams, peer);
    if (d->grant != NULL)
        grant_end_of(d->grant, peer, "its holder was revoked");
}

static void on_met_member(void *ctx, const struct link_peer *with)
{
    struct daemon *d = ctx;
    if (d->registrar != NULL)
        registrar_meet(d->registrar, with);
    if (d->local != NULL)
        local_meet(d->local, with);
}

static void on_peers_changed(void *ctx, const struct id *submitter)
{
    struct daemon *d = ctx;
    if (d->grant != NULL)
        grant_peers(d->grant, submitter);
}

static void on_guest_calls(void *ctx, const struct id *holder, const uint8_t ip[16], uint16_t port)
{
    struct daemon *d = ctx;
    if (d->listens != NULL)
        listens_ask(d->listens, holder, ip, port);
}

static bool is_used(void *ctx, const struct id *peer)
{
    struct daemon *d = ctx;
    return d->jobs != NULL && jobs_uses(d->jobs, peer);
}

static bool holds_lease(void *ctx, const struct id *peer)
{
    struct daemon *d = ctx;
    return d->grant != NULL && grant_holds(d->grant, peer);
}

static void on_page_asked(void *ctx, const struct msg_local_web *ask, struct msg_local_page *out,
                          struct err *e)
{
    struct daemon *d = ctx;
    if (d->web != NULL)
        web_ask(d->web, ask, out, e);
    else
        err_set(e, EAGAIN, "p2pd is not ready yet, or about to end");
}

/* --- settings --- */

static int read_settings(struct daemon *d, struct settings *fresh, struct err *e)
{
    int rc = settings_read(fresh, d->options.config, e);
    if (rc == 0)
        rc = cores_allow(d->cores, fresh->cores, e);
    if (rc == 0 && fresh->slots == 0)
        fresh->slots = cores_allowed(d->cores);
    if (rc == 0 && fresh->slots == 0) /* no core is set apart, so the system deals them out */
        fresh->slots = cores_count(d->cores);
    fresh->lan = fresh->lan || d->options.lan;
    return rc;
}

int daemon_reload(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    struct settings fresh;
    struct err why = {0};
    log_reopen(n->log);
    if (read_settings(d, &fresh, e) < 0) {
        log_error(n->log, "settings stay as they are: %s", e->text);
        return -EINVAL;
    }
    if (strcmp(fresh.listen, n->settings.listen) != 0 ||
        strcmp(fresh.keys, n->settings.keys) != 0 || strcmp(fresh.socket, n->settings.socket) != 0)
        log_warn(n->log, "listen, keys and socket change only with a restart");
    memcpy(fresh.keys, n->settings.keys, sizeof fresh.keys);
    memcpy(fresh.cache, n->settings.cache, sizeof fresh.cache);
    fresh.encrypt = fresh.encrypt || identity_grid_encrypts(n->identity);
    n->settings = fresh;
    if (d->store != NULL)
        store_set_bound(d->store, fresh.cache_size);
    log_set_level(n->log, fresh.log_level);
    log_info(n->log, "settings read again");
    if (identity_reload(n->identity, n->settings.keys, &why) < 0)
        log_error(n->log, "certificates stay as they are: %s", why.text);
    else
        log_info(n->log, "certificates read again: this peer's is good for %ld more days",
                 (long)(identity_card(n->identity)->ends - time(NULL)) / 86400);
    if (d->lender != NULL)
        lender_look(d->lender);
    if (d->web != NULL)
        web_reload(d->web);
    overlay_contact(d->overlay);
    return 0;
}

static int on_reload_asked(void *ctx, struct err *e)
{
    return daemon_reload(ctx, e);
}

/* --- the beginning --- */

static int open_log(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    char path[SETTINGS_PATH + 16];
    snprintf(path, sizeof path, "%s/p2pd.log", n->settings.state);
    const char *file = d->options.log != NULL ? d->options.log : d->options.detach ? path : NULL;
    n->log = log_open(file, identity_card(n->identity)->name, n->settings.log_level);
    if (n->log == NULL)
        return err_set(e, errno, "%s: %s", file, strerror(errno));
    return 0;
}

/* What all parts need: settings, identity, log. */
static int open_node(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    d->cores = cores_new();
    int rc = d->cores != NULL ? machine_open(&n->machine, cores_count(d->cores), e)
                              : err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        machine_enforces(n->machine, confine_probe());
    if (rc == 0)
        rc = read_settings(d, &n->settings, e);
    if (rc == 0)
        rc = file_make_folder(n->settings.state, e);
    if (rc == 0)
        rc = file_make_folder(n->settings.work, e);
    if (rc == 0 && (n->history = history_open(n->settings.state)) == NULL)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = identity_load(&n->identity, n->settings.keys, e);
    if (rc == 0)
        n->settings.encrypt = n->settings.encrypt || identity_grid_encrypts(n->identity);
    return rc == 0 ? open_log(d, e) : rc;
}

/* The ring, and the ways to other daemons. */
static int open_overlay(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    const struct member_watcher watcher = {on_revoked, on_met_member, d};
    int rc = links_open(&n->links, n->base, &n->settings, n->identity, n->log, e);
    if (rc == 0 && datagrams_open(&d->datagrams, n->base, n->links) < 0)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = member_open(&d->member, n, &watcher, e);
    if (rc == 0)
        rc = overlay_open(&d->overlay, n, e);
    if (rc == 0 && (walks_open(&d->walks, n) < 0 || tunnels_open(&d->tunnels, n) < 0))
        rc = err_set(e, ENOMEM, "no memory");
    return rc;
}

/* A desktop whose folder cannot be used lends all the same, to jobs that bring no files. */
static int open_files(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    struct err why = {0};
    if (store_open(&d->store, n->settings.cache, n->settings.cache_size, n->log, &why) != 0)
        log_warn(n->log, "no files of jobs are kept: %s", why.text);
    return fetcher_open(&d->fetcher, n, d->store, e);
}

/* What others may use here. */
static int open_lending(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    int rc = 0;
    if (allowlist_open(&d->allowlist, n, on_peers_changed, d) < 0)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = open_files(d, e);
    const struct grant_parts parts = {d->cores,   d->tunnels,     d->allowlist,
                                      d->fetcher, on_guest_calls, d};
    if (rc == 0)
        rc = grant_open(&d->grant, n, &parts, e);
    if (rc == 0 && listens_open(&d->listens, n, d->allowlist, d->grant, is_used, d) < 0)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = lender_open(&d->lender, n, d->grant, e);
    return rc;
}

/* What this desktop's user does. */
static int open_own(struct daemon *d, struct err *e)
{
    struct node *n = &d->node;
    const struct jobs_parts jobs = {d->datagrams, d->overlay, d->allowlist, holds_lease, d};
    int rc = registrar_open(&d->registrar, n, d->member, d->overlay, e);
    if (rc == 0)
        rc = jobs_open(&d->jobs, n, &jobs, e);
    const struct local_parts local = {d->overlay, d->walks,      d->tunnels,      d->jobs,
                                      d->grant,   d->lender,     d->registrar,    d->fetcher,
                                      d->store,   on_page_asked, on_reload_asked, d};
    if (rc == 0)
        rc = local_open(&d->local, n, &local, e);
    return rc == 0 ? web_open(&d->web, n, d->local, e) : rc;
}

int daemon_open(struct daemon *d, struct err *e)
{
    int rc = open_node(d, e);
    if (rc == 0)
        rc = open_overlay(d, e);
    if (rc == 0)
        rc = open_lending(d, e);
    if (rc == 0)
        rc = open_own(d, e);
    if (rc == 0)
        dispatch_open(d);
    return rc;
}

/* --- the end --- */

static void close_guests(struct daemon *d)
{
    web_close(d->web);
    d->web = NULL;
    local_close(d->local);
    d->local = NULL;
    lender_close(d->lender);
    d->lender = NULL;
    listens_close(d->listens);
    d->listens = NULL;
    grant_close(d->grant);
    d->grant = NULL;
}

void daemon_leave(struct daemon *d)
{
    const struct message leaves = {.kind = MSG_leaves};
    links_spread(d->node.links, &leaves, NULL);
    close_guests(d);
    overlay_leave(d->overlay);
}

/* What was said last has reached the others: leases that ended, the neighbours' new lists. */
bool daemon_has_left(const struct daemon *d)
{
    return overlay_left(d->overlay) && links_backlog(d->node.links) == 0;
}

void daemon_close(struct daemon *d)
{
    struct node *n = &d->node;
    close_guests(d);
    jobs_close(d->jobs);
    registrar_close(d->registrar);
    fetcher_close(d->fetcher);
    store_close(d->store);
    allowlist_close(d->allowlist);
    tunnels_close(d->tunnels);
    walks_close(d->walks);
    overlay_close(d->overlay);
    member_close(d->member);
    datagrams_close(d->datagrams);
    links_close(n->links);
    event_base_loop(n->base, EVLOOP_NONBLOCK); /* libevent frees its streams only now */
    machine_close(n->machine);
    cores_free(d->cores);
    history_close(n->history);
    identity_free(n->identity);
    log_close(n->log);
    event_base_free(n->base);
}
