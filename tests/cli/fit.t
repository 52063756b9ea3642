#!/bin/bash
# `strake fit`: the values of keys with which a run covers a mapped flow best, found again after a kill.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
little_memory
# column FILE NAME: the values of a column
column() {
    awk -F, -v name="$2" 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) at = k; next } { print $at }' "$1"
}
cat >flow.yaml <<'YAML'
problem: lava
grid: {rows: 40, cols: 60, dx: 6, dy: 6}
time: {end: 2400}
fields: {terrain: {sum: [{plane: {base: 100, slope: [0, -0.1]}}, {random: {seed: 3, minimum: 0, maximum: 0.3}}]}}
vents: [{row: 20, col: 6, rate: 3}]
output: {every_seconds: 2400}
YAML
"$STRAKE" run flow.yaml --set 'vents[0].rate=3' --on serial --quiet --output truth || exit 1
search=(fit flow.yaml --to truth --over 'vents[0].rate=1:20:log' --on cpu --runs 48)

try "${search[@]}" --output best
exits 0 "a search ends"
check "and finds the rate of the mapped flow within 5 %" awk '
    $1 == "vents[0].rate" { found = $3; ok = found > 2.85 && found < 3.15 } END { exit !ok }' .out
prints "and says what else is as good, and the best runs" "runs within 0.02 of its e1 have" "generation   1,    12 runs" "the best is run"
best=$(awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "e1") at = k; next } $at > most { most = $at } END { print most }' fit.csv)
"$STRAKE" compare best truth --footprint >overlap
check "the best was run, and covers the flow as the table says" grep -qF "$(printf '%.4f' "$best")" <(awk '{ for (k = 1; k <= NF; k++) if ($k ~ /^[01]\.[0-9]+/) printf "%.4f ", $k }' overlap)
check "a map says which cells are in both" python3 - "$(awk '{ for (k = 1; k <= NF; k++) if ($k ~ /^[01]\.[0-9]+/) { print $k; exit } }' overlap)" <<'PY'
import struct, sys
data = open('best/fit/overlap.npy', 'rb').read()
values = struct.unpack('<%dd' % (40 * 60), data[-40 * 60 * 8:])
assert set(values) <= {0.0, 1.0, 2.0, 3.0}
assert abs(values.count(3.0) / sum(v > 0 for v in values) - float(sys.argv[1])) < 1e-4
PY
if [ -e "$(dirname "$STRAKE")/libstrake-cairo.so" ]; then
    check "and a picture shows it" test "$(head -c 4 best/fit/overlap.png | od -An -c | tr -d ' ')" = '211PNG'
else
    skip "a picture shows it" "built without cairo (libcairo2-dev)"
fi
cut -d, -f1,2 fit.csv >found
cp fit.csv whole.csv
try "${search[@]}" --quiet
exits 0 "the same search again"
check "makes no run anew" cmp fit.csv whole.csv
head -n 19 whole.csv >fit.csv
try "${search[@]}" --quiet
check "one that was ended comes to the same runs" cmp <(cut -d, -f1,2 fit.csv) found
check "and the file of points is gone" test ! -e fit.csv.points
try "${search[@]}" --seed 2 --table other.csv --quiet --runs 24
check "another seed has other points" test "$(column other.csv 'vents[0].rate' | head -n 1)" != "$(column whole.csv 'vents[0].rate' | head -n 1)"
check "within their range" awk -F, 'FNR > 1 && ($2 < 1 || $2 > 20) { exit 1 }' whole.csv other.csv

# A table of another flow or case says nothing of this one.
"$STRAKE" run flow.yaml --set 'vents[0].rate=6' --on serial --quiet --output other || exit 1
cp whole.csv fit.csv
for wrong in "--to other" "--to nothing" "--set time.end=1200" "--to other --runs 24" "--runs 24"; do
    # shellcheck disable=SC2086
    try "${search[@]}" $wrong --output none
    check "the table of another search is refused: $wrong" test "$code" -ne 0 -a ! -e none
    check "and its best is not printed: $wrong" bash -c '! grep -q "the best is run" .out'
    check "and it stays as it is: $wrong" cmp fit.csv whole.csv
done
try fit flow.yaml --to nothing --over 'vents[0].rate=1:20' --table wrong.csv
fails 1 "a flow that there is not is all that is said" "nothing"
check "and not that there is no table" bash -c '! grep -qF wrong.csv .err'

# Ctrl-C
"$STRAKE" fit flow.yaml --to truth --over 'vents[0].rate=1:20:log' --on cpu --table killed.csv --set time.end=7200 --quiet 2>.err &
for _ in $(seq 1200); do [ -s killed.csv ] && [ "$(wc -l <killed.csv)" -gt 1 ] && break; sleep 0.05; done
kill -INT $!
wait $!
check "Ctrl-C ends a search" test $? = 130
check "with what it has in the table" test "$(wc -l <killed.csv)" -gt 1

try fit flow.yaml --over 'vents[0].rate=1:20'
fails 2 "a flow has to be named" "--to FLOW"
try fit flow.yaml --to truth
fails 2 "keys have to be named" "--over PATH=LOW:HIGH"
for wrong in 'vents[0].rate' 'vents[0].rate=5' 'vents[0].rate=5:1' 'vents[0].rate=0:1:log' 'vents[0].rate=1:2:lin' 'vents[0].rate=1,2'; do
    try fit flow.yaml --to truth --over "$wrong" --table wrong.csv
    fails 2 "wrong ranges are refused: $wrong" "--over"
done
try fit flow.yaml --to truth --over 'vents[0].rate=1:2' --over 'vents[0].rate=1:3' --table wrong.csv
fails 2 "a key is fitted once" "given twice"
try fit flow.yaml --to truth --over 'vents[0].speed=1:2' --table wrong.csv
fails 2 "a key that there is not" "vents[0].speed"
try fit flow.yaml --to nothing --over 'vents[0].rate=1:2' --table wrong.csv
check "a flow that there is not" test "$code" -ne 0
cat >cone.yaml <<'YAML'
problem: mpdata2d
grid: {rows: 8, cols: 8}
time: {dt: 1, steps: 2}
fields: {psi: {constant: 1}, u1: {constant: 0.1}, u2: {constant: 0.1}}
YAML
try fit cone.yaml --to truth --over fields.psi.constant=1:2 --table wrong.csv
fails 2 "a problem without a footprint" "option --to" "has no footprint"
check "failed commands leave nothing" test ! -e wrong.csv -a ! -e wrong.csv.points
done_testing
