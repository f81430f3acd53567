/* SPDX-License-Identifier: BSD-3-Clause */
/* list_state.h -- shared by list.c, list_end.c and list_code.c only. */
#ifndef P2P_OVERLAY_FILES_LIST_STATE_H
#define P2P_OVERLAY_FILES_LIST_STATE_H
#include "list.h"

/* In order, no name twice, and each folder there before what is in it? */
int list_check(const struct list *l, struct err *e);
/* Finds out which chunks are the same. */
int list_number(struct list *l, struct err *e);
#endif
