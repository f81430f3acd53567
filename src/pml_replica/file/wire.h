/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h -- requests to homes and their answers as messages: of the engine, or, in a job without
 * one (level 1), of whatever carries the program's messages. Ranks are those of MPI_COMM_WORLD. */
#ifndef P2P_SRC_PML_REPLICA_FILE_WIRE_H
#define P2P_SRC_PML_REPLICA_FILE_WIRE_H
#include "src/pml_replica/glue.h"

enum wire_tag { WIRE_REQUEST = 1, WIRE_BODY, WIRE_ANSWER };

struct wire_message {
    struct transfer transfer; /* with the engine; else the rest */
    ompi_request_t *request;
    TAILQ_ENTRY(wire_message) pending;
    void (*done)(struct wire_message *m); /* may free it */
    /* of one that was received */
    int source;
    size_t length;
};

struct wire {
    struct engine_comm *comm; /* NULL: no engine */
    pthread_mutex_t lock;     /* of the list: threads may call at once at level 1 */
    pthread_mutex_t order;    /* requests go out in the order in which answers are expected */
    atomic_flag polls;
    TAILQ_HEAD(, wire_message) pending;
};

void wire_open(struct wire *w);
void wire_close(struct wire *w);
int wire_self(const struct wire *w);
int wire_size(const struct wire *w);

/* The bytes stay where they are until it is done. */
void wire_send(struct wire *w, struct wire_message *m, int to, enum wire_tag tag, const void *bytes,
               size_t length);
/* from ENGINE_ANY_SOURCE: by the agent, as is all that it is `agents` for. */
void wire_receive(struct wire *w, struct wire_message *m, int from, enum wire_tag tag, void *bytes,
                  size_t capacity, bool agents);

/* Around a call that waits, and between them rounds of waiting. */
void wire_enter(const struct wire *w);
void wire_leave(const struct wire *w);
void wire_wait(const struct wire *w);
void wire_step(const struct wire *w); /* the program asks: the same place in all lanes */
void wire_serves(const struct wire *w, bool serves);
/* After an answer: all copies hold what it may depend on, and this one has caught up. */
void wire_settle(const struct wire *w, bool from_self);
#endif
