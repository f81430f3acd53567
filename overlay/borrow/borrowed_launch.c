/* SPDX-License-Identifier: BSD-3-Clause */
/* borrowed_launch.c -- has the peer of a lease start a command: signs what it is to start. */
#include "borrowed_state.h"
#include "overlay/manifest/manifest.h"
#include "overlay/transport/link.h"
#include "overlay/transport/tunnel.h"
#include "overlay/transport/uri.h"
#include <errno.h>
#include <string.h>
#include <time.h>

enum { FILES_SINCE = 8 /* version of the protocol */ };

int borrowed_launch(struct borrowed *b, const void *owner, const struct msg_local_launch *launch)
{
    const struct borrow_lease *one = borrow_find(&b->borrow, owner, &launch->lease);
    if (one == NULL)
        return -ENOENT;
    const unsigned version = link_version(b->node->links, &one->peer.id);
    if (!hash_is_zero(&launch->files.list) && version != 0 && version < FILES_SINCE)
        return -EPROTONOSUPPORT;
    struct part_peer self = links_self(b->node->links);
    uint16_t port = uri_port((const char *)launch->command, launch->command_length);
    if (port != 0 && !id_equal(&one->peer.id, &self.id) &&
        tunnel_allow(b->tunnels, &one->peer, &one->lease, port) < 0)
        return -ENOMEM;
    struct msg_manifest job = {.submitter = self.id,
                               .peer = one->peer.id,
                               .lease = one->lease,
                               .slots = one->slots,
                               .issued = (uint64_t)time(NULL),
                               .command = launch->command,
                               .command_length = launch->command_length,
                               .environment = launch->environment,
                               .environment_length = launch->environment_length,
                               .programs_count = launch->programs_count,
                               .inputs_count = launch->inputs_count,
                               .bounds = launch->bounds,
                               .encrypts = launch->encrypts,
                               .confine = launch->confine,
                               .files = launch->files,
                               .lanes = launch->lanes};
    memcpy(job.job_folder, launch->job_folder, sizeof job.job_folder);
    memcpy(job.folder, launch->folder, sizeof job.folder);
    memcpy(job.programs, launch->programs, launch->programs_count * sizeof job.programs[0]);
    memcpy(job.inputs, launch->inputs, launch->inputs_count * sizeof job.inputs[0]);
    struct manifest *sealed;
    int rc = manifest_sign(&sealed, &job, b->node->identity);
    if (rc != 0)
        return rc;
    struct message m = {.kind = MSG_lease_launch};
    manifest_put(sealed, &m.lease_launch);
    rc = link_send(b->node->links, &one->peer, &m);
    manifest_free(sealed);
    return rc;
}
