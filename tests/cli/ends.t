#!/bin/bash
# A run ends at a step or at a time, and with steps that the flow sets exactly there.
. "$(dirname "$0")/tap.bash"

sed 's/time: {.*}/time: {dt: 0.1, end: 2}/' case.yaml >ends.yaml
try run ends.yaml --on serial --quiet --output ends
exits 0 "time.end in place of time.steps"
try run case.yaml --on serial --quiet --output steps
check "is the run of so many steps" "$STRAKE" compare steps ends
try run ends.yaml --on serial --quiet --set time.end=2.04
fails 2 "an end within a step is refused with the nearest two" "time.end" "20.4 steps" "2 s and 2.1 s"
check "and nothing is written" test ! -e out
try run ends.yaml --on serial --quiet --output fewer --steps 7
check "--steps goes before it" test -e fewer/psi_00000007.npy
sed 's/time: {.*}/time: {dt: 0.1, end: 2, steps: 20}/' case.yaml >both.yaml
try run both.yaml --on serial
fails 2 "both in one case" "time.steps is given, too" "leave one of them out"
sed 's/time: {.*}/time: {dt: 0.1}/' case.yaml >neither.yaml
try run neither.yaml --on serial
fails 2 "none of both" "time.steps"

cat >flow.yaml <<'CASE'
problem: mpdata2d
grid: {rows: 24, cols: 20}
time: {courant: 0.5, end: 10}
boundary: {rows: open, cols: periodic}
fields:
  psi: {cone: {center: [12, 10], radius: 4, height: 1}}
  u1: {uniform: {velocity: [0.3, 0.1]}}
  u2: {uniform: {velocity: [0.3, 0.1]}}
  h: {constant: 1}
CASE
try run flow.yaml --on serial --output flow --report flow.json
exits 0 "with time.courant"
check "the last step ends exactly there" grep -q '"time": 10[,}]' flow.json
steps=$(sed -n 's/.*"steps": \([0-9]*\).*/\1/p' flow.json | head -n 1)
check "after some steps ($steps)" test "${steps:-0}" -gt 3
try run flow.yaml --on cpu,ocl:0 --quiet --output mixed
check "on any processors to the same bytes" "$STRAKE" compare flow mixed
try run flow.yaml --on serial --quiet --output half --set time.end=5 --set 'checkpoint={every: 1}'
try run flow.yaml --on serial --output rest --resume half/checkpoint.strake --report rest.json
exits 0 "a later end goes on from it"
check "to its own" grep -q '"time": 10[,}]' rest.json
check "and is told that its last step was cut short" grep -q "cut short" .err
try check flow.yaml --on serial
prints "check says when it ends" "10 s in steps as the flow allows"
done_testing
