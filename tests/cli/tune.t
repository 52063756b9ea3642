#!/bin/bash
# strake tune: results and who uses them, faults planted in an OpenCL library, killed tunings, two at
# once, damaged caches, budgets.
. "$(dirname "$0")/tap.bash"
export STRAKE_CACHE_DIR=$scratch/programs
faulty=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/faulty_opencl.so" 2>/dev/null)
own_clock=$(realpath "${STRAKE_BUILD:-$(dirname "$STRAKE")}/tests/own_clock.so" 2>/dev/null)

# However busy the machine, no limit is met by chance: for who tunes (not for who measures) time goes by at a
# hundredth of its pace, and a budget ends when a file says so. A sanitizer must be loaded first itself.
patience=1000
spent=3000 # of a budget that a journal uses up, a second a byte
if [ -z "${STRAKE_TESTS_SANITIZER:-}" ]; then
    clock() { # clock SECONDS FILES: so many more have passed for each byte in them
        export LD_PRELOAD=$own_clock STRAKE_TEST_CLOCK="0.01:$1:$PWD/$2"
    }
else
    clock() { :; }
    spent=12
fi
clock 0 none
# Only who tunes has that clock: what a run, a check or a benchmark measures would take a hundred times as long.
try() {
    local preload=${LD_PRELOAD:-}
    [ "$1" = tune ] || preload=
    code=0
    LD_PRELOAD=$preload "$STRAKE" "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null || code=$?
}

space() { # space PLACE VALUES...: writes space.yaml with one parameter
    local place=$1 parameters=$2
    cat >space.yaml <<YAML
problem: mpdata2d
place: $place
fields:
  psi: {random: {seed: 1, minimum: -1, maximum: 1}}
  u1: {random: {seed: 2, minimum: -0.2, maximum: 0.2}}
  u2: {random: {seed: 3, minimum: -0.2, maximum: 0.2}}
  h: {constant: 1}
steps: 5
grids: [[96, 80]]
parameters:
$parameters
constraints:
  - {keep: rows > 1, why: the grid is too small}
YAML
}
result() { ls "$1"/tuned-*.yaml 2>/dev/null | head -n 1; }
t4() { ls "$1"/tuned-*.t4.json 2>/dev/null | head -n 1; }
outcomes() { # outcomes FOLDER WORD: how many measurements ended so
    grep -o "\"name\": \"outcome\", \"value\": \"$2\"" "$(t4 "$1")" | wc -l
}

cat >case.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 61, cols: 97}
time: {steps: 20}
boundary: {rows: open, cols: periodic}
fields:
  psi: {random: {seed: 1, minimum: 0, maximum: 1}}
  u1: {random: {seed: 2, minimum: -0.1, maximum: 0.2}}
  u2: {random: {seed: 3, minimum: -0.2, maximum: 0.1}}
CASE

# The CPU: no OpenCL needed.
space cpu "  - {path: run.steps_per_sweep, values: [1, 2, 3], start: 2}"
try tune --on cpu --space space.yaml --cache cpu --budget $patience
exits 0 "the CPU can be tuned"
prints "the result tells grid, default, gain and settings" "96 x 80" "default" "gain" "Mcell/s"
check "the result is a YAML file" grep -q '^complete: true$' "$(result cpu)"
check "the defaults and every configuration were measured" test "$(grep -c '"configuration"' "$(t4 cpu)")" -eq 4
check "all of them make a full search" grep -q '^effort: full$' "$(result cpu)"
prints "the result tells it" "all 3 configurations tried"
check "nothing is left behind" test -z "$(ls cpu | grep -vE '^(tuned-[0-9a-f]{16}\.(yaml|t4\.json)|tune\.lock)$')"
if python3 -c 'import json' 2>/dev/null; then
    check "the export is valid JSON with what the T4 schema requires" python3 - "$(t4 cpu)" <<'PY'
import json, re, sys
data = json.load(open(sys.argv[1]))
assert re.match(r"^[0-9]+\.[0-9]+\.[0-9]+$", data["schema_version"])
assert len(data["results"]) >= 2
for r in data["results"]:
    assert isinstance(r["configuration"], dict)
    assert isinstance(r["times"]["compilation_time"], (int, float))
    assert isinstance(r["times"]["runtimes"], list)
    assert r["invalidity"] in ["timeout", "compile", "runtime", "correctness", "constraints", "correct"]
    assert isinstance(r["correctness"], (int, float))
    assert isinstance(r["objectives"], list)
    for m in r["measurements"]:
        assert isinstance(m["name"], str) and isinstance(m["unit"], str)
        assert isinstance(m["value"], (int, float, str, list))
PY
else
    skip "the export is valid JSON with what the T4 schema requires" "no python3 here"
fi
(cat space.yaml && echo "tries: 1") >few.yaml
try tune --on cpu --space few.yaml --cache few --budget $patience
check "which does not make a full search" grep -q '^effort: cut_short$' "$(result few)"
check "and is what ended it" grep -q '^    search_ended: tries$' "$(result few)"
prints "the result tells it" "1 of at most 3 configurations tried, as many as the search space allows"
try devices --cache few
prints "the list of devices, too, of any folder" "mpdata2d double, 1 grid, 20" \
    "1 of 1 searches cut short, 1 configuration tried"
try devices --cache nonexistent
exits 0 "a folder that is not there holds nothing"
check "and is told of" grep -q '^strake: note: --cache nonexistent: there is no such folder' .err
try devices --cache few --json
prints "and its JSON" '"effort": "cut_short", "searches": "1 of 1 searches cut short'
try run case.yaml --on cpu --cache few --report few.json --output few-out
prints "and every run that uses it" "; 1 of at most 3 configurations tried, as many as"
check "and its report" grep -q '"search_ended": "tries", "search": "1 of at most 3' few.json
check "a space may limit how many are tried" test "$(grep -c '"configuration"' "$(t4 few)")" -eq 2
# For others with the same device.
try tune --on cpu --cache few --export mpdata2d-ours.yaml
exits 0 "what was found can be exported"
prints "which says what it is" "mpdata2d-ours.yaml: mpdata2d in double precision on" "1 grid"
check "in the form of data/tuned" cmp mpdata2d-ours.yaml "$(result few)"
mkdir -m 700 others exported
cp mpdata2d-ours.yaml others/tuned-ours.yaml && chmod 600 others/tuned-ours.yaml
try run case.yaml --on cpu --cache others --report others.json --quiet --output others-out
check "and who has it among theirs uses it" grep -q '"level": "exact"' others.json
try tune --on cpu --cache few --export exported --quiet
check "a folder gets a file named as those of data/tuned" test "$(ls exported | grep -cE '^mpdata2d-[a-z0-9-]+\.yaml$')" -eq 1
try tune --on cpu --cache few --problem cahn_hilliard2d --export none.yaml
fails 2 "of what was not tuned there is nothing to export" "nothing was tuned here for --on cpu --problem cahn_hilliard2d"
check "nor a file" test ! -e none.yaml
calm() { sed -i '/^ *disturbed:/d' "$(result "$1")"; } # as if no other program had run meanwhile
calm cpu
try tune --on cpu --space space.yaml --cache cpu
exits 0 "tuning again does nothing"
prints "and says so" "tuned already"
sed 's/^steps: /# another space\nsteps: /' space.yaml >other.yaml
try tune --on cpu --space other.yaml --cache few --budget $patience
exits 0 "a changed search space is searched"
check "and replaces the result" grep -q '^effort: full$' "$(result few)"
calm few
try tune --on cpu --space other.yaml --cache few
prints "once" "tuned already"
# A result of a machine on which other programs ran, whether they did or not.
calm few
sed -i 's/^    excess: .*/    excess: 0.34\n    disturbed: 1/' "$(result few)"
try devices --cache few
prints "a disturbed result is told by the list of devices" "; 1 DISTURBED (\`strake tune\` measures again)"
try devices --cache few --json
prints "and its JSON" "; 1 DISTURBED"
try run case.yaml --on cpu --cache few --report few.json --output few-out
prints "and by every run that uses it" \
    "DISTURBED: half of the samples took 34 % longer than the shortest or more" "measures it again"
check "and its report" grep -q '"disturbed": true}' few.json
try tune --on cpu --space other.yaml --cache few
lacks "and it is measured again" 'tuned already' .out
check "whatever comes out" grep -Eq '^    disturbed: 2$|^    excess: 0\.0' "$(result few)"
try run case.yaml --on cpu --cache cpu --report cpu.json
exits 0 "a run uses the result"
check "the report says how well it fits" grep -q '"tuned": {"level": "exact"' cpu.json
prints "the summary too" "tuned: exact, for 96 x 80 cells"
try run case.yaml --on cpu --cache cpu --report off.json --set run.tuned=false --output off
check "run.tuned turns it off" grep -q '"tuned": {"level": "off"' off.json
check "with the same bytes" cmp out/psi_00000020.npy off/psi_00000020.npy

# Settings in the cache decide unless the case does.
sed -i 's/settings: {.*}/settings: {run.steps_per_sweep: 3}/' "$(result cpu)"
run() { try run case.yaml --on cpu --cache cpu --report r.json --quiet "$@"; }
run
check "the tuned setting is used" grep -q '"steps_per_sweep": 3' r.json
(little_memory && "$STRAKE" bench case.yaml --on cpu --cache cpu --steps 6 --repeats 1 --quiet --report b.json >.out 2>.err)
check "by bench, too" grep -q '"steps_per_sweep": 3' b.json
run --set run.steps_per_sweep=1
check "a setting on the command line goes before it" grep -q '"steps_per_sweep": 1' r.json
sed 's/^driver: .*/driver: "another"/' -i "$(result cpu)"
run
check "results of another driver are used and flagged" \
    grep -q '"tuned": {"level": "driver", "differs": "driver another' r.json
sed 's/^device: .*/device: "another"/' -i "$(result cpu)"
run
check "those of another CPU are not" grep -qE '"tuned": {"level": "(default|shipped|variant)"' r.json
file=$(result cpu)
head -c 300 "$file" >cut && cp cut "$file"
try run case.yaml --on cpu --cache cpu --report r.json
exits 0 "a damaged result does not stop a run"
check "it is named and ignored" grep -q "^strake: note: tuned settings are ignored: $file" .err

# Usage.
try tune --on serial
fails 2 "serial cannot be tuned" "serial"
try tune --on ocl:99
fails 2 "a device that is not there is named" "ocl:99"
try tune --on cpu --problem nothing --cache cpu
fails 2 "an unknown problem is named" "nothing" "mpdata3d, cahn_hilliard2d"
try tune --on cpu --budget 2
fails 2 "a budget too small to keep is refused" "--budget: 2 is out of range" "5 to 1e+06" "--budget 5"
try tune --on cpu --cache cpu --set run.threads=1
fails 2 "run keys cannot be set while tuning" "--set run.threads=1" "--space FILE"
try tune --on cpu --cache cpu --set time.dt=none
fails 2 "a slip in --set is told of the option" "--set time.dt=none: time.dt: found 'none'"
try tune --on cpu --space case.yaml --cache cpu
fails 2 "a file that is no space is refused" "case.yaml" "place"
printf 'problem: mpdata2d\ncpu: {steps: 0}\n' >change.yaml
try tune --on cpu --space change.yaml --cache cpu
fails 2 "a change of the program's own space is read for every processor" "change.yaml:2:14: steps"
try tune --on cpu --space nowhere.yaml
fails 1 "a missing space is named" "nowhere.yaml"
: >file
try tune --on cpu --space space.yaml --cache file
fails 1 "a cache that cannot be written is an error" "file"

space opencl "  - {path: run.fusion, values: [plain]}"
try tune --on cpu --space space.yaml --cache cpu
fails 2 "a space for devices is refused for a CPU that was asked for" "--on cpu: the search space space.yaml is for OpenCL devices"
space cpu "  - {path: run.steps_per_sweep, values: [1, 2]}"
try tune --space space.yaml --cache words --budget $patience --quiet
exits 0 "where a word stands for all processors, a space takes those that it is for"
check "and no others" test "$(grep -l '^place: cpu$' words/tuned-*.yaml | wc -l),$(ls words/tuned-*.yaml | wc -l)" = 1,1

# A tuning that is killed, and one beside another: slow enough to be caught at it.
space cpu "  - {path: run.steps_per_sweep, values: [1, 2, 3, 4, 5, 6, 7, 8], start: 2}
  - {path: run.block_columns, values: [0, 16, 24, 32, 40, 48, 56, 64]}"
STRAKE_TEST_MARK=killed "$STRAKE" tune --on cpu --space space.yaml --cache killed --budget $patience \
    >/dev/null 2>&1 &
tuner=$!
lines() { cat killed/tuned-*.log 2>/dev/null | wc -l; }
for _ in $(seq 3000); do
    [ "$(lines)" -ge 6 ] && break
    sleep 0.1
done
try tune --on cpu --space space.yaml --cache killed --budget 20
fails 1 "a second tuning at the same time is refused" "another tuning is at work"
check "and leaves the first alone" kill -0 "$tuner"
try tune --on cpu --space space.yaml --cache elsewhere
fails 1 "with another cache too" "another tuning is at work"
kill -KILL "$tuner" 2>/dev/null
wait "$tuner" 2>/dev/null
for _ in $(seq 600); do
    [ -n "$(processes_of "$mark" STRAKE_TEST_MARK=killed)" ] || break
    sleep 0.1
done
check "no worker outlives a killed tuning" test -z "$(processes_of "$mark" STRAKE_TEST_MARK=killed)"
before=$(lines)
clock 1 'killed/tuned-*.log'
try tune --on cpu --space space.yaml --cache killed --budget $spent
clock 0 none
exits 0 "a killed tuning can be taken up"
prints "what it had measured counts" "taken over from a tuning that was interrupted: "
taken=$(sed -n 's/.*interrupted: \([0-9]*\) .*/\1/p' .out)
check "all of it ($taken of $((before - 1)))" test "$taken" -ge $((before - 2))

# Budget: everything included, within a tenth (test_tune_whole counts the same second by second).
space cpu "  - {path: run.steps_per_sweep, values: [1, 2, 3, 4, 5, 6, 7, 8], start: 2}
  - {path: run.block_columns, values: [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88]}"
sed -i 's/grids: .*/grids: [[128, 128], [100, 100], [90, 80], [200, 50]]/' space.yaml
clock 1 'budget/tuned-*.log'
try tune --on cpu --space space.yaml --cache budget --budget $spent
clock 0 none
exits 0 "a tuning with a small budget ends well"
prints "and says what ended it" "until the budget ended"
if [ -z "${STRAKE_TESTS_SANITIZER:-}" ]; then
    # A line of the journal has more than 150 bytes.
    tried=$(sed -n 's/.* \([0-9]*\) of at most 96 configurations.*/\1/p' .out | awk '{ n += $1 } END { print n + 0 }')
    check "the budget of $spent s is kept within a tenth ($tried measurements)" \
        test "$tried" -le $((spent * 11 / 10 / 150)) -a "$tried" -ge 4
fi

# What a budget did not suffice for is told, and how to go on.
space cpu "  - {path: run.steps_per_sweep, values: [1, 2]}"
# By the real clock the second grid must take longer than the budget.
second=300
[ $spent -ge 100 ] || second=3000
sed -i "s/grids: .*/grids: [[96, 80], [$second, $second]]/; s/steps: 5/steps: $second/" space.yaml
export OMP_NUM_THREADS=1
clock 10 'partial/tuned-*.yaml' # is written when the first grid is done
try tune --on cpu --space space.yaml --cache partial --budget $((spent < 100 ? spent : patience))
clock 0 none
unset OMP_NUM_THREADS
exits 0 "a tuning that finished some grids ends well"
prints "and tells how many are left" '1 grid is still to do: run `strake tune` again'
check "the file does not call it full" grep -q '^effort: partial$' "$(result partial)"
mkfifo partial/tuned-pipe.yaml
timeout 600 "$STRAKE" devices --cache partial >.out 2>.err
check "nor does the list of devices" \
    grep -q '^  tuned            mpdata2d double, 1 grid, 20.*; 1 still to do' .out
check "a pipe among the results keeps nobody waiting" grep -q 'tuned-pipe.yaml are ignored' .err

# A closed terminal ends it like an interrupt: nothing but results and the journal stay.
env --default-signal=HUP "$STRAKE" tune --on cpu --space space.yaml --cache hung --budget $patience >/dev/null 2>&1 &
tuner=$!
for _ in $(seq 1200); do
    [ -e hung/tune-case.yaml ] && break
    sleep 0.1
done
kill -HUP "$tuner"
wait "$tuner"
check "a hang-up ends a tuning ($?)" test "$?" -eq 130
check "and removes what it worked with" test -z "$(ls hung | grep -E '^tune-(case|reference|worker)')"

# Installing offers it.
offer=$OLDPWD/autotune/offer.sh
check "an installation offers to tune" grep -q 'tune: finds' <(sh "$offer" "" "$STRAKE" </dev/null)
check "not into another root" test -z "$(sh "$offer" /somewhere "$STRAKE" </dev/null)"
check "TUNE=no declines" test -z "$(TUNE=no sh "$offer" "" "$STRAKE" </dev/null)"

# Faults.
if [ "$("$STRAKE" devices | grep -c '^ocl:0: ')" -eq 0 ] || [ ! -f "$faulty" ]; then
    for name in crash hang skip beyond build; do
        skip "OpenCL: a configuration that fails ($name) is survived" "no OpenCL device or loader"
    done
    done_testing
fi
# How fast they are does not matter, and compiling them would take most of the time.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
space opencl "  - {path: run.fusion, values: [plain, stream]}
  - {path: run.group_width, values: [32]}
  - {path: run.group_height, values: [1, 2, 4, 8, 16], start: 16, when: fusion == plain}"
# A grid of 61 kB an array on devices that tell of less for one buffer: GPUs are asked, as runs ask them.
export STRAKE_OPENCL_LIBRARY=$faulty STRAKE_TEST_MAX_ALLOC=50000
sed 's/values: \[plain, stream\]/values: [plain]/; s/values: \[1, 2.*16\], start: 16/values: [1], start: 1/' space.yaml >one.yaml
STRAKE_TEST_FAULTS=type:gpu try tune --on ocl:0 --space one.yaml --cache asked --budget $patience
exits 0 "OpenCL: a GPU is tuned with arrays beyond the largest buffer that it tells of"
try tune --on ocl:0 --space one.yaml --cache refused --budget $patience
fails 1 "OpenCL: another device is not" "every grid of the search space needs too much memory"
unset STRAKE_TEST_MAX_ALLOC
export STRAKE_TEST_FAULTS="crash:32x1 hang:32x2 skip:32x4 beyond:32x8 build:__local"
export STRAKE_TEST_HANGS=$PWD/hangs
clock $patience hangs # have passed when a launch does not return
try tune --on ocl:0 --space space.yaml --cache faults --budget $((100 * patience))
clock 0 none
unset STRAKE_OPENCL_LIBRARY STRAKE_TEST_FAULTS STRAKE_TEST_HANGS
exits 0 "OpenCL: a tuning with failing configurations ends well"
check "OpenCL: a configuration that crashes is survived and recorded" \
    grep -q 'ended by signal 11' "$(t4 faults)"
check "OpenCL: one that hangs is ended and recorded" test "$(outcomes faults timeout)" -eq 1
check "OpenCL: one with wrong bits is recorded" grep -q 'differs from the reference in bits' "$(t4 faults)"
check "OpenCL: one that writes beyond its arrays is recorded" \
    grep -q 'memory beyond the arrays was written' "$(t4 faults)"
check "OpenCL: one that does not build is recorded" grep -q 'does not build' "$(t4 faults)"
check "OpenCL: there are two wrong ones, one crash, one build" \
    test "$(outcomes faults wrong),$(outcomes faults crash),$(outcomes faults build)" = 2,1,1
check "OpenCL: a failing configuration is not the result" \
    grep -qE 'settings: \{(run.fusion: plain, run.group_width: 32, run.group_height: 16)?\}' \
    "$(result faults)"
check "OpenCL: every kernel of a good one was timed by itself" \
    test "$(grep -c '"name": "stage_[0-9]*_[a-z0-9_]*", "value": [0-9.e-]*, "unit": "s"' "$(t4 faults)")" -ge 1
prints "OpenCL: the failures are counted" "1 build" "1 crash" "1 timeout" "2 wrong"
try run case.yaml --on ocl:0 --cache faults --report ocl.json --output ocl
check "OpenCL: a run uses the result" grep -q '"tuned": {"level": "exact"' ocl.json
try run case.yaml --on serial --quiet --output serial
check "OpenCL: with the bytes of serial" cmp ocl/psi_00000020.npy serial/psi_00000020.npy
# Kernels with sizes of their own.
sed -i 's/settings: {.*}/settings: {run.fusion: none, run.group_width: 64, run.group_height: 4, run.groups: 32x2\/auto\/16x8}/' \
    "$(result faults)"
try run case.yaml --on ocl:0 --cache faults --report own.json --output own
check "OpenCL: kernels take tuned sizes of their own" grep -q '"groups": "32x2/64x4/16x8/64x4' own.json
check "OpenCL: with the bytes of serial again" cmp own/psi_00000020.npy serial/psi_00000020.npy
try run case.yaml --on ocl:0 --cache faults --quiet --report own.json --output own --set run.groups=auto/32x1
check "OpenCL: a case's sizes go before them" grep -q '"groups": "64x4/32x1/64x4/64x4' own.json
check "OpenCL: with the bytes of serial, too" cmp own/psi_00000020.npy serial/psi_00000020.npy
try run case.yaml --on ocl:0 --cache faults --quiet --report own.json --set run.group_height=2
check "OpenCL: and a size for all" grep -q '"groups": "64x2/64x2/64x2/64x2' own.json
try run case.yaml --on ocl:0 --set run.fusion=plain --set run.groups=32x4/32x4/32x4/32x4/32x4/32x4/32x4
exits 0 "OpenCL: sizes for more kernels than there are"
check "OpenCL: are told of" grep -q '^strake: note: run.groups has sizes for 7 kernels, but a step has [1-6]: the last' .err
try run case.yaml --on ocl:0 --set run.groups=64y4
fails 2 "OpenCL: a size that is none" "--set run.groups=64y4: run.groups: found '64y4'" "WIDTHxHEIGHT"

try devices --cache faults
prints "OpenCL: the list of devices tells what is tuned" "tuned            mpdata2d double, 1 grid, 20"

# Beside a GPU other processes build kernels ahead; the same faults strike them
# (test_tune_measure has those that hang).
sed -i 's/values: .1, 2, 4, 8, 16./values: [1, 4, 16]/' space.yaml
# So small that the defaults are no marching kernels, whose loops the planted fault strikes.
sed -i 's/grids: .*/grids: [[12, 60]]/' space.yaml
export STRAKE_OPENCL_LIBRARY=$faulty
export STRAKE_TEST_FAULTS="type:gpu crash:32x1 skip:32x4 build:march"
try tune --on ocl:0 --space space.yaml --cache ahead --budget $patience
unset STRAKE_OPENCL_LIBRARY STRAKE_TEST_FAULTS
exits 0 "OpenCL: a tuning whose helpers crash ends well"
if [ "$(nproc)" -ge 2 ]; then
    prints "OpenCL: helpers built kernels ahead" "built ahead beside the measurements: "
else
    skip "OpenCL: helpers built kernels ahead" "one core only"
fi
check "OpenCL: with the same failures" \
    test "$(outcomes ahead wrong),$(outcomes ahead crash),$(outcomes ahead build)" = 1,1,1

# Streams: the break point and the rates are learnt once, and used by grids that exceed the memory.
space opencl "  - {path: run.fusion, values: [plain]}"
cat >>space.yaml <<'YAML'
streams: {values: [1, 2], memory: 0.9, gain: 0.02}
YAML
sed -i 's/grids: .*/grids: [[800, 80]]/' space.yaml
[ -z "${LD_PRELOAD:-}" ] || export STRAKE_TEST_CLOCK=1:0:none # who tunes measures these rates itself
try tune --on ocl:0 --space space.yaml --cache streams --budget $patience
exits 0 "OpenCL: the number of streams can be tuned"
prints "OpenCL: and is told" "grids larger than the memory: "
check "OpenCL: it is kept with the rates of the device" \
    grep -qE '^streaming: \{streams: [12], upload_bytes_per_second: [0-9.e+]+, download' "$(result streams)"
sed -i 's/^streaming: .*/streaming: {streams: 2, upload_bytes_per_second: 123e6, download_bytes_per_second: 234e6}/; s/ seconds_per_step: .*/ seconds_per_step: 0.0001/' "$(result streams)"
capped() {
    try run case.yaml --on ocl:0 --cache streams --quiet --report capped.json --output capped \
        --set grid.rows=300 "$@"
}
try run case.yaml --on serial --quiet --output tall --set grid.rows=300
capped --set run.device_memory=600kB
check "OpenCL: a grid that exceeds the memory takes that number" grep -q '"streams": 2,' capped.json
check "OpenCL: and the rates, without measuring" grep -q '"kernel_cells_per_second": 640000000' capped.json
check "OpenCL: with the bytes of serial" cmp capped/psi_00000020.npy tall/psi_00000020.npy
# Beside others, too: over so slow a link a sweep of the team is as deep as the visits that pay.
capped --set run.device_memory=600kB --on cpu,ocl:0 --split 1,2
check "OpenCL: a stripe that streams beside the processor meets it after more than two steps" \
    grep -qE '"steps_per_sweep": ([3-9]|1[0-9]|20),' capped.json
check "OpenCL: with the bytes of serial" cmp capped/psi_00000020.npy tall/psi_00000020.npy
capped --set run.device_memory=600kB --set run.streams=3
check "OpenCL: the case's number goes before it" grep -q '"streams": 3,' capped.json
sed -i 's/streams: 2,/streams: 8,/' "$(result streams)"
capped --set run.device_memory=400kB
exits 0 "OpenCL: it gives way where the memory holds fewer"
check "OpenCL: and fewer are taken" grep -qE '"streams": [1-7],' capped.json

# The first use of a device that nothing is known of: a made-up driver in front of the real one.
if ! has_terminal; then
    skip "OpenCL: a device is tuned briefly on its first use" "no script(1) to make a terminal"
    done_testing
fi
on_terminal() {
    code=0
    script -qec "'$STRAKE' run case.yaml --on ocl:0 $*" /dev/null >.out 2>.err </dev/null || code=$?
}
untouched() { # untouched NAME: it did run, and nothing was tuned
    [ "$code" -eq 0 ] && [ ! -e first ]
    report $? "$1"
}
export STRAKE_OPENCL_LIBRARY=$faulty STRAKE_TEST_FAULTS="name:made-up"
on_terminal --cache first --no-tune
untouched "OpenCL: --no-tune declines the first tuning"
on_terminal --cache first --quiet
untouched "OpenCL: --quiet too"
try run case.yaml --on ocl:0 --cache first
untouched "OpenCL: and no terminal"
try check case.yaml --on ocl:0 --cache first
untouched "OpenCL: and check"
on_terminal --cache file
lacks "OpenCL: and a cache that cannot be written" 'first time' .out
unset POCL_EXTRA_BUILD_FLAGS # here their running would take most of the time
clock 0.01 'first/tuned-*.log' # five seconds for a few measurements
on_terminal --cache first --report first.json --set grid.rows=800 --set grid.cols=600 --set time.steps=2
unset LD_PRELOAD
check "OpenCL: a device is tuned briefly on its first use" grep -q '^effort: brief$' "$(result first)"
check "OpenCL: with a notice" grep -q 'used for the first time.*--no-tune' .out
check "OpenCL: on a smaller grid of the same shape" grep -q 'grid: \[591, 1, 443\]' "$(result first)"
check "OpenCL: and what came out is told" \
    grep -qE 'of [0-9]+ configurations on 591 x 443 cells|the time did not suffice' .out
check "OpenCL: the run uses it" grep -q '"tuned": {"level": "exact"' first.json
check "OpenCL: it takes few seconds" grep -q 'trying settings for at most 5 s' .out
on_terminal --cache first
lacks "OpenCL: only once, whatever the grid" 'first time' .out
unset STRAKE_OPENCL_LIBRARY STRAKE_TEST_FAULTS
done_testing
