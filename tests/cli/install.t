#!/bin/bash
# Building where something is missing, installing, and what the manual says.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/tap.bash"
built=$(dirname "$STRAKE")
fresh() { # fresh COMPILER: `make` in a build folder of its own, with another compiler
    code=0
    env -u MAKEFLAGS -u MFLAGS make -C "$top" BUILD="$scratch/fresh" CC="$1" MPI=no all >.out 2>.err || code=$?
}
one_line() { # one_line NAME TEXT...: make failed and one line says why
    local name=$1 good=0 text
    shift
    [ "$code" -ne 0 ] && [ "$(grep -c 'missing' .err)" -eq 1 ] || good=1
    [ "$(grep -vcE '^make(\[[0-9]+\])?: (\*\*\*|Entering|Leaving)' .err)" -eq 1 ] || good=1
    for text in "$@" '`make deps` installs'; do
        grep missing .err | grep -qF -- "$text" || good=1
    done
    report $good "$name"
}

# A compiler without a header.
compiler_without() { # compiler_without HEADER
    cat >cc-without <<SH
#!/bin/sh
case "\$*" in
    *" -x c - "*)
        cat >"$scratch/probe.c"
        ! grep -q '<$1>' "$scratch/probe.c" || exit 1
        exec ${CC:-cc} "\$@" <"$scratch/probe.c" ;;
esac
exec ${CC:-cc} "\$@"
SH
    chmod +x cc-without
    echo "$scratch/cc-without"
}
fresh "$scratch/none/cc"
one_line "without a compiler make says so in one line" "a C compiler ($scratch/none/cc)" build-essential
fresh "$(compiler_without yaml.h)"
one_line "and without libyaml" "libyaml (yaml.h)" libyaml-dev
fresh "$(compiler_without CL/cl.h)"
one_line "and without the headers of OpenCL" "OpenCL headers (CL/cl.h)" opencl-c-headers

# The build that is tested is installed, not built again: the program and the libraries stand in for all of it.
cat >ldconfig <<SH
#!/bin/sh
echo "ldconfig \$*" >>"$scratch/calls"
[ "\$*" != -p ] || cat "$scratch/known"
SH
chmod +x ldconfig
: >known
settings=$(make -C "$top" --no-print-directory print-SONAME print-LIBRARIES 2>/dev/null)
soname=$(head -n 1 <<<"$settings")
installed() { # installed SETTINGS...: leaves what was printed in .out
    rm -f calls
    code=0
    TUNE=no make -C "$top" --no-print-directory -o all install BUILD="$built" LDCONFIG="$scratch/ldconfig" "$@" >.out 2>.err ||
        code=$?
}
installed DESTDIR="$scratch/root" PREFIX=/usr
exits 0 "everything is installed into a root of its own"
for file in bin/strake lib/libstrake.a "lib/$soname" lib/libstrake.so lib/pkgconfig/strake.pc include/strake.h \
    include/strake.f90 share/man/man1/strake.1 share/bash-completion/completions/strake share/zsh/site-functions/_strake \
    share/fish/vendor_completions.d/strake.fish; do
    check "with $file" test -e "root/usr/$file"
done
# Sections of a file that begin with .debug, of which a file without any, or none at all, has none.
debug_sections() { readelf -SW "$1" | grep -c ' \.debug' || true; }
for file in bin/strake "lib/$soname"; do
    from=$built/$(basename "$file")
    check "$file comes without what debuggers need, which stays in the build" \
        test "$(readelf -SW "root/usr/$file" | grep -c ' \.text')" -eq 1 -a "$(debug_sections "root/usr/$file")" -eq 0 -a \
        "$(debug_sections "$from")" -gt 0
done
# Sanitizers, and loops of another compiler, take more.
[ -n "${STRAKE_TESTS_SANITIZER:-}" ] || readelf -p .comment "$built/$soname" | grep -q clang ||
    check "the shared library takes less than 9 MB" test "$(wc -c <"root/usr/lib/$soname")" -lt 9000000
check "where the loader's cache is not touched" test ! -e calls
prints "and what remains to be done is said" "find it once ldconfig was run as root where /usr/lib is" "LD_LIBRARY_PATH=/usr/lib"
installed PREFIX="$scratch/away"
exits 0 "everything is installed under another prefix"
if [ "$(id -u)" -eq 0 ]; then
    check "the loader is told" grep -qx 'ldconfig ' calls
else
    skip "the loader is told" "only root may"
fi
prints "what remains is said where that did not help" "LD_LIBRARY_PATH=$scratch/away/lib"
echo "	$soname (libc6,x86-64) => $scratch/away/lib/$soname" >known
installed PREFIX="$scratch/away"
lacks "and not where it did" 'LD_LIBRARY_PATH' .out

if "${CC:-cc}" --version >/dev/null 2>&1 && [ -z "${STRAKE_TESTS_SANITIZER:-}" ]; then
    "${CC:-cc}" -I"$scratch/away/include" -o example "$top/tests/support/example_model.c" -L"$scratch/away/lib" -lstrake -lm 2>.err
    report $? "a program is compiled and linked with what was installed"
    LD_LIBRARY_PATH=$scratch/away/lib ./example >.out 2>.err
    report $? "and runs"
    "$scratch/away/bin/strake" --version >.out 2>.err
    report $? "so does the program, from there"
else
    skip "a program is compiled and linked with what was installed" "no compiler, or a sanitizer"
fi
installed_files=$(find away -type f -o -type l | wc -l)
make -C "$top" --no-print-directory uninstall PREFIX="$scratch/away" BUILD="$built" >.out 2>.err
check "uninstalling removes all of it ($installed_files files)" test -z "$(find away -type f -o -type l)"

# The manual says what the program says.
manual=root/usr/share/man/man1/strake.1
sed 's/\\-/-/g; s/^\\&//; s/\\e/\\/g' "$manual" >manual.txt
missing() { # missing WORD...: those that are at the beginning of no line of the manual
    for word in "$@"; do
        grep -qE "^ *$(sed 's/[.[\*]/\\&/g' <<<"$word")( |\$)" manual.txt || echo "$word"
    done
}
{ "$STRAKE" help case && "$STRAKE" help tuning; } >help
keys=$(sed -n 's/^  \([a-z][a-z0-9_]*\(\.[a-z][a-z0-9_]*\)*\)\( .*\)\{0,1\}$/\1/p' help)
check "a case has keys ($(wc -w <<<"$keys"))" test "$(wc -w <<<"$keys")" -gt 60
# shellcheck disable=SC2086
check "the manual has every one of them" test -z "$(missing $keys)"
for command in $("$STRAKE" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    # shellcheck disable=SC2046
    check "and every option of $command" test -z "$(missing $("$STRAKE" help "$command" | sed -n 's/^  \(--[a-z-]*\).*/\1/p'))"
    check "and its text" grep -qF "$("$STRAKE" help "$command" | sed -n 3p)" manual.txt
done
if command -v groff >/dev/null; then
    groff -mdoc -Tascii -ww "$manual" >.out 2>.err
    check "groff has nothing to say of it" test ! -s .err
else
    skip "groff has nothing to say of it" "no groff here"
fi
done_testing
