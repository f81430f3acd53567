# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# beside.sh -- R replicas on a private grid, and R copies on stock Open MPI that start at the same moment; sourced by
# the benches of programs that are not ours. Kinds: stock (one copy), level1, pair, level2, triple, level3.
# shellcheck source=test/grid/lib.sh
. "$srcdir/test/grid/lib.sh"
set -e
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
beside_kinds='stock level1 pair level2 triple level3'
beside_limit=${LIMIT:-300} # seconds that a run may take

copies_of() { # KIND
    case $1 in stock | level1) echo 1 ;; pair | level2) echo 2 ;; triple | level3) echo 3 ;; esac
}

beside_check() { # KIND...: of an option
    local kind
    for kind; do
        case " $beside_kinds " in *" $kind "*) ;; *) echo "'$kind' is none of: $beside_kinds" >&2 && exit 2 ;; esac
    done
}

# A peer for each copy, with slots for as many ranks; they lend at the priority of stock.
beside_grid() { # RANKS
    start_grid 3 --slots "$1" >&2
    for k in 1 2 3; do settle "$k" "nice = 0" || exit; done
}

# In a session of its own with the priority that a room's has (LEAST_NICE in overlay/sandbox/room.c): where others compute
# as well, the kernel shares the processor among sessions first.
# shellcheck disable=SC2016
as_a_room='for try in 1 2 3 4 5; do
    [ ! -e /proc/self/autogroup ] || { echo 4 >/proc/self/autogroup; } 2>/dev/null || { sleep 0.1 && continue; }
    exec "$@"
done'

# One copy on stock: over shared memory, as several ranks of a desktop talk.
stock_copy() { # RANKS CMD...
    local ranks=$1
    shift
    setsid -w sh -c "$as_a_room" sh timeout -k 5 -s KILL "$beside_limit" mpirun --oversubscribe --bind-to none \
        --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl self,vader -n "$ranks" "$@" </dev/null
}

grid_copies() { # LEVEL RANKS CMD...
    local level=$1 ranks=$2
    shift 2
    timeout -k 5 -s KILL "$beside_limit" "$srcdir/contrib/grid" run mpirun --mca ras p2p --mca errmgr_replica_level "$level" \
        --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n "$ranks" "$@" </dev/null
}

# Runs CMD in a kind; what each copy printed is in FOLDER/0, 1, ...; fails when one does.
beside_run() { # KIND FOLDER RANKS CMD...
    local kind=$1 folder=$2 copies pids=() pid code=0
    copies=$(copies_of "$kind")
    shift 2
    rm -rf "$folder" && mkdir -p "$folder"
    case $kind in
    level*) grid_copies "$copies" "$@" >"$folder/0" 2>"$folder/err" || code=1 ;;
    *)
        for ((i = 0; i < copies; i++)); do
            stock_copy "$@" >"$folder/$i" 2>"$folder/err.$i" &
            pids+=($!)
        done
        for pid in "${pids[@]}"; do wait "$pid" || code=1; done
        ;;
    esac
    return $code
}
