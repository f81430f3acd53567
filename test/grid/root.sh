# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# root.sh -- before everything else, for tests that make network namespaces: who is not root becomes the root of
# a user namespace of the test's own, with its own network and /run.
if [ "$(id -u)" != 0 ]; then
    unshare -Urnm true 2>/dev/null ||
        { echo "network namespaces need root, or user namespaces, which this system forbids" && exit 77; }
    exec unshare -Urnm sh -c 'mount -t tmpfs tmpfs /run && ip link set lo up && TMPDIR=/run exec "$0" "$@"' "$0" "$@"
fi
