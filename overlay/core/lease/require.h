/* SPDX-License-Identifier: BSD-3-Clause */
/* require.h -- what a job demands of a peer, as an expression over its ad:
 *
 *     mem >= 4G && cores >= 2 && rtt < 20ms && label in (lab, office)
 *
 *     expression   and { "||" and }
 *     and          test { "&&" test }
 *     test         "!" test | "(" expression ")" | FIELD OP value
 *                  | FIELD "in" "(" value { "," value } ")"
 *     OP           == != < <= > >=
 *
 *     os arch name site         words:  linux, "two words"       == != in
 *     label group confinement   sets of words; == and in: one of them is there
 *     confinement               >= too: limits, syscalls, files, sockets, signals, tcp, peers,
 *                               cgroup: that one and all before it
 *     ompi libc                 versions: 4.1, 4.1.4; == compares the parts that are written
 *     cores slots free load speed   numbers: 2, 0.5
 *     mem disk                  sizes: 512M, 4G, 1.5T (powers of 1024)
 *     bandwidth                 rates: 100M, 2.5G (bits a second, powers of 1000)
 *     rtt                       times: 800us, 20ms, 0.1s
 */
#ifndef P2P_OVERLAY_CORE_LEASE_REQUIRE_H
#define P2P_OVERLAY_CORE_LEASE_REQUIRE_H
#include "overlay/wire/message.h"
#include <stddef.h>

enum { REQUIRE_NODES = 64, REQUIRE_TEXT = 1023, REQUIRE_DEPTH = 24, REQUIRE_WORD = 63 };

struct require_node {
    uint8_t kind;        /* require_tree.h says which */
    uint8_t left, right; /* nodes */
    uint8_t field, compare;
    uint16_t begin, end;        /* the whole of it in the text */
    uint16_t word, word_length; /* of the text, quotes left out */
    uint64_t number;            /* bytes, microseconds, millionths */
};

struct require {
    char text[REQUIRE_TEXT + 1];
    struct require_node nodes[REQUIRE_NODES];
    uint8_t count, root; /* count 0: everything fits */
};

/* `word` what (column N), or what (column N) when there is no word. */
struct require_error {
    unsigned column; /* from 1 */
    char word[REQUIRE_WORD + 1];
    const char *what;
};

/* Blank text: no requirement. False: *e says why. */
bool require_parse(struct require *r, const char *text, struct require_error *e);
/* For a person: "mem >= 4X: '4X' is no size, like 512M or 4G (column 8)". */
void require_error_text(const struct require_error *e, const char *text, char *out, size_t size);
bool require_fits(const struct require *r, const struct part_ad *ad, uint32_t rtt_us);
/* The name, where the i-th node (of `count`) asks for a peer of this name. */
bool require_name(const struct require *r, size_t i, char name[REQUIRE_WORD + 1]);
/* Would it fit at some distance? */
bool require_may_fit(const struct require *r, const struct part_ad *ad);
/* The first condition, as written, that keeps the peer from fitting; "" when it fits. */
void require_explain(const struct require *r, const struct part_ad *ad, uint32_t rtt_us, char *out,
                     size_t size);
#endif
