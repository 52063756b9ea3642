# Strake: `make` builds build/strake and the libraries; `make help` lists every target.
# Settings come from the command line, then config.mk (`make configure CC=clang`), then from here.
-include config.mk

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DEFAULT_GOAL := all

# --- settings ------------------------------------------------------------------------------------

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
# Tells the loader of a library that was installed.
LDCONFIG ?= $(firstword $(wildcard /sbin/ldconfig /usr/sbin/ldconfig) ldconfig)
LIBDIR ?= $(PREFIX)/lib
OPT ?= -O3
# Warnings are errors where that is asked for (make WERROR=-Werror, .ci/run): a compiler may be newer than the source.
WERROR ?=
SANITIZE ?=
PKG_CONFIG ?= pkg-config
# yes, no, or auto: where pkg-config or mpicc finds one. Not for ThreadSanitizer, which has to know every lock of what
# these libraries link.
MODULES_WANTED := $(if $(filter thread,$(SANITIZE)),no,auto)
MPI ?= $(MODULES_WANTED)
NETCDF ?= $(MODULES_WANTED)
CAIRO ?= $(MODULES_WANTED)
GDAL ?= $(MODULES_WANTED)
CLANG ?= clang
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 || command -v clang-format) clang-format-14)
CLANG_TIDY ?= $(firstword $(shell command -v clang-tidy-14 || command -v clang-tidy) clang-tidy-14)
# STRIP=: leaves what debuggers need in the files that are installed.
STRIP ?= strip
# Runs a program of the target, where that is not this machine's: qemu-aarch64 -L /usr/aarch64-linux-gnu
RUN ?=
V ?= 0

# What `make configure` stores, when it is given on its command line.
CONFIG_VARS := CC AR STRIP CFLAGS CPPFLAGS LDFLAGS LDLIBS OPT WERROR BUILD PREFIX LIBDIR CLANG CLANG_FORMAT \
    CLANG_TIDY SANITIZE PKG_CONFIG MPI NETCDF CAIRO GDAL

# --- what the compiler is ------------------------------------------------------------------------

VERSION := $(shell sed -n 's/^.define STRAKE_VERSION "\(.*\)"/\1/p' src/strake.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
IS_X86 := $(filter x86_64-%,$(TARGET))

# Options that break the promise of equal bits everywhere.
INEXACT := $(filter -Ofast -ffast-math -funsafe-math-optimizations -fassociative-math \
    -freciprocal-math -ffinite-math-only,$(CFLAGS) $(OPT))
ifneq ($(INEXACT),)
$(error $(INEXACT) would change results; Strake promises the same bits everywhere. Remove it from CFLAGS)
endif

# --- flags ---------------------------------------------------------------------------------------

# As gcc, clang says nothing of members that tables leave out, of integer constants (which enums are here) in sums of
# real numbers, nor, where it does not optimise, of loops.
WARN_CLANG := -Wno-missing-field-initializers -Wno-enum-float-conversion $(if $(filter -O0 -O1,$(OPT)),-Wno-pass-failed)
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wvla -Wstrict-prototypes \
    -Wmissing-prototypes $(if $(IS_CLANG),$(WARN_CLANG),-Wjump-misses-init) $(WERROR)
COMMA := ,
INCLUDES := -Isrc -Ihost -I.
DEFINES := -D_GNU_SOURCE $(if $(IS_X86),-DSTRAKE_ROWS_X86=1)
SANFLAGS := $(if $(SANITIZE),-g -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# No contraction, so that every compiler rounds every operation; last, so that CFLAGS cannot undo it.
EXACT := -ffp-contract=off -fno-math-errno -fno-trapping-math

# Optional libraries are each used in files host/*/NAME_*.c only. These are a module, libstrake-NAME.so, that the program
# and the library load when something asks for it: linked with MPI, say, every run would take its memory and time to
# start, and none would start without it. `optional VARIABLE,NAME of pkg-config,package of Debian` finds one.
define optional
ifneq ($$(filter-out yes no auto,$$($(1))),)
$$(error $(1)=$$($(1)): expected yes, no or auto)
endif
ifneq ($$($(1)),no)
$(1)_LIBS := $$(shell $$(PKG_CONFIG) --libs $(2) 2>/dev/null)
$(1)_FLAGS := $$(if $$($(1)_LIBS),$$(shell $$(PKG_CONFIG) --cflags $(2)))
endif
ifeq ($$($(1))$$($(1)_LIBS),yes)
$$(error $(1)=yes: pkg-config does not find $(2); Debian: $(3))
endif
endef
$(eval $(call optional,NETCDF,netcdf,libnetcdf-dev))
$(eval $(call optional,CAIRO,cairo,libcairo2-dev))
$(eval $(call optional,GDAL,gdal,libgdal-dev))

# MPIs have several names, and some none that pkg-config knows. Without a module there is one rank.
ifneq ($(filter-out yes no auto,$(MPI)),)
$(error MPI=$(MPI): expected yes, no or auto)
endif
ifneq ($(MPI),no)
MPI_PC := $(firstword $(foreach p,ompi-c mpich ompi mpi,$(shell $(PKG_CONFIG) --exists $(p) 2>/dev/null && echo $(p))))
ifneq ($(MPI_PC),)
MPI_FLAGS := $(shell $(PKG_CONFIG) --cflags $(MPI_PC))
MPI_LIBS := $(shell $(PKG_CONFIG) --libs $(MPI_PC))
else
MPI_SHOWN := $(shell mpicc -show 2>/dev/null)
MPI_FLAGS := $(filter -I%,$(MPI_SHOWN))
MPI_LIBS := $(filter -L% -l% -Wl$(COMMA)%,$(MPI_SHOWN))
endif
ifeq ($(MPI)$(MPI_LIBS),yes)
$(error MPI=yes: neither pkg-config (ompi-c, mpich) nor mpicc finds an MPI; Debian: libopenmpi-dev)
endif
endif

# All modules: VARIABLE:NAME. Those that are built, and their sources.
OPTIONAL := MPI:mpi NETCDF:netcdf CAIRO:cairo GDAL:gdal
MODULES := $(foreach m,$(OPTIONAL),$(if $($(firstword $(subst :, ,$m))_LIBS),$(lastword $(subst :, ,$m))))
module_src = $(wildcard host/*/$(1)_*.c)
# The modules have copies of their own of what they need of Strake.
MODULE_EXTRA_mpi := host/mpi/launch.c src/base/clock.c src/base/error.c src/base/file.c src/base/hash.c src/base/lines.c src/base/number.c
MODULE_EXTRA_cairo := src/base/error.c src/base/number.c
MODULE_EXTRA_gdal := src/base/error.c src/base/number.c
MODULE_EXTRA_netcdf := src/base/error.c src/base/file.c src/base/lines.c src/base/number.c

ALL_CPPFLAGS = $(INCLUDES) $(DEFINES) $(CPPFLAGS)
# What decides, reads and prints takes no time worth measuring: at -O2 it makes the library 0.1 MB smaller.
LEAN := autotune/% host/files/% host/mpi/% host/opencl/% host/output/% host/program/% host/run/% host/solver/% src/case/% src/problem/mpdata src/problem/mpdata_graph
LEAN_FLAGS = $(if $(filter $(LEAN),$1),$(filter -O2,$(OPT:-O3=-O2)))
# Row loops without -g, which takes a fourth of the time that compiling them takes, unless CFLAGS has it, and without
# tables for unwinding, 0.25 MB of the library: nothing throws through them.
ROW_CFLAGS = $(ROW_UNWIND) $(PLAIN_CFLAGS)
ROW_UNWIND := $(if $(SANITIZE),,-fno-asynchronous-unwind-tables)
PLAIN_CFLAGS = -std=c11 $(OPT) $(WARN) -fPIC -fopenmp -pthread -fvisibility=default $(SANFLAGS) \
    $(CFLAGS) $(EXACT)
ALL_CFLAGS = -g $(PLAIN_CFLAGS)
ALL_LDFLAGS = -fopenmp -pthread $(SANFLAGS) $(LDFLAGS)
ALL_LDLIBS = -lyaml -ldl -lm $(LDLIBS)

# Flags of one file can be given as FLAGS_<path without .c>; they come after everything else.
module_flags = $(foreach f,$(basename $(call module_src,$(2))),$(eval FLAGS_$f := $($(1)_FLAGS:-I%=-isystem %)))
$(foreach m,$(OPTIONAL),$(call module_flags,$(firstword $(subst :, ,$m)),$(lastword $(subst :, ,$m))))
# Where the program looks for modules, besides its own folder and where the loader does.
LIBDIR_FROM_BIN := $(shell realpath -m --relative-to='$(PREFIX)/bin' '$(LIBDIR)')
FLAGS_host/files/module := -DSTRAKE_LIBDIR_FROM_BIN='"$(LIBDIR_FROM_BIN)"'
FLAGS_host/program/cmd_doctor := -DSTRAKE_MODULES='"$(MODULES)"'
FLAGS_host/mpi/ranks := -DSTRAKE_MPI_MODULE=$(if $(MPI_LIBS),1,0)
FLAGS_host/view/plot := -DSTRAKE_CAIRO_MODULE=$(if $(CAIRO_LIBS),1,0)
FLAGS_host/files/gdal := -DSTRAKE_GDAL_MODULE=$(if $(GDAL_LIBS),1,0)
FLAGS_host/files/netcdf := -DSTRAKE_NETCDF_MODULE=$(if $(NETCDF_LIBS),1,0)

# Row loops are compiled once per instruction set and precision; the program picks at run time.
ROW_ISAS := scalar base $(if $(IS_X86),avx2 avx512)
ROW_PRECISIONS := f64 f32
SCALAR_GCC := -fno-tree-vectorize -fno-tree-slp-vectorize
SCALAR_CLANG := -fno-vectorize -fno-slp-vectorize
ROW_FLAGS_scalar := -O2 $(if $(IS_CLANG),$(SCALAR_CLANG),$(SCALAR_GCC))
# On x86 this is for processors without AVX2: what is left of a row by vectors of four, scalar, not by vectors of two,
# makes the library 0.3 MB smaller.
ROW_FLAGS_base := $(OPT) $(if $(IS_X86),$(if $(IS_CLANG),,--param vect-epilogues-nomask=0))
AVX2 := -mavx2 -mtune=haswell
AVX512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mprefer-vector-width=512 -mtune=skylake-avx512
ROW_FLAGS_avx2 := $(OPT) $(AVX2)
ROW_FLAGS_avx512 := $(OPT) $(AVX512)
# The same for problems that users build (host/solver/problem_build.c).
FLAGS_host/solver/problem_build := -DSTRAKE_BUILD_SCALAR='"$(SCALAR_GCC)"' -DSTRAKE_BUILD_SCALAR_CLANG='"$(SCALAR_CLANG)"' \
    -DSTRAKE_BUILD_AVX2='"$(AVX2)"' -DSTRAKE_BUILD_AVX512='"$(AVX512)"' -DSTRAKE_BUILD_EXACT='"$(EXACT)"' \
    -DSTRAKE_BUILD_DEFINES='"$(DEFINES)"'
ROW_FLAGS_f64 :=
ROW_FLAGS_f32 := -DSTRAKE_REAL_SINGLE
# Loops over pairs ask for vectors themselves; -O3 makes copies of them, 0.36 MB, and they are no faster.
FLAGS_src/particles/sph_pair_rows := $(if $(filter -O3,$(OPT)),-O2)

# --- sources -------------------------------------------------------------------------------------

# Loops over rows alone, and the formulas of problems (src/strake_problem.h), which are compiled as both.
ROW_ONLY := $(wildcard src/problem/*_rows.c src/particles/*_rows.c)
POINT_SRC := $(shell grep -l '^STRAKE_POINTS' src/problem/*.c)
ROW_SRC := $(ROW_ONLY) $(POINT_SRC)
LIB_SRC := $(filter-out $(ROW_ONLY),$(wildcard src/*/*.c)) \
    $(filter-out host/program/% $(foreach m,$(OPTIONAL),$(call module_src,$(lastword $(subst :, ,$m)))),$(wildcard host/*/*.c))
# What the program has beside the library, and tests link, too: the tuner and measuring side by side.
TUNER_SRC := $(wildcard autotune/*.c) $(patsubst %,host/program/bench_%.c,results measure svg)
MAIN_SRC := $(filter-out $(TUNER_SRC),$(wildcard host/program/*.c))
# Problems whose formulas are in their own file are OpenCL C, too.
CL_SRC := $(wildcard cl/*.h) $(wildcard cl/*.cl) \
    $(filter-out src/problem/wall.c src/problem/formula.c,$(shell grep -l '^STRAKE_POINT_FUNCTION\|^STRAKE_RATIO_FUNCTION' src/problem/*.c))
TUNED := $(wildcard data/tuned/*.yaml)
GEN_C := $(BUILD)/gen/strake_cl_sources.c $(BUILD)/gen/strake_tuned_texts.c $(BUILD)/gen/strake_page_texts.c \
    $(BUILD)/gen/strake_header_texts.c

ROW_OBJ := $(foreach i,$(ROW_ISAS),$(foreach p,$(ROW_PRECISIONS),$(ROW_SRC:%.c=$(BUILD)/obj/%.$(i).$(p).o)))
# Fused loops: written from the stage tables by a tool built from src/ alone, a file for each problem.
LOOP_ISAS := $(filter-out scalar,$(ROW_ISAS))
LOOP_PROBLEMS := $(shell sed -n 's/^ *X(\([a-z0-9_]*\)).*/\1/p' src/problem/problem_list.h)
LOOP_SRC := $(LOOP_PROBLEMS:%=$(BUILD)/gen/strake_loops_%_rows.c)
LOOP_OBJ := $(foreach i,$(LOOP_ISAS),$(foreach p,$(ROW_PRECISIONS),$(LOOP_SRC:$(BUILD)/%.c=$(BUILD)/obj/%.$(i).$(p).o)))
LOOP_TOOL := $(BUILD)/gen/write_loops
LOOP_TOOL_OBJ := $(BUILD)/obj/host/cpu/tool/write_loops.o $(BUILD)/obj/host/cpu/loop_writer.o \
    $(patsubst %.c,$(BUILD)/obj/%.o,$(filter src/%,$(LIB_SRC))) $(ROW_OBJ)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o) $(ROW_OBJ) $(GEN_C:$(BUILD)/gen/%.c=$(BUILD)/obj/gen/%.o) \
    $(BUILD)/obj/gen/strake_loops.o $(LOOP_OBJ)
SPACES := $(wildcard autotune/spaces/*.yaml)
TUNER_OBJ := $(TUNER_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/strake_space_texts.o
MAIN_OBJ := $(MAIN_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/strake_commit.o \
    $(BUILD)/obj/gen/strake_completion_texts.o $(BUILD)/obj/gen/strake_template_texts.o

TEST_SRC := $(wildcard tests/*/test_*.c)
TEST_SH := $(sort $(wildcard tests/*/*.t))
# Tests of what must hold for every problem are a program for each, so that all cores have a share of them.
SUBJECTS := $(shell sed -n 's/^extern const strake_subject strake_subject_\(.*\);/\1/p' tests/support/trial.h)
BY_SUBJECT := $(basename $(notdir $(shell grep -l strake_trial_run tests/*/test_*.c)))
# The longest, and those that mostly wait, first: the runner keeps the order.
LONGEST := machines.t particle_ranks.t ranks.t particles.t problem.t tune.t streaming.t trust.t test_lava_borders \
    $(SUBJECTS:%=test_kernels@%) $(SUBJECTS:%=test_parity@%) rank_failures.t drivers.t failure.t test_sph_device lava_tools.t scan_ranks.t \
    lava_ranks.t auto.t test_activity test_particles no_doubles.t model.t formulas.t problem_waves.t problem_patterns.t \
    python_problem.t $(SUBJECTS:%=test_blocks@%) rank_model.t rank_balance.t formats.t queues.t new_problem.t test_setup \
    test_opencl test_lava test_growth new.t test_cahn_hilliard $(SUBJECTS:%=test_sweeps@%) package.t test_sph test_volume_parity \
    test_volume hazard.t bench.t test_lava_flow bad_drivers.t test_planes devices.t limits.t view.t test_timeline \
    $(SUBJECTS:%=test_cpu@%) test_large examples.t pictures.t
# Support files with a main are programs of their own; the others are linked to every test, except
# libraries that scripts build and what stands in front of functions.
SUPPORT_MAIN := $(if $(wildcard tests/support/*.c),$(shell grep -l '^int main' tests/support/*.c))
SUPPORT_LIB := tests/support/gpu_opencl.c tests/support/oclgrind_write.c tests/support/small_memory.c \
    tests/support/faulty_opencl.c tests/support/queues_opencl.c tests/support/machines_mpi.c \
    tests/support/own_clock.c tests/support/few_pages.c tests/support/inject.c
SUPPORT_SRC := $(filter-out $(SUPPORT_MAIN) $(SUPPORT_LIB),$(wildcard tests/support/*.c))
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(BUILD)/obj/%.o)
SUPPORT_BIN := $(patsubst tests/support/%.c,$(BUILD)/tests/%,$(SUPPORT_MAIN))
FAULTY := $(BUILD)/tests/faulty_opencl.so
CLOCK := $(BUILD)/tests/own_clock.so
FEW_PAGES := $(BUILD)/tests/few_pages.so
# Tests that have a clock of their own.
CLOCKED := test_tune_whole test_tune_measure
# Tests, and a second program for scripts, in which devices fail as $STRAKE_INJECT says.
INJECTED := test_growth test_replay test_rescue
INJECTED_PROGRAM := $(BUILD)/tests/injected/strake
INJECTED_LINK := $(foreach f,where_resolve team_try strips_compute part_store commons_unmap costs_free, \
    -Wl$(COMMA)--wrap=strake_$f)
# Targets of `make fuzz`; in other builds replay.c stands for libFuzzer.
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZER ?= $(BUILD)/obj/tests/fuzz/replay.o
TESTED := $(BUILD)/tests/libstrake-tested.so
TEST_BIN := $(sort $(foreach t,$(TEST_SRC),$(BUILD)/tests/$(basename $(notdir $(t)))))
TESTS := $(foreach t,$(TEST_BIN),$(if $(filter $(BY_SUBJECT),$(notdir $t)),$(SUBJECTS:%=$t@%),$t)) $(TEST_SH)
LONG_FIRST := $(foreach l,$(LONGEST),$(filter %/$l,$(TESTS)))
TESTS := $(LONG_FIRST) $(filter-out $(LONG_FIRST),$(TESTS))
QUICK_TESTS := $(filter $(foreach t,$(wildcard tests/unit/*),$(if $(filter %.t,$t),$t,%/$(basename $(notdir $t)))) \
    %/test_parity@cahn_hilliard2d,$(TESTS))
ifneq ($(words $(TEST_SRC)),$(words $(TEST_BIN)))
$(error two test programs have the same file name; rename one of $(sort $(notdir $(TEST_SRC))))
endif

PROGRAM := $(BUILD)/strake
STATIC := $(BUILD)/libstrake.a
TUNER := $(BUILD)/obj/tuner.a
SONAME := libstrake.so.$(SOVERSION)
SHARED := $(BUILD)/libstrake.so
MODULE_FILES := $(MODULES:%=$(BUILD)/libstrake-%.so)
MANUAL := $(BUILD)/strake.1
COMPLETIONS := $(BUILD)/completion/strake.bash $(BUILD)/completion/_strake \
    $(BUILD)/completion/strake.fish
# Loads an OpenCL driver where it can do no harm (host/opencl/cl_drivers.h).
DRIVER_TOOL := $(BUILD)/strake-driver
LIBRARIES := $(STATIC) $(SHARED) $(BUILD)/strake.pc $(MODULE_FILES) $(DRIVER_TOOL)

# --- how recipes talk ----------------------------------------------------------------------------

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n' '$(1)' '$(2)')
NPROC := $(shell nproc 2>/dev/null || echo 2)
# A sub-make that uses every core unless the caller chose a -j.
SUBMAKE = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(NPROC))

# --- main targets --------------------------------------------------------------------------------

.PHONY: all lib program
all: $(LIBRARIES) $(if $(MAIN_SRC),$(PROGRAM) $(MANUAL) $(COMPLETIONS)) ## program, libraries and strake.pc (default)
lib: $(LIBRARIES)
program: $(PROGRAM) $(MODULE_FILES) $(DRIVER_TOOL)

.PHONY: run
run: ## install what is missing, build, run the main job twice and compare the bits
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh run
	+@$(SUBMAKE) all
	@bash tests/main_job.sh $(BUILD)

.PHONY: check check-quick check-long check-build
check: ## install what is missing, build, run every test
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh check
	+@$(SUBMAKE) all check-build
	@bash tests/run.sh $(BUILD) $(TESTS)

check-quick: ## layers, units and one problem's parity: less than a minute on two cores, once it is built
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh check
	+@$(SUBMAKE) all check-build
	+@$(SUBMAKE) check-layers
	@bash tests/run.sh $(BUILD) $(QUICK_TESTS)

check-long: ## every test, with whole matrices where `make check` takes samples of them: half an hour
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh check
	+@$(SUBMAKE) all check-build
	@STRAKE_TESTS_LONG=1 STRAKE_TESTS_TIMEOUT=3600 bash tests/run.sh $(BUILD) $(TESTS)

check-build: $(TEST_BIN) $(SUPPORT_BIN) $(FAULTY) $(CLOCK) $(FEW_PAGES) $(INJECTED_PROGRAM) $(FUZZ_BIN)

# The sizes and steps of Table 7 of the MPDATA paper (Wyrzykowski, Szustak, Rojek 2014); shorter:
# make bench STEPS=20. Other options of `strake bench` go into BENCH.
SIZES ?= 1024,2048,3072,4096
STEPS ?= 500
REPEATS ?= 3
BENCH ?=
.PHONY: bench
bench: all ## measure all placements side by side; STEPS=20 SIZES=512,1024 REPEATS=1 make it short
	@mkdir -p $(BUILD)/bench
	$(PROGRAM) bench --sizes $(SIZES) --steps $(STEPS) --repeats $(REPEATS) $(BENCH) \
	    --report $(BUILD)/bench/bench.jsonl --plot $(BUILD)/bench/bench.svg
	@echo 'all figures: $(BUILD)/bench/bench.jsonl; to look at: $(BUILD)/bench/bench.svg'

.PHONY: roofs
roofs: $(BUILD)/roofs ## what memory and processor allow the CPU stripe, measured here (bench/roofs.c)
	@$(BUILD)/roofs
FLAGS_bench/roofs := -march=native
$(BUILD)/roofs: $(BUILD)/obj/bench/roofs.o $(STATIC)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(STATIC) $(ALL_LDLIBS)

PARTICLES ?= cpu
.PHONY: particles
particles: $(BUILD)/particles ## rates of particles (bench/particles.c); PARTICLES='ocl:0 --check 4' says where and how
	@$(BUILD)/particles $(PARTICLES)
$(BUILD)/particles: $(BUILD)/obj/bench/particles.o $(STATIC)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(STATIC) $(ALL_LDLIBS)

# --- compiling -----------------------------------------------------------------------------------

# Changes when the compiler or a flag changes, so that nothing stale is linked. Until it is there, what a build
# needs is looked for, and told in one line; other machines' headers are the compiler's own affair.
STAMP := $(BUILD)/obj/flags
export STAMP_TEXT = $(CC) $(TARGET) $(ALL_CPPFLAGS) $(LEAN) $(ROW_UNWIND) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(ALL_LDLIBS) \
    $(foreach r,$(ROW_ISAS) $(ROW_PRECISIONS),$(ROW_FLAGS_$r)) $(LOOP_FLAGS) \
    $(strip $(foreach v,$(sort $(filter FLAGS_%,$(.VARIABLES))),$(if $(filter command,$(origin $v)),$v=$($v))))
.PHONY: FORCE
FORCE:
$(STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$STAMP_TEXT" | cmp -s - $@ || { $(if $(filter objects,$(MAKECMDGOALS)),:, \
	    CC='$(CC)' PROBE='$(CPPFLAGS) $(LDFLAGS)' sh tests/deps.sh build) && printf '%s\n' "$$STAMP_TEXT" >$@; }

# The same for a module; one that was built with other settings goes.
define MODULE_STAMP_RULE
export MODULE_TEXT_$(2) := $$($(1)_FLAGS) $$($(1)_LIBS) $$(LIBDIR_FROM_BIN)
$$(BUILD)/obj/module-$(2): FORCE
	@mkdir -p $$(@D)
	@printf '%s\n' "$$$$MODULE_TEXT_$(2)" | cmp -s - $$@ || \
	    { rm -f $$(BUILD)/libstrake-$(2).so; printf '%s\n' "$$$$MODULE_TEXT_$(2)" >$$@; }
$$(patsubst %.c,$$(BUILD)/obj/%.o,$$(call module_src,$(2))): $$(BUILD)/obj/module-$(2)
endef
$(foreach m,$(OPTIONAL),$(eval $(call MODULE_STAMP_RULE,$(firstword $(subst :, ,$m)),$(lastword $(subst :, ,$m)))))
# Who loads a module knows whether it is built, and module.c where it is.
$(BUILD)/obj/host/mpi/ranks.o $(BUILD)/obj/host/files/module.o: $(BUILD)/obj/module-mpi
$(BUILD)/obj/host/program/cmd_doctor.o: $(MODULES:%=$(BUILD)/obj/module-%)
$(BUILD)/obj/host/files/netcdf.o: $(BUILD)/obj/module-netcdf
$(BUILD)/obj/host/view/plot.o: $(BUILD)/obj/module-cairo
$(BUILD)/obj/host/files/gdal.o: $(BUILD)/obj/module-gdal

$(BUILD)/obj/%.o: %.c $(STAMP)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(if $(filter tests/%,$*),-Itests -Itests/support) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(call LEAN_FLAGS,$*) $(FLAGS_$*) \
	    -MMD -MP -c -o $@ $<

define ROW_RULE
$$(BUILD)/obj/%.$(1).$(2).o: %.c $$(STAMP)
	$$(call say,CC,$$< $(1) $(2))
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CPPFLAGS) $$(ROW_FLAGS_$(2)) -DSTRAKE_ROWS_ISA=$(1) \
	    -DSTRAKE_ROWS_PRECISION=$(2) $$(ROW_CFLAGS) $$(ROW_FLAGS_$(1)) $$(FLAGS_$$*) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(ROW_ISAS),$(foreach p,$(ROW_PRECISIONS),$(eval $(call ROW_RULE,$(i),$(p)))))

# LOOP_TOOL=FILE on the command line is one that exists already: what it writes is the same for all.
ifeq ($(origin LOOP_TOOL),file)
$(LOOP_TOOL): $(LOOP_TOOL_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(LOOP_TOOL_OBJ) $(ALL_LDLIBS)
endif

# Files whose text stays the same keep their time: a new problem has its own loops compiled and no others.
$(BUILD)/gen/strake_loops.made: $(LOOP_TOOL)
	$(Q)rm -rf $(@D)/loops.new && mkdir $(@D)/loops.new
	$(Q)$(RUN) $(LOOP_TOOL) $(@D)/loops.new
	$(Q)for file in strake_loops.c $(notdir $(LOOP_SRC)); do \
	    cmp -s $(@D)/loops.new/$$file $(@D)/$$file || mv $(@D)/loops.new/$$file $(@D)/$$file || exit 1; done
	$(Q)rm -rf $(@D)/loops.new && touch $@
$(BUILD)/gen/strake_loops.c $(LOOP_SRC): $(BUILD)/gen/strake_loops.made
	@:

# Their wish to be vectorised is heard at -O2, which takes a fifth less time than -O3, and makes them as fast. Threads
# of jumps through conditions that are the same all along a row keep gcc 14 from it.
LOOP_FLAGS := $(OPT:-O3=-O2) $(if $(IS_CLANG),,-fno-thread-jumps)

define LOOP_RULE
$$(BUILD)/obj/gen/%_rows.$(1).$(2).o: $$(BUILD)/gen/%_rows.c $$(STAMP)
	$$(call say,CC,$$< $(1) $(2))
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CPPFLAGS) $$(ROW_FLAGS_$(2)) -DSTRAKE_ROWS_ISA=$(1) \
	    -DSTRAKE_ROWS_PRECISION=$(2) $$(ROW_CFLAGS) $$(ROW_FLAGS_$(1)) $$(LOOP_FLAGS) -MMD -MP -c -o $$@ $$<
endef
$(foreach i,$(LOOP_ISAS),$(foreach p,$(ROW_PRECISIONS),$(eval $(call LOOP_RULE,$(i),$(p)))))

$(BUILD)/gen/strake_cl_sources.c: cl/embed.sh $(CL_SRC)
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh cl/embed.sh $@ opencl/cl_device.h strake_cl_texts $(CL_SRC)

$(BUILD)/gen/strake_tuned_texts.c: cl/embed.sh $(TUNED) $(wildcard data/tuned)
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh cl/embed.sh $@ cost/tuned.h strake_tuned_texts $(TUNED)

# The headers that a problem in a file includes, found by the compiler, under the names by which they are included, and
# without comments, which are half of them.
HEADERS := $(BUILD)/gen/headers
$(BUILD)/gen/strake_header_texts.c: cl/embed.sh src/strake_problem.h $(wildcard cl/*.h src/*/*.h src/*/*.inc)
	$(call say,EMBED,$@)
	$(Q)rm -rf $(HEADERS) && mkdir -p $(HEADERS)
	$(Q)for file in $$($(CC) $(INCLUDES) $(DEFINES) -MM -x c src/strake_problem.h cl/wall.h cl/formula.h | tr ' ' '\n' | \
	    grep '\.\(h\|inc\)$$' | sort -u); do \
	    mkdir -p "$(HEADERS)/$$(dirname "$${file#src/}")" && awk '{ \
	        while (inside ? match($$0, /\*\//) : match($$0, /\/\*/)) { \
	            if (!inside) kept = kept substr($$0, 1, RSTART - 1); \
	            $$0 = substr($$0, RSTART + 2); inside = !inside } \
	        if (!inside) kept = kept $$0; \
	        if (kept ~ /[^ \t]/) print kept; kept = "" }' "$$file" >"$(HEADERS)/$${file#src/}" || exit 1; done
	$(Q)WITHOUT=$(HEADERS)/ sh cl/embed.sh $@ solver/problem_file.h strake_header_texts $$(find $(HEADERS) -type f | sort)

$(BUILD)/gen/strake_page_texts.c: cl/embed.sh host/view/page.html
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh cl/embed.sh $@ view/page.h strake_page_texts host/view/page.html

$(BUILD)/gen/strake_space_texts.c: cl/embed.sh $(SPACES) autotune/spaces
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh cl/embed.sh $@ autotune/space_impl.h strake_space_texts $(SPACES)

$(BUILD)/gen/strake_completion_texts.c: cl/embed.sh host/program/completion.bash host/program/completion.zsh \
    host/program/completion.fish
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh cl/embed.sh $@ program/completion.h strake_completion_texts $(wordlist 2,4,$^)

$(BUILD)/gen/strake_template_texts.c: cl/embed.sh data/examples/problems/heat.c
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)sh cl/embed.sh $@ program/completion.h strake_template_texts data/examples/problems/heat.c

# Of this folder's own repository; a source without one has no commit. What was found stays where git
# does not answer, as under another user.
$(BUILD)/gen/strake_commit.c: FORCE
	@mkdir -p $(@D)
	@commit=$$([ -e .git ] && git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null); \
	    [ -z "$$commit" ] && [ -e $@ ] || \
	    printf '#include "program/commit.h"\n\nconst char strake_commit[] = "%s";\n' "$$commit" >$@.new; \
	    if [ -e $@.new ]; then cmp -s $@.new $@ && rm $@.new || mv $@.new $@; fi

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(STAMP)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# --- linking -------------------------------------------------------------------------------------

$(STATIC): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# What the header declares, and nothing else: the program and the tests link the static library.
$(BUILD)/gen/strake.map: src/strake.h Makefile
	@mkdir -p $(@D)
	@{ echo '{ global:'; sed -n 's/^[a-z].*[ *]\(strake_[a-z0-9_]*\)(.*/    \1;/p' $<; echo '  local: *; };'; } >$@

$(BUILD)/$(SONAME): $(LIB_OBJ) $(BUILD)/gen/strake.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(BUILD)/gen/strake.map -Wl,--gc-sections \
	    $(ALL_LDFLAGS) -o $@ $(LIB_OBJ) $(ALL_LDLIBS)

$(SHARED): $(BUILD)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

define MODULE_RULE
$$(BUILD)/gen/module-$(2).map: Makefile
	@mkdir -p $$(@D)
	@printf '{\n    global: strake_$(2)_module;\n    local: *;\n};\n' >$$@

$$(BUILD)/libstrake-$(2).so: $$(patsubst %.c,$$(BUILD)/obj/%.o,$$(call module_src,$(2)) $$(MODULE_EXTRA_$(2))) \
    $$(BUILD)/gen/module-$(2).map $$(BUILD)/obj/module-$(2)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) -shared $(if $(SANITIZE),,-Wl$(COMMA)-z$(COMMA)defs) -Wl,--version-script=$$(BUILD)/gen/module-$(2).map \
	    $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) $$($(1)_LIBS) -lm
endef
$(foreach m,$(OPTIONAL),$(eval $(call MODULE_RULE,$(firstword $(subst :, ,$m)),$(lastword $(subst :, ,$m)))))

# The tuner belongs to the program and its tests, not to the library.
$(TUNER): $(TUNER_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(TUNER_OBJ)

# Without sanitizers, as whatever loads drivers.
$(DRIVER_TOOL): host/opencl/tool/try_driver.c host/opencl/cl_drivers.h $(STAMP)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) -std=c11 -O2 -g $(WARN) -fPIE -pie $(CFLAGS) $(LDFLAGS) -o $@ $< -ldl

$(PROGRAM): $(MAIN_OBJ) $(TUNER) $(STATIC)
	$(call say,LD,$@)
	$(Q)$(CC) -Wl,--gc-sections $(ALL_LDFLAGS) -o $@ $(MAIN_OBJ) $(TUNER) $(STATIC) $(ALL_LDLIBS)

# With what the program itself says of its commands and keys.
$(MANUAL): host/program/strake.1 host/program/man.sh $(PROGRAM)
	$(call say,MAN,$@)
	$(Q)sh host/program/man.sh host/program/strake.1 $(RUN) $(PROGRAM) >$@.new && mv $@.new $@

$(BUILD)/completion/strake.bash: SHELL_NAME := bash
$(BUILD)/completion/_strake: SHELL_NAME := zsh
$(BUILD)/completion/strake.fish: SHELL_NAME := fish
$(COMPLETIONS): $(PROGRAM)
	@mkdir -p $(@D)
	$(Q)$(RUN) $(PROGRAM) completion $(SHELL_NAME) >$@.new && mv $@.new $@

define PC_TEXT
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$${prefix}/include

Name: strake
Description: Hybrid OpenCL and OpenMP solver for grids and particles
Version: $(VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lstrake
Libs.private: -fopenmp -lyaml -ldl -lm
endef
export PC_TEXT
$(BUILD)/strake.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$PC_TEXT" | cmp -s - $@ || printf '%s\n' "$$PC_TEXT" >$@

# Everything in the library and the tuner, internal functions included: test programs share one copy of it. Its calls
# are bound when it is loaded: binding them one by one takes some of the little stack that tests give threads.
$(TESTED): $(LIB_OBJ) $(TUNER_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F),-z,now $(ALL_LDFLAGS) -o $@ $(LIB_OBJ) $(TUNER_OBJ) $(ALL_LDLIBS)
	$(Q)ln -sf ../strake-driver $(@D)/

# Programs whose linker replaces functions of the library (LINK_NAME) need its objects; all others share $(TESTED).
tested = $(if $(LINK_$(1)),$(TUNER) $(STATIC),$(TESTED))

# A test program is test_NAME.c with NAME_*.c beside it, the support files and the library.
define TEST_RULE
$(BUILD)/tests/$(2): $(1:%.c=$(BUILD)/obj/%.o) \
    $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(dir $(1))$(2:test_%=%)_*.c) \
        $(if $(filter $(2),$(CLOCKED)),tests/support/own_clock.c) \
        $(if $(filter $(2),$(INJECTED)),tests/support/inject.c)) $(SUPPORT_OBJ) $(call tested,$(2))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) $$(LINK_$(2)) $(TESTED_RPATH) -o $$@ $$(filter %.o %.a %.so,$$^) -lcmocka $$(ALL_LDLIBS)
endef
# Flags of one program: this one counts what shapes compute.
LINK_test_sources := -Wl,--wrap=strake_sin,--wrap=strake_exp
$(foreach t,$(INJECTED),$(eval LINK_$t := $(INJECTED_LINK)))
TESTED_RPATH := -Wl,-rpath,'$$$$ORIGIN'
$(foreach t,$(TEST_SRC),$(eval $(call TEST_RULE,$(t),$(basename $(notdir $(t))))))

# The program as it is, with its modules beside it.
$(INJECTED_PROGRAM): $(MAIN_OBJ) $(BUILD)/obj/tests/support/inject.o $(TUNER) $(STATIC)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(INJECTED_LINK) -o $@ $(filter %.o,$^) $(TUNER) $(STATIC) $(ALL_LDLIBS)
	$(Q)ln -sf ../../strake-driver $(MODULE_FILES:$(BUILD)/%=../../%) $(@D)/

$(FUZZ_BIN): $(BUILD)/tests/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/fuzz.o \
    $(filter %.o,$(FUZZER)) $(STATIC)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(filter -%,$(FUZZER)) -o $@ $(filter %.o,$^) $(STATIC) $(ALL_LDLIBS)

$(SUPPORT_BIN): $(BUILD)/tests/%: $(BUILD)/obj/tests/support/%.o $(TESTED)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $< $(TESTED) $(ALL_LDLIBS)

# Without sanitizers: the program opens it like a driver. Without a loader to stand in front of there
# is no such library, and its tests are skipped.
$(FAULTY): tests/support/faulty_opencl.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O1 -g -Wall -Wextra $(WERROR) -D_GNU_SOURCE -fPIC -shared -o $@ $< \
	    -l:libOpenCL.so.1 -ldl || { rm -f $@; echo '  no $@: no libOpenCL.so.1'; }

$(CLOCK) $(FEW_PAGES): $(BUILD)/tests/%.so: tests/support/%.c
	$(call say,LD,$@)
	$(Q)$(CC) -std=c11 -O1 -g -Wall -Wextra $(WERROR) -D_GNU_SOURCE -fPIC -shared -o $@ $< -ldl

# --- other builds: each in build/<tag>/ ---------------------------------------------------------

# Tests that need no OpenCL device; a sanitizer would report what drivers do.
.PHONY: check-cpu
check-cpu: all check-build
	@STRAKE_TESTS_CPU_ONLY=1 bash tests/run.sh $(BUILD) $(TESTS)

# Those that have the host's side of OpenCL in few kernels: with a sanitizer a driver's compiler takes its time.
WITH_OPENCL := test_opencl test_groups test_setup test_rescue test_timeline test_kernels@cahn_hilliard2d \
    test_parity@cahn_hilliard2d streaming.t failure.t
.PHONY: check-opencl
check-opencl: all check-build
	@bash tests/run.sh $(BUILD) $(foreach t,$(WITH_OPENCL),$(or $(filter %/$t,$(TESTS)),$t))

.PHONY: check-asan check-tsan check-clang check-oclgrind check-offline
# What drivers and the libraries of modules leak is no finding: tests/sanitizer.supp.
ASAN = ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1 \
    LSAN_OPTIONS=suppressions=$(CURDIR)/tests/sanitizer.supp:print_suppressions=0 \
    STRAKE_TESTS_TIMEOUT=1800 STRAKE_TESTS_SANITIZER=address STRAKE_KERNEL_DRAWS=4 \
    $(SUBMAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined OPT=-O1 WERROR=
check-asan: ## tests without OpenCL, and a sample with it, under AddressSanitizer and UndefinedBehaviorSanitizer
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh check
	+@$(ASAN) check-cpu
	+@$(ASAN) check-opencl

# Clang, because archer tells ThreadSanitizer what OpenMP synchronises; gcc's libgomp has no such tool.
check-tsan: ## CPU side of the tests under ThreadSanitizer (clang, libomp with archer)
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh clang
	+@TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 STRAKE_TESTS_TIMEOUT=1800 \
	    STRAKE_TESTS_SANITIZER=thread \
	    $(SUBMAKE) BUILD=$(BUILD)/tsan CC=$(CLANG) SANITIZE=thread OPT=-O1 WERROR= check-cpu

check-clang: ## build with clang and run every test
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh clang
	+@$(SUBMAKE) BUILD=$(BUILD)/clang CC=$(CLANG) all check-build check-built

.PHONY: check-built
check-built: all check-build
	@bash tests/run.sh $(BUILD) $(TESTS)

check-oclgrind: ## a small case on Oclgrind: API errors, bad accesses, races (not uninitialised reads)
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh oclgrind
	+@$(SUBMAKE) all
	@CC='$(CC)' bash tests/oclgrind.sh $(BUILD)

.PHONY: check-physics-long check-large check-page fuzz
check-physics-long: all $(BUILD)/tests/test_lava_flow $(BUILD)/tests/test_sph_flows ## coarsening of Cahn-Hilliard to t = 4000 on 512 x 512 cells, three starts; flows of lava on fine grids, of particles: minutes
	@STRAKE_LONG=1 $(BUILD)/tests/test_lava_flow
	@STRAKE_LONG=1 $(BUILD)/tests/test_sph_flows
	@bash tests/physics/coarsening.sh $(PROGRAM)

# Row loops, which take longest to compile, are those of the build that is there: no input reaches them.
SECONDS ?= 60
FUZZED := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz: all ## libFuzzer over everything that is read from files, SECONDS=60 for each; what it finds: build/fuzz/found
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh fuzz
	+@$(SUBMAKE) BUILD=$(BUILD)/fuzz CC=$(CLANG) SANITIZE=address,undefined,fuzzer-no-link OPT=-O1 \
	    FUZZER=-fsanitize=fuzzer LOOP_TOOL=$(LOOP_TOOL) ROW_OBJ='$(ROW_OBJ)' LOOP_OBJ='$(LOOP_OBJ)' \
	    $(FUZZED:%=$(BUILD)/fuzz/tests/fuzz_%) $(patsubst %,$(BUILD)/fuzz/libstrake-%.so,$(filter netcdf gdal,$(MODULES)))
	@bash tests/fuzz/run.sh $(PROGRAM) $(BUILD)/fuzz $(SECONDS) $(FUZZED)

check-large: all ## outputs and fields of more than 4 GiB in one file: 16 GiB of memory, 20 GiB in FOLDER=/tmp, minutes
	@bash tests/large.sh $(PROGRAM) $(or $(FOLDER),/tmp)

check-page: all ## a page of `strake view` in headless Chromium, which it installs where missing
	@bash tests/page.sh $(PROGRAM)

# BARE: targets, or programs of tests such as tests/cli/ranks.t, one after the other.
BARE ?= run check
.PHONY: check-bare check-systems check-compilers
check-bare: ## the README's first commands in a minimal root file system; as root; BARE='run check-quick' for less
	@CC='$(CC)' bash tests/bare.sh $(BUILD) $(BARE)

SYSTEMS ?= bookworm trixie noble
WAYS ?= root root-less user user-less
check-systems: ## the same on Debian 12, 13, Ubuntu 24.04, without /sys, as a user: hours; SYSTEMS=trixie WAYS=root for less
	@CC='$(CC)' SYSTEMS='$(SYSTEMS)' WAYS='$(WAYS)' bash tests/bare.sh $(BUILD) $(BARE)

# Those that are here are asked, one after the other. Nothing is linked, for which each clang would need its own OpenMP;
# the header of another one does for compiling, in a folder of its own: other headers there would hide clang's.
COMPILERS ?= gcc-11 gcc-12 gcc-13 gcc-14 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19
OMP_HEADER := $(lastword $(wildcard /usr/lib/llvm-*/lib/clang/*/include/omp.h))
check-compilers: $(LOOP_TOOL) ## compile everything with each of COMPILERS that is installed, warnings are errors
	@mkdir -p $(BUILD)/compilers/omp
	$(if $(OMP_HEADER),@cp $(OMP_HEADER) $(BUILD)/compilers/omp)
	+@for compiler in $(COMPILERS); do \
	    if ! command -v $$compiler >/dev/null; then echo "check-compilers: $$compiler: not installed"; continue; fi; \
	    $(SUBMAKE) BUILD=$(BUILD)/compilers/$$compiler CC=$$compiler WERROR=-Werror LOOP_TOOL=$(LOOP_TOOL) \
	        CPPFLAGS='-idirafter $(BUILD)/compilers/omp' objects >$(BUILD)/compilers-$$compiler.log 2>&1 || \
	        { grep -E 'error|warning' $(BUILD)/compilers-$$compiler.log | head -20; echo "check-compilers: $$compiler: FAILED"; exit 1; }; \
	    echo "check-compilers: $$compiler: no warning"; done

check-offline: ## generated kernels through compilers for AMD, Intel, NVIDIA, SPIR-V; INSTALL=1 installs them
	@$(if $(filter 1,$(INSTALL)),CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh offline)
	+@$(SUBMAKE) all
	@bash tests/offline.sh $(BUILD)

# --- checks of the source --------------------------------------------------------------------------

C_FILES = $(sort $(wildcard src/*.h src/*/*.[ch] host/*/*.[ch] host/*/*/*.[ch] autotune/*.[ch] bench/*.c cl/*.h tests/*/*.[ch]))

.PHONY: check-layers check-symbols check-house check-format format tidy
check-layers: $(LIBRARIES) $(PROGRAM) ## dependencies between folders point one way, and those of files in no large circles
	@bash tests/layers.sh
	@bash tests/circles.sh $(BUILD)

check-symbols: $(STATIC) $(SHARED) ## the shared library exports the functions of strake.h, all symbols begin strake_
	@CC='$(CC)' bash tests/symbols.sh $(BUILD)

check-house: $(LIBRARIES) $(TUNER) ## the size of the product beside its limits; CLEAN=1 times a clean build, too
	@CLEAN='$(CLEAN)' bash tests/house.sh $(BUILD)

format: ## format every C file with clang-format 14
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh format
	$(Q)$(CLANG_FORMAT) -i $(C_FILES)

check-format: ## fail where a C file is not formatted
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh format
	@$(CLANG_FORMAT) --dry-run --Werror $(C_FILES) && echo 'check-format: $(words $(C_FILES)) files'

# One file at a time keeps the memory of the analyzer low and the first finding visible.
TIDY_FILES = $(sort $(wildcard src/*/*.c host/*/*.c host/*/*/*.c autotune/*.c))
tidy: $(GEN_C) ## clang-tidy 14 over src and host, findings are errors
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh tidy
	@status=0; for file in $(TIDY_FILES); do \
	    case $$file in *_rows.c) row='-DSTRAKE_ROWS_ISA=base -DSTRAKE_ROWS_PRECISION=f64';; *) row=;; esac; \
	    $(CLANG_TIDY) --quiet $$file -- -std=c11 -fopenmp $(ALL_CPPFLAGS) $(MPI_FLAGS:-I%=-isystem %) $(NETCDF_FLAGS:-I%=-isystem %) $(CAIRO_FLAGS:-I%=-isystem %) $(GDAL_FLAGS:-I%=-isystem %) $$row 2>&1 | \
	        { grep -vE '^([0-9]+ warnings? generated|Suppressed |Use -header-filter)' || true; }; \
	    [ "$${PIPESTATUS[0]}" -eq 0 ] || status=1; done; \
	    [ $$status -eq 0 ] && echo 'tidy: $(words $(TIDY_FILES)) files'
tidy: SHELL := bash

# --- installing and the rest -----------------------------------------------------------------------

INSTALL_LIB := $(DESTDIR)$(LIBDIR)
INSTALL_SHARE := $(DESTDIR)$(PREFIX)/share
INSTALL_BASH := $(INSTALL_SHARE)/bash-completion/completions
INSTALL_ZSH := $(INSTALL_SHARE)/zsh/site-functions
INSTALL_FISH := $(INSTALL_SHARE)/fish/vendor_completions.d
# Programs that link the library start if the loader knows it; where it does not, this says what to do.
TELL_LOADER = if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" -eq 0 ]; then $(LDCONFIG) || :; fi; \
    [ -z '$(DESTDIR)' ] && $(LDCONFIG) -p 2>/dev/null | grep -q ' $(LIBDIR)/$(SONAME)$$' || \
    echo 'install: programs that link the library find it once ldconfig was run as root where $(LIBDIR) is one of' \
        'its folders (/etc/ld.so.conf), or with LD_LIBRARY_PATH=$(LIBDIR)'
.PHONY: install uninstall
# What debuggers need stays in BUILD: it is half of each file.
install: all ## install under PREFIX (default /usr/local); DESTDIR is honoured
	install -d $(DESTDIR)$(PREFIX)/bin $(INSTALL_LIB)/pkgconfig $(DESTDIR)$(PREFIX)/include \
	    $(INSTALL_SHARE)/man/man1 $(INSTALL_BASH) $(INSTALL_ZSH) $(INSTALL_FISH)
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/strake
	install -m 644 $(STATIC) $(INSTALL_LIB)/libstrake.a
	install -m 755 $(BUILD)/$(SONAME) $(INSTALL_LIB)/$(SONAME)
	ln -sf $(SONAME) $(INSTALL_LIB)/libstrake.so
	$(if $(MODULE_FILES),install -m 755 $(MODULE_FILES) $(INSTALL_LIB))
	install -m 755 $(DRIVER_TOOL) $(INSTALL_LIB)
	$(STRIP) --strip-unneeded $(DESTDIR)$(PREFIX)/bin/strake $(INSTALL_LIB)/$(SONAME) \
	    $(MODULE_FILES:$(BUILD)/%=$(INSTALL_LIB)/%) $(INSTALL_LIB)/$(notdir $(DRIVER_TOOL))
	$(STRIP) --strip-debug $(INSTALL_LIB)/libstrake.a
	install -m 644 $(BUILD)/strake.pc $(INSTALL_LIB)/pkgconfig/strake.pc
	install -m 644 src/strake.h host/fortran/strake.f90 $(DESTDIR)$(PREFIX)/include
	install -m 644 $(MANUAL) $(INSTALL_SHARE)/man/man1/strake.1
	install -m 644 $(BUILD)/completion/strake.bash $(INSTALL_BASH)/strake
	install -m 644 $(BUILD)/completion/_strake $(INSTALL_ZSH)/_strake
	install -m 644 $(BUILD)/completion/strake.fish $(INSTALL_FISH)/strake.fish
	@$(TELL_LOADER)
	@sh autotune/offer.sh '$(DESTDIR)' $(PREFIX)/bin/strake

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/strake $(INSTALL_LIB)/libstrake.a $(INSTALL_LIB)/$(SONAME) \
	    $(INSTALL_LIB)/libstrake.so $(INSTALL_LIB)/strake-driver $(foreach m,$(OPTIONAL),$(INSTALL_LIB)/libstrake-$(lastword $(subst :, ,$m)).so) $(INSTALL_LIB)/pkgconfig/strake.pc \
	    $(DESTDIR)$(PREFIX)/include/strake.h $(DESTDIR)$(PREFIX)/include/strake.f90 \
	    $(INSTALL_SHARE)/man/man1/strake.1 $(INSTALL_BASH)/strake \
	    $(INSTALL_ZSH)/_strake $(INSTALL_FISH)/strake.fish

# Compiling needs the headers of libyaml, CMocka and OpenCL, which are the same for all; linking would
# need libraries of the target.
.PHONY: aarch64 objects
objects: $(STATIC) $(TUNER) $(MAIN_OBJ) $(patsubst %.c,$(BUILD)/obj/%.o,$(foreach m,$(MODULES),$(call module_src,$m)) \
    $(filter-out $(SUPPORT_LIB),$(wildcard tests/*/*.c)))
aarch64: $(LOOP_TOOL) ## compile everything for 64-bit Arm, in BUILD/aarch64 (gcc-aarch64-linux-gnu)
	+@$(SUBMAKE) BUILD=$(BUILD)/aarch64 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar PKG_CONFIG=false MPI=no \
	    CPPFLAGS='-idirafter /usr/include' LOOP_TOOL=$(LOOP_TOOL) objects

# --- packages --------------------------------------------------------------------------------------

DIST_NAME := strake-$(VERSION)
DIST ?= $(BUILD)/$(DIST_NAME).tar.gz
DEB_FOLDER ?= $(BUILD)
DEB_ROOT = $(abspath $(DEB_FOLDER))/deb-root
MAINTAINER ?= The Strake authors <root@localhost>
WHEEL_FOLDER ?= $(BUILD)
AUDITWHEEL ?=
.PHONY: dist deb wheel check-packages
dist: ## the source as a tarball, BUILD/strake-VERSION.tar.gz
	@mkdir -p $(dir $(DIST))
	@sh host/program/dist.sh $(DIST) $(DIST_NAME)

# The program looks for modules where it was told to when it was compiled: ../lib, which is right in /usr, too.
deb: all ## a Debian package for systems like this one, BUILD/strake_VERSION_ARCHITECTURE.deb
	$(if $(filter ../lib,$(LIBDIR_FROM_BIN)),,$(error make deb: LIBDIR=$(LIBDIR) is not lib below PREFIX; leave it out))
	@rm -rf $(DEB_ROOT) && mkdir -p $(DEB_FOLDER)
	+@$(MAKE) --no-print-directory -o all install DESTDIR=$(DEB_ROOT) PREFIX=/usr LIBDIR=/usr/lib >/dev/null
	@sed 's|^prefix=.*|prefix=/usr|; s|^libdir=.*|libdir=/usr/lib|' $(BUILD)/strake.pc >$(DEB_ROOT)/usr/lib/pkgconfig/strake.pc
	@sh host/program/deb.sh $(DEB_ROOT) $(VERSION) '$(MAINTAINER)' $(DEB_FOLDER)
	@rm -rf $(DEB_ROOT)

# auditwheel puts libyaml and the compiler's OpenMP into the wheel and says which glibc it needs, that of this system. What
# modules load stays the system's: they are loaded where they are used, and say so where it is missing.
wheel: all ## the Python wheel for systems like this one, in BUILD; AUDITWHEEL=auditwheel: for all with as new a glibc
	@mkdir -p $(WHEEL_FOLDER)
	@wheel=$$(STRAKE_LIBRARY=$(BUILD)/libstrake.so STRIP='$(STRIP)' python3 host/python/backend/strake_wheel.py $(WHEEL_FOLDER)) && \
	    if [ -n '$(AUDITWHEEL)' ]; then \
	        $(AUDITWHEEL) repair -w $(WHEEL_FOLDER) $(foreach l,cairo gdal mpi netcdf,--exclude 'lib$l.so.*') \
	            $(WHEEL_FOLDER)/$$wheel && rm $(WHEEL_FOLDER)/$$wheel; \
	    else echo "wheel: $(WHEEL_FOLDER)/$$wheel"; fi

check-packages: dist deb ## build the tarball from nothing and run it; as root, install the package, run it, remove it
	@CC='$(CC)' bash tests/packages.sh $(BUILD) $(DIST_NAME)

.PHONY: example deps configure info help clean distclean
example: $(BUILD)/tests/example_model ## build and run the library example of the README
	$(BUILD)/tests/example_model

deps: ## install every package that a build and the tests need, where missing
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/deps.sh check

configure: ## remember settings: make configure CC=clang PREFIX=/opt/strake
	@{ echo '# Written by make configure; delete to return to the defaults.'; \
	    $(foreach v,$(CONFIG_VARS),$(if $(filter command,$(firstword $(origin $v))),echo '$v := $($v)';)) \
	    } >config.mk
	@cat config.mk

info: ## the settings in force
	@$(foreach v,VERSION TARGET ROW_ISAS MODULES MPI_LIBS $(CONFIG_VARS),printf '%-13s %s\n' '$v' '$($v)';)

print-%:
	@echo '$($*)'

help: ## this list
	@echo 'Targets (make print-VAR prints a variable, V=1 shows commands):'
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1@\2/p' Makefile | \
	    while IFS=@ read -r name text; do printf '  %-15s %s\n' "$$name" "$$text"; done

clean: ## remove what was built
	rm -rf $(BUILD)
distclean: clean
	rm -f config.mk

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
