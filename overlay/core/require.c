/* SPDX-License-Identifier: BSD-3-Clause */
/* require.c -- what a job demands of a peer: a recursive-descent parser into a bounded tree, and
 * its value for one ad. */
#include "require.h"
#include <assert.h>
#include <string.h>

enum kind { NODE_OR, NODE_AND, NODE_NOT, NODE_TEST };
enum compare { IS, IS_NOT, LESS, AT_MOST, MORE, AT_LEAST };
enum sort { WORD, SET, VERSION, NUMBER, SIZE, RATE, TIME };
enum { MILLION = 1000000, CONFINEMENTS = 6 };

/* --- fields --- */

enum field {
    OS,
    ARCH,
    NAME,
    SITE,
    LABEL,
    GROUP,
    CONFINEMENT,
    OMPI,
    LIBC,
    CORES,
    SLOTS,
    FREE,
    LOAD,
    SPEED,
    MEM,
    DISK,
    BANDWIDTH,
    RTT,
    FIELDS
};

static const struct {
    const char *name;
    enum sort sort;
} fields[FIELDS] = {
    [OS] = {"os", WORD},
    [ARCH] = {"arch", WORD},
    [NAME] = {"name", WORD},
    [SITE] = {"site", WORD},
    [LABEL] = {"label", SET},
    [GROUP] = {"group", SET},
    [CONFINEMENT] = {"confinement", SET},
    [OMPI] = {"ompi", VERSION},
    [LIBC] = {"libc", VERSION},
    [CORES] = {"cores", NUMBER},
    [SLOTS] = {"slots", NUMBER},
    [FREE] = {"free", NUMBER},
    [LOAD] = {"load", NUMBER},
    [SPEED] = {"speed", NUMBER},
    [MEM] = {"mem", SIZE},
    [DISK] = {"disk", SIZE},
    [BANDWIDTH] = {"bandwidth", RATE},
    [RTT] = {"rtt", TIME},
};

/* The bits of part_ad.confinement, by order. */
static const char *const confinements[CONFINEMENTS] = {"limits", "syscalls", "files",
                                                       "tcp",    "signals",  "sockets"};

/* --- characters and words --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool in_word(char c)
{
    return is_digit(c) || is_letter(c) || c == '_' || c == '.' || c == '-' || c == '+' ||
           c == ':' || c == '/' || c == '@' || c == '%';
}

static bool equals(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(word, other, length) == 0;
}

/* --- parsing --- */

struct parser {
    struct require *r;
    struct require_error *e;
    size_t at;
    unsigned depth;
    bool failed;
};

static uint8_t fail(struct parser *p, size_t at, size_t length, const char *what)
{
    if (p->failed)
        return 0; /* the first mistake is the one to tell */
    p->failed = true;
    p->e->column = (unsigned)at + 1;
    p->e->what = what;
    if (length > REQUIRE_WORD)
        length = REQUIRE_WORD;
    memcpy(p->e->word, p->r->text + at, length);
    p->e->word[length] = '\0';
    return 0;
}

static void skip_blanks(struct parser *p)
{
    while (p->r->text[p->at] == ' ' || p->r->text[p->at] == '\t')
        p->at++;
}

static bool accept(struct parser *p, const char *sign)
{
    skip_blanks(p);
    if (p->failed || strncmp(p->r->text + p->at, sign, strlen(sign)) != 0)
        return false;
    p->at += strlen(sign);
    return true;
}

/* A word, perhaps in quotes, at the parser's place; length 0: there is none. */
static size_t take_word(struct parser *p, size_t *begin)
{
    const char *text = p->r->text;
    skip_blanks(p);
    *begin = p->at;
    if (text[p->at] == '"') {
        const char *end = strchr(text + p->at + 1, '"');
        if (end == NULL) {
            fail(p, p->at, strlen(text + p->at), "has no closing quote");
            return 0;
        }
        *begin = p->at + 1;
        p->at = (size_t)(end - text) + 1;
        return (size_t)(end - text) - *begin;
    }
    while (in_word(text[p->at]))
        p->at++;
    return p->at - *begin;
}

static uint8_t add_node(struct parser *p, struct require_node node)
{
    struct require *r = p->r;
    if (r->count == REQUIRE_NODES)
        return fail(p, p->at, 0, "too many conditions");
    r->nodes[r->count] = node;
    return r->count++;
}

static uint8_t add_either(struct parser *p, enum kind kind, uint8_t left, uint8_t right)
{
    const struct require_node *nodes = p->r->nodes;
    return add_node(p, (struct require_node){.kind = (uint8_t)kind,
                                             .left = left,
                                             .right = right,
                                             .begin = nodes[left].begin,
                                             .end = nodes[right].end});
}

/* 12 or 1.5 in millionths, and what stands behind it. */
static bool take_number(const char *word, size_t length, uint64_t *millionths, size_t *used)
{
    size_t i = 0, digits = 0;
    uint64_t n = 0, unit = MILLION;
    for (; i < length && is_digit(word[i]); i++, digits++)
        if (digits < 9)
            n = n * 10 + (uint64_t)(word[i] - '0');
    if (digits == 0 || digits > 9)
        return false;
    n *= MILLION;
    if (i < length && word[i] == '.') {
        size_t point = i++;
        for (; i < length && is_digit(word[i]); i++)
            n += (unit /= 10) * (uint64_t)(word[i] - '0');
        if (i == point + 1)
            return false;
    }
    *millionths = n;
    *used = i;
    return true;
}

static bool size_unit(const char *unit, size_t length, unsigned *shift)
{
    static const char letters[] = "KMGT";
    const char *letter = length > 0 ? strchr(letters, unit[0]) : NULL;
    if (letter == NULL || *letter == '\0')
        return false;
    *shift = 10 * (unsigned)(letter - letters + 1);
    return length == 1 || equals(unit + 1, length - 1, "B") || equals(unit + 1, length - 1, "iB");
}

static bool read_size(const char *word, size_t length, uint64_t *bytes)
{
    size_t used;
    unsigned shift;
    uint64_t n;
    if (!take_number(word, length, &n, &used) || !size_unit(word + used, length - used, &shift))
        return false;
    uint64_t whole = n / MILLION, rest = n % MILLION;
    if (whole > UINT64_MAX >> (shift + 1))
        return false;
    *bytes = (whole << shift) + (rest << shift) / MILLION;
    return true;
}

/* In Mbit/s times a million. */
static bool read_rate(const char *word, size_t length, uint64_t *rate)
{
    size_t used;
    uint64_t n;
    if (!take_number(word, length, &n, &used) || used + 1 != length)
        return false;
    switch (word[used]) {
    case 'K':
        *rate = n / 1000;
        return true;
    case 'M':
        *rate = n;
        return true;
    case 'G':
        *rate = n * 1000;
        return true;
    }
    return false;
}

static bool read_time(const char *word, size_t length, uint64_t *us)
{
    size_t used;
    uint64_t n;
    if (!take_number(word, length, &n, &used))
        return false;
    const char *unit = word + used;
    length -= used;
    if (equals(unit, length, "us"))
        *us = n / MILLION;
    else if (equals(unit, length, "ms"))
        *us = n / 1000;
    else if (equals(unit, length, "s"))
        *us = n;
    else
        return false;
    return true;
}

static bool is_version(const char *word, size_t length)
{
    return length > 0 && is_digit(word[0]) && is_digit(word[length - 1]) &&
           strspn(word, "0123456789.") >= length;
}

static bool is_confinement(const char *word, size_t length)
{
    for (size_t i = 0; i < CONFINEMENTS; i++)
        if (equals(word, length, confinements[i]))
            return true;
    return false;
}

/* The value of a test whose field and comparison are known, and that begins at `test`. */
static uint8_t take_value(struct parser *p, enum field field, enum compare compare, size_t test)
{
    size_t begin, length = take_word(p, &begin), used;
    const char *word = p->r->text + begin;
    struct require_node n = {.kind = NODE_TEST,
                             .field = (uint8_t)field,
                             .compare = (uint8_t)compare,
                             .word = (uint16_t)begin,
                             .word_length = (uint16_t)length};
    if (p->failed)
        return 0;
    if (length == 0)
        return fail(p, begin, 0, "a value is missing");
    switch (fields[field].sort) {
    case WORD:
        break;
    case SET:
        if (field == CONFINEMENT && !is_confinement(word, length))
            return fail(p, begin, length,
                        "is no confinement: limits, syscalls, files, tcp, signals, sockets");
        break;
    case VERSION:
        if (!is_version(word, length))
            return fail(p, begin, length, "is no version, like 4.1");
        break;
    case NUMBER:
        if (!take_number(word, length, &n.number, &used) || used != length)
            return fail(p, begin, length, "is no number");
        break;
    case SIZE:
        if (!read_size(word, length, &n.number))
            return fail(p, begin, length, "is no size, like 512M or 4G");
        break;
    case RATE:
        if (!read_rate(word, length, &n.number))
            return fail(p, begin, length, "is no bandwidth, like 100M or 1G");
        break;
    case TIME:
        if (!read_time(word, length, &n.number))
            return fail(p, begin, length, "is no time, like 20ms");
        break;
    }
    n.begin = (uint16_t)test;
    n.end = (uint16_t)p->at;
    return add_node(p, n);
}

static uint8_t take_list(struct parser *p, enum field field, size_t test)
{
    if (!accept(p, "("))
        return fail(p, p->at, 0, "'(' is missing after 'in'");
    uint8_t list = take_value(p, field, IS, test);
    while (accept(p, ",")) {
        uint8_t next = take_value(p, field, IS, test);
        list = add_either(p, NODE_OR, list, next);
    }
    if (!accept(p, ")"))
        return fail(p, p->at, 0, "')' or ',' is missing");
    p->r->nodes[list].end = (uint16_t)p->at;
    return list;
}

static bool take_compare(struct parser *p, enum compare *compare)
{
    static const struct {
        const char *sign;
        enum compare compare;
    } signs[] = {{"==", IS},       {"!=", IS_NOT}, {"<=", AT_MOST},
                 {">=", AT_LEAST}, {"<", LESS},    {">", MORE}};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (accept(p, signs[i].sign)) {
            *compare = signs[i].compare;
            return true;
        }
    return false;
}

static enum field find_field(const char *word, size_t length)
{
    for (int i = 0; i < FIELDS; i++)
        if (equals(word, length, fields[i].name))
            return (enum field)i;
    return FIELDS;
}

static uint8_t take_test(struct parser *p)
{
    size_t begin, length = take_word(p, &begin);
    if (p->failed)
        return 0;
    if (length == 0)
        return fail(p, begin, 0, "a condition is missing");
    enum field field = find_field(p->r->text + begin, length);
    if (field == FIELDS)
        return fail(p, begin, length, "is nothing that a peer says of itself (see p2pgrid(7))");
    skip_blanks(p);
    size_t sign = p->at;
    enum compare compare;
    if (strncmp(p->r->text + sign, "in", 2) == 0 && !in_word(p->r->text[sign + 2])) {
        p->at += 2;
        return take_list(p, field, begin);
    }
    if (!take_compare(p, &compare))
        return fail(p, sign, 0, "a comparison is missing: == != < <= > >= in");
    if (compare > IS_NOT && fields[field].sort <= SET)
        return fail(p, sign, p->at - sign, "does not compare words; use ==, != or in");
    return take_value(p, field, compare, begin);
}

static uint8_t take_or(struct parser *p);

static uint8_t take_unary(struct parser *p)
{
    if (p->failed)
        return 0;
    if (p->depth == REQUIRE_DEPTH)
        return fail(p, p->at, 0, "too many brackets");
    p->depth++;
    uint8_t node;
    skip_blanks(p);
    const size_t begin = p->at;
    if (p->r->text[p->at] == '!' && p->r->text[p->at + 1] != '=') {
        p->at++;
        node = take_unary(p);
        node = add_node(p, (struct require_node){.kind = NODE_NOT,
                                                 .left = node,
                                                 .begin = (uint16_t)begin,
                                                 .end = p->r->nodes[node].end});
    } else if (accept(p, "(")) {
        node = take_or(p);
        if (!accept(p, ")"))
            fail(p, p->at, 0, "')' is missing");
        p->r->nodes[node].begin = (uint16_t)begin;
        p->r->nodes[node].end = (uint16_t)p->at;
    } else {
        node = take_test(p);
    }
    p->depth--;
    return node;
}

static uint8_t take_and(struct parser *p)
{
    uint8_t left = take_unary(p);
    while (accept(p, "&&")) {
        uint8_t right = take_unary(p);
        left = add_either(p, NODE_AND, left, right);
    }
    return left;
}

static uint8_t take_or(struct parser *p)
{
    uint8_t left = take_and(p);
    while (accept(p, "||")) {
        uint8_t right = take_and(p);
        left = add_either(p, NODE_OR, left, right);
    }
    return left;
}

bool require_parse(struct require *r, const char *text, struct require_error *e)
{
    struct parser p = {.r = r, .e = e};
    memset(r, 0, sizeof *r);
    memset(e, 0, sizeof *e);
    if (strlen(text) > REQUIRE_TEXT)
        return fail(&p, REQUIRE_TEXT, 0, "it is too long"), false;
    strcpy(r->text, text);
    skip_blanks(&p);
    if (r->text[p.at] == '\0')
        return true;
    r->root = take_or(&p);
    skip_blanks(&p);
    if (!p.failed && r->text[p.at] != '\0')
        fail(&p, p.at, strcspn(r->text + p.at, " \t"), "cannot stand here; && or || is missing");
    if (p.failed)
        r->count = 0;
    return !p.failed;
}

/* --- evaluating --- */

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
    for (; *version < end && is_digit(**version); (*version)++)
        n = n < 100000 ? n * 10 + (unsigned)(**version - '0') : n;
    while (*version < end && !is_digit(**version))
        (*version)++;
    return n;
}

/* As far as `want` has parts; "glibc 2.36" begins with its first digit. */
static int order_versions(const char *have, const char *want, size_t want_length)
{
    const char *have_end = have + strlen(have), *want_end = want + want_length;
    while (have < have_end && !is_digit(*have))
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
        if (equals(word, length, words[i].text))
            return true;
    return false;
}

static bool has_confinement(const struct part_ad *ad, const char *word, size_t length)
{
    for (unsigned i = 0; i < CONFINEMENTS; i++)
        if (equals(word, length, confinements[i]))
            return (ad->confinement >> i & 1) != 0;
    return false;
}

static bool test_holds(const struct require_node *n, const char *text, const struct part_ad *ad,
                       uint32_t rtt_us)
{
    const char *word = text + n->word;
    enum compare compare = (enum compare)n->compare;
    switch ((enum field)n->field) {
    case OS:
        return equals(word, n->word_length, ad->os) == (compare == IS);
    case ARCH:
        return equals(word, n->word_length, ad->arch) == (compare == IS);
    case NAME:
        return equals(word, n->word_length, ad->name) == (compare == IS);
    case SITE:
        return equals(word, n->word_length, ad->site) == (compare == IS);
    case LABEL:
        return among(ad->labels, ad->labels_count, word, n->word_length) == (compare == IS);
    case GROUP:
        return among(ad->groups, ad->groups_count, word, n->word_length) == (compare == IS);
    case CONFINEMENT:
        return has_confinement(ad, word, n->word_length) == (compare == IS);
    case OMPI:
        return compares(order_versions(ad->ompi, word, n->word_length), compare);
    case LIBC:
        return compares(order_versions(ad->libc, word, n->word_length), compare);
    case CORES:
        return compares(order_of((uint64_t)ad->cores * MILLION, n->number), compare);
    case SLOTS:
        return compares(order_of((uint64_t)ad->slots * MILLION, n->number), compare);
    case FREE:
        return compares(order_of((uint64_t)ad->slots_free * MILLION, n->number), compare);
    case LOAD:
        return compares(order_of((uint64_t)ad->load * (MILLION / 1000), n->number), compare);
    case SPEED:
        return compares(order_of((uint64_t)ad->speed * MILLION, n->number), compare);
    case MEM:
        return compares(order_of(ad->memory, n->number), compare);
    case DISK:
        return compares(order_of(ad->disk, n->number), compare);
    case BANDWIDTH:
        return compares(order_of((uint64_t)ad->bandwidth * MILLION, n->number), compare);
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
