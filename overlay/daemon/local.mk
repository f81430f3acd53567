# libdaemon: the parts of p2pd, so that unit tests and tools can link them too.
noinst_LTLIBRARIES += libdaemon.la
libdaemon_la_SOURCES = \
    overlay/daemon/addr.c overlay/daemon/addr.h \
    overlay/daemon/allocate.c overlay/daemon/allocate.h \
    overlay/daemon/allocation.c overlay/daemon/allocation.h overlay/daemon/allocation_look.c \
    overlay/daemon/authority.c overlay/daemon/authority.h \
    overlay/daemon/authority_rotate.c overlay/daemon/authority_state.h \
    overlay/daemon/beacon.c overlay/daemon/beacon.h \
    overlay/daemon/brood.c overlay/daemon/brood.h \
    overlay/daemon/listening.c overlay/daemon/listening.h \
    overlay/daemon/caller.c overlay/daemon/caller.h \
    overlay/daemon/candidate.c overlay/daemon/candidate.h \
    overlay/daemon/clock.h \
    overlay/daemon/cores.c overlay/daemon/cores.h \
    overlay/daemon/company.c overlay/daemon/company.h \
    overlay/daemon/connection.c overlay/daemon/connection.h \
    overlay/daemon/connection_state.h overlay/daemon/connection_tls.c \
    overlay/daemon/contact.c overlay/daemon/contact.h \
    overlay/daemon/datagram.c overlay/daemon/datagram.h \
    overlay/daemon/dispatch.c overlay/daemon/dispatch.h \
    overlay/daemon/door.c overlay/daemon/door.h \
    overlay/daemon/drawer.c overlay/daemon/drawer.h \
    overlay/daemon/errand.c overlay/daemon/errand.h \
    overlay/daemon/file.c overlay/daemon/file.h \
    overlay/daemon/finder.c overlay/daemon/finder.h \
    overlay/daemon/notice.c overlay/daemon/notice.h \
    overlay/daemon/reserve.c overlay/daemon/reserve.h \
    overlay/daemon/roster.c overlay/daemon/roster.h \
    overlay/daemon/topology.c overlay/daemon/topology.h \
    overlay/daemon/inquiry.c overlay/daemon/inquiry.h \
    overlay/daemon/invite.c overlay/daemon/invite.h \
    overlay/daemon/keeper.c overlay/daemon/keeper.h \
    overlay/daemon/keyfile.c overlay/daemon/keyfile.h \
    overlay/daemon/keeper_renew.c overlay/daemon/keeper_rotate.c \
    overlay/daemon/keeper_revoke.c overlay/daemon/keeper_state.h \
    overlay/daemon/ledger.c overlay/daemon/ledger.h \
    overlay/daemon/member.c overlay/daemon/member.h \
    overlay/daemon/renewal.c overlay/daemon/renewal.h \
    overlay/daemon/revocation.c overlay/daemon/revocation.h \
    overlay/daemon/rotation.c overlay/daemon/rotation.h \
    overlay/daemon/token.c overlay/daemon/token.h \
    overlay/daemon/environment.c overlay/daemon/environment.h \
    overlay/daemon/grant.c overlay/daemon/grant.h overlay/daemon/grant_state.h \
    overlay/daemon/grant_ask.c overlay/daemon/grant_job.c overlay/daemon/grant_owner.c \
    overlay/daemon/hall.c overlay/daemon/hall.h \
    overlay/daemon/hardware.c overlay/daemon/hardware.h \
    overlay/daemon/hold.c overlay/daemon/hold.h \
    overlay/daemon/hours.c overlay/daemon/hours.h \
    overlay/daemon/identity.c overlay/daemon/identity.h \
    overlay/daemon/idmap.c overlay/daemon/idmap.h \
    overlay/daemon/job.c overlay/daemon/job.h \
    overlay/daemon/job_list.c overlay/daemon/job_state.h \
    overlay/daemon/launch.c overlay/daemon/launch.h overlay/daemon/room.h \
    overlay/daemon/lender.c overlay/daemon/lender.h \
    overlay/daemon/lending.c overlay/daemon/lending.h \
    overlay/daemon/far.c \
    overlay/daemon/link.c overlay/daemon/link.h overlay/daemon/link_state.h \
    overlay/daemon/link_calls.c \
    overlay/daemon/listens.c overlay/daemon/listens.h \
    overlay/daemon/local.c overlay/daemon/local.h \
    overlay/daemon/local_calls.c overlay/daemon/local_state.h \
    overlay/daemon/local_socket.c overlay/daemon/local_socket.h \
    overlay/daemon/log.c overlay/daemon/log.h \
    overlay/daemon/look.c overlay/daemon/look.h \
    overlay/daemon/machine.c overlay/daemon/machine.h \
    overlay/daemon/near.c overlay/daemon/near.h \
    overlay/daemon/manifest.c overlay/daemon/manifest.h \
    overlay/daemon/node.h \
    overlay/daemon/overlay.c overlay/daemon/overlay.h \
    overlay/daemon/pair.c overlay/daemon/pair.h \
    overlay/daemon/pressure.c overlay/daemon/pressure.h \
    overlay/daemon/seal.c overlay/daemon/seal.h \
    overlay/daemon/refusal.c overlay/daemon/refusal.h \
    overlay/daemon/rendezvous.c overlay/daemon/rendezvous.h \
    overlay/daemon/presence.c overlay/daemon/presence.h \
    overlay/daemon/roam.c overlay/daemon/roam.h \
    overlay/daemon/round_trip.c overlay/daemon/round_trip.h \
    overlay/daemon/settings.c overlay/daemon/settings.h \
    overlay/daemon/shortage.c overlay/daemon/shortage.h \
    overlay/daemon/speed.c overlay/daemon/speed.h \
    overlay/daemon/slim.c overlay/daemon/slim.h \
    overlay/daemon/sweep.c overlay/daemon/sweep.h \
    overlay/daemon/tail.c overlay/daemon/tail.h \
    overlay/daemon/tally.c overlay/daemon/tally.h \
    overlay/daemon/terms.c overlay/daemon/terms.h \
    overlay/daemon/tunnel.c overlay/daemon/tunnel.h \
    overlay/daemon/uri.c overlay/daemon/uri.h \
    overlay/daemon/usage.c overlay/daemon/usage.h \
    overlay/daemon/visited.c overlay/daemon/visited.h \
    overlay/daemon/walk.c overlay/daemon/walk.h \
    overlay/daemon/walls.c overlay/daemon/walls.h
libdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBEXECDIR='"$(pkglibexecdir)"'
libdaemon_la_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS) $(CONFUSE_CFLAGS) \
    $(SODIUM_CFLAGS) $(HWLOC_CFLAGS)
libdaemon_la_LIBADD = libconfine.la libclient.la libcore.la $(LIBEVENT_LIBS) $(OPENSSL_LIBS) \
    $(CONFUSE_LIBS) $(SODIUM_LIBS) $(HWLOC_LIBS)

# p2pd: the daemon of one desktop.
bin_PROGRAMS += p2pd
p2pd_SOURCES = overlay/daemon/main.c
p2pd_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS)
p2pd_LDADD = libdaemon.la

# A service of systemd's user managers, which look there below ~/.local, /usr/local and /usr. In a home it says so,
# so that a copy works in another one.
EXTRA_DIST += overlay/daemon/p2pd.service.in
serviceunitdir = $(datadir)/systemd/user
install-data-hook: install-service
install-service:
	$(MKDIR_P) "$(DESTDIR)$(serviceunitdir)"
	bin="$(bindir)"; case "$$bin" in "$$HOME"/*) bin="%h$${bin#"$$HOME"}" ;; esac; \
	    sed "s,[@]bindir[@],$$bin," $(srcdir)/overlay/daemon/p2pd.service.in >"$(DESTDIR)$(serviceunitdir)/p2pd.service"
	chmod 644 "$(DESTDIR)$(serviceunitdir)/p2pd.service"
uninstall-hook: uninstall-service
uninstall-service:
	rm -f "$(DESTDIR)$(serviceunitdir)/p2pd.service"
.PHONY: install-service uninstall-service

# libconfine: keeps guests in their rooms; linked by p2pd (for the ad) and by p2pd-room.
noinst_LTLIBRARIES += libconfine.la
libconfine_la_SOURCES = \
    overlay/daemon/apart.c overlay/daemon/apart.h overlay/daemon/clone.h \
    overlay/daemon/cgroup.c overlay/daemon/cgroup.h \
    overlay/daemon/autogroup.c overlay/daemon/autogroup.h \
    overlay/daemon/confine.c overlay/daemon/confine.h \
    overlay/daemon/landlock.c overlay/daemon/landlock.h \
    overlay/daemon/porter.c overlay/daemon/porter.h \
    overlay/daemon/syscalls.c overlay/daemon/syscalls.h \
    overlay/daemon/view.c overlay/daemon/view.h
libconfine_la_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
libconfine_la_LIBADD = libclient.la $(SECCOMP_LIBS)

# p2pd-room: one for each lease that runs something.
pkglibexec_PROGRAMS += p2pd-room
p2pd_room_SOURCES = \
    overlay/daemon/brood.c overlay/daemon/brood.h \
    overlay/daemon/listening.c overlay/daemon/listening.h \
    overlay/daemon/components.c overlay/daemon/components.h \
    overlay/daemon/enter.c overlay/daemon/enter.h \
    overlay/daemon/environment.c overlay/daemon/environment.h \
    overlay/daemon/room.c overlay/daemon/room.h \
    overlay/daemon/furnish.c overlay/daemon/furnish.h \
    overlay/daemon/hall_keep.c overlay/daemon/hall.h \
    overlay/daemon/sweep.c overlay/daemon/sweep.h \
    overlay/daemon/tail.c overlay/daemon/tail.h \
    overlay/daemon/usage.c overlay/daemon/usage.h
p2pd_room_CPPFLAGS = $(AM_CPPFLAGS) -DCOMPONENTDIR='"$(componentdir)"' \
    -DCOMPONENT_FILES='"$(component_files)"'
p2pd_room_LDADD = libconfine.la libclient.la libcore.la
