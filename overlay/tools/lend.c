/* SPDX-License-Identifier: BSD-3-Clause */
/* lend.c -- p2pctl policy, pause, resume, leave: what this desktop lends, and when it stops. */
#include "print_json.h"
#include "conf.h"
#include "overlay/base/size.h"
#include "overlay/base/confinement.h"
#include "overlay/lend/lender.h"
#include "moment.h"
#include "tool.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORDS_MOST = 64 };
enum { ANSWER_MS = 5000, LEAVE_S = 30, LEAVE_POLL_MS = 200, LEAVE_MOST_S = 24 * 3600 };

struct lend_options {
    struct tool_options shared;
    struct msg_local_lend ask;
    char *words[WORDS_MOST]; /* of policy: set SETTING VALUE... */
    size_t count;
};

static error_t lend_parse(int key, char *value, struct argp_state *state)
{
    struct lend_options *w = state->input;
    char *end;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &w->shared;
    } else if (key == 'S') {
        w->ask.suspend = 1;
    } else if (key == 'F') {
        if (!seconds_parse(&w->ask.within_s, value))
            argp_error(state, "--for=%s: a time such as 30m, 2h or 1d", value);
    } else if (key == 'W') {
        long seconds = strtol(value, &end, 10);
        if (*end != '\0' || end == value || seconds < 0 || seconds > LEAVE_MOST_S)
            argp_error(state, "--within=%s: must be 0 to %d seconds", value, LEAVE_MOST_S);
        w->ask.within_s = (uint32_t)seconds;
    } else if (key == ARGP_KEY_ARG && w->ask.verb == LENDER_TELL) {
        if (w->count == WORDS_MOST)
            argp_error(state, "more than %d words", WORDS_MOST);
        w->words[w->count++] = value;
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void lend_row(void *ctx, const struct message *m)
{
    if (m->kind == MSG_local_terms)
        *(struct msg_local_terms *)ctx = *m->local_terms;
}

static int lend_ask(struct client *c, const struct msg_local_lend *asked,
                    struct msg_local_terms *terms, struct err *e)
{
    struct message question = {.kind = MSG_local_lend, .local_lend = *asked};
    struct msg_local_done done;
    return client_ask(c, &question, ANSWER_MS, lend_row, terms, &done, e);
}

/* --- policy --- */

static void print_words(const char *name, const struct part_path *words, size_t count,
                        const char *none)
{
    printf("  %-12s %s", name, count == 0 ? none : "");
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i > 0 ? ", " : "", words[i].text);
    printf("\n");
}

static void lend_print(const struct msg_local_terms *t)
{
    const struct tool_style style = tool_style(stdout);
    char a[80], b[80];
    char until[24] = "";
    printf("this desktop %s%s%s%s%s%s, %u lease%s held\n", t->open ? style.good : style.bad,
           t->state, style.end, t->until != 0 ? " until " : "",
           t->until != 0 ? moment_text(t->until, moment_now_ms() / 1000, until) : "",
           t->suspended ? ", what others run is suspended" : "", t->leases,
           t->leases == 1 ? "" : "s");
    print_words("allowed", t->allow, t->allow_count, "nobody but the owner");
    print_words("denied", t->deny, t->deny_count, "nobody");
    print_words("hours", t->hours, t->hours_count, "always");
    printf("  %-12s lends %s; guests when it is back: %s\n", "owner",
           t->idle_only ? "only when idle" : "also while it is there", t->owner_returns);
    if (t->idle_only)
        printf("  %-12s for %u minutes, or when the desktop says so\n", "idle", t->idle_minutes);
    printf("  %-12s %u slots, %s of memory, %s of disk\n", "lent", t->slots,
           tool_size(t->memory, a), tool_size(t->disk, b));
    printf("  %-12s %s\n", "cores", t->cores);
    if (t->slots_each != 0)
        printf("  %-12s %u slots at most to one other desktop\n", "each", t->slots_each);
    printf("  %-12s more than its share for %s when others wait; unused slots for %s\n",
           "an owner has", moment_span((uint64_t)t->share_minutes * 60, a),
           moment_span((uint64_t)t->unused_minutes * 60, b));
    printf("  %-12s %u processes, %u open files each, nice %u\n", "guests", t->processes,
           t->open_files, t->nice);
    printf("  %-12s %s\n", "enforced", confinement_text(t->enforces, a, sizeof a));
    if (t->enforces & CONFINE_CGROUP)
        printf("  %-12s %s%s%s\n", "cgroup", "its own for each job, ended as one",
               t->controllers[0] != '\0' ? "; limits: " : "; no controller is delegated",
               t->controllers);
    printf("  %-12s %s%s\n", "required", confinement_text(t->required, a, sizeof a),
           (t->required & ~t->enforces) != 0 ? ": so no guests are let in" : "");
    printf("  %-12s %s\n", "encrypted",
           t->encrypt ? "only jobs that encrypt their messages run here"
                      : "jobs may encrypt their messages");
    print_words("readable", t->readable, t->readable_count, "the system's files alone");
    printf("  %-12s of your own jobs are shown to %s\n", "programs",
           t->show_programs ? "every member" : "those who run them");
}

static void lend_print_json(const struct msg_local_terms *t)
{
    tool_print_json(json_of_terms(t));
}

/* p2pd judges more than the file: cores that are not there, for one. What it does not take is not
 * left for its next start. */
static int policy_reload(struct client *c, struct conf *conf, struct msg_local_terms *terms,
                         struct err *e)
{
    const struct msg_local_lend reload = {.verb = LENDER_RELOAD};
    struct err why = {0}, undo = {0};
    if (lend_ask(c, &reload, terms, &why) == 0)
        return 0;
    if (conf_undo(conf, &undo) != 0)
        return err_set(e, why.code, "p2pd does not take it: %.200s; %.200s", why.text, undo.text);
    return err_set(e, why.code, "p2pd does not take it: %.200s; %.200s is as it was", why.text,
                   conf->path);
}

static int policy_change(struct client *c, const struct lend_options *w,
                         struct msg_local_terms *terms, struct err *e)
{
    const struct msg_local_lend tell = {.verb = LENDER_TELL};
    const bool sets = strcmp(w->words[0], "set") == 0;
    const char *name = w->words[1];
    char value[POLICY_VALUE];
    struct conf conf = {.folder = -1};
    int rc = sets ? policy_value(name, w->words + 2, w->count - 2, value, e) : 0;
    if (rc == 0)
        rc = lend_ask(c, &tell, terms, e);
    if (rc == 0)
        rc = conf_set(&conf, terms->file, name, sets ? value : NULL, e);
    if (rc == 0)
        rc = policy_reload(c, &conf, terms, e);
    if (rc == 0 && !w->shared.json)
        printf("%s: %s%s%s%s; what runs here goes on as it began\n", conf.path, name,
               sets ? " = " : " is as by default", sets ? value : "",
               conf.changed ? "" : ", as before");
    conf_close(&conf);
    return rc;
}

static bool policy_is_usage(const struct lend_options *w)
{
    return w->count == 0 || (strcmp(w->words[0], "set") == 0 && w->count > 2) ||
           (strcmp(w->words[0], "unset") == 0 && w->count == 2);
}

/* --- the others --- */

static void lend_say(const struct msg_local_terms *t, const struct msg_local_lend *asked)
{
    const char *rest = t->leases == 0                ? "; nothing of others runs here"
                       : asked->suspend              ? "; what others run here is suspended"
                       : asked->verb == LENDER_LEAVE ? ""
                                                     : "; what others run here goes on";
    char span[24] = "";
    if (asked->verb == LENDER_PAUSE && asked->within_s != 0)
        printf("lends nothing for %s%s\n", moment_span(asked->within_s, span), rest);
    else if (asked->verb == LENDER_PAUSE)
        printf("lends nothing from now on%s\n", rest);
    else if (asked->verb == LENDER_RESUME)
        printf("lends again, as its policy says\n");
    else
        printf("leaves%s: %u lease%s held, which may end within %u s\n", rest, t->leases,
               t->leases == 1 ? "" : "s", asked->within_s);
    fflush(stdout);
}

/* What was done, and what of others is left: the terms are those from before it. */
static json_t *lend_said_json(const struct msg_local_terms *t, const struct msg_local_lend *asked)
{
    static const char *const done[] = {
        [LENDER_PAUSE] = "paused", [LENDER_RESUME] = "resumed", [LENDER_LEAVE] = "left"};
    json_t *all = json_pack("{s:s, s:i}", "done", done[asked->verb], "leases", (int)t->leases);
    if (asked->verb == LENDER_PAUSE) {
        const uint64_t until = moment_now_ms() / 1000 + asked->within_s;
        json_object_set_new(all, "suspended", json_boolean(asked->suspend));
        json_object_set_new(all, "until",
                            json_integer(asked->within_s != 0 ? (json_int_t)until : 0));
    }
    if (asked->verb == LENDER_LEAVE)
        json_object_set_new(all, "within_s", json_integer(asked->within_s));
    return all;
}

/* Until the daemon has closed its socket, and ended: another one can be started then. */
static int await_end(struct client *c, int daemon, unsigned seconds)
{
    const struct msg_local_lend tell = {.verb = LENDER_TELL};
    const struct timespec pause = {.tv_nsec = LEAVE_POLL_MS * 1000000L};
    struct msg_local_terms t = {0};
    for (unsigned i = 0; i < (seconds + 10) * 1000 / LEAVE_POLL_MS; i++) {
        struct err e = {0};
        struct pollfd ended = {.fd = daemon, .events = POLLIN};
        if (lend_ask(c, &tell, &t, &e) != 0 && (daemon < 0 || poll(&ended, 1, 0) > 0))
            return TOOL_OK;
        nanosleep(&pause, NULL);
    }
    struct err e = {0};
    err_set(&e, ETIMEDOUT, "p2pd has not ended; look at its log");
    return tool_fail(&e);
}

static int run(int argc, char **argv, const struct argp *argp, enum lender_verb verb)
{
    struct lend_options w = {.ask = {.verb = (uint8_t)verb}};
    if (verb == LENDER_LEAVE)
        w.ask.within_s = LEAVE_S;
    struct msg_local_terms terms = {0};
    struct client *c;
    struct err e = {0};
    argp_parse(argp, argc, argv, 0, NULL, &w);
    if (!policy_is_usage(&w)) {
        fprintf(stderr, "p2pctl policy: set SETTING VALUE..., unset SETTING, or nothing\n");
        return TOOL_USAGE;
    }
    int rc = tool_connect(&c, &w.shared);
    if (rc != TOOL_OK)
        return rc;
    const int daemon = verb == LENDER_LEAVE ? client_daemon(c) : -1;
    if (w.count > 0 ? policy_change(c, &w, &terms, &e) != 0 : lend_ask(c, &w.ask, &terms, &e) != 0)
        rc = tool_fail(&e);
    else if (verb == LENDER_TELL)
        (w.shared.json ? lend_print_json : lend_print)(&terms);
    else if (!w.shared.json)
        lend_say(&terms, &w.ask);
    if (rc == TOOL_OK && verb == LENDER_LEAVE)
        rc = await_end(c, daemon, w.ask.within_s);
    if (rc == TOOL_OK && verb != LENDER_TELL && w.shared.json)
        tool_print_json(lend_said_json(&terms, &w.ask));
    else if (rc == TOOL_OK && verb == LENDER_LEAVE)
        puts("left the grid; p2pd has ended");
    if (daemon >= 0)
        close(daemon);
    client_close(c);
    return rc;
}

static const struct argp_child shared[] = {{&tool_argp, 0, NULL, 0}, {0}};

int tool_policy(int argc, char **argv)
{
    const struct argp argp = {.parser = lend_parse,
                              .children = shared,
                              .args_doc = "[set SETTING VALUE... | unset SETTING]",
                              .doc = "Shows to whom, when and how much this desktop is lent, and "
                                     "what guests are kept from; set and unset change it, in "
                                     "p2pd's own settings (man p2pd.conf).\vA list has a VALUE for "
                                     "each of its members; '' is an empty one."};
    return run(argc, argv, &argp, LENDER_TELL);
}

int tool_pause(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"suspend", 'S', NULL, 0, "stop what others run here, until resume", 0},
        {"for", 'F', "TIME", 0, "lend again after this time, by itself: 30m, 2h, 1d", 0},
        {0}};
    const struct argp argp = {.options = options,
                              .parser = lend_parse,
                              .children = shared,
                              .doc = "Lends nothing more, until p2pctl resume or for a time."};
    return run(argc, argv, &argp, LENDER_PAUSE);
}

int tool_resume(int argc, char **argv)
{
    const struct argp argp = {
        .parser = lend_parse, .children = shared, .doc = "Lends again, after p2pctl pause."};
    return run(argc, argv, &argp, LENDER_RESUME);
}

int tool_leave(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"within", 'W', "SECONDS", 0, "end what others run here by then (30)", 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = lend_parse,
        .children = shared,
        .doc =
            "Leaves the grid: lends nothing more, waits for what others run here to end, ends it "
            "when the time is up, and ends p2pd."};
    return run(argc, argv, &argp, LENDER_LEAVE);
}
