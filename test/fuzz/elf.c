/* SPDX-License-Identifier: BSD-3-Clause */
/* elf.c -- noise as an ELF file: the reader stays inside it, ends, and what it says is text. */
#include "overlay/files/elf.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at;
    size_t length;
};

static bool read_bytes(void *ctx, uint64_t at, void *out, size_t length)
{
    const struct bytes *b = ctx;
    if (at > b->length || length > b->length - at)
        return false;
    memcpy(out, b->at + at, length);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct elf elf;
    struct bytes b = {data, size};
    if (elf_parse(&elf, read_bytes, &b) &&
        (memchr(elf.machine, '\0', sizeof elf.machine) == NULL || elf.needed_count > ELF_NEEDED ||
         strspn(elf.glibc, "0123456789.") != strlen(elf.glibc)))
        abort();
    for (unsigned i = 0; i < elf.symbols_count; i++)
        if (elf.symbols_count > ELF_SYMBOLS || elf.symbols[i].library[0] == '\0' ||
            memchr(elf.symbols[i].version, '\0', sizeof elf.symbols[i].version) == NULL)
            abort();
    elf_parse_offers("X_1", read_bytes, &b);
    return 0;
}
