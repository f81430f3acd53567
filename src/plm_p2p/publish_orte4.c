/* SPDX-License-Identifier: BSD-3-Clause */
/* publish_orte4.c -- what a process has published mpirun gives to those of the same user number
 * alone. The users of desktops are different ones, so parents and children, who meet by what they
 * publish, would wait for each other for ever; in a job all are mpirun's. */
#include "plm_p2p.h"
#include "opal/dss/dss.h"
#include "opal/mca/pmix/pmix_types.h"
#include "orte/runtime/orte_data_server.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool view_skip(opal_buffer_t *b, opal_data_type_t type)
{
    union {
        uint8_t command;
        int32_t number;
        opal_process_name_t name;
        opal_pmix_data_range_t range;
    } any;
    int32_t one = 1;
    return opal_dss.unpack(b, &any, &one, type) == OPAL_SUCCESS;
}

static bool view_skip_keys(opal_buffer_t *b)
{
    uint32_t keys = 0;
    int32_t one = 1;
    if (opal_dss.unpack(b, &keys, &one, OPAL_UINT32) != OPAL_SUCCESS)
        return false;
    for (; keys > 0; keys--) {
        char *key = NULL;
        if (opal_dss.unpack(b, &key, &one, OPAL_STRING) != OPAL_SUCCESS)
            return false;
        free(key);
    }
    return true;
}

/* Up to the list of values. */
static bool view_skip_head(opal_buffer_t *b)
{
    uint8_t command = 0;
    int32_t one = 1;
    if (!view_skip(b, OPAL_INT) || opal_dss.unpack(b, &command, &one, OPAL_UINT8) != OPAL_SUCCESS)
        return false;
    switch (command) {
    case ORTE_PMIX_PUBLISH_CMD:
        return view_skip(b, OPAL_NAME) && view_skip(b, OPAL_PMIX_DATA_RANGE) &&
               view_skip(b, OPAL_INT);
    case ORTE_PMIX_LOOKUP_CMD:
        return view_skip(b, OPAL_JOBID) && view_skip(b, OPAL_PMIX_DATA_RANGE) && view_skip_keys(b);
    case ORTE_PMIX_UNPUBLISH_CMD:
        return view_skip(b, OPAL_NAME) && view_skip(b, OPAL_INT) && view_skip_keys(b);
    default:
        return false;
    }
}

/* A value that is a number ends with it. */
void publish_as_one_user(opal_buffer_t *view, uint8_t *bytes)
{
    const uint32_t own = htonl(geteuid());
    opal_value_t *value = NULL;
    int32_t one = 1;
    if (!view_skip_head(view))
        return;
    while (opal_dss.unpack(view, &value, &one, OPAL_VALUE) == OPAL_SUCCESS && value != NULL) {
        if (value->key != NULL && strcmp(value->key, OPAL_PMIX_USERID) == 0 &&
            value->type == OPAL_UINT32)
            memcpy(bytes + (view->unpack_ptr - view->base_ptr) - sizeof own, &own, sizeof own);
        OBJ_RELEASE(value);
        value = NULL;
    }
}
