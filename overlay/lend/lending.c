/* SPDX-License-Identifier: BSD-3-Clause */
/* lending.c -- whether this machine is lent now, and to whom. */
#include "lending.h"
#include <string.h>

static void lending_watch_owner(struct lending *l, const struct lending_view *v)
{
    if (v->in_use) {
        l->quiet_since_ms = 0;
        if (l->back_since_ms == 0)
            l->back_since_ms = v->now_ms;
        return;
    }
    l->back_since_ms = 0;
    if (l->quiet_since_ms == 0)
        l->quiet_since_ms = v->now_ms;
}

static bool lending_owner_is_away(const struct lending *l, const struct settings *s,
                                  const struct lending_view *v)
{
    uint64_t quiet = l->quiet_since_ms != 0 ? v->now_ms - l->quiet_since_ms : 0;
    return !v->in_use && (v->sure || quiet >= (uint64_t)s->idle_minutes * 60 * 1000);
}

static enum lending_state lending_state_of(const struct lending *l, const struct settings *s,
                                           const struct lending_view *v)
{
    if (l->leaving)
        return LENDING_LEAVING;
    if (l->paused)
        return LENDING_PAUSED;
    if (!hours_cover(s->hours, s->hours_count, v->weekday, v->minute))
        return LENDING_HOURS;
    return s->idle_only && !lending_owner_is_away(l, s, v) ? LENDING_IN_USE : LENDING_OPEN;
}

void lending_step(struct lending *l, const struct settings *s, const struct lending_view *v,
                  struct lending_act *act)
{
    if (l->paused && l->paused_until_ms != 0 && v->now_ms >= l->paused_until_ms)
        l->paused = l->stop_guests = false;
    lending_watch_owner(l, v);
    bool back =
        s->idle_only && l->back_since_ms != 0 && v->now_ms - l->back_since_ms >= LENDING_SURE_MS;
    *act = (struct lending_act){.state = lending_state_of(l, s, v)};
    act->suspend = (l->paused && l->stop_guests) || (back && s->owner_back == SETTINGS_SUSPEND);
    if (back && s->owner_back == SETTINGS_LEAVE)
        act->end_by_ms = l->back_since_ms + LENDING_AWAY_MS;
    if (l->leaving && (act->end_by_ms == 0 || l->leave_by_ms < act->end_by_ms))
        act->end_by_ms = l->leave_by_ms;
    act->end_all = act->end_by_ms != 0 && v->leases > 0 && v->now_ms >= act->end_by_ms;
    act->quit = l->leaving && (v->leases == 0 || act->end_all);
}

static bool word_names(const char *word, const struct identity_card *who)
{
    struct id owner;
    if (word[0] == '@') {
        for (size_t i = 0; i < who->group_count; i++)
            if (strcmp(word + 1, who->groups[i]) == 0)
                return true;
        return false;
    }
    return strcmp(word, "all") == 0 || strcmp(word, who->name) == 0 ||
           (id_parse(&owner, word) && id_equal(&owner, &who->owner));
}

bool lending_names(const char (*words)[SETTINGS_WHOM + 1], size_t count,
                   const struct identity_card *who)
{
    for (size_t i = 0; i < count; i++)
        if (word_names(words[i], who))
            return true;
    return false;
}

bool lending_allows(const struct settings *s, const struct id *owner,
                    const struct identity_card *who)
{
    if (id_equal(owner, &who->owner))
        return true;
    return lending_names(s->allow, s->allow_count, who) &&
           !lending_names(s->deny, s->deny_count, who);
}

/* An idle desktop does not keep a third of its cores busy with anything except guests. */
bool lending_load_is_use(uint32_t load, unsigned guests, unsigned cores)
{
    return (uint64_t)load > (uint64_t)guests * 1000 + (uint64_t)cores * 1000 / 3 + 200;
}
