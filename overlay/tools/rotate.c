/* SPDX-License-Identifier: BSD-3-Clause */
/* rotate.c -- p2pctl grid rotate: the authority of the grid gets another key. */
#include "tool.h"
#include "print_json.h"
#include "passphrase.h"
#include "rotate.h"
#include <errno.h>
#include <time.h>

enum { ANSWER_MS = 30000, AWAY_DAYS = 30, DAY = 24 * 3600 };

static void rotate_row(void *ctx, const struct message *m)
{
    if (m->kind == MSG_local_rotated)
        *(struct msg_local_rotated *)ctx = m->local_rotated;
}

static int rotate_ask(struct client *c, uint32_t seconds, const char *file,
                      struct msg_local_rotated *answer, struct err *e)
{
    const struct message question = {.kind = MSG_local_rotate, .local_rotate.seconds = seconds};
    return passphrase_client_ask(c, &question, file, ANSWER_MS, rotate_row, answer, e);
}

static void rotate_print(const struct msg_local_rotated *answer)
{
    time_t until = (time_t)answer->until;
    char day[64] = "";
    struct tm tm;
    if (localtime_r(&until, &tm) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d %H:%M", &tm);
    printf("The authority has another key; the old one lets nobody in any more, and is not kept.\n"
           "  %u peers get new certificates by themselves; one that is away has to be back before "
           "%s\n"
           "  Tokens of before are void: p2pctl invite gives new ones\n"
           "  Copies of the authority's folder are of no use any more: copy it anew\n",
           answer->members, day);
    if (answer->unlisted > 0)
        printf("  %u peers were never seen by this version, and have to join again\n",
               answer->unlisted);
}

static void rotate_print_json(const struct msg_local_rotated *answer)
{
    tool_print_json(json_pack("{s:I, s:i, s:i}", "until", (json_int_t)answer->until, "members",
                              answer->members, "unlisted", answer->unlisted));
}

int rotate(const struct tool_options *options, double days, const char *file)
{
    struct msg_local_rotated answer = {0};
    struct client *c;
    struct err e = {0};
    int rc = tool_connect(&c, options);
    if (rc != TOOL_OK)
        return rc;
    if (rotate_ask(c, (uint32_t)((days > 0 ? days : AWAY_DAYS) * DAY), file, &answer, &e) < 0)
        rc = tool_fail(&e);
    else if (options->json)
        rotate_print_json(&answer);
    else
        rotate_print(&answer);
    client_close(c);
    return rc;
}
