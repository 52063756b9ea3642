/*
 * What a problem's table says of its static inputs is done to them: ghosts beyond every kind of edge, by
 * an own statement that reflects a place until it is inside; flows without divergence; weights; and a
 * problem with walls that change the sign of the velocity through them, on every placement. What surveys find in them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "case/case.h"
#include "engine/extend.h"
#include "engine/loops.h"
#include "problem/mpdata.h"
#include "problem/mpdata_survey.h"
#include "tests/support/harness.h"

enum { GHOSTS = 3, MOST = 40000 };

enum { PLAIN, NORMAL, NOTHING, F0, F1, F2, FIELDS };

/* On cells: as states, a velocity across rows, nothing beyond edges; on faces: velocities at walls. */
static const strake_field walled[] = {
    [PLAIN] = {"plain", STRAKE_CELL},
    [NORMAL] = {"normal", STRAKE_CELL, .wall = {STRAKE_EDGE_NEGATED},
                .open = {STRAKE_EDGE_NEGATED}},
    [NOTHING] = {"nothing", STRAKE_CELL,
                 .wall = {STRAKE_EDGE_ZERO, STRAKE_EDGE_ZERO, STRAKE_EDGE_ZERO},
                 .open = {STRAKE_EDGE_ZERO, STRAKE_EDGE_ZERO, STRAKE_EDGE_ZERO}},
    [F0] = {"f0", STRAKE_FACE_0, .wall = {[0] = STRAKE_EDGE_NEGATED}, .weight = "plain"},
    [F1] = {"f1", STRAKE_FACE_1, .wall = {[1] = STRAKE_EDGE_NEGATED}, .weight = "plain"},
    [F2] = {"f2", STRAKE_FACE_2, .wall = {[2] = STRAKE_EDGE_NEGATED}, .weight = "plain"},
};

static const strake_field flow[] = {
    [PLAIN] = {"plain", STRAKE_CELL},
    [NORMAL] = {"a state, left alone", STRAKE_CELL, .is_state = true},
    [NOTHING] = {"plain too", STRAKE_CELL},
    [F0] = {"f0", STRAKE_FACE_0, .open = {[0] = STRAKE_EDGE_FREE_OF_DIVERGENCE}},
    [F1] = {"f1", STRAKE_FACE_1, .open = {[1] = STRAKE_EDGE_FREE_OF_DIVERGENCE}},
    [F2] = {"f2", STRAKE_FACE_2, .open = {[2] = STRAKE_EDGE_FREE_OF_DIVERGENCE}},
};

/* A grid with all fields in either precision. */
typedef struct bed {
    strake_problem problem;
    strake_layout layout;
    strake_statics statics;
    void *array[FIELDS];
    double number[FIELDS];
    bool is_closed[STRAKE_AXES];
} bed;

static double get(const bed *b, int f, int64_t i, int64_t m, int64_t j)
{
    const int64_t at = strake_layout_at(&b->layout, i, m, j);
    return b->layout.element_size == 8 ? ((const double *)b->array[f])[at]
                                       : (double)((const float *)b->array[f])[at];
}

static void put(bed *b, int f, int64_t i, int64_t m, int64_t j, double x)
{
    const int64_t at = strake_layout_at(&b->layout, i, m, j);
    if (b->layout.element_size == 8) {
        ((double *)b->array[f])[at] = x;
    } else {
        ((float *)b->array[f])[at] = (float)x;
    }
}

/* The value that is filled in: exact in both precisions, different everywhere. */
static double inside(int f, int64_t i, int64_t m, int64_t j)
{
    return 1.0 + (double)(((f * 32 + i) * 32 + m) * 32 + j) / 8.0;
}

static int64_t stored(const bed *b, int f, int axis)
{
    const bool more = f - F0 == axis && b->layout.boundary[axis] != STRAKE_PERIODIC;
    return b->layout.n[axis] + (more ? 1 : 0);
}

static void open_bed(bed *b, const strake_field *field, const int64_t n[3],
                     const strake_boundary kind[3], int element_size)
{
    strake_layout *const l = &b->layout;
    *b = (bed){.problem = {.fields = FIELDS, .field = field}};
    *l = (strake_layout){.element_size = element_size, .start = 8};
    for (int a = 0; a < 3; a++) {
        l->n[a] = n[a];
        l->boundary[a] = kind[a];
        l->lo[a] = l->hi[a] = n[a] > 1 ? GHOSTS : 0;
    }
    l->pitch = n[2] + 2 * GHOSTS;
    l->slab = (n[1] + l->lo[1] + l->hi[1]) * l->pitch;
    l->origin = strake_layout_slab_at(l, 0) + l->lo[1] * l->pitch + l->lo[2];
    l->elements = l->start + strake_layout_slabs(l) * l->slab;
    assert_true(l->elements <= MOST);
    for (int f = 0; f < FIELDS; f++) {
        if (f == F1 && n[1] == 1) { /* there are no such faces in two dimensions */
            continue;
        }
        b->array[f] = calloc((size_t)l->elements, (size_t)element_size);
        assert_non_null(b->array[f]);
        for (int64_t i = 0; i < stored(b, f, 0); i++) {
            for (int64_t m = 0; m < stored(b, f, 1); m++) {
                for (int64_t j = 0; j < stored(b, f, 2); j++) {
                    /* Nothing flows through a wall itself. */
                    const int64_t at[] = {i, m, j};
                    const bool in_wall = field == walled && f >= F0 &&
                                         kind[f - F0] == STRAKE_NO_FLUX &&
                                         at[f - F0] % n[f - F0] == 0;
                    put(b, f, i, m, j, in_wall ? 0.0 : inside(f, i, m, j));
                }
            }
        }
    }
    b->statics = (strake_statics){&b->problem, l, b->array, b->number, b->is_closed};
}

static void close_bed(bed *b)
{
    for (int f = 0; f < FIELDS; f++) {
        free(b->array[f]);
    }
}

/* All of it, @p slabs slabs at a time, the last ones first. */
static void extend(bed *b, int64_t slabs)
{
    static const strake_statics_group group[] = {STRAKE_ON_CELLS, STRAKE_ON_FACES,
                                                 STRAKE_FREE_OF_DIVERGENCE};
    const strake_layout *const l = &b->layout;
    for (int axis = 0; axis < 3; axis++) {
        for (int g = 0; g < 3; g++) {
            if (axis == 0) {
                strake_extend(&b->statics, group[g], 0, (strake_range){-l->lo[0], 0}, 0);
                strake_extend(&b->statics, group[g], 0, (strake_range){l->n[0], l->n[0] + l->hi[0]},
                              0);
                continue;
            }
            const int64_t end = l->n[0] + l->hi[0];
            for (int64_t last = end; last > -l->lo[0]; last -= slabs) {
                const int64_t first = last - slabs > -l->lo[0] ? last - slabs : -l->lo[0];
                strake_extend(&b->statics, group[g], axis, (strake_range){first, last}, end);
            }
        }
    }
}

/* Where a place outside leads, one reflection or step at a time, and the factor on the way. */
static double expected(const bed *b, int f, const int64_t place[3])
{
    int64_t at[3] = {place[0], place[1], place[2]};
    double factor = 1.0;
    for (int a = 0; a < 3; a++) {
        const int64_t n = b->layout.n[a];
        const bool on_face = f - F0 == a;
        const strake_boundary kind = b->layout.boundary[a];
        const bool is_negated = on_face ? kind == STRAKE_NO_FLUX : f == NORMAL && a == 0;
        while (at[a] < 0 || at[a] >= stored(b, f, a)) {
            if (kind == STRAKE_PERIODIC) {
                at[a] += at[a] < 0 ? n : -n;
            } else if (f == NOTHING) {
                return 0.0;
            } else if (kind == STRAKE_NO_FLUX || is_negated) {
                at[a] = at[a] < 0 ? -at[a] - (on_face ? 0 : 1) : 2 * n - at[a] - (on_face ? 0 : 1);
                factor = is_negated ? -factor : factor;
            } else {
                at[a] = at[a] < 0 ? 0 : stored(b, f, a) - 1;
            }
        }
    }
    if (f >= F0 && b->layout.boundary[f - F0] == STRAKE_NO_FLUX && b->problem.field == walled &&
        at[f - F0] % b->layout.n[f - F0] == 0) {
        return 0.0;
    }
    return factor * inside(f, at[0], at[1], at[2]);
}

static void expect_ghosts(const bed *b)
{
    const strake_layout *const l = &b->layout;
    for (int f = 0; f < FIELDS; f++) {
        int64_t at[3];
        for (at[0] = -l->lo[0]; at[0] < l->n[0] + l->hi[0] && b->array[f] != NULL; at[0]++) {
            for (at[1] = -l->lo[1]; at[1] < l->n[1] + l->hi[1]; at[1]++) {
                for (at[2] = -l->lo[2]; at[2] < l->n[2] + l->hi[2]; at[2]++) {
                    const double found = get(b, f, at[0], at[1], at[2]);
                    if (!(fabs(found - expected(b, f, at)) <= 0.0)) {
                        fail_msg("%s [%d, %d, %d]: %g, expected %g", b->problem.field[f].name,
                                 (int)at[0], (int)at[1], (int)at[2], found, expected(b, f, at));
                    }
                }
            }
        }
    }
}

static const int64_t sizes[][3] = {{7, 1, 9}, {2, 1, 4}, {5, 4, 6}, {4, 2, 3}};

static void ghosts_are_what_the_table_says(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int k = 0; k < 27; k++) {
            const strake_boundary kind[] = {(strake_boundary)(k % 3), (strake_boundary)(k / 3 % 3),
                                            (strake_boundary)(k / 9)};
            for (int size = 4; size <= 8; size += 4) {
                bed b;
                open_bed(&b, walled, sizes[s], kind, size);
                extend(&b, 1 + k % 4);
                expect_ghosts(&b);
                close_bed(&b);
            }
        }
    }
}

/* What flows out of a ghost cell, of everything that has a face behind it. */
static double outflow(const bed *b, const int64_t at[3])
{
    double sum = 0.0;
    for (int a = 0; a < 3; a++) {
        int64_t next[3] = {at[0], at[1], at[2]};
        next[a]++;
        if (b->layout.n[a] > 1) {
            sum += get(b, F0 + a, next[0], next[1], next[2]) - get(b, F0 + a, at[0], at[1], at[2]);
        }
    }
    return sum;
}

/* A cell that is beyond the open edge of one axis, and on which all faces exist. */
static bool is_judged(const strake_layout *l, const int64_t at[3])
{
    int outside = 0;
    for (int a = 0; a < 3; a++) {
        if (at[a] + 1 >= l->n[a] + l->hi[a] && l->n[a] > 1) {
            return false;
        }
        outside += (at[a] < 0 || at[a] >= l->n[a]) && l->boundary[a] == STRAKE_OPEN ? 1 : 0;
    }
    return outside > 0;
}

static void flows_go_on_without_divergence(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int k = 1; k < 8; k++) {
            bed b;
            int64_t at[3];
            int judged = 0;
            const strake_boundary kind[] = {(strake_boundary)(k % 2), (strake_boundary)(k / 2 % 2),
                                            (strake_boundary)(k / 4)};
            open_bed(&b, flow, sizes[s], kind, 8);
            extend(&b, 2);
            const strake_layout *const l = &b.layout;
            for (at[0] = -l->lo[0]; at[0] < l->n[0] + l->hi[0]; at[0]++) {
                for (at[1] = -l->lo[1]; at[1] < l->n[1] + l->hi[1]; at[1]++) {
                    for (at[2] = -l->lo[2]; at[2] < l->n[2] + l->hi[2]; at[2]++) {
                        if (is_judged(l, at)) {
                            judged++;
                            assert_true(fabs(outflow(&b, at)) < 1e-9);
                        }
                    }
                }
            }
            assert_true(judged > 0 || (k == 2 && sizes[s][1] == 1));
            /* Across other axes components take the nearest value, and states are left alone. */
            if (kind[0] == STRAKE_OPEN) {
                assert_true(get(&b, F2, -2, 0, 1) == inside(F2, 0, 0, 1));
                assert_true(get(&b, NORMAL, -1, 0, 0) == 0.0);
            }
            close_bed(&b);
        }
    }
}

static void weights_are_means_at_the_faces(void **state)
{
    (void)state;
    const strake_boundary kind[] = {STRAKE_OPEN, STRAKE_NO_FLUX, STRAKE_PERIODIC};
    for (int size = 4; size <= 8; size += 4) {
        bed b;
        open_bed(&b, walled, sizes[2], kind, size);
        for (int axis = 0; axis < 3; axis++) {
            strake_extend(&b.statics, STRAKE_ON_CELLS, axis,
                          axis == 0 ? (strake_range){-GHOSTS, 0} : (strake_range){-GHOSTS, 8}, 8);
            strake_extend(&b.statics, STRAKE_ON_CELLS, axis,
                          axis == 0 ? (strake_range){5, 5 + GHOSTS} : (strake_range){0, 0}, 8);
        }
        for (int axis = 0; axis < 3; axis++) {
            const int f = F0 + axis;
            int64_t at[3];
            strake_weight(&b.statics, f, (strake_range){0, 2});
            strake_weight(&b.statics, f, (strake_range){2, stored(&b, f, 0)});
            for (at[0] = 0; at[0] < stored(&b, f, 0); at[0]++) {
                for (at[1] = 0; at[1] < stored(&b, f, 1); at[1]++) {
                    for (at[2] = 0; at[2] < stored(&b, f, 2); at[2]++) {
                        int64_t before[3] = {at[0], at[1], at[2]};
                        before[axis]--;
                        const double mean =
                            0.5 * (expected(&b, PLAIN, before) + expected(&b, PLAIN, at));
                        const double product = expected(&b, f, at) * mean;
                        assert_true(get(&b, f, at[0], at[1], at[2]) ==
                                    (size == 8 ? product : (double)(float)product));
                    }
                }
            }
        }
        close_bed(&b);
    }
}

/* --- walls of a whole problem ---------------------------------------------------------------------- */

enum { ROWS = 24, COLS = 40, STEPS = 9 };

/* MPDATA in a box: walls turn the velocity through them round. */
static const strake_problem *boxed(void)
{
    static strake_problem toy;
    static strake_field field[STRAKE_MAX_FIELDS];
    const strake_problem *const mpdata = strake_problem_find("mpdata2d");
    memcpy(field, mpdata->field, (size_t)mpdata->fields * sizeof *field);
    field[1].wall[0] = STRAKE_EDGE_NEGATED;
    field[2].wall[2] = STRAKE_EDGE_NEGATED;
    memcpy(&toy, mpdata, sizeof toy);
    toy.field = field;
    toy.survey = NULL; /* a problem need not have them */
    toy.judge = NULL;
    return &toy;
}

static void make_inputs(strake_inputs *in)
{
    uint64_t seed = 5;
    assert_true(strake_inputs_open(in, ROWS, COLS, true, true));
    strake_inputs_random_psi(in, -0.5, 1.0, &seed);
    strake_inputs_random_h(in, &seed);
    strake_inputs_random_flow(in, 0.6, 1.0, &seed);
    for (int j = 0; j < COLS; j++) {
        in->u1[j] = in->u1[ROWS * COLS + j] = 0.0;
    }
    for (int i = 0; i < ROWS; i++) {
        in->u2[i * (COLS + 1)] = in->u2[i * (COLS + 1) + COLS] = 0.0;
    }
}

/* The box and its images in a periodic domain of four times its size. */
static void unfold(const strake_inputs *in, strake_inputs *out)
{
    assert_true(strake_inputs_open(out, 2 * ROWS, 2 * COLS, false, false));
    for (int i = 0; i < 2 * ROWS; i++) {
        for (int j = 0; j < 2 * COLS; j++) {
            const int to = i * 2 * COLS + j;
            const int r = i < ROWS ? i : 2 * ROWS - 1 - i;
            const int c = j < COLS ? j : 2 * COLS - 1 - j;
            out->psi[to] = in->psi[r * COLS + c];
            out->h[to] = in->h[r * COLS + c];
            out->u1[to] = i <= ROWS ? in->u1[i * COLS + c] : -in->u1[(2 * ROWS - i) * COLS + c];
            out->u2[to] =
                j <= COLS ? in->u2[r * (COLS + 1) + j] : -in->u2[r * (COLS + 1) + 2 * COLS - j];
        }
    }
}

static void run(const strake_inputs *in, bool is_boxed, bool single, const char *where,
                const char *split, double *psi)
{
    const strake_scheme scheme = {STRAKE_DEFAULT_SCHEME};
    strake_case *which = strake_harness_case(in, &scheme, single, false);
    if (is_boxed) {
        which->problem = boxed();
        which->boundary[0] = which->boundary[2] = STRAKE_NO_FLUX;
    }
    strake_solver *solver = strake_harness_open(which, in, single, false, where, split, 2);
    strake_harness_step(solver, STEPS);
    strake_harness_get_psi(solver, psi, in->cells);
    strake_close(&solver);
    strake_case_close(&which);
}

static void a_box_is_a_quarter_of_its_images(void **state)
{
    (void)state;
    strake_inputs in, images;
    double boxed_psi[ROWS * COLS], *const whole = calloc(4 * ROWS * COLS, sizeof *whole);
    double largest = 0.0, moved = 0.0;
    assert_non_null(whole);
    make_inputs(&in);
    unfold(&in, &images);
    run(&in, true, false, "serial", NULL, boxed_psi);
    run(&images, false, false, "serial", NULL, whole);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++) {
            largest = fmax(largest, fabs(boxed_psi[i * COLS + j] - whole[i * 2 * COLS + j]));
            moved = fmax(moved, fabs(boxed_psi[i * COLS + j] - in.psi[i * COLS + j]));
        }
    }
    print_message("# box and images differ by %.2g; psi changed by %.2g\n", largest, moved);
    assert_true(largest < 1e-13);
    assert_true(moved > 0.1);
    /* Nothing leaves a box. */
    assert_true(fabs(strake_inputs_mass(in.h, boxed_psi, in.cells) -
                     strake_inputs_mass(in.h, in.psi, in.cells)) < 1e-12 * ROWS * COLS);
    strake_inputs_close(&in);
    strake_inputs_close(&images);
    free(whole);
}

static void placements_do_not_matter(void **state)
{
    (void)state;
    static const struct {
        const char *where, *split;
    } place[] = {{"cpu", NULL}, {"ocl:0,cpu,ocl:0", "1,2,1"}};
    strake_inputs in;
    make_inputs(&in);
    for (int single = 0; single < 2; single++) {
        double serial[ROWS * COLS];
        run(&in, true, single == 1, "serial", NULL, serial);
        for (size_t k = 0; k < sizeof place / sizeof place[0]; k++) {
            double psi[ROWS * COLS];
            if (k > 0) {
                strake_harness_need_device(single == 1 ? STRAKE_SINGLE : STRAKE_DOUBLE);
            }
            run(&in, true, single == 1, place[k].where, place[k].split, psi);
            assert_memory_equal(psi, serial, sizeof psi);
        }
    }
    strake_inputs_close(&in);
}

/* Numbers between -1/4 and 1/4 of eight binary digits: sums of them are exact in either precision. */
static double small_number(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (double)(int)(*seed >> 24) / 512.0 - 0.25;
}

/* The largest sum of outflows over content and the least content, cell by cell; what is no number is the largest. */
static void find_extremes(const bed *b, bool is_one, strake_extreme *out, double *least)
{
    const strake_layout *const l = &b->layout;
    *out = (strake_extreme){-INFINITY, {0, 0, 0}};
    *least = is_one ? 1.0 : INFINITY;
    for (int64_t k = 0; k < l->n[0] * l->n[1] * l->n[2]; k++) {
        const int64_t at[3] = {k / (l->n[1] * l->n[2]), k / l->n[2] % l->n[1], k % l->n[2]};
        double sum = 0.0;
        for (int d = 0; d < 3; d++) {
            if (b->array[F0 + d] != NULL) {
                const double after =
                    get(b, F0 + d, at[0] + (d == 0), at[1] + (d == 1), at[2] + (d == 2));
                const double before = get(b, F0 + d, at[0], at[1], at[2]);
                sum += isnan(after) || isnan(before) ? (double)INFINITY
                                                     : fmax(after, 0.0) - fmin(before, 0.0);
            }
        }
        const double h = is_one ? 1.0 : get(b, PLAIN, at[0], at[1], at[2]);
        if (sum / h > out->value) {
            *out = (strake_extreme){sum / h, {at[0], at[1], at[2]}};
        }
        *least = fmin(*least, h);
    }
}

static void survey_one(int dims, int size, bool is_one, bool has_nan)
{
    static const char *const text[] = {
        "problem: mpdata2d\ngrid: {rows: 2, cols: 520}\ntime: {steps: 1}\n",
        "problem: mpdata3d\ngrid: {planes: 2, rows: 2, cols: 520}\ntime: {steps: 1}\n"};
    const int64_t n[] = {2, dims == 3 ? 2 : 1, 520};
    const strake_boundary kind[] = {STRAKE_PERIODIC, STRAKE_PERIODIC, STRAKE_PERIODIC};
    uint32_t seed = (uint32_t)(dims + size);
    strake_case *which = NULL;
    strake_error error;
    strake_extreme found[STRAKE_MAX_EXTREMES], want;
    void *array[STRAKE_MAX_FIELDS] = {NULL};
    double number[STRAKE_MAX_FIELDS], least = 0.0;
    bed b;
    assert_int_equal(strake_case_parse("survey", text[dims - 2], NULL, true, &which, &error),
                     STRAKE_OK);
    open_bed(&b, walled, n, kind, size);
    const strake_mpdata_fields at = strake_mpdata_fields_of(which->problem);
    for (int64_t k = 0; k < n[0] * n[1] * n[2]; k++) {
        for (int f = PLAIN; f < FIELDS; f += f == PLAIN ? F0 - PLAIN : 1) {
            const double x = small_number(&seed) + (f == PLAIN ? 1.0 : 0.0);
            if (b.array[f] != NULL) {
                put(&b, f, k / n[2] / n[1], k / n[2] % n[1], k % n[2], x);
            }
        }
    }
    if (has_nan) {
        put(&b, F2, 1, n[1] - 1, 515, (double)NAN);
    }
    extend(&b, 1);
    for (int d = 0; d < dims; d++) {
        array[at.u + d] = b.array[F0 + strake_mpdata_axis(dims, d)];
    }
    array[at.h] = is_one ? NULL : b.array[PLAIN];
    for (int f = 0; f < STRAKE_MAX_FIELDS; f++) {
        number[f] = 1.0;
    }
    for (int k = 0; k < STRAKE_MAX_EXTREMES; k++) {
        found[k] = (strake_extreme){-INFINITY, {0, 0, 0}};
    }
    find_extremes(&b, is_one, &want, &least);
    strake_mpdata_survey(which, &b.layout, (strake_range){0, n[0]}, array, number, found);
    assert_true(found[STRAKE_MPDATA_OUTFLOW].value == want.value);
    assert_memory_equal(found[STRAKE_MPDATA_OUTFLOW].cell, want.cell, sizeof want.cell);
    assert_true(found[STRAKE_MPDATA_LEAST_H].value == -least);
    close_bed(&b);
    strake_case_close(&which);
}

static void surveys_find_the_cell_of_the_largest_outflow(void **state)
{
    (void)state;
    for (int variant = 0; variant < 16; variant++) {
        survey_one(variant % 2 + 2, variant / 2 % 2 == 0 ? 8 : 4, variant / 4 % 2 == 1,
                   variant / 8 == 1);
    }
}

/* Of every instruction set: what is beyond its bound is counted, NaN too, and what is as large is not. */
static void loops_of_surveys_count_what_is_beyond(void **state)
{
    enum { LINE = 37 };
    static const strake_row_function rows[2][STRAKE_ISAS] = {STRAKE_ROW_LIST(outflow_1d, f64),
                                                             STRAKE_ROW_LIST(outflow_h_1d, f64)};
    (void)state;
    for (int isa = 0; isa < STRAKE_ISAS; isa++) {
        double u[LINE + 1], h[LINE];
        uint32_t seed = 5;
        for (int k = 0; k < LINE; k++) {
            u[k] = small_number(&seed);
            h[k] = k == 7 ? 0.5 : 1.0;
        }
        u[LINE] = u[20] = (double)NAN; /* cells 19, 20 and 36 */
        for (int with_h = 0; with_h < 2 && strake_isa_is_there((strake_isa)isa); with_h++) {
            const double bound[] = {2.0 * (fmax(u[4], 0.0) - fmin(u[3], 0.0)), 1.0};
            const void *const in[STRAKE_SURVEY_OPERANDS] = {
                u, &u[1], [STRAKE_SURVEY_H] = h, [STRAKE_SURVEY_BOUND] = bound};
            int64_t count = -1, want = with_h;
            void *const out[] = {&count};
            for (int k = 0; k < LINE; k++) {
                const double twice =
                    2.0 * (fmax(u[k + 1], 0.0) - fmin(u[k], 0.0)) / (with_h == 1 ? h[k] : 1.0);
                want += isnan(u[k]) || isnan(u[k + 1]) || twice > bound[0] ? 1 : 0;
            }
            rows[with_h][isa](out, in, LINE);
            assert_int_equal(count, want);
            assert_true(want > 3 && want < LINE);
        }
    }
}

/* Looked at in any order, by several threads, while ghosts are filled. */
static void of_many_unstable_cells_the_first_is_told(void **state)
{
    strake_error error;
    (void)state;
    strake_case *which = NULL;
    static const char *const text =
        "problem: mpdata3d\ngrid: {planes: 40, rows: 48, cols: 72}\ntime: {dt: 1, steps: 1}\n"
        "fields: {psi: 1, u1: {uniform: {velocity: [0.5, 0.5, 0.5]}}, u2: 0.5,\n"
        "         u3: {uniform: {velocity: [0.5, 0.5, 0.5]}}}\n";
    assert_int_equal(strake_case_parse("many", text, NULL, false, &which, &error), STRAKE_OK);
    for (int threads = 1; threads <= 3; threads++) {
        const strake_options options = {.where = "cpu", .threads = threads};
        strake_solver *solver = NULL;
        assert_int_equal(strake_open(which, &options, &solver, &error), STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, "cell [0, 0, 0] over h add up to 1.5; "));
    }
    strake_case_close(&which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ghosts_are_what_the_table_says),
        cmocka_unit_test(flows_go_on_without_divergence),
        cmocka_unit_test(weights_are_means_at_the_faces),
        cmocka_unit_test(a_box_is_a_quarter_of_its_images),
        cmocka_unit_test(placements_do_not_matter),
        cmocka_unit_test(surveys_find_the_cell_of_the_largest_outflow),
        cmocka_unit_test(loops_of_surveys_count_what_is_beyond),
        cmocka_unit_test(of_many_unstable_cells_the_first_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
