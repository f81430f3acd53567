# SPDX-License-Identifier: BSD-3-Clause
# libreplica: the protocol of pml_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libreplica.la
libreplica_la_SOURCES = \
    src/pml_replica/engine.h \
    src/pml_replica/header.c src/pml_replica/header.h
