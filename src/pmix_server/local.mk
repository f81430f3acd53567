# p2pd-pmix: started by p2pd when a PMIx tool comes.
pkglibexec_PROGRAMS += p2pd-pmix
p2pd_pmix_SOURCES = \
    src/common/socket_user.c src/common/socket_user.h \
    src/pmix_server/allocate.c \
    src/pmix_server/attributes.c \
    src/pmix_server/mailbox.c src/pmix_server/mailbox.h \
    src/pmix_server/control.c \
    src/pmix_server/daemon.c src/pmix_server/daemon.h \
    src/pmix_server/access.c src/pmix_server/access.h \
    src/pmix_server/events.c \
    src/pmix_server/server.h \
    src/pmix_server/snapshot.c src/pmix_server/snapshot.h \
    src/pmix_server/keys.c src/pmix_server/keys.h \
    src/pmix_server/log.c \
    src/pmix_server/main.c \
    src/pmix_server/infos.c src/pmix_server/infos.h \
    src/pmix_server/query.c \
    src/pmix_server/tools.c
p2pd_pmix_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS) $(LIBEVENT_CFLAGS)
p2pd_pmix_LDADD = libclient.la libcore.la $(PMIX_LIBS) $(LIBEVENT_LIBS) -lpthread
include_HEADERS = src/pmix_server/p2pgrid_pmix.h
