/* SPDX-License-Identifier: BSD-3-Clause */
/* caller.h -- who calls a function of the C library that this library takes. */
#ifndef P2P_SRC_PML_REPLICA_PRELOAD_CALLER_H
#define P2P_SRC_PML_REPLICA_PRELOAD_CALLER_H
#include <stdbool.h>

#define CALLER __builtin_return_address(0)

/* What Open MPI asks for is its own business, or its lanes have agreed on it. */
__attribute__((visibility("hidden"))) bool caller_is_mpi(const void *caller);

/* The function in libc, looked up once: signal handlers call some of them, too. */
#define STOCK(name)                                                                                \
    ({                                                                                             \
        static __typeof__(&(name)) stock;                                                          \
        if (stock == NULL)                                                                         \
            stock = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name);                                  \
        stock;                                                                                     \
    })
#endif
