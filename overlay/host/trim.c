/* SPDX-License-Identifier: BSD-3-Clause */
/* trim.c -- gives free heap back: handshakes take megabytes on a peer through which many join. And
 * code: reading keys, settings and the machine's topology touches libraries of which the daemon
 * then needs a small part, which is found again in the page cache. */
#include "trim.h"
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only segments that cannot be written to: their content is in the file. */
static int drop_code(struct dl_phdr_info *info, size_t size, void *ctx)
{
    uintptr_t page = *(const uintptr_t *)ctx;
    (void)size;
    if (strncmp(info->dlpi_name, "linux-vdso", 10) == 0) /* no file */
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0)
            continue;
        uintptr_t begin = (info->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void trim_memory(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    malloc_trim(0);
    dl_iterate_phdr(drop_code, &page);
}
