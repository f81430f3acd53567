/* SPDX-License-Identifier: BSD-3-Clause */
/* elf.c -- the program headers lead to the dynamic section, and that to everything else. The fields
 * are read one by one, in the file's own width and byte order: it may be of another machine. */
#include "elf.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADERS_MOST = 256,
    DYNAMIC_MOST = 4096,  /* entries */
    VERSIONS_MOST = 4096, /* of all libraries together */
};

struct reader {
    struct elf *elf;
    elf_read_fn *read;
    void *ctx;
    bool wide, swapped; /* 64 bits; the most significant byte first */
    uint64_t headers;   /* where the program headers are */
    unsigned header_count, header_size;
    uint64_t strings, strings_size; /* offset in the file */
    uint64_t versions;              /* address of DT_VERNEED; 0: none */
    uint64_t version_count;
    uint64_t offers; /* address of DT_VERDEF; 0: none */
    uint64_t offer_count;
};

/* A number of so many bytes. */
static bool number(const struct reader *r, uint64_t at, unsigned bytes, uint64_t *out)
{
    uint8_t raw[8];
    if (!r->read(r->ctx, at, raw, bytes))
        return false;
    *out = 0;
    for (unsigned i = 0; i < bytes; i++)
        *out = *out << 8 | raw[r->swapped ? i : bytes - 1 - i];
    return true;
}

/* A field that stands at one offset in files of 64 bits and at another in those of 32; `bytes` 0:
 * it is a word. */
static bool field(const struct reader *r, uint64_t base, unsigned at64, unsigned at32,
                  unsigned bytes, uint64_t *out)
{
    const unsigned size = bytes != 0 ? bytes : r->wide ? 8 : 4;
    return number(r, base + (r->wide ? at64 : at32), size, out);
}
#define FIELD(r, base, kind, name, bytes, out)                                                     \
    field(r, base, offsetof(Elf64_##kind, name), offsetof(Elf32_##kind, name), bytes, out)

static void name_machine(struct elf *elf, unsigned machine, bool wide, bool swapped)
{
    static const struct {
        unsigned number;
        bool wide, swapped;
        const char *name;
    } known[] = {{EM_X86_64, true, false, "x86_64"}, {EM_AARCH64, true, false, "aarch64"},
                 {EM_386, false, false, "i686"},     {EM_ARM, false, false, "armv7l"},
                 {EM_RISCV, true, false, "riscv64"}, {EM_PPC64, true, false, "ppc64le"},
                 {EM_PPC64, true, true, "ppc64"},    {EM_S390, true, true, "s390x"}};
    snprintf(elf->machine, sizeof elf->machine, "elf-%u", machine);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].number == machine && known[i].wide == wide && known[i].swapped == swapped)
            strcpy(elf->machine, known[i].name);
}

static bool read_header(struct reader *r)
{
    uint8_t ident[EI_NIDENT];
    uint64_t machine, count, size;
    if (!r->read(r->ctx, 0, ident, sizeof ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
        (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
        (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
        return false;
    r->wide = ident[EI_CLASS] == ELFCLASS64;
    r->swapped = ident[EI_DATA] == ELFDATA2MSB;
    if (!FIELD(r, 0, Ehdr, e_machine, 2, &machine) || !FIELD(r, 0, Ehdr, e_phoff, 0, &r->headers) ||
        !FIELD(r, 0, Ehdr, e_phnum, 2, &count) || !FIELD(r, 0, Ehdr, e_phentsize, 2, &size))
        return false;
    if (count > HEADERS_MOST || size < (r->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
        count = 0; /* an object file has none */
    r->header_count = (unsigned)count;
    r->header_size = (unsigned)size;
    name_machine(r->elf, (unsigned)machine, r->wide, r->swapped);
    return true;
}

struct segment {
    uint64_t type, offset, address, size; /* size: in the file */
};

static bool segment_read(const struct reader *r, unsigned i, struct segment *s)
{
    const uint64_t at = r->headers + (uint64_t)i * r->header_size;
    return FIELD(r, at, Phdr, p_type, 4, &s->type) && FIELD(r, at, Phdr, p_offset, 0, &s->offset) &&
           FIELD(r, at, Phdr, p_vaddr, 0, &s->address) && FIELD(r, at, Phdr, p_filesz, 0, &s->size);
}

static bool segment_find(const struct reader *r, uint64_t type, struct segment *s)
{
    for (unsigned i = 0; i < r->header_count; i++)
        if (segment_read(r, i, s) && s->type == type)
            return true;
    return false;
}

/* Where in the file is what is at this address in memory? */
static bool address_find(const struct reader *r, uint64_t address, uint64_t *offset)
{
    struct segment s;
    for (unsigned i = 0; i < r->header_count; i++)
        if (segment_read(r, i, &s) && s.type == PT_LOAD && address >= s.address &&
            address - s.address < s.size) {
            *offset = s.offset + (address - s.address);
            return true;
        }
    return false;
}

/* Text that ends by NUL, cut off at `most` characters: then it is none. */
static bool text_read(const struct reader *r, uint64_t at, uint64_t end, char *out, size_t most)
{
    for (size_t i = 0; i <= most && at + i < end; i++) {
        if (!r->read(r->ctx, at + i, out + i, 1))
            break;
        if (out[i] == '\0')
            return true;
    }
    out[0] = '\0';
    return false;
}

static bool string_read(const struct reader *r, uint64_t index, char *out, size_t most)
{
    out[0] = '\0';
    return index < r->strings_size &&
           text_read(r, r->strings + index, r->strings + r->strings_size, out, most);
}

typedef void entry_fn(struct reader *r, uint64_t tag, uint64_t value);

static void each_entry(struct reader *r, const struct segment *dynamic, entry_fn *use)
{
    const unsigned size = r->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    for (unsigned i = 0; i < DYNAMIC_MOST && (uint64_t)(i + 1) * size <= dynamic->size; i++) {
        const uint64_t at = dynamic->offset + (uint64_t)i * size;
        uint64_t tag, value;
        if (!FIELD(r, at, Dyn, d_tag, 0, &tag) || !FIELD(r, at, Dyn, d_un, 0, &value) ||
            tag == DT_NULL)
            return;
        use(r, tag, value);
    }
}

static void find_tables(struct reader *r, uint64_t tag, uint64_t value)
{
    if (tag == DT_STRTAB && !address_find(r, value, &r->strings))
        r->strings = 0;
    else if (tag == DT_STRSZ)
        r->strings_size = value;
    else if (tag == DT_VERNEED)
        r->versions = value;
    else if (tag == DT_VERNEEDNUM)
        r->version_count = value;
    else if (tag == DT_VERDEF)
        r->offers = value;
    else if (tag == DT_VERDEFNUM)
        r->offer_count = value;
}

static void take_names(struct reader *r, uint64_t tag, uint64_t value)
{
    struct elf *elf = r->elf;
    if (tag == DT_RPATH)
        string_read(r, value, elf->rpath, ELF_SEARCH);
    else if (tag == DT_RUNPATH)
        string_read(r, value, elf->runpath, ELF_SEARCH);
    else if (tag == DT_NEEDED && elf->needed_count < ELF_NEEDED &&
             string_read(r, value, elf->needed[elf->needed_count], ELF_NAME))
        elf->needed_count++;
}

bool elf_is_older(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        char *end_a, *end_b;
        const unsigned long x = strtoul(a, &end_a, 10), y = strtoul(b, &end_b, 10);
        if (x != y)
            return x < y;
        if (end_a == a && end_b == b)
            return false; /* no numbers */
        a = end_a + (*end_a == '.');
        b = end_b + (*end_b == '.');
    }
    return false;
}

/* How long the series in the version's name is: GLIBCXX_ of GLIBCXX_3.4.30. */
static size_t series_length(const char *version)
{
    size_t length = strlen(version);
    while (length > 0 && strchr("0123456789.", version[length - 1]) != NULL)
        length--;
    return length;
}

bool elf_is_covered(const char *a, const char *b)
{
    const size_t length = series_length(a);
    return series_length(b) == length && strncmp(a, b, length) == 0 &&
           !elf_is_older(b + length, a + length);
}

static void take_glibc(struct elf *elf, const char *version)
{
    if (strlen(version) <= ELF_VERSION && strspn(version, "0123456789.") == strlen(version) &&
        elf_is_older(elf->glibc, version))
        strcpy(elf->glibc, version);
}

static void take_version(struct reader *r, const char *library, uint64_t name)
{
    static const char glibc[] = "GLIBC_";
    struct elf *elf = r->elf;
    char text[ELF_SYMBOL + 1];
    if (!string_read(r, name, text, ELF_SYMBOL))
        return;
    if (strncmp(text, glibc, strlen(glibc)) == 0) {
        take_glibc(elf, text + strlen(glibc));
        return;
    }
    for (unsigned i = 0; i < elf->symbols_count; i++) {
        struct elf_symbols *s = &elf->symbols[i];
        if (strcmp(s->library, library) != 0 ||
            (!elf_is_covered(text, s->version) && !elf_is_covered(s->version, text)))
            continue;
        if (elf_is_covered(s->version, text))
            strcpy(s->version, text);
        return;
    }
    if (library[0] == '\0' || elf->symbols_count == ELF_SYMBOLS)
        return;
    struct elf_symbols *s = &elf->symbols[elf->symbols_count++];
    strcpy(s->library, library);
    strcpy(s->version, text);
}

/* A chain of libraries, each with a chain of versions. They have one layout in both widths. */
static void read_versions(struct reader *r)
{
    uint64_t at, count, file, first, next, name, step;
    unsigned left = VERSIONS_MOST;
    char library[ELF_LIBRARY + 1];
    if (r->versions == 0 || !address_find(r, r->versions, &at))
        return;
    for (uint64_t i = 0; i < r->version_count && left > 0; i++, at += next) {
        if (!FIELD(r, at, Verneed, vn_cnt, 2, &count) ||
            !FIELD(r, at, Verneed, vn_file, 4, &file) ||
            !FIELD(r, at, Verneed, vn_aux, 4, &first) || !FIELD(r, at, Verneed, vn_next, 4, &next))
            return;
        uint64_t aux = at + first;
        string_read(r, file, library, ELF_LIBRARY);
        for (left--; count > 0 && left > 0; count--, left--, aux += step) {
            if (!FIELD(r, aux, Vernaux, vna_name, 4, &name) ||
                !FIELD(r, aux, Vernaux, vna_next, 4, &step))
                return;
            take_version(r, library, name);
            if (step == 0)
                break;
        }
        if (next == 0)
            return;
    }
}

bool elf_parse(struct elf *elf, elf_read_fn *read, void *ctx)
{
    struct reader r = {.elf = elf, .read = read, .ctx = ctx};
    struct segment s;
    memset(elf, 0, sizeof *elf);
    if (!read_header(&r))
        return false;
    if (segment_find(&r, PT_INTERP, &s))
        text_read(&r, s.offset, s.offset + s.size, elf->interpreter, ELF_NAME);
    if (segment_find(&r, PT_DYNAMIC, &s)) {
        each_entry(&r, &s, find_tables);
        each_entry(&r, &s, take_names);
        read_versions(&r);
    }
    return true;
}

/* The same chain of what a library has; the first name of each is the version's own. */
static bool offers(const struct reader *r, const char *version)
{
    uint64_t at, first, next, name;
    char text[ELF_SYMBOL + 1];
    if (r->offers == 0 || !address_find(r, r->offers, &at))
        return true;
    for (uint64_t i = 0; i < r->offer_count && i < VERSIONS_MOST; i++, at += next) {
        if (!FIELD(r, at, Verdef, vd_aux, 4, &first) || !FIELD(r, at, Verdef, vd_next, 4, &next) ||
            !FIELD(r, at + first, Verdaux, vda_name, 4, &name))
            return false;
        if (string_read(r, name, text, ELF_SYMBOL) && strcmp(text, version) == 0)
            return true;
        if (next == 0)
            return false;
    }
    return false;
}

bool elf_parse_offers(const char *version, elf_read_fn *read, void *ctx)
{
    static struct elf unused;
    struct reader r = {.elf = &unused, .read = read, .ctx = ctx};
    struct segment s;
    if (!read_header(&r))
        return false;
    if (!segment_find(&r, PT_DYNAMIC, &s))
        return true;
    each_entry(&r, &s, find_tables);
    return offers(&r, version);
}

/* Names are read by the byte: a window of the file keeps that from being a system call each. */
struct window {
    int fd;
    uint64_t at;
    size_t length;
    uint8_t bytes[4096];
};

static bool window_read(void *ctx, uint64_t at, void *out, size_t length)
{
    struct window *w = ctx;
    if (at > INT64_MAX - sizeof w->bytes || length > sizeof w->bytes)
        return false;
    if (at < w->at || at + length > w->at + w->length) {
        const ssize_t n = pread(w->fd, w->bytes, sizeof w->bytes, (off_t)at);
        w->at = at;
        w->length = n > 0 ? (size_t)n : 0;
    }
    if (at + length > w->at + w->length)
        return false;
    memcpy(out, w->bytes + (at - w->at), length);
    return true;
}

bool elf_read(struct elf *elf, int fd)
{
    struct window w = {.fd = fd};
    return elf_parse(elf, window_read, &w);
}

bool elf_offers(const char *version, int fd)
{
    struct window w = {.fd = fd};
    return elf_parse_offers(version, window_read, &w);
}
