/* SPDX-License-Identifier: BSD-3-Clause */
/* datagram.c -- datagrams between real peers over loopback: a link is made for their keys, a
 * restart costs a moment, and nobody else is heard. */
#include "overlay/base/addr.h"
#include "overlay/membership/authority.h"
#include "overlay/transport/datagram.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { PEERS = 2, MANY = 50 };

struct peer {
    struct identity *identity;
    struct links *links;
    struct datagrams *datagrams;
    struct part_peer at;
    struct id heard_from;
    unsigned count;
};

struct grid {
    char folder[64];
    struct event_base *base;
    struct log *log;
    struct peer peers[PEERS];
};

static void on_word(void *ctx, const struct part_peer *from, const struct message *m)
{
    struct peer *p = ctx;
    assert_int_equal(m->kind, MSG_group_nack);
    p->heard_from = from->id;
    p->count++;
}

static bool on_link(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct peer *p = ctx;
    if (message_receiver(m->kind) == RECEIVER_datagram)
        datagrams_take(p->datagrams, from, m);
    else if (message_receiver(m->kind) == RECEIVER_group)
        on_word(p, &from->peer, m);
    return true;
}

static void open_peer(struct grid *g, int i)
{
    struct peer *p = &g->peers[i];
    struct settings s = {.listen = "127.0.0.1:0"};
    struct err e = {0};
    char keys[128];
    snprintf(keys, sizeof keys, "%s/p%d", g->folder, i);
    memset(p, 0, sizeof *p);
    assert_int_equal(identity_load(&p->identity, keys, &e), 0);
    assert_int_equal(links_open(&p->links, g->base, &s, p->identity, g->log, &e), 0);
    assert_int_equal(datagrams_open(&p->datagrams, g->base, p->links), 0);
    p->at = links_self(p->links);
    datagrams_on_message(p->datagrams, on_word, p);
    links_on_message(p->links, on_link, p);
}

static void close_peer(struct peer *p)
{
    datagrams_close(p->datagrams);
    links_close(p->links);
    identity_free(p->identity);
}

static int set_up(void **state)
{
    struct grid *g = calloc(1, sizeof *g);
    struct authority *a;
    struct err e = {0};
    char grid[128], keys[128];
    strcpy(g->folder, "/tmp/p2pgrid-datagram-XXXXXX");
    assert_non_null(mkdtemp(g->folder));
    snprintf(grid, sizeof grid, "%s/grid", g->folder);
    assert_int_equal(authority_create(grid, "fen", &(struct authority_terms){.days = 10}, &e), 0);
    assert_int_equal(authority_open(&a, grid, &e), 0);
    g->base = event_base_new();
    g->log = log_open("/dev/null", "test", LOG_LEVEL_ERROR);
    for (int i = 0; i < PEERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(keys, sizeof keys, "%s/%s", g->folder, name);
        struct authority_order order = {.peer = name, .days = 10};
        assert_int_equal(authority_issue(a, &order, keys, &e), 0);
        open_peer(g, i);
    }
    authority_close(a);
    *state = g;
    return 0;
}

static int clean_up(void **state)
{
    struct grid *g = *state;
    char command[128];
    for (int i = 0; i < PEERS; i++)
        close_peer(&g->peers[i]);
    event_base_loop(g->base, EVLOOP_NONBLOCK);
    event_base_free(g->base);
    log_close(g->log);
    snprintf(command, sizeof command, "rm -rf '%s'", g->folder);
    free(g);
    return system(command);
}

static void turn(struct grid *g)
{
    event_base_loopexit(g->base, &(struct timeval){.tv_usec = 10000});
    event_base_loop(g->base, EVLOOP_ONCE);
}

static void send_kind(struct peer *from, const struct part_peer *to, enum message_kind kind)
{
    struct message m = {.kind = kind};
    uint8_t frame[64];
    size_t length = message_encode(&m, frame, sizeof frame);
    datagram_send(from->datagrams, to, frame, length);
}

/* Any one may be lost; of many, one a turn, enough arrive within 20 s. */
static void exchange(struct grid *g, struct peer *from, struct peer *to, unsigned wanted)
{
    unsigned before = to->count;
    for (int i = 0; to->count < before + wanted && i < 2000; i++) {
        send_kind(from, &to->at, MSG_group_nack);
        turn(g);
    }
    assert_true(to->count >= before + wanted);
    assert_true(id_equal(&to->heard_from, &from->at.id));
}

static void test_both_ways(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    exchange(g, a, b, MANY);
    exchange(g, b, a, MANY);
    assert_int_equal(links_count(a->links), 1);
    size_t link = links_backlog(a->links);
    send_kind(a, &b->at, MSG_group_nack);
    assert_int_equal(links_backlog(a->links), link); /* it did not go over the link */
}

/* What no datagram may carry, and noise at the port. */
static void test_only_what_was_asked_for(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    exchange(g, a, b, MANY);
    for (int i = 0; i < MANY; i++) {
        uint8_t noise[1500];
        struct sockaddr_storage to;
        socklen_t size = addr_to_sock(&b->at.addr, &to);
        memset(noise, i, sizeof noise);
        assert_true(sendto(links_datagrams(a->links), noise, (size_t)i * 30, 0,
                           (struct sockaddr *)&to, size) >= 0);
        send_kind(a, &b->at, MSG_pong); /* on_word() would see it */
        turn(g);
    }
    exchange(g, a, b, 1);
}

/* Keys die with the daemon that made them. */
static void test_started_again(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    exchange(g, a, b, MANY);
    close_peer(b);
    open_peer(g, 1);
    exchange(g, b, a, 1);
    exchange(g, a, b, MANY);
}

/* Who is no member any more is not heard, whatever keys it has. */
static void test_forgotten(void **state)
{
    struct grid *g = *state;
    struct peer *a = &g->peers[0], *b = &g->peers[1];
    exchange(g, a, b, MANY);
    for (int i = 0; i < 5; i++)
        turn(g); /* nothing is on its way any more */
    unsigned before = b->count;
    datagrams_forget(b->datagrams, &a->at.id);
    send_kind(a, &b->at, MSG_group_nack);
    for (int i = 0; i < 5; i++)
        turn(g);
    assert_int_equal(b->count, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_both_ways, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_only_what_was_asked_for, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_started_again, set_up, clean_up),
        cmocka_unit_test_setup_teardown(test_forgotten, set_up, clean_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
