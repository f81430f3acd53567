# libdaemon: the parts of p2pd, so that unit tests and tools can link them too.
noinst_LTLIBRARIES += libdaemon.la
libdaemon_la_SOURCES = \
    overlay/daemon/addr.c overlay/daemon/addr.h \
    overlay/daemon/allocate.c overlay/daemon/allocate.h \
    overlay/daemon/authority.c overlay/daemon/authority.h \
    overlay/daemon/brood.c overlay/daemon/brood.h \
    overlay/daemon/environment.c overlay/daemon/environment.h \
    overlay/daemon/grant.c overlay/daemon/grant.h \
    overlay/daemon/hold.c overlay/daemon/hold.h \
    overlay/daemon/identity.c overlay/daemon/identity.h \
    overlay/daemon/idmap.c overlay/daemon/idmap.h \
    overlay/daemon/launch.c overlay/daemon/launch.h overlay/daemon/room.h \
    overlay/daemon/local.c overlay/daemon/local.h \
    overlay/daemon/log.c overlay/daemon/log.h \
    overlay/daemon/look.c overlay/daemon/look.h \
    overlay/daemon/settings.c overlay/daemon/settings.h \
    overlay/daemon/shortage.c overlay/daemon/shortage.h \
    overlay/daemon/sweep.c overlay/daemon/sweep.h \
    overlay/daemon/tail.c overlay/daemon/tail.h
libdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBEXECDIR='"$(pkglibexecdir)"'
libdaemon_la_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_CFLAGS) $(CONFUSE_CFLAGS) \
    $(SODIUM_CFLAGS)
libdaemon_la_LIBADD = libclient.la libcore.la $(LIBEVENT_LIBS) $(OPENSSL_LIBS) $(CONFUSE_LIBS) \
    $(SODIUM_LIBS)
EXTRA_DIST += overlay/daemon/node.h overlay/daemon/link.h overlay/daemon/walk.h \
    overlay/daemon/machine.h overlay/daemon/overlay.h

# libconfine: keeps guests in their rooms; linked by p2pd (for the ad) and by p2pd-room.
noinst_LTLIBRARIES += libconfine.la
libconfine_la_SOURCES = overlay/daemon/confine.c overlay/daemon/confine.h overlay/daemon/landlock.c \
    overlay/daemon/landlock.h
libconfine_la_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
libconfine_la_LIBADD = libclient.la $(SECCOMP_LIBS)

# p2pd-room: one for each lease that runs something.
pkglibexec_PROGRAMS += p2pd-room
p2pd_room_SOURCES = \
    overlay/daemon/brood.c overlay/daemon/brood.h \
    overlay/daemon/room.c overlay/daemon/room.h \
    overlay/daemon/sweep.c overlay/daemon/sweep.h \
    overlay/daemon/tail.c overlay/daemon/tail.h
p2pd_room_LDADD =
