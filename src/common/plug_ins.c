/* SPDX-License-Identifier: BSD-3-Clause */
/* plug_ins.c -- whoever has the lower number is to be updated. */
#include "plug_ins.h"
#include <stdio.h>
#include <stdlib.h>

bool plug_ins_agree(const char *told, char line[PLUG_INS_LINE])
{
    char *end = NULL;
    const unsigned long theirs = told != NULL ? strtoul(told, &end, 10) : 0;
    if (told != NULL && end != told && *end == '\0' && theirs == PLUG_INS_VERSION)
        return true;
    snprintf(line, PLUG_INS_LINE,
             "its plug-ins of p2pgrid have version %d, those of mpirun %s: update p2pgrid %s",
             PLUG_INS_VERSION, told != NULL ? told : "an earlier one",
             theirs > PLUG_INS_VERSION ? "on that desktop" : "where mpirun runs");
    return false;
}
