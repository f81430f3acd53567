# SPDX-License-Identifier: BSD-3-Clause
# libreplica: the protocol of pml_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libreplica.la
libreplica_la_SOURCES = \
    src/replica/engine.h src/replica/invariants.h src/replica/state.h src/replica/engine.c src/replica/event.c \
    src/replica/header.c src/replica/header.h src/replica/memory.c src/replica/memory.h src/replica/pool.c src/replica/pool.h src/replica/hash.c src/replica/hash.h src/replica/table.c src/replica/table.h src/replica/link.c \
    src/replica/comm.c src/replica/channel.c \
    src/replica/cycle.c src/replica/cycle.h \
    src/replica/match.c src/replica/match.h \
    src/replica/send.c src/replica/log.c src/replica/lag.c src/replica/lag.h src/replica/allowance.c src/replica/allowance.h src/replica/rendezvous.c \
    src/replica/expose.c src/replica/head.c \
    src/replica/receive.c src/replica/have.c src/replica/future.c \
    src/replica/place.c src/replica/look.c src/replica/region.c \
    src/replica/ack.c src/replica/probe.c \
    src/replica/decide.c src/replica/decide.h src/replica/decision.c src/replica/witness.c \
    src/replica/verify.c src/replica/death.c \
    src/replica/finish.c src/replica/stall.c \
    src/replica/barrier.c
libreplica_la_CFLAGS = $(AM_CFLAGS) $(P2P_LTO)
