/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.h -- frames between the processes of one job, by process: each once, whole and in
 * order.
 *
 * Processes are numbered without gaps, as in the job that started them. The engine numbers replicas
 * (src/replica/engine.h); only its caller knows both.
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
    TRANSPORT_SMALL = 64 * 1024, /* up to here a payload arrives in one piece, without `place` */
    TRANSPORT_BACKLOG = 4 << 20, /* bytes: a caller that may wait should not let more wait here */
    TRANSPORT_RKEY = 16          /* bytes of a remote key */
};

struct transport;

struct transport_events {
    void *arg;
    /* The head of a large frame is here: where does its payload go? NULL: nowhere, it is thrown
     * away. The room belongs to the transport until `arrived`, or until `lost` names the sender. */
    void *(*place)(void *arg, uint32_t from, const void *head, size_t head_length, size_t length);
    /* A frame is complete. The payload is in the room that `place` gave; that of a small frame
     * belongs to the transport and is gone after the call. */
    void (*arrived)(void *arg, uint32_t from, const void *head, size_t head_length, void *payload,
                    size_t length);
    /* The transport has no more need of the payload sent with this token. Called for every token,
     * also when the peer is lost or dropped. */
    void (*sent)(void *arg, uint32_t to, void *token);
    /* Nothing more will come from this peer, and nothing more will reach it. Called once. */
    void (*lost)(void *arg, uint32_t peer, const char *reason);
    /* What the peer's transport_address() returned, in memory of the caller; NULL: not known (then
     * nothing can be sent to it before it has connected: it is lost). */
    const char *(*address)(void *arg, uint32_t peer);
};

struct transport_options {
    uint32_t self, count; /* processes are 0 .. count - 1 */
    uint64_t job;
    uint8_t secret[32]; /* the job's: a process without it is not let in */
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

/* What does a frame wake up, on this host? A frame that is not URGENT is found at the latest when
 * the receiver polls by itself. Frames that are sent while others are read wake when these are
 * read, or 8 MiB of memory: a window of large messages is read in one go, and each answer would
 * wake the sender, which finds one and waits on. Over TCP they are written then, in one segment. */
enum transport_urgency {
    TRANSPORT_URGENT, /* whatever sleeps at the links, the program or the progress thread */
    TRANSPORT_NEWS, /* the program only: the progress thread (transport_progress()) could do nothing
                       with it */
    TRANSPORT_SOON, /* the same; over TCP it goes in one segment with the next frames, or else at
                       this process's next poll */
    TRANSPORT_QUIET, /* nothing; over TCP as SOON */
};

/* Takes one frame for a peer other than this process. Without a token the payload is copied if it
 * cannot leave at once. 0: taken, `sent` follows if there is a token. 1: taken, and the payload is
 * no longer needed (`sent` is not called). -EPIPE: the peer is lost; nothing is called later.
 * -ENOMEM. */
int transport_send(struct transport *t, uint32_t to, enum transport_urgency urgency,
                   const void *head, size_t head_length, const void *payload, size_t length,
                   void *token);
/* The same without a token, for a caller that keeps the payload anyway: -EAGAIN where it cannot
 * leave at once, into the ring to a process of this host, or where more than TRANSPORT_BACKLOG
 * waits. Room that comes in a ring then wakes, and counts as a frame that went. */
int transport_try(struct transport *t, uint32_t to, enum transport_urgency urgency,
                  const void *head, size_t head_length, const void *payload, size_t length);
/* Bytes taken and not yet with the peer's host (TCP) or in its ring. */
size_t transport_backlog(const struct transport *t, uint32_t to);
/* Is all that was sent to this process with its host, so that this one may end? Over TCP, what is
 * still in this host's kernel is thrown away when a connection is closed on which something has
 * come that was not read (RFC 1122, 4.2.2.13). */
bool transport_delivered(const struct transport *t, uint32_t to);
/* Is all that was sent to this process where it will read it, even if this one dies now? True on
 * one host alone: the peer's ring stays, and its transport_drained() waits for what is in it. */
bool transport_survives(const struct transport *t, uint32_t to);
/* This peer is said to be dead. True when all that it has sent was brought; until then poll, and
 * ask again. From the first call on, its transport_survives() is false. */
bool transport_drained(struct transport *t, uint32_t from);
/* Exposes memory to a peer, which may read it until it is revoked; `rkey` tells the peer where.
 * False: it cannot read this process's memory, or too much is exposed to it already. */
bool transport_expose(struct transport *t, uint32_t to, const void *bytes,
                      uint8_t rkey[TRANSPORT_RKEY]);
void transport_revoke(struct transport *t, uint32_t from, const uint8_t rkey[TRANSPORT_RKEY]);
/* Reads what a peer has exposed. False: it is exposed no more, and `to` may hold anything. */
bool transport_remote_read(struct transport *t, uint32_t from, const uint8_t rkey[TRANSPORT_RKEY],
                           void *to, size_t length);
/* Is a peer of this host reading from this process's memory? It will soon be done. */
bool transport_is_being_read(const struct transport *t);
/* Of the time since this was last asked, which is gap_ms: for how long has the peer had the
 * processor, or wanted none? With `anew` it counts from now on, and so far not at all. All of it
 * where that is not known: of other hosts, and without a connection. */
uint64_t transport_turn_ms(struct transport *t, uint32_t process, uint64_t gap_ms, bool anew);
/* Does what is sent to this process go over a network? Not known, and so false, before there is a
 * connection. */
bool transport_is_far(const struct transport *t, uint32_t to);
/* How many processes of this host there are links to. */
unsigned transport_near(const struct transport *t);
/* Was there ever a connection? */
bool transport_met(const struct transport *t, uint32_t to);
/* How many connections were made so far, in either direction. */
unsigned transport_connections(const struct transport *t);

/* Moves what can be moved; sleeps up to timeout_ms (-1: no limit) when there is nothing. Returns
 * how many frames came or went. */
int transport_poll(struct transport *t, int timeout_ms);

/* The same for a caller that sleeps elsewhere, until transport_descriptor() is readable (the
 * progress thread): moves what can be moved, and says whether more has come since. */
bool transport_progress(struct transport *t);
int transport_descriptor(const struct transport *t);

/* This peer is dead or has said good-bye: closes its connection. Nothing is called for it later
 * except `sent`. */
void transport_drop(struct transport *t, uint32_t peer);
#endif
