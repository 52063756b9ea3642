#!/bin/bash
# Cases of particles from one end to the other: fields by number, .vtp, checkpoints, threads, what leaves, bad use.
outputs=$(realpath "$(dirname "$0")/../support/outputs.py")
. "$(dirname "$0")/tap.bash"

cat >drop.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [0.8, 0.4]
  fluid: [{box: {from: [0, 0], to: [0.24, 0.24]}}]
  walls: [{sides: [bottom, left, right]}]
  probes: [{name: wall, pressure: [0.12, 0]}, {name: jet, velocity: [0.2, 0.1]}, {height: [0]}, {height: [0.6]}]
time: {end: 0.03}
output: {every: 40, formats: [npy, vtp]}
diagnostics: {every: 20}
YAML
values() { # values FILE.npy: what is in it, behind its header of 128 bytes
    tail -c +129 "$1"
}
same() { # same DIR DIR: all files but what says which run made them
    diff -rq -x run.json -x index.csv "$1" "$2" && cmp <(cut -d, -f1-4 "$1/index.csv") <(cut -d, -f1-4 "$2/index.csv")
}

try run drop.yaml --on cpu --threads 1 --output one --report one.json --set checkpoint.every=30
exits 0 "a case of particles runs"
check "the run says what there is, its numbers and the limits of its time step" bash -c '
    grep -q "particles  402: 144 fluid, 258 of dynamic walls" .err && grep -q "h = 0.026 m" .err &&
    grep -q "c0 = .* B = " .err && grep -q "limits of dt" .err'
check "the summary counts updates, pairs and memory" bash -c '
    grep -q "^sph2d, 402 particles, double precision" .out && grep -q "mips in " .out &&
    grep -q "^pairs .* a second" .out && grep -q "^bytes_per_particle" .out && grep -q "^lost  *0 " .out'
check "and so does the report" bash -c '
    grep -q "\"mips\": [0-9]" one.json && grep -q "\"pairs_per_second\": [0-9]" one.json &&
    grep -q "\"domain\": {\"particles\": 402, \"fluid\": 144, \"dynamic\": 258" one.json'
check "the last step ends at time.end, and outputs are those of the case" bash -c '
    grep -q "^86,0.029999999999999999,number,number_00000086.npy," one/index.csv &&
    grep -q "^40,.*,velocity,particles_00000040.vtp," one/index.csv && grep -q "^80,.*,kind,kind_00000080.npy," one/index.csv'
check "vectors have a row for each particle" bash -c '
    grep -aq "<f8.*(402, 2)" one/position_00000040.npy && grep -aq "<f8.*(402,)" one/density_00000040.npy'
check "energies are measured: what falls gets faster" bash -c '
    head -1 one/diagnostics.csv | grep -qx "step,time,kinetic,potential,fluid" &&
    awk -F, "NR > 2 && (\$3 <= k || \$4 >= p || \$3 + \$4 > e * 1.003) {exit 1} NR > 1 {k = \$3; p = \$4} NR == 2 {e = k + p}" one/diagnostics.csv'

check "probes are measured as often" bash -c '
    [ "$(cut -d, -f1,2 one/probes.csv)" = "$(cut -d, -f1,2 one/diagnostics.csv)" ] &&
    head -1 one/probes.csv | grep -qx "step,time,wall,jet_x,jet_z,height3,height4"'
# rho g H at the bottom, H at the left wall; nothing where it is dry. Water falls to the right.
check "the pressure of water at rest is that of its depth, and the surface where it is" awk -F, '
    function far(a, b) { return a > b * 1.001 || a < b * 0.999 }
    NR == 2 && (far($3, 2354.4) || $4 != 0 || far($6, 0.24)) { exit 1 }
    NR > 2 && ($4 <= x || $5 >= z || $6 >= h) { exit 1 }
    NR > 1 { x = $4; z = $5; h = $6; if ($7 != "nan") exit 1 }
    END { if (NR < 5) exit 1 }' one/probes.csv
try check drop.yaml --set 'scene.probes=[{height: [0.2], name: kinetic}]'
fails 2 "a probe does not replace a quantity" "scene.probes" "is the name of a quantity"
try run drop.yaml --on serial --quiet --output asoutputs --set diagnostics.every=0 --set output.every=0 --set output.every_seconds=0.01
check "without diagnostics as often as there are outputs" bash -c '[ "$(cut -d, -f1 asoutputs/probes.csv | paste -sd,)" = step,0,29,57,86 ]'
try run drop.yaml --on serial --output never --steps 1 --set diagnostics.every=0 --set output.every=0
check "or not at all, which is said" grep -q "probes     4, not measured: nothing says when; give diagnostics.every" .err

# 3 * 0.1 is more than 0.3 in binary.
cat >tenths.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.1
  to: [0.8, 0.6]
  fluid: [{box: {from: [0, 0], to: [0.3, 0.3]}}]
  walls: [{sides: [bottom, left, right]}]
  probes: [{height: [0]}]
time: {end: 0.3}
output: {every_seconds: 0.1}
diagnostics: {every_seconds: 0.1}
YAML
try run tenths.yaml --on serial --quiet --output tenths
check "what is due at multiples of 0.1 s is there at 0.3 s" bash -c '
    [ "$(tail -1 tenths/diagnostics.csv | cut -d, -f2)" = 0.29999999999999999 ] &&
    [ "$(cut -d, -f1 tenths/diagnostics.csv)" = "$(cut -d, -f1 tenths/probes.csv)" ] && [ "$(wc -l <tenths/diagnostics.csv)" = 5 ] &&
    [ "$(cut -d, -f1 tenths/index.csv | sort -u | wc -l)" = 4 ]'

try check tenths.yaml --set scene.spacing=0.08
check "a size that is no whole number of spacings is said, as it becomes" grep -q \
    "^rounded    scene's box is 0.56 m long along z, 7 spacings, not 0.6 m (the first of 3 such lengths)" .out
try check tenths.yaml --set 'scene.obstacles=[{box: {from: [0.2, 0], to: [0.2, 0.2]}}, {box: {from: [0.4, 0], to: [0.6, 0.213]}}]'
check "with its key where --set gives it; what is flat has no size of its own" grep -q \
    "^rounded    scene.obstacles is 0.2 m long along z, [0-9]* spacings, not 0.213 m$" .out

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    strace -f -c -o flushes -e trace=fsync,fdatasync,syncfs "$STRAKE" run tenths.yaml --on serial --quiet --output flushed \
        --set output.every_seconds=0.01 --set checkpoint.every=20 2>/dev/null
    check "small outputs do not wait for the disk one by one: all are flushed before a checkpoint and at the end" awk '
        / syncfs/ { all = $4 } / f(data)?sync/ { each += $4 } END { exit !(all >= 2 && each < 60) }' flushes
else
    skip "small outputs do not wait for the disk one by one" "no strace"
fi

device=
if [ -z "${STRAKE_TESTS_CPU_ONLY:-}" ] && "$STRAKE" devices | grep -q '^ocl:0'; then
    device=ocl:0
else
    skip "the same bytes from ocl:0" "no OpenCL device"
fi
# What was tuned for some scheme is taken for others; what does not work on a device is told and left out.
"$STRAKE" devices --json >devices.json
fact() { # fact PLACE KEY: what devices.json says of it
    sed -n "/\"id\": \"$1\"/s/.*[{,] *\"$2\": \"*\([^\",]*\).*/\1/p" devices.json
}
tuned() { # tuned FILE PLACE PLATFORM DEVICE SETTINGS
    cat >"$STRAKE_CACHE_DIR/tuned-$1.yaml" <<YAML
strake_tuned: 1
place: $2
platform: "$3"
device: "$4"
vendor: ""
driver: ""
architecture: ""
problem: "sph2d"
precision: double
table: "00000000000000aa"
generator: 3
date: "2026-11-23"
effort: full
classes:
  - grid: [1, 1, 500]
    settings: {$5}
    seconds_per_step: 0.001
    spread: 0.01
    excess: 0.01
    default_seconds_per_step: 0.002
    baseline_seconds_per_step: 0
    evaluated: 2
    search_ended: complete
    tried: 2
    failed: 0
    possible: 2
    disturbed: 0
    space: ""
complete: true
YAML
    chmod 600 "$STRAKE_CACHE_DIR/tuned-$1.yaml"
}
export STRAKE_CACHE_DIR=$scratch/programs
mkdir -m 700 "$STRAKE_CACHE_DIR"
tuned 0000000000000001 cpu "OpenMP, $(fact cpu cores) cores" "$(fact cpu name)" "run.instruction_set: base"
try run drop.yaml --on cpu --output two --report tuned.json --set checkpoint.every=30
check "tuned settings are taken, with the same bytes" bash -c '
    grep -q "^cpu *tuned: variant, for 500 particles; .*another variant" .out && diff -rq -x run.json -x index.csv one two >&2 &&
    grep -q "\"instruction_set\": \"base\".*\"settings\": \"run.instruction_set=base\"" tuned.json'
try run drop.yaml --on cpu --output two --set run.tuned=false --set checkpoint.every=30
lacks "or not, if the case says so" 'tuned:' .out
rm -rf two
"$STRAKE" devices >listed
check "and listed" grep -q "sph2d double, 1 size" listed
if [ -n "$device" ]; then
    tuned 0000000000000002 opencl "$(fact ocl:0 platform)" "$(fact ocl:0 name)" "run.group_width: 48"
fi
for run in 'cpu --threads 3' serial $device; do
    # shellcheck disable=SC2086
    try run drop.yaml --on $run --quiet --output two --set checkpoint.every=30
    check "the same bytes from $run" same one two
    [ "$run" != "$device" ] || check "tuned settings that fail are told and left out" grep -q \
        "ocl:0: its tuned settings fail and are left out: run.group_width: 48 work-items: groups of particles have a multiple of 32" .err
    rm -rf two
done
# That was a program as users get it. What follows is about who computes what, and compiling took most of its time.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
if [ -n "$device" ]; then
    try run drop.yaml --on "cpu,$device" --threads 1 --quiet --output two --set diagnostics.every=0 --set output.every=0 --set output.every_seconds=0.01
    check "outputs after times are those of the same steps" same asoutputs two
    rm -rf two
    # By their work, and moved while they run; as given; and stopped in the midst of an order, to go on on one.
    for parts in "cpu,$device" "$device,cpu,$device --split 2,3,3"; do
        # shellcheck disable=SC2086
        try run drop.yaml --on $parts --threads 1 --output two --report two.json --set checkpoint.every=30
        check "the same bytes from $parts" same one two
        rm -rf two
    done
    check "each of them had particles" bash -c '
        tr -d "\n" <two.json | grep -oE "\"rows\": \[[0-9]+, [0-9]+\]" | tr -d "[:,]" | awk "{if (\$2 >= \$3) exit 1} END {exit NR != 3}"'
    # Bytes of forces: of cuts between three parts; 56 of what a device finds come down with those of its first passes.
    check "what is exchanged and waited for is told of a step, the same bytes sent and received" bash -c '
        tr -d "\n" <two.json | grep -oE "\"bytes_sent_per_step\": .*\"orders\": [0-9]+" >/dev/null &&
        grep -oE "\"(bytes_sent|bytes_received|transfers_received|order_seconds|time_step_seconds|forces_seconds)_per_step\": [0-9.e+-]+" two.json |
            tr -d "\":" | awk "{n[\$1]++; s[\$1] += \$2; v[\$1, n[\$1]] = \$2}
                END {extra = s[\"bytes_sent_per_step\"] - s[\"bytes_received_per_step\"]
                     exit !(n[\"bytes_sent_per_step\"] == 3 && s[\"bytes_received_per_step\"] > 0 && extra >= 0 && extra <= 112 &&
                            v[\"transfers_received_per_step\", 1] == 2 && v[\"transfers_received_per_step\", 2] == 4 &&
                            s[\"forces_seconds_per_step\"] > 0 && s[\"time_step_seconds_per_step\"] > 0)}" &&
        grep -qE "^a step +bytes out +bytes in" .out && grep -qE "^ocl:0 +[0-9]+ +[0-9]+ +[0-9.]+ " .out'
    try run drop.yaml --on "cpu,$device" --threads 1 --split 3,13 --set run.balance=slice --quiet --output two --report two.json --set checkpoint.every=30
    check "the same bytes where slices move one by one" same one two
    check "as the rule says" bash -c 'grep -o "\"rows\": \[[0-9]*, [0-9]*\], \"seconds\"" two.json | tr -d "[:,]" |
        awk "NR > 1 && (\$2 - was > 1 || was - \$2 > 1) {exit 1} {was = \$2} END {exit NR < 2}"'
    if command -v python3 >/dev/null; then
        check "which can be replayed with other thresholds, from the report" bash -c '
            grep -q "\"policy\": \"slice\", \"threshold\": 0.5" two.json && python3 "$0" two.json --thresholds 0.3,0.6,1e9 >sweep.csv &&
            awk -F, "NR > 1 {t[\$1] = \$2; m[\$1] = \$4; split(\$5, r, \"+\"); if (r[1] + r[2] != 16) exit 1}
                END {exit NR != 5 || m[\"1e+09\"] != 0 || t[\"exact\"] > t[\"1e+09\"]}" sweep.csv' "$(dirname "$outputs")/../../bench/parts.py"
        idle() { # idle REPORT: what a replay of it says, which is to fail
            python3 "$(dirname "$outputs")/../../bench/parts.py" "$1" --thresholds 1 2>&1 >/dev/null && echo done
        }
        try run drop.yaml --on "cpu,$device" --threads 1 --split 1,1 --steps 20 --quiet --output idle --report fixed.json
        check "a run that looks at nothing is not, which says what is" test "$(idle fixed.json)" = \
            "fixed.json: no look at a balance by work; expected a run of several parts, of particles or of a problem that leaves out cells (lava), with run.balance: model or slice"
        try run drop.yaml --on "$device,cpu,$device" --threads 1 --split 9,6,1 --set run.balance=slice --set run.balance_threshold=1e9 --quiet --output idle --report dry.json
        check "nor one with a part that has only slices of walls, which is named" test "$(idle dry.json | cut -d, -f1,2)" = \
            "dry.json: part 1, 2 had no work at any look"
    fi
    rm -rf two
    # Rooms grow while slices move: what groups found keeps its place.
    many=(--set scene.spacing=0.01 --set time.end=0.1 --set 'output.fields=[position]' --set 'output.formats=[npy]' --set diagnostics.every=0)
    try run drop.yaml --on cpu --threads 2 --quiet --output grown "${many[@]}"
    for moving in "--split 20,12 --set run.balance=slice" "--split 15,1 --set run.balance=slice --set run.group_width=32"; do
        # shellcheck disable=SC2086
        try run drop.yaml --on "$device,$device" --quiet --output two "${many[@]}" $moving
        check "the same bytes where rooms grow, $moving" same grown two
        rm -rf two
    done
    for word in fail lost hang; do
        # Who is only slow, because others have the processors, must not count as hung.
        patience=20
        [ $word != hang ] || patience=0.5
        injected $word:$device@40 try run drop.yaml --on "cpu,$device" --split 1,1 --threads 1 --quiet --output two --set checkpoint.every=30 --set run.hang_seconds=$patience
        check "$word: the processors go on where a device leaves off, to the same bytes" same one two
        check "$word: which is told" grep -q "$device is dropped after step .*; the other parts do its work, again from step" .err
        rm -rf two
    done
    injected hang:$device@40 try run drop.yaml --on "$device,cpu" --split 1,0 --threads 1 --quiet --output two --set checkpoint.every=30 --set run.hang_seconds=0.1
    check "a device that hangs with all slices is dropped, too" grep -q "$device is dropped after step .*; the other parts do its work, again from step" .err
    check "to the same bytes" same one two
    rm -rf two
    # Lists that last as long as the run: slices are given away, and there is no order at which anybody would take them.
    try run drop.yaml --on serial --quiet --output slack --set scheme.skin=0.5
    for word in fail:$device@70 lost:$device@70; do
        injected $word try run drop.yaml --on "cpu,$device" --split 1,2 --threads 1 --quiet --output two --set scheme.skin=0.5 --set run.balance=bisection
        check "$word: a device whose slices are to go to others is dropped, to the same bytes" same slack two
        check "$word: which is told" grep -q "$device is dropped after step" .err
        rm -rf two
    done
    rm -rf slack
    # It has no slices: nothing of it fails.
    injected fail:$device@40 try run drop.yaml --on "$device,cpu" --split 0,1 --threads 1 --quiet --output two --set checkpoint.every=30 --set run.balance=fixed
    check "who has no slices fails nobody" same one two
    rm -rf two
    try run drop.yaml --on "$device,cpu" --split 1,1 --quiet --output cut --steps 43 --set checkpoint.every=43
    try run drop.yaml --on cpu --quiet --output cut --resume cut/checkpoint.strake --set checkpoint.every=30
    rm -f cut/*_00000043.*
    check "the same bytes when two parts are stopped and one goes on" same one cut
    rm -rf cut
else
    skip "several parts" "no OpenCL device"
fi
if [ -n "$device" ] && [ "${STRAKE_TESTS_LONG:-}" = 1 ]; then
    # A thousand steps in which streams pass every slice, round the end; densities are filtered.
    cat >round3.yaml <<'YAML'
problem: sph3d
scene:
  spacing: 0.05
  to: [1.0, 0.2, 0.3]
  periodic: [x]
  fluid: [{box: {from: [0, 0, 0], to: [1.0, 0.2, 0.1]}, velocity: [3, 0, 0]}, {box: {from: [0.4, 0, 0.1], to: [0.6, 0.2, 0.2]}, velocity: [-2, 0, 0]}]
  walls: [{sides: [front, back, bottom]}]
scheme: {sound: 30, slices: x, shepard: 30}
time: {steps: 1000, end: 10}
output: {every: 250, fields: [position, velocity, density]}
checkpoint: {every: 400}
YAML
    sed 's/sph3d/sph2d/; s/, 0\(\.[0-9]\)\?, /, /g; s/front, back, //; s/0\.05/0.04/' round3.yaml >round2.yaml
    seven="$device,$device,$device,cpu,$device,$device,$device"
    for dims in 2 3; do
        for precision in double single; do
            try run round$dims.yaml --on cpu --threads 1 --quiet --output long --set precision=$precision
            check "${dims}D, $precision: a thousand steps" test -e long/density_00001000.npy
            for on in "$device" "$device,$device" "cpu,$device --split 1,2" "$device,cpu,$device" "$seven"; do
                # shellcheck disable=SC2086
                try run round$dims.yaml --on $on --threads 1 --quiet --output other --set precision=$precision
                check "the bytes of $on" same long other
                rm -rf other
            done
            for rule in slice bisection; do
                try run round$dims.yaml --on "cpu,$device" --split 1,3 --threads 1 --quiet --output other --report moved.json \
                    --set precision=$precision --set run.balance=$rule
                check "those of parts by run.balance: $rule" same long other
                check "between which slices move" bash -c '
                    [ "$(grep -o "\"rows\": \[[0-9]*, [0-9]*\], \"seconds\"" moved.json | sort -u | wc -l)" -gt 1 ]'
                rm -rf other
            done
            injected fail:$device@700 try run round$dims.yaml --on "cpu,$device" --split 1,1 --threads 1 --quiet --output other --set precision=$precision
            check "those where a device fails between" same long other
            check "which it did" grep -q "$device is dropped after step" .err
            rm -rf other
            try run round$dims.yaml --on "$device,cpu" --threads 1 --quiet --output other --set precision=$precision --steps 500 --set checkpoint.every=500
            try run round$dims.yaml --on "$seven" --threads 1 --quiet --output other --set precision=$precision --resume other/checkpoint.strake
            check "and those where others go on" cmp long/density_00001000.npy other/density_00001000.npy
            rm -rf other long
        done
    done
fi
# What moves: a wall that sways, one that turns, gravity that rocks; particles slip.
cat >moves.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [0.8, 0.4]
  fluid: [{box: {from: [0.04, 0], to: [0.3, 0.12]}}]
  walls: [{sides: [bottom, right]}]
  obstacles:
    - {box: {from: [0, 0], to: [0.04, 0.3]}, motion: {along: [1, 0], sine: {amplitude: 0.02, period: 0.1}}}
    - {sphere: {center: [0.5, 0.1], radius: 0.06}, motion: [{along: [-1, 0], rate: 0.5}, {about: [0.5, 0.1], rate: 90}]}
  gravity: {about: [0, 0], rate: 200}
scheme: {slip: free}
time: {end: 0.03}
output: {every: 40}
checkpoint: {every: 40}
YAML
try run moves.yaml --on serial --quiet --output moved
exits 0 "walls, bodies and gravity move"
for run in 'cpu --threads 2' ${device:+"$device" "cpu,$device --split 1,1" "$device,cpu,$device --split 2,3,3"}; do
    # shellcheck disable=SC2086
    try run moves.yaml --on $run --quiet --output two
    check "what moves has the same bytes from $run" same moved two
    rm -rf two
done
try run moves.yaml --on cpu --quiet --output two --steps 40
try run moves.yaml --on "${device:-cpu}" --quiet --output two --resume two/checkpoint.strake
check "and goes on from a checkpoint" same moved two
rm -rf two
# The same without a floor: particles have left when it is stopped, and go on leaving.
leaky=(--set 'scene.walls=[{sides: [right]}]' --set time.end=0.12 --set 'output.fields=[position]' --set output.every=200)
try run moves.yaml --on serial --quiet --output leaked "${leaky[@]}" --set checkpoint.every=75
try run moves.yaml --on cpu --quiet --output two "${leaky[@]}" --steps 75 --set checkpoint.every=75
try run moves.yaml --on "${device:-cpu}" --quiet --output two "${leaky[@]}" --set checkpoint.every=75 --resume two/checkpoint.strake
rm two/*_00000075.npy
check "where particles have left beside what moves a checkpoint goes on to the same bytes" same leaked two
check "they left before and after it" awk -F, 'NR > 1 {before += $1 <= 75; after += $1 > 75} END {exit !(before && after)}' two/lost.csv
rm -rf two
# Water that has run to the other end: a checkpoint has its work elsewhere than the case at its start, and is shared by that.
cat >slope.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [1.2, 0.4]
  fluid: [{box: {from: [0, 0], to: [0.2, 0.3]}}]
  walls: [{sides: [bottom, left, right]}]
parameters: {gravity: [8, -5]}
time: {end: 0.6}
output: {every_seconds: 1}
checkpoint: {every_seconds: 0.5}
YAML
if [ -n "$device" ]; then
    try run slope.yaml --on cpu --quiet --output slope --set time.end=0.5 --report slope.json
    now=$(sed -n 's/.*"case": {.*"steps": \([0-9]*\).*/\1/p' slope.json)
    for parts in cpu "$device,$device"; do
        try run slope.yaml --on $parts --quiet --output "to-${parts##*,}" --resume slope/checkpoint.strake --steps $((${now:-0} + 60)) --report halves.json
    done
    exits 0 "two parts go on from a checkpoint of water that has run to the other end"
    check "to the same bytes" same to-cpu "to-$device"
    check "and have about as much work each when that is looked at first" awk '
        match($0, /"work": \[[^]]*\]/) {
            split(substr($0, RSTART + 9, RLENGTH - 10), work, /, */)
            off = (work[1] - work[2]) / (work[1] + work[2])
            good = off < 0.3 && off > -0.3
            exit
        }
        END { exit !good }' halves.json
fi
# Lists without a skin, as the paper has them.
for run in serial 'cpu --threads 2' ${device:+"$device"}; do
    # shellcheck disable=SC2086
    try run drop.yaml --on $run --quiet --output "bare-${run%% *}" --steps 40 --set scheme.skin=0 --set scheme.rebuild=10
done
check "lists without a skin serve as many steps as said, with the same bytes" same bare-serial bare-cpu
[ -z "$device" ] || check "also from $device" same bare-serial "bare-$device"
if [ -n "$device" ]; then
    cat >torus.yaml <<'YAML'
problem: sph3d
precision: single
scene:
  spacing: 0.05
  to: [0.6, 0.6, 0.4]
  periodic: [x, y]
  fluid: [{box: {from: [0, 0, 0], to: [0.6, 0.6, 0.2]}, velocity: [2, 1, 0]}]
  walls: [{sides: [bottom]}]
scheme: {slices: z, sound: 30}
time: {end: 10, steps: 5}
YAML
    try run torus.yaml --on serial --quiet --output torus
    POCL_KERNEL_CACHE=0 STRAKE_CACHE_DIR=none try run torus.yaml --on "$device" --quiet --output two
    check "kernels of a scene that repeats itself in y compile without a warning" test "$code" = 0 -a ! -s .err
    check "to the same bytes" same torus two
    mkdir dumped
    try run torus.yaml --on "cpu,$device" --split 1,1 --quiet --output two --set run.dump_kernels=dumped
    check "their source is written where a case asks for it" grep -q "^__kernel void sph_predict" dumped/sph3d_single_*.cl
    try run torus.yaml --on "$device" --quiet --output two --set run.dump_kernels=missing
    fails 1 "a folder for it that does not exist" "missing/" "run.dump_kernels" "existing folder"
    rm -rf two torus
    try run moves.yaml --on serial --quiet --output filtered --set scheme.shepard=7
    try run moves.yaml --on "$device,cpu,$device" --split 2,3,3 --quiet --output two --report filters.json --set scheme.shepard=7
    check "parts filter densities to the same bytes" same filtered two
    # 10 filters in 74 steps: forces and densities come twice and 10/74 times a step, to the one between from both sides.
    check "which go the way of forces" test "$(grep -o '"transfers_received_per_step": [0-9.]*' filters.json |
        awk '{printf "%.4f ", $2}')" = "2.1351 4.2703 2.1351 "
    try run moves.yaml --on "$device,cpu" --quiet --output two --set scheme.shepard=7 --steps 42
    try run moves.yaml --on "cpu,$device" --split 3,5 --quiet --output two --set scheme.shepard=7 --resume two/checkpoint.strake
    check "also other ones that go on right at a filter" cmp filtered/density_00000074.npy two/density_00000074.npy
    rm -rf two
fi
for precision in double single; do
    try run drop.yaml --on serial --quiet --output whole --set precision=$precision --set checkpoint.every=30
    for step in 17 43; do
        try run drop.yaml --on cpu --quiet --output cut --set precision=$precision --steps $step --set checkpoint.every=$step
        try run drop.yaml --on cpu --quiet --output cut --set precision=$precision --resume cut/checkpoint.strake --set checkpoint.every=30
        rm -f cut/*_000000$step.*
        check "$precision: the same bytes when it was stopped after step $step" same whole cut
        rm -rf cut
    done
    rm -rf whole
done
try compare one/checkpoint.strake one/checkpoint.strake
exits 0 "checkpoints of particles are compared"
try run drop.yaml --set scene.spacing=0.021 --resume one/checkpoint.strake --quiet
fails 2 "a checkpoint of another scene is refused" "belongs to another case"
try run drop.yaml --set precision=single --resume one/checkpoint.strake --quiet
fails 2 "and one of the other precision, truly" "belongs to another case: precision is double there and single in drop.yaml"

if command -v python3 >/dev/null; then
    good=0
    for name in density pressure kind number; do
        python3 "$outputs" vtp one/particles_00000040.vtp $name | cmp -s - <(values one/${name}_00000040.npy) || good=1
    done
    report $good "the values of .vtp files are those of the .npy files"
    flat() { # flat: doubles of which every second one of three is dropped, as 2D has it
        python3 -c 'import struct, sys
v = [x for (x,) in struct.iter_unpack("<d", sys.stdin.buffer.read())]
assert not any(v[1::3])
sys.stdout.buffer.write(b"".join(struct.pack("<dd", *p) for p in zip(v[::3], v[2::3])))'
    }
    python3 "$outputs" vtp one/particles_00000040.vtp position | flat | cmp -s - <(values one/position_00000040.npy)
    report $? "points have three coordinates, the middle one 0 in 2D"
else
    skip "the values of .vtp files" "no python3"
fi
check "the series has all outputs, also those before it was resumed" bash -c '
    [ "$(grep -c "<DataSet" one/particles.pvd)" -eq "$(ls one/*.vtp | wc -l)" ]'

try run drop.yaml --on serial --quiet --steps 40 --output narrow --set precision=single
check "in single precision fields are float32, and where particles are stays float64" bash -c '
    for f in velocity density pressure; do grep -aq "<f4" narrow/${f}_00000040.npy || exit 1; done
    for f in position kind number; do grep -aq "<f8" narrow/${f}_00000040.npy || exit 1; done
    grep -aq "Float32. Name=.velocity\|Name=.velocity. .*Float32\|type=.Float32. Name=.velocity" narrow/particles_00000040.vtp'
if command -v python3 >/dev/null; then
    for name in density pressure; do
        python3 "$outputs" vtp narrow/particles_00000040.vtp $name | cmp -s - <(values narrow/${name}_00000040.npy)
        report $? "the same in .vtp files: $name"
    done
fi
try view narrow
exits 0 "which are shown, too"

# A round tank is tight: water comes to rest in it.
cat >bowl.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.05
  from: [-0.5, 0]
  to: [0.5, 1]
  fluid: [{box: {from: [-0.35, 0.25], to: [0.35, 0.5]}}]
  walls: [{sphere: {center: [0, 0.5], radius: 0.45}}]
time: {end: 1}
YAML
try run bowl.yaml --on cpu --output bowl
check "a round vessel holds its water" grep -q "^lost  *0 " .out

cat >fall.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [0.4, 0.3]
  fluid: [{box: {from: [0.1, 0.02], to: [0.2, 0.1]}}]
time: {end: 0.2}
scheme: {sound: 20}
output: {every: 100, formats: [npy, vtp]}
YAML
try run fall.yaml --on cpu --output fall --report fall.json --set checkpoint.every=250
exits 0 "a fluid falls out of its box to the last particle"
check "which is told, and counted" bash -c '
    grep -q "warning: 5 particles have left the box by step 206, t = .* (the first: number 0, fluid, at \[0.1[01].*, -0.00.*\] m)" .err &&
    grep -q "^lost  *20 " .out && grep -q "^the last one lost  *19  fluid, by step 349" .out'
check "kept on record one by one" bash -c '
    head -1 fall/lost.csv | grep -qx "step,time,number,kind,x,z" && [ "$(tail -n +2 fall/lost.csv | cut -d, -f3 | sort -un | wc -l)" = 20 ] &&
    tail -n +2 fall/lost.csv | sort -c -t, -k1,1n -k3,3n && awk -F, "NR > 1 && (\$6 >= 0 || \$6 < -0.01 || \$4 != 0) {exit 1}" fall/lost.csv'
check "and in the report" bash -c '[ "$(grep -c "{\"number\": [0-9]*, \"kind\": \"fluid\", \"step\"" fall.json)" = 20 ]'
check "files of no particles are written" grep -aq 'NumberOfPoints="0"' "fall/$(basename "$(ls fall/*.vtp | tail -1)")"
check "in arrays who left keeps a row" bash -c '
    last=$(ls fall/kind_*.npy | tail -1); [ "$(stat -c %s "$last")" -eq $((128 + 8 * 20)) ] &&
    [ "$(tail -c +129 "$last" | od -An -v -tf8 -w8 | sort -u | tr -d " ")" = 3 ]'
# Slices are cut along the longest side of the box, unless the case says otherwise.
tall=(--set scene.to=[0.4,0.5] --quiet --steps 50)
try check fall.yaml --on serial --set scene.to=[0.4,0.5]
check "slices lie along the direction with most of them" grep -q "^domain .* 0.4 m, z .* 0.5 m (slices)" .out
check "a check tells how many steps there are at least" grep -q "^ *513 steps or more, as accelerations will have it" .out
try check fall.yaml --on serial --set scene.to=[0.4,0.5] --set scheme.slices=x --set time.steps=90
check "or that the case has fewer" grep -q "^ *90 steps, which end before that" .out
check "or where a case has them" grep -q "^domain .* 0.4 m (slices), z .* 0.5 m" .out
try run fall.yaml --on serial --output tall "${tall[@]}"
try run fall.yaml --on cpu --output upright "${tall[@]}" --set scheme.slices=z
check "the same bytes as where it says so" cmp tall/density_00000050.npy upright/density_00000050.npy
# The slices of a part may be empty: at its lower end, at its upper one, all of them.
if [ -n "$device" ]; then
    try run fall.yaml --on ocl:0,cpu,ocl:0 --split 1,1,1 --quiet --output shared --set checkpoint.every=250
    check "parts with empty slices make the same bytes, and the same record of who left" same fall shared
    # Steps that are taken again count once; the copy that they go on from is mostly that of the beginning.
    two=(--on "$device,cpu" --split 1,1 --threads 1 --quiet --set run.balance=fixed --set checkpoint.every=250)
    try run fall.yaml "${two[@]}" --output shared --report shared.json
    rm -rf shared
    injected fail:$device@340 try run fall.yaml "${two[@]}" --output shared --report broken.json
    check "who left in steps that are taken again is on record once" same fall shared
    check "in the report, too" test "$(grep -c '{"number": [0-9]*, "kind": "fluid", "step"' broken.json)" = 20
    check "and pairs of neighbours are counted once" test "$(grep -o '"pairs": [0-9]*' broken.json)" = "$(grep -o '"pairs": [0-9]*' shared.json)"
fi
cp -r fall full
try run fall.yaml --on "${device:-serial}" --quiet --output full --resume fall/checkpoint.strake
check "the record goes on where a run does, without doubles" cmp full/lost.csv fall/lost.csv
try run fall.yaml --on serial --quiet --output again --resume fall/checkpoint.strake
last=$(basename "$(ls fall/position_*.npy | tail -1)")
check "a run in which particles have left goes on to the same bytes" cmp "again/$last" "fall/$last"

try run drop.yaml --on serial --quiet --output fast --set 'scene.gravity={along: [1, 0], series: [[0, 0], [0.01, 0], [0.0101, 2e6]]}'
fails 1 "who is too fast is named" "particle 133 is so fast, 455" \
    "; particle 133 is fluid and was at [0.31"
try check drop.yaml --on serial --set 'scene.gravity={along: [1, 0], series: [[0, 0], [0.01, 0], [0.0101, 2e6]]}'
fails 1 "trial steps of a check are told to be that" "trial steps fail: drop.yaml: after step 29" "particle 133 is so fast"
for bad in 'scene.fluid[0].velocity=[100, 0]:particle 0 begins at 100 m/s' 'scheme.sound=1:waves as high as the fluid go at 1.53'; do
    try check drop.yaml --set scheme.sound=30 --set "${bad%:*}"
    fails 2 "a case whose sound is slower than its water is refused: ${bad%=*}" "scheme.sound: ${bad##*:}" \
        "expected a scheme.sound of ten times the greatest speed"
done

# Pictures: particles are dots in the colours of a field, walls grey; what strake view draws of a folder is the same.
cat >cube.yaml <<'YAML'
problem: sph3d
scene:
  spacing: 0.05
  to: [0.4, 0.3, 0.3]
  fluid: [{box: {from: [0, 0, 0], to: [0.2, 0.3, 0.2]}, velocity: [1, 0, 0]}]
  walls: [{sides: [bottom, left, front, back]}]
time: {end: 1, steps: 0}
output: {initial: true, fields: [position, velocity, kind, density]}
YAML
NO_COLOR=1 COLUMNS=60 LINES=24 try view one
prints "a folder of particles is shown: water and walls" "velocity (magnitude), step 86, 0.03 s: " "##" "@"
"$STRAKE" run cube.yaml --on serial --quiet --output cube
NO_COLOR=1 COLUMNS=60 LINES=24 try view cube --slice x=0.325
check "a layer without water shows the floor alone" bash -c '
    grep -q "^velocity (magnitude), x = 0.325 m, step 0, 0 s: nan to nan" .out && grep -q "###" .out && ! grep -q "@ *#\|# *@" .out'
NO_COLOR=1 COLUMNS=60 LINES=24 try view cube --along z --range 0,1
check "from above one sees the water, of which there are two thirds beside the wall, and not the floor" bash -c '
    grep -q "^velocity (magnitude), seen along z" .out && [ "$(grep -c "@" .out)" -gt 4 ] && grep -q "^##*@@*  *$" .out'
"$STRAKE" run cube.yaml --on serial --quiet --output points --set output.formats='[vtp]' --set precision=single
NO_COLOR=1 COLUMNS=60 LINES=24 "$STRAKE" view points --along z --range 0,1 >points.txt
check "of files for VTK alone one sees the same" cmp points.txt .out
head -c 3000 points/particles_00000000.vtp >cut && cp cut points/particles_00000000.vtp
try view points
fails 2 "one that is cut off is refused" "particles_00000000.vtp has no position, or is cut off"
try view cube --html cube.html
exits 0 "and on a page"
fields=$(grep -o '"field": "[a-z]*"' cube.html | sort -u | tr -d '\n')
check "with all fields that give colours" test "$fields" = '"field": "density""field": "kind""field": "velocity"'
"$STRAKE" run cube.yaml --on serial --quiet --output moving --set 'scene.walls[0].motion={along: [1, 0, 0], rate: 0.5}' \
    --set time.steps=20 --set output.every=10 --set 'output.fields=[position, velocity, kind]'
"$STRAKE" view moving --html moving.html --field velocity >/dev/null
check "walls that move are stored with each output" test "$(grep -c '"behind": "' moving.html)" -eq 3
check "and others once" test "$(grep -c '"behind": "' cube.html)" -eq 1
check "which every frame of values has behind it" test "$(grep -c '"backdrop": 0' cube.html)" -eq \
    "$(grep -cE '"field": "(density|velocity)"' cube.html)"
try view cube --field density --slice y=0.1 --along y
fails 2 "a slice has its own direction" "give one of them"
try view cube --slice y=7
fails 2 "a layer beyond the box is refused" "there are no particles at y = 7 m; expected -0.15 to 0.45 m"
try view one --slice z=0.1
fails 2 "in 2D there are no layers" "there is no slice and no direction of sight in 2D"
try view cube --slice 3
fails 2 "planes are of grids" "options --slice K, --surface, --contours, --patches and --flat are for grids"
try view cube --field position
fails 2 "positions give no colours" "position says where particles are drawn"
try view one/checkpoint.strake
fails 2 "a checkpoint of particles is not drawn" "is a checkpoint of particles"
cp -r cube bare && rm bare/position_*
try view bare
fails 2 "without positions nothing is drawn" "without which particles cannot be drawn"
cp one/kind_00000086.npy cube/kind_00000000.npy
try view cube
fails 2 "outputs of other runs are refused" "it has other rows or columns"
for bad in 'picture={contours: 3}' 'picture={surface: 1}' 'picture={field: position}' 'picture={slice: {y: 0.1}, along: x}' 'picture={slice: {rows: 1}}'; do
    try check cube.yaml --set 'output.formats=[png]' --set "output.$bad"
    fails 2 "output.$bad is refused" "output.picture"
done
try check cube.yaml --set 'output.formats=[png]' --set 'output.picture={slice: {y: 7}}'
fails 2 "a layer of pictures beyond the box is refused" "output.picture.slice: there are no particles at y = 7 m; expected 0 to 0.3 m"
if "$STRAKE" run drop.yaml --on serial --quiet --set output.formats='[npy, png]' --output drawn 2>/dev/null && command -v python3 >/dev/null; then
    points() { python3 "$outputs" png "$1" :points; }
    check "pictures are outputs" grep -q "^40,.*,velocity,velocity_00000040.png," drawn/index.csv
    "$STRAKE" view drawn --png seen.png >/dev/null
    check "which strake view draws, too" test "$(points seen.png)" = "$(points drawn/velocity_00000086.png)"
    "$STRAKE" run drop.yaml --on cpu --quiet --set output.formats='[npy, png]' --output drawn2
    check "the same wherever it runs" cmp drawn/velocity_00000086.png drawn2/velocity_00000086.png
    "$STRAKE" run drop.yaml --on serial --quiet --steps 1 --set output.formats='[png]' --set output.picture='{parts: true, map: gray}' --output parts
    check "or in the colours of who computes" test "$(python3 "$outputs" png parts/velocity_00000001.png Title)" = "the part that computes"
    "$STRAKE" run cube.yaml --on serial --quiet --set output.formats='[png]' --set output.picture='{slice: {x: 0.1}, range: [0, 2], map: gray}' --output layer
    # A particle of the water, at half of the range; one of the left wall; above the water.
    check "a layer of the case" test "$(python3 "$outputs" png layer/velocity_00000000.png 359 433 109 383 384 150 | paste -sd,)" = \
        "128 128 128,144 144 144,255 255 255"
else
    skip "pictures of particles" "no cairo or no python3"
fi

try run drop.yaml --steps 20 --output idle
check "without a GPU auto is the CPU, by default" bash -c 'grep -q "no GPU here: .auto. runs on the CPU alone" .err && grep -q "^cpu " .out'
try check drop.yaml --on cpu --report check.json
check "a case is checked where it would run, with a forecast" bash -c '
    grep -q "^particles  402: 144 fluid" .out && grep -q "^memory .* KiB where they are computed, [0-9]* bytes a particle$" .out && grep -q "^cpu .* 16  100 %" .out &&
    grep -q "^prediction .* ms a step at the beginning.* mips$" .out && grep -q "\"seconds_per_step\": [0-9]" check.json'
try check fall.yaml --on cpu
check "who leaves the box in its trial steps is counted, not warned of" bash -c '
    grep -q "^lost  *[0-9]* particles left the box in these [0-9]* steps$" .out && ! grep -q warning .err'
little_memory
try model drop.yaml --on cpu --budget 1 --quiet --report model.json
check "a model counts pairs, and measures beside what it predicts" bash -c '
    grep -q "402 particles, double precision; at least 2 bytes and [0-9]* operations a pair" .out &&
    grep -q "^  cpu  *1[67]\.[0-9] " .out && grep -q "\"predicted_mips\": [0-9].*\"measured_mips\": [0-9]" model.json'
support=$(dirname "$outputs")
if [ -n "$device" ] && "${CC:-cc}" -shared -fPIC -o gpu.so -Wl,--no-as-needed "$support/gpu_opencl.c" -l:libOpenCL.so.1 -ldl 2>/dev/null; then
    STRAKE_OPENCL_LIBRARY=$PWD/gpu.so try run drop.yaml --output two --report auto.json --set checkpoint.every=30
    check "with a GPU auto measures each, then both, and takes what is fastest, to the same bytes" bash -c '
        grep -q "auto: \(cpu\|ocl:0\|hybrid\), about [0-9.]* ms a step" .err && diff -rq -x run.json -x index.csv one two >&2 &&
        [ "$(grep -c "\"why\": \"measured alone\"" auto.json)" -eq 2 ] && grep -q "measured together" auto.json && [ "$(grep -c "\"why\": \"the fastest\"" auto.json)" -eq 1 ]'
    STRAKE_TEST_SLOW=50000 STRAKE_OPENCL_LIBRARY=$PWD/gpu.so try run drop.yaml --on ocl:0,cpu --threads 1 --output two --report slow.json --set checkpoint.every=30
    check "who is too slow to make steps shorter has no slices from the first step on, to the same bytes" bash -c '
        grep -q "ocl:0 begins without slabs: with it a step would not be 3 % shorter" .err && diff -rq -x run.json -x index.csv one two >&2 &&
        grep -q "\"where\": \"ocl:0\".*\"why\": \"measured on [0-9]* of [0-9]* slabs\"" slow.json &&
        grep -q "\"id\": \"ocl:0\".*\"share_changes\": 0.*\"rows\": \[0, 0\]" slow.json'
    for on in ocl:0 "ocl:0,cpu --split 1,0"; do
        # shellcheck disable=SC2086
        STRAKE_TEST_LAUNCHES=launches-${on##*,} STRAKE_OPENCL_LIBRARY=$PWD/gpu.so try run drop.yaml --on $on --steps 80 \
            --output "idle-${on##*,}" --report "idle-${on##*,}.json"
        sed -n 's/.*"id": "ocl:0".*\("steps_per_sweep": [0-9]*\).*/\1/p' "idle-${on##*,}.json" >>"launches-${on##*,}"
    done
    check "a device beside processors without slices is given what a lone one is, as much of it at once, for the same bytes" bash -c '
        [ "$(wc -l <launches-0)" -eq 2 ] && [ "$(head -1 launches-0)" -ge 240 ] && cmp launches-0 launches-ocl:0 && diff -rq -x run.json -x index.csv idle-0 idle-ocl:0 >&2'
    rm -rf idle-*
else
    skip "auto with a GPU" "no OpenCL device, or no library to link with"
fi
# needs 1 or 2: bytes that a refusal says to be needed, without and with lists
needs() {
    sed -n "s/.* need \([0-9]*\) bytes at least, with their lists about \([0-9]*\), .*/\\$1/p" .err
}
if [ -n "$device" ]; then
    try run drop.yaml --on "$device" --quiet --output idle --steps 1 --set run.device_memory=20kB
    fails 2 "particles that need more than run.device_memory are refused" "402 particles need " \
        "run.device_memory allows 20000; raise run.device_memory, or give the device fewer of them"
    needed=$(needs 1)
    try run drop.yaml --on "$device" --quiet --output idle --steps 1 --set run.device_memory=1kB
    fails 2 "with what all arrays need, not the first that does not fit" "402 particles need $needed bytes at least" "allows 1000;"
    # With one byte more than this lists are what is short of memory: the first ones are counted before anything is written.
    try run drop.yaml --on "$device" --quiet --output early --steps 1 --set run.device_memory="$needed"
    lists=$(needs 1)
    fails 2 "lists of the first order are refused before it" "402 particles need $lists bytes at least" "allows $needed;"
    try run drop.yaml --on "$device" --quiet --output early --steps 1 --set run.device_memory=$((${lists:-1} - 1))
    fails 2 "for want of a byte, too" "need $lists bytes at least"
    check "nothing is written then" test ! -e early
    try run drop.yaml --on "$device" --quiet --output early --steps 1 --set run.device_memory="$lists"
    check "and they need no more" test "$code" -eq 0
    try run drop.yaml --on "$device" --output idle --steps 1 --set run.device_memory=1MB
    check "others are not, and the key is not told to be idle" bash -c '[ "$0" -eq 0 ] && ! grep -q "no effect" .err' "$code"
    # More of them than a device has memory for: it refuses, gets fewer beside others, or all together are short of it.
    many=(--steps 20 --quiet --set scene.spacing=0.005 --set output.every=20 --set run.device_memory=800kB)
    try run drop.yaml --on cpu --output most "${many[@]}"
    try run drop.yaml --on "$device" --output two "${many[@]}" --set 'scene.fluid=[{box: {from: [0, 0], to: [0.34, 0.24]}}]'
    fails 2 "more particles than a device holds are refused" "run.device_memory allows 800000"
    try run drop.yaml --on "$device,$device" --output two "${many[@]}"
    fails 2 "more than all devices hold, too, with what each holds" "the parts together have too little memory: ocl:0 for " ", in whole slices, and there are 3282 particles"
    rm -rf two
    try run drop.yaml --on "$device,cpu" --threads 1 --output two --report two.json "${many[@]}" --set run.balance=slice
    check "beside processors it gets no more slices than it holds, and is not dropped" bash -c '
        ! grep -q dropped .err && grep -o "\"rows\": \[[0-9]*, [0-9]*\], \"tuned" two.json | tr -d "[:,]" |
            awk "NR == 1 {n = \$3 - \$2} END {exit !(n > 0 && n < 15)}"'
    check "with the same bytes" same most two
    rm -rf most two
    # What the refusal says is needed at least, without lists, is more than half of the particles take with theirs.
    cat >tank.yaml <<'YAML'
problem: sph2d
scene:
  spacing: 0.02
  to: [16, 0.3]
  fluid: [{box: {from: [0, 0], to: [10, 0.24]}}, {box: {from: [10, 0], to: [16, 0.2]}}]
  walls: [{sides: [bottom, left, right]}]
scheme: {rebuild: 8, skin: 0}
time: {end: 10, steps: 20}
output: {every: 10}
YAML
    try run tank.yaml --on "$device" --quiet --output two --set run.device_memory=1MB
    least=$(needs 1) all=$(needs 2)
    cap=$((${least:-0} * 19 / 20))
    try run tank.yaml --on "$device" --quiet --output two --set run.device_memory=$cap
    fails 2 "particles that one device cannot hold are refused" "11508 particles need $least bytes at least" "allows $cap;"
    try run tank.yaml --on cpu --quiet --output most
    try run tank.yaml --on "$device,$device" --quiet --output two --report two.json --set run.device_memory=$cap
    check "two such devices hold them together" test "$code" -eq 0
    check "to the same bytes" same most two
    check "each of them some, in more memory than one has" bash -c '
        tr -d "\n" <two.json | grep -oE "\"rows\": \[[0-9]+, [0-9]+\]" | tr -d "[:,]" | awk "{if (\$2 >= \$3) exit 1} END {exit NR != 2}" &&
        grep -o "\"bytes_per_particle\": [0-9.]*" two.json | awk -v cap="$0" "{b = \$2 * 11508} END {exit !(b > cap && b <= 2 * cap)}"' "$cap"
    rm -rf two
    try run tank.yaml --on "$device" --quiet --output two --set run.device_memory="$all"
    check "with what the refusal says that lists take, too, one holds them" same most two
    rm -rf most two
fi
try run drop.yaml --on cpu --quiet --set precision=single --set scheme.exact=false
fails 2 "inexact quotients without a device are refused" "scheme.exact: false is for OpenCL devices, and none takes part"
try run drop.yaml --on cpu --quiet --set scheme.exact=false
fails 2 "and in double precision" "scheme.exact: false has no meaning in double precision"
try run drop.yaml --on cpu --steps 1 --output idle --set run.lists=wide --set run.teams=2 --set run.shares=1,2
check "settings without a use are told" grep -q "run.teams, run.lists have no effect: particles on the CPU do not use it" .err
check "also shares of ranks where there is one" grep -q "run.shares has no effect: no other rank takes part" .err
if [ -n "$device" ]; then
    try run drop.yaml --on ocl:0 --steps 1 --output idle --set run.prefetch=8 --set run.group_width=64
    exits 0 "more rows ahead than kernels of particles take"
    check "are told of, with what is taken" grep -q "^strake: note: run.prefetch is 8, but 2 is taken on ocl:0: " .err
    lacks "and what is taken as it is given is not" 'run.group_width' .err
fi
try run drop.yaml --on cpu --steps 1 --output idle --set run.balance_threshold=2 --set run.balance=model
check "a threshold of slices where they are not balanced by it, too" grep -q "run.balance_threshold has no effect: it is for run.balance: slice" .err
try run drop.yaml --on cpu --steps 1 --output idle --set run.balance_threshold=2 --set run.balance=slice
lacks "but not where they are" 'run.balance_threshold' .err

try run drop.yaml --on cpu --quiet --set 'scene.periodic=[x]' --set scene.to=[0.1,0.4] --set 'scene.walls=[{sides: [bottom]}]' \
    --set 'scene.fluid=[{box: {from: [0, 0], to: [0.1, 0.24]}}]' --set 'scene.probes=[]'
fails 2 "a box that repeats itself too soon is refused by file and key" \
    "drop.yaml: scene.periodic: an axis of 0.1 m has less than three times the reach of a particle, 0.0572 m; make the box longer, or scene.spacing"

try bench drop.yaml --on serial --on cpu --steps 10 --repeats 2 --quiet --report bench.json --plot bench.svg
exits 0 "particles are measured side by side"
check "in updates and pairs a second" bash -c '
    grep -q "402 particles, double precision" .out && grep -q "^where .*median" .out && grep -q " mips " .out &&
    grep -q "^cpu .* [1-9][0-9]* same$" .out && grep -q "^cpu .* pairs a second" .out &&
    grep -q "\"where\": \"cpu\".*\"mips\": {\"median\": [0-9].*\"pairs_per_second\": [0-9]" bench.json'
check "a usual step and one with a new order are recorded and drawn" bash -c '
    grep "\"where\": \"cpu\"" bench.json | grep "\"timeline\": {\"step\".*\"what\": \"all slices\"" |
        grep -q "\"timeline_with_order\": {\"step\".*\"what\": \"new order\"" &&
    grep "\"where\": \"serial\"" bench.json | grep -q "\"timeline\": null, \"timeline_with_order\": null" &&
    grep -q "compute, threads: half a step" bench.svg && grep -q ">new order: cpu<" bench.svg'

try run drop.yaml --quiet --set 'output.formats=[vtk]'
fails 2 "a format for grids is refused" "of sph2d there are npy, vtp and png"
try run drop.yaml --quiet --set 'output.fields=[density]'
fails 2 "a .vtp without positions is refused" "add position to output.fields"
try run case.yaml --quiet --set 'output.formats=[vtp]'
fails 2 "of a grid there is no .vtp" "vtp is for problems of particles"
done_testing
