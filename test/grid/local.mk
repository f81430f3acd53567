# Tests of whole grids: scripts that start daemons and mpiruns. Names one a line.
grid_scripts = \
    test/grid/lan \
    test/grid/launch \
    test/grid/replaced \
    test/grid/refusals \
    test/grid/words \
    test/grid/living \
    test/grid/kept_output \
    test/grid/wait \
    test/grid/summary \
    test/grid/top \
    test/grid/web \
    test/grid/web_axe \
    test/grid/doctor \
    test/grid/tutorial \
    test/grid/as_stock \
    test/grid/benches \
    test/grid/unnoticed \
    test/grid/endings \
    test/grid/fetched \
    test/grid/forkserver_stopped \
    test/grid/full_disk \
    test/grid/siblings \
    test/grid/allocation \
    test/grid/alloc \
    test/grid/binding \
    test/grid/draws \
    test/grid/machine \
    test/grid/processors \
    test/grid/brought \
    test/grid/revoked \
    test/grid/knocked \
    test/grid/collect \
    test/grid/leave \
    test/grid/logout \
    test/grid/broken \
    test/grid/contest \
    test/grid/quick \
    test/grid/elsewhere \
    test/grid/inputs \
    test/grid/travels \
    test/grid/unfit \
    test/grid/why \
    test/grid/replication \
    test/grid/drift \
    test/grid/languages \
    test/grid/logbook \
    test/grid/rooms \
    test/grid/ring \
    test/grid/answers \
    test/grid/newcomer \
    test/grid/tunnel \
    test/grid/desktops \
    test/grid/desktop_files \
    test/grid/grid_tool \
    test/grid/near \
    test/grid/far \
    test/grid/told \
    test/grid/netns \
    test/grid/uneven \
    test/grid/updated \
    test/grid/systemd \
    test/grid/versions \
    test/grid/json \
    test/grid/wire \
    test/grid/plain_user \
    test/grid/kill_campaign \
    test/grid/silent_host \
    test/grid/crowded \
    test/grid/survive_io \
    test/grid/one_sided \
    test/grid/own_files \
    test/grid/views \
    test/grid/no_overlay \
    test/grid/printed \
    test/grid/results \
    test/grid/scripted \
    test/grid/reuse \
    test/grid/acceptance \
    test/grid/acceptance_apart \
    test/grid/acceptance_spared
GRID += $(grid_scripts)
EXTRA_DIST += test/grid/browser.py test/grid/crowd.py test/grid/synthetic.js test/grid/web.py test/grid/leases.sh test/grid/lib.sh test/grid/no_overlay.sh test/grid/raw.h test/grid/root.sh $(grid_scripts)
# A bare holder of leases, one who says wrong things, one who does not wait for an answer, and one who goes on writing,
# for tests of the daemons alone.
# A program that asks a daemon all that daemons answer.
EXTRA_PROGRAMS += test/grid/asks
test_grid_asks_SOURCES = test/grid/asks.c test/security/session.c test/security/session.h
test_grid_asks_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
# A grid of any size, as the page's events tell of it.
EXTRA_PROGRAMS += test/grid/crowd
test_grid_crowd_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
test_grid_crowd_LDADD = $(daemon_libraries) $(LDADD) $(JANSSON_LIBS)
EXTRA_PROGRAMS += test/grid/collects test/grid/grab test/grid/sends test/grid/garbage test/grid/lastword test/grid/lag test/grid/spout
# Tests that take minutes or want the machine for themselves: make check-soak.
soak_scripts = \
    test/grid/orphans \
    test/grid/stream \
    test/grid/large_counts \
    test/grid/acceptance_apart_long \
    test/grid/acceptance_kills \
    test/grid/windows_files \
    test/grid/kill_table \
    test/grid/early_deaths \
    test/grid/launch_deaths \
    test/grid/lost_together \
    test/grid/tight_deaths \
    test/grid/lending \
    test/grid/silent_long \
    test/grid/crowded_long \
    test/grid/stalls \
    test/grid/parted \
    test/grid/forty \
    test/grid/hundred
GRID_SOAK += $(soak_scripts)
EXTRA_DIST += $(soak_scripts)
