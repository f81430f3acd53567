# SPDX-License-Identifier: BSD-3-Clause
# libsurvive: the decisions of errmgr_replica, grpcomm_replica and iof_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libsurvive.la
libsurvive_la_SOURCES = \
    src/errmgr_replica/fate.c src/errmgr_replica/fate.h \
    src/errmgr_replica/heartbeat.c src/errmgr_replica/heartbeat.h \
    src/errmgr_replica/level.c src/errmgr_replica/level.h \
    src/errmgr_replica/told.c src/errmgr_replica/told.h \
    src/grpcomm_replica/roll.c src/grpcomm_replica/roll.h \
    src/iof_replica/feed.c src/iof_replica/feed.h src/iof_replica/pace.c src/iof_replica/pace.h \
    src/iof_replica/merge.c src/iof_replica/merge.h
