# Who must not get in, and what members and guests must not do. Names one a line.
security_scripts = \
    test/security/altered \
    test/security/strangers \
    test/security/flood \
    test/security/revoked \
    test/security/capture \
    test/security/callers \
    test/security/turncoats \
    test/security/spawned \
    test/security/delegated \
    test/security/encrypted \
    test/security/forged \
    test/security/invited \
    test/security/locked \
    test/security/rotated \
    test/security/programs \
    test/security/inputs \
    test/security/guests
GRID += $(security_scripts)
GRID_SOAK += test/security/slow test/security/hoarder
EXTRA_DIST += test/security/lib.sh test/security/slow test/security/hoarder $(security_scripts)
EXTRA_PROGRAMS += test/security/intruder test/security/rogue test/security/forger test/security/turncoat
test_security_turncoat_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS) $(SODIUM_CFLAGS)
test_security_turncoat_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS) $(SODIUM_LIBS)
test_security_intruder_SOURCES = test/security/intruder.c test/security/session.c test/security/session.h
test_security_intruder_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
test_security_rogue_LDADD =
test_security_forger_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS)
test_security_forger_LDADD = $(daemon_libraries) $(LDADD)
# Takes the place of a component in an orted, and loads it. Its thread outlives the component.
EXTRA_LTLIBRARIES += test/security/forge.la
test_security_forge_la_SOURCES = test/security/forge.c
test_security_forge_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_security_forge_la_CFLAGS = $(AM_CFLAGS) -fno-strict-aliasing
test_security_forge_la_LDFLAGS = -module -avoid-version -rpath /nowhere -Wl,--no-as-needed -L.libs \
    -Wl,-z,nodelete -Wl,-l:mca_ras_p2p.so -Wl,-rpath,\$$ORIGIN
EXTRA_test_security_forge_la_DEPENDENCIES = mca_ras_p2p.la
