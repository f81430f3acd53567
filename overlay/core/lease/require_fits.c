/* SPDX-License-Identifier: BSD-3-Clause */
/* require_fits.c -- whether a peer is what a job demands, by its ad, and if not, why. */
#include "quantity.h"
#include "require_tree.h"
#include <assert.h>
#include <string.h>

static bool compares(int order, enum compare compare)
{
    switch (compare) {
    case IS:
        return order == 0;
    case IS_NOT:
        return order != 0;
    case LESS:
        return order < 0;
    case AT_MOST:
        return order <= 0;
    case MORE:
        return order > 0;
    case AT_LEAST:
        return order >= 0;
    }
    return false;
}

static int order_of(uint64_t have, uint64_t want)
{
    return have < want ? -1 : have > want;
}

static unsigned next_part(const char **version, const char *end)
{
    unsigned n = 0;
    for (; *version < end && quantity_digit(**version); (*version)++)
        n = n < 100000 ? n * 10 + (unsigned)(**version - '0') : n;
    while (*version < end && !quantity_digit(**version))
        (*version)++;
    return n;
}

/* As far as `want` has parts; "glibc 2.36" begins with its first digit. */
static int order_versions(const char *have, const char *want, size_t want_length)
{
    const char *have_end = have + strlen(have), *want_end = want + want_length;
    while (have < have_end && !quantity_digit(*have))
        have++;
    while (want < want_end) {
        int order = order_of(next_part(&have, have_end), next_part(&want, want_end));
        if (order != 0)
            return order;
    }
    return 0;
}

static bool among(const struct part_label *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (require_equals(word, length, words[i].text))
            return true;
    return false;
}

/* From what nearly every kernel has to what few machines have: asking for one level asks for all
 * before it, so that guests are let in by default from `signals` on. */
static bool reaches(unsigned confinement, const char *word, size_t length)
{
    static const char *const levels[] = {"limits",  "syscalls", "files", "sockets",
                                         "signals", "tcp",      "peers", "cgroup"};
    unsigned bit;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (!require_confinement(levels[i], strlen(levels[i]), &bit) ||
            (confinement >> bit & 1) == 0)
            return false;
        if (require_equals(word, length, levels[i]))
            return true;
    }
    return false;
}

static bool has_confinement(const struct part_ad *ad, const char *word, size_t length)
{
    unsigned bit;
    return require_confinement(word, length, &bit) && (ad->confinement >> bit & 1) != 0;
}

static bool test_holds(const struct require_node *n, const char *text, const struct part_ad *ad,
                       uint32_t rtt_us)
{
    const char *word = text + n->word;
    enum compare compare = (enum compare)n->compare;
    switch ((enum field)n->field) {
    case OS:
        return require_equals(word, n->word_length, ad->os) == (compare == IS);
    case ARCH:
        return require_equals(word, n->word_length, ad->arch) == (compare == IS);
    case NAME:
        return require_equals(word, n->word_length, ad->name) == (compare == IS);
    case SITE:
        return require_equals(word, n->word_length, ad->site) == (compare == IS);
    case LABEL:
        return among(ad->labels, ad->labels_count, word, n->word_length) == (compare == IS);
    case GROUP:
        return among(ad->groups, ad->groups_count, word, n->word_length) == (compare == IS);
    case CONFINEMENT:
        if (compare == AT_LEAST)
            return reaches(ad->confinement, word, n->word_length);
        return has_confinement(ad, word, n->word_length) == (compare == IS);
    case OMPI:
        return compares(order_versions(ad->ompi, word, n->word_length), compare);
    case LIBC:
        return compares(order_versions(ad->libc, word, n->word_length), compare);
    case CORES:
        return compares(order_of((uint64_t)ad->cores * QUANTITY_ONE, n->number), compare);
    case SLOTS:
        return compares(order_of((uint64_t)ad->slots * QUANTITY_ONE, n->number), compare);
    case FREE:
        return compares(order_of((uint64_t)ad->slots_free * QUANTITY_ONE, n->number), compare);
    case LOAD:
        return compares(order_of((uint64_t)ad->load * (QUANTITY_ONE / 1000), n->number), compare);
    case SPEED:
        return compares(order_of((uint64_t)ad->speed * QUANTITY_ONE, n->number), compare);
    case MEM:
        return compares(order_of(ad->memory, n->number), compare);
    case DISK:
        return compares(order_of(ad->disk, n->number), compare);
    case BANDWIDTH:
        return compares(order_of((uint64_t)ad->bandwidth * QUANTITY_ONE, n->number), compare);
    case RTT:
        return compares(order_of(rtt_us, n->number), compare);
    case FIELDS:
        break;
    }
    return false;
}

/* Deep at most as the tree has nodes; a node's children come before it. */
static bool holds(const struct require *r, uint8_t node, const struct part_ad *ad, uint32_t rtt_us)
{
    const struct require_node *n = &r->nodes[node];
    switch ((enum kind)n->kind) {
    case NODE_OR:
        return holds(r, n->left, ad, rtt_us) || holds(r, n->right, ad, rtt_us);
    case NODE_AND:
        return holds(r, n->left, ad, rtt_us) && holds(r, n->right, ad, rtt_us);
    case NODE_NOT:
        return !holds(r, n->left, ad, rtt_us);
    case NODE_TEST:
        return test_holds(n, r->text, ad, rtt_us);
    }
    return false;
}

bool require_fits(const struct require *r, const struct part_ad *ad, uint32_t rtt_us)
{
    assert(r->count <= REQUIRE_NODES);
    return r->count == 0 || holds(r, r->root, ad, rtt_us);
}

/* What an expression may be when the round trip is not known. */
enum { MAY_HOLD = 1, MAY_FAIL = 2 };

static unsigned may(const struct require *r, uint8_t node, const struct part_ad *ad)
{
    const struct require_node *n = &r->nodes[node];
    if (n->kind == NODE_TEST && n->field == RTT)
        return MAY_HOLD | MAY_FAIL;
    if (n->kind == NODE_TEST)
        return test_holds(n, r->text, ad, 0) ? MAY_HOLD : MAY_FAIL;
    unsigned left = may(r, n->left, ad);
    if (n->kind == NODE_NOT)
        return (left & MAY_HOLD ? MAY_FAIL : 0u) | (left & MAY_FAIL ? MAY_HOLD : 0u);
    unsigned right = may(r, n->right, ad), both = left & right, either = left | right;
    if (n->kind == NODE_AND)
        return (both & MAY_HOLD) | (either & MAY_FAIL);
    return (either & MAY_HOLD) | (both & MAY_FAIL);
}

bool require_may_fit(const struct require *r, const struct part_ad *ad)
{
    return r->count == 0 || (may(r, r->root, ad) & MAY_HOLD) != 0;
}

static bool is_denied(const struct require *r, const struct require_node *test)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->nodes[i].kind == NODE_NOT && r->nodes[i].begin <= test->begin &&
            r->nodes[i].end >= test->end)
            return true;
    return false;
}

bool require_name(const struct require *r, size_t i, char name[REQUIRE_WORD + 1])
{
    const struct require_node *n = &r->nodes[i];
    if (n->kind != NODE_TEST || n->field != NAME || n->compare != IS ||
        n->word_length > REQUIRE_WORD || is_denied(r, n))
        return false;
    memcpy(name, r->text + n->word, n->word_length);
    name[n->word_length] = '\0';
    return true;
}

void require_explain(const struct require *r, const struct part_ad *ad, uint32_t rtt_us, char *out,
                     size_t size)
{
    assert(size > 0);
    out[0] = '\0';
    if (require_fits(r, ad, rtt_us))
        return;
    uint8_t node = r->root;
    while (r->nodes[node].kind == NODE_AND)
        node =
            holds(r, r->nodes[node].left, ad, rtt_us) ? r->nodes[node].right : r->nodes[node].left;
    size_t length = (size_t)(r->nodes[node].end - r->nodes[node].begin);
    if (length >= size)
        length = size - 1;
    memcpy(out, r->text + r->nodes[node].begin, length);
    out[length] = '\0';
}
