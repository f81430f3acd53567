/* SPDX-License-Identifier: BSD-3-Clause */
/* act.h -- what a process tries inside a sandbox, and how a test of one begins and ends. */
#ifndef P2P_ACT_H
#define P2P_ACT_H
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

typedef int act_fn(void); /* 0, or the errno it met */

static inline int outcome(long rc)
{
    return rc < 0 ? errno : 0;
}

/* What a child says by its exit status. */
static inline int act_status(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline bool act_cannot_confine(void)
{
#ifdef __SANITIZE_ADDRESS__
    puts("the address sanitizer needs more than a confined process may have");
    return true;
#else
    return false;
#endif
}
#endif
