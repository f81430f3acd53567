/* SPDX-License-Identifier: BSD-3-Clause */
/* ad_json.c -- what a peer offers, as JSON: the same names wherever an ad is printed. */
#include "ad_json.h"
#include "overlay/base/addr.h"
#include "overlay/base/confinement.h"
#include <stdio.h>
#include <string.h>

json_t *tool_json_confinement(unsigned bits)
{
    json_t *words = json_array();
    for (unsigned i = 0; i < 32; i++) {
        char word[80];
        if (bits >> i & 1)
            json_array_append_new(words, json_string(confinement_text(1u << i, word, sizeof word)));
    }
    return words;
}

json_t *tool_json_ad(const struct part_ad *ad)
{
    char id[ID_TEXT + 1], owner[ID_TEXT + 1], where[ADDR_TEXT + 1];
    json_t *labels = json_array(), *groups = json_array();
    id_text(&ad->peer.id, id);
    id_text(&ad->owner, owner);
    addr_text(&ad->peer.addr, where);
    for (size_t i = 0; i < ad->labels_count; i++)
        json_array_append_new(labels, json_string(ad->labels[i].text));
    for (size_t i = 0; i < ad->groups_count; i++)
        json_array_append_new(groups, json_string(ad->groups[i].text));
    json_t *all = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:f, s:i, s:i, s:s, "
        "s:o, s:o, s:o, s:I, s:I, "
        "s:I, s:I, s:b}",
        "name", ad->name, "id", id, "owner", owner, "address", where, "os", ad->os, "arch",
        ad->arch, "libc", ad->libc, "ompi", ad->ompi, "cores", ad->cores, "memory",
        (json_int_t)ad->memory, "disk", (json_int_t)ad->disk, "load", ad->load / 1000.0, "slots",
        ad->slots, "slots_free", ad->slots_free, "site", ad->site, "labels", labels, "groups",
        groups, "confinement", tool_json_confinement(ad->confinement), "speed",
        (json_int_t)ad->speed, "bandwidth", (json_int_t)ad->bandwidth, "watched_minutes",
        (json_int_t)ad->watched, "vanished", (json_int_t)ad->vanished, "encrypt", ad->encrypt);
    return all != NULL ? all : json_object(); /* a text that is no UTF-8 */
}

void tool_print_json(json_t *all)
{
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

json_t *tool_json_lines(const char *text)
{
    json_t *all = json_array();
    for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        json_array_append_new(all, json_stringn(text, length));
    }
    return all;
}
