/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.c -- p2pctl alone: this desktop, one's jobs and the grid, on one screen. */
#include "print_json.h"
#include "all_peers.h"
#include "moment.h"
#include "overlay/core/lease/lease.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/lend/lender.h"
#include "own_jobs.h"
#include "tool.h"
#include <string.h>

enum { ANSWER_MS = 5000, JOBS_SHOWN = 8 };

struct summary {
    struct msg_local_self self;
    struct msg_local_terms terms;
    struct msg_local_granted lent[LEASE_MAX];
    size_t lent_count;
};

static void summary_row(void *ctx, const struct message *m)
{
    struct summary *s = ctx;
    if (m->kind == MSG_local_self)
        s->self = m->local_self;
    else if (m->kind == MSG_local_terms)
        s->terms = *m->local_terms;
    else if (m->kind == MSG_local_granted && s->lent_count < LEASE_MAX)
        s->lent[s->lent_count++] = m->local_granted;
}

static int summary_ask(struct summary *s, struct client *c, struct err *e)
{
    struct message self = {.kind = MSG_local_status};
    struct message terms = {.kind = MSG_local_lend, .local_lend.verb = LENDER_TELL};
    struct msg_local_done done;
    const int rc = client_ask(c, &self, ANSWER_MS, summary_row, s, &done, e);
    return rc == 0 ? client_ask(c, &terms, ANSWER_MS, summary_row, s, &done, e) : rc;
}

static void print_desktop(const struct summary *s, const struct tool_style *style)
{
    const struct part_ad *ad = &s->self.ad;
    char until[24], memory[24];
    printf("%s%s%s  %s%s%s", style->bold, ad->name, style->end,
           s->terms.open ? style->good : style->bad, s->terms.state, style->end);
    if (s->terms.until != 0)
        printf(" until %s", moment_text(s->terms.until, moment_now_ms() / 1000, until));
    printf("\n  %u of %u slots free, %u cores, %s, load %.2f\n", ad->slots_free, ad->slots,
           ad->cores, tool_size(ad->memory, memory), ad->load / 1000.0);
}

/* Without its folders, so that a line fits a screen. */
static const char *program_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void print_lent(const struct summary *s)
{
    char span[24];
    unsigned shown = 0;
    for (size_t i = 0; i < s->lent_count; i++) {
        const struct msg_local_granted *l = &s->lent[i];
        if (id_equal(&l->holder, &s->self.ad.peer.id) || l->pid == 0)
            continue;
        if (shown++ < JOBS_SHOWN)
            printf("  %s of %s runs %s on %u slot%s for %s\n", l->user,
                   l->from[0] != '\0' ? l->from : "another desktop",
                   l->program[0] != '\0' ? program_name(l->program) : "a program of the system",
                   l->slots, l->slots == 1 ? "" : "s", moment_span(l->age_ms / 1000, span));
    }
    if (shown == 0)
        puts("  nothing of others runs here");
    else if (shown > JOBS_SHOWN)
        printf("  and %u more: p2pctl jobs --all\n", shown - JOBS_SHOWN);
}

static void print_jobs(const struct own_jobs *jobs, const struct tool_style *style)
{
    char span[24];
    printf("%syour jobs%s\n", style->bold, style->end);
    for (size_t i = 0; i < jobs->count && i < JOBS_SHOWN; i++) {
        const struct own_job *j = &jobs->at[i];
        const unsigned lost = own_job_lost(j);
        if (j->is.waits > 0) {
            printf("  %s waits for %u slots for %s: %s, place %u, %u of them free\n", j->is.name,
                   j->is.waits, moment_span((moment_now_ms() - j->is.began_ms) / 1000, span),
                   program_name(j->is.program), j->is.place, j->is.free);
            continue;
        }
        printf("  %s %s for %s: %s, %u rank%s in %u lane%s on %u peer%s", j->is.name,
               own_job_state(j), moment_span((moment_now_ms() - j->is.began_ms) / 1000, span),
               program_name(j->is.program), j->is.ranks, j->is.ranks == 1 ? "" : "s",
               (unsigned)j->is.lanes, j->is.lanes == 1 ? "" : "s", own_job_peers(j),
               own_job_peers(j) == 1 ? "" : "s");
        if (lost > 0)
            printf(", %s%u lost%s", style->bad, lost, style->end);
        printf("\n");
    }
    if (jobs->count == 0)
        puts("  none runs");
    else if (jobs->count > JOBS_SHOWN)
        printf("  and %zu more: p2pctl jobs\n", jobs->count - JOBS_SHOWN);
}

static void print_grid(const struct all_peers *p, const struct tool_style *style)
{
    unsigned slots = 0, slots_free = 0, closed = 0;
    for (size_t i = 0; i < p->count; i++) {
        slots += p->at[i].ad.slots;
        slots_free += p->at[i].ad.slots_free;
        closed += p->at[i].ad.closed != LENDING_OPEN;
    }
    printf("%sthe grid%s\n  %zu peer%s, %s%u of %u slots free%s", style->bold, style->end, p->count,
           p->count == 1 ? "" : "s", slots_free > 0 ? style->good : style->bad, slots_free, slots,
           style->end);
    if (closed > 0)
        printf(", %u peer%s lend%s nothing now", closed, closed == 1 ? "" : "s",
               closed == 1 ? "s" : "");
    if (p->silent > 0)
        printf(", %u did not answer", p->silent);
    printf("\n");
    tool_print_lines(p->other_versions);
}

static void print_json(const struct summary *s, const struct own_jobs *jobs,
                       const struct all_peers *peers)
{
    unsigned slots = 0, slots_free = 0, lent = 0;
    for (size_t i = 0; i < peers->count; i++) {
        slots += peers->at[i].ad.slots;
        slots_free += peers->at[i].ad.slots_free;
    }
    for (size_t i = 0; i < s->lent_count; i++)
        lent += !id_equal(&s->lent[i].holder, &s->self.ad.peer.id) && s->lent[i].pid != 0;
    tool_print_json(json_pack(
        "{s:s, s:b, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "name", s->self.ad.name, "open",
        s->terms.open, "state", s->terms.state, "slots", (int)s->self.ad.slots, "slots_free",
        (int)s->self.ad.slots_free, "lent", (int)lent, "jobs", (int)jobs->count, "peers",
        (int)peers->count, "silent", (int)peers->silent, "grid_slots", (int)slots,
        "grid_slots_free", (int)slots_free));
}

static void print_screen(const struct summary *s, const struct own_jobs *jobs,
                         const struct all_peers *peers)
{
    const struct tool_style style = tool_style(stdout);
    print_desktop(s, &style);
    print_lent(s);
    print_jobs(jobs, &style);
    print_grid(peers, &style);
    printf("%sp2pctl --help lists what else there is to ask%s\n", style.dim, style.end);
}

int tool_summary(int argc, char **argv)
{
    static struct summary s;
    struct tool_options options = {0};
    struct own_jobs jobs = {0};
    struct all_peers peers = {0};
    struct client *c;
    struct err e = {0};
    tool_parse(argc, argv, "This desktop, your jobs and the grid, on one screen.", &options);
    int rc = tool_connect(&c, &options);
    if (rc != TOOL_OK)
        return rc;
    if (summary_ask(&s, c, &e) != 0 || own_jobs_ask(&jobs, c, &e) != 0 ||
        all_peers_ask(&peers, c, NULL, &e) != 0)
        rc = tool_fail(&e);
    else
        (options.json ? print_json : print_screen)(&s, &jobs, &peers);
    own_jobs_clear(&jobs);
    all_peers_clear(&peers);
    client_close(c);
    return rc;
}
