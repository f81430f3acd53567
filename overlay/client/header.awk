# SPDX-License-Identifier: BSD-3-Clause
# header.awk -- p2pgrid.h as it is installed: the tree's own headers that it includes stand in it, once each.
# awk -v top=FOLDER -f overlay/client/header.awk overlay/client/p2pgrid.h
function put(file, folder,    line, name, first) {
    if (seen[file]++)
        return
    folder = file
    sub(/\/[^\/]*$/, "", folder)
    for (first = 1; (getline line <(top "/" file)) > 0; first = 0) {
        if (line ~ /^#include "/) {
            split(line, name, "\"")
            put(name[2] ~ /\// ? name[2] : folder "/" name[2])
        } else if (!first || !begun++) # one licence line
            print line
    }
    close(top "/" file)
}
BEGIN { put(ARGV[1]) }
