# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# lib.sh -- after test/grid/lib.sh: a grid whose daemons let PMIx tools in.
start_grid "${PEERS:-2}" --slots 2 --pmix
folder=$P2PGRID_GRID/peer/1/p2pd.pmix
export P2PGRID_SOCKET=$P2PGRID_GRID/peer/1/p2pd.sock

ask_pmix() { # ARG...: captured
    LIMIT=60 capture "$builddir/test/pmix/ask" "$folder" "$@"
}

helper() { # the process that talks to tools
    pgrep -xf "p2pd-pmix $folder/inner"
}
