# Who must not get in, and what guests must not do.
GRID += test/security/guests
EXTRA_DIST += test/security/guests
check_PROGRAMS += test/security/rogue
test_security_rogue_LDADD =
