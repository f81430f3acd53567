/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h -- a file_op at a file: one replica of the rank does it, all hear what came of it. */
#ifndef P2P_SRC_PML_REPLICA_FILE_FILE_H
#define P2P_SRC_PML_REPLICA_FILE_FILE_H
#include "src/pml_replica/glue.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include <errno.h>
#include <sys/types.h>

enum { FILE_PRIORITY = 100 };

/* The result. */
struct file_result {
    int64_t value;
    int32_t error; /* errno */
    int32_t unused;
};
static inline struct file_result result_of(int64_t value)
{
    return (struct file_result){.value = value, .error = value < 0 ? errno : 0};
}

struct file_op {
    ompio_file_t *fh;
    const char *name;
    int64_t number;
};

/* The leader acts, unless an earlier one has told its result already. */
static inline struct file_result file_op_settle(size_t (*act)(void *ctx, void *result),
                                                struct file_op *d)
{
    struct file_result w = {0};
    outcome_settle(&w, sizeof w, act, d);
    return w;
}

int file_mpi_error(int error); /* of errno */
int file_fd(ompio_file_t *fh); /* opened at the first file_op of this process; -1: errno says why */
#endif
