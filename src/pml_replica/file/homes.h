/* SPDX-License-Identifier: BSD-3-Clause */
/* homes.h -- files of desktops that share no folder: each has a home, a rank whose copies keep it
 * (home.h); all others read and write through it.
 *
 * agent_ompi4.c      the home's side: takes requests one after the other, and answers
 * homes_ompi4.c      who is a file's home; the asking side's requests
 * homes_fs_ompi4.c   ompio's calls, as such requests
 * wire_ompi4.c       how they travel */
#ifndef P2P_SRC_PML_REPLICA_FILE_HOMES_H
#define P2P_SRC_PML_REPLICA_FILE_HOMES_H
#include "batch.h"
#include "file.h"
#include "home.h"
#include "wire.h"

/* A message in memory of its own, freed when it is sent. */
struct parcel {
    struct wire_message message;
    _Atomic size_t *account; /* where its weight is counted until it has left */
    size_t weight;
    void (*sent)(void); /* or NULL */
    _Alignas(16) char bytes[];
};
struct parcel *parcel_new(size_t length);
void parcel_send(struct parcel *p, int to, enum wire_tag tag, size_t length,
                 _Atomic size_t *account, void (*sent)(void));

/* agent_ompi4.c */
struct agent {
    struct home *home;
    struct wire_message incoming;
    uint64_t words[HOME_WORDS];
    char *body; /* of the request that is being received */
    int source;
    bool arrived, running;
    _Atomic size_t answering; /* bytes of answers that have not left, */
    bool full;                /* so many that no request is taken meanwhile */
};
int agent_start(struct agent *a); /* OMPI_SUCCESS, or why not */
bool agent_has_stopped(const struct agent *a);
void agent_stop(struct agent *a);

/* homes_ompi4.c */
struct known { /* a file of this name has this home */
    LIST_ENTRY(known) next;
    int home;
    char path[];
};

struct homes {
    struct wire wire;
    struct agent agent;
    _Atomic size_t asking; /* bytes of requests that have not left, as other lanes lack them, say */
    bool *attached;        /* by rank: it was told that this process will ask */
    LIST_HEAD(, known) known;
};

int homes_start(void);                         /* before the first call of these; again: nothing */
bool homes_are_wanted(const ompio_file_t *fh); /* all who open the file call it */
int homes_find(const char *path);              /* -1: not known */
void homes_note(const char *path, int home);
void homes_attach(int home);

/* One request. The answer comes later; bytes that it brings are in data. */
struct ask {
    struct wire_message message;
    bool done;
    struct batch_cursor at; /* the caller's */
    size_t wanted;
    struct home_answer answer;
    char data[];
};
/* body: NULL, or a parcel with so many bytes of it. */
struct ask *ask_begin(int home, const uint64_t words[HOME_WORDS], struct parcel *body,
                      size_t length, size_t room);
void ask_await(struct ask *a, int home, bool settle);
/* Both; the body is copied. */
struct home_answer ask_now(int home, enum home_kind kind, uint64_t file, uint64_t number,
                           const void *body, size_t length);

/* homes_fs_ompi4.c */
struct remote { /* an open file */
    int home;
    uint64_t number;
};
extern mca_fs_base_module_t homes_fs_module;
extern mca_fbtl_base_module_t homes_fbtl_module;
struct remote *remote_of(const ompio_file_t *fh); /* NULL: the file has no home */
#endif
