/* SPDX-License-Identifier: BSD-3-Clause */
/* state_json.c -- the state as one object. */
#include "state_json.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/json/rows.h"

static json_t *peer_json(const struct top_peer *p)
{
    const bool here = p->presence == PRESENCE_HERE;
    json_t *one = json_of_member(p->name, &p->id, here,
                                 here         ? lending_text((enum lending_state)p->closed)
                                 : p->revoked ? "revoked"
                                              : "away",
                                 here ? p->until : 0, p->seen_ms / 1000);
    json_t *more = json_pack("{s:s, s:s, s:i, s:i, s:i, s:f, s:I, s:i}", "arch", p->arch, "site",
                             p->site, "cores", (int)p->cores, "slots", (int)p->slots, "slots_free",
                             (int)p->slots_free, "load", p->load / 1000.0, "memory",
                             (json_int_t)p->memory, "rtt_us", (int)p->rtt_us);
    if (here) /* of another one they are not known, or not any more */
        json_object_update(one, more);
    json_decref(more);
    return one;
}

static json_t *peers_json(const struct top_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->peer_count; i++)
        json_array_append_new(all, peer_json(&s->peers[i]));
    return all;
}

static json_t *jobs_json(const struct top_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->jobs.count; i++)
        json_array_append_new(all, own_job_json(&s->jobs.at[i], true));
    return all;
}

static json_t *desktop_json(const struct top_state *s)
{
    json_t *lent = json_array(), *transfers = json_array();
    for (size_t i = 0; i < s->lent_count; i++)
        json_array_append_new(lent, json_of_lent(&s->lent[i]));
    for (size_t i = 0; i < s->transfer_count; i++)
        json_array_append_new(transfers, json_of_transfer(&s->transfers[i]));
    return json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", s->self.ad.name, "state", s->terms.state,
                     "open", s->terms.open, "lent", lent, "transfers", transfers);
}

static json_t *events_json(const struct top_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->event_count; i++)
        json_array_append_new(all, json_pack("{s:I, s:s, s:b}", "time_ms",
                                             (json_int_t)s->events[i].time_ms, "text",
                                             s->events[i].text, "loss", s->events[i].bad));
    return all;
}

json_t *top_state_json(const struct top_state *s)
{
    json_t *history = json_array();
    for (size_t i = 0; i < s->history_count; i++)
        json_array_append_new(history, json_of_past(&s->history[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "history", history, "desktop",
                     desktop_json(s), "peers", peers_json(s), "jobs", jobs_json(s), "grid",
                     all_jobs_json(&s->grid), "events", events_json(s));
}
