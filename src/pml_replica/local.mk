# SPDX-License-Identifier: BSD-3-Clause
# libreplica: the protocol of pml_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libreplica.la
libreplica_la_SOURCES = \
    src/pml_replica/engine.h src/pml_replica/state.h src/pml_replica/engine.c \
    src/pml_replica/header.c src/pml_replica/header.h \
    src/pml_replica/comm.c src/pml_replica/channel.c \
    src/pml_replica/cycle.c src/pml_replica/cycle.h \
    src/pml_replica/match.c src/pml_replica/match.h \
    src/pml_replica/send.c src/pml_replica/log.c src/pml_replica/bulk.c \
    src/pml_replica/loan.c \
    src/pml_replica/receive.c src/pml_replica/future.c \
    src/pml_replica/place.c src/pml_replica/region.c \
    src/pml_replica/ack.c src/pml_replica/probe.c \
    src/pml_replica/decide.c src/pml_replica/decide.h src/pml_replica/decision.c \
    src/pml_replica/verify.c src/pml_replica/death.c \
    src/pml_replica/finish.c src/pml_replica/stall.c \
    src/pml_replica/rally.c

# libtransport: frames between processes, over TCP and shared memory; plain C.
noinst_LTLIBRARIES += libtransport.la
libtransport_la_SOURCES = \
    src/pml_replica/transport.c src/pml_replica/transport.h src/pml_replica/endpoint.h \
    src/pml_replica/address.c src/pml_replica/listen.c src/pml_replica/greet.c \
    src/pml_replica/bytes.h \
    src/pml_replica/greeting.c src/pml_replica/greeting.h \
    src/pml_replica/seal.c src/pml_replica/seal.h \
    src/pml_replica/tcp.c src/pml_replica/queue.c \
    src/pml_replica/rings.c src/pml_replica/rings.h src/pml_replica/shm.c \
    src/pml_replica/lend.c
libtransport_la_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS) $(OPENSSL_CFLAGS)
libtransport_la_LIBADD = $(SODIUM_LIBS) $(OPENSSL_LIBS)

# mca_pml_replica.so: both, under Open MPI's calls.
component_LTLIBRARIES += mca_pml_replica.la
mca_pml_replica_la_SOURCES = \
    src/pml_replica/pml_replica_component.c src/pml_replica/glue.h src/pml_replica/preload.h \
    src/pml_replica/comm_ompi4.c src/pml_replica/file.h src/pml_replica/file_ompi4.c \
    src/pml_replica/file_bytes_ompi4.c \
    src/pml_replica/osc_ompi4.c src/pml_replica/operation_ompi4.c src/pml_replica/epoch_ompi4.c \
    src/pml_replica/share_ompi4.c src/pml_replica/window.h src/pml_replica/window_ompi4.c \
    src/pml_replica/budget.c src/pml_replica/budget.h \
    src/pml_replica/attendant_ompi4.c src/pml_replica/turn.c src/pml_replica/turn.h \
    src/pml_replica/crowd.c src/pml_replica/crowd.h \
    src/pml_replica/looks.c src/pml_replica/looks.h src/pml_replica/nap.c src/pml_replica/nap.h \
    src/pml_replica/link_ompi4.c src/pml_replica/module_ompi4.c src/pml_replica/nap_ompi4.c \
    src/pml_replica/outcome_ompi4.c src/pml_replica/output_ompi4.c \
    src/pml_replica/rally_ompi4.c src/pml_replica/request_ompi4.c \
    src/pml_replica/silent_ompi4.c src/pml_replica/transfer_ompi4.c \
    src/pml_replica/world_ompi4.c
mca_pml_replica_la_CPPFLAGS = $(AM_CPPFLAGS) $(subst -I,-isystem ,$(OMPI_CPPFLAGS)) \
    -I$(top_srcdir)/src/pml_replica -I$(top_srcdir)/src/errmgr_replica
mca_pml_replica_la_CFLAGS = $(AM_CFLAGS) -mcx16
# nodelete: PMIx may answer (silent_ompi4.c) when the job has ended and Open MPI unloads us.
mca_pml_replica_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -Wl,-z,nodelete \
    -export-symbols-regex '^mca_[a-z]*_replica_component'
mca_pml_replica_la_LIBADD = \
    libreplica.la libtransport.la libruntime.la libsurvive.la libclient.la $(OMPI_MPI_LIBS) -lmca_common_ompio

# libp2pgrid_replica.so: preloaded into the ranks, for the few calls that do not come by the PML.
component_LTLIBRARIES += libp2pgrid_replica.la
libp2pgrid_replica_la_SOURCES = \
    src/pml_replica/preload.c src/pml_replica/preload_comm.c src/pml_replica/preload_exec.c \
    src/pml_replica/preload_clock.c src/pml_replica/preload_file.c \
    src/pml_replica/preload.h
libp2pgrid_replica_la_CPPFLAGS = $(AM_CPPFLAGS) $(subst -I,-isystem ,$(OMPI_CPPFLAGS))
libp2pgrid_replica_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version
