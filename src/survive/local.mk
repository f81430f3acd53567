# SPDX-License-Identifier: BSD-3-Clause
# libsurvive: the decisions of errmgr_replica, grpcomm_replica and iof_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libsurvive.la
libsurvive_la_SOURCES = \
    src/survive/fate.c src/survive/fate.h src/survive/fate_state.h src/survive/fate_words.c \
    src/survive/heartbeat.c src/survive/heartbeat.h \
    src/survive/line.c src/survive/line.h \
    src/survive/level.c src/survive/level.h \
    src/survive/place_updates.c src/survive/place_updates.h \
    src/survive/placed.c src/survive/placed.h \
    src/survive/processors.c src/survive/processors.h \
    src/survive/participants.c src/survive/participants.h \
    src/survive/input_window.c src/survive/input_window.h src/survive/rate_limit.c src/survive/rate_limit.h \
    src/survive/output_merge.c src/survive/output_merge.h
