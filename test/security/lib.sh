# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# lib.sh -- after grid/lib.sh: one daemon that is attacked from another desktop, and what it must say and stay.
# shellcheck disable=SC2154 # srcdir, builddir, scratch come from there
intruder=$builddir/test/security/intruder
log=$P2PGRID_GRID/peer/2/log

attack() { # after start_grid
    daemon=$(cat "$P2PGRID_GRID/peer/2/pid")
    port=$(ask 2 status --json | jq -r '.listen[0]')
    intrude=(ip netns exec "${netns}3" "$intruder")
    before=$(resident)
}

resident() { # kB
    sed -n 's/^VmRSS:[\t ]*\([0-9]*\).*/\1/p' "/proc/$daemon/status"
}

# The log says five refusals a second and counts the rest, so an attempt is made again until its own line
# is there. The daemon must refuse it every time.
refused() { # PATTERN ARG... [<FILE]: the intruder, and what the daemon must say of it
    local pattern=$1 lines tries
    shift
    lines=$(wc -l <"$log")
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        "${intrude[@]}" "$port" "$@" <"${bytes:-/dev/null}" >"$out" 2>"$err" || fail "$*: $(cat "$err")"
        within 1 said "$lines" "$pattern" && return 0
    done
    fail "$* ($tries times): no line with '$pattern': $(tail -n 5 "$log")"
}

said() { # AFTER PATTERN
    tail -n "+$(($1 + 1))" "$log" | grep -qE "warning: refused .*$2"
}

expect_unharmed() { # MOST PEERS: kB more than before; it still sees the others
    kill -0 "$daemon" 2>/dev/null || fail "the daemon is dead: $(tail -n 5 "$log")"
    within 40 peers_seen 2 "$2" || fail "it does not see $2 peers any more"
    local now
    now=$(resident)
    echo "memory: $before kB before, $now kB after"
    [ "$now" -lt $((before + $1)) ] || fail "the daemon has grown from $before to $now kB"
}
