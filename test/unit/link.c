/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c -- links between real peers over loopback: nothing is lost, doubled or out of order,
 * whichever dials. */
#include "overlay/base/addr.h"
#include "overlay/membership/authority.h"
#include "overlay/transport/connection_state.h"
#include "overlay/transport/link_state.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <event2/bufferevent.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { PEERS = 3, MANY = 2000 };

struct peer {
    struct identity *identity;
    struct links *links;
    struct part_peer at;
    uint32_t heard; /* the last token */
    unsigned count, gone;
    bool in_order;
    unsigned version;
};

struct grid {
    char folder[64];
    struct event_base *base;
    struct log *log;
    struct peer peers[PEERS];
};

static bool on_ping(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct peer *p = ctx;
    p->version = from->version;
    p->in_order = p->in_order && m->ping.token == p->heard + 1;
    p->heard = m->ping.token;
    p->count++;
    return true;
}

static void on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct peer *p = ctx;
    (void)peer;
    assert_true(strlen(why) > 0);
    p->gone++;
}

static void open_peer(struct grid *g, struct peer *p, const char *keys)
{
    struct settings s = {.listen = "127.0.0.1:0"};
    struct err e = {0};
    memset(p, 0, sizeof *p);
    p->in_order = true;
    assert_int_equal(identity_load(&p->identity, keys, &e), 0);
    assert_int_equal(links_open(&p->links, g->base, &s, p->identity, g->log, &e), 0);
    p->at = links_self(p->links);
    links_on_message(p->links, on_ping, p);
    assert_int_equal(links_on_gone(p->links, on_gone, p), 0);
}

static void issue(struct grid *g, const char *grid, const char *name, int days)
{
    struct authority *a;
    struct authority_order order = {.peer = name, .days = days};
    struct err e = {0};
    char from[128], to[128];
    snprintf(from, sizeof from, "%s/%s", g->folder, grid);
    snprintf(to, sizeof to, "%s/%s-%s", g->folder, grid, name);
    if (access(from, F_OK) < 0)
        assert_int_equal(authority_create(from, grid, &(struct authority_terms){.days = 10}, &e),
                         0);
    assert_int_equal(authority_open(&a, from, &e), 0);
    assert_int_equal(authority_issue(a, &order, to, &e), 0);
    authority_close(a);
}

static int set_up(void **state)
{
    struct grid *g = calloc(1, sizeof *g);
    strcpy(g->folder, "/tmp/p2pgrid-link-XXXXXX");
    assert_non_null(mkdtemp(g->folder));
    g->base = event_base_new();
    g->log = log_open("/dev/null", "test", LOG_LEVEL_ERROR);
    for (int i = 0; i < PEERS; i++) {
        char name[16], keys[128];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(keys, sizeof keys, "%s/fen-%s", g->folder, name);
        issue(g, "fen", name, 10);
        open_peer(g, &g->peers[i], keys);
    }
    *state = g;
    return 0;
}

static void close_peer(struct peer *p)
{
    links_close(p->links);
    identity_free(p->identity);
    p->links = NULL;
    p->identity = NULL;
}

static int clean_up(void **state)
{
    struct grid *g = *state;
    char command[128];
    for (int i = 0; i < PEERS; i++)
        close_peer(&g->peers[i]);
    event_base_free(g->base);
    log_close(g->log);
    snprintf(command, sizeof command, "rm -rf '%s'", g->folder);
    free(g);
    return system(command);
}

/* Turns the loop until *what has become at least `wanted`; fails after 10 s. */
static void turn_until(struct grid *g, const unsigned *what, unsigned wanted)
{
    for (int i = 0; *what < wanted && i < 1000; i++) {
        event_base_loopexit(g->base, &(struct timeval){.tv_usec = 10000});
        event_base_loop(g->base, EVLOOP_ONCE);
    }
    if (*what < wanted)
        fail_msg("%u instead of %u", *what, wanted);
}

static void send_pings(struct peer *from, const struct peer *to, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct message m = {.kind = MSG_ping, .ping.token = first + i};
        assert_int_equal(link_send(from->links, &to->at, &m), 0);
    }
}

static void test_both_dial_at_once(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    for (uint32_t i = 0; i < MANY; i++) {
        send_pings(a, b, i + 1, 1);
        send_pings(b, a, i + 1, 1);
        if (i % 10 == 0)
            event_base_loop(g->base, EVLOOP_NONBLOCK);
    }
    turn_until(g, &a->count, MANY);
    turn_until(g, &b->count, MANY);
    assert_true(a->in_order && b->in_order);
    assert_int_equal(a->count, MANY);
    assert_int_equal(a->gone + b->gone, 0);
}

/* From now on the kernel loses all that comes in for this peer, as if it had vanished. */
static void go_deaf(struct peer *p, const struct id *to)
{
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog filter = {.len = 1, .filter = &nothing};
    const struct peer_link *f = idmap_get(&p->links->peer_links, to);
    for (unsigned i = 0; i < f->count; i++)
        assert_int_equal(setsockopt(bufferevent_getfd(f->all[i]->bev), SOL_SOCKET, SO_ATTACH_FILTER,
                                    &filter, sizeof filter),
                         0);
}

/* One of the two connections has nothing on its way, so nothing is missing there. */
static void test_vanishes_behind_two(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    send_pings(a, b, 1, 1);
    send_pings(b, a, 1, 1);
    turn_until(g, &a->count, 1);
    turn_until(g, &b->count, 1);
    assert_int_equal(links_count(a->links), 2);
    usleep(50000); /* for the last acknowledgements */
    assert_true(link_heard(a->links, &b->at.id, 20));
    assert_true(link_answers(a->links, &b->at.id));
    go_deaf(b, &a->at.id);
    send_pings(a, b, 2, 1);
    event_base_loop(g->base, EVLOOP_NONBLOCK);
    usleep(100000);
    assert_false(link_heard(a->links, &b->at.id, 50));
    sleep(2);
    assert_false(link_answers(a->links, &b->at.id));
}

/* What they say before they have said hello waits, and is heard in order, too. */
static void test_two_versions(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    a->links->hello.highest = WIRE_HIGHEST + 3;
    b->links->hello.lowest = 1;
    send_pings(a, b, 1, MANY);
    send_pings(b, a, 1, MANY);
    turn_until(g, &a->count, MANY);
    turn_until(g, &b->count, MANY);
    assert_true(a->in_order && b->in_order);
    assert_int_equal(a->version, WIRE_HIGHEST);
    assert_int_equal(b->version, WIRE_HIGHEST);
}

static void test_no_version_in_common(void **state)
{
    struct grid *g = *state;
    struct peer *old = &g->peers[0], *young = &g->peers[1];
    char line[300];
    old->links->hello.lowest = 4;
    old->links->hello.highest = 5;
    send_pings(young, old, 1, 3);
    turn_until(g, &young->gone, 1);
    for (int i = 0; i < 100; i++) { /* the other side has to hear of it, too */
        event_base_loopexit(g->base, &(struct timeval){.tv_usec = 10000});
        event_base_loop(g->base, EVLOOP_ONCE);
        links_other_versions(old->links, line, sizeof line);
        if (line[0] != '\0')
            break;
    }
    char expected[300];
    const struct version_range ancient = {4, 5}, ours = {WIRE_LOWEST, WIRE_HIGHEST};
    version_refusal(expected, sizeof expected, "p1", "127.0.0.1", ours, ancient);
    assert_string_equal(line, expected);
    links_other_versions(young->links, line, sizeof line);
    version_refusal(expected, sizeof expected, "p0", "127.0.0.1", ancient, ours);
    assert_string_equal(line, expected);
    assert_int_equal(old->count + young->count, 0);
}

static void test_to_itself(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0];
    send_pings(a, a, 1, 10);
    assert_int_equal(a->count, 0); /* not from within link_send() */
    turn_until(g, &a->count, 10);
    assert_true(a->in_order);
}

static void test_bounded(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0];
    uint8_t frame[256] = {0};
    int rc = 0;
    for (int i = 0; i < 100000 && rc == 0; i++)
        rc = link_send_frame(a->links, &g->peers[1].at, frame, sizeof frame);
    assert_int_equal(rc, -ENOBUFS);
    assert_true(link_backlog(a->links, &g->peers[1].at.id) <= 4 * 1024 * 1024);
    struct part_peer nowhere = {.id.b[0] = 1};
    assert_int_equal(link_send_frame(a->links, &nowhere, frame, sizeof frame), -EHOSTUNREACH);
}

static void test_gone(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1], *c = &g->peers[2];
    send_pings(a, b, 1, 1);
    turn_until(g, &b->count, 1);
    close_peer(b); /* a link that breaks */
    turn_until(g, &a->gone, 1);
    send_pings(a, b, 2, 1); /* nobody listens */
    turn_until(g, &a->gone, 2);
    struct part_peer wrong = c->at; /* another peer than expected */
    wrong.id.b[0] ^= 1;
    struct message m = {.kind = MSG_ping};
    assert_int_equal(link_send(a->links, &wrong, &m), 0);
    turn_until(g, &a->gone, 3);
    assert_int_equal(c->count, 0);
}

static void test_started_again(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    char keys[128];
    snprintf(keys, sizeof keys, "%s/fen-p1", g->folder);
    send_pings(a, b, 1, 1);
    turn_until(g, &b->count, 1);
    close_peer(b);
    open_peer(g, b, keys);
    send_pings(b, a, 1, 5);
    turn_until(g, &a->count, 5);
    send_pings(a, b, 1, 5);
    turn_until(g, &b->count, 5);
    assert_true(b->in_order);
}

static void on_met(void *ctx, const struct addr *at, const struct link_peer *who, const char *why)
{
    unsigned *met = ctx;
    (void)at;
    assert_true((who != NULL) == (why == NULL));
    *met += who != NULL ? 1 : 100;
}

static void test_meet(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    unsigned met = 0;
    assert_int_equal(links_meet(a->links, &b->at.addr, on_met, &met), 0);
    turn_until(g, &met, 1);
    assert_int_equal(links_count(a->links), 1);
    assert_int_equal(links_meet(a->links, &b->at.addr, on_met, &met), 0);
    turn_until(g, &met, 2);
    assert_int_equal(links_count(a->links), 1); /* the same one */
    struct addr nobody = b->at.addr;
    close_peer(b);
    turn_until(g, &a->gone, 1);
    assert_int_equal(links_meet(a->links, &nobody, on_met, &met), 0);
    turn_until(g, &met, 102);
}

/* A peer that says that it listens where it does not is not the one that is met there. */
static void test_claimed_address(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *c = &g->peers[2];
    unsigned met = 0;
    char keys[128];
    struct settings s = {.listen = "127.0.0.1:0", .address = "127.0.0.9"};
    struct err e = {0};
    snprintf(keys, sizeof keys, "%s/fen-claims", g->folder);
    issue(g, "fen", "claims", 10);
    close_peer(c);
    memset(c, 0, sizeof *c);
    assert_int_equal(identity_load(&c->identity, keys, &e), 0);
    assert_int_equal(links_open(&c->links, g->base, &s, c->identity, g->log, &e), 0);
    c->at = links_self(c->links);
    send_pings(c, a, 1, 1);
    turn_until(g, &a->count, 1);
    assert_int_equal(links_meet(a->links, &c->at.addr, on_met, &met), 0);
    assert_int_equal(met, 0);
    turn_until(g, &met, 100);
}

static void refused(struct grid *g, const char *grid, const char *name, int days)
{
    struct peer *a = &g->peers[0], stranger;
    char keys[128];
    struct identity *ok;
    struct err e = {0};
    issue(g, grid, name, days);
    snprintf(keys, sizeof keys, "%s/%s-%s", g->folder, grid, name);
    if (identity_load(&ok, keys, &e) < 0)
        return; /* it does not even start */
    identity_free(ok);
    open_peer(g, &stranger, keys);
    send_pings(&stranger, a, 1, 1);
    send_pings(a, &stranger, 1, 1);
    unsigned gone = a->gone;
    turn_until(g, &stranger.gone, 1);
    turn_until(g, &a->gone, gone + 1);
    assert_int_equal(stranger.count + a->count, 0);
    close_peer(&stranger);
}

static void test_strangers(void **state)
{
    struct grid *g = *state;
    refused(g, "bog", "p1", 10);
    refused(g, "fen", "late", -1);
}

static int dial_raw(const struct peer *to)
{
    struct sockaddr_storage s;
    socklen_t length = addr_to_sock(&to->at.addr, &s);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&s, length), 0);
    return fd;
}

static void test_noise_on_the_port(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0];
    uint8_t noise[4096];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(i * 131 + 7);
    for (int i = 0; i < 50; i++) {
        int fd = dial_raw(a);
        assert_true(send(fd, noise, sizeof noise, MSG_NOSIGNAL) > 0);
        event_base_loop(g->base, EVLOOP_NONBLOCK);
        close(fd);
    }
    for (int i = 0; i < 200 && links_count(a->links) > 0; i++) {
        event_base_loopexit(g->base, &(struct timeval){.tv_usec = 10000});
        event_base_loop(g->base, EVLOOP_ONCE);
    }
    assert_int_equal(links_count(a->links), 0);
    send_pings(&g->peers[1], a, 1, 1); /* members get through all the same */
    turn_until(g, &a->count, 1);
}

static void test_flood_is_bounded(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0];
    int fds[300];
    for (int i = 0; i < 300; i++) {
        fds[i] = dial_raw(a);
        event_base_loop(g->base, EVLOOP_NONBLOCK);
    }
    assert_true(links_count(a->links) <= 128);
    for (int i = 0; i < 300; i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_both_dial_at_once, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_vanishes_behind_two, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_two_versions, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_no_version_in_common, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_to_itself, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_bounded, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_gone, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_started_again, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_meet, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_claimed_address, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_strangers, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_noise_on_the_port, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_flood_is_bounded, set_up, clean_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
