/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint.h -- what the files of the transport share: a peer, its queue, the frame on its way in.
 *
 * transport.c  open, send, poll, and what becomes of a peer
 * greet.c      listening, connecting, who is who
 * tcp.c        frames on a TCP connection, kept until acknowledged
 * shm.c        frames in two shared rings; the socket beside them only wakes, and tells of death */
#ifndef P2P_ENDPOINT_H
#define P2P_ENDPOINT_H
#include "transport.h"
#include <sys/uio.h>

enum { LISTENERS = 8, ADDRESS_TEXT = 1024, KEY_BYTES = 16, PENDINGS = 64 };

/* Of a connection between two processes. Each may try; when both do, that of the lower vpid stands.
 */
enum link_state {
    LINK_NONE,       /* nothing tried yet */
    LINK_CONNECTING, /* connect() under way */
    LINK_GREETING,   /* our greeting is out, the verdict is not in */
    LINK_AWAITING,   /* the peer's own attempt stands; it is on its way */
    LINK_OPEN,
    LINK_BROKEN, /* to be tried again before the deadline */
    LINK_LOST
};

/* What epoll points to. */
struct watch {
    void (*ready)(struct transport *t, struct watch *w, uint32_t events);
};

/* A frame on its way out; owns a copy of the payload unless there is a token. */
struct out_frame {
    struct out_frame *next;
    const uint8_t *payload;
    size_t length;
    void *token;
    uint16_t head_length;
    bool lent;       /* the peer may still be reading the payload */
    uint8_t bytes[]; /* room for a wire header, then the head, then the copy */
};

/* The frame on its way in. */
struct in_frame {
    uint8_t head[TRANSPORT_HEAD];
    size_t head_length, length, got;
    uint8_t *place; /* NULL: thrown away */
    bool active;    /* its head is here, the payload not yet all */
    bool again;     /* interrupted by a broken connection: comes once more, to the same place */
};

struct rings;

struct endpoint {
    struct watch watch; /* first: epoll's pointer is the endpoint's */
    uint32_t vpid;
    enum link_state state;
    bool by_unix, was_open;
    int fd;
    uint32_t interest; /* epoll events asked for */
    char *address;
    int next_address;
    uint32_t attempt;     /* of ours to connect, the last one; OPEN: the highest of both sides */
    uint64_t deadline_ms; /* BROKEN: when it is believed */
    uint64_t retry_at_ms; /* BROKEN, CONNECTING, AWAITING: when to try (again) */
    const char *reason;

    struct out_frame *first, *unwritten, *last; /* first .. before unwritten: not acknowledged */
    size_t offset;                              /* bytes of `unwritten` that are out */
    size_t backlog;
    uint32_t first_number; /* number of `first`, or of the next frame when there is none */

    struct in_frame in;
    uint32_t received, told; /* frames complete; of these acknowledged */
    size_t untold_bytes;
    uint8_t *buffer;
    size_t begin, end;

    struct rings *rings;
};

struct pending; /* someone who has connected and not said who it is; in greet.c */
struct listener {
    struct watch watch;
    int fd;
    bool by_unix;
};

struct transport {
    struct transport_options options;
    struct transport_events events;
    struct endpoint *endpoints;
    int epoll;
    struct listener listeners[LISTENERS + 1];
    int listener_count;
    struct pending *pending, *dropped;
    int pending_count;
    uint8_t key[KEY_BYTES];
    char address[ADDRESS_TEXT];
    char host[48];
    struct endpoint **ring_peers; /* those with rings, open or not any more */
    uint32_t ring_count;
    uint32_t restless; /* endpoints neither open through rings nor untried nor lost: their sockets
                          matter */
    struct buried {    /* frames of peers that are no more: `sent` is still to be said */
        struct buried *next;
        uint32_t to;
        void *token;
    } * buried;
    uint64_t now_ms, looked_ms; /* our time, and the system's when we looked */
    unsigned polls;
    int moved; /* frames in this poll */
};

/* transport.c */
uint64_t transport_now_ms(struct transport *t);
void endpoint_watch(struct transport *t, struct endpoint *e, uint32_t events);
void endpoint_close(struct transport *t, struct endpoint *e); /* the connection only */
void endpoint_open(struct transport *t, struct endpoint *e, uint32_t peer_received);
void endpoint_broken(struct transport *t, struct endpoint *e, const char *reason);
void endpoint_lost(struct transport *t, struct endpoint *e, const char *reason);
void endpoint_acknowledged(struct transport *t, struct endpoint *e, uint32_t received);
void endpoint_done_first(struct transport *t, struct endpoint *e);
uint8_t *frame_begins(struct transport *t, struct endpoint *e, const uint8_t *head,
                      size_t head_length, size_t length);
void frame_ends(struct transport *t, struct endpoint *e);
void frame_small(struct transport *t, struct endpoint *e, const uint8_t *head, size_t head_length,
                 uint8_t *payload, size_t length);

/* greet.c */
int greet_listen(struct transport *t);
void greet_close(struct transport *t);
void greet_sweep(struct transport *t);
void greet_start(struct transport *t, struct endpoint *e);
void greet_ready(struct transport *t, struct endpoint *e, uint32_t events);

/* tcp.c: the payload's own header on the wire */
enum { TCP_HEADER = 16 };
int tcp_prepare(struct endpoint *e);
void tcp_resume(struct transport *t, struct endpoint *e);
void tcp_ready(struct transport *t, struct endpoint *e, uint32_t events);
void tcp_flush(struct transport *t, struct endpoint *e);
void tcp_acknowledge(struct transport *t, struct endpoint *e);

/* shm.c */
int shm_create(struct endpoint *e, int *memory); /* by who connects: a file to hand over */
int shm_adopt(struct endpoint *e, int memory);   /* by who accepts; closes the file */
void shm_release(struct endpoint *e);
uint64_t shm_probe(const struct endpoint *e); /* address of a word that the peer reads as a trial */
void shm_try_reading(struct endpoint *e, int pid, uint64_t probe);
bool shm_send(struct endpoint *e, const void *head, size_t head_length, const void *payload,
              size_t length);
void shm_flush(struct transport *t, struct endpoint *e);
void shm_poll(struct transport *t, struct endpoint *e);
void shm_doze(struct endpoint *e, bool asleep);
bool shm_waiting(const struct endpoint *e);
void shm_ready(struct transport *t, struct endpoint *e);
#endif
