#!/bin/bash
# The tarball has every file of the source and builds on; a wheel is made; the Debian package has all that is installed, and runs
# from where it is unpacked; one place says the version. (make check-packages builds the tarball from nothing and installs the package.)
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/tap.bash"
version=$(sed -n 's/^.define STRAKE_VERSION "\(.*\)"/\1/p' "$top/src/strake.h")
build=$(realpath --relative-to="$top" "$(dirname "$STRAKE")")
# What was said to the make that runs this (a compiler, a sanitizer) holds here too, but not its jobs.
case ${MAKEFLAGS:-} in *'-- '*) said="-- ${MAKEFLAGS#*-- }" ;; *) said= ;; esac
made() { # made TARGET SETTING...: with the build that is tested, which is not built again; its packages go to $scratch
    code=0
    env -u MFLAGS MAKEFLAGS="$said" make -C "$top" --no-print-directory -o all "$@" >"$scratch/.out" 2>"$scratch/.err" || code=$?
}
try --version
check "the program has the version of strake.h" test "$(cat .out)" = "strake $version"
check "and so has the file for pkg-config" grep -qx "Version: $version" "$top/$build/strake.pc"
check "and the manual" grep -qx ".Os Strake $version" "$top/$build/strake.1"
check "which tells what changed in it" grep -qx ".It $version" "$top/$build/strake.1"

if git -C "$top" rev-parse HEAD >/dev/null 2>&1 && [ -e "$top/.git" ]; then
    made dist BUILD="$build" DIST="$scratch/strake-$version.tar.gz"
    exits 0 "a tarball is packed"
    tar -xzf "strake-$version.tar.gz" 2>.err
    report $? "of which one folder comes"
    (cd "$top" && git ls-files | sort) >known
    (cd "strake-$version" && find . -type f -o -type l | sed 's/^\.\///' | sort) >packed
    check "with every file that git knows ($(wc -l <known))" cmp known packed
    made dist BUILD="$build" DIST="$scratch/again.tar.gz"
    check "the same files make the same bytes" cmp "strake-$version.tar.gz" again.tar.gz
    # The objects are there already, and the files as old as those they were made of: make finds all that they came from.
    mkdir -p "strake-$version/$build"
    (cd "$top" && git ls-files -z | xargs -0 cp --parents --attributes-only --preserve=timestamps -t "$scratch/strake-$version")
    case $build in
        ..*) skip "the tarball builds on" "the build is outside of the source" ;;
        *)
            cp -a "$top/$build/obj" "$top/$build/gen" "strake-$version/$build/"
            code=0
            env -u MFLAGS MAKEFLAGS="$said" make -C "strake-$version" BUILD="$build" "$build/strake" >.out 2>.err || code=$?
            exits 0 "the tarball builds on"
            check "into a program that runs" "strake-$version/$build/strake" run case.yaml --on cpu --steps 3 --quiet
            ;;
    esac
else
    skip "a tarball is packed" "this is no clone"
fi

if command -v python3 >/dev/null && [ -z "${STRAKE_TESTS_SANITIZER:-}" ]; then
    made wheel BUILD="$build" WHEEL_FOLDER="$scratch/wheel"
    exits 0 "a wheel for pip is made"
    prints "and named after its version" "wheel: $scratch/wheel/strake-$version-py3-none-linux_"
    check "in its folder" python3 -m zipfile -t "$scratch"/wheel/strake-"$version"-py3-none-linux_*.whl
else
    skip "a wheel for pip is made" "no python3 here, or a sanitizer"
fi

if ! command -v dpkg-deb >/dev/null || [ -n "${STRAKE_TESTS_SANITIZER:-}" ]; then
    skip "a Debian package" "no dpkg-deb here, or a sanitizer"
    done_testing
fi
export DPKG_DEB_COMPRESSOR_TYPE=none # compressing would take most of the time
made deb BUILD="$build" DEB_FOLDER="$scratch/deb"
exits 0 "a Debian package is made"
package=$(ls deb/strake_"$version"_*.deb 2>/dev/null)
check "named after its version" test -e "$package"
field() { dpkg-deb --field "$package" "$1"; }
check "and says it" test "$(field Version)" = "$version"
check "it needs the libraries of the program, and their versions" sh -c 'echo "$0" | grep -qE "libc6 \(>= [0-9.]+\)" && echo "$0" | grep -q libyaml-0-2' "$(field Depends)"
described=$(dpkg-deb -f "$package" Description)
missing=
for word in MPDATA Cahn-Hilliard lava SPH; do
    case $described in *$word*) ;; *) missing="$missing $word" ;; esac
done
check "its description names all kinds of problems$missing" test -z "$missing"
check "and not those of the modules" sh -c '! echo "$0" | grep -qE "mpi|netcdf|OpenCL"' "$(field Depends)"
dpkg-deb -x "$package" root
check "what it has is what is installed" test "$(cd root && find usr -type f ! -path '*/doc/*' | wc -l)" -ge 10
check "all of it below usr" test "$(ls root)" = usr
export LD_LIBRARY_PATH=$scratch/root/usr/lib
code=0
root/usr/bin/strake run case.yaml --on serial --steps 3 --output unpacked --quiet >.out 2>.err || code=$?
exits 0 "its program runs"
"$STRAKE" run case.yaml --on serial --steps 3 --output built --quiet
check "to the same bits" "$STRAKE" compare unpacked built
if "${CC:-cc}" --version >/dev/null 2>&1 && command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_LIBDIR=root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch/root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs strake)
    # shellcheck disable=SC2086
    "${CC:-cc}" -o example "$top/tests/support/example_model.c" $flags -lm 2>.err
    report $? "a program is compiled with its header and library"
    ./example >.out 2>.err
    report $? "and runs"
else
    skip "a program is compiled with its header and library" "no compiler or pkg-config"
fi
gzip -dc root/usr/share/man/man1/strake.1.gz | cmp -s - "$top/$build/strake.1"
report $? "it has the manual"
check "and completions that bash reads" bash -n root/usr/share/bash-completion/completions/strake
# A compiler that is newer than the source may warn of something new; .ci/run asks for errors.
check "a warning does not end the build of a tarball" sh -c '
    [ "$(env -u WERROR -u MAKEFLAGS -u MFLAGS make --no-print-directory -C "$1" print-WERROR)" = "" ] &&
        grep -q "^export WERROR=-Werror" "$1/.ci/run"' - "$top"
done_testing
