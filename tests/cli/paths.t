#!/bin/bash
# Every path that a user can name may be a pipe, a device, a folder: one message, never a wait.
. "$(dirname "$0")/tap.bash"

soon() { # soon ARGUMENTS...: as try, but a program that waits for somebody is ended
    code=0
    timeout -k 5 600 "$STRAKE" "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null || code=$?
}

mkfifo pipe
sed 's/{random: [^}]*}}/{file: pipe}/' case.yaml >filed.yaml
cat >drops.yaml <<'CASE'
problem: cahn_hilliard2d
grid: {rows: 32, cols: 32}
time: {dt: 0.001, steps: 20}
fields: {u: {random: {seed: 1, minimum: 0.4, maximum: 0.6}}}
parameters: {M: 5, B: 2, U: 4, K: 2}
checkpoint: {every: 20}
diagnostics: {every: 5}
CASE
drops="run drops.yaml --on serial --quiet"
run="run case.yaml --on serial --quiet"
soon run pipe --on serial
fails 2 "a pipe as a case" "pipe: cannot be opened: it is a named pipe"
soon check pipe
fails 2 "a pipe as a case to check" "it is a named pipe"
soon bench pipe --on serial
fails 2 "a pipe as a case of bench" "it is a named pipe"
soon run /dev/zero --on serial
fails 2 "a device as a case" "/dev/zero" "it is a device"
soon run . --on serial
fails 2 "a folder as a case" "it is a folder"
# shellcheck disable=SC2086
{
    soon run filed.yaml --on serial --quiet
    check "a pipe as a field is named" grep -q 'pipe.*it is a named pipe' .err
    mkfifo raster.tif
    soon run filed.yaml --on serial --quiet --set fields.psi.file=raster.tif
    check "a pipe with the name of a raster is named" grep -q 'raster.tif.*it is a named pipe' .err
    soon run filed.yaml --on serial --quiet --set fields.psi.file=/dev/zero
    check "a device as a field is named" grep -q '/dev/zero.*it is a device' .err
    soon $run --resume pipe
    fails 2 "a pipe as a checkpoint" "pipe is not a Strake checkpoint" "it is a named pipe"
    soon $run --report pipe
    fails 1 "a pipe that nobody reads as a report" "cannot write pipe" "nobody reads from this named pipe"
    soon $run --output pipe
    fails 1 "a pipe as a folder" "pipe is not a folder"
}
check "is found before the run begins" test ! -e out
soon bench case.yaml --on serial --report pipe
fails 1 "nor as a report of bench" "nobody reads from this named pipe"
soon bench case.yaml --on serial --plot pipe
fails 1 "nor as a plot" "nobody reads from this named pipe"
soon model --on cpu --report pipe
fails 1 "nor as a report of model" "nobody reads from this named pipe"
soon tune --on cpu --space pipe
fails 2 "a pipe as a search space" "pipe: cannot be opened: it is a named pipe"
"$STRAKE" run drops.yaml --on serial --quiet --output drops
"$STRAKE" run case.yaml --on serial --quiet --output good
for pair in "pipe good" "good pipe" "pipe pipe" "/dev/zero good"; do
    # shellcheck disable=SC2086
    soon compare $pair
    fails 2 "compare $pair" "not a file"
done
mkdir one two
cp good/psi_00000020.npy one/a.npy
mkfifo two/a.npy
soon compare one two
fails 2 "a pipe in a folder that is compared" "two/a.npy" "it is a named pipe"

# Within the folder of the outputs.
for name in index.csv diagnostics.csv u_00000020.npy checkpoint.strake; do
    rm -rf folder
    mkdir folder
    mkfifo folder/$name
    # shellcheck disable=SC2086
    soon $drops --output folder
    fails 1 "a pipe in place of $name" "folder/$name" "it is a named pipe"
    check "stays one" test -p folder/$name
done
for name in index.csv diagnostics.csv; do
    rm -rf folder
    mkdir folder
    mkfifo folder/$name
    # shellcheck disable=SC2086
    soon $drops --output folder --resume drops/checkpoint.strake
    [ "$code" -ne 124 ] && grep -q "folder/$name: .*it is a named pipe" .err
    report $? "a pipe in place of $name, resumed"
done

# Where a cache should be.
mkdir -m 700 cache
soon run case.yaml --on cpu --quiet
mkfifo cache/tuned-0.yaml cache/model-0.yaml
export STRAKE_CACHE_DIR=$scratch/cache
soon run case.yaml --on cpu
exits 0 "pipes in a cache are passed over"
check "and told" grep -q "tuned-0.yaml are ignored: it is no regular file" .err
export STRAKE_CACHE_DIR=$scratch/pipe
soon run case.yaml --on cpu --quiet
exits 0 "a pipe in place of a cache is passed over"
unset STRAKE_CACHE_DIR
STRAKE_OPENCL_LIBRARY=$scratch/pipe soon run case.yaml --on ocl:0
fails 2 "a pipe in place of an OpenCL library" "STRAKE_OPENCL_LIBRARY" "pipe: it is a named pipe"

# What users expect to work.
cat <case.yaml | timeout 600 "$STRAKE" run /dev/stdin --on serial --quiet --output piped >.out 2>.err
report "${PIPESTATUS[1]}" "a case may come through a pipe of the shell"
check "with the same result" cmp good/psi_00000020.npy piped/psi_00000020.npy
timeout 600 "$STRAKE" run <(cat case.yaml) --on serial --quiet --output piped2 >.out 2>.err
report $? "or through <(command)"
exec 8<>pipe # nobody waits for the other end to be opened
(timeout 600 cat pipe >read.json 8>&-) &
reader=$!
# shellcheck disable=SC2086
soon $run --report pipe 8>&-
for _ in $(seq 6000); do
    [ "$(tail -n 1 read.json)" != "}" ] || break
    sleep 0.1
done
exec 8>&-
exits 0 "a pipe with a reader takes a report"
wait "$reader"
check "the reader has it" bash -c '[ "$(head -c 1 read.json)" = "{" ] && [ "$(tail -n 1 read.json)" = "}" ]'
check "the pipe stays one" test -p pipe
timeout 600 "$STRAKE" run case.yaml --on serial --quiet --report >(cat >sub.json) >.out 2>.err
report $? "so does >(command)"
timeout 600 "$STRAKE" run case.yaml --on serial --report /dev/stdout >stdout.json 2>.err </dev/null
report $? "/dev/stdout takes a report"
check "which stays alone there, as with -" bash -c '[ "$(head -c 1 stdout.json)" = "{" ] && [ "$(tail -n 1 stdout.json)" = "}" ]'
check "the summary goes elsewhere" grep -q 'psi' .err
printf 'first\n' >log
timeout 600 "$STRAKE" run case.yaml --on serial --quiet --report /dev/stderr 2>>log </dev/null
check "/dev/stderr is written, not replaced" bash -c '[ "$(head -n 1 log)" = first ] && grep -q strake log'

# A signal during the last steps, the summary or the report is not lost.
sed 's/rows: 61, cols: 97/rows: 1500, cols: 1500/' case.yaml >large.yaml
# On a busy machine it may have ended before anybody came to send one.
for _ in $(seq 20); do
    rm -rf signals signals.json
    "$STRAKE" run large.yaml --on serial --steps 1 --output signals --report signals.json --set output.initial=true >.out 2>.err &
    pid=$!
    for _ in $(seq 20000); do
        [ -e signals/psi_00000001.npy ] && break
        sleep 0.005
    done
    kill -STOP $pid
    ended=$(grep -c '^State:.Z' /proc/$pid/status)
    kill -TERM $pid
    kill -CONT $pid
    code=0
    wait $pid || code=$?
    [ "$ended" -eq 1 ] || break
done
[ "$code" -eq 130 ] || [ "$code" -eq 143 ]
report $? "the first SIGTERM counts while the summary is made"
check "no report is made then" test ! -e signals.json
mkdir stop
(sleep 100 >pipe) &
writer=$!
"$STRAKE" bench /dev/stdin --on serial <pipe >.out 2>.err &
pid=$!
sleep 0.5
kill -TERM $pid
for _ in $(seq 2000); do
    kill -0 $pid 2>/dev/null || break
    sleep 0.05
done
kill -KILL $pid 2>/dev/null
code=0
wait $pid || code=$?
kill $writer
check "and while a case is waited for" test "$code" -eq 143

# What a killed run leaves is removed by the next one in that folder.
mkdir killed
printf half >killed/.strake-0123456789abcdef.tmp
printf other >killed/notes.tmp
# shellcheck disable=SC2086
soon $run --output killed
check "what a killed run left is removed" test ! -e killed/.strake-0123456789abcdef.tmp
check "other files are not" test -e killed/notes.tmp
# - is standard input.
feed() { # feed ARGUMENTS...: as try, with the test's own standard input
    code=0
    "$STRAKE" "$@" >"$scratch/.out" 2>"$scratch/.err" || code=$?
}
"$STRAKE" run case.yaml --on serial --quiet --output by_name
feed run - --on serial --quiet --output by_input <case.yaml
exits 0 "a case on standard input"
check "is that case" "$STRAKE" compare by_name by_input
feed run - --on serial --quiet < <(sed 's/rows: 61/rowz: 61/' case.yaml)
fails 2 "a mistake there has its place" "standard input:2" "rowz"
"$STRAKE" new mpdata2d | "$STRAKE" check - --on serial >.out 2>.err
check "new is piped into check" grep -q "standard input is valid" .out
feed run - --on serial --quiet --output to_go_on --set checkpoint.every=5 <case.yaml
feed run - --on serial --quiet --output gone_on --resume to_go_on/checkpoint.strake --steps 20 <case.yaml
exits 0 "with --resume the same case comes there again"
check "view has the case from its outputs" "$STRAKE" view by_input --png picture.png
soon run - --on serial
fails 2 "an empty device there" "/dev/stdin"
done_testing
