/* SPDX-License-Identifier: BSD-3-Clause */
/* plm_p2p.h -- the launcher: one orted for each lease, started by the peer's daemon. */
#ifndef P2P_SRC_PLM_P2P_PLM_P2P_H
#define P2P_SRC_PLM_P2P_PLM_P2P_H
#include "orte_config.h"
#include "overlay/manifest/folder.h"
#include "progress.h"
#include "vnodes.h"
#include "opal/mca/event/event.h"
#include "orte/mca/plm/base/base.h"
#include "orte/mca/plm/plm.h"
#include "orte/mca/state/state.h"
#include "orte/runtime/orte_globals.h"

enum plm_p2p_loss {
    PLM_P2P_LEASE_ENDED, /* the lease is, by what its peer or its own daemon says */
    PLM_P2P_PEER_SILENT, /* nobody hears of the peer any more */
    PLM_P2P_PEER_ENDS,   /* the peer is ending it by its own will: why says so to a person */
};

/* Told when a peer is lost that runs processes of the job: daemon is the vpid of its orted. */
typedef void plm_p2p_lost_fn(orte_vpid_t daemon, enum plm_p2p_loss how, const char *why);

/* Told when a peer wants back what it lends; why: "desk3 leaves the grid within 30 s". True: the
 * job can do without, and has let go of what runs there. */
typedef bool plm_p2p_recall_fn(orte_vpid_t daemon, const char *why);

/* Told how what runs on a peer gets on, that was asked by plm_p2p_ask_status(): waits is the
 * permille of its time that it waited for a processor. */
typedef void plm_p2p_status_fn(orte_vpid_t daemon, unsigned waits);

/* plm_p2p_confine: when are processes on the own desktops confined? */
enum plm_p2p_confine {
    PLM_P2P_AUTO, /* beside other owners' peers */
    PLM_P2P_ALWAYS,
};

enum { FILES_FOLDER = 255 };
struct plm_p2p_files;
struct plm_p2p_results;

struct plm_p2p_component {
    orte_plm_base_component_t super;
    /* parameters */
    int priority, verbose, timeout_s, limit_processes, limit_time_s;
    char *programs_text, *files_text, *limit_memory, *every_text;
    int confine_when;         /* enum plm_p2p_confine */
    int confine_index;        /* of that parameter */
    struct program *programs; /* of all jobs so far */
    size_t program_count;
    struct input *inputs;
    size_t input_count;
    /* Set by errmgr_replica, which decides what a loss means. */
    plm_p2p_lost_fn *on_lost;
    plm_p2p_recall_fn *on_recall;
    plm_p2p_status_fn *on_status;
    struct vnodes *vnodes;
    orte_node_t **vnode_node; /* by vnode */
    unsigned vnode_capacity;
    orte_vpid_t *retired; /* orteds that were replaced */
    unsigned retired_count;
    orte_job_t *job;    /* that is waiting for its orteds */
    char **words;       /* orted's command, without the vpid */
    int vpid_word;      /* where that goes */
    opal_event_t event; /* from the daemon */
    opal_event_t answered;
    opal_event_t timer;
    opal_event_t grace;          /* runs while orteds are told to leave */
    struct plm_p2p_files *files; /* that go along */
    opal_event_t ticking;        /* while they are read */
    bool packing;                /* ... by the thread, which has the connection */
    bool shows_progress;
    bool by_library_path;            /* one of the libraries is found by LD_LIBRARY_PATH */
    bool by_python_path;             /* Python looks at PYTHONPATH */
    char python_base[256];           /* PYTHONUSERBASE, where modules travel; "": as it is there */
    struct plm_p2p_results *results; /* that come back; NULL: none do */
    unsigned every_s;                /* so often meanwhile; 0: never */
    bool results_missing;
    bool watching, asking, ending;
    bool leaving;     /* orteds are told to */
    bool interrupted; /* before it ended */
    bool confine; /* other owners' peers are in the job, so all its processes are in a sandbox */
    char folder[FOLDER_PATH + 1]; /* that they may use on our own desktops; "": none */
    unsigned refused;             /* messages of peers, that the user was told of */
    orte_state_cbfunc_t comm_failed, proc_error, vm_ready; /* whose place was taken */
};
extern struct plm_p2p_component mca_plm_p2p_component;

/* launch_orte4.c */
void plm_p2p_launch_daemons(int fd, short args, void *state);
void plm_p2p_go_on(void);            /* does what the vnodes want done, until they wait */
void plm_p2p_abort(const char *why); /* one line, nothing left behind */

int64_t plm_p2p_now_ms(void);
void plm_p2p_go_on_launching(void); /* after plm_p2p_files_done() */

/* files_orte4.c: what goes along with the job. */
int plm_p2p_files_choose(const orte_job_t *job, struct err *e);
bool plm_p2p_files_travel(void);
/* 0: nothing is to be done; 1: the connection is with the thread until grid_answer_fd() tells. */
int plm_p2p_files_start(struct err *e);
int plm_p2p_files_done(struct err *e);
/* At the end: a job that has failed may have lacked a file that nobody named. */
void plm_p2p_files_hint(void);
void plm_p2p_files_terms(const struct grid_lease *lease, struct grid_launch *launch);
void plm_p2p_files_come(const struct grid_event *event); /* to a peer */
void plm_p2p_files_came(const struct id *lease);         /* all, or never */

/* Where the processes have views of it; NULL: they work in the peers' own folders. */
const char *plm_p2p_files_folder(void);

/* results_orte4.c: what the job has made comes back. */
int plm_p2p_results_choose(struct err *e); /* the parameter, before anything is started */
int plm_p2p_results_umask(void);    /* of the ranks: as here, if what they make comes back; -1 */
void plm_p2p_results_watch(void);   /* once the job's orteds are there */
bool plm_p2p_results_collect(void); /* at the end. True: plm_p2p_leave() follows */
bool plm_p2p_results_wanted(void);  /* is that going on? */
void plm_p2p_results_stop(void);    /* the user does not want to wait: what came stays */
void plm_p2p_results_close(void);

/* daemons_orte4.c: the orteds as ORTE knows them. */
int plm_p2p_daemon_new(orte_node_t *node);
void plm_p2p_daemon_retire(orte_node_t *node);
void plm_p2p_daemon_counted(orte_vpid_t vpid, bool counted);
void plm_p2p_daemon_disown(orte_node_t *node);
bool plm_p2p_is_retired(orte_vpid_t vpid);
void plm_p2p_forget_routes(void);
void plm_p2p_liken_nodes(void);

/* terms_orte4.c: what the job binds itself to. */
/* prefix: where Open MPI is installed on the peers, or NULL. */
int plm_p2p_take_programs(const orte_job_t *job, const char *prefix, struct err *e);
/* Before the first start: are there sandboxes on our own desktops, too? */
int plm_p2p_choose_sandbox(struct err *e);
int plm_p2p_terms(const struct grid_lease *lease, struct grid_launch *launch, struct err *e);

/* trust_orte4.c: what peers cannot make mpirun do. */
int trust_guard_messages(void); /* once ORTE listens; or one line says why not */
void trust_start_nothing(void); /* before the first launch */

/* spawn_orte4.c: may a peer have that started? -EPERM: what it says that is not a program's to say.
 */
int spawn_judge(orte_job_t *job, struct err *e);
/* MPI_Comm_spawn fails there, with an error that the program may handle. */
void spawn_answer_no(orte_process_name_t *to, orte_job_t *job);

/* publish_orte4.c: a message to what keeps published data; view: of its bytes, from the start. */
void publish_as_one_user(opal_buffer_t *view, uint8_t *bytes);

/* watch_orte4.c: what may go wrong meanwhile. */
int plm_p2p_watch(void);       /* the state machine and reports of orteds */
void plm_p2p_watch_grid(void); /* the connection to the daemon */
void plm_p2p_unwatch(void);
bool plm_p2p_is_over(void); /* asked when an orted hung up: was it the own daemon that ended? */
/* A vnode lost its lease (`held` false), or is to lose it, before all have reported. */
void plm_p2p_lose_lease(unsigned vnode, bool held, const char *why);
/* Asks the daemon of the orted's peer, which is outside of the session that is short of the
 * processor. It may never answer. */
void plm_p2p_ask_status(orte_vpid_t daemon);
int plm_p2p_terminate(void);
int plm_p2p_leave(void); /* orteds are told to leave, then everything is over */
#endif
