#!/bin/sh
# Usage: sh autotune/offer.sh DESTDIR STRAKE
# The end of `make install`: offers to tune this machine. Asks only on a terminal; TUNE=yes and TUNE=no
# answer beforehand. An installation into DESTDIR is for another machine, or for a package.
if [ -n "$1" ] || [ "${TUNE:-}" = no ]; then
    exit 0
fi
answer=${TUNE:-}
if [ -z "$answer" ] && [ -t 0 ] && [ -t 1 ]; then
    printf 'Find the fastest settings of this machine now (about three minutes)? [y/N] '
    read -r answer || answer=
fi
case $answer in
    y | Y | yes) exec "$2" tune ;;
    *) echo "$2 tune: finds the fastest settings of this machine, whenever you like" ;;
esac
