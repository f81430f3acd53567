# SPDX-License-Identifier: BSD-3-Clause
# The runtime components are one object with several names: Open MPI loads each name as a component, and
# since they are one file, they share what they know. libruntime is what they decide; it knows no Open MPI type.
# A further component adds its files to mca_ras_p2p_la_SOURCES and its name to component_names.
noinst_LTLIBRARIES += libruntime.la
libruntime_la_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
libruntime_la_LIBADD = $(SODIUM_LIBS)
libruntime_la_SOURCES = \
    src/survive/commit.c src/survive/commit.h \
    src/common/aggregate.c src/common/aggregate.h \
    src/common/began.h \
    src/common/defaults.c src/common/defaults.h \
    src/common/selection.c src/common/selection.h \
    src/common/grid.c src/common/grid.h \
    src/common/guard.c src/common/guard.h \
    src/common/import_hook.c src/common/import_hook.h \
    src/common/listeners.c src/common/listeners.h \
    src/survive/names.h \
    src/common/nodelay.c src/common/nodelay.h \
    src/common/plug_ins.c src/common/plug_ins.h \
    src/common/secret.c src/common/secret.h \
    src/common/socket_user.c src/common/socket_user.h \
    src/plm_p2p/command.c src/plm_p2p/command.h \
    src/plm_p2p/progress.c src/plm_p2p/progress.h \
    src/plm_p2p/vnodes.c src/plm_p2p/vnodes.h \
    src/plm_p2p/trust.c src/plm_p2p/trust.h \
    src/ras_p2p/hosts.c src/ras_p2p/hosts.h \
    src/ras_p2p/nodename.c src/ras_p2p/nodename.h \
    src/ras_p2p/patience.c src/ras_p2p/patience.h \
    src/ras_p2p/request.c src/ras_p2p/request.h \
    src/rmaps_locality/policy.c src/rmaps_locality/policy.h \
    src/rtc_p2p/lane_enter.c src/rtc_p2p/lane_enter.h

component_LTLIBRARIES += mca_ras_p2p.la
mca_ras_p2p_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS) $(P2P_VERSION)
mca_ras_p2p_la_CFLAGS = $(AM_CFLAGS) -fno-strict-aliasing
# nodelete: the thread in which Open MPI listens still calls our accept() (common/guard.c) when mpirun or an orted ends and
# unloads us.
mca_ras_p2p_la_LDFLAGS = -module -avoid-version -Wl,-z,nodelete -export-symbols-regex '^mca_' $(AM_LDFLAGS)
EXTRA_mca_ras_p2p_la_DEPENDENCIES = $(srcdir)/src/local.mk # what it exports
mca_ras_p2p_la_LIBADD = libruntime.la libsurvive.la libclient.la libcore.la $(OMPI_RTE_LIBS) $(HWLOC_LIBS)
mca_ras_p2p_la_SOURCES = \
    src/common/aggregate_orte4.c src/common/selection_orte4.c \
    src/common/log.h src/common/log_opal4.c \
    src/common/param.h src/common/param_opal4.c \
    src/common/state.h src/common/state_orte4.c \
    src/common/stock.h src/common/stock_orte4.c \
    src/errmgr_replica/errmgr_replica.h src/errmgr_replica/errmgr_replica_component_orte4.c \
    src/errmgr_replica/survive_orte4.h src/errmgr_replica/beat_orte4.c \
    src/errmgr_replica/end_orte4.c src/errmgr_replica/hardware_orte4.c src/errmgr_replica/processors_orte4.c \
    src/errmgr_replica/hnp_orte4.c src/errmgr_replica/node_ids_orte4.c \
    src/errmgr_replica/loss_orte4.c src/errmgr_replica/messages_orte4.c \
    src/errmgr_replica/orted_orte4.c src/errmgr_replica/notify_orte4.c \
    src/errmgr_replica/recall_orte4.c src/errmgr_replica/report_orte4.c \
    src/errmgr_replica/flush_orte4.c src/errmgr_replica/map_orte4.c \
    src/grpcomm_replica/grpcomm_replica_component_orte4.c \
    src/iof_replica/iof_replica.h src/iof_replica/iof_replica_component_orte4.c \
    src/iof_replica/hold_orte4.c src/iof_replica/input_orte4.c \
    src/iof_replica/output_orte4.c src/iof_replica/pipe_orte4.c \
    src/iof_replica/tap_orte4.c \
    src/plm_p2p/plm_p2p.h src/plm_p2p/plm_p2p_component_orte4.c \
    src/plm_p2p/daemons_orte4.c src/plm_p2p/files_orte4.c src/plm_p2p/results_orte4.c src/plm_p2p/launch_orte4.c \
    src/plm_p2p/publish_orte4.c src/plm_p2p/spawn_orte4.c \
    src/plm_p2p/terms_orte4.c src/plm_p2p/trust_orte4.c \
    src/plm_p2p/watch_orte4.c \
    src/ras_p2p/files_orte4.c \
    src/ras_p2p/ras_p2p.h src/ras_p2p/ras_p2p_component_orte4.c src/ras_p2p/ras_p2p_orte4.c \
    src/rmaps_locality/rmaps_locality.h \
    src/rmaps_locality/rmaps_locality_component_orte4.c src/rmaps_locality/rmaps_locality_orte4.c \
    src/rtc_p2p/rtc_p2p_component_orte4.c

# The other names of the object.
component_names = mca_errmgr_replica mca_grpcomm_replica mca_iof_replica mca_plm_p2p mca_rmaps_locality mca_rtc_p2p
# Those of mca_pml_replica.so.
mpi_component_names = mca_fs_replica mca_fbtl_replica mca_osc_replica mca_sharedfp_replica
component_files = $(component_LTLIBRARIES:.la=.so) $(component_names:=.so) $(mpi_component_names:=.so)

# mpirun --am p2p: where Open MPI looks for such files if the components go to its own folder.
amcadir = $(if $(filter $(stock_componentdir),$(componentdir)),$(stock_amcadir),$(dir $(componentdir))amca-param-sets)
dist_amca_DATA = src/ras_p2p/p2p

# What `make install` gives, for running from the build tree:
#     OMPI_MCA_mca_base_component_path=$PWD/components:$(stock_componentdir)
all-local: components
components: $(component_LTLIBRARIES)
	$(AM_V_GEN)rm -rf $@ && $(MKDIR_P) $@ && for la in $(component_LTLIBRARIES); do \
	    $(LN_S) ../.libs/$${la%.la}.so $@/$${la%.la}.so || exit 1; done && \
	for name in $(component_names); do \
	    $(LN_S) ../.libs/mca_ras_p2p.so $@/$$name.so || exit 1; done && \
	for name in $(mpi_component_names); do \
	    $(LN_S) ../.libs/mca_pml_replica.so $@/$$name.so || exit 1; done
clean-local:
	rm -rf components

# Open MPI looks at every file of the folder, so libtool's own files go.
install-data-hook:
	cd $(DESTDIR)$(componentdir) && rm -f $(component_LTLIBRARIES) && for name in $(component_names); do \
	    rm -f $$name.so && $(LN_S) mca_ras_p2p.so $$name.so || exit 1; done && \
	for name in $(mpi_component_names); do \
	    rm -f $$name.so && $(LN_S) mca_pml_replica.so $$name.so || exit 1; done
uninstall-hook:
	cd $(DESTDIR)$(componentdir) 2>/dev/null || exit 0; for name in $(component_names) $(mpi_component_names) $(component_LTLIBRARIES:.la=); do \
	    rm -f $$name.so; done

src_folders = common errmgr_replica grpcomm_replica iof_replica plm_p2p pmix_server pml_replica pml_replica/file \
    pml_replica/preload pml_replica/wait pml_replica/window ras_p2p replica rmaps_locality rtc_p2p survive transport
EXTRA_DIST += $(src_folders:%=src/%/.may_include)
