#!/bin/bash
# The cache holds programs: it is made for its user alone, and what others can have written is not used.
. "$(dirname "$0")/tap.bash"

export HOME=$scratch/home
unset XDG_CACHE_HOME
mode() { stat -c %a "$1"; }
entries() { find "$1" -name '*.clbin' | wc -l; }

# With a mask that takes nothing away, folders and files are the user's alone.
umask 000
mkdir -m 755 home
unset STRAKE_CACHE_DIR
pace=3 tune_quickly --on cpu --budget 5 --quiet
check "tune makes its folder private, and those above it" \
    test "$(mode home/.cache)$(mode home/.cache/strake)" = 700700
check "and every file in it" test -z "$(find home/.cache -type f -perm /077)"
umask 022

record='{"strake": 1}' # is read, and told to be none, where it may be
mkdir -m 700 private
echo "$record" >private/tuned-0.yaml
export STRAKE_CACHE_DIR=$scratch/private
try run case.yaml --on cpu
check "what lies in a private folder is read" grep -q "tuned-0.yaml.*are ignored\|are ignored.*tuned-0.yaml" .err
lacks "without a doubt" 'is not used' .err

forged() { # forged NAME FOLDER WHAT: what lies there is not used, one line says so of WHAT
    export STRAKE_CACHE_DIR=$2
    try run case.yaml --on cpu
    exits 0 "$1: a run goes on without the cache"
    check "$1: one line says why, and nothing is read" \
        test "$(grep -c "warning: .*$3 is not used: .*, and could have put anything there" .err)/$(grep -c 'are ignored' .err)" = 1/0
}

mkdir -m 777 open
echo "$record" >open/tuned-0.yaml
forged "others may write to the folder" "$scratch/open" "the cache $scratch/open"
try tune --on cpu --budget 5 --quiet
fails 1 "tune does not write there" "$scratch/open" "not used" "others than its owner may write"
check "nothing was left there" test "$(ls -A open)" = tuned-0.yaml

mkdir -m 700 files
echo "$record" >files/tuned-0.yaml
chmod 666 files/*
forged "others may write a file" "$scratch/files" "files/tuned-0.yaml in the cache"

ln -s "$scratch/open" link
forged "a link to such a folder" "$scratch/link" "the cache $scratch/link"

mkdir -m 700 inside
ln -s "$scratch/private/tuned-0.yaml" inside/tuned-0.yaml
export STRAKE_CACHE_DIR=$scratch/inside
try run case.yaml --on cpu
check "a link in a cache is told and passed over" grep -q "tuned-0.yaml are ignored: it is a symbolic link" .err
ln -s "$scratch/private" own
export STRAKE_CACHE_DIR=$scratch/own
try run case.yaml --on cpu
check "a link of one's own to a private folder is followed" bash -c 'grep -q "tuned-0.yaml" .err && ! grep -q "not used" .err'

if [ "$(id -u)" -eq 0 ]; then
    mkdir -m 700 theirs
    echo "$record" >theirs/tuned-0.yaml
    chown 12345 theirs
    forged "somebody else's folder" "$scratch/theirs" "the cache $scratch/theirs"
    mkdir -m 700 among
    echo "$record" >among/tuned-0.yaml
    chown 12345 among/*
    forged "somebody else's file" "$scratch/among" "among/tuned-0.yaml in the cache"
    ln -s "$scratch/private" their-link
    chown -h 12345 their-link
    forged "somebody else's link" "$scratch/their-link" "the cache $scratch/their-link"
    mkdir -m 700 closed
    mkdir -m 777 users
    cp "$STRAKE" case.yaml users # where others may execute it
    chmod 711 "$scratch"
    cp case.yaml users
    as_user() { (cd users && setpriv --reuid 12345 --regid 12345 --clear-groups "./${STRAKE##*/}" "$@") >.out 2>.err </dev/null; }
    export STRAKE_CACHE_DIR=$scratch/closed
    if command -v setpriv >/dev/null && as_user --version; then
        as_user run case.yaml --on cpu
        check "a folder that cannot be opened: a run goes on, and one line says why" \
            test "$?/$(grep -c "warning: the cache $scratch/closed is not used: Permission denied; name another" .err)" = 0/1
        as_user tune --on cpu --budget 5 --quiet
        check "tune says the same, and nothing of what others could have written" \
            test "$(grep -c "the cache $scratch/closed is not used: Permission denied; name another" .err)/$(grep -c 'have put' .err)" = 1/0
    else
        skip "a folder that cannot be opened" "no other user can run the program"
    fi
else
    for name in folder file link; do
        skip "somebody else's $name" "only root can make one"
    done
fi

# Programs of devices, which PoCL does not keep itself here.
export STRAKE_CACHE_DIR=$scratch/programs POCL_KERNEL_CACHE=0 POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
try devices
if grep -q '^ocl:0' .out; then
    rm -f programs/* # those of the self-test
    try run case.yaml --on ocl:0 --quiet --output first
    exits 0 "a run on OpenCL makes entries"
    check "in a private folder" test "$(mode programs)" = 700
    check "entries are private" test -z "$(find programs -type f -perm /077)"
    count=$(entries programs)
    check "there are some" test "$count" -gt 0
    for entry in programs/*.clbin; do
        printf 'forged' >>"$entry"
        chmod 666 "$entry"
    done
    try run case.yaml --on ocl:0 --quiet --output second
    exits 0 "forged entries are not used"
    check "one line says why" test "$(grep -c 'in the cache is not used' .err)" -eq 1
    check "they are made again" test -z "$(find programs -name '*.clbin' -perm /022)"
    check "to the same result" cmp first/psi_00000020.npy second/psi_00000020.npy
    chmod 777 programs
    rm programs/*
    try run case.yaml --on ocl:0 --quiet --output third
    check "nothing is put into a folder that others may write to" test "$(entries programs)" -eq 0
    check "to the same result without a cache" cmp first/psi_00000020.npy third/psi_00000020.npy
else
    skip "programs of devices are trusted only in a private cache" "no OpenCL device"
fi

unset POCL_EXTRA_BUILD_FLAGS # models run large grids
mkdir -m 777 models
little_memory
try model --on ocl:0 --budget 1 --quiet --cache models
if [ "$code" -eq 0 ]; then
    check "models are not stored where others may write" test -z "$(ls models)"
    check "which is told" grep -q 'the cache models is not used' .err
else
    skip "models are not stored where others may write" "no OpenCL device"
fi

# What should be an entry and is no file is told, once, and passed over.
odd() { # odd NAME WHAT: a run with that entry in its cache
    try run case.yaml --on cpu --output odd-out
    exits 0 "$2 in place of $1: a run goes on"
    check "$2 in place of $1: one line says so" \
        test "$(grep -c "warning: .*/odd/$1 in the cache is not used: it is $2" .err)/$(grep -c 'in the cache' .err)" = 1/1
    rm -r "odd/$1"
}
mkdir -m 700 odd
export STRAKE_CACHE_DIR=$scratch/odd
for name in 0123456789abcdef.clbin model-0123456789abcdef.yaml; do
    mkfifo "odd/$name"
    odd "$name" "a named pipe"
    mkdir "odd/$name"
    odd "$name" "a folder"
    ln -s /dev/null "odd/$name"
    odd "$name" "a symbolic link"
    if [ "$(id -u)" -eq 0 ] && mknod "odd/$name" c 1 3; then
        odd "$name" "a device"
    else
        skip "a device in place of $name" "only root can make one"
    fi
done
mkfifo odd/other.yaml
try run case.yaml --on cpu --output odd-out
lacks "what is no entry is nobody's business" 'in the cache' .err
mkfifo odd/0.clbin
try run case.yaml --on cpu --output odd-out --quiet
check "the quiet are told, too" grep -q 'odd/0.clbin in the cache is not used' .err
try bench case.yaml --on cpu --on serial --steps 2 --repeats 1
check "bench tells it once" test "$(grep -c 'odd/0.clbin in the cache is not used' .err)" -eq 1
try run case.yaml --on cpu --output odd-out --set run.tuned=false
lacks "who uses nothing of the cache is not told" 'in the cache' .err
try devices
if grep -q '^ocl:0' .out; then
    try run case.yaml --on ocl:0 --output odd-out --set run.tuned=false
    check "who uses programs alone is" test "$(grep -c 'odd/0.clbin in the cache is not used' .err)" -eq 1
else
    skip "who uses programs alone is told" "no OpenCL device"
fi
mkfifo pipe
STRAKE_CACHE_DIR=$PWD/pipe try devices
exits 0 "a cache that is no folder is done without"
check "and one line says why" grep -q 'pipe is not used: it is no folder' .err
done_testing
