# libclient: what components and tools link to talk to the local daemon.
noinst_LTLIBRARIES += libclient.la
libclient_la_SOURCES = \
    overlay/client/ask.h \
    overlay/client/client.c \
    overlay/client/content.c overlay/client/content.h \
    overlay/client/err.c overlay/client/err.h \
    overlay/client/folder.c overlay/client/folder.h \
    overlay/client/input.c overlay/client/input.h \
    overlay/client/p2pgrid.h \
    overlay/client/place.c overlay/client/place.h \
    overlay/client/ports.c overlay/client/ports.h \
    overlay/client/program.c overlay/client/program.h \
    overlay/client/size.c overlay/client/size.h \
    overlay/client/wish.c \
    overlay/client/words.h
libclient_la_CFLAGS = $(AM_CFLAGS) $(SODIUM_CFLAGS)
libclient_la_LIBADD = libcore.la $(SODIUM_LIBS)
