/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c -- a request becomes a message, and a request again. */
#include "request_message.h"
#include <string.h>

_Static_assert(REQUEST_EXCLUDES == sizeof((struct msg_local_allocate *)0)->exclude /
                                       sizeof((struct msg_local_allocate *)0)->exclude[0],
               "as many as one message has");

static const char *request_problem(const struct request *r, size_t require_length,
                                   size_t needs_length)
{
    if (r->slots == 0 || r->timeout_ms == 0)
        return "nothing to allocate: no slots are asked for, or no time is given";
    if (require_length >= sizeof((struct msg_local_allocate *)0)->require)
        return "the requirement is longer than 1023 characters";
    if (needs_length >= sizeof((struct msg_local_allocate *)0)->needs)
        return "what the programs need of a system is longer than 1023 characters";
    if (r->exclude_count > REQUEST_EXCLUDES)
        return "more than 1024 peers are excluded";
    if (r->spares > UINT16_MAX || r->per_lease > UINT16_MAX)
        return "more than 65535 spares, or slots in one lease";
    return NULL;
}

const char *request_write(const struct request *r, struct msg_local_allocate *m)
{
    const char *require = r->require != NULL ? r->require : "";
    const char *needs = r->needs != NULL ? r->needs : "";
    const char *problem = request_problem(r, strlen(require), strlen(needs));
    if (problem != NULL)
        return problem;
    m->slots = r->slots;
    m->per_lease = (uint16_t)r->per_lease;
    m->spares = (uint16_t)r->spares;
    m->strategy = (uint8_t)r->strategy;
    m->apart = r->apart;
    m->per_peer = r->per_peer;
    m->timeout_ms = r->timeout_ms;
    m->wait_s = r->wait_s;
    m->use = (uint8_t)r->use;
    m->own = r->own;
    m->reservation = r->reservation;
    strcpy(m->require, require);
    strcpy(m->needs, needs);
    m->exclude_count = (uint16_t)r->exclude_count;
    for (size_t i = 0; i < r->exclude_count; i++)
        m->exclude[i].peer = r->exclude[i];
    return NULL;
}

const char *request_read(struct request *r, const struct msg_local_allocate *m, struct id *exclude)
{
    if (m->strategy >= SHARE_STRATEGIES)
        return "there is no such strategy";
    if (m->use >= LEASE_USES)
        return "there is no such use of slots";
    for (size_t i = 0; i < m->exclude_count; i++)
        exclude[i] = m->exclude[i].peer;
    *r = (struct request){.slots = m->slots,
                          .per_lease = m->per_lease,
                          .spares = m->spares,
                          .strategy = (enum share_strategy)m->strategy,
                          .apart = m->apart,
                          .per_peer = m->per_peer,
                          .use = (enum lease_use)m->use,
                          .reservation = m->reservation,
                          .own = m->own != 0,
                          .timeout_ms = m->timeout_ms,
                          .wait_s = m->wait_s,
                          .require = m->require,
                          .needs = m->needs,
                          .exclude = exclude,
                          .exclude_count = m->exclude_count};
    return request_problem(r, 0, 0);
}
