# MPICH's own test suite on a grid, beside stock Open MPI: `make check-mpich`; MPICH='--only rma/* --jobs 2'.
# A fortieth of it is a test of a grid.
mpich_scripts = test/mpich/drawn
GRID += $(mpich_scripts)
check-mpich: check-programs
	$(TEST_ENV) $(srcdir)/test/mpich/check --results $(abs_builddir)/mpich-results $(MPICH)
.PHONY: check-mpich
EXTRA_DIST += test/mpich/README.md test/mpich/check test/mpich/known test/mpich/moment.c test/mpich/prepare $(mpich_scripts)
