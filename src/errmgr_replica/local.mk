# SPDX-License-Identifier: BSD-3-Clause
# libsurvive: the decisions of errmgr_replica, grpcomm_replica and iof_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libsurvive.la
libsurvive_la_SOURCES = \
    src/errmgr_replica/level.c src/errmgr_replica/level.h
libsurvive_la_LIBADD = libclient.la
