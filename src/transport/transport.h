/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.h -- frames between the processes of one job, by vpid: each once, whole and in order.
 *
 * A frame is a short head, which only the caller understands, and a payload of any length. It
 * travels through a shared-memory ring between processes of one host, else over TCP. Connections
 * are made on first use. A payload given with a token is not copied: it must stay as it is until
 * `sent` names the token. A broken TCP connection is tried again before it is believed and goes on
 * where it was; only a refusal is believed at once.
 *
 * Upcalls come from transport_poll alone, never out of transport_send; they may call transport_send
 * and transport_drop. One thread at a time. */
#ifndef P2P_SRC_TRANSPORT_TRANSPORT_H
#define P2P_SRC_TRANSPORT_TRANSPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRANSPORT_HEAD = 240,        /* bytes of a head, at most */
    TRANSPORT_SMALL = 16 * 1024, /* up to here a payload arrives in one piece, without `place` */
    TRANSPORT_LOAN = 16          /* bytes of a loan */
};

struct transport;

struct transport_events {
    void *arg;
    /* The head of a large frame is here: where does its payload go? NULL: nowhere, it is thrown
     * away. The room is the transport's until `arrived`, or until `lost` names the sender. */
    void *(*place)(void *arg, uint32_t from, const void *head, size_t head_length, size_t length);
    /* A frame is complete. The payload is in the room that `place` gave; that of a small frame is
     * the transport's own and gone after the call. */
    void (*arrived)(void *arg, uint32_t from, const void *head, size_t head_length, void *payload,
                    size_t length);
    /* The transport has no more need of the payload sent with this token. Said for every token,
     * also when the peer is lost or dropped. */
    void (*sent)(void *arg, uint32_t to, void *token);
    /* Nothing more will come from this peer, and nothing more will reach it. Said once. */
    void (*lost)(void *arg, uint32_t peer, const char *reason);
    /* What the peer's transport_address() returned, in memory of the caller's; NULL: not known
     * (then nothing can be sent to it before it has connected: it is lost). */
    const char *(*address)(void *arg, uint32_t peer);
};

struct transport_options {
    uint32_t self, count; /* vpids are 0 .. count - 1 */
    uint64_t job;
    uint8_t secret[32]; /* the job's: who does not have it is not let in */
    bool encrypt;       /* what goes over TCP; all processes of a job alike */
    const char *listen; /* numeric addresses with commas; NULL: those of the host, or loopback if it
                           has no other */
    bool shared_memory; /* between processes of one host */
    unsigned retry_ms;  /* how long a broken connection is tried again */
    unsigned silence_ms; /* a connection on which nothing is acknowledged for so long is broken; 0:
                            the system's */
};

/* 0 or -errno. */
int transport_open(struct transport **t, const struct transport_options *o,
                   const struct transport_events *e);
void transport_close(struct transport *t);
/* One line of text, for the others. */
const char *transport_address(const struct transport *t);

/* Whom does a frame wake up, on this host? What is not URGENT is found at the latest when he looks
 * by himself. */
enum transport_urgency {
    TRANSPORT_URGENT, /* who sleeps at the links, for the program or beside it */
    TRANSPORT_NEWS,   /* the program only: who looks after the links beside it (transport_attend())
                         could do nothing with it */
    TRANSPORT_QUIET,  /* nobody */
};

/* Takes one frame for a peer other than oneself. Without a token the payload is copied if it cannot
 * leave at once. 0: taken, `sent` will follow if there is a token. 1: taken, and the payload is no
 * longer needed (`sent` is not said). -EPIPE: the peer is lost; nothing is said later. -ENOMEM. */
int transport_send(struct transport *t, uint32_t to, enum transport_urgency urgency,
                   const void *head, size_t head_length, const void *payload, size_t length,
                   void *token);
/* Bytes taken and not yet with the peer's host (TCP) or in its ring. */
size_t transport_backlog(const struct transport *t, uint32_t to);
/* Has the operating system taken over all that was given for this process? It may not have arrived:
 * over TCP that is known later, when something comes back. */
bool transport_written(const struct transport *t, uint32_t to);
/* Is all that was given for this process where it will read it, even if this one dies now? True on
 * one host alone: the peer's ring stays, and its transport_drained() waits for what is in it. */
bool transport_keeps(const struct transport *t, uint32_t to);
/* This peer is said to be dead. True when all that it has sent was brought; until then poll, and
 * ask again. Where its transport_keeps() could be true it is not from the first time on. */
bool transport_drained(struct transport *t, uint32_t from);
/* Memory for a peer to read, without a word more: until it is taken back. `loan` tells the peer
 * where. False: it cannot read this process's memory, or is lent too much already. */
bool transport_lend(struct transport *t, uint32_t to, const void *bytes,
                    uint8_t loan[TRANSPORT_LOAN]);
void transport_take_back(struct transport *t, uint32_t from, const uint8_t loan[TRANSPORT_LOAN]);
/* Reads what a peer has lent. False: it is lent no more, and `to` may hold anything. */
bool transport_borrow(struct transport *t, uint32_t from, const uint8_t loan[TRANSPORT_LOAN],
                      void *to, size_t length);
/* Is a peer of this host reading from this process's memory? It will soon be done. */
bool transport_lends(const struct transport *t);
/* Was there ever a connection? */
bool transport_met(const struct transport *t, uint32_t to);

/* Moves what can be moved; sleeps up to timeout_ms (-1: no limit) when there is nothing. Returns
 * how many frames came or went. */
int transport_poll(struct transport *t, int timeout_ms);

/* The same for a caller who sleeps elsewhere, until transport_descriptor() is readable: moves what
 * can be moved, and says whether more has come since. */
bool transport_attend(struct transport *t);
int transport_descriptor(const struct transport *t);

/* This peer is dead or has said good-bye: closes its connection, says nothing of it later but
 * `sent`. */
void transport_drop(struct transport *t, uint32_t peer);
#endif
