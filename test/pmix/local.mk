# PMIx tools and p2pd: make check-pmix. ask uses nothing of p2pgrid's.
EXTRA_PROGRAMS += test/pmix/ask
test_pmix_ask_SOURCES = test/pmix/ask.c
test_pmix_ask_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS)
test_pmix_ask_LDADD = $(PMIX_LIBS)
pmix_scripts = \
    test/pmix/tools \
    test/pmix/jobs \
    test/pmix/others \
    test/pmix/leaks \
    test/pmix/many
PMIX += $(pmix_scripts)
GRID += $(pmix_scripts)
EXTRA_DIST += test/pmix/lib.sh test/pmix/libpmix.supp $(pmix_scripts)
