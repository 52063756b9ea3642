#!/bin/sh
# A day of a lava flow, and a picture of its last output on the ground. Options go to `strake run`.
set -eu
strake run case.yaml "$@"
strake view out --field thickness --patches 4 --png picture.png || echo "the rest is complete"
