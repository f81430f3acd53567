/* SPDX-License-Identifier: BSD-3-Clause */
/* plug_ins.h -- desktops of one job may have p2pgrid of different days: do the plug-ins of an orted
 * and its ranks, all of one installation, understand those of mpirun? Daemons speak with others of
 * several versions (overlay/wire/version.h); plug-ins do not. */
#ifndef P2P_SRC_COMMON_PLUG_INS_H
#define P2P_SRC_COMMON_PLUG_INS_H
#include <stdbool.h>
#include <stddef.h>

/* One more with each change of what replicas, orteds and mpirun say to each other;
 * test/style/plug_ins notices most of them. */
enum { PLUG_INS_VERSION = 5 };
/* mpirun tells its own to orteds. Every daemon passes on what begins like this. */
#define PLUG_INS_VARIABLE "OMPI_MCA_p2p_plug_ins"

enum { PLUG_INS_LINE = 160 };
/* told: by mpirun; NULL: it is older than this number. False: it is another one, and `line`, to go
 * on after the desktop's name, says what to do. */
bool plug_ins_agree(const char *told, char line[PLUG_INS_LINE]);
#endif
