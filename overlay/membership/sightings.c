/* SPDX-License-Identifier: BSD-3-Clause */
/* sightings.c -- a table, and the frames of it in a file. */
#include "sightings.h"
#include "overlay/base/file.h"
#include "overlay/wire/stream.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 512 };

struct sightings {
    char path[4096];
    struct msg_local_member at[SIGHTINGS_MOST];
    size_t count;
    bool changed;
};

static struct msg_local_member *find(const struct sightings *s, const struct id *peer)
{
    for (size_t i = 0; i < s->count; i++)
        if (id_equal(&s->at[i].peer, peer))
            return (struct msg_local_member *)&s->at[i];
    return NULL;
}

static struct msg_local_member *make_room(struct sightings *s)
{
    struct msg_local_member *oldest = &s->at[0];
    if (s->count < SIGHTINGS_MOST)
        return &s->at[s->count++];
    for (size_t i = 1; i < s->count; i++)
        if (s->at[i].seen < oldest->seen)
            oldest = &s->at[i];
    return oldest;
}

void sightings_see(struct sightings *s, const struct id *peer, const char *name, uint64_t now)
{
    struct msg_local_member *m = find(s, peer);
    if (m == NULL)
        m = make_room(s);
    *m = (struct msg_local_member){.peer = *peer, .seen = now};
    snprintf(m->name, sizeof m->name, "%s", name);
    s->changed = true;
}

struct sightings *sightings_open(const char *folder)
{
    struct sightings *s = calloc(1, sizeof *s);
    uint8_t frame[FRAME];
    struct message m;
    if (s == NULL)
        return NULL;
    snprintf(s->path, sizeof s->path, "%s/sightings", folder);
    FILE *f = fopen(s->path, "re");
    while (f != NULL && stream_read(f, frame, sizeof frame, &m) && m.kind == MSG_local_member)
        sightings_see(s, &m.local_member.peer, m.local_member.name, m.local_member.seen);
    if (f != NULL)
        fclose(f);
    s->changed = false;
    return s;
}

void sightings_close(struct sightings *s)
{
    free(s);
}

size_t sightings_count(const struct sightings *s)
{
    return s->count;
}

const struct msg_local_member *sightings_at(const struct sightings *s, size_t i)
{
    return &s->at[i];
}

const struct msg_local_member *sightings_of(const struct sightings *s, const struct id *peer)
{
    return find(s, peer);
}

int sightings_save(struct sightings *s, struct err *e)
{
    uint8_t frame[FRAME];
    struct file f;
    if (!s->changed)
        return 0;
    int rc = file_begin(&f, s->path, 0600, e);
    if (rc != 0)
        return rc;
    bool ok = true;
    for (size_t i = 0; i < s->count && ok; i++) {
        const size_t length = message_put_local_member(&s->at[i], frame, sizeof frame);
        ok = length > 0 && fwrite(frame, 1, length, f.stream) == length;
    }
    s->changed = false;
    return file_end(&f, ok, e);
}
