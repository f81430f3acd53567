/* SPDX-License-Identifier: BSD-3-Clause */
/* result.c -- names and links are judged by their text alone. */
#include "result.h"
#include <string.h>

static bool part_is(const char *part, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(part, name, length) == 0;
}

bool result_path_is_sound(const char *path)
{
    unsigned depth = 0;
    if (strlen(path) > RESULT_PATH)
        return false;
    for (const char *at = path;; at++) {
        const size_t length = strcspn(at, "/");
        if (length == 0 || length > RESULT_NAME || ++depth > RESULT_DEPTH ||
            part_is(at, length, ".") || part_is(at, length, ".."))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}

bool result_path_is_guarded(const char *path, bool home)
{
    static const char *const guarded[] = {".git", ".ssh", ".gnupg", ".hg", ".svn", ".openmpi"};
    if (home && path[0] == '.')
        return true;
    for (const char *at = path;; at++) {
        const size_t length = strcspn(at, "/");
        for (size_t i = 0; i < sizeof guarded / sizeof guarded[0]; i++)
            if (part_is(at, length, guarded[i]))
                return true;
        at += length;
        if (*at == '\0')
            return false;
    }
}

/* May a target be followed from that depth below the folder? What has a name may be another link,
 * and where `..` leads from there no text tells: it is good before all names only. */
static bool target_stays(const char *target, int depth)
{
    bool named = false;
    for (const char *at = target;; at++) {
        const size_t length = strcspn(at, "/");
        const bool up = part_is(at, length, "..");
        if (up && (named || depth-- == 0))
            return false;
        named |= !up && length > 0 && !part_is(at, length, ".");
        at += length;
        if (*at == '\0')
            return true;
    }
}

bool result_link_stays(const char *path, const char *target, const char *folder)
{
    const size_t length = strlen(folder);
    int depth = 0;
    if (target[0] == '\0' || strlen(target) > RESULT_TARGET)
        return false;
    if (target[0] == '/') {
        if (strncmp(target, folder, length) != 0 || length < 2 ||
            (target[length] != '/' && target[length] != '\0'))
            return false;
        return target_stays(target + length, 0);
    }
    for (const char *at = path; (at = strchr(at, '/')) != NULL; at++)
        depth++;
    return target_stays(target, depth);
}
