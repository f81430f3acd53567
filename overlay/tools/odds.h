/* SPDX-License-Identifier: BSD-3-Clause */
/* odds.h -- how likely a job is to finish, when peers vanish at a known rate.
 *
 * Peers vanish independently of each other and of their age (exponential lifetimes), all at one
 * rate, and lost copies are not replaced. A rank is lost when all of its copies are. Ranks that
 * share peers are lost together more often than ranks that do not, so all of them survive at least
 * as often as computed here, where each process has a peer of its own: survival of the ranks are
 * increasing functions of the same independent lifetimes, hence positively associated (Esary,
 * Proschan and Walkup, Association of random variables, 1967). */
#ifndef P2P_OVERLAY_TOOLS_ODDS_H
#define P2P_OVERLAY_TOOLS_ODDS_H

/* Losses an hour and peer, when `lost` were seen in so many peer-hours: the mean of the posterior
 * with Jeffreys' prior for a Poisson rate, (lost + 1/2) / hours. */
double odds_rate(double peer_hours, unsigned lost);

/* The probability that `ranks` with `level` copies each all live for so many hours:
 * (1 - (1 - exp(-rate * hours))^level)^ranks. */
double odds_finish(double rate, double hours, unsigned ranks, unsigned level);
#endif
