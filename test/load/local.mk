# Can the components be loaded?
check_PROGRAMS += test/load/load
test_load_load_LDADD = -ldl
GRID += test/load/load
