#!/bin/bash
# Usage: commands, options, help, exit codes; what goes to stdout and what to stderr.
. "$(dirname "$0")/tap.bash"

try --version
exits 0 "--version succeeds"
check "--version prints name and number" grep -qE '^strake [0-9]+\.[0-9]+\.[0-9]+$' .out
try help
exits 0 "help succeeds"
prints "help lists the commands" "run " "check " "devices " "bench " "tune " "compare " "help "
prints "and says that there are grids and particles" "a simulation, of a grid or of particles, on all processors"
lacks "the worker of tune is not among them" 'tune-worker' .out
cp .out overview
try --help
check "--help is help" cmp .out overview
try
fails 2 "no command is a usage error" "strake help"

for command in new run scan check devices doctor bench tune model compare view completion help; do
    try help $command
    exits 0 "help $command succeeds"
    prints "help $command shows usage and examples" "Usage: strake $command" "Options:" "Examples:" \
        "  strake $command"
    check "help $command fits 90 columns" awk 'length > 90 { exit 1 }' .out
    cp .out page
    try $command --help
    check "$command --help is help $command" cmp .out page
done
try help case
prints "help case lists keys" "time.steps" "precision"
try help deposit
prints "help on a field that is only written says where it is" "output.fields" "deposit (what lies there"
try help rnu
fails 2 "help on an unknown command suggests" "rnu" "run"

try rnu case.yaml
fails 2 "an unknown command suggests" "unknown command 'rnu'" "did you mean 'run'?"
try frobnicate
fails 2 "a far-off command lists no suggestion" "unknown command 'frobnicate'" "strake help"
try help interpolate
exits 0 "keys of how a field is given are found"
prints "with what is said of them" "series: {file: NAME" "interpolate: none (default)"
lacks "and nothing else" 'sum:' .out
lacks "no suggestion for it" 'did you mean' .err
try --verison
fails 2 "an unknown global option suggests" "'--verison'" "'--version'"
try run case.yaml --treads 2
fails 2 "an unknown option suggests" "unknown option '--treads'" "did you mean '--threads'?"
try run case.yaml --treads=2
fails 2 "an unknown option with = names only the option" "unknown option '--treads'"
try run case.yaml -q
fails 2 "an unknown short option is an error" "'-q'"
try run case.yaml --on
fails 2 "a missing value names the option" "option --on needs a value: --on WHERE"
try run case.yaml --on --quiet
fails 2 "an option is not taken as a value" "option --on needs a value"
try run case.yaml --on=
fails 2 "an empty value is missing" "option --on needs a value"
try run case.yaml --quiet=yes
fails 2 "a flag takes no value" "option --quiet takes no value" "yes"
for value in 0 -1 4097 99999999999999999999; do
    try run case.yaml --threads $value
    fails 2 "--threads $value is out of range" "option --threads: $value" "from 1 to 4096"
done
for value in two 1.5 0x4 ' 4' 4k; do
    try run case.yaml --threads "$value"
    fails 2 "--threads '$value' is no whole number" "'$value' is not a whole number"
done
try run case.yaml --steps=-5
fails 2 "--steps must not be negative" "option --steps: -5 is out of range"
try run case.yaml --set time.steps
fails 2 "--set needs =" "option --set" "PATH=VALUE" "'time.steps'"
try run
fails 2 "a missing operand is named" "run needs CASE.yaml"
try run case.yaml other.yaml
fails 2 "a superfluous operand is named" "unexpected argument 'other.yaml'"
try compare one
fails 2 "compare needs two" "compare needs A B"
try devices x
fails 2 "devices takes none" "unexpected argument 'x'"
try compare a b --tolerance tiny
fails 2 "--tolerance needs a number" "'tiny' is not a number"
try compare a b --tolerance -1
fails 2 "--tolerance must not be negative" "-1 is out of range"

try run case.yaml --on cpy
fails 2 "an unknown place is a usage error" "cpy"
try run case.yaml --on serial --split 1,x
fails 2 "a split that is no number is a usage error" "split"
try run case.yaml --on serial --set grid.rws=3
fails 2 "an unknown key is a usage error" "rws" "rows"
try check case.yaml --set time.dt=0
fails 2 "check rejects a value out of range" "dt"
try check case.yaml --set fields.u1.constant=7
fails 2 "check rejects an unstable flow" "unstable"
check "nothing was written by failed commands" test ! -e out
try run case.yaml --on serial --quiet --output still --set 'time={courant: 0.5, dt: 0.25, end: 1}' --set fields.u1=0 --set fields.u2=0 \
    --set output.every=1
exits 0 "where nothing flows time.dt is the step of time.courant"
check "and nobody is told of outputs for ever" sh -c '! grep . .err'
try run case.yaml --on serial --quiet --steps 1 --output divergent --set scheme.divergent=true
[ "$code" -eq 0 ] && [ "$(grep -c 'warning: scheme.divergent: true with scheme.nonoscillatory: true is of first order' .err)" -eq 1 ]
report $? "a divergent flow with the limiter is warned of, once"
try run case.yaml --on serial --quiet --steps 1 --output divergent --set scheme.divergent=true --set scheme.nonoscillatory=false
[ "$code" -eq 0 ] && [ -s divergent/psi_00000001.npy ] && ! grep -q warning .err
report $? "and without it not"

try run case.yaml --on serial --steps 3 --output a
exits 0 "options may follow the case"
try run --output=a2 --steps=3 --on=serial case.yaml
exits 0 "options may precede the case, with ="
check "both forms mean the same" "$STRAKE" compare a a2
try run --on serial --steps 3 --output a3 -- case.yaml
exits 0 "-- ends the options"
cp case.yaml ./-case.yaml
try run --on serial --steps 3 --output a4 -- -case.yaml
exits 0 "after -- a name may begin with a dash"
try run case.yaml --on serial --set time.steps=9 --steps 3 --output a5
check "--steps beats --set time.steps" test -e a5/psi_00000003.npy

try check case.yaml --on serial
exits 0 "check accepts the case"
prints "check says what it would do" "mpdata2d" "61 x 97" "serial" "memory"
check "check writes nothing" test ! -e out
try run case.yaml --on serial --steps 3 --output q --quiet
check "--quiet prints nothing" bash -c '[ ! -s .out ] && [ ! -s .err ]'
try run case.yaml --on serial --steps 3 --output q
check "the summary fits 80 columns" awk 'length > 80 { exit 1 } END { exit NR < 5 }' .out
prints "the summary names device and field" "serial" "psi" "cell/s"
try run case.yaml --on cpu --threads 3 --set run.steps_per_sweep=64 --output cpu
prints "of the CPU it says threads, steps and columns" "cpu: 3 threads, 32 steps a sweep, " " columns at once"
check "and a note that so many steps at once are not possible" \
    grep -q '^strake: note: run.steps_per_sweep: 64; .* 32$' .err
try run case.yaml --on cpu --threads 3 --set run.steps_per_sweep=64 --output cpu --quiet
check "unless --quiet silences notes" test "$code,$(cat .out .err | wc -c)" = 0,0
try check case.yaml --on cpu --threads 1 --set run.steps_per_sweep=1
prints "strake check says the same" "cpu: 1 thread, 1 step a sweep, " " columns at once"

if [ -c /dev/full ]; then
    for words in "--version" "help" "help run" "check case.yaml --on serial" "devices" "compare a a2" \
        "bench --sizes 16 --steps 1 --repeats 1 --on serial --quiet" \
        "run case.yaml --on serial --steps 3 --output q" \
        "run case.yaml --on serial --steps 3 --output q --report - --quiet"; do
        code=0
        # shellcheck disable=SC2086
        "$STRAKE" $words >/dev/full 2>.err </dev/null || code=$?
        : >.out
        fails 1 "a full standard output is an error: $words" "cannot write standard output"
    done
else
    skip "a full standard output is an error" "no /dev/full here"
fi
done_testing
