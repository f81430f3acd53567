/* SPDX-License-Identifier: BSD-3-Clause */
/* infos.h -- lists of PMIx's key and value pairs, made one by one, and how one is read safely. */
#ifndef P2P_SRC_PMIX_SERVER_INFOS_H
#define P2P_SRC_PMIX_SERVER_INFOS_H
#include <pmix_common.h>
#include <stdbool.h>
#include <stdint.h>

struct infos {
    pmix_info_t *at; /* for PMIX_INFO_FREE */
    size_t count;
};

void put_text(struct infos *to, const char *key, const char *value);
void put_u32(struct infos *to, const char *key, uint32_t value);
void put_u64(struct infos *to, const char *key, uint64_t value);
void put_double(struct infos *to, const char *key, double value);
void put_bool(struct infos *to, const char *key, bool value);
void put_rank(struct infos *to, const char *key, uint32_t value);
void put_status(struct infos *to, const char *key, pmix_status_t value);
void put_proc(struct infos *to, const char *key, const char *nspace, uint32_t rank);
/* Of infos, which are gone from `list`. */
void put_list(struct infos *to, const char *key, struct infos *list);
/* Of process descriptions; the memory is taken over. */
void put_table(struct infos *to, const char *key, pmix_proc_info_t *table, size_t count);
void infos_free(struct infos *list);
void infos_release(void *list); /* malloc'd: with it */

/* What a tool has sent is of any type and length. False: it is no number, or no text that fits. */
bool take_number(const pmix_info_t *info, uint64_t *value);
bool take_text(const pmix_info_t *info, char *out, size_t size);
/* A flag without a value is set. */
bool take_flag(const pmix_info_t *info);
#endif
