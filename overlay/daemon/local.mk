# p2pd, and libdaemon: its parts, so that unit tests can link them.
EXTRA_DIST += \
    overlay/daemon/node.h overlay/daemon/settings.h overlay/daemon/log.h overlay/daemon/identity.h \
    overlay/daemon/link.h overlay/daemon/walk.h overlay/daemon/machine.h overlay/daemon/overlay.h \
    overlay/daemon/addr.h

# libconfine: keeps guests in their rooms; linked by p2pd (for the ad) and by p2pd-room.
noinst_LTLIBRARIES += libconfine.la
libconfine_la_SOURCES = overlay/daemon/confine.c overlay/daemon/confine.h overlay/daemon/landlock.c \
    overlay/daemon/landlock.h
libconfine_la_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
libconfine_la_LIBADD = libclient.la $(SECCOMP_LIBS)
