# Unit tests: one cmocka program for each noun of the plain C code; test/unit/NOUN.c, linked with LDADD.
unit_programs = \
    test/unit/id \
    test/unit/level \
    test/unit/message
test_unit_level_LDADD = libsurvive.la $(LDADD)
if HAVE_CMOCKA
check_PROGRAMS += $(unit_programs)
UNIT += $(unit_programs)
endif
EXTRA_PROGRAMS += $(unit_programs)
