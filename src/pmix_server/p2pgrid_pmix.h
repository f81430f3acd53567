/* SPDX-License-Identifier: BSD-3-Clause */
/* p2pgrid_pmix.h -- what p2pd says and takes over PMIx where the standard has no word: see
 * p2pgrid-pmix(7). Needs <pmix_common.h>. */
#ifndef P2PGRID_PMIX_H
#define P2PGRID_PMIX_H

/* Queries */
#define P2PGRID_PEERS "p2pgrid.peers"       /* pmix_data_array_t of PMIX_NODE_INFO_ARRAY */
#define P2PGRID_REPLICAS "p2pgrid.replicas" /* pmix_data_array_t of arrays; needs PMIX_NSPACE */
#define P2PGRID_ALLOCATIONS "p2pgrid.allocations" /* pmix_data_array_t of arrays */

/* Of a peer, beside PMIX_HOSTNAME, PMIX_AVAIL_PHYS_MEMORY (bytes) and PMIX_HWLOC_XML_V2 */
#define P2PGRID_PEER_ID "p2pgrid.peer.id" /* char*: 40 hexadecimal digits */
#define P2PGRID_SLOTS "p2pgrid.slots"     /* uint32_t: lent */
#define P2PGRID_SLOTS_FREE "p2pgrid.free" /* uint32_t */
#define P2PGRID_DISTANCE "p2pgrid.rtt" /* uint32_t: round trip in microseconds; 0: this machine */
#define P2PGRID_CORES "p2pgrid.cores"  /* uint32_t */
#define P2PGRID_LOAD "p2pgrid.load"    /* double: cores that are busy */
#define P2PGRID_SITE "p2pgrid.site"    /* char* */

/* Of a copy of a rank, beside PMIX_RANK and PMIX_HOSTNAME */
#define P2PGRID_LANE "p2pgrid.lane"   /* uint32_t */
#define P2PGRID_STATE "p2pgrid.state" /* char*: "runs", "lost" or "finished" */

/* Of an allocation, beside the standard's PMIX_ALLOC_... */
#define P2PGRID_REQUIRE "p2pgrid.require"   /* char*, in: requirement expression, see p2pgrid(7) */
#define P2PGRID_STRATEGY "p2pgrid.strategy" /* char*, in: concentrate, spread or balanced */
#define P2PGRID_USED "p2pgrid.used"         /* uint32_t: slots that jobs have taken */
#define P2PGRID_REASON "p2pgrid.reason"     /* char*: the line that says why not */

/* Events, beside PMIX_EVENT_NODE_DOWN and PMIX_EVENT_JOB_END */
#define P2PGRID_EVENT_REPLICA_LOST (PMIX_EXTERNAL_ERR_BASE - 1)
#define P2PGRID_EVENT_ALLOCATION_ENDED (PMIX_EXTERNAL_ERR_BASE - 2)
/* In each of them: PMIX is known to tell late tools of old events, too */
#define P2PGRID_TIME "p2pgrid.time"     /* uint64_t: milliseconds since 1970 */
#define P2PGRID_EPOCH "p2pgrid.epoch"   /* uint64_t: the daemon's start, in the same unit */
#define P2PGRID_NUMBER "p2pgrid.number" /* uint64_t: counts the events of one epoch */
#define P2PGRID_LEFT "p2pgrid.left"     /* uint32_t: living copies of the rank */
#define P2PGRID_TEXT "p2pgrid.text"     /* char*: the same for a person */
#endif
