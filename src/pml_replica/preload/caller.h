/* SPDX-License-Identifier: BSD-3-Clause */
/* caller.h -- who calls a function of the C library that this library takes. */
#ifndef P2P_SRC_PML_REPLICA_PRELOAD_CALLER_H
#define P2P_SRC_PML_REPLICA_PRELOAD_CALLER_H
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define CALLER __builtin_return_address(0)

enum caller {
    CALLER_OTHER,
    CALLER_LIBRARY, /* one that the program itself is linked with, as the language's */
    CALLER_R,       /* that of R */
    CALLER_PROGRAM, /* from here: the program, or a library of it that uses MPI; */
    CALLER_CXX,     /* the library of C++; */
    CALLER_FORTRAN, /* that of Fortran */
};
/* Of what was there when the program began; what is loaded later is another one. */
enum caller caller_of(const void *caller);

/* What Open MPI asks for is its own business, or its lanes have agreed on it. */
bool caller_is_mpi(const void *caller);

/* Is this a program that is linked with MPI? Others may be, as Python, but not the tools that a
 * script calls. */
bool program_is_mpi(void);
/* The thread in which the program began. A child of fork() has none: it is no copy of a rank. */
bool thread_is_first(void);
/* Has the program itself made a thread, or anybody a child? */
bool program_has_helpers(void);

/* The function in libc, looked up once: signal handlers call some of them, too. */
#define STOCK(name)                                                                                \
    ({                                                                                             \
        static __typeof__(&(name)) stock;                                                          \
        if (stock == NULL)                                                                         \
            stock = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name);                                  \
        stock;                                                                                     \
    })

#pragma GCC visibility pop
#endif
