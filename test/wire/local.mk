# The messages of each version of the protocols (test/unit/kept), and the program that writes them down.
EXTRA_PROGRAMS += test/wire/keep
test_wire_keep_SOURCES = test/wire/keep.c test/wire/kept.c test/wire/kept.h
EXTRA_DIST += test/wire/kept/links.6 test/wire/kept/links.7 test/wire/kept/links.8 test/wire/kept/links.9 test/wire/kept/links.10 test/wire/kept/local.17
# The daemon of the version after this one (test/grid/versions). What depends on the lists of messages or on the
# version is compiled with lists that have one field and one message more; all else is p2pd's as it is.
next_lists = test/wire/next/overlay/wire/message.c
$(next_lists): $(srcdir)/overlay/wire/*.def $(srcdir)/overlay/wire/*.[ch] $(srcdir)/test/wire/local.mk
	$(MKDIR_P) test/wire/next/overlay/wire && rm -f test/wire/next/overlay/wire/*.[ch] test/wire/next/overlay/wire/*.def
	cp $(srcdir)/overlay/wire/*.def $(srcdir)/overlay/wire/*.[ch] test/wire/next/overlay/wire/
	chmod u+w test/wire/next/overlay/wire/*.[ch] test/wire/next/overlay/wire/*.def
	sed -i 's/^\( *WIRE_HIGHEST = [0-9]*\),/\1 + 1,/' test/wire/next/overlay/wire/version.h
	sed -i '/^MESSAGE(ping,/,/^END/s/^END/    SINCE(WIRE_HIGHEST)\n    U32(extra)\nEND/' test/wire/next/overlay/wire/link.def
	printf 'MESSAGE(next_word, 0x7e, inside)\n    SINCE(WIRE_HIGHEST)\n    U32(number)\nEND\n' >>test/wire/next/overlay/wire/member.def
	touch $@
EXTRA_PROGRAMS += test/wire/next_p2pd
test_wire_next_p2pd_SOURCES = test/wire/next.c overlay/transport/connection.c overlay/transport/datagram.c \
    overlay/transport/link.c overlay/transport/link_calls.c
nodist_test_wire_next_p2pd_SOURCES = $(next_lists)
test_wire_next_p2pd_CPPFLAGS = -iquote test/wire/next $(AM_CPPFLAGS)
test_wire_next_p2pd_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS) $(SODIUM_CFLAGS)
test_wire_next_p2pd_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS) $(SODIUM_LIBS)
$(test_wire_next_p2pd_OBJECTS): $(next_lists)
clean-local: clean-next
clean-next:
	rm -f test/wire/next/overlay/wire/*.[ch] test/wire/next/overlay/wire/*.def
.PHONY: clean-next
