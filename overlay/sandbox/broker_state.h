/* SPDX-License-Identifier: BSD-3-Clause */
/* broker_state.h -- what the files of the connect broker share; nothing else includes it. */
#ifndef P2P_OVERLAY_SANDBOX_BROKER_STATE_H
#define P2P_OVERLAY_SANDBOX_BROKER_STATE_H
#include "broker.h"
#include "confine.h"
#include "room.h"
#include <stdatomic.h>
#include <sys/socket.h>

enum { BROKER_IP = 16, BROKER_SOCKET_TYPE = 0xf /* a socket's type without its flags */ };
enum { BROKER_WAITING_MAX = 256, BROKER_OPEN_MAX = 1024 };

/* A connect() of the guest that the kernel holds back. */
struct broker_call {
    struct broker *broker;
    uint64_t id;
    int socket; /* a duplicate of the guest's own */
    socklen_t length;
    struct sockaddr_storage to;
    bool asked; /* the daemon there was asked, for this call or for one that waits for the same */
    uint64_t since_ms;
};

/* A port of a peer that guests may connect to for now. */
struct broker_port {
    uint8_t ip[BROKER_IP];
    uint16_t port; /* 0: none */
    uint64_t until_ms;
};

struct broker {
    int notices; /* the kernel's questions are read here, and answered */
    uint16_t home;
    struct broker_host host;
    struct confine_ports ranks;
    /* The owner and the threads that connect: a guest's socket may block, this process must not.
     * The last user frees it. */
    atomic_int users;
    struct broker_call waiting[BROKER_WAITING_MAX]; /* until the daemon there has answered */
    size_t waiting_count, own_count, count;
    uint8_t own[64][BROKER_IP]; /* addresses of this host */
    uint8_t others[ROOM_PEERS_MOST][ROOM_PEER];
    struct broker_port open[BROKER_OPEN_MAX];
    size_t next_open;
    uint64_t now_ms; /* as of the last tick */
};

/* An IPv4 address is mapped into IPv6. False: it is neither. */
bool broker_address(uint8_t ip[BROKER_IP], uint16_t *port, const struct sockaddr *from,
                    size_t length);
/* Whose address that is: 0: that of a peer which has answered there; EINPROGRESS: of one that has
 * not yet; EACCES: no peer's. */
int broker_judge_address(const struct broker *b, const uint8_t *ip);
#endif
