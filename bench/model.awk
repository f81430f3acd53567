# SPDX-License-Identifier: BSD-3-Clause
# model.awk -- what replicas are to take, from what messages of each size take alone; median.awk and whole.awk come first.
# Read are lines WAY sent|any BYTES MESSAGES, then WAY KIND MS; the way `start` is the time of a start, and
# sent.BYTES.MESSAGES and any.BYTES.MESSAGES are streams.
FNR == NR { size_of[$1, ++sizes[$1]] = $2 "." $3; messages[$1, sizes[$1]] = $4; next }
{
    name = $1
    if (split($1, part, ".") == 3) {
        name = part[1] "." part[2]
        streamed[name] = part[3]
    }
    value[name, $2, ++count[name, $2]] = $3 / 1000
}
# From here on value[] is without the start of the same kind.
function without_starts(    key, part, start) {
    for (key in count) {
        split(key, part, SUBSEP)
        start[part[2]] = median(value, count, "start" SUBSEP part[2])
    }
    for (key in value) {
        split(key, part, SUBSEP)
        if (part[1] != "start") value[key] -= start[part[2]]
    }
}
function cost(size, kind) { return median(value, count, size SUBSEP kind) / streamed[size] }
function model_line(way, level, beside,    i, size, a, b, predicted) {
    a = median(value, count, way SUBSEP "level" level)
    b = median(value, count, way SUBSEP beside)
    if (!a || !b) return
    predicted = b
    for (i = 1; i <= sizes[way]; i++) {
        size = size_of[way, i]
        predicted += messages[way, i] * (cost(size, "level" level) - cost(size, beside))
    }
    if (json)
        printf "%s\n    {\"program\": \"%s\", \"level\": %d, \"predicted\": %.3f, \"measured\": %.3f}", told++ ? "," : "", way,
            level, predicted, a
    else
        printf "%-9s %d %9.3f %9.3f s %6.2f\n", way, level, predicted, a, predicted / a
}
function size_line(size, level, beside,    a, b) {
    a = 1e6 * cost(size, "level" level)
    b = 1e6 * cost(size, beside)
    if (!a || !b) return
    if (json)
        printf "%s\n    {\"message\": \"%s\", \"level\": %d, \"us\": %.3f, \"stock\": %.3f}", told++ ? "," : "", size, level, a, b
    else
        printf "%-12s %d %9.3f %9.3f us\n", size, level, a, b
}
function model_lines(    i, size) {
    for (i = 1; i <= ways_number; i++) {
        model_line(name_of[i], 1, "stock")
        model_line(name_of[i], 2, "pair")
        model_line(name_of[i], 3, "triple")
    }
    for (size in streamed) {
        size_line(size, 1, "stock")
        size_line(size, 2, "pair")
        size_line(size, 3, "triple")
    }
}
END {
    without_starts()
    ways_number = split(ways, name_of, / +/)
    whole_table(name_of, ways_number, cores, repeat)
    printf "%s", json ? ", \"model\": [" : "\nby the model predicted, measured, ratio; and messages alone: replicas, stock\n"
    model_lines()
    if (json)
        print "\n]}"
    exit bad > 0
}
