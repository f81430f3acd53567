/* SPDX-License-Identifier: BSD-3-Clause */
#include "err.h"
#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, int code, const char *format, ...)
{
    if (e != NULL && e->code == 0) {
        va_list args;
        va_start(args, format);
        vsnprintf(e->text, sizeof e->text, format, args);
        va_end(args);
        e->code = code;
    }
    return -code;
}
