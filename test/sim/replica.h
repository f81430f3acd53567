/* SPDX-License-Identifier: BSD-3-Clause */
/* replica.h -- a whole replicated job in one process: N*R engines, links between them, and a
 * schedule drawn from a seed, or from a list of choices. Nothing else is random. */
#ifndef P2P_SIM_REPLICA_H
#define P2P_SIM_REPLICA_H
#include "src/survive/commit.h"
#include "src/replica/engine.h"
#include "src/replica/header.h"
#include "src/replica/invariants.h"

enum { MAX_RANKS = 6, MAX_LANES = 4, MAX_PROCS = MAX_RANKS * MAX_LANES };
enum { MOST_CHOICES = 4096 };
enum { SLOTS = 16, MAX_OPS = 256, MAX_COMMS = 6, MESSAGE_MIN = 16 };

enum program_kind {
    PROGRAM_PAIRS,
    PROGRAM_RING,
    PROGRAM_GATHER,
    PROGRAM_FARM,
    PROGRAM_TESTS,
    PROGRAM_CLOCKS,
    PROGRAM_COLLECTIVES,
    PROGRAM_COMMUNICATORS,
    PROGRAM_CANCELS,
    PROGRAM_MIXED,
    PROGRAM_SELVES,
    PROGRAM_STREAM,
    PROGRAM_BARRIERS,
    PROGRAM_DRIFT,
    PROGRAM_DUPS,
    PROGRAM_OVERTAKEN,
    PROGRAM_ANSWERS,
    PROGRAM_WINDOWS,
    PROGRAM_LATE,
    PROGRAM_GLANCES,
    PROGRAM_KINDS,
};

enum { MOST_KILLS = 4 };

/* A process dies: at a step, or when so many frames of a kind were delivered. */
struct kill {
    int step, kind, nth; /* kind 0: at the step */
    int who;             /* -1: drawn */
};

/* One run. */
struct plan {
    int ranks, lanes, rounds;
    uint64_t seed;
    int kills; /* up to so many processes, never the last of a rank */
    struct kill kill[MOST_KILLS];
    int mix;    /* which kinds of rounds: a set of bits */
    int stream; /* messages of a stream; 0: drawn */
    int drift;  /* nonblocking collectives, or communicators, one after the other; 0: drawn */
    int log;    /* bytes of its limit; 0: as it comes */
    int stop_who, stop_step, go_on_step; /* a process is stopped for some steps; who -1: none */
    int slow;                            /* a lane whose processes are seldom drawn; -1: none */
    int drop_after_ms;
    int flip;         /* a replica that spoils payloads; -1: none; */
    bool flip_source; /* before they are sent, not on their way */
    int stray;        /* a rank whose lanes differ in what they send; -1: none */
    bool holes;       /* some ranks have fewer replicas */
    bool tight;       /* small limits, a transport that often has no room */
    bool verify;
    enum invariant plant; /* is broken on purpose; 0: none */
    bool explored;        /* nothing is drawn: the schedule is chosen from outside */
    /* Turns to skip at each step, or which of the possible actions, instead of drawing; 0 beyond
     * the last. */
    const uint8_t *choices;
    int choice_count;
    bool loud;
};
extern const struct plan plain_plan; /* no process dies, stops, or spoils anything */

enum op_kind {
    OP_SEND,
    OP_ISEND,
    OP_RECV,
    OP_IRECV,
    OP_WAIT,  /* for one slot */
    OP_ANY,   /* for all slots, in the order in which tests find them done */
    OP_PROBE, /* then receive what was found */
    OP_IPROBE,
    OP_MPROBE,
    OP_CLOCK,
    OP_CANCEL,  /* a slot; if that was in time, receive the message anew */
    OP_SHUFFLE, /* the next `peer` sends of the program, in an order of this lane's own */
    OP_DUP,
    OP_FREE,
    OP_BARRIER,
    OP_DRIFT,  /* `times` nonblocking collectives, `slot` of them in flight */
    OP_DUPS,   /* the same, each on a communicator of its own */
    OP_OPEN,   /* the window, if it is not open yet */
    OP_PUT,    /* into the window of the peer, and wait for its answer */
    OP_LOOK,   /* at the own window */
    OP_GLANCE, /* at a clock, as often as it happens to, and nothing follows from that */
};

struct op {
    enum op_kind kind;
    int peer, tag, comm, slot, size;
    int times;                /* a send or receive is done so often; 0: once */
    bool synchronous, varies; /* size depends on what was seen so far */
    int part;   /* of OP_IRECV: what this op will send lies in its buffer; 0: nothing does */
    bool reuse; /* of a send: from the buffer of slot 0, a receive's */
};

struct program {
    struct op op[MAX_OPS];
    int count;
};

void program_make(struct program *of, const struct plan *plan); /* one for each rank */
void program_show(const struct program *of, int ranks);

struct sim;
struct proc;

struct proc_send {
    struct engine_send s;
    uint8_t *bytes;
    bool shared; /* a receive's */
    bool reply;  /* an agent's, which goes when it is sent */
};

struct proc_receive {
    struct engine_receive r;
    uint8_t *bytes;
    uint64_t posted; /* what its process had seen by then */
    int part;        /* bytes in its buffer that the program will send; 0: none */
};

/* How far each rank had come in its program, at least, when something was so. */
struct past {
    uint16_t of[MAX_RANKS];
};

/* A line that a process has printed, and for which output commit waits. */
struct line {
    uint64_t decided, digest;
    unsigned number;
};
enum { MAX_LINES = 32, MAX_SHOWN = 512 };

/* Tags of nonblocking collectives: so many, from this one downwards. */
enum { CYCLE_FIRST = -27, CYCLE = 1 << 15 };
enum { DRIFT_DEPTH = 3, DRIFT_ROUNDS = 2 };

/* Nonblocking collectives in flight: those from `ended` up to `begun`. */
struct drift {
    int begun, ended;
    struct engine_comm *comm[DRIFT_DEPTH];
    int round[DRIFT_DEPTH];
};

struct window {
    struct engine_comm *comm; /* NULL: it is not open */
    uint64_t value;
    struct proc_receive request, reply;
    uint8_t answer[8];
    bool heard, running;
};

struct proc {
    struct sim *sim;
    struct engine *engine;
    const struct program *program;
    int replica, rank, lane, at, stage, times, barriers, glances;
    bool alive, done, left, frozen;
    bool condemned;        /* some process takes it for dead */
    bool spoiled, strayed; /* it was given spoiled bytes; it sent what no other lane sends */
    bool stopped;
    int status;
    char line[320];
    uint64_t digest;
    struct engine_comm *comm[MAX_COMMS];
    struct proc_send send[SLOTS];
    struct proc_receive receive[SLOTS];
    bool open[SLOTS]; /* a request is in use */
    bool is_send[SLOTS];
    struct past past; /* of all that it has seen */
    struct engine_message *taken;
    struct commit commit;
    struct line line_of[MAX_LINES]; /* printed and not shown */
    unsigned lines, printed;
    unsigned frames; /* that have come from it somewhere */
    struct drift drift;
    struct window window;
    uint64_t found; /* which exposed memory it could read, which links survive it, or are drained */
};

/* Runs the program until it has to wait, or one operation is over. False: nothing changed. */
bool proc_step(struct proc *p);
bool drift_step(struct proc *p, const struct op *op); /* true: something changed */
bool drift_is_over(const struct proc *p, const struct op *op);
void window_open(struct proc *p);
void window_heard(struct proc *p); /* the agent has a request */
void window_ask(struct proc *p, int to, struct proc_send *question, size_t length);
uint64_t window_answer(const struct proc *p);
void window_close(struct proc *p);
void proc_begin(struct proc *p);
void proc_end(struct proc *p);
extern const struct engine_callbacks proc_callbacks; /* but those of the transport */

/* What the processes ask of the world. */
uint64_t sim_random(struct sim *s);
uint64_t sim_now(struct sim *s);
/* A message was received: all lanes must receive the same. */
void sim_saw(struct proc *p, int source, uint32_t id, uint64_t digest, uint64_t posted);
/* It has cancelled a receive that had its message, which says what it is. */
void sim_undid(struct proc *p, const uint8_t *bytes);
/* It prints something that follows from all that it has seen. */
void sim_prints(struct proc *p);
/* It has come to a barrier, and may go on: all the others are there. */
void sim_passed_barrier(struct proc *p);
/* A message was made. */
void sim_made(struct proc *p, int to, uint32_t id, uint64_t digest);
/* Its bytes are in a buffer whose receive the program has not waited for. */
void sim_came_early(struct proc *p, enum invariant which, const uint8_t *bytes);
/* The run fails, with the invariant's name and the line. */
void sim_broken(struct sim *s, enum invariant which, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool sim_plants(const struct sim *s, enum invariant which); /* breaks it on purpose */
int sim_ranks(const struct sim *s);
const struct plan *sim_plan(const struct sim *s);

/* One schedule: 0, or 1 and a line in `why`. */
int sim_run(const struct plan *plan, char *why, size_t size, int *steps);
uint64_t mix64(uint64_t x);

/* Everything about a run follows from its seed. */
struct plan plan_of(uint64_t seed);
/* A plan as one word, and back; false: it is none. */
void plan_show(const struct plan *plan, char *word, size_t size);
bool plan_read(struct plan *plan, const char *word);
/* Runs it. 1 if it fails, after the line that shows it again. */
int plan_run(const struct plan *plan, int *steps);

/* Campaigns: 0, or 1 after a line that says how to see it again. */
int small_programs(int seeds, int delays);
int all_schedules(long most);               /* of tiny programs, up to so many states of each */
int explore_again(const struct plan *plan); /* what that has printed */
int trouble_noticed(void);
int planted_breaks(void); /* each invariant is broken, and must be named */
#endif
