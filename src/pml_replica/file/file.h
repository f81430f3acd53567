/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h -- a deed at a file: one replica of the rank does it, all hear what came of it. */
#ifndef P2P_SRC_PML_REPLICA_FILE_FILE_H
#define P2P_SRC_PML_REPLICA_FILE_FILE_H
#include "src/pml_replica/glue.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include <errno.h>
#include <sys/types.h>

enum { FILE_PRIORITY = 100 };

/* What came of it. */
struct word {
    int64_t value;
    int32_t error; /* errno */
    int32_t unused;
};
static inline struct word word_of(int64_t value)
{
    return (struct word){.value = value, .error = value < 0 ? errno : 0};
}

struct deed {
    ompio_file_t *fh;
    const char *name;
    int64_t number;
};

/* The leader acts, unless an earlier one has told its word already. */
static inline struct word deed_settle(size_t (*act)(void *ctx, void *word), struct deed *d)
{
    struct word w = {0};
    outcome_settle(&w, sizeof w, act, d);
    return w;
}

int file_fd(ompio_file_t *fh); /* opened at the first deed of this process; -1: errno says why */
#endif
