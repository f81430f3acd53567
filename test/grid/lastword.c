/* SPDX-License-Identifier: BSD-3-Clause */
/* lastword.c -- a program says how its job ended and closes its connection, while the daemon has an
 * answer for it that it cannot take any more: its word must be heard.
 *
 *     lastword SOCKET DAEMON-PID */
#include "raw.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, LONG = 20000 }; /* LONG: more than the daemon reads at once */

/* What the daemon says until these words are in it, or patience ends. */
static const char *hear(int fd, char *said, size_t size, const char *words)
{
    struct pollfd on = {.fd = fd, .events = POLLIN};
    const char *at = NULL;
    size_t length = 0;
    while (at == NULL && length < size && poll(&on, 1, PATIENCE_MS) == 1) {
        ssize_t n = read(fd, said + length, size - length);
        if (n <= 0)
            break;
        length += (size_t)n;
        at = memmem(said, length, words, strlen(words));
    }
    return at;
}

/* The daemon finds, at once, a question, which it answers, and behind it the last word of somebody
 * who has gone. */
static void come_and_go(const char *path)
{
    static uint8_t command[LONG];
    struct message job = {.kind = MSG_local_job}, jobs = {.kind = MSG_local_jobs};
    struct msg_local_launch order = {.command = command, .command_length = LONG};
    struct message launch = {.kind = MSG_local_launch, .local_launch = &order}; /* by no lease */
    int fd = raw_dial(path);
    job.local_job.ranks = job.local_job.lanes = 1;
    strcpy(job.local_job.program, "lastword");
    raw_greet(fd);
    raw_say(fd, &job);
    raw_say(fd, &jobs);
    raw_say(fd, &launch);
    job.local_job.over = 1;
    raw_say(fd, &job);
    close(fd);
}

int main(int argc, char **argv)
{
    static const char words[] = "(lastword) ended with status ";
    static char said[65536];
    struct message watch = {.kind = MSG_local_watch};
    if (argc != 3)
        return 2;
    int fd = raw_dial(argv[1]);
    raw_greet(fd);
    raw_say(fd, &watch);
    hear(fd, said, sizeof said, (const char[]){(char)MSG_local_done, 0}); /* it is watched now */
    kill(atoi(argv[2]), SIGSTOP);
    come_and_go(argv[1]);
    kill(atoi(argv[2]), SIGCONT);
    const char *heard = hear(fd, said, sizeof said - 4, words);
    printf("%.*s\n", (int)strlen(words) + 3, heard != NULL ? heard : "nothing was heard");
    return heard != NULL ? 0 : 1;
}
