# Who runs p2pd of this package on this system: "USER (process PID)", a line each. A process of a container or a chroot
# has another /usr/bin.
p2pd_running() {
    for process in /proc/[0-9]*; do
        case $(readlink "$process/exe" 2>/dev/null) in
        /usr/bin/p2pd | "/usr/bin/p2pd (deleted)") ;;
        *) continue ;;
        esac
        [ "$(stat -Lc %d:%i "$process/root/usr/bin" 2>/dev/null)" = "$(stat -c %d:%i /usr/bin)" ] || continue
        [ "$(sed -n 's/^PPid:\t//p' "$process/status")" = 1 ] || case $(readlink "/proc/$(sed -n 's/^PPid:\t//p' "$process/status")/exe") in
        /usr/bin/p2pd*) continue ;; # its own child
        esac
        echo "$(stat -c %U "$process") (process ${process#/proc/})"
    done
}
