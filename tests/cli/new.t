#!/bin/bash
# strake new, help on keys, and what shells complete: all from the tables that read a case.
. "$(dirname "$0")/tap.bash"
problems=$("$STRAKE" help case | sed -n 's/^Problem \([a-z0-9_]*\) .*/\1/p')
check "there are problems" test "$(wc -w <<<"$problems")" -ge 3

for problem in $problems; do
    try new "$problem"
    exits 0 "new $problem succeeds"
    cp .out "$problem.yaml"
    check "it fits 100 columns" awk 'length > 100 { exit 1 }' "$problem.yaml"
    if ! grep -q '^scene:' "$problem.yaml"; then
        try run "$problem.yaml" --on cpu --quiet --output "$problem"
        exits 0 "and runs as printed"
        check "with outputs" sh -c 'ls "$0"/*.npy' "$problem"
    fi
    # One commented key after the other without its #: what is shown is the default, and legal.
    short=() # of particles no steps are tried
    ! grep -q '^scene:' "$problem.yaml" || short=(--set time.end=1e-9)
    "$STRAKE" check "$problem.yaml" --on serial "${short[@]}" | grep -vE '[0-9] (s|ms|us)|cell/s' >plain
    bad=
    for line in $(grep -nE '^ *#[a-z]' "$problem.yaml" | cut -d: -f1); do
        sed "${line}s/#//" "$problem.yaml" >one.yaml
        "$STRAKE" check one.yaml --on serial "${short[@]}" 2>.err | grep -vE '[0-9] (s|ms|us)|cell/s' | sed 's/one.yaml/'"$problem.yaml/" >one
        cmp -s plain one || bad="$bad $line"
    done
    check "the default that each commented key shows is legal and changes nothing ($(grep -cE '^ *#[a-z]' "$problem.yaml") keys;$bad)" test -z "$bad"
    # Every key but those of tuning, of other problems or without a default.
    missing=
    for key in $("$STRAKE" help "$problem" | sed -n 's/^  \([a-z0-9_A-Z.]*\.[a-zA-Z0-9_]*\) .*; default [^:].*/\1/p'); do
        grep -qE "^ *#?${key##*.}: " "$problem.yaml" || grep -qE "\{${key##*.}: " "$problem.yaml" || missing="$missing $key"
    done
    check "none of its keys is missing$missing" test -z "$missing"
    # At the top there is nothing between two keys that are the same.
    again=$(sed -n 's/^#\{0,1\}\([a-z_]*\):.*/\1/p' "$problem.yaml" | sort | uniq -d)
    check "no key at the top is there twice $again" test -z "$again"
done
try new
fails 2 "new without a problem names them" "new needs PROBLEM" "mpdata2d" "cahn_hilliard3d"
try new mpdat2d
fails 2 "a misspelt problem suggests" "'mpdat2d'" "did you mean 'mpdata2d'?"

try help scheme.iterations
exits 0 "help explains a key by its path"
prints "with range, unit, default and an example" "an integer from 1 to 8 [-]; default 2" "donor-cell passes" "of mpdata1d, mpdata2d, mpdata3d" \
    "scheme: {iterations: 4}" "--set scheme.iterations=4"
try help every
prints "several keys of one name are listed" "output.every" "checkpoint.every" "diagnostics.every"
try help boundary
prints "and all of a section" "boundary.planes" "boundary.rows" "boundary.cols"
try help gaussian
prints "a shape is explained" "sigma" "height"
try help mpdata2d
prints "and a problem" "fields.psi" "scheme.gauge"
try help scheme.time
check "what two problems share is said once" test "$(grep -c '^  scheme.time' .out)" -eq 1
prints "with both" "of cahn_hilliard2d, cahn_hilliard3d"
try help nodata
prints "a word that is no key is looked up in the help of all keys" "file: NAME.asc" "no value"
lacks "of which only what has it is shown" 'file: NAME.npy' .out
try help iteratons
fails 2 "a misspelt key suggests" "no help on 'iteratons'" "did you mean 'iterations'?"
try help case
check "help case leaves the keys of tuning out" sh -c 'grep -q "^  run.hang_seconds" .out && ! grep -q "^  run.unroll" .out'
prints "and says where they are" "strake help tuning"
try help tuning
check "help tuning has them alone" sh -c 'grep -q "^  run.unroll" .out && ! grep -q "^  run.hang_seconds" .out'
keys() { "$STRAKE" help case | cat - <("$STRAKE" help tuning) | sed -n 's/^  \([a-z][a-z0-9_]*\(\.[a-zA-Z0-9_]*\)\{1,\}\)\( .*\)\{0,1\}$/\1/p' | sort -u; }
unknown=
for key in $(keys); do
    "$STRAKE" help "$key" >.out 2>.err && grep -qE "^  ${key//./\\.}( |$)" .out || unknown="$unknown $key"
done
check "help knows every key ($(keys | wc -l))$unknown" test -z "$unknown"

# What a shell completes: the word before the cursor is the last argument.
"$STRAKE" completion bash >complete.bash
check "bash reads its completions" bash -n complete.bash
bash_completes() { # bash_completes WORD...: prints the completions
    bash -c '. ./complete.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _strake; printf "%s\n" "${COMPREPLY[@]}"' - strake "$@"
}
completes() { # completes NAME SHELL WANTED... -- WORD...: all of WANTED are among the completions of WORD...
    local name=$1 shell=$2 wanted=() word found good=0
    shift 2
    while [ "$1" != -- ]; do
        wanted+=("$1")
        shift
    done
    shift
    found=$("${shell}_completes" "$@" 2>.err) || good=1
    for word in "${wanted[@]}"; do
        grep -qxF -- "$word" <<<"$found" || good=1
    done
    [ ! -s .err ] || good=1
    printf '%s\n' "$found" >.out
    report $good "$shell completes $name"
}
commands=$("$STRAKE" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
table() { # table SHELL MARK: MARK stands behind a key where its value follows
    # shellcheck disable=SC2046,SC2086
    {
        completes "commands" "$1" $commands -- ''
        completes "a command that is begun" "$1" check compare completion -- c
        for command in $commands; do
            completes "the options of $command" "$1" $("$STRAKE" help $command | sed -n 's/^  \(--[a-z-]*\).*/\1/p') -- $command --
        done
        completes "places" "$1" cpu gpu hybrid auto serial -- run case.yaml --on ''
        completes "problems" "$1" $problems -- new ''
        completes "problems after --problem" "$1" $problems -- tune --problem ''
        completes "keys" "$1" $(keys | sed "s/\$/$2/") -- run case.yaml --set ''
        completes "topics of help" "$1" case tuning run scheme.iterations mpdata2d -- help ''
    }
}
table bash =
mkdir sub && cp case.yaml sub/other.yaml && touch note.txt
completes "cases and folders" bash case.yaml sub -- run ''
check "and no other files" sh -c 'grep -qx case.yaml .out && ! grep -q note.txt .out'
completes "words of a key" bash none infinite -- run case.yaml --set scheme.gauge = ''
completes "and one that is begun" bash infinite -- run case.yaml --set scheme.gauge = inf
check "the words of a key are those that it takes" test "$(bash_completes run case.yaml --set precision = '' | sort | tr '\n' ' ')" = "double single "

# zsh: its completion system stands behind; here the function that offers words prints them.
if command -v zsh >/dev/null; then
    "$STRAKE" completion zsh >_strake
    zsh_completes() {
        zsh -f -c '
            compadd() {
                local suffix=
                while [[ $1 == -* && $1 != -- ]]; do
                    case $1 in
                        -S) suffix=$2; shift 2 ;;
                        -a) print -l -- ${(P)2}; return ;;
                        *) shift ;;
                    esac
                done
                [[ $1 != -- ]] || shift
                local word
                for word in "$@"; do print -r -- "$word$suffix"; done
            }
            compset() { PREFIX=${PREFIX#*=}; }
            _files() { print -r -- files "$@"; }
            source ./_strake
            words=("$@")
            CURRENT=$#
            PREFIX=${@[-1]}
            _strake' - strake "$@"
    }
    table zsh =
    completes "cases" zsh "files -g *.y*ml" -- run ''
    completes "words of a key" zsh none infinite -- run case.yaml --set scheme.gauge=
else
    skip "zsh completes" "no zsh here (package zsh)"
fi

# fish says itself what it offers, with descriptions behind tabs.
if command -v fish >/dev/null; then
    "$STRAKE" completion fish >strake.fish
    fish_completes() {
        HOME=$PWD fish --no-config -c 'source ./strake.fish; complete -C "$argv"' strake "$@" | cut -f 1
    }
    table fish =
    completes "cases and folders" fish case.yaml sub/ -- run ''
    check "and no other files" sh -c 'grep -qx case.yaml .out && ! grep -q note.txt .out'
    completes "words of a key" fish scheme.gauge=none scheme.gauge=infinite -- run case.yaml --set scheme.gauge=
    completes "shells" fish bash zsh fish -- completion ''
else
    skip "fish completes" "no fish here (package fish)"
fi
try completion tcsh
fails 2 "another shell is refused" "'tcsh'" "bash, zsh or fish"
done_testing
