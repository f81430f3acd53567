/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h -- how much of its free memory a process keeps (the C library's heap). */
#ifndef P2PGRID_HEAP_H
#define P2PGRID_HEAP_H

/* From now on blocks of up to 32 MiB come from the heap, and up to 64 MiB that are free at its end
 * stay there: what the C library does by itself once a block of 32 MiB was freed (mallopt(3),
 * M_MMAP_THRESHOLD). Where the user has set such a threshold nothing changes. */
void heap_keep(void);

#endif
