#!/bin/sh
# Runs the quench, which leaves out/u.pvd for ParaView, and shows how its free energy fell. Options go to `strake run`.
set -eu
strake run case.yaml "$@"
column -s , -t out/diagnostics.csv 2>/dev/null || cat out/diagnostics.csv
