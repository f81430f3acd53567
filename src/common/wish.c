/* SPDX-License-Identifier: BSD-3-Clause */
/* wish.c -- one wish, as many questions to the daemon as it takes. */
#include "wish.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

unsigned wish_surplus(const struct grid_lease *leases, size_t count, unsigned per_peer,
                      bool *surplus)
{
    unsigned over = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned before = 0;
        for (size_t j = 0; j < i; j++)
            if (!surplus[j] && id_equal(&leases[j].peer, &leases[i].peer))
                before += leases[j].slots;
        surplus[i] = per_peer > 0 && before + leases[i].slots > per_peer;
        over += surplus[i] ? leases[i].slots : 0;
    }
    return over;
}

/* The leases of `more` go where they belong: those for work before the spares of `all`. */
static int append(struct answer *all, const struct grid_lease *more, size_t count, size_t spares)
{
    struct grid_lease *grown =
        realloc(all->leases, (all->count + count + 1) * sizeof all->leases[0]);
    if (grown == NULL)
        return err_set(&all->err, ENOMEM, "out of memory for %zu leases", count);
    all->leases = grown;
    const size_t work = all->count - all->spares, new_work = count - spares;
    memmove(grown + work + new_work, grown + work, all->spares * sizeof grown[0]);
    memcpy(grown + work, more, new_work * sizeof grown[0]);
    memcpy(grown + work + new_work + all->spares, more + new_work, spares * sizeof grown[0]);
    all->count += count;
    all->spares += spares;
    return 0;
}

/* Gives back the surplus among the leases for work and drops them from the answer. */
static void give_back(struct client *client, struct answer *all, const bool *surplus)
{
    const size_t work = all->count - all->spares;
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (i < work && surplus[i])
            client_release(client, &all->leases[i].id, NULL);
        else
            all->leases[kept++] = all->leases[i];
    all->count = kept;
}

/* Peers that have given all that they may, or that were excluded before. */
static int exclude_all(const struct wish *wish, const struct answer *all, struct id **out,
                       size_t *count)
{
    *out = malloc((wish->exclude_count + all->count + 1) * sizeof(*out)[0]);
    if (*out == NULL)
        return -ENOMEM;
    *count = wish->exclude_count;
    if (wish->exclude_count > 0)
        memcpy(*out, wish->exclude, wish->exclude_count * sizeof(*out)[0]);
    for (size_t i = 0; wish->per_peer > 0 && i < all->count; i++) {
        unsigned given = 0;
        bool told = false;
        for (size_t j = 0; j < all->count; j++) {
            const bool same = id_equal(&all->leases[j].peer, &all->leases[i].peer);
            given += same ? all->leases[j].slots : 0;
            told |= same && j < i;
        }
        if (given >= wish->per_peer && !told)
            (*out)[(*count)++] = all->leases[i].peer;
    }
    return 0;
}

static int ask_once(struct client *client, const struct wish *wish, unsigned slots, unsigned spares,
                    struct answer *all)
{
    struct id *exclude = NULL;
    struct grid_want want = {.slots = slots,
                             .slots_per_lease = wish->per_lease,
                             .strategy = wish->strategy,
                             .apart = wish->apart,
                             .spares = spares,
                             .require = wish->require,
                             .within = wish->within,
                             .adds_to = wish->adds_to,
                             .timeout_ms = wish->timeout_ms};
    if (exclude_all(wish, all, &exclude, &want.exclude_count) != 0)
        return err_set(&all->err, ENOMEM, "out of memory");
    want.exclude = exclude;
    struct grid_lease *more = NULL;
    size_t count = 0, spare = 0;
    int rc = client_allocate(client, &want, &more, &count, &spare, &all->err);
    if (rc == 0)
        rc = append(all, more, count, spare);
    free(more);
    free(exclude);
    return rc;
}

int wish_serve(struct client *client, const struct wish *wish, struct answer *answer)
{
    unsigned missing = wish->slots, spares = wish->spares;
    int rc = 0;
    *answer = (struct answer){0};
    while (rc == 0 && missing > 0) {
        rc = ask_once(client, wish, missing, spares, answer);
        spares = 0;
        missing = 0;
        bool *surplus = rc == 0 ? calloc(answer->count + 1, sizeof *surplus) : NULL;
        if (surplus != NULL) {
            missing = wish_surplus(answer->leases, answer->count - answer->spares, wish->per_peer,
                                   surplus);
            give_back(client, answer, surplus);
        }
        free(surplus);
    }
    if (rc != 0) {
        for (size_t i = 0; i < answer->count; i++)
            client_release(client, &answer->leases[i].id, NULL);
        free(answer->leases);
        answer->leases = NULL;
        answer->count = answer->spares = 0;
    }
    return rc;
}
