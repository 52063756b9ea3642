#!/bin/sh
# Builds the model with the Strake that pkg-config finds, and runs it. Without contraction, so that its winds have the same
# bits as those of the Fortran and Python models.
set -eu
# shellcheck disable=SC2046  # lists of flags
"${CC:-cc}" -O2 -ffp-contract=off -o model model.c $(pkg-config --cflags --libs strake)
./model "$@"
