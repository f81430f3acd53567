# Tests of whole grids: scripts that start daemons and mpiruns. Names one a line.
grid_scripts = \
    test/grid/grid_tool \
    test/grid/netns \
    test/grid/plain_user \
    test/grid/acceptance
GRID += $(grid_scripts)
EXTRA_DIST += test/grid/lib.sh $(grid_scripts)
# A bare holder of leases, for tests of the daemons alone.
check_PROGRAMS += test/grid/grab
