# The simulator: thousands of rings in one process, on a network that follows from a seed.
check_LTLIBRARIES += libsim.la
libsim_la_SOURCES = test/sim/sim.c test/sim/sim.h test/sim/check.c
libsim_la_LIBADD = libcore.la
