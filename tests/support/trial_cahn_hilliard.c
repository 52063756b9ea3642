/* Trials of the Cahn-Hilliard problems: noise between and beyond the wells, unequal spacings. */
#include <stdio.h>
#include <stdlib.h>

#include "case/case.h"
#include "tests/support/trial.h"

static const char *const names[] = {"midpoint",      "euler",  "heun",          "quartic",
                                    "of degree six", "stages", "unstable steps"};

static const char *const schemes[] = {
    "time: midpoint",
    "time: euler",
    "time: heun",
    "time: euler, free_energy: {polynomial: [0.1, -0.1, -0.45, 0.05, 0.2]}",
    "time: midpoint, free_energy: {polynomial: [0, 0.1, -0.4, 0.05, 0.1, -0.02, 0.03]}",
    "time: rkc, stages: 7",
    "time: euler, unstable: allow",
};

enum { SCHEMES = 6, UNSTABLE = 6 };

static const char *wall(bool is_there)
{
    return is_there ? "no_flux" : "periodic";
}

static void make(const strake_trial_config *c, uint64_t *seed, strake_trial *trial, bool is_3d)
{
    char text[1024];
    char grid[64] = "";
    char edge[64] = "";
    const bool walls[] = {(c->boundary & 1) != 0, (c->boundary & 2) != 0};
    const int lines = is_3d ? 1 + (c->rows + c->cols) % 7 : 1;
    const int number = c->variant <= SCHEMES ? c->variant : c->variant % SCHEMES;
    if (is_3d) {
        (void)snprintf(grid, sizeof grid, "planes: %d, dz: 1.2, ", c->rows);
        (void)snprintf(edge, sizeof edge, "planes: %s, ", wall(walls[0]));
    }
    (void)snprintf(text, sizeof text,
                   "problem: cahn_hilliard%dd\n"
                   "precision: %s\n"
                   "grid: {%srows: %d, cols: %d, dx: 1.1, dy: 0.95}\n"
                   "time: {dt: 0.006, steps: 1000000}\n"
                   "boundary: {%srows: %s, cols: %s}\n"
                   "parameters: {M: 0.9, K: 0.8}\n"
                   "scheme: {%s}\n",
                   is_3d ? 3 : 2, c->single ? "single" : "double", grid, is_3d ? lines : c->rows,
                   c->cols, edge, wall(is_3d ? walls[0] != walls[1] : walls[0]), wall(walls[1]),
                   schemes[number]);
    strake_error error;
    if (strake_case_parse("test", text, NULL, true, &trial->which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if ((c->boundary & STRAKE_TRIAL_OTHER) != 0 &&
            trial->which->boundary[axis] == STRAKE_NO_FLUX) {
            trial->which->boundary[axis] = STRAKE_OPEN;
        }
    }
    trial->fields = 1;
    trial->field[0] = "u";
    trial->count[0] = (size_t)c->rows * (size_t)lines * (size_t)c->cols;
    trial->data[0] = calloc(trial->count[0], sizeof *trial->data[0]);
    assert_non_null(trial->data[0]);
    for (size_t k = 0; k < trial->count[0]; k++) {
        trial->data[0][k] = -1.0 + 2.2 * strake_random(seed);
    }
}

static void make_2d(const strake_trial_config *config, uint64_t *seed, strake_trial *trial)
{
    make(config, seed, trial, false);
}

static void make_3d(const strake_trial_config *config, uint64_t *seed, strake_trial *trial)
{
    make(config, seed, trial, true);
}

/* Once the cube of u outweighs the rest, every step multiplies its exponent by three. */
const strake_subject strake_subject_cahn_hilliard2d = {.problem = "cahn_hilliard2d",
                                                       .variants = SCHEMES,
                                                       .variant = names,
                                                       .explosive = UNSTABLE,
                                                       .scale = 60.0,
                                                       .make = make_2d};

const strake_subject strake_subject_cahn_hilliard3d = {.problem = "cahn_hilliard3d",
                                                       .variants = SCHEMES,
                                                       .variant = names,
                                                       .explosive = UNSTABLE,
                                                       .scale = 60.0,
                                                       .make = make_3d};
