# The simulator: thousands of rings in one process, on a network that follows from a seed.
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = test/sim/sim.c test/sim/sim.h test/sim/check.c
libsim_la_LIBADD = libcore.la

sim_programs = \
    test/sim/churn
test_sim_churn_LDADD = libsim.la $(LDADD)
check_PROGRAMS += $(sim_programs)
SIM += $(sim_programs)
