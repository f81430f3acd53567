# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# short_kit.sh -- the acceptance programs on small problems, a few seconds each, so that they can be run a thousand
# times. The kit itself judges the answers; the references come from stock Open MPI, here and now. To have other
# sizes, set the variables.
# needs: test/acceptance/programs/ring test/acceptance/programs/farm test/acceptance/programs/fractal test/acceptance/programs/storm test/acceptance/programs/stdio

# N and NB of the matrix; taxa and sites of the sequences; points of the polytope.
short_hpcc=96:16 short_puzzle='12 400' short_phyml='8 200' short_iqtree='12 300' short_mplrs=30
short_sizes="SIZE_TACHYON='320 240' SIZE_PHYML=4 SIZE_RING='400 65536' SIZE_FARM='120 44'
    SIZE_FRACTAL='480 360 1500' SIZE_STORM='1 400 50000' SIZE_STDIO='15 60'"

# What mpirun needs besides on a private grid, whose peers share one disk: copies of a rank would disturb each other's
# files by plain fopen and rename, unless each lane has a view of its own.
own_view() { # PROGRAM
    case $1 in mplrs | iqtree) echo "--mca p2p_files auto" ;; esac
}

shrink_sequences() { # TAXA SITES: of the first so many, of a file with a line for each
    awk -v taxa="$1" -v sites="$2" 'NR == 1 { print " " taxa " " sites } NR > 1 && NR <= taxa + 1 { print $1 "   " substr($2, 1, sites) }'
}

shrink_polytope() { # POINTS: of the first so many
    awk -v points="$1" '$2 ~ /^[0-9]+$/ && $3 == "rational" { $1 = points; after = NR + points } !after || NR <= after || $1 == "end"'
}

short_kit() { # KIT TO [PROGRAM...]: references of these, or of all, by stock Open MPI
    local from=$1 to=$2
    shift 2
    mkdir -p "$to/data" "$to/ref"
    cp "$from/data/scene.dat" "$to/data/"
    sed "s/^400 .*Ns/${short_hpcc%:*} Ns/; s/^80 .*NBs/${short_hpcc#*:} NBs/" "$from/data/hpccinf.txt" >"$to/data/hpccinf.txt"
    # shellcheck disable=SC2086
    {
        shrink_sequences $short_puzzle <"$from/data/puzzle.phy" >"$to/data/puzzle.phy"
        shrink_sequences $short_phyml <"$from/data/phyml.phy" >"$to/data/phyml.phy"
        shrink_sequences $short_iqtree <"$from/data/iqtree.phy" >"$to/data/iqtree.phy"
        shrink_polytope $short_mplrs <"$from/data/mplrs.ext" >"$to/data/mplrs.ext"
    }
    printf '%s\n' '#!/usr/bin/env bash' "export DATADIR='$to/data' REFDIR='$to/ref' ${short_sizes//$'\n'/ }" \
        "exec '$from/run' \"\$@\"" >"$to/run"
    chmod +x "$to/run"
    [ $# -gt 0 ] || set -- all own
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MPIRUN='mpirun --oversubscribe -n 4' RECORD=1 \
        "$to/run" "$@" || fail "stock Open MPI does not pass the short programs"
}
