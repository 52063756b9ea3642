#!/bin/bash
# Usage: bash tests/offline.sh BUILD
# Compiles every kernel program that Strake generates for processors that need not be here: AMD (clang
# and libclc), NVIDIA (clang, libclc and ptxas), Intel (ocloc), SPIR-V 1.0 (llvm-spirv and spirv-val);
# and lints it as OpenCL C 1.2. The programs come from tiny runs on the first OpenCL device that is
# here; equal texts are compiled once.
#
# Missing compilers are named and their targets skipped (`make check-offline INSTALL=1` installs
# them); a run that could compile nothing fails. One test is one program for one target, one skip is
# one target. BUILD/offline/kernels.tsv lists every kernel: target, program, kernel, registers,
# spills (registers; bytes for NVIDIA), bytes of local memory; "-" where the compiler does not tell.
# BUILD/offline/sources.tsv has a line for every program and target: kernels, and the largest of each
# number. The terminal gets the versions of the compilers, and the largest by target, precision, fusion
# and division.
#
# Environment: OCLOC  Intel's offline compiler, its libraries beside it or in ../lib/x86_64-linux-gnu
#              PTXAS  NVIDIA's assembler
#              KEEP=1  takes what an earlier run, cut short, compiled of the same texts
#              AMDCLANG  for AMD: clang-16 by default, else clang-15, which gives gfx1100 no more than
#                        128 registers and so spills where later versions do not
set -u
export LC_ALL=C

build=$(cd "$1" && pwd) || exit 1
out=$build/offline
mkdir -p "$out/cache" "$out/pocl"
rm -rf "$out/programs" "$out/dump"
[ "${KEEP:-}" = 1 ] || rm -rf "$out/result"
mkdir -p "$out/programs" "$out/dump" "$out/result"
rm -f "$out"/result/*.fail
export STRAKE_CACHE_DIR=$out/cache POCL_CACHE_DIR=$out/pocl
# What PoCL makes of the kernels does not matter here.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable

# --- the programs ------------------------------------------------------------------------------------

cat >"$out/h_one.yaml" <<'CASE'
problem: mpdata2d
grid: {rows: 16, cols: 160}
time: {dt: 0.1, steps: 1}
boundary: {rows: open, cols: open}
fields:
  psi: {cone: {center: [8, 12], radius: 4, height: 4, base: 1}}
  u1: {rotation: {omega: 0.02, center: [8, 12]}}
  u2: {rotation: {omega: 0.02, center: [8, 12]}}
CASE
{ cat "$out/h_one.yaml" && echo '  h: {cone: {center: [8, 12], radius: 4, height: 1, base: 1}}'; } \
    >"$out/h_field.yaml"

# Schemes that differ in their stages; gauge: infinite takes at most two iterations.
schemes=(
    'iterations=1'
    'iterations=2'
    'iterations=2 nonoscillatory=false'
    'iterations=2 sign=nonnegative'
    'iterations=2 third_order=true'
    'iterations=2 gauge=infinite'
    'iterations=2 gauge=infinite third_order=true'
    'iterations=3'
    'iterations=3 third_order=true'
    'iterations=3 velocities=unlimited'
)

cat >"$out/planes.yaml" <<'CASE'
problem: cahn_hilliard3d
grid: {planes: 6, rows: 7, cols: 9}
time: {dt: 0.001, steps: 1}
parameters: {M: 1, K: 1}
fields: {u: {random: {seed: 1, minimum: -0.1, maximum: 0.1}}}
CASE
sed -e 's/3d$/2d/' -e 's/planes: 6, rows: 7, cols: 9/rows: 7, cols: 160/' "$out/planes.yaml" >"$out/flat.yaml"

# dump PRECISION FUSION DIVISION CASE SCHEME: runs one step and keeps the new program texts it compiled.
# Fusion streamN: marching kernels with N columns per work-item.
programs=0
repeated=0
dump() {
    local label=$1-$2-$3-$4-${5// /-} word file
    local settings=(--set "precision=$1" --set "run.fusion=${2%[0-9]}" --set "run.division=$3")
    [ "$2" = "${2%[0-9]}" ] || settings+=(--set "run.vector=${2#stream}")
    # Groups as wide as a GPU's: the widths that PoCL runs are the grid's.
    [ "$2" = "${2%[0-9]}" ] || [ "$4" = planes ] || settings+=(--set run.group_width=128)
    # A GPU's tiles.
    [ "$2" != tile ] || settings+=(--set run.group_width=64 --set run.group_height=8 --set run.prefetch=1)
    for word in $5; do
        settings+=(--set "scheme.$word")
    done
    rm -f "$out"/dump/*
    if ! STRAKE_DUMP_KERNELS=$out/dump timeout 300 "$build/strake" run "$out/$4.yaml" --on ocl:0 \
        --quiet --no-tune --output "$out/run" "${settings[@]}"; then
        echo "offline: $label: strake failed, so its kernels cannot be compiled"
        exit 1
    fi
    for file in "$out"/dump/*.cl; do
        if [ ! -e "$file" ]; then
            echo "offline: $label: no kernels were dumped"
            exit 1
        elif [ -e "$out/programs/${file##*/}" ]; then
            repeated=$((repeated + 1))
        else
            mv "$file" "$out/programs"
            echo "$label" >"$out/programs/$(basename "$file" .cl).label"
            programs=$((programs + 1))
        fi
    done
}

# Refined divisions are what GPUs run, by default as marching kernels with a column per work-item (or two,
# in single precision), and on small stripes as tiled ones, in three dimensions as plain ones: these with
# every scheme. The settings that nothing chooses by itself go through those that differ most.
typical=('iterations=2' 'iterations=3 third_order=true')
for precision in double single; do
    for how in plain-refined stream1-refined stream2-refined stream4-refined none-refined tile-refined stream1-plain \
        plain-plain; do
        fusion=${how%-*} division=${how#*-}
        case $precision-$how in
            *-plain-refined | *-tile-refined | *-stream1-refined | single-stream2-refined) some=("${schemes[@]}") ;;
            *) some=("${typical[@]}") ;;
        esac
        for h in h_field h_one; do
            for scheme in "${some[@]}"; do
                dump "$precision" "$fusion" "$division" "$h" "$scheme"
            done
        done
        [ "$division" = refined ] || continue # these have no division
        for scheme in time=euler time=heun time=midpoint; do
            dump "$precision" "$fusion" "$division" planes "$scheme"
        done
        dump "$precision" "$fusion" "$division" flat time=midpoint
    done
done
echo "offline: $programs programs ($repeated repeated ones left out)"

# --- the targets -------------------------------------------------------------------------------------

# Each compiler prints "kernel registers spills local" lines on stdout, messages on stderr.
clc=/usr/lib/clc
ocloc=${OCLOC:-$(command -v ocloc)}
ptxas=${PTXAS:-$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas)}
amdclang=${AMDCLANG:-$(command -v clang-16 || command -v clang-15)}
[ -z "$ocloc" ] || ocloc_libraries=$(dirname "$ocloc"):$(dirname "$ocloc")/../lib/x86_64-linux-gnu
source='-x cl -cl-std=CL1.2 -Xclang -finclude-default-header'
export clc ocloc ocloc_libraries ptxas amdclang source

# The generator gives all kernels one list of parameters, and headers hold functions for all schemes.
lint() { # FILE OPTIONS SCRATCH
    clang-15 -target spir64 $source $2 -fsyntax-only -Wall -Wextra -Wdouble-promotion -Werror \
        -Wno-unused-parameter -Wno-unused-function "$1"
}

amd() { # FILE OPTIONS SCRATCH PROCESSOR
    "$amdclang" -target amdgcn--amdhsa -mcpu="$4" $source $2 -O2 -nogpulib \
        -Xclang -mlink-builtin-bitcode -Xclang $clc/amdgcn--amdhsa.bc -S "$1" -o "$3.s" || return 1
    # The metadata at the end has one YAML mapping per kernel.
    awk '
    /^amdhsa.kernels:/ { on = 1 }
    on && /^amdhsa.target:/ { on = 0 }
    on && /^  - / { if (name != "") print name, registers, spills, shared; name = "" }
    on && $1 == ".name:" && /^    \.name:/ { name = $2 }
    on && $1 == ".vgpr_count:" { registers = $2 }
    on && $1 == ".vgpr_spill_count:" { spills = $2 }
    on && /\.group_segment_fixed_size:/ { shared = $NF }
    END { if (name != "") print name, registers, spills, shared }' "$3.s"
}

# clang 15 knows no processor beyond sm_86; ptxas makes later ones of the same PTX, as drivers do.
nvidia() { # FILE OPTIONS SCRATCH PROCESSOR
    clang-15 -target nvptx64-unknown-nvidiacl -Xclang -target-cpu -Xclang sm_80 $source $2 -O2 \
        -Xclang -mlink-builtin-bitcode -Xclang $clc/nvptx64--nvidiacl.bc -S "$1" -o "$3.ptx" || return 1
    "$ptxas" -arch="$4" -v "$3.ptx" -o /dev/null >"$3.ptxas" 2>&1 || {
        cat "$3.ptxas" >&2
        return 1
    }
    awk '
    /Compiling entry function/ { split($0, part, "\047"); name = part[2] }
    /bytes stack frame/ { for (k = 1; k < NF; k++) if ($(k + 2) == "spill" && $(k + 3) ~ /^stores/) spills = $k }
    /Used [0-9]+ registers/ {
        shared = 0
        for (k = 1; k < NF; k++) {
            if ($(k + 1) == "registers,") registers = $k
            if ($(k + 2) == "smem," || $(k + 2) == "smem") shared = $k
        }
        print name, registers, spills, shared
    }' "$3.ptxas"
}

intel() { # FILE OPTIONS SCRATCH PROCESSOR
    mkdir -p "$3.ocloc"
    LD_LIBRARY_PATH=$ocloc_libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$ocloc" compile \
        -file "$1" -device "$4" -options "-cl-std=CL1.2 $2" -output kernels -out_dir "$3.ocloc" \
        >"$3.log" 2>&1 || {
        cat "$3.log" >&2
        return 1
    }
    # Only kernels that spill are mentioned.
    awk '
    FNR == NR { if ($0 ~ /compiled SIMD.* regs and spilled/) {
        for (k = 1; k < NF; k++) {
            if ($k == "kernel") name = $(k + 1)
            if ($(k + 1) == "regs") registers[name] = $k
            if ($k == "around") spills[name] = $(k + 1) } }
        next }
    /^__kernel void / { split($3, part, "("); name = part[1]
        print name, name in registers ? registers[name] : "-", name in spills ? spills[name] : "-", "-" }' \
        "$3.log" "$1"
}

spirv() { # FILE OPTIONS SCRATCH
    clang-15 -target spir64-unknown-unknown $source $2 -O0 -Xclang -disable-O0-optnone \
        -Xclang -no-opaque-pointers -emit-llvm -c "$1" -o "$3.bc" &&
        llvm-spirv-15 --spirv-max-version=1.0 "$3.bc" -o "$3.spv" &&
        spirv-val --target-env opencl1.2 "$3.spv"
}

# Compiles one program for one target: result/TARGET.PROGRAM.{ok,fail} and its rows.
compile() { # TARGET PRECISION COMPILER PROCESSOR FILE
    local program label options= scratch
    program=$(basename "$5" .cl)
    label=$(cat "${5%.cl}.label")
    scratch=$out/result/$1.$program
    [ "$2" = single ] && options='-DSTRAKE_REAL_SINGLE -cl-fp32-correctly-rounded-divide-sqrt'
    if "$3" "$5" "$options" "$scratch" "$4" >"$scratch.rows" 2>"$scratch.messages"; then
        awk -v target="$1" -v label="$label" -v OFS='\t' '{ print target, label, $1, $2, $3, $4 }' \
            "$scratch.rows" >"$scratch.ok"
    else
        mv "$scratch.messages" "$scratch.fail"
        printf 'FAILED %s %s (%s)\n' "$1" "$label" "$5"
        head -n 8 "$scratch.fail"
    fi
    rm -rf "$scratch".{s,ptx,ptxas,ocloc,log,bc,spv,rows,messages}
}
export out
export -f lint amd nvidia intel spirv compile

# name, precisions that the processor has, compiler, processor
targets='lint both lint -
gfx900 both amd gfx900
gfx90a both amd gfx90a
gfx1030 both amd gfx1030
gfx1100 both amd gfx1100
sm_80 both nvidia sm_80
sm_90 both nvidia sm_90
spirv both spirv -
dg2 single intel dg2
tgllp single intel tgllp
skl both intel skl
pvc both intel pvc'

# What a compiler lacks, in words; empty if it is complete.
lacks() { # COMPILER
    local list=
    case $1 in
        amd) [ -n "$amdclang" ] || list="$list, clang-16" ;;
        intel) ;;
        *) command -v clang-15 >/dev/null || list="$list, clang-15" ;;
    esac
    case $1 in
        amd) [ -r $clc/amdgcn--amdhsa.bc ] || list="$list, libclc-15" ;;
        nvidia)
            [ -r $clc/nvptx64--nvidiacl.bc ] || list="$list, libclc-15"
            [ -n "$ptxas" ] || list="$list, ptxas (of the CUDA toolkit; PTXAS names it)"
            ;;
        intel) [ -n "$ocloc" ] || list="$list, ocloc (intel-opencl-icd; OCLOC names it)" ;;
        spirv)
            command -v llvm-spirv-15 >/dev/null || list="$list, llvm-spirv-15"
            command -v spirv-val >/dev/null || list="$list, spirv-val (spirv-tools)"
            ;;
    esac
    echo "${list#, }"
}

version() { # NAME COMMAND...: the first line of what it says that has a number with dots
    local name=$1
    shift
    [ -z "$1" ] || echo "offline: $name: $("$@" 2>&1 | grep -a -m 1 -oE '[[:print:]]*[0-9][.][0-9][[:print:]]*')"
}
version clang "$(command -v clang-15)" --version
version 'clang for AMD' "$amdclang" --version
version llvm-spirv "$(command -v llvm-spirv-15)" --version
version spirv-val "$(command -v spirv-val)" --version
version ptxas "$ptxas" --version
if [ -n "$ocloc" ]; then # it writes the version into a file
    (cd "$out" && LD_LIBRARY_PATH=$ocloc_libraries "$ocloc" query OCL_DRIVER_VERSION) >/dev/null 2>&1
    version ocloc cat "$out/OCL_DRIVER_VERSION"
fi

skipped=0
expected=0
jobs=
while read -r target precisions compiler processor; do
    missing=$(lacks "$compiler")
    if [ -n "$missing" ]; then
        echo "offline: $target skipped: missing $missing"
        skipped=$((skipped + 1))
        continue
    fi
    for file in "$out"/programs/*.cl; do
        precision=$(sed 's/-.*//' "${file%.cl}.label")
        if [ "$precisions" = both ] || [ "$precisions" = "$precision" ]; then
            expected=$((expected + 1))
            [ -e "$out/result/$target.$(basename "$file" .cl).ok" ] ||
                jobs="$jobs$target $precision $compiler $processor $file"$'\n'
        fi
    done
done <<<"$targets"
[ -z "$jobs" ] || printf '%s' "$jobs" | xargs -P "$(nproc)" -L 1 bash -c 'compile "$@"' compile

# --- what came out -------------------------------------------------------------------------------------

printf 'target\tprogram\tkernel\tregisters\tspills\tlocal bytes\n' >"$out/kernels.tsv"
cat "$out"/result/*.ok 2>/dev/null | sort >>"$out/kernels.tsv"
passed=$(find "$out/result" -name '*.ok' | wc -l)
failed=$(find "$out/result" -name '*.fail' | wc -l)

awk -F '\t' -v OFS='\t' '
FNR == 1 { print "target", "program", "kernels", "registers", "spills", "local bytes"; next }
{
    key = $1 OFS $2
    if (!(key in kernels)) order[++keys] = key
    kernels[key]++
    for (k = 4; k <= 6; k++) {
        if (!((key, k) in most) || ($k != "-" && (most[key, k] == "-" || $k + 0 > most[key, k] + 0)))
            most[key, k] = $k
    }
}
END {
    for (i = 1; i <= keys; i++)
        print order[i], kernels[order[i]], most[order[i], 4], most[order[i], 5], most[order[i], 6]
}' "$out/kernels.tsv" >"$out/sources.tsv"

awk -F '\t' 'NR > 1 {
    split($2, part, "-"); key = sprintf("%-8s %-7s %-7s %-8s", $1, part[1], part[2], part[3])
    kernels[key]++
    for (k = 4; k <= 6; k++) {
        if (!((key, k) in most)) most[key, k] = $k
        if ($k != "-" && (most[key, k] == "-" || $k + 0 > most[key, k] + 0)) most[key, k] = $k
    }
}
END {
    printf "%-8s %-7s %-7s %-8s %8s %10s %8s %12s\n", "target", "real", "fusion", "division", "kernels", "registers", "spills", "local bytes"
    for (key in kernels) {
        printf "%s %8d %10s %8s %12s\n", key, kernels[key], most[key, 4], most[key, 5], most[key, 6] | "sort"
    }
}' "$out/kernels.tsv"
echo "offline: every kernel is in $out/kernels.tsv, every program in $out/sources.tsv"
if [ $((passed + failed)) -ne "$expected" ]; then
    echo "offline: $expected compilations are due, but $((passed + failed)) have a result"
    failed=$((failed + 1))
fi
[ "$expected" -gt 0 ] || echo "offline: no compiler was found, so nothing was compiled"
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
