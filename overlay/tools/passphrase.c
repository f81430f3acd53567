/* SPDX-License-Identifier: BSD-3-Clause */
/* passphrase.c -- a line read from the terminal without echo, which is back also after Ctrl-C. */
#include "passphrase.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void note(int signal)
{
    caught = signal;
}

/* Up to the line's end, not beyond: byte by byte, so that nothing of it stays in a buffer. */
static int read_line(struct passphrase *out, int fd, struct err *e)
{
    char one;
    ssize_t n = 0;
    out->length = 0;
    while (out->length <= KEYFILE_PASSPHRASE && (n = read(fd, &one, 1)) == 1 && one != '\n')
        out->text[out->length++] = (uint8_t)one;
    if (n < 0)
        return err_set(e, errno, "no passphrase: %s", strerror(errno));
    if (out->length > KEYFILE_PASSPHRASE)
        return err_set(e, EINVAL, "a passphrase has at most %d bytes", KEYFILE_PASSPHRASE);
    return out->length > 0 ? 0 : err_set(e, EINVAL, "the passphrase is empty");
}

static int ask_at(struct passphrase *out, int tty, const char *prompt, struct err *e)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP};
    enum { SIGNALS = sizeof signals / sizeof signals[0] };
    struct sigaction was[SIGNALS], mine = {.sa_handler = note};
    struct termios shown, silent;
    if (tcgetattr(tty, &shown) < 0)
        return err_set(e, ENOTTY, "no terminal to ask for the passphrase at");
    silent = shown;
    silent.c_lflag &= (tcflag_t) ~(ECHO | ECHONL);
    caught = 0;
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &mine, &was[i]);
    tcsetattr(tty, TCSAFLUSH, &silent);
    dprintf(tty, "%s: ", prompt);
    int rc = read_line(out, tty, e);
    tcsetattr(tty, TCSAFLUSH, &shown);
    dprintf(tty, "\n");
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &was[i], NULL);
    if (caught != 0)
        raise(caught);
    return rc;
}

static int ask_twice(struct passphrase *out, int tty, struct err *e)
{
    struct passphrase again;
    int rc = ask_at(out, tty, "New passphrase of the grid's authority", e);
    if (rc == 0)
        rc = ask_at(&again, tty, "The same once more", e);
    if (rc == 0 &&
        (again.length != out->length || CRYPTO_memcmp(again.text, out->text, out->length) != 0))
        rc = err_set(e, EINVAL, "these were two different ones");
    passphrase_forget(&again);
    return rc;
}

static int read_file(struct passphrase *out, const char *file, struct err *e)
{
    if (strcmp(file, "-") == 0)
        return read_line(out, STDIN_FILENO, e);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, errno, "%s: %s", file, strerror(errno));
    int rc = read_line(out, fd, e);
    close(fd);
    return rc;
}

int passphrase_ask(struct passphrase *out, const char *file, bool fresh, struct err *e)
{
    if (file != NULL)
        return read_file(out, file, e);
    int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (tty < 0)
        return err_set(e, ENOTTY,
                       "the grid's authority is locked: say its passphrase on a terminal, or with "
                       "--passphrase-file");
    int rc =
        fresh ? ask_twice(out, tty, e) : ask_at(out, tty, "Passphrase of the grid's authority", e);
    close(tty);
    return rc;
}

void passphrase_forget(struct passphrase *p)
{
    OPENSSL_cleanse(p, sizeof *p);
}

struct keyfile_access passphrase_access(const struct passphrase *p)
{
    return (struct keyfile_access){.passphrase = p->text, .length = p->length};
}

static void passphrase_put(struct message *question, const struct passphrase *word)
{
    const uint32_t length = (uint32_t)word->length;
    if (question->kind == MSG_local_invite) {
        question->local_invite.passphrase = word->text;
        question->local_invite.passphrase_length = length;
    } else if (question->kind == MSG_local_revoke) {
        question->local_revoke.passphrase = word->text;
        question->local_revoke.passphrase_length = length;
    } else if (question->kind == MSG_local_rotate) {
        question->local_rotate.passphrase = word->text;
        question->local_rotate.passphrase_length = length;
    }
}

int passphrase_client_ask(struct client *c, const struct message *question, const char *file,
                          int timeout_ms, client_row_fn *row, void *ctx, struct err *e)
{
    struct message m = *question;
    struct passphrase word = {.length = 0};
    struct msg_local_done done;
    struct err first = {0};
    if (file == NULL) {
        int rc = client_ask(c, &m, timeout_ms, row, ctx, &done, &first);
        if (rc == 0 || first.code != ENOKEY)
            return rc == 0 ? 0 : err_set(e, first.code, "%s", first.text);
    }
    int rc = passphrase_ask(&word, file, false, e);
    m = *question;
    passphrase_put(&m, &word);
    if (rc == 0)
        rc = client_ask(c, &m, timeout_ms, row, ctx, &done, e);
    passphrase_forget(&word);
    return rc;
}
