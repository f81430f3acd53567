# SPDX-License-Identifier: BSD-3-Clause
# The overlay: what each folder is for stands in doc/source.md; what each may include in its .may_include.
# libcore: the protocols as state machines, and their messages; needs nothing but mem*, str* and assert
# (test/unit/core_symbols).
noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES = \
    overlay/base/hash.h overlay/base/id.c overlay/base/id.h overlay/base/random.h overlay/base/recent.c overlay/base/recent.h overlay/base/text.c overlay/base/text.h overlay/base/window.c \
    overlay/base/window.h \
    overlay/core/files/fetch.c overlay/core/files/fetch.h overlay/core/files/swarm.c overlay/core/files/swarm.h \
    overlay/core/files/merge.c overlay/core/files/merge.h overlay/core/files/result.c overlay/core/files/result.h \
    overlay/core/lease/borrow.c overlay/core/lease/borrow.h overlay/core/lease/borrow_read.c overlay/core/lease/borrow_say.c \
    overlay/core/lease/candidate.c overlay/core/lease/candidate.h overlay/core/lease/claim.c \
    overlay/core/lease/claim.h overlay/core/lease/domain.c overlay/core/lease/domain.h overlay/core/lease/fit.c \
    overlay/core/lease/fit.h overlay/core/lease/lease.c overlay/core/lease/lease.h \
    overlay/core/lease/lend.c overlay/core/lease/lend.h overlay/core/lease/lend_ask.c \
    overlay/core/lease/wait.c overlay/core/lease/wait.h overlay/core/lease/waitlist.c overlay/core/lease/waitlist.h \
    overlay/core/lease/lend_queue.c overlay/core/lease/lend_end.c overlay/core/lease/lend_say.c overlay/core/lease/lend_state.h overlay/core/lease/lending_state.c overlay/core/lease/lending_state.h overlay/core/lease/lived.c \
    overlay/core/lease/lived.h overlay/core/lease/phrase.c overlay/core/lease/phrase.h \
    overlay/core/lease/quantity.c overlay/core/lease/quantity.h overlay/core/lease/request.c \
    overlay/core/lease/request.h overlay/core/lease/request_message.h overlay/core/lease/use.h \
    overlay/core/lease/require.c overlay/core/lease/require.h overlay/core/lease/require_fits.c \
    overlay/core/lease/require_tree.h overlay/core/lease/search.c overlay/core/lease/search.h \
    overlay/core/lease/search_event.c overlay/core/lease/search_look.c overlay/core/lease/search_state.h \
    overlay/core/lease/share.c overlay/core/lease/share.h overlay/core/lease/shortage.c \
    overlay/core/lease/shortage.h \
    overlay/core/ring/act.c overlay/core/ring/ask.c overlay/core/ring/copies.c overlay/core/ring/finger.c \
    overlay/core/ring/neighbour.c overlay/core/ring/outsider.c overlay/core/ring/records.c \
    overlay/core/ring/ring.c overlay/core/ring/ring.h overlay/core/ring/ring_state.h overlay/core/ring/route.c \
    overlay/core/ring/store.c overlay/core/ring/store.h overlay/core/ring/vivaldi.c overlay/core/ring/vivaldi.h \
    overlay/core/ring/watch.c \
    overlay/core/swim/gossip.c overlay/core/swim/group.c overlay/core/swim/group.h \
    overlay/core/swim/group_state.h overlay/core/swim/suspicion.c \
    overlay/core/tree/ads.c overlay/core/tree/bucket.c overlay/core/tree/cell.c overlay/core/tree/cell.h \
    overlay/core/tree/inner.c overlay/core/tree/inner.h overlay/core/tree/nearest.c overlay/core/tree/report.c \
    overlay/wire/files.def overlay/wire/group.def overlay/wire/jobs.def overlay/wire/lease.def overlay/wire/link.def overlay/wire/results.def overlay/wire/local.def \
    overlay/wire/member.def overlay/wire/message.c overlay/wire/message.def overlay/wire/message.h \
    overlay/wire/message_only.h overlay/wire/message_to.h overlay/wire/message_undef.h overlay/wire/receiver.def \
    overlay/wire/ring.def overlay/wire/room.def overlay/wire/stream.h overlay/wire/wire.c overlay/wire/wire.h

# libclient: what components and tools link to talk to the local daemon.
noinst_LTLIBRARIES += libclient.la
libclient_la_SOURCES = \
    overlay/base/confinement.c overlay/base/confinement.h overlay/base/core_list.c overlay/base/core_list.h \
    overlay/base/names.c overlay/base/names.h \
    overlay/base/err.c overlay/base/err.h overlay/base/beneath.h overlay/base/lane_roots.c overlay/base/lane_roots.h overlay/base/ports.c overlay/base/ports.h overlay/base/size.c \
    overlay/base/size.h \
    overlay/client/ask.h overlay/client/client.c overlay/client/files.c overlay/client/p2pgrid.h overlay/client/socket_path.c \
    overlay/client/collect.c overlay/client/collect.h overlay/client/results.c overlay/client/results.h \
    overlay/client/socket_path.h overlay/client/requests.c overlay/client/words.h \
    overlay/files/binaries.c overlay/files/binaries.h \
    overlay/base/file.c overlay/base/file.h overlay/base/file_at.c overlay/base/file_at.h overlay/files/hashes.c overlay/files/hashes.h \
    overlay/files/list.c overlay/files/list.h overlay/files/list_code.c overlay/files/list_end.c overlay/files/list_state.h \
    overlay/files/elf.c overlay/files/elf.h overlay/files/gather.c overlay/files/gather.h \
    overlay/files/gather_state.h overlay/files/gather_walk.c overlay/files/gathered.c overlay/files/gathered.h \
    overlay/files/gather_list.c overlay/files/gather_list.h overlay/files/gather_python.c \
    overlay/files/libraries.c overlay/files/libraries.h overlay/files/needs.c overlay/files/needs.h overlay/files/pattern.c overlay/files/pattern.h \
    overlay/files/secret.c overlay/files/secret.h \
    overlay/files/writer.c overlay/files/writer.h overlay/files/upper.c overlay/files/upper.h \
    overlay/manifest/content.c overlay/manifest/content.h overlay/manifest/folder.c overlay/manifest/folder.h \
    overlay/manifest/input.c overlay/manifest/input.h overlay/manifest/program.c overlay/manifest/program.h
libclient_la_CFLAGS = $(AM_CFLAGS) $(SODIUM_CFLAGS)
libclient_la_LIBADD = $(SODIUM_LIBS)

# libp2pgrid: the same for programs of others. All that p2pgrid.h declares, and nothing else.
lib_LTLIBRARIES += libp2pgrid.la
libp2pgrid_la_SOURCES =
libp2pgrid_la_LIBADD = libclient.la libcore.la
libp2pgrid_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex \
    '^(client_(open|close|fd|allocate|allocate_waiting|reserve|tell_job|tell_places|tell_output|files|launch|lease_status|release|event)|id_.*|addr_equal|err_set)$$'
# It is linked again when the line above changes.
EXTRA_libp2pgrid_la_DEPENDENCIES = $(srcdir)/overlay/local.mk
EXTRA_DIST += overlay/client/header.awk overlay/client/p2pgrid.pc.in
nodist_include_HEADERS = overlay/client/installed/p2pgrid.h
overlay/client/installed/p2pgrid.h: $(libclient_la_SOURCES) $(libcore_la_SOURCES) overlay/client/header.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && awk -v top=$(srcdir) -f $(srcdir)/overlay/client/header.awk overlay/client/p2pgrid.h >$@
CLEANFILES += overlay/client/installed/p2pgrid.h
all-local: overlay/client/installed/p2pgrid.h
# Where the loader does not look by itself, programs are told where the library is.
pkgconfigdir = $(libdir)/pkgconfig
install-data-hook: install-pkgconfig
install-pkgconfig:
	$(MKDIR_P) "$(DESTDIR)$(pkgconfigdir)"
	case "$(libdir)" in /usr/lib*) rpath= ;; *) rpath=" -Wl,-rpath,$(libdir)" ;; esac; \
	    sed "s,[@]prefix[@],$(prefix),; s,[@]includedir[@],$(includedir),; s,[@]libdir[@],$(libdir),; \
	    s,[@]version[@],$(PACKAGE_VERSION),; s#[@]rpath[@]#$$rpath#" $(srcdir)/overlay/client/p2pgrid.pc.in \
	    >"$(DESTDIR)$(pkgconfigdir)/p2pgrid.pc"
	chmod 644 "$(DESTDIR)$(pkgconfigdir)/p2pgrid.pc"
uninstall-hook: uninstall-pkgconfig
uninstall-pkgconfig:
	rm -f "$(DESTDIR)$(pkgconfigdir)/p2pgrid.pc"
.PHONY: install-pkgconfig uninstall-pkgconfig

# libdaemon: the parts of p2pd, so that unit tests and tools can link them too. Such a library has no other in itself:
# libtool would unpack and rename each object, which takes 3900 processes. What is linked names all of them.
daemon_libraries = libdaemon.la libconfine.la
noinst_LTLIBRARIES += libdaemon.la
libdaemon_la_SOURCES = \
    overlay/base/addr.c overlay/base/addr.h overlay/base/bytes.h overlay/base/clock.h \
    overlay/base/helper.c overlay/base/helper.h \
    overlay/base/idmap.c overlay/base/idmap.h overlay/base/log.c overlay/base/log.h \
    overlay/borrow/borrowed.c overlay/borrow/borrowed.h overlay/borrow/borrowed_launch.c \
    overlay/borrow/borrowed_state.h overlay/borrow/borrowed_tell.c overlay/borrow/reservations.c \
    overlay/borrow/reservations.h overlay/borrow/roster.c overlay/borrow/roster.h overlay/borrow/search_run.c \
    overlay/borrow/search_run.h overlay/borrow/wait_run.c overlay/borrow/wait_run.h overlay/borrow/searches.c overlay/borrow/searches.h \
    overlay/crypto/aead.c overlay/crypto/aead.h overlay/crypto/identity.c overlay/crypto/identity.h \
    overlay/crypto/keyfile.c overlay/crypto/keyfile.h overlay/crypto/revocation.c overlay/crypto/revocation.h \
    overlay/crypto/rotation.c overlay/crypto/rotation.h overlay/crypto/session_keys.c \
    overlay/crypto/session_keys.h overlay/crypto/signature.c overlay/crypto/signature.h \
    overlay/daemon/daemon.c overlay/daemon/daemon.h overlay/daemon/dispatch.c overlay/node/node.h \
    overlay/node/history.c overlay/node/history.h overlay/borrow/outputs.c overlay/borrow/outputs.h overlay/membership/sightings.c overlay/membership/sightings.h \
    overlay/json/rows.c overlay/json/rows.h \
    overlay/local/members.c overlay/local/members.h overlay/local/overview.c \
    overlay/local/peer_cache.c overlay/local/peer_cache.h \
    overlay/discovery/ad_search.c overlay/discovery/ad_search.h overlay/discovery/beacon.c \
    overlay/discovery/beacon.h overlay/discovery/churn.c overlay/discovery/churn.h overlay/discovery/contact.c \
    overlay/discovery/contact.h overlay/discovery/finder.c overlay/discovery/finder.h \
    overlay/discovery/overlay.c overlay/discovery/overlay.h overlay/discovery/probe_replies.c \
    overlay/discovery/probe_replies.h overlay/discovery/walk.c overlay/discovery/walk.h \
    overlay/files/fetcher.c overlay/files/fetcher.h overlay/files/fetcher_state.h overlay/files/fetching.c \
    overlay/files/giver.c overlay/files/installed.c overlay/files/installed.h overlay/files/offer.c \
    overlay/files/pack.c overlay/files/pack.h overlay/files/packed.c overlay/files/packed.h \
    overlay/files/store.c overlay/files/store.h overlay/files/store_state.h \
    overlay/files/tree.c overlay/files/tree_check.c overlay/files/tree_files.c \
    overlay/host/address_monitor.c overlay/host/address_monitor.h overlay/host/caller.c overlay/host/caller.h \
    overlay/host/cores.c overlay/host/cores.h \
    overlay/host/hardware.c overlay/host/hardware.h overlay/host/listening.c overlay/host/listening.h \
    overlay/host/machine.c overlay/host/machine.h overlay/host/presence.c overlay/host/presence.h \
    overlay/host/proctree.c overlay/host/proctree.h overlay/host/speed.c overlay/host/speed.h \
    overlay/host/tcp_socket.c overlay/host/tcp_socket.h overlay/host/trim.c overlay/host/trim.h \
    overlay/lend/allowlist.c overlay/lend/allowlist.h overlay/lend/grant.c overlay/lend/grant.h \
    overlay/lend/grant_files.c overlay/lend/grant_job.c overlay/lend/grant_owner.c overlay/lend/grant_state.h \
    overlay/lend/inquiry.c overlay/lend/inquiry.h overlay/lend/launch.c overlay/lend/launch.h \
    overlay/lend/lender.c overlay/lend/lender.h overlay/lend/lending.c overlay/lend/lending.h \
    overlay/lend/listens.c overlay/lend/listens.h overlay/lend/refusal.c overlay/lend/refusal.h overlay/lend/results.c overlay/lend/results.h \
    overlay/local/grid_jobs.c overlay/local/grid_jobs.h overlay/local/told_jobs.c overlay/local/told_jobs.h \
    overlay/local/local.c overlay/local/local.h overlay/local/local_calls.c overlay/local/local_files.c overlay/local/local_socket.c \
    overlay/local/local_socket.h overlay/local/local_state.h overlay/local/rendezvous.c \
    overlay/local/relay.c overlay/local/relay.h overlay/local/rendezvous.h overlay/local/rpc.c overlay/local/rpc.h overlay/local/status.c \
    overlay/local/status.h overlay/wire/version.c overlay/wire/version.h \
    overlay/local/status.h overlay/local/topology.c overlay/local/topology.h \
    overlay/manifest/manifest.c overlay/manifest/manifest.h \
    overlay/membership/authority.c overlay/membership/authority.h overlay/membership/authority_certificate.c \
    overlay/membership/authority_files.c overlay/membership/authority_lock.c overlay/membership/authority_rotate.c \
    overlay/membership/authority_state.h overlay/membership/certificates.c overlay/membership/certificates.h \
    overlay/membership/invitations.c overlay/membership/invitations.h overlay/membership/ledger.c \
    overlay/membership/ledger.h overlay/membership/member.c overlay/membership/member.h \
    overlay/membership/registrar.c overlay/membership/registrar.h overlay/membership/registrar_renew.c \
    overlay/membership/registrar_revoke.c overlay/membership/registrar_rotate.c \
    overlay/membership/registrar_state.h overlay/membership/renewal.c overlay/membership/renewal.h \
    overlay/membership/token.c overlay/membership/token.h \
    overlay/sandbox/environment.c overlay/sandbox/environment.h overlay/sandbox/forkserver.c \
    overlay/sandbox/forkserver.h overlay/sandbox/limits.c overlay/sandbox/limits.h overlay/sandbox/pressure.c \
    overlay/sandbox/pressure.h overlay/sandbox/room.h \
    overlay/sandbox/tail.c overlay/sandbox/tail.h \
    overlay/sandbox/usage.c overlay/sandbox/usage.h \
    overlay/settings/hours.c overlay/settings/hours.h overlay/settings/settings.c overlay/settings/settings.h \
    overlay/settings/edit.c overlay/settings/edit.h overlay/settings/policy.c overlay/settings/policy.h \
    overlay/settings/terms.c overlay/settings/terms.h \
    overlay/transport/connection.c overlay/transport/pace.c overlay/transport/pace.h \
    overlay/transport/connection.h overlay/transport/connection_state.h overlay/transport/connection_tls.c \
    overlay/transport/datagram.c overlay/transport/datagram.h overlay/transport/listener.c overlay/transport/listener.h \
    overlay/transport/link.c overlay/transport/link.h overlay/transport/link_calls.c \
    overlay/transport/peer_link.c overlay/transport/link_state.h overlay/transport/other_versions.c \
    overlay/transport/other_versions.h overlay/transport/round_trip.c \
    overlay/transport/round_trip.h overlay/transport/tunnel.c overlay/transport/tunnel.h \
    overlay/transport/uri.c overlay/transport/uri.h \
    overlay/watch/job.c overlay/watch/job.h overlay/watch/job_list.c overlay/watch/job_state.h \
    overlay/watch/notice.c overlay/watch/notice.h
libdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) -DPAGE_FILES='"overlay/web/page.inc"' -DPKGLIBEXECDIR='"$(pkglibexecdir)"'
libdaemon_la_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS) $(CONFUSE_CFLAGS) \
    $(SODIUM_CFLAGS) $(HWLOC_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS)
libdaemon_la_LIBADD = $(LIBEVENT_LIBS) $(OPENSSL_LIBS) \
    $(CONFUSE_LIBS) $(SODIUM_LIBS) $(HWLOC_LIBS) $(JANSSON_LIBS) $(ZSTD_LIBS)

# p2pd: the daemon of one desktop.
bin_PROGRAMS += p2pd
p2pd_SOURCES = overlay/daemon/main.c
p2pd_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS)
p2pd_LDADD = $(daemon_libraries) libclient.la libcore.la

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
    overlay/sandbox/autogroup.c overlay/sandbox/autogroup.h overlay/sandbox/broker.c overlay/sandbox/broker.h \
    overlay/sandbox/broker_guest.c overlay/sandbox/broker_judge.c overlay/sandbox/broker_state.h \
    overlay/sandbox/cgroup.c overlay/sandbox/cgroup.h overlay/sandbox/clone.h overlay/sandbox/confine.c \
    overlay/sandbox/confine.h overlay/sandbox/copy_tree.c overlay/sandbox/copy_tree.h \
    overlay/sandbox/lanes.c overlay/sandbox/lanes.h overlay/sandbox/landlock.c overlay/sandbox/landlock.h overlay/sandbox/namespaces.c \
    overlay/sandbox/namespaces.h overlay/sandbox/syscalls.c overlay/sandbox/syscalls.h \
    overlay/sandbox/outside.c overlay/sandbox/outside.h overlay/sandbox/placeholder.c overlay/sandbox/placeholder.h \
    overlay/sandbox/travelled.c overlay/sandbox/travelled.h \
    overlay/sandbox/sweep.c overlay/sandbox/sweep.h overlay/sandbox/view.c overlay/sandbox/view.h
libconfine_la_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
libconfine_la_LIBADD = $(SECCOMP_LIBS)

# p2pd-room: one for each lease that runs something.
pkglibexec_PROGRAMS += p2pd-room
p2pd_room_SOURCES = \
    overlay/host/listening.c overlay/host/listening.h overlay/host/proctree.c overlay/host/proctree.h \
    overlay/host/tcp_socket.c overlay/host/tcp_socket.h overlay/sandbox/components.c overlay/sandbox/components.h overlay/sandbox/environment.c \
    overlay/sandbox/environment.h overlay/sandbox/forkserver.h overlay/sandbox/forkserver_serve.c \
    overlay/sandbox/room.c overlay/sandbox/room.h \
    overlay/sandbox/room_dirs.c overlay/sandbox/room_dirs.h overlay/sandbox/room_exec.c \
    overlay/sandbox/room_exec.h overlay/sandbox/tail.c \
    overlay/sandbox/tail.h overlay/sandbox/usage.c overlay/sandbox/usage.h
p2pd_room_CPPFLAGS = $(AM_CPPFLAGS) -DCOMPONENTDIR='"$(componentdir)"' \
    -DCOMPONENT_FILES='"$(component_files)"'
p2pd_room_LDADD = libconfine.la libclient.la libcore.la

overlay_folders = base borrow client core/files core/lease core/ring core/swim core/tree crypto daemon discovery files host json lend \
    local manifest membership node sandbox settings tools top transport watch web wire
EXTRA_DIST += $(overlay_folders:%=overlay/%/.may_include)
