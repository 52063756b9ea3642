#!/bin/bash
# Usage: bash tests/bare.sh BUILD WORD...
# What a newcomer does: a minimal root file system of this machine's release with nothing but make added, a
# copy of the tree in it, and there `make WORD` for each WORD, or for a program of tests (a WORD with a slash)
# tests/run.sh. Tells how long each takes; exit 0 only if all succeed. Needs root, and installs debootstrap where
# it is missing. The file system is kept packed as BUILD/bare/RELEASE.tar; packages come from where apt gets its own,
# with apt's settings. Nothing stays mounted, and no process stays behind: both live in name spaces that end with it.
set -eu
cd "$(dirname "$0")/.."
place=$1/bare
shift

fail() {
    echo "bare: $1" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail 'this needs root: a root file system is made, and entered with chroot'
command -v apt-get >/dev/null || fail 'this needs a system with apt'
sh tests/deps.sh bare
mkdir -p "$place"
place=$(realpath "$place")
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
packed=$place/$release.tar
root=$place/root

enter() { # enter COMMAND: in the root file system, as root, with the environment of a first login
    unshare --mount --pid --fork --kill-child bash -euc '
        mount -t proc proc "$0/proc"
        mount --rbind /sys "$0/sys"
        mount --rbind /dev "$0/dev"
        mount -t tmpfs none "$0/dev/shm"
        exec env -i HOME=/root USER=root TERM="${TERM:-dumb}" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            chroot "$0" /bin/sh -c "$1"' "$root" "$1" </dev/null
}

# The first archive of this release in apt's own list, without updates and security.
archive() {
    apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
        awk -v release="$release" '$2 == release { print $1; exit }'
}

rm -rf "$root"
if [ ! -s "$packed" ]; then
    from=$(archive)
    [ -n "$from" ] || fail "apt has no archive of $release: see /etc/apt/sources.list and sources.list.d"
    echo "bare: a minimal $release, once"
    log=$place/debootstrap.log
    # Certificates only where the archive needs them.
    certificates=
    case $from in https:*) certificates=,ca-certificates ;; esac
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy https_proxy
    debootstrap --variant=minbase --include="make$certificates" "$release" "$root" "$from" >"$log" 2>&1 ||
        { tail -n 5 "$log" >&2 && fail "debootstrap failed (see $log)"; }
    rm -rf "$root"/var/cache/apt/archives/*.deb
    tar -C "$root" -cf "$packed.new" . && mv "$packed.new" "$packed"
else
    mkdir "$root"
    tar -C "$root" -xf "$packed"
fi
# Where packages come from, as here.
rm -rf "$root"/etc/apt/sources.list*
for name in sources.list sources.list.d trusted.gpg trusted.gpg.d keyrings auth.conf auth.conf.d preferences.d apt.conf.d; do
    [ ! -e "/etc/apt/$name" ] || cp -rT "/etc/apt/$name" "$root/etc/apt/$name"
done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true

# The tree as it is, without what was built.
mkdir "$root/strake"
git ls-files --cached --others --exclude-standard -z |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --null -T - -cf - | tar -C "$root/strake" -xf -

status=0
told=
for word in "$@"; do
    case $word in
        */*) command="bash tests/run.sh build $word" ;;
        *) command="make $word" ;;
    esac
    echo "bare: $command"
    start=$(date +%s)
    result=ok
    enter "cd /strake && $command" || { result=FAILED && status=1; }
    told+=$(printf 'bare: %-40s %-6s %5d s' "$command" $result $(($(date +%s) - start)))$'\n'
done
printf '%s' "$told"
[ $status -ne 0 ] || rm -rf "$root"
exit $status
