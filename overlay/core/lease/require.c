/* SPDX-License-Identifier: BSD-3-Clause */
/* require.c -- reads what a job demands of a peer: a recursive-descent parser into a bounded tree.
 * Its value for one ad: require_fits.c. */
#include "phrase.h"
#include "quantity.h"
#include "require_tree.h"
#include <string.h>

enum sort { WORD, SET, VERSION, NUMBER, SIZE, RATE, TIME };

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

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool in_word(char c)
{
    return quantity_digit(c) || is_letter(c) || c == '_' || c == '.' || c == '-' || c == '+' ||
           c == ':' || c == '/' || c == '@' || c == '%';
}

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

static bool is_version(const char *word, size_t length)
{
    return length > 0 && quantity_digit(word[0]) && quantity_digit(word[length - 1]) &&
           strspn(word, "0123456789.") >= length;
}

bool require_confinement(const char *word, size_t length, unsigned *bit)
{
    static const char *const words[] = {"limits",  "syscalls", "files", "tcp",
                                        "signals", "sockets",  "peers", "cgroup"};
    for (*bit = 0; *bit < sizeof words / sizeof words[0]; ++*bit)
        if (require_equals(word, length, words[*bit]))
            return true;
    return false;
}

/* The value of a test whose field and comparison are known, and that begins at `test`. */
static uint8_t take_value(struct parser *p, enum field field, enum compare compare, size_t test)
{
    size_t begin, length = take_word(p, &begin), used;
    unsigned bit;
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
        if (field == CONFINEMENT && !require_confinement(word, length, &bit))
            return fail(p, begin, length,
                        "is no confinement: limits, syscalls, files, tcp, signals, sockets, peers, "
                        "cgroup");
        break;
    case VERSION:
        if (!is_version(word, length))
            return fail(p, begin, length, "is no version, like 4.1");
        break;
    case NUMBER:
        if (!quantity_number(word, length, &n.number, &used) || used != length)
            return fail(p, begin, length, "is no number");
        break;
    case SIZE:
        if (!quantity_size(word, length, &n.number))
            return fail(p, begin, length, "is no size, like 512M or 4G");
        break;
    case RATE:
        if (!quantity_rate(word, length, &n.number))
            return fail(p, begin, length, "is no bandwidth, like 100M or 1G");
        break;
    case TIME:
        if (!quantity_time(word, length, &n.number))
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
        if (require_equals(word, length, fields[i].name))
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
    if (compare > IS_NOT && fields[field].sort <= SET &&
        !(field == CONFINEMENT && compare == AT_LEAST))
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

enum { REQUIRE_SHOWN = 200 }; /* of a long one */

void require_error_text(const struct require_error *e, const char *text, char *out, size_t size)
{
    struct phrase p;
    phrase_begin(&p, out, size);
    phrase_add_part(&p, text, strnlen(text, REQUIRE_SHOWN));
    phrase_add(&p, e->word[0] != '\0' ? ": '" : ": ");
    phrase_add(&p, e->word);
    phrase_add(&p, e->word[0] != '\0' ? "' " : "");
    phrase_add(&p, e->what);
    phrase_add(&p, " (column ");
    phrase_add_number(&p, e->column);
    phrase_add(&p, ")");
}
