#!/bin/sh
# Runs the quench, which leaves out/fields.pvd for ParaView, shows how its free energy fell, and draws the surface between
# the phases. Options go to `strake run`.
set -eu
strake run case.yaml "$@"
column -s , -t out/diagnostics.csv 2>/dev/null || cat out/diagnostics.csv
strake view out --surface 0 --png surface.png || echo "the rest is complete"
