/* SPDX-License-Identifier: BSD-3-Clause */
/* intruder.c -- knocks at a daemon's port in every wrong way there is, and sees whether it is
 * turned away. Ends with 0 when the daemon did what it should. */
#include "session.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_MAX = 4000, TAPE = 64 * 1024 };

static const char usage[] =
    "ADDRESS: IP:PORT, or the path of a UNIX socket\n"
    "intruder ADDRESS bytes             sends standard input; must be hung up on\n"
    "intruder ADDRESS shake [KEYS]      a handshake with KEYS or none; must be refused\n"
    "intruder ADDRESS tls12 KEYS        an older TLS; must be refused\n"
    "intruder ADDRESS frame KEYS WHAT   a member sends nonsense: huge, none, cut, unknown, silent\n"
    "intruder ADDRESS lease KEYS ID     a member uses another's lease; must be told there is none\n"
    "intruder ADDRESS send KEYS FILE    a member sends the frame in FILE\n"
    "intruder ADDRESS replay KEYS       the bytes of a member's session once more; must be hung up "
    "on\n"
    "intruder ADDRESS stall KEYS S      a member stops within a frame; must be hung up on in S "
    "seconds\n"
    "intruder ADDRESS hold N HOW        N connections that stop: nothing, half (a ClientHello), "
    "until\n"
    "                                   standard input ends; prints how many are still open then\n";

/* --- plain TCP --- */

/* TLS alerts may come before the end. */
static void expect_hung_up(int fd, const char *what)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        ;
    if (n < 0 && errno != ECONNRESET)
        session_die(what);
    close(fd);
}

static void put(int fd, const void *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t n = send(fd, (const char *)bytes + at, length - at, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* hung up already */
        at += (size_t)n;
    }
}

static void send_bytes(void)
{
    static char bytes[1 << 20];
    int fd = session_dial_or_die();
    put(fd, bytes, fread(bytes, 1, sizeof bytes, stdin));
    shutdown(fd, SHUT_WR);
    expect_hung_up(fd, "it listens to bytes that are no TLS");
}

/* --- many at once --- */

static bool is_open(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Within two seconds; what still comes, such as an alert, is read. */
static bool is_closed_soon(int fd)
{
    char bytes[512];
    const struct timeval patience = {.tv_sec = 2};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t n;
    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0)
        ;
    return n == 0 || errno != EAGAIN;
}

/* A ClientHello that never goes on. */
static const uint8_t half_hello[] = {22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 7, 7, 7};

static void hold(unsigned count, bool half)
{
    static int fds[HOLD_MAX];
    unsigned open = 0, made = 0;
    char byte;
    for (unsigned i = 0; i < count && i < HOLD_MAX; i++) {
        fds[i] = session_dial();
        made += fds[i] >= 0;
        if (fds[i] >= 0 && half)
            put(fds[i], half_hello, sizeof half_hello);
    }
    printf("made %u\n", made);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    for (unsigned i = 0; i < count && i < HOLD_MAX; i++)
        open += fds[i] >= 0 && is_open(fds[i]);
    printf("open %u\n", open);
}

/* --- TLS --- */

/* The daemon must hang up and never have said a word to the caller. */
static void expect_refused(SSL *ssl, const char *what)
{
    char bytes[4096];
    if (SSL_connect(ssl) == 1 && SSL_read(ssl, bytes, sizeof bytes) > 0)
        session_die(what);
    printf("refused: %s\n",
           ERR_peek_error() != 0 ? ERR_reason_error_string(ERR_peek_error()) : "hung up on");
    if (!is_closed_soon(SSL_get_fd(ssl)))
        session_die("refused, and the connection is still open");
}

/* --- what a member may not do --- */

static void send_nonsense(const char *keys, const char *what)
{
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff}, none[] = {0, 0, 0, 0};
    static const uint8_t unknown[] = {0, 0, 0, 3, 0xfe, 1, 2}, cut[] = {0, 0, 0, 3, 0x40, 0, 0};
    static const uint8_t silent[] = {0, 0, 0, 3, 0x40}; /* and no hello */
    SSL *ssl = session_enter(keys);
    struct message *m = malloc(sizeof *m);
    if (strcmp(what, "silent") == 0)
        SSL_write(ssl, cut, sizeof cut);
    else
        session_hello(ssl, NULL);
    if (strcmp(what, "huge") == 0)
        SSL_write(ssl, huge, sizeof huge);
    else if (strcmp(what, "none") == 0)
        SSL_write(ssl, none, sizeof none);
    else if (strcmp(what, "unknown") == 0)
        SSL_write(ssl, unknown, sizeof unknown);
    else if (strcmp(what, "cut") == 0)
        SSL_write(ssl, cut, sizeof cut);
    else if (strcmp(what, "silent") != 0)
        SSL_write(ssl, silent, sizeof silent);
    while (session_hear(ssl, m))
        ;
    free(m);
    if (is_open(SSL_get_fd(ssl)))
        session_die("it goes on listening");
}

/* Half a frame, and no more of it. */
static void stall(const char *keys, int seconds)
{
    static const uint8_t half[] = {0, 0, 1, 0, 0x40, 0, 0};
    struct timeval patience = {.tv_sec = seconds};
    SSL *ssl = session_enter(keys);
    struct message *m = malloc(sizeof *m);
    time_t begin = time(NULL);
    setsockopt(SSL_get_fd(ssl), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    session_hello(ssl, NULL);
    SSL_write(ssl, half, sizeof half);
    while (session_hear(ssl, m) && time(NULL) - begin < seconds)
        ;
    free(m);
    if (is_open(SSL_get_fd(ssl)))
        session_die("it waits for the rest of a frame");
    printf("hung up on after %d s\n", (int)(time(NULL) - begin));
}

static void expect_unknown(SSL *ssl, const char *what)
{
    struct message *m = malloc(sizeof *m);
    bool told = false;
    while (!told && session_hear(ssl, m)) {
        told = m->kind == MSG_lease_ended;
        if (m->kind == MSG_lease_launched || m->kind == MSG_lease_renewed)
            told = m->kind == MSG_lease_renewed && m->lease_renewed.leases == 0;
        if (m->kind == MSG_lease_launched)
            break;
    }
    free(m);
    if (!told)
        session_die(what);
}

/* What its lanes have made is told to its holder alone. */
static void expect_no_results(SSL *ssl, struct message *m, const struct id *lease)
{
    bool told = false;
    *m = (struct message){.kind = MSG_results_ask, .results_ask.lease = *lease};
    session_put(ssl, m);
    *m = (struct message){.kind = MSG_results_read, .results_read.lease = *lease};
    m->results_read.path = (const uint8_t *)"out";
    m->results_read.path_length = 3;
    m->results_read.length = 1;
    session_put(ssl, m);
    while (!told && session_hear(ssl, m)) {
        told = m->kind == MSG_results_bytes;
        if ((told && (m->results_bytes.reason[0] == '\0' || m->results_bytes.data_length > 0)) ||
            (m->kind == MSG_results_names && m->results_names.reason[0] == '\0'))
            session_die("another's results were told");
    }
    if (!told)
        session_die("who asks for another's results is told nothing");
}

/* Confirm, renew, launch under and release a lease that another peer holds. */
static void use_lease(const char *keys, const char *text)
{
    struct id lease;
    if (!id_parse(&lease, text))
        session_die("that is no lease");
    SSL *ssl = session_enter(keys);
    struct message *m = calloc(1, sizeof *m);
    session_hello(ssl, NULL);
    *m = (struct message){.kind = MSG_lease_launch};
    m->lease_launch.lease = lease;
    static const uint8_t signature[64];
    m->lease_launch.manifest = (const uint8_t *)"exit 0"; /* whose lease it is comes first */
    m->lease_launch.manifest_length = 6;
    m->lease_launch.signature = signature;
    m->lease_launch.signature_length = sizeof signature;
    session_put(ssl, m);
    expect_unknown(ssl, "a command was started under another's lease");
    struct msg_lease_renew renew = {.leases_count = 1, .leases = {{.lease = lease}}};
    *m = (struct message){.kind = MSG_lease_renew, .lease_renew = &renew};
    session_put(ssl, m);
    expect_unknown(ssl, "another's lease was renewed");
    expect_no_results(ssl, m, &lease);
    *m = (struct message){.kind = MSG_lease_release};
    m->lease_release.lease = lease;
    session_put(ssl, m);
    *m = (struct message){.kind = MSG_tunnel_open};
    m->tunnel_open.lease = lease;
    session_put(ssl, m);
    *m = (struct message){.kind = MSG_lease_confirm};
    m->lease_confirm.lease = lease;
    session_put(ssl, m);
    expect_unknown(ssl, "another's lease was confirmed"); /* all before it was heard by then */
    free(m);
}

static void send_file(const char *keys, const char *path)
{
    static uint8_t frame[WIRE_MAX_FRAME];
    FILE *f = fopen(path, "re");
    size_t length = f != NULL ? fread(frame, 1, sizeof frame, f) : 0;
    SSL *ssl = session_enter(keys);
    struct message *m = calloc(1, sizeof *m);
    session_hello(ssl, NULL);
    SSL_write(ssl, frame, (int)length);
    *m = (struct message){.kind = MSG_ad_ask};
    session_put(ssl, m);
    while (m->kind != MSG_ad_answer) /* the frame was heard by then */
        if (!session_hear(ssl, m))
            session_die("it hung up");
    free(m);
}

/* --- a session once more --- */

struct tape {
    uint8_t bytes[TAPE];
    size_t length;
};

static long record(BIO *bio, int what, const char *bytes, size_t length, int number, long more,
                   int rc, size_t *done)
{
    struct tape *tape = (struct tape *)(void *)BIO_get_callback_arg(bio);
    (void)number, (void)more, (void)done;
    if (what == BIO_CB_WRITE && tape->length + length <= sizeof tape->bytes) {
        memcpy(tape->bytes + tape->length, bytes, length);
        tape->length += length;
    }
    return rc;
}

static void replay(const char *keys)
{
    static struct tape tape;
    struct message *m = calloc(1, sizeof *m);
    SSL *ssl = session_start(keys, TLS1_3_VERSION, session_dial_or_die());
    BIO_set_callback_ex(SSL_get_wbio(ssl), record);
    BIO_set_callback_arg(SSL_get_wbio(ssl), (char *)&tape);
    if (SSL_connect(ssl) != 1 || !session_hear(ssl, m))
        session_die("a member is not let in");
    session_hello(ssl, NULL);
    *m = (struct message){.kind = MSG_lease_ask};
    m->lease_ask.slots = 1;
    session_put(ssl, m);
    while (m->kind != MSG_lease_answer)
        if (!session_hear(ssl, m))
            session_die("a member is not answered");
    free(m);
    SSL_free(ssl);
    int fd = session_dial_or_die();
    put(fd, tape.bytes, tape.length);
    expect_hung_up(fd, "a session can be replayed");
    printf("replayed %zu bytes\n", tape.length);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "", *a = argc > 3 ? argv[3] : NULL;
    const char *b = argc > 4 ? argv[4] : "";
    if (argc < 3 || !session_target(argv[1])) {
        fputs(usage, stderr);
        return 2;
    }
    if (strcmp(what, "bytes") == 0)
        send_bytes();
    else if (strcmp(what, "shake") == 0)
        expect_refused(session_start(a, TLS1_3_VERSION, session_dial_or_die()), "it was let in");
    else if (strcmp(what, "tls12") == 0)
        expect_refused(session_start(a, TLS1_2_VERSION, session_dial_or_die()),
                       "TLS 1.2 was let in");
    else if (strcmp(what, "frame") == 0)
        send_nonsense(a, b);
    else if (strcmp(what, "lease") == 0)
        use_lease(a, b);
    else if (strcmp(what, "send") == 0)
        send_file(a, b);
    else if (strcmp(what, "stall") == 0)
        stall(a, atoi(b));
    else if (strcmp(what, "replay") == 0)
        replay(a);
    else if (strcmp(what, "hold") == 0)
        hold((unsigned)atoi(a), strcmp(b, "half") == 0);
    else
        session_die("what?");
    return 0;
}
