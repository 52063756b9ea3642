#!/bin/bash
# Usage: bash tests/packages.sh BUILD NAME
# The tarball of `make dist` is built from nothing and runs; the package of `make deb` is installed with dpkg, runs and
# is removed, as root only.
set -euo pipefail
build=$(realpath "$1")
name=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/strake-packages.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

tar -xzf "$build/$name.tar.gz" -C "$scratch"
cd "$scratch/$name"
env -u MAKEFLAGS -u MFLAGS make -j"$(nproc)" CC="${CC:-cc}" all >../make.log 2>&1 || { tail -20 ../make.log; exit 1; }
build/strake run data/cases/cone.yaml --steps 100 --on cpu --quiet --output "$scratch/tarball"
echo "packages: the tarball builds, and its program runs"

package=$(ls "$build"/strake_*.deb)
if [ "$(id -u)" -ne 0 ]; then
    echo "packages: $package is not installed: only root may"
    exit 0
fi
if dpkg -s strake >/dev/null 2>&1; then
    echo "packages: $package is not installed: a package strake is there already"
    exit 0
fi
trap 'dpkg -r strake >/dev/null 2>&1; rm -rf "$scratch"' EXIT
dpkg -i "$package" >/dev/null
/usr/bin/strake run data/cases/cone.yaml --steps 100 --on cpu --quiet --output "$scratch/package"
/usr/bin/strake compare "$scratch/tarball" "$scratch/package"
"${CC:-cc}" -o "$scratch/example" tests/support/example_model.c $(pkg-config --cflags --libs strake) -lm
"$scratch/example" >/dev/null
man -l /usr/share/man/man1/strake.1.gz >/dev/null 2>&1 || gzip -t /usr/share/man/man1/strake.1.gz
dpkg -r strake >/dev/null
[ ! -e /usr/bin/strake ]
echo "packages: the package installs, runs, has a library that programs find, and goes again"
