/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint.h -- what the files of the transport share: a peer, its queue, the frame on its way in.
 *
 * transport.c  open, send, poll, and what becomes of a peer
 * queue.c      frames on their way out
 * address.c    the line of text by which a process is found
 * listen.c     which processes have connected, and whether they are let in
 * greet.c      connecting, the answer
 * greeting.c   the bytes of both, and the keys that come of them
 * aead.c       an encrypted TCP connection
 * tcp.c        frames on a TCP connection, kept until acknowledged
 * rings.c      the memory of two shared rings
 * remote_read.c       memory beside them that the peer may read
 * turn.c       for how long a process of this host had the processor when it wanted it
 * shm.c        frames in two shared rings; the socket beside them only wakes, and tells of death */
#ifndef P2P_SRC_TRANSPORT_ENDPOINT_H
#define P2P_SRC_TRANSPORT_ENDPOINT_H
#include "greeting.h"
#include "rings.h"
#include "aead.h"
#include "transport.h"
#include <sys/socket.h>
#include <sys/uio.h>

enum { LISTENERS = 8, ADDRESS_TEXT = 1024 };

/* Of a connection between two processes. Each may try; when both do, the attempt of the lower
 * process number stands. */
enum link_state {
    LINK_NONE,       /* nothing tried yet */
    LINK_CONNECTING, /* connect() under way */
    LINK_GREETING,   /* our greeting is out, the answer is not in */
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
    bool exposed;    /* the peer may still be reading the payload */
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
    uint32_t process;
    enum link_state state;
    bool by_unix, was_open;
    bool dialed; /* next_address is one that has led to the peer */
    int fd;
    uint32_t interest; /* epoll events asked for */
    char *address;
    int next_address;
    uint32_t attempt; /* of ours to connect, the last one; OPEN: the highest of both sides */
    uint32_t heard;   /* the last attempt of the peer's that was let in */
    uint8_t ask[GREETING_BYTES], own[GREETING_SHARE]; /* GREETING: what we asked with */
    struct aead *aead;                                /* OPEN and encrypted */
    uint64_t deadline_ms;                             /* BROKEN: when it is believed */
    uint64_t retry_at_ms; /* BROKEN, CONNECTING, AWAITING: when to try (again) */
    const char *reason;

    struct out_frame *first, *unwritten, *last; /* first .. before unwritten: not acknowledged */
    size_t offset;                              /* bytes of `unwritten` that are out */
    size_t backlog;
    uint32_t first_number; /* number of `first`, or of the next frame when there is none */

    bool gathers;    /* what is not written may wait for more to go with it, */
    size_t gathered; /* as long as it is no more than GATHER_BYTES */
    struct endpoint *next_gathering;

    struct in_frame in;
    uint32_t received, told; /* frames complete; of these acknowledged */
    size_t untold_bytes;
    uint8_t *buffer;
    size_t begin, end;

    struct rings *rings;
    size_t wanted;        /* room in them that a frame which was refused needs; 0: none was */
    enum ring_sleep late; /* the peer is to be woken from this, or more, when all is read */
};

struct pending; /* a connection whose process has not said which it is; in listen.c */
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
    uint8_t nonce[GREETING_NONCE];
    char address[ADDRESS_TEXT];
    char host[48];
    struct endpoint **ring_peers; /* those with rings, open or not any more */
    uint32_t ring_count;
    struct endpoint *gathering; /* those where frames wait for more to go with */
    bool reading;               /* their frames, */
    bool late;                  /* and some peers are to be woken when they are read; */
    size_t late_bytes;          /* so many bytes were read from others' memory since */
    uint32_t exposed;           /* payloads that peers may be reading from this process's memory */
    uint32_t sockets_matter;    /* how many endpoints use their sockets (connections); and */
    uint32_t clocks_matter;     /* how many wait for the clock: they begin, or are broken */
    struct abandoned {          /* payloads for peers that are lost: `sent` is still to be called */
        struct abandoned *next;
        uint32_t to;
        void *token;
    } * abandoned;
    uint64_t now_ms, looked_ms; /* our time, and the system's when it was read */
    unsigned connections;       /* made so far */
    unsigned polls;
    unsigned sockets_due, sockets_gap; /* at which poll, and so many after it; see sockets_soon() */
    uint64_t sockets_empty_ns, rings_empty_ns; /* where they matter: when the former had nothing,
                                                  and since when the latter have nothing */
    int moved;                                 /* frames in this poll */
};

/* transport.c */
uint64_t transport_now_ms(struct transport *t);
void answers_go(struct transport *t);   /* what was sent while others' frames were read */
void sockets_soon(struct transport *t); /* are looked at in the next poll */
void endpoint_watch(struct transport *t, struct endpoint *e, uint32_t events);
/* A connection that a child of the program still has open would go on to be heard otherwise. */
void watched_close(struct transport *t, int fd);
void endpoint_close(struct transport *t, struct endpoint *e); /* the connection only */
void endpoint_open(struct transport *t, struct endpoint *e, uint32_t peer_received);
void endpoint_broken(struct transport *t, struct endpoint *e, const char *reason);
void endpoint_lost(struct transport *t, struct endpoint *e, const char *reason);
uint8_t *frame_begins(struct transport *t, struct endpoint *e, const uint8_t *head,
                      size_t head_length, size_t length);
/* `length` bytes more of its payload, at most as many as are missing. */
void frame_goes_on(struct transport *t, struct endpoint *e, const uint8_t *bytes, size_t length);
void frame_ends(struct transport *t, struct endpoint *e);
void frame_small(struct transport *t, struct endpoint *e, const uint8_t *head, size_t head_length,
                 uint8_t *payload, size_t length);

/* queue.c */
int queue_add(struct endpoint *e, const void *head, size_t head_length, const void *payload,
              size_t length, void *token);
void queue_abandon(struct transport *t, struct endpoint *e);
void queue_return_tokens(struct transport *t);
void endpoint_acknowledged(struct transport *t, struct endpoint *e, uint32_t received);
void endpoint_done_first(struct transport *t, struct endpoint *e);

/* address.c */
void address_host(char *text, size_t size);
bool address_nonce(const char *address, uint8_t nonce[GREETING_NONCE]);
socklen_t address_unix(struct sockaddr_storage *a, const char *name);
socklen_t address_ip(struct sockaddr_storage *a, const char *text, uint16_t port); /* 0: is none */
socklen_t address_way(const struct transport *t, const struct endpoint *e, int index,
                      struct sockaddr_storage *a);

/* listen.c */
int listen_open(struct transport *t);
void listen_close(struct transport *t);
void listen_sweep(struct transport *t);
/* Lets in who connects over the UNIX socket now, a crowd in part. No frame is read. */
void listen_to_neighbours(struct transport *t);

/* greet.c */
void greet_start(struct transport *t, struct endpoint *e);
void greet_ready(struct transport *t, struct endpoint *e, uint32_t events);
void greet_prepare(const struct transport *t, int fd); /* a TCP socket */
uint32_t greet_flags(const struct transport *t, bool by_unix);
/* `own` is filled where keys are needed; NULL with a no. */
int greet_answer(struct transport *t, struct endpoint *e, int fd, enum greeting_kind kind,
                 const uint8_t ask[GREETING_BYTES], uint8_t own[GREETING_SHARE],
                 uint8_t bytes[GREETING_BYTES]);
int greet_encrypt(struct transport *t, struct endpoint *e, const uint8_t own[GREETING_SHARE],
                  const uint8_t others[GREETING_SHARE], const uint8_t ask[GREETING_BYTES],
                  const uint8_t yes[GREETING_BYTES], bool asked);

/* tcp.c: the payload's own header on the wire */
enum { TCP_HEADER = 16 };
int tcp_prepare(struct endpoint *e);
void tcp_ready(struct transport *t, struct endpoint *e, uint32_t events);
void tcp_flush(struct transport *t, struct endpoint *e);
void tcp_acknowledge(struct transport *t, struct endpoint *e);
/* Does the other host's kernel have all that was written? */
bool tcp_is_there(const struct endpoint *e);

/* rings.c */
int shm_create(struct endpoint *e,
               int *memory);                   /* by the side that connects: a file to hand over */
int shm_adopt(struct endpoint *e, int memory); /* by the side that accepts; closes the file */
void shm_release(struct endpoint *e);
uint64_t shm_probe(void); /* address of a word that the peer reads as a trial */
void shm_try_reading(struct endpoint *e, int pid, uint64_t probe);

/* shm.c */
bool shm_send(struct transport *t, struct endpoint *e, enum transport_urgency urgency,
              const void *head, size_t head_length, const void *payload, size_t length);
bool shm_try(struct transport *t, struct endpoint *e, enum transport_urgency urgency,
             const void *head, size_t head_length, const void *payload, size_t length);
void shm_wake_late(struct transport *t);
void shm_flush(struct transport *t, struct endpoint *e);
void shm_poll(struct transport *t, struct endpoint *e);
void shm_arm(struct endpoint *e, enum ring_sleep how);
bool shm_waiting(const struct endpoint *e);
bool shm_survives(const struct endpoint *e);
bool shm_drained(struct endpoint *e);
void shm_ready(struct transport *t, struct endpoint *e);
#endif
