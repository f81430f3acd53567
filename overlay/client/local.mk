# libclient: what components and tools link to talk to the local daemon.
noinst_LTLIBRARIES += libclient.la
libclient_la_SOURCES = overlay/client/err.c overlay/client/err.h overlay/client/p2pgrid.h
libclient_la_LIBADD = libcore.la
