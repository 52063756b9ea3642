#!/bin/bash
# A folder of outputs has one owner at a time, and its files belong to one run.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.bash"

long="run case.yaml --on serial --quiet --steps 100000000 --set output.initial=true --set output.every=20000000"
begin() { # begin FOLDER COMMAND...: a run in the background, once it has written step 0; $owner is its process
    local folder=$1
    shift
    "$@" --output "$folder" >"$folder.out" 2>"$folder.err" </dev/null &
    owner=$!
    for _ in $(seq 1200); do
        [ ! -e "$folder/index.csv" ] || break
        sleep 0.05
    done
}
end() { # end: kills the run of begin
    kill -KILL "$owner"
    wait "$owner" 2>/dev/null
}
ids() { cut -d, -f5 "$1/index.csv" | tail -n +2 | sort -u; }
run_of() { sed -n 's/^ *"run": "\(.*\)",$/\1/p' "$1/run.json"; }
is_of_one_run() { [ -n "$(run_of "$1")" ] && [ "$(ids "$1")" = "$(run_of "$1")" ]; }

# Who made the files.
try run case.yaml --on serial --quiet --set output.every=10 --set checkpoint.every=10 --output one
exits 0 "a run"
check "has its id in run.json" sh -c "echo '$(run_of one)' | grep -qE '^20[0-9-]*T[0-9:]*Z-[A-Za-z0-9._-]*-[0-9]+$'"
check "and the same in each line of the index" is_of_one_run one
check "its lock is gone at the end" test ! -e one/.strake-lock
first=$(run_of one)
try run case.yaml --on serial --quiet --set output.every=10 --output other
check "another run has another id" test "$(run_of other)" != "$first"
try compare one other
exits 0 "and equal outputs"
try run case.yaml --on serial --quiet --set output.every=10 --resume one/checkpoint.strake --output one --steps 40
exits 0 "a run resumes in its own folder"
check "lines of both runs name theirs" test "$(tail -n +2 one/index.csv | cut -d, -f5 | uniq | tr '\n' ' ')" = "$first $(run_of one) "
cut -d, -f1-4 one/index.csv >before && cp before one/index.csv
try run case.yaml --on serial --quiet --set output.every=10 --resume one/checkpoint.strake --output one --steps 40
exits 0 "an index without ids is continued"
check "as it is" test "$(head -n 3 one/index.csv | cut -d, -f1-4)" = "$(head -n 3 before)"
cp before one/index.csv
try view one
exits 0 "and read"

# Two at once.
# shellcheck disable=SC2086
begin two "$STRAKE" $long
cp -r two kept
try run case.yaml --on serial --quiet --output two --set fields.u1=0.1
fails 1 "a second run in the same folder is refused" "folder two belongs to another run" "process $owner on host $(hostname)"
check "and changes nothing" diff -r two kept
ln -s two link
try run case.yaml --on serial --quiet --output link
fails 1 "also by another name" "process $owner"
try run case.yaml --on serial --quiet --output two --resume one/checkpoint.strake --steps 40
fails 1 "so is one that resumes" "process $owner"
try run case.yaml --on serial --quiet --output apart
exits 0 "another folder is free"
check "the first goes on" kill -0 "$owner"
chmod 755 .
if [ "$(id -u)" -eq 0 ] &&
    setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "test -x '$STRAKE' && test -r case.yaml" 2>/dev/null; then
    as_other() { # a user that may write to the folder, and not to the lock
        setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/ \
            "$STRAKE" run case.yaml --on serial --quiet --steps 1 --output "$1"
    }
    chmod 777 two
    as_other two >.out 2>.err
    code=$?
    fails 1 "so is one of another user" "process $owner on host $(hostname)"
    mkdir -m 777 left && (umask 022 && touch left/.strake-lock)
    as_other left >.out 2>.err
    code=$?
    exits 0 "to whom a lock that is left is no hindrance"
else
    skip "runs of another user" "needs root, setpriv and a build that others can read"
fi
end
try run case.yaml --on serial --quiet --output two
exits 0 "the folder of a killed run is free"
check "and has the outputs of one" is_of_one_run two
try compare two apart
exits 0 "as if it had been alone"

# A process that the owner forked may end a little later than the owner; its parent may not have asked for its end.
orphan() { # orphan SECONDS: an owner that has ended, but not what it forked
    rm -rf two
    mkdir two
    bash -c 'exec 9<>two/.strake-lock; flock -n 9 && echo "process $$ on host $(hostname), since then" >&9
        sleep "$0" >/dev/null 2>&1 </dev/null &' "$1"
}
orphan 1.5
try run case.yaml --on serial --quiet --output two
exits 0 "what an ended owner forked is waited for"
# shellcheck disable=SC2016
bash -c 'bash -c "exec 9<>two/.strake-lock; flock -n 9
    echo \"process \$\$ on host \$(hostname), since then\" >&9; sleep 1.5 >/dev/null 2>&1 <&1 &" &
    exec sleep 30 >/dev/null 2>&1' &
holder=$!
for _ in $(seq 600); do
    grep -q Z "/proc/$(sed -n 's/^process \([0-9]*\).*/\1/p' two/.strake-lock)/stat" 2>/dev/null && break
    sleep 0.05
done
try run case.yaml --on serial --quiet --output two
exits 0 "also while the owner is a zombie"
kill "$holder"
rm -rf two
mkdir two
ln -s ../case.yaml two/.strake-lock
try run case.yaml --on serial --quiet --output two
fails 1 "a link in place of the lock is refused" "two/.strake-lock"
check "and not followed" grep -q '^problem: mpdata2d' case.yaml

# Scans.
"$STRAKE" scan case.yaml --over fields.u1.constant=0.1,0.2 --steps 100000000 --on serial --keep runs --table first.csv \
    --quiet >scan.out 2>&1 </dev/null &
owner=$!
for _ in $(seq 1200); do
    [ ! -s runs/.strake-lock ] || break
    sleep 0.05
done
try scan case.yaml --over fields.u1.constant=0.1,0.2 --on serial --keep runs --table second.csv --quiet
fails 1 "a second scan that keeps its runs in the same folder is refused" "folder runs belongs to another run" "process $owner"
check "and writes no table" test ! -e second.csv
end
try scan case.yaml --over fields.u1.constant=0.1,0.2 --on serial --keep runs --table second.csv --quiet
exits 0 "a killed scan frees it"
check "each run has its id" sh -c 'ls runs/*/index.csv && for d in $(dirname runs/*/index.csv); do
    id=$(sed -n "s/^ *\"run\": \"\(.*\)\",$/\1/p" "$d/run.json")
    [ -n "$id" ] && grep -q ",$id$" "$d/index.csv" || exit 1
done'

# What vanishes meanwhile. The run has some hundred outputs, and the time for them.
many="run large.yaml --on serial --quiet --set output.initial=true --set output.every=1 --steps"
sed 's/rows: 61, cols: 97/rows: 200, cols: 300/' case.yaml >large.yaml
vanishes() { # vanishes STEPS COMMAND: a run beside which a command is done once it has written step 0
    rm -rf gone
    # shellcheck disable=SC2086
    begin gone "$STRAKE" $many "$1"
    shift
    "$@"
    code=0
    wait "$owner" || code=$?
    cp gone.err .err
}
vanishes 150 rm gone/psi_00000000.npy
fails 1 "an output that was removed meanwhile is named at the end" "folder gone" "psi_00000000.npy"
check "and those after it are there" test -e gone/psi_00000150.npy
terminate() { rm gone/psi_00000000.npy && kill -TERM "$owner"; }
vanishes 100000 terminate
fails 143 "also where the run is ended by SIGTERM" "folder gone" "psi_00000000.npy" "--resume gone/checkpoint.strake"
vanishes 1000 rm gone/run.json
fails 1 "run.json is missed at the next output" "folder gone" "run.json"
vanishes 1000 mv gone moved
fails 1 "so is the folder" "gone"
rm -rf moved
# Between two outputs, which take hardly any of its time.
exchange() { mv gone moved && mkdir gone; }
many=${many/output.every=1/output.every=1000}
vanishes 1000000 exchange
fails 1 "and one that another has replaced" "folder gone"
check "in which nothing was written" test -z "$(ls -A gone)"

. "$here/ranks.bash"
# shellcheck disable=SC2086
timeout -k 5 600 mpirun -np 2 "$STRAKE" ${long/serial/cpu} --output shared >.shared 2>&1 </dev/null &
owner=$!
for _ in $(seq 1200); do
    [ ! -e shared/index.csv ] || break
    sleep 0.05
done
on_ranks 2 run case.yaml --on cpu --quiet --output shared
says 1 "ranks share one folder, which others may not have" "folder shared belongs to another run" "on host $(hostname)"
kill "$owner"
wait "$owner" 2>/dev/null
on_ranks 2 run case.yaml --on cpu --quiet --output shared
exits 0 "and leave it"
check "with one id" is_of_one_run shared

done_testing
