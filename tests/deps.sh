#!/bin/sh
# Usage: sh tests/deps.sh build|run|check|clang|fuzz|format|tidy|oclgrind|offline|bare
# Installs the Debian or Ubuntu packages that a target needs, only where something is missing. What is
# there is found by trying it, so that a compiler or library from elsewhere counts too. `build` installs nothing: it
# says in one line what is missing.
# Environment: CC (compiler to probe, default cc), CLANG (default clang), PROBE (flags of all probes).
set -eu

group=${1:-check}
cc=${CC:-cc}
clang=${CLANG:-clang}
packages=
missing=
optional=

have() { command -v "$1" >/dev/null 2>&1; }

# need WHAT PACKAGE...: WHAT is missing and those packages provide it.
need() {
    missing="$missing, $1"
    shift
    packages="$packages $*"
}

# want WHAT PACKAGE...: the same for something that the target can do without.
want() {
    optional="$optional, $1"
    shift
    packages="$packages $*"
}

# compiles COMPILER FLAGS HEADER: does a program with this header compile and link?
compiles() {
    printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <%s>\nint main(void) { return 0; }\n' "$3" |
        $1 ${PROBE:-} -DCL_TARGET_OPENCL_VERSION=120 -x c - $2 -o /dev/null >/dev/null 2>&1
}

version_14() {
    have "$1-14" || "$1" --version 2>/dev/null | grep -q 'version 14\.'
}

# icd PATTERN: is a driver registered with the OpenCL loader whose name contains PATTERN?
icd() {
    [ -n "${OCL_ICD_VENDORS:-}${OCL_ICD_FILENAMES:-}${STRAKE_OPENCL_LIBRARY:-}" ] ||
        ls /etc/OpenCL/vendors/*$1*.icd >/dev/null 2>&1
}

loader() {
    [ -n "${STRAKE_OPENCL_LIBRARY:-}" ] || (/sbin/ldconfig -p 2>/dev/null || true) | grep -q 'libOpenCL\.so\.1 '
}

probe_build() {
    have make || need make build-essential
    have pkg-config || want pkg-config pkg-config
    if compiles "$cc" '' stdio.h; then
        compiles "$cc" -lyaml yaml.h || need 'libyaml (yaml.h)' libyaml-dev
        compiles "$cc" '' CL/cl.h || need 'OpenCL headers (CL/cl.h)' opencl-c-headers ocl-icd-opencl-dev
        case $cc in
            *clang*) compiles "$cc" -fopenmp omp.h || need "OpenMP for $cc (omp.h)" libomp-dev ;;
        esac
    else
        # Without a compiler nothing tells which headers there are.
        case $cc in
            *clang*) need "the compiler $cc" build-essential clang libomp-dev ;;
            *) need "a C compiler ($cc)" build-essential ;;
        esac
        packages="$packages libyaml-dev opencl-c-headers ocl-icd-opencl-dev"
    fi
    loader || want 'an OpenCL loader (libOpenCL.so.1)' ocl-icd-libopencl1
}

case $group in
    build) probe_build ;;
    run)
        probe_build
        icd '' || want 'an OpenCL device (PoCL)' pocl-opencl-icd
        ;;
    check)
        probe_build
        compiles "$cc" -lcmocka cmocka.h || need 'cmocka (cmocka.h)' libcmocka-dev
        python3 -c 'import numpy' 2>/dev/null || /usr/bin/python3 -c 'import numpy' 2>/dev/null ||
            want 'NumPy (for the first case of README.md and the Python package)' python3-numpy
        have gfortran || want 'gfortran (for the Fortran module)' gfortran
        compiles "$cc -I/usr/include/cairo" -lcairo cairo.h || want 'cairo (cairo.h)' libcairo2-dev
        compiles "$cc -I/usr/include/gdal" -lgdal gdal.h || want 'GDAL (gdal.h)' libgdal-dev gdal-bin
        compiles "$cc" -lnetcdf netcdf.h || want 'NetCDF (netcdf.h)' libnetcdf-dev netcdf-bin
        have mpirun && have mpicc || want 'an MPI (mpirun, mpicc)' libopenmpi-dev openmpi-bin
        icd pocl || want 'an OpenCL device on the CPU (PoCL)' pocl-opencl-icd
        ;;
    clang)
        cc=$clang
        probe_build
        compiles "$cc" -lcmocka cmocka.h || need 'cmocka (cmocka.h)' libcmocka-dev
        icd pocl || want 'an OpenCL device on the CPU (PoCL)' pocl-opencl-icd
        ;;
    fuzz)
        cc=$clang
        probe_build
        compiles "$clang" '-fsanitize=fuzzer-no-link,address' stdio.h || need "clang's fuzzer and sanitizers" clang-14 libclang-rt-14-dev
        ;;
    oclgrind)
        probe_build
        have oclgrind || need oclgrind oclgrind
        ;;
    # Compilers for processors that are not here; all optional, and ptxas is in no such package.
    offline)
        probe_build
        icd '' || want 'an OpenCL device (PoCL)' pocl-opencl-icd
        have clang-15 || want clang-15 clang-15
        have clang-16 || [ -n "${AMDCLANG:-}" ] || want 'clang-16 for AMD' clang-16
        [ -r /usr/lib/clc/amdgcn--amdhsa.bc ] || want libclc libclc-15
        have ocloc || [ -n "${OCLOC:-}" ] || want ocloc intel-opencl-icd
        have llvm-spirv-15 || want llvm-spirv-15 llvm-spirv-15
        have spirv-val || want spirv-val spirv-tools
        ;;
    # Other versions format and warn differently.
    format) version_14 clang-format || need 'clang-format 14' clang-format-14 ;;
    tidy) version_14 clang-tidy || need 'clang-tidy 14' clang-tidy-14 ;;
    bare)
        have debootstrap || [ -x /usr/sbin/debootstrap ] || need debootstrap debootstrap
        have unshare || need unshare util-linux
        ;;
    *)
        echo "usage: sh tests/deps.sh build|run|check|clang|fuzz|format|tidy|oclgrind|offline|bare (got '$group')" >&2
        exit 2
        ;;
esac

[ -n "$packages" ] || exit 0
packages=$(printf '%s\n' $packages | sort -u | tr '\n' ' ')
missing=${missing#, }
optional=${optional#, }
if [ "$group" = build ]; then
    [ -n "$missing" ] || exit 0
    echo "make: missing: $missing; \`make deps\` installs what a build and the tests need (Debian: $packages)" >&2
    exit 1
fi

# give_up WHY: fails if something needed is missing, otherwise only says what will not be there.
give_up() {
    if [ -n "$missing" ]; then
        printf 'deps: missing: %s.\ndeps: %s\n' "$missing${optional:+, $optional}" "$1" >&2
        printf 'deps: install by hand the equivalent of the Debian packages: %s\n' "$packages" >&2
        exit 1
    fi
    printf 'deps: going on without %s (%s; Debian packages: %s)\n' "$optional" "$1" "$packages" >&2
    exit 0
}

have apt-get || give_up 'this system has no apt-get, so nothing can be installed from here'
if [ "$(id -u)" -eq 0 ]; then
    sudo=
elif have sudo; then
    sudo=sudo
else
    give_up 'installing needs root, and there is no sudo'
fi
printf 'deps: missing: %s\ndeps: installing %s\n' "$missing${missing:+${optional:+, }}$optional" "$packages"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # a list of packages
if ! { $sudo env DEBIAN_FRONTEND=noninteractive apt-get update &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    give_up 'apt-get failed (its last lines are above)'
fi
