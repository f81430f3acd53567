# SPDX-License-Identifier: BSD-3-Clause
# median.awk -- of value[key, 1] to value[key, count[key]]; 0 when there is none.
function median(value, count, key,    n, i, j, v, t) {
    n = count[key]
    for (i = 1; i <= n; i++) v[i] = value[key, i]
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n ? v[int((n + 1) / 2)] : 0
}
