/* SPDX-License-Identifier: BSD-3-Clause */
/* web_request.c -- noise as the heads of requests to the page: a line for each header. Keys are
 * whole or none, and for another host there is nothing. */
#include "overlay/web/request.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 8080, LINES = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_key(const char *key)
{
    const size_t length = strnlen(key, WEB_KEY + 1);
    if ((length != 0 && length != WEB_KEY) || strspn(key, "0123456789abcdef") != length)
        abort();
}

static void check(const struct web_head *head)
{
    struct web_request r;
    web_request_read(&r, head, PORT);
    check_key(r.link);
    check_key(r.session);
    check_key(r.token);
    check_key(r.bearer);
    const bool here = head->host != NULL && (strcmp(head->host, "127.0.0.1:8080") == 0 ||
                                             strcmp(head->host, "localhost:8080") == 0);
    if (here == (r.ask == WEB_MISDIRECTED) ||
        r.seconds > (r.ask == WEB_BAD ? UINT32_MAX : WEB_PAUSE_MOST_S))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line[LINES] = {NULL};
    char *text = malloc(size + 1), *rest = text;
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < LINES && rest != NULL; i++)
        line[i] = strsep(&rest, "\n");
    struct web_head head = {.post = size % 2 == 1,
                            .target = line[0],
                            .host = line[1],
                            .origin = line[2],
                            .cookie = line[3],
                            .authorization = line[4],
                            .token = line[5]};
    check(&head);
    head.host = "localhost:8080";
    head.origin = NULL;
    check(&head);
    free(text);
    return 0;
}
