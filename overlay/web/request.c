/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c -- reads the head of a request. */
#include "request.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct path {
    const char *path;
    enum web_ask ask;
    bool post;
} paths[] = {
    {"/", WEB_PAGE, false},          {"/page.css", WEB_STYLE, false},
    {"/page.js", WEB_SCRIPT, false}, {"/favicon.ico", WEB_ICON, false},
    {"/enter", WEB_ENTER, false},    {"/state", WEB_STATE, false},
    {"/events", WEB_EVENTS, false},  {"/metrics", WEB_METRICS, false},
    {"/pause", WEB_PAUSE, true},     {"/resume", WEB_RESUME, true},
};

/* A key of exactly so many digits up to one of `ends` or the end; else out is "". */
static void read_key(char out[WEB_KEY + 1], const char *text, const char *ends)
{
    const size_t length = strspn(text, "0123456789abcdef");
    const bool whole = text[length] == '\0' || strchr(ends, text[length]) != NULL;
    out[0] = '\0';
    if (length == WEB_KEY && whole) {
        memcpy(out, text, WEB_KEY);
        out[WEB_KEY] = '\0';
    }
}

const char *web_cookie_name(uint16_t port, char out[WEB_COOKIE + 1])
{
    snprintf(out, WEB_COOKIE + 1, "p2pgrid-%u", (unsigned)port);
    return out;
}

/* "a=1; p2pgrid-8080=HEX; b=2" */
static void read_cookie(struct web_request *out, const char *cookie, uint16_t port)
{
    char name[WEB_COOKIE + 1];
    const size_t length = strlen(web_cookie_name(port, name));
    while (cookie != NULL && out->session[0] == '\0') {
        cookie += strspn(cookie, " ;");
        if (strncmp(cookie, name, length) == 0 && cookie[length] == '=')
            read_key(out->session, cookie + length + 1, "; ");
        cookie = strchr(cookie, ';');
    }
}

/* The value of "name=" in a query; NULL: it is not there. */
static const char *query_value(const char *query, const char *name)
{
    const size_t length = strlen(name);
    while (query != NULL) {
        if (strncmp(query, name, length) == 0 && query[length] == '=')
            return query + length + 1;
        query = strchr(query, '&');
        query = query != NULL ? query + 1 : NULL;
    }
    return NULL;
}

/* False: it is there and is none. */
static bool query_number(const char *query, const char *name, uint32_t most, uint32_t *out)
{
    const char *value = query_value(query, name);
    if (value == NULL)
        return true;
    const size_t digits = strspn(value, "0123456789");
    if (digits == 0 || digits > 9 || (value[digits] != '\0' && value[digits] != '&'))
        return false;
    *out = (uint32_t)strtoul(value, NULL, 10);
    return *out <= most;
}

static bool read_query(struct web_request *out, const char *query)
{
    const char *link = query_value(query, "token");
    uint32_t suspend = 0;
    if (out->ask == WEB_ENTER && link != NULL)
        read_key(out->link, link, "&");
    if (out->ask != WEB_PAUSE)
        return true;
    const bool good = query_number(query, "seconds", WEB_PAUSE_MOST_S, &out->seconds) &&
                      query_number(query, "suspend", 1, &suspend);
    out->suspend = suspend == 1;
    return good;
}

static bool host_is(const char *host, const char *name, uint16_t port)
{
    char here[32];
    snprintf(here, sizeof here, "%s:%u", name, (unsigned)port);
    return strcmp(host, here) == 0;
}

static bool is_here(const char *host, uint16_t port)
{
    return host != NULL && (host_is(host, "127.0.0.1", port) || host_is(host, "localhost", port));
}

/* A browser names the page that a script is of whenever that may matter. */
static bool is_foreign(const char *origin, uint16_t port)
{
    static const char scheme[] = "http://";
    return origin != NULL && (strncmp(origin, scheme, sizeof scheme - 1) != 0 ||
                              !is_here(origin + sizeof scheme - 1, port));
}

static enum web_ask find_path(const char *target, bool post)
{
    const size_t length = strcspn(target, "?");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strlen(paths[i].path) == length && strncmp(paths[i].path, target, length) == 0)
            return paths[i].post == post ? paths[i].ask : WEB_NOT_SO;
    return WEB_UNKNOWN;
}

static enum web_ask judge(const struct web_head *head, uint16_t port)
{
    if (!is_here(head->host, port))
        return WEB_MISDIRECTED;
    if (is_foreign(head->origin, port))
        return WEB_FOREIGN;
    return head->target != NULL ? find_path(head->target, head->post) : WEB_BAD;
}

void web_request_read(struct web_request *out, const struct web_head *head, uint16_t port)
{
    static const char bearer[] = "Bearer ";
    *out = (struct web_request){.ask = judge(head, port)};
    if (out->ask <= WEB_BAD)
        return;
    const char *query = strchr(head->target, '?');
    if (!read_query(out, query != NULL ? query + 1 : NULL)) {
        out->ask = WEB_BAD;
        return;
    }
    read_cookie(out, head->cookie, port);
    if (head->token != NULL)
        read_key(out->token, head->token, "");
    if (head->authorization != NULL && strncmp(head->authorization, bearer, sizeof bearer - 1) == 0)
        read_key(out->bearer, head->authorization + sizeof bearer - 1, "");
}
