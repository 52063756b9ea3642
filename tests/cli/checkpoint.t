#!/bin/bash
# Checkpoints: continuing to the same bytes, from any moment, on any processors; bad ones are refused.
. "$(dirname "$0")/tap.bash"

every="--set checkpoint.every=7 --set output.every=5"
# shellcheck disable=SC2086
try run case.yaml --on serial --quiet --output whole $every
exits 0 "a run with checkpoints succeeds"
check "the checkpoint is there" test -s whole/checkpoint.strake
cp whole/checkpoint.strake at14

# shellcheck disable=SC2086
try run case.yaml --on cpu --quiet --output rest $every --resume at14
exits 0 "a run continues from a checkpoint of other processors"
check "to the same bytes" cmp whole/psi_00000020.npy rest/psi_00000020.npy
check "only later steps are written" test ! -e rest/psi_00000010.npy
check "the index has only later steps" test "$(tail -n +2 rest/index.csv | cut -d, -f1 | tr '\n' ' ')" = "15 20 "
cp -r whole again
# shellcheck disable=SC2086
try run case.yaml --on serial --quiet --output again $every --resume again/checkpoint.strake
check "continuing in the same folder keeps the index of earlier steps" cmp <(cut -d, -f1-4 whole/index.csv) <(cut -d, -f1-4 again/index.csv)
check "and gives the same files" "$STRAKE" compare whole again
try run case.yaml --on serial --quiet --output more --resume at14 --steps 30
exits 0 "--steps continues beyond the case's end"
try run case.yaml --on serial --quiet --output straight --steps 30
check "as a run of that length" "$STRAKE" compare straight more
try run case.yaml --on serial --quiet --output same --resume at14 --steps 14
exits 0 "a checkpoint at the last step leaves nothing to do"
try run case.yaml --on serial --quiet --output direct --steps 14
check "but writes the last step" cmp same/psi_00000014.npy direct/psi_00000014.npy

# Refused: others, damaged, beyond.
try run case.yaml --on serial --resume case.yaml
fails 2 "a file that is none" "case.yaml is not a Strake checkpoint"
try run case.yaml --on serial --resume whole/psi_00000020.npy
fails 2 "an output file" "is not a Strake checkpoint"
: >empty
try run case.yaml --on serial --resume empty
fails 2 "an empty file" "is not a Strake checkpoint"
try run case.yaml --on serial --resume whole
fails 2 "a folder" "is not a Strake checkpoint"
try run case.yaml --on serial --resume nowhere
fails 1 "a file that does not exist" "nowhere" "No such file"
size=$(stat -c %s at14)
for length in 8 100 967 968 5000 $((size - 1)); do
    head -c "$length" at14 >short
    try run case.yaml --on serial --resume short
    fails 1 "truncated to $length bytes" "short is truncated"
done
{ cat at14; echo; } >long
try run case.yaml --on serial --resume long
fails 1 "with something behind it" "long is damaged"
for offset in 12 24 32 40 100 104 970 20000 $((size - 1)); do
    cp at14 flipped
    byte=$(od -An -tu1 -j "$offset" -N 1 flipped | tr -d ' ')
    # shellcheck disable=SC2059
    printf "\\$(printf %03o $((255 - byte)))" | dd of=flipped bs=1 seek="$offset" conv=notrunc 2>/dev/null
    try run case.yaml --on serial --resume flipped
    [ "$code" -ne 0 ] && [ "$code" -lt 126 ] && [ "$(wc -l <.err)" -eq 1 ]
    report $? "with byte $offset changed"
done
try run case.yaml --on serial --resume at14 --steps 10
fails 2 "beyond the last step" "step 14" "last step 10" "--steps"
try run case.yaml --on serial --resume at14 --set grid.rows=60
fails 2 "of another grid" "another case" "61 x 97" "60 x 97"
try run case.yaml --on serial --resume at14 --set precision=single
fails 2 "of another precision" "another case" "double" "single"
try run case.yaml --on serial --resume at14 --set time.dt=0.05
fails 2 "of another time step, with both" "another case: time.dt is 0.1 there and 0.05 in case.yaml"
try run case.yaml --on serial --resume at14 --set fields.u1.constant=0.1
fails 2 "of another flow" "another case: fields.u1 is "
try run case.yaml --on serial --resume at14 --set scheme.iterations=3
fails 2 "of another scheme" "another case: scheme.iterations is 2 there and 3 in case.yaml"
try run case.yaml --on serial --resume at14 --set scheme.iterations=3 --set time.dt=0.05 --set scheme.nonoscillatory=false
fails 2 "of three others" "scheme.nonoscillatory is" "time.dt is" "scheme.iterations is"
# The same with version 2, which has no list of settings: it lies behind the header of 976 bytes.
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON'
import struct
data = open("at14", "rb").read()
length = struct.unpack("=Q", data[976:984])[0]
old = data[:12] + struct.pack("=I", 2) + data[16:976] + data[984 + length:-8]
checksum = 0xcbf29ce484222325
for byte in old:
    checksum = ((checksum ^ byte) * 0x100000001b3) & 0xffffffffffffffff
open("old", "wb").write(old + struct.pack("=Q", checksum))
PYTHON
    try run case.yaml --on serial --quiet --output from_old --resume old --steps 30
    exits 0 "an older checkpoint is read"
    check "to the same bytes" "$STRAKE" compare straight from_old
    try run case.yaml --on serial --resume old --set time.dt=0.05
    fails 2 "and refused without saying what differs" "another case" "the time step, boundaries"
else
    skip "older checkpoints are read" "no python3"
fi
check "refused checkpoints leave no output folder" test ! -e out

# Interrupted.
interrupt() { # interrupt SIGNAL FOLDER OPTIONS...: ends an endless run once it has written step 0
    local signal=$1 folder=$2 pid tries
    shift 2
    rm -rf "$folder"
    "$STRAKE" run case.yaml --on serial --steps 100000000 --set output.initial=true \
        --output "$folder" --quiet "$@" >.out 2>.err </dev/null &
    pid=$!
    for tries in $(seq 2400); do
        [ -e "$folder/index.csv" ] && break
        sleep 0.05
    done
    sleep 0.2
    kill -"$signal" $pid
    for tries in $(seq 2400); do
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    kill -KILL $pid 2>/dev/null
    code=0
    wait $pid || code=$?
}

for signal in INT TERM; do
    interrupt $signal stop --set checkpoint.every=90000000
    [ $signal = INT ] && status=130 || status=143
    fails $status "$signal ends a run with $status and says how to continue" "interrupted after step" \
        "strake run --resume stop/checkpoint.strake case.yaml"
    step=$(sed 's/.*after step \([0-9]*\) .*/\1/' .err)
    total=$((step + 100))
    last=psi_$(printf %08d "$total").npy
    try run case.yaml --on serial --steps "$total" --output stop --quiet --resume stop/checkpoint.strake
    exits 0 "and the checkpoint it wrote continues"
    try run case.yaml --on serial --steps "$total" --output unbroken --quiet
    check "to the same bytes" cmp "stop/$last" "unbroken/$last"
done

# Killed at random steps while it writes one checkpoint after the other, each time on other
# processors. A run that ends before it is killed must have the right bytes, and is begun anew.
RANDOM=20260107
total=700
options="--steps $total --set checkpoint.every=1 --quiet"
places=(serial cpu "cpu --threads 3")
if "$STRAKE" devices | grep -q '^ocl:0'; then
    places+=(cpu,ocl:0 ocl:0)
fi
# shellcheck disable=SC2086
try run case.yaml --on serial $options --output reference
exits 0 "the reference of the kill test runs"
kills=0
resumed=0
step_of() { # step_of CHECKPOINT: 0 where there is none
    local step
    step=$(od -An -t d8 -j 32 -N 8 "$1" 2>/dev/null | tr -d ' ')
    echo "${step:-0}"
}
: >complaints
for attempt in $(seq 80); do
    [ $kills -lt 20 ] || break
    resume=
    if [ -e killed/checkpoint.strake ]; then
        resume="--resume killed/checkpoint.strake"
        resumed=$((resumed + 1))
    fi
    before=$(step_of killed/checkpoint.strake)
    # shellcheck disable=SC2086
    "$STRAKE" run case.yaml --on ${places[$((attempt % ${#places[@]}))]} $options \
        --output killed $resume >.out 2>>complaints </dev/null &
    pid=$!
    wanted=$((before + 1 + RANDOM % 60))
    while [ "$(step_of killed/checkpoint.strake)" -lt $wanted ] && kill -0 $pid 2>/dev/null; do
        :
    done
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    if [ $? -eq 137 ]; then
        kills=$((kills + 1))
    else
        cmp -s "reference/psi_00000$total.npy" "killed/psi_00000$total.npy" ||
            echo "a complete run differs" >>complaints
        rm -rf killed
    fi
done
echo "# killed $kills times in $attempt attempts, resumed $resumed times"
check "the run was killed 20 times" test $kills -eq 20
cp complaints .err
check "most of them continued from a checkpoint" test $resumed -ge 10
check "no run complained about the checkpoint it found" test ! -s complaints
resume=
[ -e killed/checkpoint.strake ] && resume="--resume killed/checkpoint.strake"
# shellcheck disable=SC2086
try run case.yaml --on cpu $options --output killed $resume
exits 0 "after 20 kills the last checkpoint continues"
check "to the same bytes" cmp "reference/psi_00000$total.npy" "killed/psi_00000$total.npy"
check "and to an equal checkpoint" cmp reference/checkpoint.strake killed/checkpoint.strake
done_testing
