#!/bin/sh
# Half of a run, the rest of it from its checkpoint on other processors, and the whole at once: the same bytes. Ctrl-C in
# the middle of a run does what --steps does here. Options go to `strake run`.
set -eu
strake run case.yaml --steps 314 --output halves --on cpu "$@"
strake run case.yaml --resume halves/checkpoint.strake --output halves --on serial "$@"
strake run case.yaml --output whole "$@"
strake compare halves whole
strake view whole --png picture.png || echo "the rest is complete"
