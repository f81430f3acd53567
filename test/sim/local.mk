# The simulator: thousands of rings in one process, on a network that follows from a seed.
EXTRA_LTLIBRARIES += libsim.la
libsim_la_SOURCES = test/sim/answer.c test/sim/check.c test/sim/market.c test/sim/market.h \
    test/sim/net.c test/sim/party.c test/sim/party.h test/sim/queue.c test/sim/queue.h \
    test/sim/sim.c test/sim/sim.h test/sim/sim_state.h

sim_programs = \
    test/sim/allocate \
    test/sim/churn \
    test/sim/contest \
    test/sim/every \
    test/sim/files \
    test/sim/parted \
    test/sim/quiet \
    test/sim/replica \
    test/sim/waiting \
    test/sim/watch \
    test/sim/young
test_sim_replica_SOURCES = test/sim/replica.c test/sim/replica.h test/sim/replica_sim.h \
    test/sim/replica_drift.c test/sim/replica_make.c test/sim/replica_net.c test/sim/replica_plan.c test/sim/replica_plant.c test/sim/replica_proc.c \
    test/sim/replica_schedule.c test/sim/replica_explore.c test/sim/replica_small.c test/sim/replica_trouble.c \
    test/sim/replica_window.c test/sim/replica_world.c
test_sim_replica_LDADD = libreplica.la $(LDADD)
test_sim_allocate_LDADD = libsim.la $(LDADD)
test_sim_contest_LDADD = libsim.la $(LDADD)
test_sim_every_SOURCES = test/sim/every.c test/sim/every_world.c test/sim/every_world.h
test_sim_every_LDADD = libcore.la $(LDADD)
test_sim_files_LDADD = libcore.la $(LDADD)
test_sim_churn_LDADD = libsim.la $(LDADD)
test_sim_parted_LDADD = libsim.la $(LDADD)
test_sim_quiet_LDADD = libsim.la $(LDADD)
test_sim_waiting_SOURCES = test/sim/waiting.c test/sim/waiting_world.c test/sim/waiting_world.h
test_sim_waiting_LDADD = libcore.la $(LDADD)
test_sim_watch_LDADD = libsim.la $(LDADD)
test_sim_young_LDADD = libsim.la $(LDADD)
EXTRA_PROGRAMS += $(sim_programs)
SIM += $(sim_programs)

# A million schedules of replicated programs; about ten minutes.
check-soak: check-soak-sim
check-soak-sim: test/sim/replica test/sim/allocate test/sim/churn test/sim/contest test/sim/every test/sim/waiting
	test/sim/every --depth 9 --states 5000000
	test/sim/churn --peers 200 --deeds 4000
	test/sim/churn --peers 4096 --deeds 500
	test/sim/churn --peers 16384 --deeds 500 --every 100
	test/sim/allocate --lan 1000 --topologies 100 --peers 128
	test/sim/contest --contests 100000
	test/sim/waiting --seeds 200
	test/sim/replica --schedules 1000000
.PHONY: check-soak-sim
