#!/bin/bash
# diagnostics.csv: the same whatever computes the states, across a restart too; conserved and falling
# numbers.
. "$(dirname "$0")/tap.bash"

cat >quench.yaml <<'CASE'
problem: cahn_hilliard2d
grid: {rows: 45, cols: 64}
time: {dt: 0.02, steps: 300}
boundary: {rows: no_flux}
fields: {u: {random: {seed: 4, minimum: -0.1, maximum: 0.12}}}
diagnostics: {every: 50}
checkpoint: {every: 120}
CASE
cat >solid.yaml <<'CASE'
problem: cahn_hilliard3d
grid: {planes: 11, rows: 10, cols: 13, dz: 1.2}
time: {dt: 0.01, steps: 60}
boundary: {cols: no_flux}
scheme: {time: euler, free_energy: {polynomial: [0.1, 0, -0.5, 0, 0.25]}}
fields: {u: {random: {seed: 4, minimum: -0.1, maximum: 0.12}}}
diagnostics: {every: 20}
CASE
cat >flow.yaml <<'CASE'
problem: mpdata2d
tracers: [qv, qc]
grid: {rows: 33, cols: 40, dx: 2, dy: 3}
time: {dt: 0.5, steps: 30}
boundary: {rows: periodic, cols: periodic}
fields:
  qv: {cone: {center: [16, 20], radius: 8, height: 2, base: 0.5}}
  qc: {random: {seed: 1, minimum: 0, maximum: 1}}
  reference_qc: {constant: 0.5}
  h: {random: {seed: 4, minimum: 1, maximum: 2}}
  u1: {constant: 0.25}
  u2: {constant: -0.25}
diagnostics: {every: 10}
CASE

devices=$("$STRAKE" devices 2>/dev/null | grep -c '^ocl:')
places="cpu"
[ "$devices" -gt 0 ] && places="cpu ocl:0 cpu,ocl:0"
for case in quench solid flow; do
    try run $case.yaml --on serial --quiet --output serial-$case
    exits 0 "a run with diagnostics succeeds ($case)"
    for place in $places; do
        try run $case.yaml --on $place --threads 2 --quiet --output $place-$case
        check "$place gives the bytes of serial ($case)" \
            cmp serial-$case/diagnostics.csv $place-$case/diagnostics.csv
    done
done

check "every step that is due has a line" test \
    "$(tail -n +2 serial-quench/diagnostics.csv | cut -d, -f1 | tr '\n' ' ')" = \
    "0 50 100 150 200 250 300 "
check "the title names the columns" test "$(head -1 serial-quench/diagnostics.csv)" = \
    "step,time,mass,free_energy,length,interface"
for case in quench solid; do
    awk -F, 'NR == 2 { mass = $3; energy = $4; length_ = $5; interface = $6 }
             NR > 2 { if (($3 - mass)^2 > 1e-20 || $4 > energy) exit 1; energy = $4; last = $5; faces = $6 }
             END { exit !(last > length_ && faces < interface) }' serial-$case/diagnostics.csv
    report $? "mass is kept, energy falls, lengths grow, interfaces vanish ($case)"
done

cp -r serial-quench again
try run quench.yaml --on serial --quiet --output again --resume serial-quench/checkpoint.strake
exits 0 "a run continues from its checkpoint"
check "with the same diagnostics" cmp serial-quench/diagnostics.csv again/diagnostics.csv

check "tracers have columns of their own" test "$(head -1 serial-flow/diagnostics.csv)" = \
    "step,time,mass_qv,min_qv,max_qv,l1_qv,l2_qv,linf_qv,mass_qc,min_qc,max_qc,l1_qc,l2_qc,linf_qc"
awk -F, 'NR == 2 { mass = $3; other = $9; if ($6 != 0 || $8 != 0 || $12 == 0) exit 1 }
         NR > 2 { if (($3 / mass - 1)^2 > 1e-26 || ($9 / other - 1)^2 > 1e-26 || $7 <= error) exit 1; error = $7 }' \
    serial-flow/diagnostics.csv
report $? "their mass is kept, and the error grows from 0"
try run flow.yaml --on cpu --output again --report flow.json
prints "the summary shows the mass" "mass"
mass=$(tail -n 1 serial-flow/diagnostics.csv | cut -d, -f3)
check "and the report, that of the diagnostics" \
    awk -v mass="$mass" -F'"mass": ' '/"mass"/ && !found { found = 1; split($2, rest, ","); off = rest[1] / mass - 1
        good = off * off < 1e-26 } END { exit !good }' flow.json

# A case by itself has one h_next: in several steps h would jump back, and mass with it.
h=(--on serial --quiet --set scheme.h=changing --set fields.psi=1)
for words in "fields.h_next=0.9" "fields.h_next={box: {from: [3, 4], to: [5, 5], height: -0.1, base: 1}}"; do
    try run case.yaml "${h[@]}" --output jump --set "$words"
    fails 2 "several steps to the same h_next are refused: $words" "case.yaml: fields.h_next" "0.9 and not 1 at" "run one step"
    try check case.yaml --on serial --set scheme.h=changing --set "$words"
    fails 2 "strake check says so, too" "fields.h_next"
    check "before anything is written" test ! -e jump
    try run case.yaml "${h[@]}" --output one --steps 1 --set checkpoint.every=1 --set "$words"
    exits 0 "one step is one"
    try run case.yaml "${h[@]}" --output one --steps 2 --set "$words" --resume one/checkpoint.strake
    exits 0 "so is another one after it"
done
try run case.yaml "${h[@]}" --set fields.h_next=1
exits 0 "an h_next that is h may be in all steps"

try help case
prints "help names what is measured" "diagnostics.every" "free_energy"
done_testing
