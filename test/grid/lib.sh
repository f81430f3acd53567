# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# lib.sh -- what the tests of a whole grid share: a private grid, and what to expect of a command.
: "${srcdir:?}" "${builddir:?}" # set by test/run
set -u -o pipefail
export P2PGRID_BUILD=$builddir
export LIMIT_UP=120 LIMIT_DOWN=60 # of contrib/grid: a slow machine is no failure
export OMPI_MCA_plm_p2p_timeout_s=10      # and starts slowly, when it is busy

scratch=$(mktemp -d /tmp/p2pgrid-test.XXXXXX)
export P2PGRID_GRID=$scratch/grid
trap 'code=$?; trap "" INT TERM; show_logs $code; grid down; rm -rf "$scratch"; [ -z "$why" ] || echo "$why"; exit $code' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

grid() {
    "$srcdir/contrib/grid" "$@"
}

why= # said again after the logs: test/run shows the end of what a failed test printed
fail() {
    why="FAIL: $*"
    echo "$why"
    exit 1
}

skip() {
    echo "$*"
    exit 77
}

show_logs() { # CODE: what the daemons said last, when the test failed
    case $1 in 0 | 77) return ;; esac
    local log
    for log in "$P2PGRID_GRID"/peer/*/log; do
        [ ! -f "$log" ] || { echo "--- $log" && tail -n 15 "$log"; }
    done
}

need() { # PROGRAM...
    local program
    for program; do
        command -v "$program" >/dev/null || skip "no $program here"
    done
}

uids='' netns='' # of desktops
start_grid() { # as contrib/grid up
    case " $* " in *" --desktops "*) [ "$(id -u)" = 0 ] || skip "desktops that share nothing need root" ;; esac
    grid up "$@" || fail "the grid does not start"
    uids=$(sed -n 's/^uids=//p' "$P2PGRID_GRID/grid.conf")
    netns=$(sed -n 's/^netns=\(.\)/\1/p' "$P2PGRID_GRID/grid.conf")
    # shellcheck disable=SC2034 # for those who make keys by hand
    authority=$P2PGRID_GRID/${uids:+peer/1/disk/home/ada/.config/p2pgrid/authority}
    [ -n "$uids" ] || authority+=keys
}

on_peer() { # K CMD...: as its user
    timeout -k 5 -s KILL "${LIMIT:-60}" "$srcdir/contrib/grid" run --on "$@"
}

ask() { # K ARG...: p2pctl there
    if [ -n "$uids" ]; then
        LIMIT=10 on_peer "$1" p2pctl "${@:2}"
    else
        P2PGRID_SOCKET=$P2PGRID_GRID/peer/$1/p2pd.sock timeout 10 "$builddir/p2pctl" "${@:2}"
    fi
}

# Runs a command for at most $LIMIT seconds (60): $code, and the files $out and $err.
out=$scratch/out err=$scratch/err code=0
capture() {
    timeout -k 5 -s KILL "${LIMIT:-60}" "$@" >"$out" 2>"$err" </dev/null
    code=$?
}

on_grid() { # CMD...: captured, as the user of peer 1
    capture "$srcdir/contrib/grid" run "$@"
}

mpirun_grid() { # ARG...: captured
    on_grid mpirun --mca ras p2p "$@"
}

told() { # everything that a failing test should show
    echo "exit $code"
    sed 's/^/  out: /' "$out" | tail -n 20
    sed 's/^/  err: /' "$err" | tail -n 20
}

expect_code() { # N|nonzero
    case $1 in
    nonzero) [ "$code" != 0 ] ;;
    *) [ "$code" = "$1" ] ;;
    esac || fail "expected exit $1: $(told)"
}

expect_out() { # LINES PATTERN: so many lines of stdout match
    [ "$(grep -cE -- "$2" "$out")" = "$1" ] || fail "expected $1 times '$2': $(told)"
}

expect_one_line() { # PATTERN: stderr is one line, and says this
    [ "$(grep -c . "$err")" = 1 ] && grep -qE -- "$1" "$err" ||
        fail "expected one line with '$1': $(told)"
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# It holds before the time is up. A machine that was paused has not used it up: then it is looked at ten times for
# each second, or for four times as long.
within() { # SECONDS TEST...
    local begin=$SECONDS limit=$1 looks=0
    shift
    until "$@"; do
        looks=$((looks + 1))
        [ $((SECONDS - begin)) -le "$limit" ] ||
            { [ $looks -lt $((limit * 10)) ] && [ $((SECONDS - begin)) -le $((limit * 4)) ]; } || return 1
        sleep 0.05
    done
}

peers_seen() { # K N: peer K sees N peers
    [ "$(ask "$1" peers --json | jq '.peers | length')" = "$2" ]
}

# Each of N peers sees all of them, and a second later again: a ring that was torn takes a moment, and a peer that
# has just come back may be lost from a list once more.
all_seen() { # N
    local k again
    for again in 0 1; do
        sleep "$again"
        for ((k = 1; k <= $1; k++)); do
            peers_seen "$k" "$1" || return 1
        done
    done
}

all_free() { # N: peer 1 sees N slots, and all of them are free
    [ "$(ask 1 peers --json | jq '[.peers[].slots_free] | add')" = "$1" ]
}

settle() { # K LINE...: the owner of peer K changes his mind
    local home=$P2PGRID_GRID/peer/$1 before
    shift
    before=$(grep -c 'settings read again' "$home/log")
    printf '%s\n' "$@" >>"$home/p2pd.conf"
    kill -HUP "$(cat "$home/pid")"
    within 40 read_again "$home/log" "$before" || fail "the settings are not read again: $(tail -n 3 "$home/log")"
}
read_again() { [ "$(grep -c 'settings read again' "$1")" -gt "$2" ]; }

# Every peer that lives has all its slots free and runs nothing.
idle() {
    grid status | awk 'NR > 1 && $3 == "up" && $5 != $7 { bad = 1 } END { exit bad }' || return 1
    [ -z "$(processes_of_jobs)" ]
}

expect_idle() { # within 10 s
    within 10 idle || fail "not idle: $(grid status; marked_processes)"
}

# What runs on the slots of peers: PEER PID NAME VPID, the last one a dash for what is no copy of a rank.
processes_of_jobs() {
    { grep -szaHE '^(TMPDIR|OMPI_COMM_WORLD_RANK)=' /proc/[0-9]*/environ 2>/dev/null || true; } | tr '\0' '\n' |
        awk -F '[/:=]' -v dir="TMPDIR=$P2PGRID_GRID/peer/" -v uids="$uids" '
            BEGIN { # of all at once: a process for each takes long on a busy machine
                while (uids && ("stat -c %u/%n /proc/[0-9]* 2>/dev/null" | getline line) > 0) {
                    split(line, part, "/"); owner[part[4]] = part[1] } }
            (at = index($0, dir)) { peer[$3] = substr($0, at + length(dir)) + 0 }
            uids && (($5 == "TMPDIR" && /\/work\/lease-/) || $5 == "OMPI_COMM_WORLD_RANK") { # a desktop has a uid of its own
                uid = owner[$3]
                if (uid > uids && uid <= uids + 250) peer[$3] = uid - uids }
            $5 == "OMPI_COMM_WORLD_RANK" { vpid[$3] = $6 }
            END { for (p in peer) {
                name = "-"; getline name < ("/proc/" p "/comm")
                print peer[p], p, name, p in vpid ? vpid[p] : "-" } }'
}

has_rank() { # PEER: a copy of some rank runs there
    processes_of_jobs | awk -v k="$1" '$1 == k && $4 != "-" { found = 1 } END { exit !found }'
}

has_orted() { # PEER
    processes_of_jobs | awk -v k="$1" '$1 == k && $3 == "orted" { found = 1 } END { exit !found }'
}

marked_processes() { # everything that belongs to this grid
    local pid
    { grep -lsaF "P2PGRID_GRID=$P2PGRID_GRID" /proc/[0-9]*/environ || true; } |
        while IFS=/ read -r _ _ pid _; do
            # This shell and what it runs have the variable too.
            [ "$pid" = $$ ] || [ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$(ps -o sid= -p $$ | tr -d ' ')" ] ||
                ps -o pid=,args= -p "$pid"
        done
}

expect_nothing_left() { # after contrib/grid down
    local left
    left=$(marked_processes)
    [ -z "$left" ] || fail "processes are left: $left"
    [ ! -e "$P2PGRID_GRID" ] || fail "the folder $P2PGRID_GRID is left"
    [ -z "$netns" ] || ! ip netns | grep -F "$netns" || fail "network namespaces are left"
    [ -z "$uids" ] || ! pgrep -r D,R,S,T -U "$(seq -s , $((uids + 1)) $((uids + 250)))" || fail "processes of the desktops are left"
}
