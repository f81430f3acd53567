/* SPDX-License-Identifier: BSD-3-Clause */
/* elf.h -- what a program or library needs of the machine that it runs on, read from the file: for
 * which processor it was made, its dynamic linker, its libraries and the newest symbols of each.
 * Nothing is executed, and every field of the file is bounded. */
#ifndef P2P_OVERLAY_FILES_ELF_H
#define P2P_OVERLAY_FILES_ELF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ELF_NEEDED = 128,  /* libraries of one file */
    ELF_NAME = 255,    /* characters of a name */
    ELF_SEARCH = 4095, /* of RPATH, RUNPATH */
    ELF_VERSION = 15,  /* of "2.34" */
    ELF_SYMBOLS = 64,  /* versions of symbols, the newest ones */
    ELF_LIBRARY = 95,  /* characters of a library's name, where versions are noted */
    ELF_SYMBOL = 31,   /* of "GLIBCXX_3.4.30" */
};

/* Symbols of that version are needed of that library. */
struct elf_symbols {
    char library[ELF_LIBRARY + 1], version[ELF_SYMBOL + 1];
};

struct elf {
    char machine[16]; /* as uname -m says it; "elf-243" for one that is not known here */
    char interpreter[ELF_NAME + 1]; /* the dynamic linker; "": none */
    char rpath[ELF_SEARCH + 1], runpath[ELF_SEARCH + 1];
    char glibc[ELF_VERSION + 1]; /* the newest GLIBC_ version of its symbols; "": none */
    unsigned needed_count;
    char needed[ELF_NEEDED][ELF_NAME + 1];
    unsigned symbols_count; /* of each library the newest of each series, but none of glibc's */
    struct elf_symbols symbols[ELF_SYMBOLS];
};

/* So many bytes from there on; false: the file has not so many. */
typedef bool elf_read_fn(void *ctx, uint64_t at, void *out, size_t length);

/* False: it is no ELF file, or a broken one. */
bool elf_parse(struct elf *elf, elf_read_fn *read, void *ctx);
/* Of an open file. */
bool elf_read(struct elf *elf, int fd);
/* Has the library symbols of this version? True where it names no versions at all: then the dynamic
 * linker does not ask for one. */
bool elf_parse_offers(const char *version, elf_read_fn *read, void *ctx);
bool elf_offers(const char *version, int fd);
/* Are both of one series, GLIBCXX_3.4.9 and GLIBCXX_3.4.30, and is `a` not the newer one? */
bool elf_is_covered(const char *a, const char *b);
/* Is the version `a` ("2.34") older than `b` ("2.36")? */
bool elf_is_older(const char *a, const char *b);
#endif
