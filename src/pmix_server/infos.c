/* SPDX-License-Identifier: BSD-3-Clause */
/* infos.c -- lists of PMIx's key and value pairs. */
#include "infos.h"
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

static pmix_info_t *infos_add(struct infos *to, const char *key)
{
    pmix_info_t *more = realloc(to->at, (to->count + 1) * sizeof *more);
    if (more == NULL)
        abort(); /* PMIx's own macros do no better */
    to->at = more;
    pmix_info_t *info = &more[to->count++];
    memset(info, 0, sizeof *info);
    PMIX_LOAD_KEY(info->key, key);
    return info;
}

void put_text(struct infos *to, const char *key, const char *value)
{
    pmix_info_t *info = infos_add(to, key);
    info->value.type = PMIX_STRING;
    info->value.data.string = strdup(value);
}

void put_u32(struct infos *to, const char *key, uint32_t value)
{
    pmix_info_t *info = infos_add(to, key);
    info->value.type = PMIX_UINT32;
    info->value.data.uint32 = value;
}

void put_u64(struct infos *to, const char *key, uint64_t value)
{
    pmix_info_t *info = infos_add(to, key);
    info->value.type = PMIX_UINT64;
    info->value.data.uint64 = value;
}

void put_double(struct infos *to, const char *key, double value)
{
    pmix_info_t *info = infos_add(to, key);
    info->value.type = PMIX_DOUBLE;
    info->value.data.dval = value;
}

void put_bool(struct infos *to, const char *key, bool value)
{
    pmix_info_t *info = infos_add(to, key);
    info->value.type = PMIX_BOOL;
    info->value.data.flag = value;
}

void put_rank(struct infos *to, const char *key, uint32_t value)
{
    pmix_info_t *info = infos_add(to, key);
    info->value.type = PMIX_PROC_RANK;
    info->value.data.rank = value;
}

void put_status(struct infos *to, const char *key, pmix_status_t value)
{
    pmix_info_t *info = infos_add(to, key);
    info->value.type = PMIX_STATUS;
    info->value.data.status = value;
}

void put_proc(struct infos *to, const char *key, const char *nspace, uint32_t rank)
{
    pmix_info_t *info = infos_add(to, key);
    pmix_proc_t *proc = calloc(1, sizeof *proc);
    if (proc == NULL)
        abort();
    PMIX_LOAD_PROCID(proc, nspace, rank);
    info->value.type = PMIX_PROC;
    info->value.data.proc = proc;
}

static void put_array(struct infos *to, const char *key, pmix_data_type_t type, void *at,
                      size_t count)
{
    pmix_info_t *info = infos_add(to, key);
    pmix_data_array_t *array = calloc(1, sizeof *array);
    if (array == NULL)
        abort();
    *array = (pmix_data_array_t){.type = type, .size = count, .array = at};
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = array;
}

void put_list(struct infos *to, const char *key, struct infos *list)
{
    put_array(to, key, PMIX_INFO, list->at, list->count);
    *list = (struct infos){0};
}

void put_table(struct infos *to, const char *key, pmix_proc_info_t *table, size_t count)
{
    put_array(to, key, PMIX_PROC_INFO, table, count);
}

void infos_free(struct infos *list)
{
    if (list->at != NULL)
        PMIX_INFO_FREE(list->at, list->count);
    *list = (struct infos){0};
}

void infos_release(void *list)
{
    infos_free(list);
    free(list);
}

bool take_number(const pmix_info_t *info, uint64_t *value)
{
    const pmix_value_t *v = &info->value;
    switch (v->type) {
    case PMIX_UINT64:
        *value = v->data.uint64;
        return true;
    case PMIX_SIZE:
        *value = v->data.size;
        return true;
    case PMIX_UINT32:
        *value = v->data.uint32;
        return true;
    case PMIX_UINT16:
        *value = v->data.uint16;
        return true;
    case PMIX_INT:
        *value = v->data.integer >= 0 ? (uint64_t)v->data.integer : 0;
        return v->data.integer >= 0;
    case PMIX_INT32:
        *value = v->data.int32 >= 0 ? (uint64_t)v->data.int32 : 0;
        return v->data.int32 >= 0;
    case PMIX_INT64:
        *value = v->data.int64 >= 0 ? (uint64_t)v->data.int64 : 0;
        return v->data.int64 >= 0;
    default:
        return false;
    }
}

bool take_text(const pmix_info_t *info, char *out, size_t size)
{
    const char *text = info->value.type == PMIX_STRING ? info->value.data.string : NULL;
    if (text == NULL || strnlen(text, size) == size)
        return false;
    strcpy(out, text);
    return true;
}

bool take_flag(const pmix_info_t *info)
{
    return info->value.type != PMIX_BOOL || info->value.data.flag;
}
