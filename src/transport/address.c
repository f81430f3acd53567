/* SPDX-License-Identifier: BSD-3-Clause */
/* address.c -- the line of text by which the others find a process.
 *
 *     HOST NONCE UNIX ADDRESS PORT ADDRESS PORT ...
 *
 * Two processes with the same HOST share memory and abstract sockets; UNIX is the name of such a
 * socket. NONCE is in every question that the process is asked; see greeting.h. */
#include "endpoint.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

void address_host(char *text, size_t size)
{
    char boot[37] = "";
    struct stat s;
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool known = f != NULL && fscanf(f, "%36s", boot) == 1 && stat("/proc/self/ns/net", &s) == 0;
    if (f != NULL)
        fclose(f);
    if (known)
        snprintf(text, size, "%.13s-%lx", boot, (unsigned long)s.st_ino);
    else
        snprintf(text, size, "unknown");
}

static bool address_word(const char *address, int index, char *word, size_t size)
{
    for (; index > 0 && address != NULL; index--) {
        address = strchr(address, ' ');
        address += address != NULL;
    }
    if (address == NULL || *address == '\0')
        return false;
    size_t n = strcspn(address, " ");
    if (n >= size)
        return false;
    memcpy(word, address, n);
    word[n] = '\0';
    return true;
}

bool address_nonce(const char *address, uint8_t nonce[GREETING_NONCE])
{
    char word[2 * GREETING_NONCE + 1];
    size_t got = 0;
    return address_word(address, 1, word, sizeof word) &&
           sodium_hex2bin(nonce, GREETING_NONCE, word, strlen(word), NULL, &got, NULL) == 0 &&
           got == GREETING_NONCE;
}

socklen_t address_unix(struct sockaddr_storage *a, const char *name)
{
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    if (n > sizeof u.sun_path - 1)
        n = sizeof u.sun_path - 1;
    memcpy(u.sun_path + 1, name, n); /* abstract: gone with its process */
    memcpy(a, &u, sizeof u);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

socklen_t address_ip(struct sockaddr_storage *a, const char *text, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(a, &v4, sizeof v4);
        return sizeof v4;
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(a, &v6, sizeof v6);
        return sizeof v6;
    }
    return 0;
}

/* The index-th way to the peer: its UNIX socket when it is on this host, then its addresses. 0:
 * there are no more. */
socklen_t address_way(const struct transport *t, const struct endpoint *e, int index,
                      struct sockaddr_storage *a)
{
    char word[128], port[16];
    bool here = t->options.shared_memory && strcmp(t->host, "unknown") != 0 &&
                address_word(e->address, 0, word, sizeof word) && strcmp(word, t->host) == 0;
    if (here && index == 0)
        return address_word(e->address, 2, word, sizeof word) ? address_unix(a, word) : 0;
    index -= here;
    if (!address_word(e->address, 3 + 2 * index, word, sizeof word) ||
        !address_word(e->address, 4 + 2 * index, port, sizeof port))
        return 0;
    return address_ip(a, word, (uint16_t)atoi(port));
}
