/* SPDX-License-Identifier: BSD-3-Clause */
/* core_list.h -- how an owner names cores: "all", "none", or processor numbers as in "2-7,12". */
#ifndef P2P_OVERLAY_BASE_CORE_LIST_H
#define P2P_OVERLAY_BASE_CORE_LIST_H
#include <stdbool.h>

enum { CORE_LIST_TEXT = 511 };

bool core_list_is_valid(const char *list);
#endif
