/* Trials of lava: a rough slope, some thick lava of any temperature, some solid; walls all round. */
#include <stdio.h>
#include <stdlib.h>

#include "case/case.h"
#include "tests/support/trial.h"

static const char *const names[] = {"gradient",   "pair",       "diffusive",
                                    "isothermal", "emissivity", "crust"};

static const char *const schemes[] = {
    "scheme: {yield: gradient, crust: none}",
    "scheme: {yield: pair, widths: published, viscosity: vft, crust: none}",
    "scheme: {rule: diffusive, cooling: euler, viscosity: dragoni, yield_strength: dragoni, crust: "
    "none}",
    "parameters: {thermal: false, viscosity: 800, yield_strength: 300}",
    "scheme: {crust: none}\nparameters: {emissivity: {from: [1200, 0.3], to: [1350, 0.95]}, "
    "convection: 70}",
    "scheme: {crust: fraction}\nparameters: {crust_decay: 1.5}",
};

enum { SCHEMES = 6 };

static void make(const strake_trial_config *c, uint64_t *seed, strake_trial *trial)
{
    static const char *const field[] = {"thickness", "terrain", "temperature", "solid"};
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "problem: lava\n"
                   "precision: %s\n"
                   "grid: {rows: %d, cols: %d, dx: 10, dy: 10}\n"
                   "time: {end: 1e7, dt_max: 20}\n"
                   "%s\n",
                   c->single ? "single" : "double", c->rows, c->cols,
                   schemes[c->variant % SCHEMES]);
    strake_error error;
    if (strake_case_parse("test", text, NULL, true, &trial->which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    trial->fields = 4;
    for (int f = 0; f < trial->fields; f++) {
        trial->field[f] = field[f];
        trial->count[f] = (size_t)c->rows * (size_t)c->cols;
        trial->data[f] = calloc(trial->count[f], sizeof *trial->data[f]);
        assert_non_null(trial->data[f]);
    }
    for (size_t k = 0; k < trial->count[0]; k++) {
        const double i = (double)(k / (size_t)c->cols), j = (double)(k % (size_t)c->cols);
        const double some = strake_random(seed);
        trial->data[0][k] = some < 0.4 ? 0.0 : 4.0 * strake_random(seed);
        trial->data[1][k] = 1.3 * i - 0.6 * j + 3.0 * strake_random(seed);
        trial->data[2][k] = 1150.0 + 210.0 * strake_random(seed);
        trial->data[3][k] = some < 0.8 ? 0.0 : strake_random(seed);
    }
}

/* Nothing in it overflows: explosive is none of its variants. */
const strake_subject strake_subject_lava = {.problem = "lava",
                                            .variants = SCHEMES,
                                            .variant = names,
                                            .explosive = -1,
                                            .is_walled = true,
                                            .make = make};
