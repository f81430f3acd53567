/* SPDX-License-Identifier: BSD-3-Clause */
/* message_to.h -- instead of message.def, for the messages of one receiver or a few:
 *
 *     #define TO_ring(name) TAKES_##name = MSG_##name,
 *     enum takes {
 *     #include "message_to.h"
 *     };
 *
 * A switch over this enumeration, without a default, does not compile when it misses one of them or
 * has one of another receiver. */
#include "message_only.h"
#define MESSAGE(name, kind, to) TO_##to(name)
#ifndef TO_greeting
#define TO_greeting(name)
#endif
#ifndef TO_probe
#define TO_probe(name)
#endif
#ifndef TO_walk
#define TO_walk(name)
#endif
#ifndef TO_ring
#define TO_ring(name)
#endif
#ifndef TO_group
#define TO_group(name)
#endif
#ifndef TO_job
#define TO_job(name)
#endif
#ifndef TO_listens
#define TO_listens(name)
#endif
#ifndef TO_grant
#define TO_grant(name)
#endif
#ifndef TO_search
#define TO_search(name)
#endif
#ifndef TO_borrowed
#define TO_borrowed(name)
#endif
#ifndef TO_files
#define TO_files(name)
#endif
#ifndef TO_results
#define TO_results(name)
#endif
#ifndef TO_collect
#define TO_collect(name)
#endif
#ifndef TO_grid_jobs
#define TO_grid_jobs(name)
#endif
#ifndef TO_tunnel
#define TO_tunnel(name)
#endif
#ifndef TO_datagram
#define TO_datagram(name)
#endif
#ifndef TO_topology
#define TO_topology(name)
#endif
#ifndef TO_member
#define TO_member(name)
#endif
#ifndef TO_peers
#define TO_peers(name)
#endif
#ifndef TO_registrar
#define TO_registrar(name)
#endif
#ifndef TO_beacon
#define TO_beacon(name)
#endif
#ifndef TO_program_greeting
#define TO_program_greeting(name)
#endif
#ifndef TO_local
#define TO_local(name)
#endif
#ifndef TO_local_order
#define TO_local_order(name)
#endif
#ifndef TO_rpc
#define TO_rpc(name)
#endif
#ifndef TO_rpc_order
#define TO_rpc_order(name)
#endif
#ifndef TO_rpc_row
#define TO_rpc_row(name)
#endif
#ifndef TO_row
#define TO_row(name)
#endif
#ifndef TO_unasked
#define TO_unasked(name)
#endif
#ifndef TO_inside
#define TO_inside(name)
#endif
#include "message.def"
#include "message_undef.h"
#undef TO_greeting
#undef TO_probe
#undef TO_walk
#undef TO_ring
#undef TO_group
#undef TO_job
#undef TO_listens
#undef TO_grant
#undef TO_search
#undef TO_borrowed
#undef TO_files
#undef TO_results
#undef TO_collect
#undef TO_grid_jobs
#undef TO_tunnel
#undef TO_datagram
#undef TO_topology
#undef TO_member
#undef TO_peers
#undef TO_registrar
#undef TO_beacon
#undef TO_program_greeting
#undef TO_local
#undef TO_local_order
#undef TO_rpc
#undef TO_rpc_order
#undef TO_rpc_row
#undef TO_row
#undef TO_unasked
#undef TO_inside
