# p2pctl: one file for each subcommand.
bin_PROGRAMS += p2pctl
p2pctl_SOURCES = \
    overlay/tools/ad_json.c overlay/tools/ad_json.h \
    overlay/tools/grid.c \
    overlay/tools/p2pctl.c \
    overlay/tools/peers.c \
    overlay/tools/status.c \
    overlay/tools/tool.c overlay/tools/tool.h
p2pctl_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/overlay/daemon $(JANSSON_CFLAGS)
p2pctl_LDADD = libdaemon.la libclient.la libcore.la $(JANSSON_LIBS)
