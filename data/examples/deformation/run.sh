#!/bin/sh
# Makes the winds, runs the case, checks that nothing was lost, and makes a page to look at. Options go to `strake run`.
set -eu
python3 winds.py
strake run case.yaml "$@"
python3 winds.py check out
strake view out --html page.html
