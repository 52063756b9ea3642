#!/bin/sh
# Usage: sh host/program/deb.sh ROOT VERSION MAINTAINER FOLDER
# Makes a Debian package of what `make install` put into ROOT, for the system that it was built on: what it depends on is
# found by whose libraries the files need. Modules are loaded when they are used: whose libraries they need is suggested.
set -eu
root=$1
version=$2
maintainer=$3
folder=$4
architecture=$(dpkg --print-architecture)

# packages FILE...: those that own the libraries which these need
packages() {
    for file in "$@"; do
        for library in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
            path=$(ldd "$file" | awk -v name="$library" '$1 == name && $2 == "=>" { print $3 }')
            [ -n "$path" ] || continue
            real=$(realpath "$path")
            { dpkg -S "$real" 2>/dev/null || dpkg -S "${real#/usr}" 2>/dev/null || dpkg -S "$path" 2>/dev/null ||
                echo "strake:"; } | sed 's/:.*//'
        done
    done | sort -u | grep -vx strake
}

gzip -9nf "$root/usr/share/man/man1/strake.1"
install -d "$root/usr/share/doc/strake"
install -m 644 LICENSE "$root/usr/share/doc/strake/copyright"
install -m 644 README.md "$root/usr/share/doc/strake/README.md"

libc=$(objdump -T "$root/usr/bin/strake" "$root"/usr/lib/*.so.* | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
depends=$(packages "$root/usr/bin/strake" "$root"/usr/lib/*.so.* | sed "s/^libc6\$/libc6 (>= ${libc#GLIBC_})/")
optional=$(for module in "$root"/usr/lib/libstrake-*.so; do
    [ ! -e "$module" ] || packages "$module"
done | sort -u | while read -r name; do
    printf '%s\n' "$depends" | grep -qE "^$name( |\$)" || echo "$name"
done)
comma() { printf '%s\n' "$@" | grep . | paste -sd, | sed 's/,/, /g'; }

mkdir -p "$root/DEBIAN"
(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
cat >"$root/DEBIAN/control" <<CONTROL
Package: strake
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $(comma "$depends")
Recommends: ocl-icd-libopencl1
Suggests: $(comma pocl-opencl-icd "$optional")
Section: science
Priority: optional
Description: simulations of grids and particles on CPU cores and OpenCL devices at once
 OpenMP threads compute one part of a grid or of a set of particles while OpenCL
 devices compute the others, with the same bytes as result however it is split.
 It solves MPDATA advection in one to three dimensions, the Cahn-Hilliard
 equation in two and three, lava flows on real terrain, and water as particles
 (weakly compressible SPH). The package has the program, the library with its
 header, and completions for shells.
CONTROL
package=$folder/strake_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "deb: $package, $(du -k "$package" | cut -f 1) KiB, needs $(comma "$depends")"
