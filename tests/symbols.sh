#!/bin/bash
# Usage: bash tests/symbols.sh BUILD [HEADER]
# The shared library exports the functions that the public header (src/strake.h) declares and nothing else, and
# every external symbol of the static library begins with strake_. The header is read by a C compiler (CC, cc).
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
header=${2:-src/strake.h}
shared=$build/libstrake.so
static=$build/libstrake.a

# What is outside of braces, cut at semicolons: a prototype has the name before its first parenthesis.
declared=$("${CC:-cc}" -std=c11 -E -P "$header" | tr '\n' ' ' | awk '
    {
        depth = 0
        for (k = 1; k <= length($0); k++) {
            c = substr($0, k, 1)
            if (c == "{") depth++
            if (depth == 0) text = text c
            if (c == "}") depth--
        }
        count = split(text, part, ";")
        for (k = 1; k <= count; k++)
            if (part[k] !~ /(^| )typedef / && match(part[k], /strake_[a-z0-9_]+ *\(/)) {
                name = substr(part[k], RSTART, RLENGTH)
                sub(/ *\($/, "", name)
                print name
            }
    }' | sort)
exported=$(nm -D --defined-only --extern-only "$shared" | awk '{ print $NF }' | sort)
status=0
if [ -z "$declared" ]; then
    echo "check-symbols: $header declares no function, or cannot be read by ${CC:-cc}"
    status=1
fi
while read -r name; do
    echo "check-symbols: $header declares $name, which $shared does not export"
    status=1
done < <(comm -23 <(echo "$declared") <(echo "$exported") | grep .)
while read -r name; do
    echo "check-symbols: $shared exports $name, which $header does not declare"
    status=1
done < <(comm -13 <(echo "$declared") <(echo "$exported") | grep .)
while read -r name; do
    echo "check-symbols: $static has $name, which does not begin with strake_"
    status=1
done < <(nm -A --defined-only --extern-only "$static" 2>/dev/null |
    awk 'NF >= 3 && $NF !~ /^(strake_|\.gomp_critical_user_strake_)/ { print $NF }')
[ $status -ne 0 ] || echo "check-symbols: $(wc -w <<<"$exported") functions, those of $header"
exit $status
