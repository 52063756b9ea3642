#!/bin/sh
# Makes the winds, runs the case, checks that nothing was lost, and makes a page and a picture. Options go to `strake run`.
set -eu
python3 winds.py
strake run case.yaml "$@"
python3 winds.py check out
strake view out --html page.html
strake view out --png picture.png || echo "the rest is complete"
