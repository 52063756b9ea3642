#!/bin/bash
# MPI is a module: nothing else is linked with it, it is found beside the program, in the folder of
# libraries and where the loader looks, and where it is missing or wrong one message says so.
here=$(realpath "$(dirname "$0")")
. "$here/tap.bash"
source=$(realpath "$here/../..")
build=$(dirname "$STRAKE")
file=libstrake-mpi.so

check "the program starts without MPI" sh -c '! ldd "$1" | grep -q libmpi' - "$STRAKE"
check "so does the library" sh -c '! ldd "$1" | grep -q libmpi' - "$build/libstrake.so"
check "and who links it needs none" sh -c '! grep -q mpi "$1"' - "$build/strake.pc"
. "$here/ranks.bash"

check "the module exports one table" test \
    "$(nm -D --defined-only "$build/$file" | awk '{ print $NF }')" = strake_mpi_module
"$STRAKE" run flow.yaml --quiet --output one || exit 1

# The program alone, in a folder of its own.
from_bin=$(make -s -C "$source" print-LIBDIR_FROM_BIN)
libraries=$(realpath -m "lone/bin/$from_bin")
mkdir -p lone/bin "$libraries" elsewhere
cp "$STRAKE" lone/bin/strake
STRAKE=$PWD/lone/bin/strake
try run flow.yaml --quiet --output ranks
same "a lone process needs no module"
OMPI_COMM_WORLD_SIZE=1 try run flow.yaml --quiet --output ranks
same "nor does a launcher's only one"
unset LD_LIBRARY_PATH
on_ranks 2 run flow.yaml --quiet --output ranks
says 2 "without it several ranks are refused" "$file" "$PWD/lone/bin" "No such file" "(OMPI_COMM_WORLD_SIZE=2)" \
    "LD_LIBRARY_PATH"
check "and nothing is written" test ! -e ranks
PATH=$PWD/lone/bin:$PATH OMPI_COMM_WORLD_SIZE=2 sh -c 'strake run flow.yaml' 2>.err
check "the folder is known to who found the program by PATH" grep -qF "$PWD/lone/bin and $from_bin" .err

cp "$build/$file" elsewhere/
LD_LIBRARY_PATH=$PWD/elsewhere on_ranks 2 run flow.yaml --quiet --output ranks
same "the loader's folders are searched"
: >"$libraries/$file"
on_ranks 2 run flow.yaml --quiet --output ranks
says 2 "a file that does not load is named" "$PWD/lone/bin/../lib/$file" "does not load" "too short"
printf 'const char *const strake_mpi_module[64] = {"0.0.7"};\n' >old.c
if "${CC:-cc}" -shared -fPIC -o "$libraries/$file" old.c 2>cc.err; then
    on_ranks 2 run flow.yaml --quiet --output ranks
    says 2 "so is a module of another version" "another build of Strake (0.0.7, this is"
    printf 'const int nothing = 1;\n' >old.c
    "${CC:-cc}" -shared -fPIC -o "$libraries/$file" old.c
    on_ranks 2 run flow.yaml --quiet --output ranks
    says 2 "and a library that is none" "no module of Strake"
else
    skip "a module of another version" "no compiler"
fi
cp "$build/$file" "$libraries/"
on_ranks 2 run flow.yaml --quiet --output ranks
same "the module is found in the folder of libraries"

# As installed, from what is built already.
make -C "$source" -o all install MPI=yes BUILD="$build" DESTDIR="$PWD/installed" >make.out 2>&1 || sed 's/^/# /' make.out
STRAKE=$(find "$PWD/installed" -type f -path '*/bin/strake')
on_ranks 2 run flow.yaml --quiet --output ranks
same "an installed program runs on ranks"

# Commands for one process, and launchers that are not MPI's.
on_ranks 2 check flow.yaml
check "a command that knows no ranks says so" \
    test "$code,$(grep -c 'note: `strake check` takes no notice of other ranks' .err)" = 0,1
SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=2 try run flow.yaml --quiet --output ranks
fails 2 "a launch that MPI knows nothing of is told by every process" "SLURM_STEP_NUM_TASKS=4" "unset"
PMI_RANK=1 try run nofile.yaml
fails 1 "a number without a count of ranks silences nobody" "nofile.yaml"
done_testing
