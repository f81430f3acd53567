/* SPDX-License-Identifier: BSD-3-Clause */
/* processors.c -- a processor in one word, and what libraries are told where these differ. */
#include "processors.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool has_flag(const char *flags, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = flags; (at = strstr(at, name)) != NULL; at += length)
        if (isspace((unsigned char)at[-1]) &&
            (at[length] == '\0' || isspace((unsigned char)at[length])))
            return true;
    return false;
}

/* flags: begins with a space. By what tells the levels of the x86-64 psABI apart. */
static unsigned features_of_flags(const char *flags)
{
    static const char *const needed[][4] = {{"sse2"},
                                            {"ssse3", "sse4_2", "popcnt"},
                                            {"avx2", "fma", "bmi2"},
                                            {"avx512f", "avx512bw", "avx512dq", "avx512vl"}};
    unsigned features = 0;
    for (; features < 4; features++)
        for (unsigned i = 0; i < 4 && needed[features][i] != NULL; i++)
            if (!has_flag(flags, needed[features][i]))
                return features;
    return features;
}

static void model_add(struct processor *p, const char *more)
{
    size_t used = strlen(p->model);
    if (used > 0 && used < PROCESSOR_MODEL)
        p->model[used++] = '-';
    for (; *more != '\0' && *more != '\n' && used < PROCESSOR_MODEL; more++)
        p->model[used++] = isalnum((unsigned char)*more) ? *more : '-';
    p->model[used] = '\0';
}

void processor_read(struct processor *p, FILE *cpuinfo, unsigned usable)
{
    static const char *const parts[] = {"vendor_id",       "cpu family", "model",
                                        "CPU implementer", "CPU part",   "cpu"};
    char *line = NULL;
    size_t size = 0;
    *p = (struct processor){.usable = usable};
    while (cpuinfo != NULL && getline(&line, &size, cpuinfo) > 1) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || colon[1] == '\0')
            continue;
        size_t name = (size_t)(colon - line);
        while (name > 0 && isspace((unsigned char)line[name - 1]))
            name--;
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            if (name == strlen(parts[i]) && strncmp(line, parts[i], name) == 0)
                model_add(p, colon + 2);
        if (name == 5 && strncmp(line, "flags", name) == 0)
            p->features = features_of_flags(colon + 1);
    }
    free(line);
    if (p->model[0] == '\0')
        strcpy(p->model, "unknown");
}

void processor_text(const struct processor *p, const char *architecture, char out[PROCESSOR_TEXT])
{
    snprintf(out, PROCESSOR_TEXT, "%.20s+v%u+%u+%s", architecture, p->features, p->usable,
             p->model);
}

bool processor_parse(struct processor *p, const char *text, size_t length)
{
    char copy[PROCESSOR_TEXT];
    int end = 0;
    *p = (struct processor){.features = 0};
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    const int fields =
        sscanf(copy, "%*[^+]+v%1u+%5u+%63[A-Za-z0-9-]%n", &p->features, &p->usable, p->model, &end);
    return fields == 3 && copy[end] == '\0' && p->features <= 4 && p->usable > 0;
}

void common_add(struct common *c, const struct processor *p)
{
    if (c->count++ == 0) {
        c->first = *p;
        c->features = p->features;
        c->usable = p->usable;
    }
    c->other_models |= strcmp(p->model, c->first.model) != 0 || p->features != c->first.features;
    c->other_counts |= p->usable != c->first.usable;
    c->features = p->features < c->features ? p->features : c->features;
    c->usable = p->usable < c->usable ? p->usable : c->usable;
}

#define AVX512 "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"

/* OpenBLAS has kernels for each kind of processor, which add up in other orders; the mathematical
 * functions of glibc have variants with FMA, those of NumPy with AVX and AVX-512. */
bool common_setting(const struct common *c, unsigned number, struct common_setting *out)
{
    static const char *const kernels[] = {"", "Prescott", "Nehalem", "Haswell", "Haswell"};
    const bool differ = c->other_models && c->features > 0;
    char threads[16];
    snprintf(threads, sizeof threads, "%u", c->usable);
    const struct {
        bool wanted;
        const char *name, *value;
    } all[] = {
        {c->other_counts, "OMP_NUM_THREADS", threads},
        {differ, "OPENBLAS_CORETYPE", kernels[c->features]},
        {differ && c->features == 3, "NPY_DISABLE_CPU_FEATURES", AVX512},
        {differ && c->features < 3, "NPY_DISABLE_CPU_FEATURES", "AVX F16C FMA3 AVX2 " AVX512},
        {differ && c->features < 3, "GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"}};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!all[i].wanted || number-- > 0)
            continue;
        out->name = all[i].name;
        snprintf(out->value, sizeof out->value, "%s", all[i].value);
        return true;
    }
    return false;
}
