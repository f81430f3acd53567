# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# desktop.sh -- part of contrib/grid: desktops that share nothing but the system's own files and the kernel.
# Each has a mount, PID, UTS, IPC and time namespace besides its network, a disk, which is the folder
# $dir/peer/K/disk, and one user, whose uid nobody else has. /usr, /var and the like are this machine's, read-only;
# /etc is an overlay of this machine's. Switched off, it keeps its disk and nothing else.
# With $system, that folder's /usr, /var and /etc are theirs, and p2pgrid is installed there.
# shellcheck disable=SC2154 # dir, build, netns, uids, owners, system come from contrib/grid

desktop_user() { # K: all desktops of an owner have one user's name, two owners never do
    local names=(ada ben cleo dora emil fay gus hana ivo jana) owner=$((($1 - 1) % owners))
    echo "${names[owner]-owner$owner}"
}

desktop_uid() { # K
    echo $((uids + $1))
}

desktop_home() { # K: as this machine sees it
    echo "$dir/peer/$1/disk/home/$(desktop_user "$1")"
}

# Numbers that no user and no other grid has.
desktop_uids() {
    local base random
    while :; do
        random=$(od -An -N2 -tu2 /dev/urandom)
        base=$((10000000 + random * 256))
        ! getent passwd $((base + 1)) >/dev/null && ! pgrep -U $((base + 1)) >/dev/null && break
    done
    echo $base
}

# What `make install` gives, once for all desktops of this build: it may be copied to any home.
desktop_stage() {
    local stage=$build/desktop-install file fresh=yes
    exec 8>"$build/desktop-install.lock"
    flock 8
    for file in p2pd p2pctl p2pd-room p2pd-pmix components; do
        [ "$stage/made" -nt "$build/$file" ] || fresh=
    done
    if [ -z "$fresh" ]; then
        rm -rf "$stage"
        make -s -C "$build" install DESTDIR="$stage" prefix=/home/.local componentdir=/home/.openmpi/components \
            >"$dir/log" 2>&1 </dev/null || fail "make install: $(tail -n 1 "$dir/log")"
        touch "$stage/made"
    fi
    exec 8>&-
}

# A disk with a user's home on it, p2pgrid installed there.
desktop_furnish() ( # K
    local disk=$dir/peer/$1/disk home entry
    home=$(desktop_home "$1")
    umask 022
    mkdir -p "$disk"/{dev,etc,home,mnt,old,proc,root,run,srv,sys,tmp,var} "$disk/.var/tmp"
    for entry in "$system"/{bin,sbin,lib*,usr,opt}; do
        if [ -L "$entry" ]; then
            cp -a "$entry" "$disk/"
        elif [ -d "$entry" ]; then
            mkdir -p "$disk${entry#"$system"}"
        fi
    done
    chmod 1777 "$disk/tmp" "$disk/.var/tmp"
    chmod 700 "$disk/root" "$disk/old"
    mkdir -p "$home/.config/p2pgrid" "$home/.local/state/p2pgrid"
    [ -n "$system" ] || cp -a "$build/desktop-install/home/." "$home/"
    [ ! -d "$system/etc/skel" ] || cp -a "$system/etc/skel/." "$home/"
    chmod 700 "$home" # as Debian makes it
    ln -s "$home/.config/p2pgrid/p2pd.conf" "$home/.local/state/p2pgrid/work" "$home/.config/p2pgrid/keys" "$dir/peer/$1/"
    ln -s "$home/.local/state/p2pgrid" "$dir/peer/$1/state"
    ln -s "$home/.local/state/p2pgrid/p2pd.log" "$dir/peer/$1/log"
)

# Its first process, in namespaces of its own: makes the mounts, then only waits for what ends.
desktop_boot() { # DISK NAME USER UID READY SYSTEM
    set -eu
    local disk=$1 name=$2 user=$3 uid=$4 system=$6 entry
    exec 9>"$5"
    hostname "$name"
    umask 022
    mount --bind "$disk" "$disk"
    for entry in "$system"/{usr,opt,lib*,bin,sbin,var}; do
        [ -L "$entry" ] || [ ! -d "$entry" ] || mount --rbind -o ro "$entry" "$disk${entry#"$system"}"
    done
    mount --bind "$disk/.var/tmp" "$disk/var/tmp"
    mount -t tmpfs -o mode=755 run "$disk/run"
    mount -t proc proc "$disk/proc"
    mount -t sysfs -o ro sys "$disk/sys"
    mount -t tmpfs -o mode=755 dev "$disk/dev"
    mkdir "$disk/dev/pts" "$disk/dev/shm"
    for entry in null zero full random urandom tty; do
        touch "$disk/dev/$entry"
        mount --bind "/dev/$entry" "$disk/dev/$entry"
    done
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$disk/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$disk/dev/shm"
    ln -s pts/ptmx "$disk/dev/ptmx"
    ln -s /proc/self/fd "$disk/dev/fd"
    for entry in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${entry%:*}" "$disk/dev/${entry#*:}"; done

    mount -t tmpfs -o mode=700 etc "$disk/old"
    mkdir "$disk/old/changed" "$disk/old/work"
    mount -t overlay -o "lowerdir=$system/etc,upperdir=$disk/old/changed,workdir=$disk/old/work" etc "$disk/etc"
    chmod 755 "$disk/etc"
    umount -l "$disk/old"
    echo "$user:x:$uid:$uid:$user:/home/$user:/bin/bash" >>"$disk/etc/passwd"
    echo "$user:x:$uid:" >>"$disk/etc/group"
    echo "$name" >"$disk/etc/hostname"
    rm -f "$disk/etc/hosts"
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$name" >"$disk/etc/hosts"
    mkdir -p "$disk/run/lock" "$disk/run/user/$uid"
    chmod 1777 "$disk/run/lock" && chmod 700 "$disk/run/user/$uid"
    chown -R "$uid:$uid" "$disk/home/$user" "$disk/run/user/$uid"

    cd "$disk"
    pivot_root . old
    umount -l /old
    echo up >&9
    exec 9>&-
    # A dash that waits for one child reaps all that come its way, at once.
    exec env -i P2PGRID_GRID="$P2PGRID_GRID" P2PGRID_PEER="$P2PGRID_PEER" PATH="$PATH" \
        sh -c 'sleep infinity & wait' init </dev/null >/dev/null 2>&1
}

desktop_on() { # K: until it is up
    local k=$1 home=$dir/peer/$1 outside
    : >"$home/ready"
    local clocks=() # nobody else was started at the same time
    [ ! -e /proc/self/ns/time ] || clocks=(--time --monotonic $((k * 12345)) --boottime $((k * 23456)))
    (
        exec setsid env P2PGRID_GRID="$dir" P2PGRID_PEER="$home/" \
            ip netns exec "$netns$k" unshare "${clocks[@]}" --mount --uts --ipc --pid --fork --kill-child=KILL \
            bash -c "$(declare -f desktop_boot)"'; desktop_boot "$@"' boot \
            "$home/disk" "desk$k" "$(desktop_user "$k")" "$(desktop_uid "$k")" "$home/ready" "$system"
    ) >"$home/boot" 2>&1 </dev/null &
    outside=$!
    until [ -s "$home/ready" ]; do
        running $outside || fail "desktop $k does not start: $(tail -n 1 "$home/boot")"
        sleep 0.02
    done
    pgrep -P $outside >"$home/init"
}

desktop_is_on() { # K
    local pid
    pid=$(cat "$dir/peer/$1/init" 2>/dev/null) && running "$pid"
}

along=() # NAME=VALUE...: set for it besides
take_along() { # what the caller has set for Open MPI and PMIx
    local name
    while IFS= read -r name; do along+=("$name=${!name}"); done < <(compgen -e | grep -E '^(OMPI|PMIX)_')
}

# Replaces this process by a command of the desktop's user, as after a login.
desktop_enter() { # K CMD...
    local k=$1 uid name clocks=()
    [ ! -e /proc/self/ns/time ] || clocks=(-T)
    shift
    uid=$(desktop_uid "$k") name=$(desktop_user "$k")
    # shellcheck disable=SC2016 # for the user's shell
    exec nsenter -t "$(cat "$dir/peer/$k/init")" -m -u -i -n -p "${clocks[@]}" setpriv --reuid="$uid" --regid="$uid" --clear-groups \
        --pdeathsig=TERM env -i HOME="/home/$name" USER="$name" LOGNAME="$name" SHELL=/bin/bash TERM="${TERM:-dumb}" \
        PATH=/usr/local/bin:/usr/bin:/bin XDG_RUNTIME_DIR="/run/user/$uid" "${along[@]}" \
        bash -lc 'cd && exec "$@"' bash "$@"
}

# As if power were lost: not even the kernel says good-bye to the network.
desktop_off() { # K
    local k=$1 pids tries
    bridge -n "${netns}net" link set dev "desk$k" state 0 2>/dev/null || true
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        pids=$(ip netns pids "$netns$k" 2>/dev/null || true)
        [ -n "$pids" ] || break
        # shellcheck disable=SC2086
        kill -KILL $pids 2>/dev/null || true
        [ "$tries" = 1 ] || sleep 0.1
    done
    [ -z "$pids" ] || fail "desktop $k cannot be switched off; still there: $pids"
    ip -n "${netns}net" link del "desk$k" 2>/dev/null || true
    ip netns del "$netns$k" 2>/dev/null || true
    rm -f "$dir/peer/$k/init" "$dir/peer/$k/pid"
}

# What README tells its owner to type, once; then it only starts p2pd again.
desktop_join() { # K
    local k=$1 home=$dir/peer/$1 token="" owner=() said
    if [ "$k" = 1 ]; then
        said=$( (desktop_enter 1 p2pctl grid create private) 2>&1 </dev/null)
    else
        # The first of an owner's desktops makes him, the others are his.
        if [ $(((k - 1) % owners)) = 0 ]; then
            owner=(--mine)
        elif [ "$k" -gt "$owners" ]; then
            owner=(--owner "desk$(((k - 1) % owners + 1))")
        fi
        token=$( (desktop_enter 1 p2pctl invite "${owner[@]}") 2>"$home/boot" </dev/null) ||
            fail "no invitation for desktop $k: $(tail -n 1 "$home/boot")"
        said=$( (desktop_enter "$k" p2pctl join "$token") 2>&1 </dev/null)
    fi || fail "desktop $k does not join: $said"
    touch "$home/joined"
}

desktop_start() { # K: its p2pd
    local k=$1 home=$dir/peer/$1 said
    [ -e "$home/joined" ] || desktop_join "$k"
    said=$( (desktop_enter "$k" p2pd --detach) 2>&1 </dev/null) || fail "no p2pd on desktop $k: $said"
    daemon_of "$k" >"$home/pid" || fail "p2pd of desktop $k has ended: $(tail -n 1 "$home/log")"
}

desktop_put() { # FILE...: to the same place on each desktop, as its user's own
    local file path k disk folder
    for file; do
        path=$(readlink -f "$file") && [ -e "$path" ] || fail "there is no $file"
        path=$(cd "$(dirname "$file")" && pwd)/$(basename "$file")
        case $path in
        /bin/* | /sbin/* | /lib* | /usr/* | /opt/* | /etc/* | /var/* | /run/* | /dev/* | /proc/* | /sys/*)
            fail "$path: there a desktop has the system's own files" ;;
        esac
        for ((k = 1; k <= peers; k++)); do
            disk=$dir/peer/$k/disk
            folder=$(dirname "$path")
            (umask 022 && mkdir -p "$disk$folder")
            cp -rL "$file" "$disk$folder/"
            chown -R "$(desktop_uid "$k"):$(desktop_uid "$k")" "$disk$path"
        done
    done
}
