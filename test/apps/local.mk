# Programs that the tests of a grid run.
check_PROGRAMS += test/apps/count
test_apps_count_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_count_LDADD = $(OMPI_MPI_LIBS)
