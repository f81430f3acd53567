# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Who runs p2pd of this package on this system: "USER (process PID)", a line each. A process of a container or a chroot
# has another /usr/bin.
p2pd_running() {
    bin=/usr/bin
    for process in /proc/[0-9]*; do
        case $(readlink "$process/exe" 2>/dev/null) in
        "$bin/p2pd" | "$bin/p2pd (deleted)") ;;
        *) continue ;;
        esac
        [ "$(stat -Lc %d:%i "$process/root/usr/bin" 2>/dev/null)" = "$(stat -c %d:%i $bin)" ] || continue
        user=$(stat -c %U "$process")
        [ "$user" != UNKNOWN ] || user="user $(stat -c %u "$process")"
        echo "$user (process ${process#/proc/})"
    done
}
