# p2pd-pmix: started by p2pd when a PMIx tool comes. libface_keys: what it decides without PMIx.
pkglibexec_PROGRAMS += p2pd-pmix
p2pd_pmix_SOURCES = \
    src/common/visitor.c src/common/visitor.h \
    src/pmix_server/allocate.c \
    src/pmix_server/attributes.c \
    src/pmix_server/bridge.c src/pmix_server/bridge.h \
    src/pmix_server/control.c \
    src/pmix_server/desk.c src/pmix_server/desk.h \
    src/pmix_server/door.c src/pmix_server/door.h \
    src/pmix_server/events.c \
    src/pmix_server/face.h \
    src/pmix_server/gather.c src/pmix_server/gather.h \
    src/pmix_server/keys.c src/pmix_server/keys.h \
    src/pmix_server/log.c \
    src/pmix_server/main.c \
    src/pmix_server/put.c src/pmix_server/put.h \
    src/pmix_server/query.c \
    src/pmix_server/tools.c
p2pd_pmix_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS) $(LIBEVENT_CFLAGS)
p2pd_pmix_LDADD = libclient.la libcore.la $(PMIX_LIBS) $(LIBEVENT_LIBS) -lpthread
include_HEADERS = src/pmix_server/p2pgrid_pmix.h
