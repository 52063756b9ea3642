#!/bin/bash
# Usage: [SYSTEMS='bookworm trixie noble'] [WAYS='root root-less user user-less'] bash tests/bare.sh BUILD WORD...
# What a newcomer does: a minimal root file system with nothing but make added, a copy of the tree in it, and there
# `make WORD` for each WORD, or for a program of tests (a WORD with a slash) tests/run.sh. Without SYSTEMS the system is
# this machine's release; one that cannot be had here is named and skipped. WAYS, `root` alone by default:
#   root, user            as root, or as a user without a HOME that can be written, for whom packages are there already
#   root-less, user-less  the same without /sys and /dev/pts, as in many a container
# The first way on a system builds from nothing, those after it find what was built. Tells how long each takes, also in
# processor time; exit 0 only if all succeed. Needs root, and installs debootstrap where it is missing. The file systems
# are kept packed as BUILD/bare/RELEASE.tar; packages come from where apt gets its own, with apt's settings. Nothing
# stays mounted, and no process stays behind: both live in name spaces that end with it.
set -eu
cd "$(dirname "$0")/.."
place=$1/bare
shift
own=$(. /etc/os-release && echo "$VERSION_CODENAME")
systems=${SYSTEMS:-$own}
ways=${WAYS:-root}

fail() {
    echo "bare: $1" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail 'this needs root: a root file system is made, and entered with chroot'
command -v apt-get >/dev/null || fail 'this needs a system with apt'
sh tests/deps.sh bare
mkdir -p "$place"
place=$(realpath "$place")
root=$place/root
for way in $ways; do
    case $way in root | root-less | user | user-less) ;; *) fail "WAYS: '$way', expected root, root-less, user or user-less" ;; esac
done

enter() { # enter WAY COMMAND: in the root file system, with the environment of a first login
    unshare --mount --pid --fork --kill-child bash -euc '
        mount -t proc proc "$0/proc"
        case $1 in
            *-less)
                mount -t tmpfs -o mode=755 none "$0/dev"
                for name in null zero full random urandom; do
                    touch "$0/dev/$name"
                    mount --bind "/dev/$name" "$0/dev/$name"
                done
                ln -s /proc/self/fd "$0/dev/fd"
                mkdir -m 1777 "$0/dev/shm" ;;
            *)
                mount --rbind /sys "$0/sys"
                mount --rbind /dev "$0/dev"
                mount -t tmpfs none "$0/dev/shm" ;;
        esac
        user=root home=/root as=
        case $1 in user*) user=newcomer home=/home/newcomer as="setpriv --reuid 1000 --regid 1000 --clear-groups" ;; esac
        exec env -i HOME=$home USER=$user TERM="${TERM:-dumb}" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            chroot "$0" $as /bin/sh -c "$2"' "$root" "$1" "$2" </dev/null
}

# The first archive of a release in apt's own list, without updates and security; else where its maker has it.
archive() {
    local found
    found=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
        awk -v release="$1" '$2 == release { print $1; exit }')
    case $1 in
        bookworm | trixie) echo "${found:-http://deb.debian.org/debian}" ;;
        noble) echo "${found:-http://archive.ubuntu.com/ubuntu}" ;;
        *) echo "$found" ;;
    esac
}

pack() { # pack RELEASE: leaves BUILD/bare/RELEASE.tar; fails where the release cannot be had
    local from script=/usr/share/debootstrap/scripts log=$place/$1.log certificates= ubuntu=
    from=$(archive "$1")
    [ -n "$from" ] || { echo "bare: apt has no archive of $1: see /etc/apt/sources.list and sources.list.d" >&2 && return 1; }
    echo "bare: a minimal $1, once"
    # Certificates only where the archive needs them.
    case $from in https:*) certificates=,ca-certificates ;; esac
    # A release that is younger than debootstrap is made as those before it are.
    case $from in */ubuntu*) ubuntu=1 script=$script/gutsy ;; *) script=$script/sid ;; esac
    [ ! -e "${script%/*}/$1" ] || script=${script%/*}/$1
    [ -z "$ubuntu" ] || [ -r /usr/share/keyrings/ubuntu-archive-keyring.gpg ] ||
        { echo "bare: no keys of Ubuntu's archive here: install ubuntu-keyring, which Debian 13 has" >&2 && return 1; }
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy https_proxy
    rm -rf "$root"
    # Without the keys of an archive debootstrap only warns; what nothing vouches for is not run here as root.
    debootstrap --variant=minbase --force-check-gpg --include="make$certificates" "$1" "$root" "$from" "$script" \
        >"$log" 2>&1 || { tail -n 3 "$log" >&2 && echo "bare: debootstrap failed (see $log)" >&2 && return 1; }
    rm -rf "$root"/var/cache/apt/archives/*.deb
    # As on every Ubuntu that is installed; headers of OpenCL are there.
    [ -z "$ubuntu" ] || echo "deb $from $1 main universe" >"$root/etc/apt/sources.list"
    tar -C "$root" -cf "$place/$1.tar.new" . && mv "$place/$1.tar.new" "$place/$1.tar"
}

unpack() { # unpack RELEASE: the root file system, with the tree as it is, without what was built
    local name names=apt.conf.d
    rm -rf "$root"
    mkdir "$root"
    tar -C "$root" -xf "$place/$1.tar"
    # Packages of this release come from where they come from here.
    if [ "$1" = "$own" ]; then
        rm -rf "$root"/etc/apt/sources.list*
        names='sources.list sources.list.d trusted.gpg trusted.gpg.d keyrings auth.conf auth.conf.d preferences.d apt.conf.d'
    fi
    for name in $names; do
        [ ! -e "/etc/apt/$name" ] || cp -rT "/etc/apt/$name" "$root/etc/apt/$name"
    done
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
    echo 'newcomer:x:1000:1000::/home/newcomer:/bin/sh' >>"$root/etc/passwd"
    echo 'newcomer:x:1000:' >>"$root/etc/group"
    mkdir -p "$root/home/newcomer" "$root/strake" # HOME is root's
    git ls-files --cached --others --exclude-standard -z |
        while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
        tar --null -T - -cf - | tar -C "$root/strake" -xf -
}

status=0
told=
tell() { # tell SYSTEM WAY COMMAND RESULT [SECONDS SECONDS_OF_USER SECONDS_OF_KERNEL]
    told+=$(printf 'bare: %-9s %-9s %-28s %-7s' "$1" "$2" "$3" "$4")
    told+=${5:+$(awk -v wall="$5" -v user="$6" -v kernel="$7" \
        'BEGIN { printf " %5.0f s, %.0f s of processor time", wall, user + kernel }')}$'\n'
}
exec 3>&2
TIMEFORMAT='%R %U %S'
for system in $systems; do
    if [ ! -s "$place/$system.tar" ] && ! pack "$system"; then
        [ -n "${SYSTEMS:-}" ] || exit 1
        tell "$system" - - skipped
        continue
    fi
    unpack "$system"
    for way in $ways; do
        case $way in
            user*)
                enter root 'cd /strake && sh tests/deps.sh check' || { tell "$system" "$way" deps FAILED && status=1 && continue; }
                chown -R 1000:1000 "$root/strake" ;;
        esac
        for word in "$@"; do
            case $word in
                */*) command="bash tests/run.sh build $word" ;;
                *) command="make $word" ;;
            esac
            echo "bare: $system, $way: $command"
            result=ok
            { time enter "$way" "cd /strake && $command" 2>&3; } 2>"$place/seconds" || { result=FAILED && status=1; }
            read -r wall user kernel <"$place/seconds"
            tell "$system" "$way" "$command" $result "$wall" "$user" "$kernel"
        done
    done
done
printf '%s' "$told"
[ $status -ne 0 ] || rm -rf "$root"
exit $status
