# p2pctl: one file for each subcommand.
bin_PROGRAMS += p2pctl
p2pctl_SOURCES = \
    overlay/tools/print_json.c overlay/tools/print_json.h \
    overlay/tools/advise.c \
    overlay/tools/cache.c \
    overlay/tools/alloc.c \
    overlay/tools/all_jobs.c overlay/tools/all_jobs.h \
    overlay/tools/all_peers.c overlay/tools/all_peers.h \
    overlay/tools/grid.c \
    overlay/tools/history.c overlay/tools/jobs.c overlay/tools/log.c overlay/tools/members.c \
    overlay/tools/moment.c overlay/tools/moment.h overlay/tools/notices.c overlay/tools/notices.h overlay/tools/own_jobs.c overlay/tools/own_jobs.h \
    overlay/tools/conf.c overlay/tools/conf.h \
    overlay/tools/diagnosis.c overlay/tools/diagnosis.h overlay/tools/doctor.c \
    overlay/tools/service.c overlay/tools/service.h overlay/tools/summary.c \
    overlay/tools/invite.c \
    overlay/tools/join.c \
    overlay/tools/newcomer.c overlay/tools/newcomer.h \
    overlay/tools/odds.c overlay/tools/odds.h \
    overlay/tools/lend.c \
    overlay/tools/order.c overlay/tools/order.h \
    overlay/tools/p2pctl.c \
    overlay/tools/passphrase.c overlay/tools/passphrase.h \
    overlay/tools/peers.c \
    overlay/tools/printed.c overlay/tools/printed.h \
    overlay/tools/pick.c overlay/tools/pick.h \
    overlay/tools/revoke.c \
    overlay/tools/rotate.c overlay/tools/rotate.h \
    overlay/tools/status.c \
    overlay/tools/tool.c overlay/tools/tool.h \
    overlay/tools/web.c \
    overlay/tools/why.c
p2pctl_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -DSERVICE_UNIT='"overlay/tools/service_unit.inc"'
p2pctl_LDADD = $(daemon_libraries) libruntime.la libsurvive.la libclient.la libcore.la $(JANSSON_LIBS) -lm
nodist_p2pctl_SOURCES = overlay/tools/service_unit.inc
# The unit that `p2pctl service install` writes is the one that `make install` gives.
overlay/tools/service_unit.inc: overlay/daemon/p2pd.service.in
	$(AM_V_GEN)$(MKDIR_P) overlay/tools && sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $(srcdir)/overlay/daemon/p2pd.service.in >$@
CLEANFILES += overlay/tools/service_unit.inc
$(p2pctl_OBJECTS): overlay/tools/service_unit.inc
