#!/bin/sh
# Usage: sh host/program/dist.sh TARBALL FOLDER
# Packs every file that git knows, as it lies here, below FOLDER. The same files make the same bytes.
set -eu
tarball=$1
folder=$2

if ! commit=$(git rev-parse --verify -q HEAD 2>/dev/null) || [ ! -e .git ]; then
    echo 'dist: only a clone knows which files belong to the source; this is none' >&2
    exit 1
fi
[ -z "$(git status --porcelain)" ] || echo "dist: note: there are changes that are not in commit $commit" >&2
git ls-files -z |
    tar --create --null --files-from=- --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        --mtime="@$(git log -1 --format=%ct)" --transform="flags=r;s|^|$folder/|" |
    gzip -9n >"$tarball.new"
mv "$tarball.new" "$tarball"
echo "dist: $tarball, $(git ls-files | wc -l) files"
