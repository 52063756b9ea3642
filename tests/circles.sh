#!/bin/bash
# Usage: bash tests/circles.sh BUILD
# Circles of files of src, host and autotune: files each of which needs, by the symbols of their object files,
# all others in turn, so that none can be understood, tested or moved alone. Prints every circle with its files and
# what each takes from the others, and fails where one has more files than its folders may have.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1

# Files of the largest circle that a folder may be part of; 3 where nothing is said. Who mends a circle lowers the
# number, and removes the line at 3.
limits='
