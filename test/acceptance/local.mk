# Programs that were not made for p2pgrid, and five small ones, with the right answers of each.
acceptance_programs = \
    test/acceptance/programs/ring test/acceptance/programs/farm test/acceptance/programs/fractal \
    test/acceptance/programs/storm test/acceptance/programs/stdio
EXTRA_PROGRAMS += $(acceptance_programs)
test_acceptance_programs_ring_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_acceptance_programs_ring_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
test_acceptance_programs_ring_LDADD = $(OMPI_MPI_LIBS)
test_acceptance_programs_farm_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_acceptance_programs_farm_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
test_acceptance_programs_farm_LDADD = $(OMPI_MPI_LIBS)
test_acceptance_programs_fractal_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_acceptance_programs_fractal_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
test_acceptance_programs_fractal_LDADD = $(OMPI_MPI_LIBS)
test_acceptance_programs_storm_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_acceptance_programs_storm_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
test_acceptance_programs_storm_LDADD = $(OMPI_MPI_LIBS)
test_acceptance_programs_stdio_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_acceptance_programs_stdio_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
test_acceptance_programs_stdio_LDADD = $(OMPI_MPI_LIBS)
EXTRA_DIST += \
    test/acceptance/README.md test/acceptance/run test/acceptance/short_kit.sh \
    test/acceptance/data/hpccinf.txt test/acceptance/data/iqtree.phy test/acceptance/data/mplrs.ext \
    test/acceptance/data/phyml.phy test/acceptance/data/puzzle.phy test/acceptance/data/scene.dat \
    test/acceptance/ref/blacs test/acceptance/ref/farm test/acceptance/ref/fractal test/acceptance/ref/iqtree \
    test/acceptance/ref/mplrs test/acceptance/ref/phyml test/acceptance/ref/puzzle test/acceptance/ref/ring \
    test/acceptance/ref/stdio test/acceptance/ref/storm test/acceptance/ref/tachyon
