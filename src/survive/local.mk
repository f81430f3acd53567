# SPDX-License-Identifier: BSD-3-Clause
# libsurvive: the decisions of errmgr_replica, grpcomm_replica and iof_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libsurvive.la
libsurvive_la_SOURCES = \
    src/survive/fate.c src/survive/fate.h \
    src/survive/heartbeat.c src/survive/heartbeat.h \
    src/survive/level.c src/survive/level.h \
    src/survive/told.c src/survive/told.h \
    src/survive/roll.c src/survive/roll.h \
    src/survive/feed.c src/survive/feed.h src/survive/pace.c src/survive/pace.h \
    src/survive/merge.c src/survive/merge.h
