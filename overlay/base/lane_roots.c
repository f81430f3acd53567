/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_roots.c -- a line of numbers and three of paths. */
#include "lane_roots.h"
#include "beneath.h"
#include <stdio.h>
#include <string.h>

const char *lanes_way_text(enum lanes_way way)
{
    static const char *const texts[] = {[LANES_NONE] = "none",
                                        [LANES_ASIDE] = "copies aside",
                                        [LANES_COPIES] = "copies",
                                        [LANES_OVERLAY] = "overlayfs"};
    return way <= LANES_OVERLAY ? texts[way] : "unknown";
}

bool lane_roots_text(const struct lane_roots *r, char *text, unsigned size)
{
    if (strchr(r->prefix, '\n') != NULL || strchr(r->room, '\n') != NULL)
        return false;
    const int n = snprintf(text, size, "%d %u %d\n%s\n%s\n%s", (int)r->way, r->count, r->homes,
                           r->prefix, r->room, r->folder);
    return n > 0 && (unsigned)n < size;
}

/* Up to the end of the line, or of the text for the last one. */
static bool take_path(char out[PATH_MAX], const char **at, bool last)
{
    const size_t length = last ? strlen(*at) : strcspn(*at, "\n");
    if (length >= PATH_MAX || (!last && (*at)[length] == '\0'))
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length + !last;
    return true;
}

bool lane_roots_parse(struct lane_roots *r, const char *text)
{
    unsigned way, homes;
    int at = 0;
    if (sscanf(text, "%2u %2u %1u%n", &way, &r->count, &homes, &at) != 3 || text[at] != '\n' ||
        way > LANES_OVERLAY || r->count < 1 || r->count > LANES_MOST)
        return false;
    r->way = (enum lanes_way)way;
    r->homes = homes != 0;
    text += at + 1;
    return take_path(r->prefix, &text, false) && take_path(r->room, &text, false) &&
           take_path(r->folder, &text, true);
}

/* What follows some lane's copy; NULL: the path is in none. */
static const char *below_copy(const char *path, const char *room)
{
    unsigned lane;
    int length = 0;
    const char *const inside = path_beneath(path, room);
    return inside != NULL && sscanf(inside, "/lane-%2u/tree%n", &lane, &length) == 1 &&
                   length > 0 && (inside[length] == '/' || inside[length] == '\0')
               ? inside + length
               : NULL;
}

/* The job's folder may hold the room. */
const char *lane_roots_beneath(const struct lane_roots *r, const char *path)
{
    const char *const below = below_copy(path, r->room);
    return below != NULL ? below : path_beneath(path, r->folder);
}

bool lane_roots_aside(const struct lane_roots *r, unsigned lane, const char *path,
                      char out[PATH_MAX])
{
    const char *const below = lane_roots_beneath(r, path);
    return r->way == LANES_ASIDE && below != NULL &&
           snprintf(out, PATH_MAX, "%s/lane-%u/tree%s", r->room, lane, below) < PATH_MAX;
}
