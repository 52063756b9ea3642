#!/bin/bash
# Stripes larger than device memory stream through it in blocks: what users see of it.
support=$(cd "$(dirname "$0")/../support" && pwd)
. "$(dirname "$0")/tap.bash"

try run case.yaml --on serial --quiet --output whole
exits 0 "the reference runs"
if ! "$STRAKE" devices --json | grep -q '"id": "ocl:0"'; then
    skip "streaming through an OpenCL device" "no OpenCL device"
    done_testing
fi

try run case.yaml --on ocl:0 --quiet --output resident --report resident.json
exits 0 "a stripe that fits is resident"
check "and says nothing of blocks" test ! -s .err
lacks "nor its report" 'streaming' resident.json
try run case.yaml --on ocl:0 --quiet --output kernels --report kernels.json --set run.fusion=none \
    --set run.group_width=4096
for pair in '"fusion": "none"' '"group_width": 128' '"marching": 0'; do
    check "the report tells of kernels: $pair" grep -q "\"kernels\": {.*$pair" kernels.json
done
check "that stages one by one move more than the fused floor" awk -v plan="$(grep -o '"groups": "[^"]*", "bytes_per_cell": [0-9]*' \
    kernels.json | awk '{ print $NF }')" -v floor="$(grep -o '^  "bytes_per_cell": [0-9]*' kernels.json | awk '{ print $NF }')" \
    'BEGIN { exit !(floor > 0 && plan > 5 * floor) }'

# GPUs may give larger buffers than they tell: a stripe asks, and streams where it is refused.
faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so" 2>/dev/null)
if [ -n "$faulty" ]; then
    large=(--quiet --no-tune --set grid.rows=500 --set grid.cols=500 --steps 2)
    try run case.yaml --on serial "${large[@]}" --output large
    export STRAKE_TEST_MAX_ALLOC=1500000 STRAKE_OPENCL_LIBRARY=$faulty # of 2 MB
    STRAKE_TEST_FAULTS=type:gpu try run case.yaml --on ocl:0 "${large[@]}" --output given --report given.json
    exits 0 "a GPU gives an array beyond its largest buffer"
    lacks "so its stripe is resident" 'streaming' given.json
    check "to the same bytes" "$STRAKE" compare large given
    STRAKE_TEST_FAULTS="type:gpu alloc:refused" try run case.yaml --on ocl:0 "${large[@]}" --output refused \
        --report refused.json
    exits 0 "a GPU that refuses it goes on"
    check "streaming" grep -q '"streaming": {"blocks"' refused.json
    check "to the same bytes" "$STRAKE" compare large refused
    # Of two stripes with 1 MB each that may grow, one asks for room to do so; where it is refused it stays.
    movable=(--on cpu,ocl:0 --split 1,1 --set run.balance=slice)
    unset STRAKE_TEST_MAX_ALLOC
    held() { grep -o '"device_memory_bytes": [0-9]*' "$1"; }
    STRAKE_TEST_FAULTS=type:gpu try run case.yaml "${movable[@]}" "${large[@]}" --output free --report free.json
    export STRAKE_TEST_MAX_ALLOC=1200000
    STRAKE_TEST_FAULTS=type:gpu try run case.yaml "${movable[@]}" "${large[@]}" --output roomy --report roomy.json
    check "a GPU's stripe has the room to grow that it has without such a limit" \
        test "$(held free.json)" = "$(held roomy.json)"
    STRAKE_TEST_FAULTS="type:gpu alloc:refused" try run case.yaml "${movable[@]}" "${large[@]}" --output tight \
        --report tight.json
    exits 0 "one that refuses room to grow goes on"
    check "resident" sh -c '! grep -q "\"streaming\"" tight.json'
    check "in less memory" test "$(held tight.json | cut -d' ' -f2)" -lt "$(held roomy.json | cut -d' ' -f2)"
    check "to the same bytes" "$STRAKE" compare large tight
    # Where stripes stream it is measured whether others are worth it; who is not has no slabs, unless shares are given.
    unset STRAKE_TEST_MAX_ALLOC
    slow=(--on cpu,ocl:0 --no-tune --set run.blocks=3)
    STRAKE_TEST_FAULTS=slow:kernels try run case.yaml "${slow[@]}" --output slow --report slow.json
    exits 0 "beside a slow device that streams"
    check "it has no slabs" grep -q '"id": "ocl:0".*"rows": \[\([0-9]*\), \1\]' slow.json
    check "which is told" grep -q '^strake: note: ocl:0 begins without slabs: with it a step would not be 3 % shorter' .err
    check "and the choice reported" grep -q '"where": "cpu", .*"taken": true, "why": "the fastest"' slow.json
    check "to the same bytes" "$STRAKE" compare whole slow
    STRAKE_TEST_FAULTS=slow:kernels try run case.yaml "${slow[@]}" --split 1,1 --steps 2 --report shared.json
    exits 0 "with shares given"
    check "it has them" sh -c '! grep -q "\"id\": \"ocl:0\".*\"rows\": \[\([0-9]*\), \1\]" shared.json'
    # Steps take as long as there are items, so that three alike are three times as fast: the third joins with a third.
    # What else the machine does may make one look slow: of three runs one has to tell.
    few=1
    for _ in 1 2 3; do
        [ "$few" -gt 0 ] || break
        STRAKE_TEST_FAULTS="type:gpu slow:items" try run case.yaml --on ocl:0,ocl:0,ocl:0 --no-tune --quiet --set run.blocks=3 \
            --set run.fusion=none --set grid.rows=120 --set grid.cols=200 --steps 4 --output three --report three.json
        few=$(grep -Ec ' with [12]?[0-9] slabs on ocl:0' three.json)
    done
    exits 0 "three devices alike"
    check "each is tried with as much as the others" test "$few" -eq 0
    check "as told" grep -q ' slabs on ocl:0, at best' three.json
    unset STRAKE_OPENCL_LIBRARY
else
    skip "arrays beyond the largest buffer" "no library to stand in front of a driver"
fi

try run case.yaml --on ocl:0 --output capped --report capped.json --set run.device_memory=100kB
exits 0 "a stripe beyond run.device_memory streams"
check "to the same bytes" "$STRAKE" compare whole capped
check "with one line of notice" test "$(grep -c "^strake: note: " .err)" -eq 1
check "that names the stripe, its rows and the blocks" grep -Eq \
    '^strake: note: ocl:0: stripe 1 of 1 \(rows 0 to [0-9]+\) .* streams .* blocks of up to' .err
number() { # number KEY: from the report
    grep -o "\"$1\": [0-9.e+-]*" capped.json | head -n 1 | cut -d' ' -f2
}
check "the report counts blocks" test "$(number blocks)" -gt 1
check "and the memory they take" test "$(number device_memory_bytes)" -le 100000
check "of those that it may take" test "$(number memory_limit_bytes)" -eq 100000
check "and what it would take resident" test "$(number resident_bytes)" -gt 100000
check "which is what a resident stripe takes" test "$(number resident_bytes)" -eq \
    "$(grep -o '"device_memory_bytes": [0-9]*' resident.json | cut -d' ' -f2)"
check "and the bytes moved" test "$(number uploaded_bytes)" -gt "$(number downloaded_bytes)"
for key in streams steps_per_sweep block_rows predicted_seconds measured_seconds \
    upload_bytes_per_second download_bytes_per_second kernel_cells_per_second; do
    check "and has $key" awk -v x="$(number $key)" 'BEGIN { exit !(x > 0) }'
done

try run case.yaml --on ocl:0 --quiet --output asked --report capped.json --set run.blocks=5 \
    --set run.streams=3 --set run.steps_per_sweep=4
exits 0 "blocks, streams and steps can be asked for"
check "to the same bytes" "$STRAKE" compare whole asked
check "and nobody needs to be told" test ! -s .err
check "five blocks" test "$(number blocks)" -eq 5
check "three streams" test "$(number streams)" -eq 3
check "four steps" test "$(number steps_per_sweep)" -eq 4

try run case.yaml --on ocl:0,ocl:0 --split 1,1 --output two --report capped.json \
    --set run.device_memory=120kB
exits 0 "two stripes stream"
check "to the same bytes" "$STRAKE" compare whole two
check "with one notice for each" test "$(grep -c '^strake: note: ocl:0: stripe [12] of 2 .* streams' .err)" -eq 2
check "that differ" test "$(grep "^strake: note: " .err | sort -u | wc -l)" -eq 2

# Balancing makes stripes anew: whoever streams at the end was told of last, once per beginning and end.
for run in 1 2 3; do
    try run case.yaml --on cpu,ocl:0 --output moved --report capped.json --set grid.rows=300 \
        --set grid.cols=300 --set time.dt=0.01 --steps 200 --set run.device_memory=400kB
    exits 0 "balancing with capped memory, run $run"
    begun=$(grep -c 'ocl:0: .* streams through it' .err)
    ended=$(grep -c 'ocl:0: .* no longer streams' .err)
    check "notices say whether it streams in the end ($begun begun, $ended ended)" \
        test $((begun - ended)) -eq "$(grep -c '"streaming"' capped.json)"
done

for on in cpu serial; do
    try run case.yaml --on $on --output asked --set run.blocks=5 --set run.device_memory=1MB
    exits 0 "settings of devices on $on"
    check "are said to have no effect" grep -q \
        '^strake: note: run.device_memory, run.blocks have no effect: no OpenCL device takes part' .err
done
try run case.yaml --on ocl:0 --output asked --set run.block_columns=64
exits 0 "a setting of the cpu stripe on a device"
check "is said to have no effect" grep -q '^strake: note: run.block_columns has no effect: no `cpu`' .err

# idle KEYS OPTIONS...: a run with the default kernels of a CPU device says that the keys do nothing.
idle() {
    local keys=$1
    shift
    try run case.yaml --on ocl:0 --output asked --set run.fusion=plain "$@"
    exits 0 "$keys without effect"
    check "is told" grep -qE "^strake: note: $keys (has|have) no effect: " .err
    check "with the same bytes" "$STRAKE" compare whole asked
}
idle run.streams --set run.streams=2
idle run.steps_per_sweep --set run.steps_per_sweep=3
idle "run.keep, run.unroll, run.vector" --set run.keep=2 --set run.unroll=1 --set run.vector=2
idle "run.group_rows, run.hold, run.prefetch" --set run.group_rows=9 --set run.hold=50 \
    --set run.prefetch=1
if "$STRAKE" devices | grep -A1 '^ocl:0: ' | grep -q NVIDIA; then
    skip "run.registers without effect" "this compiler can be told"
else
    idle run.registers --set run.registers=64
fi
try run case.yaml --on ocl:0 --output asked --set run.blocks=3 --set run.streams=2 \
    --set run.fusion=stream --set run.vector=2 --set run.steps_per_sweep=2
exits 0 "the same keys where they have an effect"
lacks "are not told of" 'no effect' .err
try run case.yaml --on ocl:0 --output asked --report clipped.json --set run.fusion=plain --set run.group_height=4096
exits 0 "groups that are higher than the device or the grid allow"
taken=$(sed -n 's/.*"group_height": \([0-9]*\).*/\1/p' clipped.json | head -1)
check "are told of, with what is taken" grep -q "^strake: note: run.group_height is 4096, but ${taken:-nothing} is taken on ocl:0: " .err
check "with the same bytes" "$STRAKE" compare whole asked
try run case.yaml --on ocl:0 --output asked --set run.fusion=plain --set run.groups=4096x4
check "so are groups of one kernel" grep -q "^strake: note: run.groups is 4096x4, but [0-9]*x.* is taken on ocl:0: " .err
try run case.yaml --on ocl:0 --output asked --set run.fusion=plain --set run.groups=32x2
lacks "but not where they fit" "run.groups" .err
# Groups of two columns are too narrow for marching kernels, so that others run.
try run case.yaml --on ocl:0 --output asked --report fell.json --set run.fusion=stream --set run.group_width=2
exits 0 "marching kernels that do not fit"
check "are told of" grep -q '^strake: note: run.fusion: stream has no effect' .err
check "and not in the report" grep -q '"kernels": {"count": [0-9]*, "marching": 0, "tiled": 0, "fusion": "plain"' fell.json
cat >deep.yaml <<'EOF'
problem: mpdata3d
grid: {planes: 8, rows: 8, cols: 32}
time: {steps: 2}
fields: {psi: {gaussian: {center: [4, 4, 16], sigma: 3, height: 1, base: 0}}, u1: 0.1, u2: 0.1, u3: 0.1}
EOF
try run deep.yaml --on ocl:0 --output deep --set run.fusion=tile --set run.group_rows=1000
exits 0 "tiles of three dimensions that do not fit"
check "are told of" grep -q '^strake: note: run.fusion: tile has no effect: tiles of .* 8 x 8 x 4 are a beginning' .err
try run deep.yaml --on ocl:0 --quiet --output deep --report deep.json --set run.fusion=tile --set run.group_width=8 --set run.group_height=8 --set run.group_rows=4
check "others are computed, without a word" bash -c 'grep -q "\"tiled\": [1-9]" deep.json && ! grep -q "run.fusion" .err'
# So many rows exceed every local memory.
try run case.yaml --on ocl:0 --output asked --set run.fusion=tile --set run.group_rows=65536
exits 0 "tiled kernels that do not fit"
check "are told of" grep -q '^strake: note: run.fusion: tile has no effect' .err
try run case.yaml --on ocl:0 --quiet --output asked --report tiled.json --set run.fusion=tile --set run.group_rows=9
exits 0 "tiled kernels"
check "are told of in the report" grep -q '"tiled": 1, "fusion": "tile".*"group_rows": 9' tiled.json
check "with the same bytes" "$STRAKE" compare whole asked
try run case.yaml --on ocl:0 --set run.vector=3
fails 2 "run.vector=3" "run.vector" "one of 0, 1, 2, 4"
try run case.yaml --on ocl:0 --set run.unroll=3
fails 2 "run.unroll=3" "run.unroll: found 3" "expected 0, 1 or an even number up to 16 [rows]"
try run case.yaml --on ocl:0 --set run.device_memory=90
fails 2 "bytes are bytes" "it may use 90 bytes;"

mkdir dumped
try run case.yaml --on ocl:0 --quiet --output asked --set run.dump_kernels=dumped
exits 0 "run.dump_kernels"
check "writes the kernels" grep -q '^__kernel' dumped/mpdata2d_double_*.cl
try run case.yaml --on ocl:0 --quiet --output asked --set run.dump_kernels=missing
fails 1 "a folder for kernels that does not exist" "missing/" "run.dump_kernels" "existing folder"

every="--set checkpoint.every=7 --set output.every=5"
# shellcheck disable=SC2086
try run case.yaml --on serial --quiet --output plain $every --steps 14
# shellcheck disable=SC2086
try run case.yaml --on ocl:0 --quiet --output streamed $every --steps 14 --set run.device_memory=100kB
check "checkpoints are the same" cmp plain/checkpoint.strake streamed/checkpoint.strake
check "and outputs on the way" cmp plain/psi_00000010.npy streamed/psi_00000010.npy
try run case.yaml --on ocl:0 --quiet --output resumed --resume streamed/checkpoint.strake --set run.blocks=3
exits 0 "a run continues in other blocks"
check "to the same bytes" "$STRAKE" compare whole resumed

try run case.yaml --on ocl:0 --quiet --output small --set run.device_memory=2kB
fails 2 "memory that holds not even one row" "needs at least" "raise run.device_memory" "kB"
lacks "and advises nothing that was not given" 'run.blocks\|run.streams' .err 2
try run case.yaml --on ocl:0 --quiet --output small --set run.blocks=1 --set run.device_memory=20kB
fails 2 "blocks that do not fit" "needs at least" "run.device_memory"
check "leaves no output" test ! -e small/psi_00000020.npy
for value in -1 1.5XB MiB '"1 2"' '[1]' 1e3; do
    try run case.yaml --on ocl:0 --set "run.device_memory=$value"
    fails 2 "run.device_memory=$value" "run.device_memory" "bytes >= 0"
done
for value in 0 200000 0.2MB 200kB 200KB 0.0002GB 195.3KiB 0.19MiB 1GiB; do
    try run case.yaml --on ocl:0 --quiet --output sizes --set "run.device_memory=$value"
    exits 0 "run.device_memory=$value is a size"
done

# A driver that reports memory it cannot give.
if "${CC:-cc}" -shared -fPIC -o small.so -Wl,--no-as-needed "$support/small_memory.c" -l:libOpenCL.so.1 -ldl 2>cc.err; then
    export STRAKE_OPENCL_LIBRARY=$PWD/small.so STRAKE_TEST_LARGEST_BUFFER=24000
    try run case.yaml --on ocl:0 --output fallback --report capped.json
    exits 0 "running out of device memory falls back to blocks"
    check "to the same bytes" "$STRAKE" compare whole fallback
    check "with one line of notice" test "$(grep -c '^strake: note: ocl:0: .* streams' .err)" -eq 1
    check "in several blocks" test "$(number blocks)" -gt 1
    export STRAKE_TEST_LARGEST_BUFFER=8
    try run case.yaml --on ocl:0 --quiet --output none
    fails 1 "a device without any memory" "clCreateBuffer" "CL_MEM_OBJECT_ALLOCATION_FAILURE" \
        "name more in --on" "run.device_memory"
    for how in "--split 1,1" "--split 0,1" "--set run.balance=model"; do
        rm -rf left
        # shellcheck disable=SC2086
        try run case.yaml --on cpu,ocl:0 --quiet --output left --report left.json $how
        exits 0 "beside another part it is left out, $how"
        check "with a warning" grep -q '^strake: warning: ocl:0 is left out: .*ALLOCATION_FAILURE' .err
        check "and the same bytes" "$STRAKE" compare whole left
        check "and no rows" grep -q '"id": "ocl:0".*"dropped": {"step": 0.*"rows": \[\([0-9]*\), \1\]' left.json
    done
else
    skip "running out of device memory" "no library to link with: $(head -n 1 cc.err)"
fi

done_testing
