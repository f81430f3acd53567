/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnosis.h -- what p2pctl doctor makes of what it found: one line for each thing that can be
 * wrong, with what mends it. Decisions only: doctor.c looks. */
#ifndef P2P_OVERLAY_TOOLS_DIAGNOSIS_H
#define P2P_OVERLAY_TOOLS_DIAGNOSIS_H
#include "overlay/base/lane_roots.h"
#include <stdbool.h>
#include <stddef.h>

/* What was found on this desktop. */
struct symptoms {
    bool daemon;          /* it answers */
    char daemon_why[256]; /* if not */
    bool service;         /* systemd starts it */
    bool systemd;         /* there is a user manager, or could be */
    bool lingers;         /* also while its user is not logged in */
    char user[64];
    bool certificate; /* could be read */
    char certificate_why[256];
    long days;                     /* that it is good for; below 0: it has ended */
    bool clock_known, clock_right; /* kept by the network's time */
    char listen[80];
    unsigned port;               /* of listen; 0: any */
    bool only_loopback;          /* this desktop has no other address */
    char firewall[32];           /* that is switched on here; "": none was found */
    bool rules_hidden;           /* this user may not read the kernel's rules */
    unsigned peers, silent;      /* that answered, this desktop among them */
    char ompi[32];               /* "": mpirun was not found */
    bool components;             /* Open MPI finds them */
    unsigned enforces, required; /* bits of enum confinement */
    enum lanes_way views;        /* what a lane's files are in */
    bool group;                  /* jobs have control groups */
    bool delegates;              /* without p2pd: systemd gives this user's services such groups */
    char controllers[32];
    char bridges[200];     /* in the way: interfaces of virtual networks, with commas */
    char bridge_nets[400]; /* the same, each with its network; "": none */
    char excludes[256];    /* btl_tcp_if_exclude, where it is set; "": as it is by default */
    bool chosen;           /* btl_tcp_if_include is set */
};

enum finding_state { FINDING_GOOD, FINDING_NOTE, FINDING_BAD };

struct finding {
    const char *name;
    enum finding_state state;
    char text[320], mend[320]; /* mend: "" when there is nothing to do */
};

enum { FINDINGS_MOST = 16 };

/* Is an interface, or its network, among these: "lo,docker0,172.18.0.0/16"? */
bool diagnosis_excludes(const char *list, const char *interface, const char *network);
/* Do these rules, as nft or iptables-save prints them, refuse anything that comes in? */
bool diagnosis_nft_refuses(const char *ruleset);
bool diagnosis_iptables_refuses(const char *rules);
/* How many. */
size_t diagnosis_make(const struct symptoms *s, struct finding out[FINDINGS_MOST]);
#endif
