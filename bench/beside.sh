# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# beside.sh -- R replicas on a private grid, and R copies on stock Open MPI that start at the same moment; sourced by
# the benches of programs that are not ours. Kinds: stock (one copy), level1, pair, level2, triple, level3.
# shellcheck source=test/grid/lib.sh
. "$srcdir/test/grid/lib.sh"
set -e
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
beside_kinds='stock level1 pair level2 triple level3' # and logged, of bench/osu
beside_limit=${LIMIT:-300} # seconds that a run may take
desktops_each=2            # of a copy
[ -z "${together:-}" ] || desktops_each=1

copies_of() { # KIND
    case $1 in stock | level1) echo 1 ;; pair | logged | level2) echo 2 ;; triple | level3) echo 3 ;; esac
}

beside_check() { # KIND...: of an option; and the slots of another one
    local kind
    case ${slots:-1} in *[!0-9]* | 0*) echo "--slots wants a number from 1 on, not '$slots'" >&2 && exit 2 ;; esac
    for kind; do
        case " $beside_kinds " in *" $kind "*) ;; *) echo "'$kind' is none of: $beside_kinds" >&2 && exit 2 ;; esac
    done
}

# With --desktops each copy of a program has two virtual desktops (network namespaces) with $slots slots, as far from each other
# as the machines of a lab: $rate Mbit/s, and $delay_us there and back. The second copy on stock has the third and fourth of
# them, and so on. With --together it has one of them.
beside_desktops() { # KIND...
    local kind n copies=1 k
    need ip tc
    for kind; do n=$(copies_of "$kind") && [ "$n" -le "$copies" ] || copies=$n; done
    copies=$((copies * desktops_each))
    start_grid "$copies" --netns --slots "$slots" >&2
    for ((k = 1; k <= copies; k++)); do
        settle "$k" "nice = 0"
        [ "$delay_us" = 0 ] || lengthen "$k" || fail "the links of desktops cannot be made so long and slow"
    done
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nk=${1##*.}; shift\nexec ip netns exec "%s$k" unshare -u sh -c "hostname desk$k; $*"\n' "$netns" >"$scratch/agent"
    chmod +x "$scratch/agent"
}

# Half of the way there and half of the way back are each desktop's own cable.
lengthen() { # K
    local k=$1 net=${netns}net
    setsid ip netns exec "$net" "$builddir/test/grid/lag" "in$k" "out$k" $((delay_us / 4)) \
        >"$scratch/cable$k" 2>&1 </dev/null &
    echo $! >>"$P2PGRID_GRID/lag.pids" # `grid down` ends it
    within 10 grep -q ready "$scratch/cable$k" || return 1
    ip -n "$net" link add "hub$k" type bridge && ip -n "$net" link set "hub$k" up &&
        ip -n "$net" link set "in$k" master "hub$k" up && ip -n "$net" link set "out$k" master bridge1 up &&
        ip -n "$net" link set "desk$k" master "hub$k" &&
        tc -n "$netns$k" qdisc add dev eth0 root tbf rate "${rate}mbit" burst 256kb latency 50ms &&
        tc -n "$net" qdisc add dev "desk$k" root tbf rate "${rate}mbit" burst 256kb latency 50ms
}

# A peer for each copy, with slots for as many ranks; they lend at the priority of stock.
beside_grid() { # RANKS KIND...
    [ -z "$desktops" ] || { beside_desktops "${@:2}" && return; }
    start_grid 3 --slots "$1" >&2
    for k in 1 2 3; do settle "$k" "nice = 0" || exit; done
}

# The program by which rank N of each copy is on processor N alone; with --together all of desktop N.
beside_bound() {
    local which=OMPI_COMM_WORLD_RANK
    # shellcheck disable=SC2016
    [ -z "${together:-}" ] || which='${PMIX_HOSTNAME#desk} - 1' # desk1, desk2, ...
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec taskset -c $(((%s) %% %d)) "$@"\n' "$which" "$(nproc)" >"$scratch/bound"
    chmod +x "$scratch/bound"
    echo "$scratch/bound"
}

# In a session of its own with the priority that a room's has (LEAST_NICE in overlay/sandbox/room.c): where others compute
# as well, the kernel shares the processor among sessions first.
# shellcheck disable=SC2016
as_a_room='for try in 1 2 3 4 5; do
    [ ! -e /proc/self/autogroup ] || { echo 4 >/proc/self/autogroup; } 2>/dev/null || { sleep 0.1 && continue; }
    exec "$@"
done'

# From the start of mpirun to its end, in milliseconds, into the file $0, and when it was started, in microseconds: what
# the bench itself does before that is no user's.
# shellcheck disable=SC2016
clock='begin=${EPOCHREALTIME/./}; "$@"; code=$?; echo $(((${EPOCHREALTIME/./} - begin) / 1000)) $begin >"$0"; exit $code'

# One copy on stock: over shared memory, as several ranks of a desktop talk; with --desktops by TCP, for which one-sided
# communication needs osc/ucx left out, if that is installed: it takes windows that it cannot serve.
stock_copy() { # FOLDER COPY RANKS CMD...
    local took=$1/ms.$2 k=$((desktops_each * $2 + 1)) ranks=$3 by=slot hosts
    shift 3
    [ -z "$desktops" ] || {
        hosts=10.77.0.$k:$slots
        [ "$desktops_each" = 1 ] || hosts+=,10.77.0.$((k + 1)):$slots
        [ "$ranks" != 2 ] || by=node
        timeout -k 5 -s KILL "$beside_limit" bash -c "$clock" "$took" "$scratch/agent" .$k mpirun \
            --mca plm rsh --mca plm_rsh_agent "$scratch/agent" -H "$hosts" --map-by $by \
            --mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include eth0 --mca osc ^ucx \
            --mca oob_tcp_if_include eth0 --bind-to none --mca mpi_yield_when_idle 1 -n "$ranks" "$@" </dev/null
        return
    }
    setsid -w sh -c "$as_a_room" sh timeout -k 5 -s KILL "$beside_limit" bash -c "$clock" "$took" mpirun \
        --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl self,vader -n "$ranks" "$@" </dev/null
}

grid_copies() { # FOLDER LEVEL RANKS CMD...
    local took=$1/ms.0 level=$2 how=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
    [ -z "$desktops" ] || how=(--bind-to none)
    [ -z "$desktops" ] || [ "$3" != 2 ] || [ "$desktops_each" = 1 ] || how+=(--mca rmaps_locality_strategy spread)
    timeout -k 5 -s KILL "$beside_limit" "$srcdir/contrib/grid" run bash -c "$clock" "$took" mpirun --mca ras p2p \
        --mca errmgr_replica_level "$level" "${how[@]}" -n "$3" "${@:4}" </dev/null
}

to_folder_of() { # COPY
    [ -z "${beside_folder:-}" ] || cd "$beside_folder/$1"
}

# Runs CMD in a kind; what each copy printed is in FOLDER/0, 1, ..., how long it took in FOLDER/ms.0, ms.1, ...; fails when
# one does. Where $beside_folder is set, each copy on stock starts in its folder there, 0, 1, ..., and replicas in 0.
beside_run() { # KIND FOLDER RANKS CMD...
    local kind=$1 folder=$2 copies pids=() pid code=0
    copies=$(copies_of "$kind")
    shift 2
    [ "$kind" != logged ] || set -- "$1" env LD_PRELOAD="$builddir/bench/logged.so" "${@:2}"
    rm -rf "$folder" && mkdir -p "$folder"
    case $kind in
    level*) (to_folder_of 0 && grid_copies "$folder" "$copies" "$@") >"$folder/0" 2>"$folder/err" || code=1 ;;
    *)
        for ((i = 0; i < copies; i++)); do
            (to_folder_of "$i" && stock_copy "$folder" "$i" "$@") >"$folder/$i" 2>"$folder/err.$i" &
            pids+=($!)
        done
        for pid in "${pids[@]}"; do wait "$pid" || code=1; done
        ;;
    esac
    return $code
}
