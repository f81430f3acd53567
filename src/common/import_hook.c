/* SPDX-License-Identifier: BSD-3-Clause */
/* import_hook.c -- a library calls others by a table of addresses, which the loader has filled: one
 * entry is replaced. */
#include "import_hook.h"
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if __SIZEOF_POINTER__ == 8
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

struct wanted {
    const char *object, *function;
    void (*replacement)(void);
    int outcome;
};

struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * calls, *others;
    size_t calls_size, others_size;
};

/* Some machines' loaders leave addresses in the dynamic section as the file has them. */
static const void *import_address(const struct dl_phdr_info *o, ElfW(Addr) value)
{
    return (const void *)(uintptr_t)(value < o->dlpi_addr ? value + o->dlpi_addr : value);
}

static void read_tables(const struct dl_phdr_info *o, const ElfW(Dyn) * d, struct tables *t)
{
    bool rela = false;
    for (; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SYMTAB)
            t->symbols = import_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            t->names = import_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_JMPREL)
            t->calls = import_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_PLTRELSZ)
            t->calls_size = d->d_un.d_val;
        else if (d->d_tag == DT_PLTREL)
            rela = d->d_un.d_val == DT_RELA;
        else if (d->d_tag == DT_RELA)
            t->others = import_address(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELASZ)
            t->others_size = d->d_un.d_val;
    if (!rela)
        t->calls = NULL; /* such machines are 32 bits wide */
}

/* Afterwards the page is as it was: read-only, where the loader had made it so. */
static int import_store(const struct dl_phdr_info *o, void *entry, void (*value)(void))
{
    const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)entry & ~(size - 1);
    bool sealed = false;
    for (ElfW(Half) i = 0; i < o->dlpi_phnum; i++) {
        const uintptr_t from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
        sealed |= o->dlpi_phdr[i].p_type == PT_GNU_RELRO && (uintptr_t)entry >= from &&
                  (uintptr_t)entry < from + o->dlpi_phdr[i].p_memsz;
    }
    if (mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0)
        return -errno;
    atomic_store((_Atomic uintptr_t *)entry, (uintptr_t)value);
    if (sealed)
        (void)mprotect((void *)page, size, PROT_READ);
    return 0;
}

static void import_replace_in(const struct dl_phdr_info *o, const struct tables *t,
                              const ElfW(Rela) * list, size_t size, struct wanted *w)
{
    for (size_t i = 0; list != NULL && i < size / sizeof *list; i++) {
        const ElfW(Sym) *symbol = &t->symbols[SYMBOL_OF(list[i].r_info)];
        if (list[i].r_addend != 0 || strcmp(t->names + symbol->st_name, w->function) != 0)
            continue;
        int rc =
            import_store(o, (void *)(uintptr_t)(o->dlpi_addr + list[i].r_offset), w->replacement);
        if (w->outcome == -ENOENT || rc != 0)
            w->outcome = rc;
    }
}

static int import_look_at(struct dl_phdr_info *o, size_t size, void *context)
{
    (void)size;
    struct wanted *w = context;
    struct tables t = {0};
    const char *slash = strrchr(o->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : o->dlpi_name;
    if (strncmp(name, w->object, strlen(w->object)) != 0)
        return 0;
    for (ElfW(Half) i = 0; i < o->dlpi_phnum; i++)
        if (o->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_tables(o, (const void *)(uintptr_t)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr), &t);
    if (t.symbols != NULL && t.names != NULL) {
        import_replace_in(o, &t, t.calls, t.calls_size, w);
        import_replace_in(o, &t, t.others, t.others_size, w);
    }
    return 0;
}

int import_hook(const char *object, const char *function, void (*replacement)(void))
{
    struct wanted w = {object, function, replacement, -ENOENT};
    dl_iterate_phdr(import_look_at, &w);
    return w.outcome;
}
