# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# short_kit.sh -- the acceptance programs on small problems, a few seconds each, so that they can be run a thousand
# times. The kit's own words judge the answers; the references come from stock Open MPI, here and now. Who wants other
# sizes sets the variables.

# N and NB of the matrix; taxa and sites of the sequences.
short_hpcc=96:16 short_puzzle='12 400' short_phyml='8 200'
# Every size in the kit's script, as it is and as it is to be.
short_sizes='-res 1600 1200|-res 320 240
-b 8 |-b 4 
/ring" 3000 65536|/ring" 400 65536
/farm" 400 50|/farm" 120 44
out)" = 400 ]|out)" = 120 ]
/fractal" 1600 1200 3000|/fractal" 480 360 1500
/storm" 1 3000 100000|/storm" 1 400 50000
/stdio" 20 100|/stdio" 15 60'

replace_in_script() { # KIT WAS IS: in $script, that of the kit
    case $script in *"$2"*) ;; *) fail "the kit's script has changed: no '$2' in $1/run" ;; esac
    script=${script/"$2"/"$3"}
}

shrink_script() { # KIT TO
    local was is script
    script=$(cat "$1/run")
    while IFS='|' read -r was is; do
        replace_in_script "$1" "$was" "$is"
    done <<<"$short_sizes"
    cat >"$2/run" <<<"$script"
    chmod +x "$2/run"
}

shrink_sequences() { # TAXA SITES: of the first so many, of a file with a line for each
    awk -v taxa="$1" -v sites="$2" 'NR == 1 { print " " taxa " " sites } NR > 1 && NR <= taxa + 1 { print $1 "   " substr($2, 1, sites) }'
}

short_kit() { # KIT TO [PROGRAM...]: references of these, or of all, by stock Open MPI
    local from=$1 to=$2
    shift 2
    mkdir -p "$to/data" "$to/ref"
    ln -sfn "$from/programs" "$to/programs"
    cp "$from/data/scene.dat" "$to/data/"
    sed "s/^400 .*Ns/${short_hpcc%:*} Ns/; s/^80 .*NBs/${short_hpcc#*:} NBs/" "$from/data/hpccinf.txt" >"$to/data/hpccinf.txt"
    # shellcheck disable=SC2086
    shrink_sequences $short_puzzle <"$from/data/puzzle.phy" >"$to/data/puzzle.phy"
    # shellcheck disable=SC2086
    shrink_sequences $short_phyml <"$from/data/phyml.phy" >"$to/data/phyml.phy"
    shrink_script "$from" "$to"
    [ $# -gt 0 ] || set -- all own
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MPIRUN='mpirun --oversubscribe -n 4' RECORD=1 \
        "$to/run" "$@" || fail "stock Open MPI does not pass the short programs"
}
