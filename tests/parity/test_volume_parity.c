/*
 * MPDATA in one and three dimensions, and divergent flows and changing h in two: the bytes of serial from threads,
 * devices, all ways of fusing kernels, mixtures and cuts. A sample here, the matrix with STRAKE_TESTS_LONG=1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "tests/support/trial.h"
#include "tests/support/volume.h"

enum { AXES = STRAKE_VOLUME_AXES, STEPS = 5 };

static const struct {
    strake_scheme scheme;
    bool divergent, changes;
} variant[] = {
    {{STRAKE_DEFAULT_SCHEME}, false, false},
    {{STRAKE_DEFAULT_SCHEME, .gauge = true}, true, true},
    {{.iterations = 3, .nonoscillatory = true, .third_order = true}, false, false},
    {{STRAKE_DEFAULT_SCHEME, .nonnegative = true}, true, false},
    {{.iterations = 2, .gauge = true, .third_order = true}, false, true},
    {{.iterations = 4, .nonoscillatory = true, .unlimited_next = true}, true, true},
};

enum { VARIANTS = sizeof variant / sizeof variant[0] };

static const int sizes[4][AXES] = {{0, 0, 0}, {1, 1, 333}, {23, 1, 61}, {13, 11, 37}};

typedef struct trial {
    strake_volume v;
    strake_case *which;
    uint64_t serial;
    char name[120];
} trial;

static uint64_t checksum(const trial *t, const char *where, const char *split, int threads)
{
    strake_solver *solver = strake_volume_solver(&t->v, t->which, where, split, threads);
    strake_harness_step(solver, 2);
    strake_harness_step(solver, STEPS - 2);
    const uint64_t hash = strake_harness_checksum(solver, "psi", t->v.cells);
    strake_close(&solver);
    return hash;
}

enum { WALLED = 8 };

/* @param[in] open  bit per axis, and whether these are walls */
static void begin(trial *t, int k, int dims, int open, bool single)
{
    uint64_t seed = (uint64_t)(100 * k + 10 * dims + open);
    strake_volume_open(&t->v, dims, sizes[dims], open);
    t->v.walled = (open & WALLED) != 0;
    t->v.divergent = variant[k].divergent;
    t->v.changes = variant[k].changes;
    strake_volume_fill(t->v.h, t->v.cells, 0.5, 1.5, &seed);
    strake_volume_fill(t->v.h_next, t->v.cells, 0.5, 1.5, &seed);
    strake_volume_random_flow(&t->v, 0.7, 1.0, &seed);
    strake_volume_fill(t->v.psi, t->v.cells, variant[k].scheme.nonnegative ? 0.0 : -1.0, 2.0,
                       &seed);
    t->which = strake_volume_case(&t->v, &variant[k].scheme, single);
    (void)snprintf(t->name, sizeof t->name, "variant %d, %dD, open %d, %s", k, dims, open,
                   single ? "single" : "double");
    t->serial = checksum(t, "serial", NULL, 1);
}

static void end(trial *t)
{
    strake_case_close(&t->which);
    strake_volume_close(&t->v);
}

static void check(const trial *t, const char *where, const char *split, int threads)
{
    if (checksum(t, where, split, threads) != t->serial) {
        fail_msg("%s: %s, split %s, %d threads, fusion %d differ from serial", t->name, where,
                 split == NULL ? "none" : split, threads, t->which->run.fusion);
    }
}

static void threads_give_the_bytes_of_serial(void **state)
{
    (void)state;
    for (int k = 0; k < VARIANTS; k++) {
        for (int dims = 1; dims <= 3; dims++) {
            for (int open = 0; open < 8; open += strake_trial_is_whole() ? 1 : 4) {
                trial t;
                begin(&t, k, dims, (open + k) % 8, (open + k) % 3 == 2);
                check(&t, "cpu", NULL, 1);
                check(&t, "cpu", NULL, 3);
                end(&t);
            }
        }
    }
}

/* Kernels of three dimensions take a compiler long: by default one run of each kind. */
static void devices_and_mixtures_give_the_bytes_of_serial(void **state)
{
    (void)state;
    enum { STREAM = 3, TILE };
    static const struct {
        int variant, dims, fusion;
        const char *where, *split;
    } sample[] = {
        {0, 3, STREAM, "cpu,ocl:0", NULL},
        {1, 1, STREAM, "ocl:0", NULL},
        {1, 2, TILE, "ocl:0,cpu,ocl:0", "3,2,18"},
        {0, 3, STREAM, "ocl:0,ocl:0", "1,12"},
    };
    static const struct {
        const char *where, *split;
    } place[] = {{"ocl:0", NULL},
                 {"cpu,ocl:0", NULL},
                 {"ocl:0,cpu,ocl:0", "3,2,8"},
                 {"ocl:0,ocl:0", "1,12"}};
    trial t;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (size_t k = 0; k < sizeof sample / sizeof sample[0]; k++) {
        begin(&t, sample[k].variant, sample[k].dims, (int)(3 * k) % 8 + (k >= 2 ? WALLED : 0),
              false);
        t.which->run.fusion = sample[k].fusion;
        check(&t, sample[k].where, sample[k].split, 2);
        end(&t);
    }
    for (int k = 0; k < VARIANTS * 3 && strake_trial_is_whole(); k++) {
        const int dims = 1 + k % 3;
        begin(&t, k / 3, dims, (3 * k + dims) % 8, k % 5 == 4);
        for (int p = 0; p < (dims > 1 ? 4 : 1); p++) { /* one slab has no cuts */
            for (t.which->run.fusion = 1; t.which->run.fusion <= TILE; t.which->run.fusion++) {
                check(&t, place[p].where, place[p].split, 2);
            }
        }
        end(&t);
    }
}

/* Faces of a field at both ends of an axis become 0. */
static void close_faces(strake_volume *v, int axis)
{
    int shape[AXES];
    strake_volume_shape(v, axis, shape);
    const size_t below = axis == 2   ? 1
                         : axis == 1 ? (size_t)shape[2]
                                     : (size_t)shape[1] * (size_t)shape[2];
    for (size_t k = 0; k < v->faces[axis]; k++) {
        const size_t at = k / below % (size_t)shape[axis];
        v->u[axis][k] = at == 0 || at == (size_t)v->n[axis] ? 0.0 : v->u[axis][k];
    }
}

static void a_wall_is_an_open_edge_through_which_nothing_flows(void **state)
{
    (void)state;
    for (int k = 0; k < VARIANTS; k++) {
        for (int dims = 1; dims <= 3; dims++) {
            trial t;
            begin(&t, k, dims, dims == 3 ? 4 + k % 4 : 7 - k % 3, k % 3 == 2);
            strake_case *open = t.which;
            const uint64_t through = t.serial;
            t.v.walled = true;
            t.which = strake_volume_case(&t.v, &variant[k].scheme, k % 3 == 2);
            t.serial = checksum(&t, "serial", NULL, 1);
            assert_true(t.serial != through &&
                        strake_case_hash(t.which, 1.0) != strake_case_hash(open, 1.0));
            check(&t, "cpu", NULL, 3);
            for (int a = 0; a < AXES; a++) {
                if (t.v.open[a]) {
                    close_faces(&t.v, a);
                }
            }
            check(&t, "cpu", NULL, 2); /* zeros are zeros */
            strake_case_close(&t.which);
            t.which = open;
            check(&t, "cpu", NULL, 2);
            end(&t);
        }
    }
}

/* Most iterations that there may be, in every kernel form. */
static void eight_iterations_fit(void **state)
{
    (void)state;
    static const int small[AXES] = {5, 6, 9};
    const strake_scheme most = {.iterations = 8, .nonoscillatory = true, .third_order = true};
    trial t;
    uint64_t seed = 8;
    strake_volume_open(&t.v, 3, small, 5);
    t.v.divergent = t.v.changes = true;
    strake_volume_fill(t.v.h_next, t.v.cells, 0.9, 1.1, &seed);
    strake_volume_fill(t.v.psi, t.v.cells, 0.0, 1.0, &seed);
    strake_volume_random_flow(&t.v, 0.3, 0.1, &seed);
    t.which = strake_volume_case(&t.v, &most, false);
    (void)snprintf(t.name, sizeof t.name, "eight iterations");
    t.serial = checksum(&t, "serial", NULL, 1);
    check(&t, "cpu", NULL, 2);
    for (int fusion = 1; fusion <= 3 && strake_trial_is_whole(); fusion++) {
        t.which->run.fusion = fusion;
        check(&t, "ocl:0", NULL, 1);
    }
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_the_bytes_of_serial),
        cmocka_unit_test(devices_and_mixtures_give_the_bytes_of_serial),
        cmocka_unit_test(a_wall_is_an_open_edge_through_which_nothing_flows),
        cmocka_unit_test(eight_iterations_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
