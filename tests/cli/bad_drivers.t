#!/bin/bash
# OpenCL drivers that end, crash or hang the process that loads them; what `strake doctor` says of them and of the rest.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$(dirname "$0")/tap.bash"
build=${STRAKE_BUILD:-$(dirname "$STRAKE")}
export STRAKE_CACHE_DIR=$scratch/cache
unset OCL_ICD_FILENAMES OPENCL_VENDOR_PATH STRAKE_OPENCL_LIBRARY
if ! "$STRAKE" devices | grep -qE '^(ocl:0: |No OpenCL device: (an OpenCL loader|[0-9]+ OpenCL platform))'; then
    skip "bad drivers" "no OpenCL loader"
    done_testing
fi
good=$(grep -l pocl /etc/OpenCL/vendors/*.icd 2>/dev/null | head -1)
"$STRAKE" devices | grep -q 'Portable Computing Language' || good=

# Drivers that write a line when they are loaded, and then do what WHEN and WHAT say.
driver() { # driver NAME CONSTRUCTOR PLATFORMS
    cat >"$1.c" <<C
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void load(void)
{
    FILE *const file = fopen("$scratch/$1.loads", "a");
    if (file != NULL) { fputs("loaded\n", file); fclose(file); }
    fputs("words of $1\n", stderr);
    $2
}
int clIcdGetPlatformIDsKHR(unsigned most, void **platform, unsigned *count)
{
    (void)most; (void)platform;
    $3
    if (count != NULL) { *count = 0; }
    return -1001;
}
int clGetPlatformInfo(void) { return -30; }
void *clGetExtensionFunctionAddress(const char *name) { return name[5] == 'G' ? (void *)clIcdGetPlatformIDsKHR : NULL; }
C
    "${CC:-cc}" -shared -fPIC -w -o "lib$1.so" "$1.c" && mkdir -p "$1" && echo "$scratch/lib$1.so" >"$1/$1.icd"
}
loads() { cat "$1.loads" 2>/dev/null | wc -l; }
driver aborts 'abort();' ''
driver crashes 'raise(SIGSEGV);' ''
driver hangs 'for (;;) { pause(); }' ''
driver leaves 'exit(0);' ''
driver aborts_late '' 'abort();'
driver leaves_late '' 'exit(0);'
driver hangs_late '' 'for (;;) { pause(); }'
driver fine '' ''
export STRAKE_DRIVER_SECONDS=3

while read -r name says; do
    [ -z "$good" ] || cp "$good" "$name/"
    export OCL_ICD_VENDORS=$scratch/$name
    try devices
    exits 0 "devices with a driver that $name"
    check "which is named with its library, and what happened" \
        grep -q "^strake: warning: the OpenCL driver $scratch/lib$name.so ($scratch/$name/$name.icd) is left out: it $says.*words of $name" .err
    check "the processor is listed" grep -q '^cpu: ' .out
    [ -z "$good" ] || check "and PoCL's device" grep -q '^ocl:0: ' .out
    check "it was loaded once" test "$(loads "$name")" -eq 1
    rm -rf out
    try check case.yaml
    exits 0 "check"
    try run case.yaml --on auto --no-tune
    exits 0 "run"
    check "writes its outputs" test -e out/psi_00000020.npy
    check "names the driver once" test "$(grep -c "lib$name.so" .err)" -eq 1
    check "and loads it no more" test "$(loads "$name")" -eq 1
    if [ -n "$good" ]; then
        try run case.yaml --on ocl:0 --no-tune --quiet --output device
        exits 0 "PoCL runs a case beside it"
        check "to the same bytes" "$STRAKE" compare out device
    fi
done <<'LIST'
aborts ends its process by signal 6 .* when it is loaded
crashes ends its process by signal 11 .* when it is loaded
hangs does not come back within 3 s when it is loaded
leaves ends its process with exit code 0 when it is loaded
aborts_late ends its process by signal 6 .* when it is asked for its devices
leaves_late ends its process with exit code 0 when it is asked for its devices
hangs_late does not come back within 3 s when it is asked for its devices
LIST

# What drivers do when a process ends is done in no program of Strake's.
driver aborts_last 'atexit(abort);' ''
driver hangs_last 'atexit((void (*)(void))pause);' ''
for name in ${STRAKE_TESTS_SANITIZER:-aborts_last hangs_last}; do
    [ -z "${STRAKE_TESTS_SANITIZER:-}" ] || break
    [ -z "$good" ] || cp "$good" "$name/"
    export OCL_ICD_VENDORS=$scratch/$name
    try devices
    exits 0 "a driver that $name"
    try run case.yaml --on auto --no-tune --quiet --output last
    exits 0 "does no harm to a run"
    check "it was loaded" test "$(loads "$name")" -ge 2
done

# A variable that names one library, as ocl-icd allows.
OCL_ICD_VENDORS=$scratch/libaborts.so try devices
exits 0 "a bad driver that OCL_ICD_VENDORS names itself"
check "is named" grep -q 'libaborts.so (OCL_ICD_VENDORS) is left out' .err
env -u OCL_ICD_VENDORS OPENCL_VENDOR_PATH="$scratch/leaves" "$STRAKE" devices >.out 2>.err
check "and in a folder of OPENCL_VENDOR_PATH" grep -q "leaves.icd) is left out" .err
STRAKE_OPENCL_LIBRARY=$scratch/libleaves.so try devices
exits 0 "a bad library in STRAKE_OPENCL_LIBRARY"
prints "is said" "No OpenCL device: STRAKE_OPENCL_LIBRARY names $scratch/libleaves.so, which ends its process with exit code 0"

# Answers: a good driver is asked once, a changed one again, one that cannot be loaded is no danger and is named.
export OCL_ICD_VENDORS=$scratch/fine
try devices
check "a driver without devices is fine" bash -c '! grep -q libfine .err'
before=$(loads fine)
try devices
check "it is loaded by the program alone from then on" test "$(loads fine)" -eq $((before + 1))
sleep 0.01
touch libfine.so
try devices
check "and tried again once its file has changed" test "$(loads fine)" -eq $((before + 3))
mkdir missing
echo ./absent/libnone.so >missing/none.icd
OCL_ICD_VENDORS=$scratch/missing try devices
exits 0 "an .icd file that names a missing library"
check "is named" grep -q "^strake: note: .*none.icd) cannot be loaded: [.]/absent/libnone.so: cannot open" .err
prints "as the reason" "No OpenCL device: no OpenCL driver has a device that can be used" "libnone.so"
mkdir coloured
printf '/x/\033[31mred\n' >coloured/red.icd
OCL_ICD_VENDORS=$scratch/coloured try devices
exits 0 "an .icd file with what a terminal would obey"
check "is named without it" sh -c 'grep -q "red.icd" .err && ! grep -q "$(printf "\033")" .err'
mkdir dead
ln -s nowhere dead/dead.icd
: >dead/empty.icd
mkdir dead/folder.icd
OCL_ICD_VENDORS=$scratch/dead try devices
exits 0 ".icd files that name no library"
check "a link that leads nowhere is named" grep -q "^strake: note: .*dead.icd) cannot be loaded: .*No such file" .err
check "an empty file is" grep -q "empty.icd) cannot be loaded: the .icd file names none" .err
check "a folder is" grep -q "folder.icd) cannot be loaded: .*folder" .err
OCL_ICD_VENDORS=$scratch/missing try check case.yaml
exits 0 "a check"
check "does not speak of it" bash -c '! grep -q libnone .err'
mkdir pipe
mkfifo pipe/driver.so
echo "$scratch/pipe/driver.so" >pipe/pipe.icd
OCL_ICD_VENDORS=$scratch/pipe try devices
exits 0 "an .icd file that names a pipe is not waited for"

# Where no answer can be kept it lasts as long as the process.
STRAKE_CACHE_DIR=/proc/none OCL_ICD_VENDORS=$scratch/aborts try devices
exits 0 "without a cache"
check "a bad driver is left out, too" grep -q 'libaborts.so' .err

# Interpreters and programs that have the library.
if command -v python3 >/dev/null && python3 -c 'import numpy' 2>/dev/null && [ -z "${STRAKE_TESTS_SANITIZER:-}" ]; then
    for name in aborts leaves hangs; do
        OCL_ICD_VENDORS=$scratch/$name STRAKE_CACHE_DIR=$scratch/python STRAKE_LIBRARY=$build/libstrake.so \
            PYTHONPATH=$root/host/python python3 - >.out 2>.err <<'PY'
import logging, os, strake
logging.basicConfig()
before = dict(os.environ)
print([d["id"] for d in strake.devices()["devices"]])
for _ in range(2):
    with strake.Solver("case.yaml", "auto") as solver:
        solver.step(2)
assert dict(os.environ) == before
print("alive")
PY
        check "Python survives a driver that $name" grep -qx 'alive' .out
        check "and is told once" test "$(grep -c "lib$name.so.* is left out" .err)" -eq 1
    done
else
    skip "Python survives bad drivers" "no python3 with NumPy, or a sanitizer"
fi

# doctor
OCL_ICD_VENDORS=$scratch/aborts try doctor
exits 1 "doctor fails where a driver is bad"
prints "names it, and says what to do" "WRONG" "libaborts.so" "ends its process by signal 6" "-> install this driver anew, or remove" "Wrong: 1."
check "it fits a terminal" awk 'length > 80 && NF > 3 { exit 1 }' .out
before=$(loads aborts)
OCL_ICD_VENDORS=$scratch/aborts try doctor
check "it tries drivers anew" test "$(loads aborts)" -eq $((before + 1))
OCL_ICD_VENDORS=$scratch/missing try doctor
exits 1 "and where an .icd file names a missing library"
check "with the loader's sentence" sh -c 'tr -s " \n" " " <.out | grep -q "cannot open shared object file: No such file"' 
STRAKE_CACHE_DIR=/proc/none OCL_ICD_VENDORS=$scratch/fine try doctor
exits 1 "and where the cache cannot be written"
prints "with what to do" "cache" "STRAKE_CACHE_DIR"
if [ -n "$good" ]; then
    mkdir pocl
    cp "$good" pocl/
    OCL_ICD_VENDORS=$scratch/pocl try doctor
    exits 0 "all is well with PoCL"
    prints "which it says" "self-test of arithmetic: double exact, single exact" "Nothing is wrong." "compilers" "cache"
fi

# A driver that gets as far as ending its process only with a cache that it can write, which Strake lends it.
driver spends '' 'if (getenv("POCL_CACHE_DIR") != NULL && access(getenv("POCL_CACHE_DIR"), W_OK) == 0) { abort(); }'
mine=${POCL_CACHE_DIR:-}
unset POCL_CACHE_DIR
HOME=/dev/null XDG_CACHE_HOME= OCL_ICD_VENDORS=$scratch/spends try devices
[ -z "$mine" ] || export POCL_CACHE_DIR=$mine
exits 0 "devices with a driver that ends its process once it has a cache, without a HOME"
check "which is named" grep -q "libspends.so .*is left out: it ends its process by signal 6" .err

# PoCL where HOME cannot be written, and where /sys is missing. Newer versions call its device cpu-..., not pthread-....
if [ -n "$good" ] && [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    stranger() { setpriv --reuid 65534 --regid 65534 --clear-groups env -u STRAKE_CACHE_DIR -u POCL_CACHE_DIR -u XDG_CACHE_HOME \
        OCL_ICD_VENDORS="${good%/*}" HOME=/ "$@"; }
    chmod 755 "$scratch"
    check "PoCL has its device for a user without a HOME" bash -c "$(declare -f stranger); good=$good; stranger '$STRAKE' devices | grep -Eq '^ocl:.*(pthread|cpu)-'"
    stranger POCL_CACHE_DIR=/proc/none "$STRAKE" devices >.out 2>.err
    check "and where none can be had the reason names POCL_CACHE_DIR" \
        bash -c 'grep -q "set POCL_CACHE_DIR" .out || grep -q "^ocl:" .out'
else
    skip "PoCL without a HOME" "no PoCL, or not root, or no setpriv"
fi
if [ -n "$good" ] && [ "$(id -u)" -eq 0 ] && unshare -m umount -l /sys 2>/dev/null; then
    unshare -m sh -c 'umount -l /sys; OCL_ICD_VENDORS=$2 "$1" run case.yaml --on auto --no-tune --output sys' - "$STRAKE" "$scratch/pocl" >.out 2>.err
    check "a run where /sys is missing" test -e sys/psi_00000020.npy
    OCL_ICD_VENDORS=$scratch/pocl try devices
    check "PoCL is back with /sys" grep -q '^ocl:0: ' .out
else
    skip "a run where /sys is missing" "no PoCL, or no mounts of one's own"
fi
done_testing
