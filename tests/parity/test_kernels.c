/*
 * Generated kernels: however stages are fused into kernels, whatever the sizes of groups, the state has the
 * bytes of serial. Sets of parameters: every few share a program's text and differ in their groups, grids and
 * places. PoCL builds them without optimising, since its compiler would take most of the time;
 * runs with one or two more programs follow, built as users get them. Draws are seeded.
 *
 * `make check-long` runs hundreds of sets as they are drawn, all different. `make check` runs a few dozen that
 * are chosen: of many draws always the one with the most pairs of choices that no set before has had, so that
 * faults which need two of them at once (a kind of kernel and a boundary, a precision and a number of columns) show.
 * Every kind of kernel must meet every boundary, place and rest of columns, or the test fails; with MPDATA, which has
 * stages of every shape, every precision and way to divide, too. Other problems have half of the programs and
 * twice the runs of each: they catch what is wrong with a problem's own stages in a kind of kernel, at its edges
 * and between places; a kind in both precisions is MPDATA's or check-long's.
 *
 * STRAKE_REQUIRE_OPENCL=1 turns a missing device into a failure, STRAKE_KERNEL_DRAWS sets the number of sets
 * that are drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "opencl/cl_device.h"
#include "solver/solver.h"
#include "tests/support/trial.h"

enum { STEPS = 3, SETS = 208, SETS_OF_PROGRAM = 6, MOST_SETS = 4096, WHOLE_RUNS = 12, KEY = 128 };

/* Of a sample; candidates: how many draws each one is chosen from. */
enum { PROGRAMS = 12, SETS_OF_CHOSEN = 2, WHOLE_RUNS_OF_SAMPLE = 2, CANDIDATES = 400 };

static int pick(uint64_t *seed, int count)
{
    const int k = (int)(strake_random(seed) * count);
    return k < count ? k : count - 1;
}

/* The choices of a set that pairs are counted of; those of the program come first. */
typedef enum factor {
    KIND, /* of kernel: how stages are fused, and for marching ones how many columns a work-item has */
    PRECISION,
    DIVISION,
    CONSTANT_H,
    HOLD,
    UNROLL,
    PREFETCH,
    KEEP,
    SCHEME,
    PROGRAM_FACTORS,
    BOUNDARY = PROGRAM_FACTORS,
    PLACE,
    FEW_ROWS,
    FEW_COLUMNS,
    REST, /* of columns */
    GROUP_ROWS,
    OWN_GROUPS,
    FACTORS
} factor;

enum { LEVELS = 6, KINDS = 6 };

/* One run: what decides a program's text, then sizes of groups, grid and place. */
typedef struct set {
    int variant;
    bool single, constant_h;
    int fusion, division, hold, unroll, prefetch, keep, vector, width, height, rows;
    strake_group group[3]; /* of the first kernels */
    int grid[2], boundary, place;
    int level[FACTORS];
} set;

static const char *const places[] = {"ocl:0", "cpu,ocl:0", "ocl:0,ocl:0"};

static void draw_program(set *p, uint64_t *seed)
{
    static const int fusions[] = {1, 2, 3, 3, 3, 3, 3, 4};
    static const int holds[] = {0, 0, 12, 30, 300};
    static const int unrolls[] = {1, 1, 2, 4};
    static const int vectors[] = {1, 1, 1, 2, 2, 4};
    const int variant = pick(seed, 1000);
    const bool single = pick(seed, 4) == 0, constant_h = pick(seed, 3) == 0;
    const int fusion = fusions[pick(seed, 8)], division = pick(seed, 3) == 0 ? 1 : 2;
    const int hold = pick(seed, 5), unroll = unrolls[pick(seed, 4)], prefetch = pick(seed, 3);
    const int keep = pick(seed, 2) == 0 ? 1 : 1 + pick(seed, 9);
    const int vector = vectors[pick(seed, 6)], width = 20 + pick(seed, 150);
    *p = (set){.variant = variant,
               .single = single,
               .constant_h = constant_h,
               .fusion = fusion,
               .division = division,
               .hold = holds[hold],
               .unroll = unroll,
               .prefetch = 1 + prefetch,
               .keep = keep,
               .vector = vector,
               .width = fusion == 4 ? 1 + width / 4 : width, /* a tile's */
               .level = {[KIND] = fusion < 3    ? fusion - 1
                                  : fusion == 4 ? KINDS - 1
                                                : 2 + vector / 2,
                         [PRECISION] = single,
                         [DIVISION] = division,
                         [CONSTANT_H] = constant_h,
                         [HOLD] = hold,
                         [UNROLL] = unroll,
                         [PREFETCH] = prefetch,
                         [KEEP] = keep > 1,
                         [SCHEME] = variant % LEVELS}};
}

/*
 * Sizes of groups, for which PoCL compiles anew only where the width is another one (a tile's is compiled in),
 * the grid and who has its rows.
 */
static void draw_run(set *p, uint64_t *seed)
{
    int own = 0;
    p->height = 1 + pick(seed, 5);
    p->rows = pick(seed, 3) == 0 ? 0 : 1 + pick(seed, 40);
    for (int k = 0; k < 3; k++) {
        const bool common = pick(seed, 2) == 0;
        own += common ? 0 : 1;
        p->group[k] = (strake_group){common ? 0 : p->width, 1 + pick(seed, 5)};
    }
    p->level[FEW_ROWS] = pick(seed, 4) == 0;
    p->grid[0] = 1 + pick(seed, p->level[FEW_ROWS] != 0 ? 8 : 70);
    p->level[FEW_COLUMNS] = pick(seed, 4) == 0;
    p->grid[1] = 1 + pick(seed, p->level[FEW_COLUMNS] != 0 ? 8 : 230);
    const int place = pick(seed, 4);
    p->place = p->grid[0] > 1 && place > 1 ? place - 1 : 0;
    p->boundary = pick(seed, 4);
    p->level[REST] = p->grid[1] % 4;
    p->level[BOUNDARY] = p->boundary;
    p->level[PLACE] = p->place;
    p->level[GROUP_ROWS] = p->rows > 0;
    p->level[OWN_GROUPS] = own;
}

/* Whether these parameters are among the first @p count keys; adds them there. */
static bool is_known(const set *p, int count, char (*key)[KEY])
{
    (void)snprintf(key[count], KEY, "%d %d%d %d %d %d %d %d %d %d %d %d %d", p->variant, p->single,
                   p->constant_h, p->fusion, p->division, p->hold, p->unroll, p->prefetch, p->keep,
                   p->vector, p->width, p->height, p->rows);
    for (int k = 0; k < count; k++) {
        if (strcmp(key[k], key[count]) == 0) {
            return true;
        }
    }
    return false;
}

static void check_set(const strake_subject *subject, const set *p, int draw)
{
    const char *const place = places[p->place];
    const strake_trial_config config = {subject,     p->variant, p->grid[0],   p->grid[1],
                                        p->boundary, p->single,  p->constant_h};
    strake_trial trial;
    strake_trial_begin(&trial, &config, (uint64_t)draw);
    strake_trial_roughen(&trial, (uint64_t)draw);
    strake_case *which = trial.which;
    which->run.fusion = p->fusion;
    which->run.division = p->division;
    which->run.hold = p->hold;
    which->run.unroll = p->unroll;
    which->run.prefetch = p->prefetch;
    which->run.keep = p->keep;
    which->run.vector = p->vector;
    which->run.group_width = p->width;
    which->run.group_height = p->height;
    which->run.group_rows = p->rows;
    (void)strake_groups_print(3, p->group, which->run.groups);
    uint64_t checksum[2];
    for (int k = 0; k < 2; k++) {
        strake_solver *solver = strake_trial_open(&trial, k == 0 ? "serial" : place, NULL, 1);
        strake_harness_step(solver, STEPS);
        checksum[k] = strake_trial_checksum(&trial, solver);
        strake_close(&solver);
    }
    if (checksum[0] != checksum[1]) {
        fail_msg("draw %d: %s differs from serial: %s, fusion %d, division %d, hold %d, unroll %d, "
                 "prefetch %d, keep %d, vector %d, groups of %d x %d (%s), %d rows; variant %d",
                 draw, place, trial.name, p->fusion, p->division, p->hold, p->unroll, p->prefetch,
                 p->keep, p->vector, which->run.group_width, which->run.group_height,
                 which->run.groups, which->run.group_rows, p->variant);
    }
    strake_trial_end(&trial);
}

/* Pairs of choices that sets have had. */
typedef struct pairs {
    bool had[FACTORS][LEVELS][FACTORS][LEVELS];
    int count;
} pairs;

/* What the pairs of a set that are new weigh, of those with a factor from @p least to below @p most. */
static int new_pairs(pairs *all, const set *p, int least, int most, bool keep)
{
    int weight = 0;
    for (int g = least; g < most; g++) {
        for (int f = 0; f < g; f++) {
            bool *const had = &all->had[f][p->level[f]][g][p->level[g]];
            /* Every kind of kernel meets everything, both precisions and ways to divide first. */
            weight += *had ? 0 : f != KIND ? 1 : g == PRECISION || g == DIVISION ? 40 : 10;
            all->count += keep && !*had ? 1 : 0;
            *had = *had || keep;
        }
    }
    return weight;
}

/* Of many draws the one with the most new pairs: another program, or another run of @p p. */
static void choose(pairs *all, set *p, bool program, uint64_t *seed)
{
    const int least = program ? 1 : PROGRAM_FACTORS, most = program ? PROGRAM_FACTORS : FACTORS;
    set best = *p;
    int gain = -1;
    for (int c = 0; c < CANDIDATES; c++) {
        set drawn = *p;
        if (program) {
            draw_program(&drawn, seed);
        } else {
            draw_run(&drawn, seed);
        }
        const int more = new_pairs(all, &drawn, least, most, false);
        best = more > gain ? drawn : best;
        gain = more > gain ? more : gain;
    }
    (void)new_pairs(all, &best, least, most, true);
    *p = best;
}

/* The kinds of kernel with what each of them must have met; the last two with the programs of MPDATA. */
static void check_pairs(const pairs *all, bool is_mpdata)
{
    static const struct {
        factor with;
        int least, most;
    } must[] = {{BOUNDARY, 0, 3}, {PLACE, 0, 2}, {REST, 0, 3}, {PRECISION, 0, 1}, {DIVISION, 1, 2}};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t k = 0; k < (is_mpdata ? 5 : 3); k++) {
            for (int level = must[k].least; level <= must[k].most; level++) {
                if (!all->had[KIND][kind][must[k].with][level]) {
                    fail_msg("no set of the sample has kernels of kind %d with choice %d of factor "
                             "%d",
                             kind, level, (int)must[k].with);
                }
            }
        }
    }
}

static int run_sample(const strake_subject *subject, uint64_t *seed)
{
    static pairs all;
    const bool is_mpdata = subject == &strake_subject_mpdata2d;
    const int programs = is_mpdata ? PROGRAMS : PROGRAMS / 2;
    const int each = is_mpdata ? SETS_OF_CHOSEN : 2 * SETS_OF_CHOSEN;
    set p = {0};
    memset(&all, 0, sizeof all);
    for (int program = 0; program < programs; program++) {
        choose(&all, &p, true, seed);
        for (int k = 0; k < each; k++) {
            choose(&all, &p, false, seed);
            check_set(subject, &p, program * each + k);
        }
    }
    check_pairs(&all, is_mpdata);
    print_message("# %d sets of parameters, %d programs, have %d pairs of choices\n",
                  programs * each, programs, all.count);
    return programs * each;
}

static int run_drawn(const strake_subject *subject, int sets, uint64_t *seed)
{
    char(*const key)[KEY] = calloc(MOST_SETS, sizeof *key);
    assert_non_null(key);
    set p = {0};
    for (int k = 0; k < sets; k++) {
        if (k % SETS_OF_PROGRAM == 0) {
            draw_program(&p, seed);
        }
        do {
            draw_run(&p, seed);
        } while (is_known(&p, k, key));
        check_set(subject, &p, k);
    }
    print_message("# %d different sets of parameters\n", sets);
    free(key);
    return sets;
}

static bool has_device(void)
{
    strake_cl_list list;
    strake_error error;
    if (strake_cl_list_open(&list, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    const bool found = list.count > 0 && list.device[0].has_double;
    strake_cl_list_free(&list);
    return found;
}

static void every_fusion_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    const char *required = getenv("STRAKE_REQUIRE_OPENCL");
    if (!has_device()) {
        if (required != NULL && strcmp(required, "1") == 0) {
            fail_msg("no OpenCL device, and STRAKE_REQUIRE_OPENCL=1");
        }
        print_message("# skip: no OpenCL device\n");
        skip();
    }
    const char *wanted = getenv("STRAKE_KERNEL_DRAWS");
    const bool whole = wanted != NULL || strake_trial_is_whole();
    const int share = subject == &strake_subject_mpdata2d ? 1 : 4;
    const int asked = wanted != NULL ? atoi(wanted) : SETS / share;
    const int of_sample = share == 1 ? WHOLE_RUNS_OF_SAMPLE : WHOLE_RUNS_OF_SAMPLE / 2;
    const int runs = whole ? WHOLE_RUNS : of_sample;
    uint64_t seed = 7;
    strake_harness_build_quickly(true);
    const int sets = whole ? run_drawn(subject, asked < MOST_SETS ? asked : MOST_SETS, &seed)
                           : run_sample(subject, &seed);
    strake_harness_build_quickly(false);
    set p = {0};
    for (int run = 0; run < runs; run++) {
        if (run == 0 || run == runs / 2) {
            draw_program(&p, &seed);
        }
        draw_run(&p, &seed);
        check_set(subject, &p, sets + run);
    }
    print_message("# and %d runs with other programs are equal\n", runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fusion_gives_the_bytes_of_serial),
    };
    return strake_trial_run(tests, sizeof tests / sizeof tests[0]);
}
