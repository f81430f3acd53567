# Tests that only read the sources.
style_scripts = test/style/shell test/style/format test/style/long test/style/man test/style/protocol \
    test/style/receivers test/style/parameters test/style/includes test/style/manuals test/style/names test/style/troubleshooting \
    test/style/replication test/style/firewall test/style/json test/style/usage test/style/pictures test/style/plug_ins
STYLE += $(style_scripts)
EXTRA_DIST += $(style_scripts) test/style/plug_ins.kept
