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

fuzz_message_sources = $(libcore_la_SOURCES)

fuzz_require_sources = $(libcore_la_SOURCES)

FUZZ_FLAGS = -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
fuzz_build = $(AM_V_GEN)$(MKDIR_P) test/fuzz && $(CLANG) $(FUZZ_FLAGS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) \
    $(srcdir)/test/fuzz/$(@F).c $(patsubst %,$(srcdir)/%,$(filter %.c,$(1))) $(filter -I%,$(1)) -o $@ $(2)

test/fuzz/message: test/fuzz/message.c $(fuzz_message_sources)
	$(call fuzz_build,$(fuzz_message_sources))
fuzz_list_sources = overlay/files/list.c overlay/files/list_code.c overlay/files/list_end.c overlay/base/err.c $(fuzz_message_sources)
test/fuzz/list: test/fuzz/list.c $(fuzz_list_sources)
	$(call fuzz_build,$(fuzz_list_sources) ,$(SODIUM_LIBS))
test/fuzz/require: test/fuzz/require.c $(fuzz_require_sources)
	$(call fuzz_build,$(fuzz_require_sources))

test/fuzz/ring: test/fuzz/ring.c $(fuzz_message_sources)
	$(call fuzz_build,$(fuzz_message_sources))

test/fuzz/swarm: test/fuzz/swarm.c $(fuzz_message_sources)
	$(call fuzz_build,$(fuzz_message_sources))

test/fuzz/group: test/fuzz/group.c $(fuzz_message_sources)
	$(call fuzz_build,$(fuzz_message_sources))

test/fuzz/engine: test/fuzz/engine.c $(libreplica_la_SOURCES)
	$(call fuzz_build,$(libreplica_la_SOURCES) )

test/fuzz/home: test/fuzz/home.c src/pml_replica/file/home.c overlay/base/file_at.c src/pml_replica/file/view_name.c
	$(call fuzz_build,src/pml_replica/file/home.c src/pml_replica/file/view_name.c overlay/base/file_at.c )

test/fuzz/greeting: test/fuzz/greeting.c $(libtransport_la_SOURCES)
	$(call fuzz_build,$(libtransport_la_SOURCES) ,$(SODIUM_LIBS) $(OPENSSL_LIBS))

test/fuzz/session_keys: test/fuzz/session_keys.c overlay/crypto/session_keys.c overlay/crypto/aead.c $(fuzz_message_sources)
	$(call fuzz_build,overlay/crypto/session_keys.c overlay/crypto/aead.c $(fuzz_message_sources) ,$(SODIUM_LIBS))

fuzz_writer_sources = overlay/files/writer.c overlay/base/file_at.c overlay/core/files/result.c overlay/base/err.c overlay/base/text.c
test/fuzz/writer: test/fuzz/writer.c $(fuzz_writer_sources)
	$(call fuzz_build,$(fuzz_writer_sources) )

fuzz_results_sources = overlay/client/collect.c overlay/core/files/merge.c overlay/base/id.c $(fuzz_writer_sources)
test/fuzz/results: test/fuzz/results.c $(fuzz_results_sources)
	$(call fuzz_build,$(fuzz_results_sources) ,$(SODIUM_LIBS))
fuzz_tree_sources = overlay/files/store.c overlay/files/tree.c overlay/files/tree_check.c overlay/files/tree_files.c overlay/sandbox/sweep.c \
    overlay/base/file.c overlay/base/file_at.c overlay/base/log.c overlay/base/idmap.c $(fuzz_list_sources)
test/fuzz/tree: test/fuzz/tree.c $(fuzz_tree_sources)
	$(call fuzz_build,$(fuzz_tree_sources) ,$(SODIUM_LIBS))

fuzz_token_sources = overlay/membership/token.c overlay/base/addr.c overlay/base/err.c
test/fuzz/token: test/fuzz/token.c $(fuzz_token_sources) overlay/base/id.c
	$(call fuzz_build,$(fuzz_token_sources) overlay/base/id.c ,$(SODIUM_LIBS))

fuzz_certificate_sources = overlay/crypto/identity.c overlay/crypto/rotation.c overlay/crypto/signature.c \
    overlay/base/file.c overlay/base/err.c $(fuzz_message_sources)
test/fuzz/certificate: test/fuzz/certificate.c $(fuzz_certificate_sources)
	$(call fuzz_build,$(fuzz_certificate_sources) ,$(SODIUM_LIBS) $(OPENSSL_LIBS))
test/fuzz/rotation: test/fuzz/rotation.c $(fuzz_certificate_sources)
	$(call fuzz_build,$(fuzz_certificate_sources) ,$(SODIUM_LIBS) $(OPENSSL_LIBS))

test/fuzz/elf: test/fuzz/elf.c overlay/files/elf.c
	$(call fuzz_build,overlay/files/elf.c)
test/fuzz/needs: test/fuzz/needs.c overlay/files/needs.c overlay/files/elf.c
	$(call fuzz_build,overlay/files/needs.c overlay/files/elf.c)
test/fuzz/pack: test/fuzz/pack.c overlay/files/pack.c
	$(call fuzz_build,overlay/files/pack.c ,$(ZSTD_LIBS))
test/fuzz/pattern: test/fuzz/pattern.c overlay/files/pattern.c
	$(call fuzz_build,overlay/files/pattern.c)
test/fuzz/web_request: test/fuzz/web_request.c overlay/web/request.c
	$(call fuzz_build,overlay/web/request.c)

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
