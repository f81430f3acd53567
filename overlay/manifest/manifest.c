/* SPDX-License-Identifier: BSD-3-Clause */
/* manifest.c -- signs and checks what is to be started under a lease. */
#include "manifest.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The signed text begins with this label, so a signature over anything else does not count. */
static const char manifest_label[] = "p2pgrid job\n";
enum { LABEL = sizeof manifest_label - 1 };

struct manifest {
    struct message_whole job;
    size_t length; /* of the frame */
    uint8_t signature[SIGNATURE_BYTES];
    uint8_t words[LABEL + WIRE_MAX_FRAME]; /* the manifest_label, then the frame */
};

static struct manifest *manifest_new(void)
{
    struct manifest *m = malloc(sizeof *m);
    if (m != NULL)
        memcpy(m->words, manifest_label, LABEL);
    return m;
}

/* The earliest version of the protocol that says it all, so that peers of that version can read it:
 * it goes signed, and nobody writes it anew on its way. */
static unsigned manifest_version(const struct msg_manifest *job)
{
    const bool plain =
        hash_is_zero(&job->files.list) && job->job_folder[0] == '\0' && job->lanes <= 1;
    return plain ? WIRE_LOWEST : WIRE_HIGHEST;
}

static bool manifest_read(struct manifest *m)
{
    bool read = false;
    for (unsigned v = WIRE_HIGHEST; v >= WIRE_LOWEST && !read; v--)
        read = message_decode_whole(&m->job, m->words + LABEL, m->length, v);
    return read && m->job.message.kind == MSG_manifest;
}

int manifest_sign(struct manifest **out, const struct msg_manifest *job,
                  const struct identity *submitter)
{
    struct manifest *m = manifest_new();
    if (m == NULL)
        return -ENOMEM;
    message_clear(&m->job, MSG_manifest);
    m->job.large.manifest = *job; /* its bytes are the caller's */
    m->length = message_encode_version(&m->job.message, m->words + LABEL, WIRE_MAX_FRAME,
                                       manifest_version(job));
    int rc = m->length == 0 ? -E2BIG
                            : identity_sign(submitter, m->words, LABEL + m->length, m->signature);
    if (rc != 0) {
        free(m);
        return rc;
    }
    *out = m;
    return 0;
}

void manifest_put(const struct manifest *m, struct msg_lease_launch *out)
{
    const uint8_t *frame = m->words + LABEL;
    out->lease = m->job.large.manifest.lease;
    out->manifest = frame;
    out->manifest_length = (uint32_t)m->length;
    out->signature = m->signature;
    out->signature_length = sizeof m->signature;
}

static int manifest_check(const struct manifest *m, const struct msg_lease_launch *launch,
                          const struct identity_card *from, const struct id *self, struct err *e)
{
    const struct msg_manifest *job = &m->job.large.manifest;
    if (!id_equal(&job->submitter, &from->id))
        return err_set(e, EACCES, "its manifest is another member's");
    if (!id_equal(&job->peer, self))
        return err_set(e, EACCES, "its manifest is for another peer");
    if (!id_equal(&job->lease, &launch->lease))
        return err_set(e, EACCES, "its manifest is for another lease");
    if (memchr(job->command, '\0', job->command_length) != NULL)
        return err_set(e, EINVAL, "its command cannot be read");
    return 0;
}

int manifest_open(struct manifest **out, const struct msg_lease_launch *launch,
                  const struct identity_card *from, const struct id *self, struct err *e)
{
    struct manifest *m = launch->manifest_length <= WIRE_MAX_FRAME ? manifest_new() : NULL;
    if (m == NULL)
        return err_set(e, ENOMEM, "no memory for its manifest");
    m->length = launch->manifest_length;
    memcpy(m->words + LABEL, launch->manifest, m->length);
    int rc = 0;
    if (!identity_signed(from, m->words, LABEL + m->length, launch->signature,
                         launch->signature_length))
        rc = err_set(e, EACCES, "its manifest is not signed by %s", from->name);
    else if (!manifest_read(m))
        rc = err_set(e, EINVAL, "its manifest cannot be read");
    else
        rc = manifest_check(m, launch, from, self, e);
    if (rc != 0)
        free(m);
    else
        *out = m;
    return rc;
}

const struct msg_manifest *manifest_job(const struct manifest *m)
{
    return &m->job.large.manifest;
}

void manifest_free(struct manifest *m)
{
    free(m);
}
