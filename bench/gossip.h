/* SPDX-License-Identifier: BSD-3-Clause */
/* gossip.h -- what P2P-MPI and its like did to find failures: binary round robin gossip, for
 * comparison. Every 500 ms each peer sends its whole table of heartbeats to the one 2^k places on;
 * what has not beaten for 2 * log2 n periods is dead. */
#ifndef P2P_GOSSIP_H
#define P2P_GOSSIP_H

struct gossip_result {
    double bytes_per_second; /* sent by each peer */
    double forgotten_s;      /* until every survivor holds every vanished peer for dead */
    unsigned false_deaths;   /* times that somebody held a living peer for dead */
    double node_hours;       /* of the peers whose heartbeats were followed, before that */
};

struct gossip_result gossip_measure(unsigned peers, unsigned seconds, unsigned lost_permille,
                                    unsigned vanish_percent);
#endif
