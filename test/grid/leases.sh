# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # srcdir, uids and the like come from lib.sh
# leases.sh -- after lib.sh: holders of leases (grab), and the processes that run under these.
export P2PGRID_SOCKET=$P2PGRID_GRID/peer/1/p2pd.sock
grab=$builddir/test/grid/grab
mark=$((1000000 + 10 * $$)) # seconds to sleep: nobody else sleeps as long, nor a second more

# A command that leaves its session, its process group and its parent, and ignores requests to end.
# shellcheck disable=SC2034
tree="trap '' TERM HUP INT; setsid sleep $mark & (setsid sh -c 'sleep $mark & sleep $mark' &); sleep $mark"
# shellcheck disable=SC2034 # used by those who source this
tree_size=4

sleepers() { # N: so many processes of trees run
    [ "$(pgrep -cxf "sleep $mark")" = "$1" ]
}

# Nothing runs, every slot is free, no folder of a lease is left.
clean() {
    sleepers 0 && idle && ! ls -d "$P2PGRID_GRID"/peer/*/work/lease-* >/dev/null 2>&1 &&
        no_memory_left
}

# Folders in /dev/shm belong to leases by name; those of this grid's are in $out.
no_memory_left() {
    local id
    # shellcheck disable=SC2013 # words, one a line
    for id in $(awk '$1 == "lease" { print substr($2, 1, 12) }' "$scratch"/held* 2>/dev/null); do
        ls -d /dev/shm/p2pgrid-*-lease-"$id" >/dev/null 2>&1 && return 1
    done
    # shellcheck disable=SC2013
    for id in $(cat "$P2PGRID_GRID"/peer/*/init 2>/dev/null); do # a desktop's has nobody else's
        ls -d "/proc/$id/root/dev/shm"/p2pgrid-* >/dev/null 2>&1 && return 1
    done
    return 0
}

expect_clean() { # WHAT
    local begin
    begin=$(now_ms)
    within 10 clean || fail "$1: not clean after 10 s: $(grid status
        pgrep -axf "sleep $mark"
        ls -d "$P2PGRID_GRID"/peer/*/work/lease-* /dev/shm/p2pgrid-* 2>/dev/null)"
    echo "$1: all free again after $(($(now_ms) - begin)) ms"
}

# Starts grab in the background, holding until let_go: its words are in $scratch/held.
hold() { # ARG...: on desktop ${HOLD_ON:-1}, where grab has to be
    rm -f "$scratch/keep"
    mkfifo "$scratch/keep"
    : >"$scratch/held" # nobody reads what the one before said
    if [ -n "$uids" ]; then
        "$srcdir/contrib/grid" run --on "${HOLD_ON:-1}" "$grab" "$@" <"$scratch/keep" >"$scratch/held" 2>&1 &
    else
        "$grab" "$@" <"$scratch/keep" >"$scratch/held" 2>&1 &
    fi
    holder=$!
    exec 9>"$scratch/keep"
}

let_go() {
    exec 9>&-
    wait "$holder"
}

held() { # N PATTERN: so many lines of the holder match
    [ "$(grep -cE -- "$2" "$scratch/held")" = "$1" ]
}

expect_held() { # N PATTERN
    within 30 held "$1" "$2" || fail "expected $1 times '$2': $(cat "$scratch/held")"
}
