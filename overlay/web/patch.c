/* SPDX-License-Identifier: BSD-3-Clause */
/* patch.c -- makes merge patches. */
#include "patch.h"

static json_t *patch_changed(json_t *was, json_t *is)
{
    json_t *patch = json_object(), *value;
    const char *key;
    json_object_foreach(is, key, value)
    {
        json_t *known = json_object_get(was, key);
        json_t *change = known != NULL ? patch_make(known, value) : json_incref(value);
        if (change != NULL)
            json_object_set_new(patch, key, change);
    }
    return patch;
}

json_t *patch_make(json_t *was, json_t *is)
{
    json_t *value;
    const char *key;
    if (!json_is_object(was) || !json_is_object(is))
        return json_equal(was, is) ? NULL : json_incref(is);
    json_t *patch = patch_changed(was, is);
    json_object_foreach(was, key, value) if (json_object_get(is, key) == NULL)
        json_object_set_new(patch, key, json_null());
    if (json_object_size(patch) > 0)
        return patch;
    json_decref(patch);
    return NULL;
}
