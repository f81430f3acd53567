/* SPDX-License-Identifier: BSD-3-Clause */
/* ad_search.c -- ads go into the ring's tree as frames of ad_answer; searches hand them out again.
 */
#include "ad_search.h"
#include "overlay/node/node.h"
#include "overlay/core/lease/require.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/host/machine.h"
#include "overlay.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum {
    PUBLISH_MS = 2000,             /* between two checks of the own ad */
    SEARCH_TOKENS = (1 << 30) - 1, /* finder.c has those above */
    AFRESH_MS =
        60000, /* values that change all the time, such as the load, are published this often */
};

struct ad_search {
    struct ad_index *all;
    struct ad_search *next;
    uint32_t token; /* of the ring */
    struct event *ended;
    ad_search_found_fn *found;
    ad_search_end_fn *end;
    void *ctx;
};

struct ad_index {
    struct node *node;
    struct overlay *overlay;
    struct ad_search *first;
    uint32_t token;
    struct event *timer;
    uint64_t version, told_ms; /* of the ad that the ring has */
    struct message ad;         /* the one just decoded */
    char text[RING_REQUIRE_MAX + 1];
    struct require require; /* of `text` */
    bool parsed;
};

/* --- this peer's ad --- */

/* Members of all versions read the ads that the ring holds: they stay as version 9 has them. */
enum { AD_VERSION = 9 };

/* Labels that do not fit are left out; a search for one of them finds the peer by walking. */
static uint32_t ad_search_encode(struct ad_index *all, const struct part_ad *ad, uint8_t *out)
{
    struct message *m = &all->ad;
    size_t length;
    *m = (struct message){.kind = MSG_ad_answer, .ad_answer.ad = *ad};
    while ((length = message_encode_version(m, out, RING_AD_MAX, AD_VERSION)) == 0 &&
           m->ad_answer.ad.labels_count > 0)
        m->ad_answer.ad.labels_count--;
    return (uint32_t)length;
}

void ad_index_publish(struct ad_index *all)
{
    struct node *n = all->node;
    struct part_peer self = links_self(n->links);
    struct part_ad ad;
    uint8_t bytes[RING_AD_MAX];
    machine_update(n->machine, &n->settings, identity_card(n->identity), &self);
    ad = *machine_ad(n->machine);
    if (!overlay_joined(all->overlay) ||
        (ad.version == all->version && node_now_ms() < all->told_ms + AFRESH_MS))
        return;
    struct ring_event event = {.kind = RING_PUBLISH, .value = bytes};
    event.value_length = ad_search_encode(all, &ad, bytes);
    if (event.value_length == 0)
        return;
    all->version = ad.version;
    all->told_ms = node_now_ms();
    overlay_step(all->overlay, &event);
}

static void ad_search_on_time(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    ad_index_publish(ctx);
}

/* --- what the ring asks --- */

static const struct part_ad *ad_search_decode(struct ad_index *all, const uint8_t *ad,
                                              uint32_t length)
{
    if (!message_decode_version(&all->ad, ad, length, AD_VERSION) || all->ad.kind != MSG_ad_answer)
        return NULL;
    return &all->ad.ad_answer.ad;
}

bool ad_index_fits(void *ctx, const uint8_t *bytes, uint32_t length, const char *text)
{
    struct ad_index *all = ctx;
    struct require_error wrong;
    const struct part_ad *ad = ad_search_decode(all, bytes, length);
    if (ad == NULL)
        return false;
    if (!all->parsed || strcmp(all->text, text) != 0) {
        strcpy(all->text, text);
        all->parsed = require_parse(&all->require, text, &wrong);
    }
    return all->parsed && require_may_fit(&all->require, ad);
}

static struct ad_search *ad_search_find(struct ad_index *all, uint32_t token)
{
    struct ad_search *s = all->first;
    while (s != NULL && s->token != token)
        s = s->next;
    return s;
}

void ad_index_take(struct ad_index *all, const struct ring_action *a)
{
    struct ad_search *s = ad_search_find(all, a->token);
    if (s == NULL)
        return;
    if (a->kind != RING_NEAR) {
        event_active(s->ended, EV_TIMEOUT, 0);
        return;
    }
    for (unsigned i = 0; i < a->count; i++) {
        const struct part_ad *ad = ad_search_decode(all, a->ads[i].ad, a->ads[i].ad_length);
        if (ad != NULL && id_equal(&ad->peer.id, &a->ads[i].peer))
            s->found(s->ctx, ad);
    }
}

/* --- searches --- */

static void ad_search_forget(struct ad_search *s)
{
    struct ad_search **at = &s->all->first;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    event_free(s->ended);
    free(s);
}

static void ad_search_on_ended(evutil_socket_t fd, short what, void *ctx)
{
    struct ad_search *s = ctx;
    ad_search_end_fn *end = s->end;
    void *owner = s->ctx;
    (void)fd, (void)what;
    ad_search_forget(s);
    end(owner);
}

struct ad_search *ad_search_start(struct ad_index *all, unsigned want, const char *require,
                                  ad_search_found_fn *found, ad_search_end_fn *end, void *ctx)
{
    struct ad_search *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    *s = (struct ad_search){.all = all, .found = found, .end = end, .ctx = ctx};
    s->ended = evtimer_new(all->node->base, ad_search_on_ended, s);
    if (s->ended == NULL) {
        free(s);
        return NULL;
    }
    s->token = all->token = all->token % SEARCH_TOKENS + 1;
    s->next = all->first;
    all->first = s;
    struct ring_event event = {.kind = RING_NEAREST, .token = s->token, .want = want};
    event.require = strlen(require) <= RING_REQUIRE_MAX ? require : "";
    overlay_step(all->overlay, &event);
    return s;
}

void ad_search_cancel(struct ad_search *s)
{
    struct overlay *overlay = s->all->overlay;
    struct ring_event event = {.kind = RING_CANCEL, .token = s->token};
    ad_search_forget(s);
    overlay_step(overlay, &event);
}

int ad_index_open(struct ad_index **out, struct node *node, struct overlay *overlay)
{
    struct ad_index *all = calloc(1, sizeof *all);
    struct event *timer =
        all != NULL ? event_new(node->base, -1, EV_PERSIST, ad_search_on_time, all) : NULL;
    if (timer == NULL) {
        free(all);
        return -ENOMEM;
    }
    all->node = node;
    all->overlay = overlay;
    all->timer = timer;
    event_add(timer,
              &(struct timeval){.tv_sec = PUBLISH_MS / 1000, .tv_usec = PUBLISH_MS % 1000 * 1000});
    *out = all;
    return 0;
}

void ad_index_close(struct ad_index *all)
{
    if (all == NULL)
        return;
    while (all->first != NULL)
        ad_search_forget(all->first);
    event_free(all->timer);
    free(all);
}
