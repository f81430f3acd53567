# The overlay, measured in the simulator: `make bench-overlay`; fewer peers with BENCH='--max 1024'.
bench_overlay_SOURCES = bench/overlay.c bench/gossip.c bench/gossip.h bench/job.c bench/job.h \
    bench/measure.c bench/measure.h bench/supernode.c bench/supernode.h
bench_overlay_LDADD = libsim.la $(LDADD)
EXTRA_PROGRAMS += bench/overlay
bench-overlay: bench/overlay
	bench/overlay $(BENCH)
.PHONY: bench-overlay

# What the replication engine itself costs: `make bench-engine`; BENCH='ROUNDS LANES'.
EXTRA_PROGRAMS += bench/engine
bench_engine_LDADD = libreplica.la $(LDADD)
bench-engine: bench/engine
	bench/engine $(BENCH)
.PHONY: bench-engine

# Replicas beside stock Open MPI: `make bench-replication`; BENCH='--repeat 5', BENCH=--json.
EXTRA_PROGRAMS += bench/exchange
bench_exchange_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_exchange_LDADD = $(OMPI_MPI_LIBS)
bench-replication: all bench/exchange
	@$(TEST_ENV) $(srcdir)/bench/replication $(BENCH)
.PHONY: bench-replication
EXTRA_DIST += bench/median.awk bench/replication

# Whole programs, on a private grid and beside stock Open MPI: `make bench-programs`; BENCH='--programs storm --repeat 5'.
bench-programs: all test/apps/count $(acceptance_programs)
	@$(TEST_ENV) $(srcdir)/bench/programs $(BENCH)
.PHONY: bench-programs
EXTRA_DIST += bench/programs

# How long a program waits when a peer is lost: `make bench-stall`; BENCH='--rounds 20'.
EXTRA_PROGRAMS += bench/beat
bench_beat_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_beat_LDADD = $(OMPI_MPI_LIBS)
bench-stall: all bench/beat
	@$(TEST_ENV) $(srcdir)/bench/stall $(BENCH)
.PHONY: bench-stall
EXTRA_DIST += bench/stall

# What files of MPI-IO carry between desktops that share none: `make bench-files`; BENCH='--size 1024 --rate 1000'.
EXTRA_PROGRAMS += bench/files
bench_files_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_files_LDADD = $(OMPI_MPI_LIBS)
bench-files: all bench/files
	@$(TEST_ENV) $(srcdir)/bench/desktop_files $(BENCH)
.PHONY: bench-files
EXTRA_DIST += bench/desktop_files

# A file to many desktops, beside the time to one: `make bench-travel`; BENCH='--size 60 --peers 16 --rate 30'.
bench-travel: all test/grid/sends
	@$(TEST_ENV) $(srcdir)/bench/travel $(BENCH)
.PHONY: bench-travel
EXTRA_DIST += bench/travel

# What files that travel add to the start of a job: `make bench-starts`.
bench-starts: all
	@$(TEST_ENV) $(srcdir)/bench/starts $(BENCH)
.PHONY: bench-starts
EXTRA_DIST += bench/starts

# Programs of others, beside stock: `make bench-osu OSU=DIR`, `make bench-npb NPB=DIR`; BENCH='--repeat 3 ...'.
bench/logged.so: bench/logged.c
	$(AM_V_CC)$(MKDIR_P) bench && $(CC) $(CFLAGS) -shared -fPIC $(OMPI_CPPFLAGS) $< -o $@
CLEANFILES += bench/logged.so
bench-osu: all bench/logged.so test/grid/lag
	@$(TEST_ENV) OSU="$(OSU)" $(srcdir)/bench/osu $(BENCH)
bench-npb: all test/grid/lag
	@$(TEST_ENV) NPB="$(NPB)" $(srcdir)/bench/npb $(BENCH)
bench-packaged: all
	@$(TEST_ENV) $(srcdir)/bench/packaged $(BENCH)
.PHONY: bench-osu bench-npb bench-packaged
EXTRA_DIST += bench/beside.sh bench/logged.c bench/osu bench/npb bench/packaged bench/searches.cpp bench/whole.awk

# Ways in which programs talk, and the model held against them: `make bench-patterns`; BENCH='--ways search --repeat 9'.
EXTRA_PROGRAMS += bench/ways
bench_ways_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_ways_LDADD = $(OMPI_MPI_LIBS)
bench-patterns: all bench/ways
	@$(TEST_ENV) $(srcdir)/bench/patterns $(BENCH)
.PHONY: bench-patterns
EXTRA_DIST += bench/patterns bench/model.awk

# Single calls, in some fifty ways of using them: `make bench-calls`; BENCH='--part large --repeat 5'.
EXTRA_PROGRAMS += bench/calls_of_mpi
bench_calls_of_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
bench_calls_of_mpi_LDADD = $(OMPI_MPI_LIBS)
bench-calls: all bench/calls_of_mpi
	@$(TEST_ENV) $(srcdir)/bench/calls $(BENCH)
.PHONY: bench-calls
EXTRA_DIST += bench/calls

# How long a start takes, and what happens in it: `make bench-begins`; BENCH='--ranks 64 --kinds "triple level3"'.
bench-begins: all bench/ways
	@$(TEST_ENV) $(srcdir)/bench/begins $(BENCH)
.PHONY: bench-begins
EXTRA_DIST += bench/begins
