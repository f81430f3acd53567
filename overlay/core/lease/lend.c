/* SPDX-License-Identifier: BSD-3-Clause */
/* lend.c -- the lending side: what it is told, and what it has granted. */
#include "lend_state.h"
#include <assert.h>

void lend_init(struct lend *l)
{
    lease_init(&l->table);
    l->waitlist = (struct waitlist){0};
    l->look_ms = 0;
    l->has_looked = false; /* what is granted is set with each offer */
}

struct lend_action *lend_do(struct lend *l, enum lend_action_kind kind,
                            const struct part_peer *peer)
{
    assert(l->out->count < LEND_ACTIONS);
    struct lend_action *a = &l->out->action[l->out->count++];
    *a = (struct lend_action){.kind = kind, .peer = *peer};
    return a;
}

size_t lend_row(const struct lend *l, const struct lease *lease)
{
    return (size_t)(lease - l->table.at);
}

static bool is_granted(const struct lease *one)
{
    return one->state == LEASE_HELD || one->state == LEASE_RUNNING;
}

/* --- what other peers say --- */

/* The holder's daemon was asked and knows of none: it has been started anew. What it has yet to
 * confirm is not meant. */
static void expire_all_of(struct lend *l, const struct id *holder)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (is_granted(&l->table.at[i]) && id_equal(&l->table.at[i].holder, holder))
            lease_end(&l->table.at[i], LEASE_EXPIRED);
}

static void on_renew(struct lend *l, const struct part_peer *from, const struct msg_lease_renew *m,
                     uint64_t now)
{
    unsigned living = 0;
    if (m->leases_count == 0) {
        expire_all_of(l, &from->id);
        return;
    }
    for (size_t i = 0; i < m->leases_count; i++) {
        struct lease *one = lease_find(&l->table, &from->id, &m->leases[i].lease);
        if (one == NULL) {
            lend_tell_unknown(l, from, &m->leases[i].lease);
            continue;
        }
        lease_renew(one, now);
        living++;
    }
    lend_do(l, LEND_RENEWED, from)->count = living;
}

static void on_release(struct lease *one)
{
    const bool offered = one->state == LEASE_OFFERED;
    lease_end(one, LEASE_RELEASED);
    if (offered)
        lease_clear(one); /* nobody waits for a word about it */
}

/* Ids are random and told to the holder alone: a peer that names another's has not guessed it. */
static void note_forgery(struct lend *l, const struct part_peer *from, const struct id *id)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (l->table.at[i].state != LEASE_FREE && id_equal(&l->table.at[i].id, id) &&
            !id_equal(&l->table.at[i].holder, &from->id))
            lend_do(l, LEND_FORGED, from);
}

/* The lease that a message is about; its sender is told when there is none. */
static struct lease *find_or_tell(struct lend *l, const struct part_peer *from, const struct id *id)
{
    struct lease *one = lease_find(&l->table, &from->id, id);
    if (one == NULL) {
        note_forgery(l, from, id);
        lend_tell_unknown(l, from, id);
    }
    return one;
}

static void on_launch(struct lend *l, const struct part_peer *from, struct lease *one)
{
    const size_t row = lend_row(l, one);
    if (one->use == LEASE_RESERVES || !lease_run(one)) {
        lend_do(l, LEND_TWICE, from);
        return;
    }
    l->granted[row].runs = true;
    lend_do(l, LEND_START, from)->row = row;
}

static void on_look(struct lend *l, const struct part_peer *from, const struct lease *one)
{
    const size_t row = lend_row(l, one);
    if (!l->granted[row].runs)
        return;
    struct lend_action *a = lend_do(l, LEND_SEEN, from);
    a->row = row;
    a->lease = one->id;
}

enum takes {
#define TO_grant(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

static void on_message(struct lend *l, const struct lend_event *event, uint64_t now)
{
    const struct part_peer *from = &event->peer;
    const struct message *m = event->message;
    struct lease *one;
    switch ((enum takes)m->kind) {
    case MSG_lease_ask:
        lend_on_ask(l, event, now);
        break;
    case MSG_lease_queue:
        lend_on_queue(l, event, now);
        break;
    case MSG_lease_waiting:
        lease_add_waiter(&l->table, &event->owner, now);
        break;
    case MSG_lease_renew:
        on_renew(l, from, m->lease_renew, now);
        break;
    case MSG_lease_confirm:
        if ((one = find_or_tell(l, from, &m->lease_confirm.lease)) != NULL)
            lease_confirm(one, m->lease_confirm.slots, now);
        break;
    case MSG_lease_launch:
        if ((one = find_or_tell(l, from, &m->lease_launch.lease)) != NULL)
            on_launch(l, from, one);
        break;
    case MSG_lease_release:
        if ((one = lease_find(&l->table, &from->id, &m->lease_release.lease)) != NULL)
            on_release(one);
        break;
    case MSG_lease_status:
        if ((one = lease_find(&l->table, &from->id, &m->lease_status.lease)) != NULL)
            on_look(l, from, one);
        break;
    }
}

/* --- what becomes of what runs --- */

static void end_with(struct lend *l, size_t row, enum lease_cause cause, const char *text)
{
    lend_give_reason(&l->granted[row], text);
    lease_end(&l->table.at[row], cause);
}

static void on_over(struct lend *l, const struct lend_event *event)
{
    struct lend_grant *g = &l->granted[event->row];
    g->runs = false;
    g->status = event->status;
    if (l->table.at[event->row].state != LEASE_ENDING) /* else for a reason that is known */
        end_with(l, event->row, event->cause, event->text);
}

static void on_not_started(struct lend *l, const struct lend_event *event)
{
    l->granted[event->row].runs = false;
    end_with(l, event->row, LEASE_FAILED, event->text);
}

/* --- what the owner wants --- */

static void recall_all(struct lend *l, uint32_t within_ms, const char *text)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lend_grant *g = &l->granted[i];
        if (!is_granted(&l->table.at[i]) || g->recalled)
            continue;
        struct lend_action *a = lend_do(l, LEND_RECALLED, &g->holder);
        g->recalled = true;
        a->lease = l->table.at[i].id;
        a->within_ms = within_ms;
        a->text = text;
    }
}

static void end_all(struct lend *l, const struct id *holder, const char *text)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        const struct lease *one = &l->table.at[i];
        const bool its = id_equal(&one->holder, holder) && one->state == LEASE_OFFERED;
        if (its || (is_granted(one) && (id_is_zero(holder) || id_equal(&one->holder, holder))))
            end_with(l, i, LEASE_REVOKED, text);
    }
}

/* --- time --- */

/* True: some holders are late, and what their hosts say counts before any lease ends. */
static bool look(struct lend *l, uint64_t now)
{
    bool late = false;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (lease_overdue(&l->table.at[i], now)) {
            lend_do(l, LEND_PROBE, &l->granted[i].holder)->row = i;
            late = true;
        }
    l->look_ms = now + LEND_LOOK_MS;
    l->has_looked = true;
    return late;
}

static void on_tick(struct lend *l, const struct lend_event *event, uint64_t now)
{
    if (!l->has_looked && l->look_ms != 0 && now >= l->look_ms && look(l, now))
        return;
    lease_expire(&l->table, now);
    if (l->has_looked)
        lend_share_out(l, event->terms, now);
    l->has_looked = false;
    lend_settle(l);
}

static void plan_look(struct lend *l, uint64_t now)
{
    if (lease_deadline(&l->table) == UINT64_MAX) {
        l->look_ms = 0;
        l->has_looked = false;
    } else if (l->look_ms == 0) {
        l->look_ms = now + LEND_LOOK_MS;
    }
}

uint64_t lend_deadline(const struct lend *l)
{
    const uint64_t expires = lease_deadline(&l->table);
    if (l->has_looked)
        return 0;
    return l->look_ms != 0 && l->look_ms < expires ? l->look_ms : expires;
}

/* False: nothing can have ended. */
static bool take(struct lend *l, const struct lend_event *event, uint64_t now)
{
    switch (event->kind) {
    case LEND_TICK:
        on_tick(l, event, now);
        return false;
    case LEND_ANSWERS:
        lease_spare(&l->table.at[event->row], now);
        return false;
    case LEND_MESSAGE:
        lease_expire(&l->table, now);
        on_message(l, event, now);
        return true;
    case LEND_NOT_STARTED:
        on_not_started(l, event);
        return true;
    case LEND_OVERSTEPPED: /* its room waits with ending it until the holder is told */
        if (l->table.at[event->row].state != LEASE_ENDING)
            end_with(l, event->row, LEASE_REVOKED, event->text);
        return true;
    case LEND_OVER:
        on_over(l, event);
        return true;
    case LEND_RECALL:
        recall_all(l, event->within_ms, event->text);
        return false;
    case LEND_END:
        end_all(l, &event->peer.id, event->text);
        return true;
    }
    return false;
}

void lend_step(struct lend *l, const struct lend_event *event, uint64_t now_ms,
               struct lend_out *out)
{
    if (out != NULL)
        out->count = 0;
    l->out = out;
    if (take(l, event, now_ms))
        lend_settle(l);
    plan_look(l, now_ms);
    l->out = NULL;
}

/* --- reading --- */

unsigned lend_slots_free(const struct lend *l, unsigned slots)
{
    const unsigned available =
        lease_slots_free(&l->table, slots) + lease_slots_contested(&l->table);
    return available < slots ? available : slots;
}

unsigned lend_slots_granted(const struct lend *l)
{
    unsigned slots = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (l->table.at[i].state > LEASE_OFFERED && l->table.at[i].use != LEASE_RESERVES)
            slots += l->table.at[i].slots;
    return slots;
}

unsigned lend_count(const struct lend *l)
{
    unsigned count = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        count += l->table.at[i].state > LEASE_OFFERED;
    return count;
}

bool lend_holds(const struct lend *l, const struct id *holder)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (l->table.at[i].state > LEASE_OFFERED && id_equal(&l->table.at[i].holder, holder))
            return true;
    return false;
}

const struct lease *lend_nth(const struct lend *l, unsigned nth)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (l->table.at[i].state > LEASE_OFFERED && nth-- == 0)
            return &l->table.at[i];
    return NULL;
}
