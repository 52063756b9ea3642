#!/bin/sh
# Builds the model and the module that was installed with Strake, and runs it. Without contraction, so that its winds have
# the same bits as those of the C and Python models.
set -eu
module=$(pkg-config --variable=includedir strake)/strake.f90
# shellcheck disable=SC2046  # a list of flags
"${FC:-gfortran}" -O2 -ffp-contract=off -o model "$module" model.f90 $(pkg-config --libs strake)
./model "$@"
