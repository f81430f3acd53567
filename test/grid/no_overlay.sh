# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# no_overlay.sh -- desktops on which rooms cannot have overlays, as they are met: where the home is on a file system that
# overlayfs refuses, and where the administrator forbids user namespaces (sysctl user.max_user_namespaces=0).
# shellcheck disable=SC2154 # uids, P2PGRID_GRID come from lib.sh

on_desktop() { # K CMD...: as its root
    nsenter -t "$(cat "$P2PGRID_GRID/peer/$1/init")" -m -u -i -n -p "${@:2}"
}

stop_daemon() { # K
    local pid
    pid=$(pgrep -o -x -U $((uids + $1)) p2pd) && kill "$pid" && within 20 has_gone "$pid" ||
        fail "p2pd of peer $1 does not end"
}
has_gone() { ! kill -0 "$1" 2>/dev/null; }

expect_views() { # K WAY WORDS: status and doctor say so
    within 20 views_are "$1" "$2" || fail "peer $1: $(ask "$1" status)"
    ask "$1" status | grep -qxF "  files    $2 for each lane of a job" || fail "$(ask "$1" status)"
    ask "$1" doctor | grep -q "^note  *files  *$3" || fail "$(ask "$1" doctor)"
}
views_are() { [ "$(ask "$1" status --json | jq -r .views)" = "$2" ]; }

# The kernel takes no folder of an overlay as the upper layer of another one.
refuse_overlays() { # K
    stop_daemon "$1"
    on_desktop "$1" sh -c 'mount -t tmpfs -o mode=755 above /mnt && mkdir /mnt/changed /mnt/work &&
        mount -t overlay -o lowerdir=/home,upperdir=/mnt/changed,workdir=/mnt/work home /home && umount -l /mnt' ||
        skip "no overlay can be mounted here"
    on_peer "$1" p2pd --detach
    expect_views "$1" copies "each lane of a job has a whole copy of"
}

# All of the desktop's users are those of this machine, and none of them can make a namespace.
# shellcheck disable=SC2016 # for the desktop's shells
refuse_users() { # K
    local uid=$((uids + $1))
    stop_daemon "$1"
    on_desktop "$1" bash -c '
        unshare -U sh -c "until [ -n \"\$(cat /proc/self/gid_map)\" ]; do sleep 0.02; done; exec \"\$@\"" sh \
            sh -c "echo 0 >/proc/sys/user/max_user_namespaces && exec \"\$@\"" sh "$@" &
        until [ "$(readlink /proc/$!/ns/user)" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.02; done
        for map in uid_map gid_map; do echo "0 0 4294967295" >/proc/$!/$map || exit; done
        wait $!' bash setpriv --reuid="$uid" --regid="$uid" --clear-groups \
        env -i HOME="$(on_peer "$1" printenv HOME)" USER="$(on_peer "$1" printenv USER)" XDG_RUNTIME_DIR="/run/user/$uid" \
        bash -lc 'cd && exec p2pd --detach' || skip "no user namespace can be made that forbids others"
    expect_views "$1" "copies aside" "nothing can be mounted for a job"
}
