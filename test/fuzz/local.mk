# Fuzzers: test/fuzz/NOUN.c has an LLVMFuzzerTestOneInput. They need clang's libFuzzer, so they are compiled
# apart, together with the sources that they look into. Names one a line.
fuzzers = \
    test/fuzz/certificate \
    test/fuzz/elf \
    test/fuzz/engine \
    test/fuzz/greeting \
    test/fuzz/group \
    test/fuzz/home \
    test/fuzz/list \
    test/fuzz/message \
    test/fuzz/needs \
    test/fuzz/pack \
    test/fuzz/pattern \
    test/fuzz/writer \
    test/fuzz/session_keys \
    test/fuzz/require \
    test/fuzz/results \
    test/fuzz/ring \
    test/fuzz/rotation \
    test/fuzz/swarm \
    test/fuzz/token \
    test/fuzz/tree \
    test/fuzz/web_request

FUZZ_FLAGS = -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
# Each source is compiled once, however many fuzzers look into it.
fuzz_objects = $(patsubst %.c,test/fuzz/objects/%.o,$(filter %.c,$(1)))
fuzz_link = $(AM_V_CCLD)$(CLANG) $(FUZZ_FLAGS) $^ -o $@
test/fuzz/objects/%.o: %.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CLANG) $(FUZZ_FLAGS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) -MMD -MP -c $< -o $@
-include $(shell find test/fuzz/objects -name '*.d' 2>/dev/null)

fuzz_certificate_sources = overlay/crypto/identity.c overlay/crypto/rotation.c overlay/crypto/signature.c \
    overlay/base/file.c overlay/base/err.c $(libcore_la_SOURCES)
fuzz_list_sources = overlay/files/list.c overlay/files/list_code.c overlay/files/list_end.c overlay/base/err.c $(libcore_la_SOURCES)
fuzz_tree_sources = overlay/files/store.c overlay/files/tree.c overlay/files/tree_check.c overlay/files/tree_files.c overlay/sandbox/sweep.c \
    overlay/base/file.c overlay/base/file_at.c overlay/base/log.c overlay/base/idmap.c $(fuzz_list_sources)
fuzz_writer_sources = overlay/files/writer.c overlay/base/file_at.c overlay/core/files/result.c overlay/base/err.c overlay/base/text.c

test/fuzz/certificate test/fuzz/rotation: $(call fuzz_objects,$(fuzz_certificate_sources))
	$(fuzz_link) $(SODIUM_LIBS) $(OPENSSL_LIBS)
test/fuzz/elf: $(call fuzz_objects,overlay/files/elf.c)
	$(fuzz_link)
test/fuzz/engine: $(call fuzz_objects,$(libreplica_la_SOURCES))
	$(fuzz_link)
test/fuzz/greeting: $(call fuzz_objects,$(libtransport_la_SOURCES))
	$(fuzz_link) $(SODIUM_LIBS) $(OPENSSL_LIBS)
test/fuzz/home: $(call fuzz_objects,src/pml_replica/file/home.c overlay/base/file_at.c src/pml_replica/file/view_name.c)
	$(fuzz_link)
test/fuzz/list: $(call fuzz_objects,$(fuzz_list_sources))
	$(fuzz_link) $(SODIUM_LIBS)
test/fuzz/group test/fuzz/message test/fuzz/require test/fuzz/ring test/fuzz/swarm: $(call fuzz_objects,$(libcore_la_SOURCES))
	$(fuzz_link)
test/fuzz/needs: $(call fuzz_objects,overlay/files/needs.c overlay/files/elf.c)
	$(fuzz_link)
test/fuzz/pack: $(call fuzz_objects,overlay/files/pack.c)
	$(fuzz_link) $(ZSTD_LIBS)
test/fuzz/pattern: $(call fuzz_objects,overlay/files/pattern.c)
	$(fuzz_link)
test/fuzz/results: $(call fuzz_objects,overlay/client/collect.c overlay/core/files/merge.c overlay/base/id.c $(fuzz_writer_sources))
	$(fuzz_link) $(SODIUM_LIBS)
test/fuzz/session_keys: $(call fuzz_objects,overlay/crypto/session_keys.c overlay/crypto/aead.c $(libcore_la_SOURCES))
	$(fuzz_link) $(SODIUM_LIBS)
test/fuzz/token: $(call fuzz_objects,overlay/membership/token.c overlay/base/addr.c overlay/base/err.c overlay/base/id.c)
	$(fuzz_link) $(SODIUM_LIBS)
test/fuzz/tree: $(call fuzz_objects,$(fuzz_tree_sources))
	$(fuzz_link) $(SODIUM_LIBS)
test/fuzz/web_request: $(call fuzz_objects,overlay/web/request.c)
	$(fuzz_link)
test/fuzz/writer: $(call fuzz_objects,$(fuzz_writer_sources))
	$(fuzz_link)
$(fuzzers): test/fuzz/%: test/fuzz/objects/test/fuzz/%.o

# Ten minutes of each, two or more side by side.
check-soak: soak-fuzz
soak-fuzz: check-programs
	$(TEST_ENV) FUZZ_SECONDS=600 FUZZ_SEED=0 LIMIT=7200 $(RUN) $(FUZZ)
.PHONY: soak-fuzz

# What the fuzzers begin with; after a change of messages: make fuzz-seeds.
EXTRA_PROGRAMS += test/fuzz/seeds
fuzz-seeds: test/fuzz/seeds
	test/fuzz/seeds $(srcdir)/test/fuzz/corpus
.PHONY: fuzz-seeds

if HAVE_CLANG
FUZZ += test/fuzz/all
FUZZERS += $(fuzzers)
endif
EXTRA_DIST += test/fuzz/all test/fuzz/corpus test/fuzz/script.h test/fuzz/ground.h test/fuzz/names.h $(fuzzers:=.c)
CLEANFILES += $(fuzzers)
clean-local: clean-fuzz-objects
clean-fuzz-objects:
	rm -rf test/fuzz/objects
.PHONY: clean-fuzz-objects
