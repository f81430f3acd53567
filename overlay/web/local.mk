# The page: parts of libdaemon, and what a browser gets, as bytes in the program.
libdaemon_la_SOURCES += \
    overlay/web/browsers.c overlay/web/keys.c overlay/web/keys.h overlay/web/metrics.c overlay/web/metrics.h \
    overlay/web/patch.c overlay/web/patch.h overlay/web/request.c overlay/web/request.h overlay/web/server.c \
    overlay/web/state.c overlay/web/state.h overlay/web/stream.c overlay/web/stream.h overlay/web/web.c \
    overlay/web/web.h overlay/web/web_parts.h
nodist_libdaemon_la_SOURCES = overlay/web/page.inc
page_files = overlay/web/page.html overlay/web/page.css overlay/web/page.js overlay/web/icon.svg
EXTRA_DIST += $(page_files)
overlay/web/page.inc: $(page_files)
	$(AM_V_GEN)$(MKDIR_P) overlay/web && for file in $(page_files); do \
	    echo "static const unsigned char $$(basename $$file | tr . _)[] = {" && \
	    od -An -v -tx1 $(srcdir)/$$file | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g' && echo '};' || exit 1; done >$@.new && mv $@.new $@
CLEANFILES += overlay/web/page.inc overlay/web/page.inc.new
page_object = overlay/web/libdaemon_la-server.lo
$(page_object): overlay/web/page.inc
