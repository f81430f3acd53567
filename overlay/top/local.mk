# p2pctl top: a part of p2pctl in a folder of its own.
top_sources = \
    overlay/top/feed.c overlay/top/feed.h overlay/top/page.c overlay/top/page.h overlay/top/part.c overlay/top/part.h \
    overlay/top/part_jobs.c overlay/top/part_peers.c overlay/top/screen.h overlay/top/sheet.c overlay/top/sheet.h \
    overlay/top/state.c overlay/top/state.h overlay/top/state_json.c overlay/top/state_json.h overlay/top/top.c overlay/top/view.c overlay/top/view.h
p2pctl_SOURCES += $(top_sources)
if HAVE_NCURSES
p2pctl_SOURCES += overlay/top/screen.c
else
p2pctl_SOURCES += overlay/top/screen_none.c
endif
p2pctl_CPPFLAGS += $(NCURSES_CFLAGS)
p2pctl_LDADD += $(NCURSES_LIBS)
