/* SPDX-License-Identifier: BSD-3-Clause */
/* wish.c -- one wish, one question to the daemon. */
#include "wish.h"
#include <stdlib.h>

void wish_clear(struct wish *wish)
{
    free(wish->require);
    free(wish->exclude);
    *wish = (struct wish){0};
}

void answer_clear(struct answer *answer)
{
    free(answer->leases);
    *answer = (struct answer){0};
}

int wish_serve(struct client *client, const struct wish *wish, struct answer *answer)
{
    const struct grid_want want = {.slots = wish->slots,
                                   .slots_per_lease = wish->per_lease,
                                   .strategy = wish->strategy,
                                   .apart = wish->apart,
                                   .per_peer = wish->per_peer,
                                   .spares = wish->spares,
                                   .require = wish->require,
                                   .exclude = wish->exclude,
                                   .exclude_count = wish->exclude_count,
                                   .within = wish->within,
                                   .adds_to = wish->adds_to,
                                   .own = wish->own,
                                   .timeout_ms = wish->timeout_ms};
    *answer = (struct answer){0};
    return client_allocate(client, &want, &answer->leases, &answer->count, &answer->spares,
                           &answer->err);
}
