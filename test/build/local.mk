# Tests that make the tree in another way than the developer just did.
build_scripts = test/build/in_tree test/build/named test/build/service test/build/hardened test/build/sanitized test/build/distcheck
BUILDS += $(build_scripts)
EXTRA_DIST += $(build_scripts)
