# libcore: the protocols as state machines; needs nothing but mem*, str* and assert (test/unit/core_symbols).
noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES = \
    overlay/core/claim.c overlay/core/claim.h \
    overlay/core/domain.c overlay/core/domain.h \
    overlay/core/fit.c overlay/core/fit.h \
    overlay/core/id.c overlay/core/id.h \
    overlay/core/lease.c overlay/core/lease.h \
    overlay/core/lived.c overlay/core/lived.h \
    overlay/core/quantity.c overlay/core/quantity.h \
    overlay/core/require.c overlay/core/require.h \
    overlay/core/require_fits.c overlay/core/require_tree.h \
    overlay/core/share.c overlay/core/share.h \
    overlay/core/text.c overlay/core/text.h \
    overlay/core/wire.c overlay/core/wire.h \
    overlay/core/message.c overlay/core/message.h overlay/core/message_only.h overlay/core/message_undef.h \
    overlay/core/message_to.h overlay/core/receiver.def \
    overlay/core/ring.c overlay/core/ring.h overlay/core/ring_state.h \
    overlay/core/act.c overlay/core/ask.c overlay/core/neighbour.c overlay/core/finger.c overlay/core/stranger.c \
    overlay/core/watch.c \
    overlay/core/route.c overlay/core/keep.c overlay/core/copy.c \
    overlay/core/ads.c overlay/core/bucket.c overlay/core/touch.c overlay/core/nearest.c \
    overlay/core/mark.c overlay/core/mark.h \
    overlay/core/gossip.c overlay/core/suspicion.c overlay/core/group_state.h \
    overlay/core/group.c overlay/core/group.h overlay/core/group.def \
    overlay/core/store.c overlay/core/store.h \
    overlay/core/vivaldi.c overlay/core/vivaldi.h \
    overlay/core/window.c overlay/core/window.h \
    overlay/core/cell.c overlay/core/cell.h \
    overlay/core/message.def overlay/core/link.def overlay/core/ring.def overlay/core/lease.def \
    overlay/core/local.def overlay/core/member.def overlay/core/room.def
