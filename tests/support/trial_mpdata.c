/* Trials of MPDATA: random flows near the stability bound. */
#include <stdlib.h>

#include "case/case.h"
#include "tests/support/trial.h"

static const strake_scheme schemes[] = {
    {STRAKE_DEFAULT_SCHEME},
    {.iterations = 3, .nonoscillatory = true},
    {STRAKE_DEFAULT_SCHEME, .gauge = true},
    {STRAKE_DEFAULT_SCHEME, .third_order = true},
    {STRAKE_DEFAULT_SCHEME, .nonnegative = true},
    {.iterations = 3, .nonoscillatory = true, .third_order = true, .unlimited_next = true},
    {STRAKE_DEFAULT_SCHEME, .gauge = true, .third_order = true},
    {.iterations = 2},
    {.iterations = 1},
    {.iterations = 3, .nonoscillatory = true, .unlimited_next = true},
    {.iterations = 5, .nonoscillatory = true, .third_order = true},
};

enum { SCHEMES = sizeof schemes / sizeof schemes[0], NOT_NONOSCILLATORY = 7 };

static const char *const names[] = {"default",
                                    "iterations 3",
                                    "gauge",
                                    "third order",
                                    "nonnegative",
                                    "unlimited velocities, third order",
                                    "gauge, third order",
                                    "not nonoscillatory",
                                    "donor cell",
                                    "unlimited velocities",
                                    "iterations 5, third order",
                                    "a drawn scheme"};

/* A scheme from the bits of a number. */
static strake_scheme draw(int number)
{
    uint64_t seed = (uint64_t)number;
    strake_scheme scheme = {.iterations = 1 + (int)(strake_random(&seed) * 3.99),
                            .nonoscillatory = strake_random(&seed) < 0.75,
                            .gauge = strake_random(&seed) < 0.25,
                            .nonnegative = strake_random(&seed) < 0.25,
                            .unlimited_next = strake_random(&seed) < 0.25};
    if (scheme.gauge && scheme.iterations > 2) {
        scheme.iterations = 2;
    }
    scheme.third_order = scheme.iterations > 1 && strake_random(&seed) < 0.25;
    return scheme;
}

static void take(strake_trial *trial, const char *name, double *data, size_t count)
{
    trial->field[trial->fields] = name;
    trial->data[trial->fields] = data;
    trial->count[trial->fields++] = count;
}

static void make(const strake_trial_config *c, uint64_t *seed, strake_trial *trial)
{
    const strake_scheme scheme = c->variant < SCHEMES ? schemes[c->variant] : draw(c->variant);
    strake_inputs in;
    assert_true(
        strake_inputs_open(&in, c->rows, c->cols, (c->boundary & 1) != 0, (c->boundary & 2) != 0));
    if (!c->constant_h) {
        strake_inputs_random_h(&in, seed);
    }
    strake_inputs_random_flow(&in, 0.95, 1.0, seed);
    strake_inputs_random_psi(&in, scheme.nonnegative ? 0.0 : -1.0, 2.0, seed);
    trial->which = strake_harness_case(&in, &scheme, c->single, c->constant_h);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if ((c->boundary & STRAKE_TRIAL_OTHER) != 0 &&
            trial->which->boundary[axis] == STRAKE_OPEN) {
            trial->which->boundary[axis] = STRAKE_NO_FLUX;
        }
    }
    take(trial, "psi", in.psi, in.cells);
    take(trial, "u1", in.u1, in.faces1);
    take(trial, "u2", in.u2, in.faces2);
    if (c->constant_h) {
        free(in.h);
    } else {
        take(trial, "h", in.h, in.cells);
    }
}

/* Products of two psi overflow after three steps and more. */
const strake_subject strake_subject_mpdata2d = {.problem = "mpdata2d",
                                                .variants = SCHEMES,
                                                .variant = names,
                                                .explosive = NOT_NONOSCILLATORY,
                                                .scale = 0x1.ep509,
                                                .make = make};
