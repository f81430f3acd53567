# SPDX-License-Identifier: BSD-3-Clause
# whole.awk -- a table of whole times: level R of a program beside R copies on stock; median.awk comes first.
# The caller sets value[program, kind, i] in seconds, count[program, kind], json, lines (0) and kinds, those asked for.
function spread(key,    i, low, high) {
    for (i = 1; i <= count[key]; i++) {
        if (i == 1 || value[key, i] < low) low = value[key, i]
        if (i == 1 || value[key, i] > high) high = value[key, i]
    }
    return sprintf("%.2f-%.2f", low, high)
}
function whole_line(program, level, beside,    a, b, ratio, target, verdict) {
    a = median(value, count, program SUBSEP "level" level)
    b = median(value, count, program SUBSEP beside)
    if (!a && !b || !index(" " kinds " ", " level" level " ")) return
    ratio = b ? a / b : 0
    target = level == 3 ? 1.10 : level == 2 ? 1.05 : 1.01
    verdict = !a || !b ? "no answer" : ratio <= target ? "met" : "missed"
    bad += verdict == "no answer"
    if (json)
        printf "%s\n    {\"program\": \"%s\", \"level\": %d, \"value\": %.3f, \"stock\": %.3f, \"ratio\": %.3f, " \
            "\"target\": %g, \"verdict\": \"%s\"}", lines++ ? "," : "", program, level, a, b, ratio, target, verdict
    else
        printf "%-9s %d %9.3f %9.3f s %6.2f  <=%.2f  %-9s %s\n", program, level, a, b, ratio, target, verdict,
            spread(program SUBSEP "level" level)
}
function whole_table(name, names, cores, repeat,    i) {
    if (json)
        printf "{\"cores\": %d, \"repeat\": %d, \"lines\": [", cores, repeat
    else
        printf "%d cores, medians of %d; level R beside R copies on stock\n%-9s %s %9s %9s   %6s  %s\n",
            cores, repeat, "", "R", "replicas", "stock", "ratio", "target            spread"
    for (i = 1; i <= names; i++) {
        whole_line(name[i], 1, "stock")
        whole_line(name[i], 2, "pair")
        whole_line(name[i], 3, "triple")
    }
    if (json)
        printf "\n]"
}
