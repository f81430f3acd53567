# SPDX-License-Identifier: BSD-3-Clause
# libtransport: frames between processes, over TCP and shared memory; plain C.
noinst_LTLIBRARIES += libtransport.la
libtransport_la_SOURCES = \
    src/transport/transport.c src/transport/transport.h src/transport/endpoint.h \
    src/transport/address.c src/transport/listen.c src/transport/greet.c \
    src/transport/greeting.c src/transport/greeting.h \
    src/transport/aead.c src/transport/aead.h \
    src/transport/tcp.c src/transport/queue.c \
    src/transport/rings.c src/transport/rings.h src/transport/shm.c \
    src/transport/remote_read.c src/transport/turn.c src/transport/turn.h
libtransport_la_CFLAGS = $(AM_CFLAGS) $(P2P_LTO)
libtransport_la_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS) $(OPENSSL_CFLAGS)
libtransport_la_LIBADD = $(SODIUM_LIBS) $(OPENSSL_LIBS)
