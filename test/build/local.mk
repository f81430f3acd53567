# Tests that make the tree in another way than the developer just did.
build_scripts = test/build/in_tree test/build/named test/build/service test/build/setup test/build/packaged \
    test/build/completion test/build/readme test/build/tarball test/build/hardened test/build/sanitized test/build/distcheck
BUILDS += $(build_scripts)
EXTRA_DIST += $(build_scripts)
# Minutes, in a Debian of their own: make check-packages; contrib/try where nothing is installed.
GRID_SOAK += test/build/packages test/build/tried
EXTRA_DIST += test/build/packages test/build/tried
check-packages:
	+@$(call BUILD_FOR,test/build/packages)
	@$(TEST_ENV) LIMIT=3600 $(RUN) test/build/packages
.PHONY: check-packages
