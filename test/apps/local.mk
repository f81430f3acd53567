# Programs that the tests of a grid run.
check_PROGRAMS += test/apps/count
test_apps_count_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_count_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/spawner
test_apps_spawner_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_spawner_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/calls test/apps/differs
test_apps_calls_SOURCES = \
    test/apps/calls.c test/apps/calls.h test/apps/calls_collectives.c \
    test/apps/calls_communicators.c test/apps/calls_messages.c
test_apps_calls_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_calls_LDADD = $(OMPI_MPI_LIBS)
test_apps_differs_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_differs_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/threads
test_apps_threads_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_threads_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/letter
test_apps_letter_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_letter_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/io
test_apps_io_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_io_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/windows
test_apps_windows_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_windows_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/stream
test_apps_stream_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_stream_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/large
test_apps_large_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_large_LDADD = $(OMPI_MPI_LIBS)
check_PROGRAMS += test/apps/aloof
test_apps_aloof_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
test_apps_aloof_LDADD = $(OMPI_MPI_LIBS)
EXTRA_DIST += test/apps/arrays.py
