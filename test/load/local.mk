# Can the components be loaded?
EXTRA_PROGRAMS += test/load/load
test_load_load_LDADD = -ldl
GRID += test/load/load
