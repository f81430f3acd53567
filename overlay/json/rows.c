/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c -- messages as JSON. A text that is no UTF-8 makes an empty object. */
#include "rows.h"
#include "overlay/base/addr.h"
#include "overlay/base/confinement.h"
#include "overlay/client/words.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/settings/terms.h"
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* --- peers --- */

json_t *json_of_confinement(unsigned bits)
{
    json_t *words = json_array();
    for (unsigned i = 0; i < 32; i++) {
        char word[80];
        if (bits >> i & 1)
            json_array_append_new(words, json_string(confinement_text(1u << i, word, sizeof word)));
    }
    return words;
}

json_t *json_of_ad(const struct part_ad *ad)
{
    char id[ID_TEXT + 1], owner[ID_TEXT + 1], where[ADDR_TEXT + 1];
    json_t *labels = json_array(), *groups = json_array();
    id_text(&ad->peer.id, id);
    id_text(&ad->owner, owner);
    addr_text(&ad->peer.addr, where);
    for (size_t i = 0; i < ad->labels_count; i++)
        json_array_append_new(labels, json_string(ad->labels[i].text));
    for (size_t i = 0; i < ad->groups_count; i++)
        json_array_append_new(groups, json_string(ad->groups[i].text));
    json_t *all = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:f, s:i, s:i, s:s, "
        "s:o, s:o, s:o, s:I, s:I, "
        "s:I, s:I, s:b}",
        "name", ad->name, "id", id, "owner", owner, "address", where, "os", ad->os, "arch",
        ad->arch, "libc", ad->libc, "ompi", ad->ompi, "cores", ad->cores, "memory",
        (json_int_t)ad->memory, "disk", (json_int_t)ad->disk, "load", ad->load / 1000.0, "slots",
        ad->slots, "slots_free", ad->slots_free, "site", ad->site, "labels", labels, "groups",
        groups, "confinement", json_of_confinement(ad->confinement), "speed", (json_int_t)ad->speed,
        "bandwidth", (json_int_t)ad->bandwidth, "watched_minutes", (json_int_t)ad->watched,
        "vanished", (json_int_t)ad->vanished, "encrypt", ad->encrypt);
    return all != NULL ? all : json_object();
}

/* Zero when the peer does not say: it speaks an earlier version of the protocol. */
static json_t *json_of_place(const struct part_coordinate *c)
{
    return json_pack("{s:i, s:i, s:I}", "x_us", (int)(int32_t)c->x, "y_us", (int)(int32_t)c->y,
                     "height_us", (json_int_t)c->height);
}

/* Another peer's numbers may be any. */
static const char *returns_text(unsigned what)
{
    return what <= SETTINGS_LEAVE ? terms_owner_back((enum settings_owner_back)what) : "";
}

static json_t *json_of_policy(const struct part_policy *p)
{
    return json_pack("{s:b, s:i, s:b, s:s, s:s}", "only_when_idle", p->only_when_idle,
                     "idle_minutes", (int)p->idle_minutes, "chosen", p->chosen, "hours", p->hours,
                     "owner_returns", returns_text(p->owner_returns));
}

json_t *json_of_peer(const struct msg_local_peer *peer)
{
    json_t *one = json_of_ad(&peer->ad);
    json_object_set_new(one, "rtt_us", json_integer(peer->rtt_us));
    json_object_set_new(one, "state",
                        json_string(lending_text((enum lending_state)peer->ad.closed)));
    json_object_set_new(one, "open", json_boolean(peer->ad.closed == LENDING_OPEN));
    json_object_set_new(
        one, "until",
        json_integer((json_int_t)lending_until((enum lending_state)peer->ad.closed, peer->until)));
    json_object_set_new(one, "place", json_of_place(&peer->place));
    json_object_set_new(one, "policy", json_of_policy(&peer->policy));
    return one;
}

json_t *json_of_lines(const char *text)
{
    json_t *all = json_array();
    for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        json_array_append_new(all, json_stringn(text, length));
    }
    return all;
}

json_t *json_of_neighbour(const struct part_peer *p)
{
    char where[ADDR_TEXT + 1], id[ID_TEXT + 1];
    addr_text(&p->addr, where);
    id_text(&p->id, id);
    return json_pack("{s:s, s:s}", "id", id, "address", where);
}

const char *member_away_text(const struct msg_local_member *m, uint64_t now)
{
    return m->revoked                      ? "revoked"
           : m->ends != 0 && m->ends < now ? "away; its certificate has ended"
                                           : "away";
}

json_t *json_of_member(const char *name, const struct id *id, bool here, const char *state,
                       uint64_t until, uint64_t seen)
{
    char text[ID_TEXT + 1];
    id_text(id, text);
    return json_pack("{s:s, s:s, s:b, s:s, s:I, s:I}", "name", name, "id", text, "here", here,
                     "state", state, "until", (json_int_t)until, "seen", (json_int_t)seen);
}

/* --- this desktop --- */

json_t *json_of_lent(const struct msg_local_granted *l)
{
    char id[ID_TEXT + 1];
    id_text(&l->lease, id);
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:b, s:i, s:I}", "lease", id, "user", l->user,
                     "from", l->from, "program", l->program, "slots", (int)l->slots, "guest",
                     (int)l->guest, "pid", (int)l->pid, "age_ms", (json_int_t)l->age_ms);
}

static json_t *json_of_words(const struct part_path *words, size_t count)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(all, json_string(words[i].text));
    return all;
}

json_t *json_of_terms(const struct msg_local_terms *t)
{
    return json_pack(
        "{s:b, s:s, s:I, s:b, s:i, s:o, s:o, s:o, s:b, s:i, s:s, s:i, s:I, s:I, s:I, s:I, s:i, "
        "s:o, s:o, s:b, s:s, s:b, s:s, s:i, s:I, s:I, s:o}",
        "open", t->open, "state", t->state, "until", (json_int_t)t->until, "suspended",
        t->suspended, "leases", t->leases, "allow", json_of_words(t->allow, t->allow_count), "deny",
        json_of_words(t->deny, t->deny_count), "hours", json_of_words(t->hours, t->hours_count),
        "only_when_idle", t->idle_only, "idle_minutes", t->idle_minutes, "owner_returns",
        t->owner_returns, "slots", t->slots, "memory", (json_int_t)t->memory, "disk",
        (json_int_t)t->disk, "processes", (json_int_t)t->processes, "open_files",
        (json_int_t)t->open_files, "nice", t->nice, "enforced", json_of_confinement(t->enforces),
        "required", json_of_confinement(t->required), "encrypt", t->encrypt, "file", t->file,
        "show_programs", t->show_programs, "cores", t->cores, "slots_each", t->slots_each,
        "share_minutes", (json_int_t)t->share_minutes, "unused_minutes",
        (json_int_t)t->unused_minutes, "readable", json_of_words(t->readable, t->readable_count));
}

json_t *json_of_transfer(const struct msg_local_transfer *t)
{
    char list[HASH_TEXT + 1];
    sodium_bin2hex(list, sizeof list, t->list.b, sizeof t->list.b);
    return json_pack("{s:s, s:s, s:i, s:I, s:I, s:s}", "list", list, "way",
                     t->gives ? "gives" : "gets", "peers", (int)t->peers, "have",
                     (json_int_t)t->have, "all", (json_int_t)t->all, "about", t->about);
}

json_t *json_of_totals(const struct msg_local_totals *t)
{
    return json_pack("{s:I, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "began_ms",
                     (json_int_t)t->began_ms, "walked_ms", (json_int_t)t->walked_ms, "silent",
                     (int)t->silent, "launched", (json_int_t)t->launched, "jobs",
                     (json_int_t)t->jobs, "peers_lost", (json_int_t)t->peers_lost, "processes_lost",
                     (json_int_t)t->processes_lost, "fetched", (json_int_t)t->fetched, "given",
                     (json_int_t)t->given);
}

/* --- jobs --- */

const char *job_state_text(const struct msg_local_job *j)
{
    return j->waits > 0 ? "waits" : j->over ? "ends" : j->held ? "held" : "runs";
}

json_t *json_of_job(const struct msg_local_job *j)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I}", "job", j->name, "state",
                     job_state_text(j), "program", j->program, "ranks", (int)j->ranks, "lanes",
                     (int)j->lanes, "pid", (int)j->pid, "began_ms", (json_int_t)j->began_ms,
                     "waits_for", (json_int_t)j->waits, "place", (json_int_t)j->place, "free",
                     (json_int_t)j->free);
}

const char *grid_job_state_text(const struct part_grid_job *job)
{
    static const char *const states[] = {
        [GRID_JOB_RUNS] = "runs",         [GRID_JOB_HELD] = "held",
        [GRID_JOB_ENDS] = "ends",         [GRID_JOB_WAITS] = "waits",
        [GRID_JOB_RESERVES] = "reserves", [GRID_JOB_UNKNOWN] = "unknown"};
    return job->state >= GRID_JOB_RUNS && job->state <= GRID_JOB_UNKNOWN ? states[job->state]
                                                                         : "unknown";
}

json_t *json_of_names(const char *list)
{
    json_t *all = json_array();
    for (size_t n; *list != '\0'; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        json_array_append_new(all, json_stringn(list, n));
    }
    return all;
}

json_t *json_of_grid_job(const struct msg_local_grid_job *row)
{
    const struct part_grid_job *j = &row->job;
    char id[ID_TEXT + 1];
    id_text(&row->peer, id);
    return json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:I, "
                     "s:o}",
                     "job", j->name, "from", row->from, "from_id", id, "own", row->own, "user",
                     j->user, "state", grid_job_state_text(j), "program", j->program, "ranks",
                     (json_int_t)j->ranks, "lanes", (int)j->lanes, "slots", (json_int_t)j->slots,
                     "peers", (json_int_t)j->peers, "lost", (json_int_t)j->lost, "age_ms",
                     (json_int_t)j->age_ms, "place", (json_int_t)j->place, "free",
                     (json_int_t)j->free, "where", json_of_names(j->where));
}

const char *place_state_text(const struct part_place *p)
{
    static const char *const states[] = {"", "runs", "lost", "finished"};
    return p->state < sizeof states / sizeof states[0] ? states[p->state] : "?";
}

json_t *json_of_process(const struct part_place *p, bool leads)
{
    char id[ID_TEXT + 1];
    id_text(&p->peer, id);
    return json_pack("{s:i, s:i, s:s, s:s, s:s, s:b}", "rank", (int)p->rank, "lane", (int)p->lane,
                     "state", place_state_text(p), "peer", p->name, "peer_id", id, "leads", leads);
}

/* --- what was --- */

json_t *json_of_past(const struct msg_local_past *p)
{
    const bool own = p->what == PAST_JOB;
    json_t *one = json_pack("{s:s, s:I, s:I, s:s, s:s}", "what", own ? "job" : "lent", "began_ms",
                            (json_int_t)p->began_ms, "took_ms", (json_int_t)p->took_ms, "program",
                            p->program, "outcome", p->text);
    if (own) {
        json_object_set_new(one, "job", json_string(p->name));
        json_object_set_new(one, "ranks", json_integer(p->slots));
        json_object_set_new(one, "lanes", json_integer(p->lanes));
        json_object_set_new(one, "lost", json_integer(p->lost));
        json_object_set_new(one, "status", json_integer(p->status));
    } else {
        json_object_set_new(one, "from", json_string(p->name));
        json_object_set_new(one, "user", json_string(p->user));
        json_object_set_new(one, "slots", json_integer(p->slots));
    }
    return one;
}

static const char *notice_word(uint8_t what)
{
    static const char *const words[] = {[NOTICE_NODE_DOWN] = "peer_lost",
                                        [NOTICE_REPLICA_LOST] = "process_lost",
                                        [NOTICE_JOB_DONE] = "job_done",
                                        [NOTICE_ALLOCATION_ENDED] = "allocation_ended",
                                        [NOTICE_NEWS] = "news",
                                        [NOTICE_TAKE_OVER] = "take_over",
                                        [NOTICE_PEER_JOINED] = "peer_joined",
                                        [NOTICE_PEER_LEFT] = "peer_left",
                                        [NOTICE_PEER_LOST] = "peer_lost",
                                        [NOTICE_PEER_PAUSED] = "peer_paused",
                                        [NOTICE_PEER_RESUMED] = "peer_resumed"};
    return what < sizeof words / sizeof words[0] && words[what] != NULL ? words[what] : "?";
}

json_t *json_of_notice(const struct msg_local_notice *n)
{
    json_t *one = json_pack("{s:s, s:I, s:s}", "event", notice_word(n->what), "time_ms",
                            (json_int_t)n->time_ms, "text", n->text);
    if (n->peer_name[0] != '\0')
        json_object_set_new(one, "peer", json_string(n->peer_name));
    if (n->job[0] != '\0')
        json_object_set_new(one, "job", json_string(n->job));
    if (n->what == NOTICE_REPLICA_LOST || n->what == NOTICE_TAKE_OVER) {
        json_object_set_new(one, "rank", json_integer(n->rank));
        json_object_set_new(one, "lane", json_integer(n->lane));
        json_object_set_new(one, "left", json_integer(n->left));
    }
    if (n->what == NOTICE_JOB_DONE)
        json_object_set_new(one, "status", json_integer(n->status));
    return one;
}
