/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.c -- sums of the state, a family each. */
#include "metrics.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A label's value: backslash, quote and line feed are escaped. */
static void put_label(FILE *f, const char *name, const char *value)
{
    fprintf(f, "%s=\"", name);
    for (; value != NULL && *value != '\0'; value++)
        if (*value == '\n')
            fputs("\\n", f);
        else
            fprintf(f, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
    fputc('"', f);
}

static void put_family(FILE *f, const char *name, const char *type, const char *help)
{
    fprintf(f, "# TYPE %s %s\n", name, type);
    const size_t length = strlen(name);
    if (length > 6 && strcmp(name + length - 6, "_bytes") == 0)
        fprintf(f, "# UNIT %s bytes\n", name);
    fprintf(f, "# HELP %s %s\n", name, help);
}

static void put_gauge(FILE *f, const char *name, json_int_t value, const char *help)
{
    put_family(f, name, "gauge", help);
    fprintf(f, "%s %lld\n", name, (long long)value);
}

static void put_counter(FILE *f, const char *name, json_int_t value, const char *help)
{
    put_family(f, name, "counter", help);
    fprintf(f, "%s_total %lld\n", name, (long long)value);
}

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Of all elements of a section. */
static json_int_t sum(json_t *section, const char *key)
{
    json_int_t n = 0;
    const char *id;
    json_t *one;
    json_object_foreach(section, id, one) n += number(one, key);
    return n;
}

static json_int_t count_true(json_t *section, const char *key)
{
    json_int_t n = 0;
    const char *id;
    json_t *one;
    json_object_foreach(section, id, one) n += json_is_true(json_object_get(one, key));
    return n;
}

static json_int_t count_way(json_t *transfers, const char *way)
{
    json_int_t n = 0;
    const char *id;
    json_t *one;
    json_object_foreach(transfers, id, one) n +=
        strcmp(json_string_value(json_object_get(one, "way")), way) == 0;
    return n;
}

static void put_desktop(FILE *f, json_t *state)
{
    const json_t *desktop = json_object_get(state, "desktop");
    json_t *lent = json_object_get(state, "lent");
    put_family(f, "p2pgrid", "info", "This desktop's daemon.");
    fputs("p2pgrid_info{", f);
    put_label(f, "name", json_string_value(json_object_get(desktop, "name")));
    fputc(',', f);
    put_label(f, "version", json_string_value(json_object_get(desktop, "version")));
    fputs("} 1\n", f);
    put_gauge(f, "p2pgrid_lends",
              json_is_true(json_object_get(json_object_get(desktop, "policy"), "open")),
              "1 while this desktop lends.");
    put_gauge(f, "p2pgrid_slots", number(desktop, "slots"), "Slots that this desktop lends.");
    put_gauge(f, "p2pgrid_slots_free", number(desktop, "slots_free"), "Of these, not in use.");
    put_gauge(f, "p2pgrid_leases", (json_int_t)json_object_size(lent),
              "Leases that other desktops hold here.");
    put_gauge(f, "p2pgrid_slots_lent", sum(lent, "slots"), "Slots in these leases.");
}

static void put_grid(FILE *f, json_t *state)
{
    json_t *peers = json_object_get(state, "peers");
    const json_t *totals = json_object_get(state, "totals");
    put_gauge(f, "p2pgrid_peers", (json_int_t)json_object_size(peers),
              "Peers of the grid that answer.");
    put_gauge(f, "p2pgrid_peers_lending", count_true(peers, "open"), "Of these, that lend now.");
    put_gauge(f, "p2pgrid_peers_silent", number(totals, "silent"),
              "Peers that are known and did not answer.");
    put_gauge(f, "p2pgrid_grid_slots", sum(peers, "slots"), "Slots of all peers.");
    put_gauge(f, "p2pgrid_grid_slots_free", sum(peers, "slots_free"), "Of these, not in use.");
    put_gauge(f, "p2pgrid_asked_timestamp_seconds", number(totals, "walked_ms") / 1000,
              "When all peers were asked last; 0: never.");
}

static void put_totals(FILE *f, json_t *state)
{
    const json_t *totals = json_object_get(state, "totals");
    json_t *jobs = json_object_get(state, "jobs");
    put_gauge(f, "p2pgrid_jobs", (json_int_t)json_object_size(jobs),
              "Jobs of this desktop's user that run.");
    put_gauge(f, "p2pgrid_processes_missing", sum(jobs, "lost"), "Processes that these have lost.");
    put_counter(f, "p2pgrid_jobs_ended", number(totals, "jobs"), "Jobs that have ended.");
    put_counter(f, "p2pgrid_leases_used", number(totals, "launched"),
                "Leases in which something ran on this desktop.");
    put_counter(f, "p2pgrid_peers_lost", number(totals, "peers_lost"),
                "Peers that jobs have lost.");
    put_counter(f, "p2pgrid_processes_lost", number(totals, "processes_lost"),
                "Processes that jobs have lost.");
}

static void put_transfers(FILE *f, json_t *state)
{
    const json_t *totals = json_object_get(state, "totals");
    json_t *transfers = json_object_get(state, "transfers");
    put_family(f, "p2pgrid_transfers", "gauge", "Lists of files that are on their way.");
    fprintf(f, "p2pgrid_transfers{way=\"gets\"} %lld\n", (long long)count_way(transfers, "gets"));
    fprintf(f, "p2pgrid_transfers{way=\"gives\"} %lld\n", (long long)count_way(transfers, "gives"));
    put_counter(f, "p2pgrid_fetched_bytes", number(totals, "fetched"),
                "Files of jobs that have come.");
    put_counter(f, "p2pgrid_given_bytes", number(totals, "given"),
                "Files of jobs that were given to others.");
}

char *web_metrics(json_t *state)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL)
        return NULL;
    put_desktop(f, state);
    put_grid(f, state);
    put_totals(f, state);
    put_transfers(f, state);
    fputs("# EOF\n", f);
    return fclose(f) == 0 ? text : NULL;
}
