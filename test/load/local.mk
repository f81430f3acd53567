# Can the components be loaded?
check_PROGRAMS += test/load/load
test_load_load_LDADD = -ldl
UNIT += test/load/load
