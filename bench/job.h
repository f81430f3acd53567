/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h -- the peers of one job watch each other: how soon a cut one is declared dead, and how
 * often a living one is. */
#ifndef P2P_JOB_H
#define P2P_JOB_H

struct watched {
    double median_s, worst_s; /* from a cut until the last of the others had declared it */
    double node_hours;        /* that no one was cut in */
    unsigned false_deaths;    /* then; each counts once for everyone who declared it */
    double bytes;             /* a second, of one member */
};

/* `busy_permille` of the hosts have all cores taken. */
struct watched job_measure(unsigned members, unsigned busy_permille, unsigned node_hours);
#endif
