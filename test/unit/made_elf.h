/* SPDX-License-Identifier: BSD-3-Clause */
/* made_elf.h -- ELF files made for tests: one segment that is the file, and a dynamic section. */
#ifndef P2P_MADE_ELF_H
#define P2P_MADE_ELF_H
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct made_elf {
    unsigned machine;
    const char *rpath, *runpath;
    const char *needed[4];
    const char *version[4]; /* of symbols, of the first library */
    const char *offers[3];  /* versions of its own symbols */
};

struct made_file {
    Elf64_Ehdr header;
    Elf64_Phdr segment[3];
    Elf64_Dyn dynamic[16];
    Elf64_Verneed need;
    Elf64_Vernaux version[4];
    struct {
        Elf64_Verdef is;
        Elf64_Verdaux name;
    } offer[3];
    char interpreter[16];
    char strings[512];
};

static inline unsigned made_string(struct made_file *f, size_t *at, const char *text)
{
    const size_t begin = *at;
    memcpy(f->strings + begin, text, strlen(text) + 1);
    *at += strlen(text) + 1;
    return (unsigned)begin;
}

static inline void made_dynamic(struct made_file *f, unsigned *count, Elf64_Sxword tag,
                                Elf64_Xword value)
{
    f->dynamic[*count].d_tag = tag;
    f->dynamic[(*count)++].d_un.d_val = value;
}

static inline void made_versions(struct made_file *f, const struct made_elf *e, size_t *at,
                                 unsigned *count)
{
    unsigned versions = 0;
    for (; versions < 4 && e->version[versions] != NULL; versions++) {
        f->version[versions].vna_name = made_string(f, at, e->version[versions]);
        f->version[versions].vna_next = sizeof f->version[0];
    }
    if (e->needed[0] != NULL)
        f->need.vn_file = made_string(f, at, e->needed[0]);
    f->need.vn_cnt = (Elf64_Half)versions;
    f->need.vn_aux = sizeof f->need;
    made_dynamic(f, count, DT_VERNEED, offsetof(struct made_file, need));
    made_dynamic(f, count, DT_VERNEEDNUM, 1);
}

static inline void made_offers(struct made_file *f, const struct made_elf *e, size_t *at,
                               unsigned *count)
{
    unsigned offers = 0;
    for (; offers < 3 && e->offers[offers] != NULL; offers++) {
        f->offer[offers].is.vd_cnt = 1;
        f->offer[offers].is.vd_aux = sizeof f->offer[0].is;
        f->offer[offers].is.vd_next = sizeof f->offer[0];
        f->offer[offers].name.vda_name = made_string(f, at, e->offers[offers]);
    }
    if (offers == 0)
        return;
    made_dynamic(f, count, DT_VERDEF, offsetof(struct made_file, offer));
    made_dynamic(f, count, DT_VERDEFNUM, offers);
}

static inline void make_elf(struct made_file *f, const struct made_elf *e)
{
    size_t at = 1;
    unsigned count = 0;
    memset(f, 0, sizeof *f);
    memcpy(f->header.e_ident, ELFMAG, SELFMAG);
    f->header.e_ident[EI_CLASS] = ELFCLASS64;
    f->header.e_ident[EI_DATA] = ELFDATA2LSB;
    f->header.e_machine = (Elf64_Half)e->machine;
    f->header.e_phoff = offsetof(struct made_file, segment);
    f->header.e_phnum = 3;
    f->header.e_phentsize = sizeof f->segment[0];
    f->segment[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof *f};
    f->segment[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                 .p_offset = offsetof(struct made_file, dynamic),
                                 .p_filesz = sizeof f->dynamic};
    f->segment[2] = (Elf64_Phdr){.p_type = PT_INTERP,
                                 .p_offset = offsetof(struct made_file, interpreter),
                                 .p_filesz = sizeof f->interpreter};
    strcpy(f->interpreter, "/lib/ld.so");
    made_dynamic(f, &count, DT_STRTAB, offsetof(struct made_file, strings));
    made_dynamic(f, &count, DT_STRSZ, sizeof f->strings);
    if (e->rpath != NULL)
        made_dynamic(f, &count, DT_RPATH, made_string(f, &at, e->rpath));
    if (e->runpath != NULL)
        made_dynamic(f, &count, DT_RUNPATH, made_string(f, &at, e->runpath));
    for (unsigned i = 0; i < 4 && e->needed[i] != NULL; i++)
        made_dynamic(f, &count, DT_NEEDED, made_string(f, &at, e->needed[i]));
    made_versions(f, e, &at, &count);
    made_offers(f, e, &at, &count);
}

static inline void write_elf(const char *path, const struct made_elf *e)
{
    struct made_file f;
    FILE *out = fopen(path, "w");
    make_elf(&f, e);
    if (out == NULL || fwrite(&f, sizeof f, 1, out) != 1 || fclose(out) != 0)
        perror(path);
}
#endif
