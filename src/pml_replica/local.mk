# SPDX-License-Identifier: BSD-3-Clause
# libreplica: the protocol of pml_replica; no Open MPI type is known in it.
noinst_LTLIBRARIES += libreplica.la
libreplica_la_SOURCES = \
    src/pml_replica/engine.h \
    src/pml_replica/header.c src/pml_replica/header.h

# libtransport: frames between processes, over TCP and shared memory; plain C.
noinst_LTLIBRARIES += libtransport.la
libtransport_la_SOURCES = \
    src/pml_replica/transport.c src/pml_replica/transport.h src/pml_replica/endpoint.h \
    src/pml_replica/greet.c src/pml_replica/tcp.c src/pml_replica/shm.c
