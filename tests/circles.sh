#!/bin/bash
# Usage: bash tests/circles.sh BUILD
# Circles of files of src, host and autotune: files each of which needs all others in turn, by the symbols that their
# objects take from each other, so that none of them can be understood, tested or moved alone. Prints every circle
# with its files, and fails where one has more than three, saying who takes what from whom.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1

most=3

# Objects without their source are of files that have moved.
objects=()
while read -r object; do
    source=$(sed -E 's/\.((scalar|base|avx2|avx512)\.f(64|32)\.)?o$/.c/' <<<"${object#"$build/obj/"}")
    [ ! -e "$source" ] || objects+=("$object")
done < <(find "$build"/obj/{src,host,autotune} -name '*.o' 2>/dev/null | sort)
if [ ${#objects[@]} -eq 0 ]; then
    echo "circles: no objects in $build: make first"
    exit 1
fi

nm -A --extern-only "${objects[@]}" 2>/dev/null | awk -v prefix="$build/obj/" -v most=$most '
    # The files of a circle: those from which a file can be reached again (Tarjan, 1972).
    function visit(file, k, count, list, other) {
        order[file] = least[file] = ++visited
        stack[++height] = file
        waiting[file] = 1
        count = split(takes[file], list, " ")
        for (k = 1; k <= count; k++) {
            other = list[k]
            if (!(other in order)) {
                visit(other)
                if (least[other] < least[file]) least[file] = least[other]
            } else if (waiting[other] && order[other] < least[file]) {
                least[file] = order[other]
            }
        }
        if (least[file] != order[file]) return
        circles++
        do {
            other = stack[height--]
            waiting[other] = 0
            circle[other] = circles
            members[circles] = members[circles] " " other ".c"
            size[circles]++
        } while (other != file)
    }
    {
        split($0, cut, ":")
        file = substr(cut[1], length(prefix) + 1)
        sub(/\.((scalar|base|avx2|avx512)\.f(64|32)\.)?o$/, "", file)
        if (!(file in known)) {
            known[file] = 1
            files[++count] = file
        }
        if ($(NF - 1) == "U") needs[file, $NF] = 1
        else if ($(NF - 1) !~ /^[wv]$/ && !($NF in home)) home[$NF] = file
    }
    END {
        for (both in needs) {
            split(both, pair, SUBSEP)
            other = home[pair[2]]
            if (other == "" || other == pair[1]) continue
            if (!((pair[1], other) in symbols)) takes[pair[1]] = takes[pair[1]] " " other
            symbols[pair[1], other] = symbols[pair[1], other] " " pair[2]
        }
        for (k = 1; k <= count; k++) if (!(files[k] in order)) visit(files[k])
        for (c = 1; c <= circles; c++) {
            if (size[c] < 2) continue
            largest = size[c] > largest ? size[c] : largest
            printf "circles: %d files:%s\n", size[c], members[c]
            if (size[c] <= most) continue
            printf "circles: that is more than %d:\n", most
            for (both in symbols) {
                split(both, pair, SUBSEP)
                if (circle[pair[1]] == c && circle[pair[2]] == c)
                    printf "    %s.c takes from %s.c:%s\n", pair[1], pair[2], symbols[both] | "sort"
            }
            close("sort")
            failed = 1
        }
        printf "circles: %d files, the largest circle has %d\n", count, largest
        exit failed
    }'
