# SPDX-License-Identifier: BSD-3-Clause
# mca_pml_replica.so: the two, under Open MPI's calls.
component_LTLIBRARIES += mca_pml_replica.la
mca_pml_replica_la_SOURCES = \
    src/common/log.h src/common/log_opal4.c src/common/param.h src/common/param_opal4.c \
    src/pml_replica/pml_replica_component_ompi4.c src/pml_replica/glue.h src/pml_replica/preload/preload.h \
    src/pml_replica/comm_ompi4.c src/pml_replica/file/file.h src/pml_replica/file/file_ompi4.c \
    src/pml_replica/file/file_bytes_ompi4.c src/pml_replica/file/home.c src/pml_replica/file/home.h \
    src/pml_replica/file/batch.c src/pml_replica/file/batch.h src/pml_replica/file/homes.h \
    src/pml_replica/file/view_name.c src/pml_replica/file/view_name.h \
    src/pml_replica/file/homes_ompi4.c src/pml_replica/file/homes_fs_ompi4.c \
    src/pml_replica/file/agent_ompi4.c src/pml_replica/file/wire_ompi4.c src/pml_replica/file/wire.h \
    src/pml_replica/window/osc_ompi4.c src/pml_replica/window/operation_ompi4.c src/pml_replica/window/reply_ompi4.c src/pml_replica/window/epoch_ompi4.c \
    src/pml_replica/file/share_ompi4.c src/pml_replica/window/window.h src/pml_replica/window/window_ompi4.c \
    src/pml_replica/window/budget.c src/pml_replica/window/budget.h \
    src/pml_replica/window/lock_queue.c src/pml_replica/window/lock_queue.h \
    src/pml_replica/wait/progress_ompi4.c src/pml_replica/wait/biased_lock.c src/pml_replica/wait/biased_lock.h \
    src/pml_replica/wait/contention.c src/pml_replica/wait/contention.h \
    src/pml_replica/wait/spin.c src/pml_replica/wait/spin.h src/pml_replica/wait/backoff.c src/pml_replica/wait/backoff.h \
    src/pml_replica/link_ompi4.c src/pml_replica/module_ompi4.c src/pml_replica/wait/backoff_ompi4.c \
    src/pml_replica/outcome_ompi4.c src/pml_replica/answers_ompi4.c src/pml_replica/output_ompi4.c \
    src/pml_replica/barrier_ompi4.c src/pml_replica/request_ompi4.c \
    src/pml_replica/silent_ompi4.c src/pml_replica/transfer_ompi4.c src/pml_replica/heap.c src/pml_replica/heap.h \
    src/pml_replica/world_ompi4.c
mca_pml_replica_la_CPPFLAGS = $(AM_CPPFLAGS) $(subst -I,-isystem ,$(OMPI_CPPFLAGS)) $(P2P_VERSION)
mca_pml_replica_la_CFLAGS = $(AM_CFLAGS) $(P2P_LTO) -mcx16
# nodelete: PMIx may answer (silent_ompi4.c) when the job has ended and Open MPI unloads us.
mca_pml_replica_la_LDFLAGS = $(AM_LDFLAGS) $(P2P_LTO) -module -avoid-version -Wl,-z,nodelete \
    -export-symbols-regex '^mca_[a-z]*_replica_component'
EXTRA_mca_pml_replica_la_DEPENDENCIES = $(srcdir)/src/pml_replica/local.mk # what it exports
mca_pml_replica_la_LIBADD = \
    libreplica.la libtransport.la libruntime.la libsurvive.la libclient.la libcore.la $(OMPI_MPI_LIBS) -lmca_common_ompio

# libp2pgrid_replica.so: preloaded into the ranks, for the few calls that do not come by the PML.
component_LTLIBRARIES += libp2pgrid_replica.la
libp2pgrid_replica_la_SOURCES = \
    src/pml_replica/preload/preload.c src/pml_replica/preload/preload_comm.c src/pml_replica/preload/preload_exec.c \
    src/pml_replica/preload/preload_clock.c src/pml_replica/preload/preload_file.c \
    src/pml_replica/preload/preload_caller.c src/pml_replica/preload/preload_machine.c \
    src/pml_replica/preload/preload_random.c src/pml_replica/preload/random.h \
    src/pml_replica/preload/caller.h src/pml_replica/preload/preload.h
libp2pgrid_replica_la_LIBADD = libdraws.la
libp2pgrid_replica_la_CPPFLAGS = $(AM_CPPFLAGS) $(subst -I,-isystem ,$(OMPI_CPPFLAGS))
libp2pgrid_replica_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version
# What that decides alone. Nothing of it is to be seen by the program.
noinst_LTLIBRARIES += libdraws.la
libdraws_la_SOURCES = \
    src/pml_replica/preload/draws.c src/pml_replica/preload/draws.h src/common/secret.c src/common/secret.h \
    src/survive/level.c src/survive/level.h overlay/base/err.c overlay/base/err.h
libdraws_la_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
libdraws_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libdraws_la_LIBADD = $(SODIUM_LIBS)
