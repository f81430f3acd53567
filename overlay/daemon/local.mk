# p2pd, and libdaemon: its parts, so that unit tests can link them.
EXTRA_DIST += \
    overlay/daemon/node.h overlay/daemon/settings.h overlay/daemon/log.h overlay/daemon/identity.h \
    overlay/daemon/link.h overlay/daemon/walk.h overlay/daemon/machine.h overlay/daemon/overlay.h \
    overlay/daemon/addr.h
