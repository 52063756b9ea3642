#!/bin/bash
# strake scan under mpirun: one table and one set of maps, whoever of the ranks makes a run; failures, signals, going on.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
. "$here/ranks.bash"

cat >lava.yaml <<'END'
problem: lava
grid: {rows: 30, cols: 34, dx: 10, dy: 10}
time: {end: 300}
fields: {terrain: {plane: {base: 100, slope: [-0.1, 0.02]}}}
vents: [{row: 12, col: 15, rate: 5}]
END
facts() { # facts TABLE AXES: all but where a run was and how long it took
    cut -d, -f1-$(($2 + 2)),$(($2 + 4)),$(($2 + 8))- "$1"
}
where() { # where TABLE AXES: who made runs
    cut -d, -f$(($2 + 3)) "$1" | tail -n +2 | sort -u | tr '\n' ' ' | sed 's/ $//'
}
rows() { echo $(($(wc -l <"$1") - 1)); }
maps_are() { # maps_are DIR OTHER: the same maps
    local file
    for file in "$1"/*.npy; do
        cmp "$file" "$2/${file##*/}" || return 1
    done
    [ -e "$1/probability.npy" ]
}

refused() { # refused NAME TEXT...: the last on_ranks ended with 2 and one line of all ranks with every TEXT, beside warnings
    sed -i '/^strake: warning: /d' .err
    says 2 "$@"
}

over=(--over 'vents[0].rate=random:1:20:5:3' --over parameters.emissivity=0.5,0.9)
"$STRAKE" scan lava.yaml "${over[@]}" --on serial --table one.csv --maps one --quiet || exit 1
for ranks in 2 3; do
    on_ranks $ranks scan lava.yaml "${over[@]}" --on cpu --table on$ranks.csv --maps on$ranks
    exits 0 "a scan on $ranks ranks"
    prints "has one summary and one table" "on$ranks.csv: 10 runs, 0 failed" "on$ranks: probability, mean, maximum and arrival of 10 runs"
    check "with the bytes of one process" test "$(facts on$ranks.csv 2)" = "$(facts one.csv 2)"
    check "and its maps" maps_are one on$ranks
    check "no rank says that it takes no notice of others" test ! -s .err
done
check "the table says which rank a run was on" grep -q '^[0-9]*,[^,]*,[^,]*,done,[012]:cpu,' on3.csv
on_ranks 2 scan lava.yaml "${over[@]}" --on cpu --table on3.csv --maps on3
prints "a complete one is found complete" "on3.csv is complete already: 10 runs, 0 failed"
check "by one rank" test "$(grep -c 'complete already' .out)" -eq 1
draws=(--draws 12 --sampling lhs --over 'vents[0].rate=lognormal:10:2' --over parameters.emissivity=uniform:0.5:0.9)
"$STRAKE" scan lava.yaml "${draws[@]}" --on serial --table drawn.csv --quiet || exit 1
on_ranks 2 scan lava.yaml "${draws[@]}" --on cpu --table drawn2.csv --keep kept --quiet
check "draws on 2 ranks are those of one process" test "$(facts drawn2.csv 2 | sed 's|kept/[^,]*||')" = "$(facts drawn.csv 2)"
check "--keep has a folder of each, whoever made it" test "$(find kept -name run.json | wc -l)" -eq 12
on_ranks 3 scan - --over time.steps=1,2,3 --on cpu --table input.csv --quiet
refused "a case on standard input that is none is one error" "standard input"

# Who makes what. Runs take long enough for both to be there.
long=(--set time.end=4000)
on_ranks 2 scan lava.yaml "${over[@]}" "${long[@]}" --on serial --table both.csv --quiet
check "both ranks make runs ($(where both.csv 2))" test "$(where both.csv 2)" = "0:serial 1:serial"
on_ranks 2 scan lava.yaml "${over[@]}" --on cpu --jobs 1 --table alone.csv
prints "one by one there is one run at a time on a machine" "10 runs, 0 failed" "1 at a time"
check "made by its first rank, with the same bytes" test "$(where alone.csv 2),$(facts alone.csv 2)" = "0:cpu,$(facts one.csv 2)"
on_ranks 2 scan lava.yaml --over run.on=cpu,serial --table places.csv --quiet
check "so it is where run.* keys are varied" test "$(cut -d, -f4 places.csv | tail -n +2 | tr '\n' ' ')" = "0:cpu 0:serial "
on_ranks 2 scan lava.yaml "${over[@]}" --on cpu/ocl:99 --table lacks.csv
exits 0 "a rank without places does not end the scan"
check "its reason is told" grep -q '^strake: warning: rank 1 makes no runs: .*ocl:99' .err
check "the others make all" test "$(where lacks.csv 2),$(facts lacks.csv 2)" = "0:cpu,$(facts one.csv 2)"
on_ranks 2 scan lava.yaml "${over[@]}" --on ocl:99/cpu --table lacks0.csv --quiet
check "nor does rank 0, which has the table" test "$code,$(where lacks0.csv 2),$(facts lacks0.csv 2)" = "0,1:cpu,$(facts one.csv 2)"
on_ranks 2 scan lava.yaml "${over[@]}" --on ocl:99 --table none.csv
refused "where none has a place that is an error" "ocl:99"
on_ranks 2 scan lava.yaml "${over[@]}" --on cpu/cpu/cpu --table none.csv
refused "a list for other ranks is one, too" "has parts for 3 ranks, and there are 2"
if "$STRAKE" devices --json 2>/dev/null | grep -q '"id": "ocl:0"' && [ -z "${STRAKE_TESTS_CPU_ONLY:-}" ]; then
    on_ranks 2 scan lava.yaml "${over[@]}" --on ocl:0 --members 3 --table device.csv
    exits 0 "a device that is listed"
    check "is one rank's, with the same bytes" test "$(where device.csv 2),$(facts device.csv 2)" = "0:ocl:0,$(facts one.csv 2)"
    on_ranks 2 scan lava.yaml "${over[@]}" "${long[@]}" --on ocl:0,ocl:0 --members 5 --table devices.csv --quiet
    check "of two each rank has one" test "$(where devices.csv 2)" = "0:ocl:0 1:ocl:0"
    check "with the bytes that cores have" test "$(facts devices.csv 2)" = "$(facts both.csv 2)"
    on_ranks 2 scan lava.yaml "${over[@]}" --on cpu/ocl:0 --table mixed.csv --quiet
    check "a list for each rank" test "$code,$(facts mixed.csv 2)" = "0,$(facts one.csv 2)"
else
    skip "devices of ranks" "no OpenCL device"
fi

# Failures.
wrong=(--over 'parameters.emissivity=0.5,7,0.9')
on_ranks 2 scan lava.yaml "${wrong[@]}" --on cpu --table failing.csv
exits 1 "a run that fails"
check "is told once" test "$(grep -c '^strake: run 2 failed (parameters.emissivity=7)' .err)" -eq 1
check "and leaves the others alone" test "$(cut -d, -f3 failing.csv | tr '\n' ' ')" = "state done failed done "
on_ranks 2 scan lava.yaml --over parameters.emissivty=0.5,0.9 --on cpu --table typo.csv
refused "a misspelt key is one error, not one for each rank" "emissivty"
mkdir own0 own1
cp lava.yaml own0
cp lava.yaml own1
elsewhere() { # elsewhere ARGUMENTS...: as on_ranks 2, each rank in a folder of its own
    code=0
    : >"$scratch/.said"
    # shellcheck disable=SC2016
    timeout -k 5 600 mpirun -np 2 bash -c 'exec 2>>"$0"; cd "own${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$@"' \
        "$scratch/.said" "$STRAKE" "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null || code=$?
    cat "$scratch/.said" >"$scratch/.err"
}
elsewhere scan lava.yaml "${over[@]}" --on cpu --maps maps --quiet
refused "a folder that not all ranks see is refused" "rank 1" "folder maps" "need a folder that all ranks see"
check "before any run" test ! -e own0/scan.csv -a ! -e own1/maps -a -z "$(ls own0/maps/runs)"
sed -i 's/rows: 30/rows: 31/' own1/lava.yaml
elsewhere scan lava.yaml "${over[@]}" --on cpu --quiet
refused "so is a case that is another one for a rank" "rank 1" "all ranks have to see the same files"

# Ended before its time.
endless=(scan lava.yaml --over 'vents[0].rate=1:12:12' --set time.end=20000 --on cpu --quiet)
"$STRAKE" "${endless[@]}" --table whole.csv || exit 1
ranks_of() { # the processes of the program below mpirun, without their children
    local process
    for process in $(children_of "$1"); do
        if [ "$(readlink "/proc/$process/exe")" = "$STRAKE" ]; then
            echo "$process"
        else
            ranks_of "$process"
        fi
    done
}
start() { # start TABLE: in the background, until the table has a line; has $launcher and $family, all processes of ranks
    local rank
    mpirun -np 2 "$STRAKE" "${endless[@]}" --table "$1" >.out 2>.err </dev/null &
    launcher=$!
    for turn in $(seq 600); do
        [ ! -e "$1" ] || [ "$(rows "$1")" -lt 1 ] || break
        sleep 0.05
    done
    ranks=$(ranks_of $launcher | tr "\n" " ")
    family=$ranks
    for rank in $ranks; do
        family="$family $(children_of "$rank" | tr "\n" " ")"
    done
}
none_is_left() { # of $family
    local process left turn
    for turn in $(seq 600); do
        left=
        for process in $family; do
            [ ! -e "/proc/$process" ] || grep -q '^State:.Z' "/proc/$process/status" || left="$left $process"
        done
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    return 1
}
for how in 'INT launcher' 'TERM rank' 'KILL rank' 'KILL launcher'; do
    table=$(echo "$how.csv" | tr ' ' -)
    start "$table"
    victim=$launcher
    [ "${how#* }" = launcher ] || victim=$(echo $ranks | cut -d' ' -f2)
    kill -"${how% *}" "$victim"
    code=0
    { wait $launcher || code=$?; } 2>/dev/null
    check "SIG$how ends all, and leaves no process ($family)" none_is_left
    had=$(rows "$table")
    on_ranks 2 "${endless[@]}" --table "$table"
    check "and the same command goes on, from $had of 12 runs" test "$code,$(facts "$table" 1)" = "0,$(facts whole.csv 1)"
done
done_testing
