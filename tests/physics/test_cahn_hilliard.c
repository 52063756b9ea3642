/*
 * The Cahn-Hilliard problems against closed forms (growth rates of single waves, orders in time,
 * conservation, decay of the free energy), an independent statement (tests/support/spinodal.h) and the
 * energies of the PFHub benchmark 1a (version 1), by explicit differences of spacing 1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/harness.h"
#include "tests/support/spinodal.h"

static const char *const time_word[] = {"midpoint", "heun", "euler", "rkc"};
enum { TIMES = 3, STAGES = 3 }; /* those of the independent statement, and the one with stages */

static const double two_pi = 6.283185307179586476925;

/* A setup of unit parameters, spacings and no walls. */
static strake_spinodal unit_setup(int planes, int rows, int cols)
{
    const strake_spinodal setup = {.n = {planes, rows, cols},
                                   .h = {1.0, 1.0, 1.0},
                                   .m = 1.0,
                                   .b = 1.0,
                                   .u = 1.0,
                                   .k = 1.0,
                                   .dt = 0.01};
    return setup;
}

static strake_case *open_case(const strake_spinodal *s, bool single, bool is_3d, const char *more)
{
    char text[2048];
    char planes[64] = "";
    char energy[512] = "";
    if (is_3d) {
        (void)snprintf(planes, sizeof planes, "planes: %d, dz: %.17g, ", s->n[0], s->h[0]);
    }
    for (int k = 0; s->polynomial != NULL && k < s->terms; k++) {
        const size_t used = strlen(energy);
        (void)snprintf(energy + used, sizeof energy - used, "%s%.17g",
                       k == 0 ? ", free_energy: {polynomial: [" : ", ", s->polynomial[k]);
    }
    char wells[128] = "";
    if (s->polynomial == NULL) {
        (void)snprintf(wells, sizeof wells, ", B: %.17g, U: %.17g", s->b, s->u);
    }
    (void)snprintf(text, sizeof text,
                   "problem: cahn_hilliard%dd\n"
                   "precision: %s\n"
                   "grid: {%srows: %d, cols: %d, dx: %.17g, dy: %.17g}\n"
                   "time: {dt: %.17g, steps: 1000000000}\n"
                   "boundary: {%srows: %s, cols: %s}\n"
                   "parameters: {M: %.17g, K: %.17g%s}\n"
                   "scheme: {time: %s%s%s%s}\n",
                   is_3d ? 3 : 2, single ? "single" : "double", planes, s->n[1], s->n[2], s->h[1],
                   s->h[2], s->dt,
                   !is_3d          ? ""
                   : s->no_flux[0] ? "planes: no_flux, "
                                   : "planes: periodic, ",
                   s->no_flux[1] ? "no_flux" : "periodic", s->no_flux[2] ? "no_flux" : "periodic",
                   s->m, s->k, wells, time_word[s->time], energy, energy[0] != '\0' ? "]}" : "",
                   more);
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("test", text, NULL, true, &which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return which;
}

/*
 * A solver on the CPU with the field set; its first step may still fail. Steps of few cells take longer where
 * two threads wait for each other in each.
 */
static strake_solver *open_solver(const strake_case *which, const strake_spinodal *s,
                                  const double *field)
{
    const strake_options options = {.where = "cpu",
                                    .threads = strake_spinodal_cells(s) < 10000 ? 1 : 2};
    strake_solver *solver = NULL;
    strake_error error;
    if (strake_open(which, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    strake_harness_set(solver, "u", field, strake_spinodal_cells(s));
    return solver;
}

/* Replaces the field by that after so many steps of the product. */
static void run(const strake_spinodal *s, bool single, bool is_3d, int steps, double *field)
{
    strake_case *which = open_case(s, single, is_3d, "");
    strake_solver *solver = open_solver(which, s, field);
    strake_harness_step(solver, steps);
    strake_harness_get(solver, "u", field, strake_spinodal_cells(s));
    strake_close(&solver);
    strake_case_close(&which);
}

static double *new_field(const strake_spinodal *s)
{
    double *field = calloc(strake_spinodal_cells(s), sizeof *field);
    assert_non_null(field);
    return field;
}

/* base + amplitude cos(k.x) with wave numbers per axis. */
static void make_wave(const strake_spinodal *s, double base, double amplitude, const int wave[3],
                      double *field)
{
    size_t cell = 0;
    for (int i = 0; i < s->n[0]; i++) {
        for (int m = 0; m < s->n[1]; m++) {
            for (int j = 0; j < s->n[2]; j++) {
                const double turns = (double)(wave[0] * i % s->n[0]) / s->n[0] +
                                     (double)(wave[1] * m % s->n[1]) / s->n[1] +
                                     (double)(wave[2] * j % s->n[2]) / s->n[2];
                field[cell++] = base + amplitude * cos(two_pi * turns);
            }
        }
    }
}

/* Amplitude of a wave in a field: its Fourier coefficient. */
static double measure_wave(const strake_spinodal *s, const int wave[3], const double *field)
{
    double sum = 0.0;
    size_t cell = 0;
    for (int i = 0; i < s->n[0]; i++) {
        for (int m = 0; m < s->n[1]; m++) {
            for (int j = 0; j < s->n[2]; j++) {
                const double turns = (double)(wave[0] * i % s->n[0]) / s->n[0] +
                                     (double)(wave[1] * m % s->n[1]) / s->n[1] +
                                     (double)(wave[2] * j % s->n[2]) / s->n[2];
                sum += field[cell++] * cos(two_pi * turns);
            }
        }
    }
    return 2.0 * sum / (double)strake_spinodal_cells(s);
}

/* Growth rate of a small wave around base by the discrete symbol. */
static double growth(const strake_spinodal *s, double base, const int wave[3])
{
    double lambda = 0.0;
    for (int a = 0; a < 3; a++) {
        lambda += (2.0 - 2.0 * cos(two_pi * wave[a] / s->n[a])) / (s->h[a] * s->h[a]);
    }
    return s->m * lambda * (s->b - 3.0 * s->u * base * base - s->k * lambda);
}

static double grown(const strake_spinodal *s, double rate, int steps, double amplitude)
{
    const double z = rate * s->dt;
    const double factor = s->time == STRAKE_SPINODAL_EULER ? 1.0 + z : 1.0 + z + 0.5 * z * z;
    return amplitude * pow(factor, steps);
}

static void small_waves_grow_as_the_discrete_symbol_says(void **state)
{
    (void)state;
    static const int wave[3] = {0, 4, 3};
    /* From the formula, to more digits than are asked for. */
    static const double expected[TIMES] = {2.3916147383e-6, 2.3916147383e-6, 2.3898001769e-6};
    for (int time = 0; time < TIMES; time++) {
        strake_spinodal s = unit_setup(1, 64, 64);
        s.time = (strake_spinodal_time)time;
        double *field = new_field(&s);
        make_wave(&s, 0.1, 1e-6, wave, field);
        run(&s, false, false, 500, field);
        const double found = measure_wave(&s, wave, field);
        free(field);
        assert_true(fabs(growth(&s, 0.1, wave) - 0.174393840386) < 1e-12);
        if (!(fabs(found / expected[time] - 1.0) < 1e-8)) {
            fail_msg("%s: amplitude %.12g, expected %.12g", time_word[time], found, expected[time]);
        }
    }
}

/* Other parameters, spacings and dimensions; also waves that decay. */
static void every_direction_has_its_spacing(void **state)
{
    (void)state;
    static const int waves[][3] = {{0, 3, 2}, {0, 0, 5}, {1, 2, 3},
                                   {5, 0, 0}, {0, 1, 0}, {3, 3, 3}};
    for (size_t w = 0; w < sizeof waves / sizeof waves[0]; w++) {
        for (int time = 0; time < TIMES; time++) {
            const bool is_3d = w >= 2;
            strake_spinodal s = unit_setup(is_3d ? 12 : 1, 20, 32);
            s.h[0] = 1.1;
            s.h[1] = 0.9;
            s.h[2] = 1.25;
            s.m = 0.7;
            s.b = 1.3;
            s.u = 0.8;
            s.k = 0.6;
            s.time = (strake_spinodal_time)time;
            double *field = new_field(&s);
            make_wave(&s, -0.2, 1e-6, waves[w], field);
            run(&s, false, is_3d, 100, field);
            const double found = measure_wave(&s, waves[w], field);
            const double expected = grown(&s, growth(&s, -0.2, waves[w]), 100, 1e-6);
            free(field);
            if (!(fabs(found / expected - 1.0) < 1e-8)) {
                fail_msg("wave %zu, %s: amplitude %.12g, expected %.12g", w, time_word[time], found,
                         expected);
            }
        }
    }
}

static void errors_fall_with_the_order_of_the_time_scheme(void **state)
{
    (void)state;
    static const int wave[3] = {0, 4, 3};
    for (int time = 0; time < TIMES; time++) {
        double energy[4];
        for (int k = 0; k < 4; k++) {
            strake_spinodal s = unit_setup(1, 64, 64);
            s.time = (strake_spinodal_time)time;
            s.dt = 0.02 / (1 << k);
            double *field = new_field(&s);
            make_wave(&s, 0.1, 0.3, wave, field);
            run(&s, false, false, 100 << k, field);
            energy[k] = strake_spinodal_energy(&s, field);
            free(field);
        }
        const double expected = time == STRAKE_SPINODAL_EULER ? 2.0 : 4.0;
        for (int k = 0; k < 2; k++) {
            const double ratio = (energy[k] - energy[k + 1]) / (energy[k + 1] - energy[k + 2]);
            if (!(fabs(ratio / expected - 1.0) < 0.05)) {
                fail_msg("%s: differences of the energy fall by %.4f per halving, expected %g",
                         time_word[time], ratio, expected);
            }
        }
        if (time == STRAKE_SPINODAL_MIDPOINT) {
            assert_true(fabs(energy[0] - -135.77844685) < 2e-8);
        } else if (time == STRAKE_SPINODAL_EULER) {
            assert_true(fabs(energy[0] - -135.70487690) < 2e-8);
        }
    }
}

/* One wave in spacings h, h/2, h/4: the growth rate's error against the continuum falls as h^2. */
static void errors_fall_with_the_square_of_the_spacing(void **state)
{
    (void)state;
    static const int wave[3] = {0, 1, 1};
    double error[3];
    for (int k = 0; k < 3; k++) {
        strake_spinodal s = unit_setup(1, 16 << k, 16 << k);
        s.h[1] = s.h[2] = 1.0 / (1 << k);
        s.dt = 1e-5;
        double *field = new_field(&s);
        make_wave(&s, 0.0, 1e-3, wave, field);
        run(&s, false, false, 1000, field);
        const double rate = log(measure_wave(&s, wave, field) / 1e-3) / (1000 * s.dt);
        const double k2 = 2.0 * (two_pi / 16.0) * (two_pi / 16.0);
        error[k] = fabs(rate - k2 * (1.0 - 0.75e-6 * 0.75 - k2));
        free(field);
    }
    assert_true(fabs(error[0] / error[1] - 4.0) < 0.3);
    assert_true(fabs(error[1] / error[2] - 4.0) < 0.3);
}

static void make_noise(const strake_spinodal *s, double low, double high, uint64_t seed,
                       double *field)
{
    for (size_t c = 0; c < strake_spinodal_cells(s); c++) {
        field[c] = low + (high - low) * strake_random(&seed);
    }
}

static double mean(const strake_spinodal *s, const double *field)
{
    double sum = 0.0;
    double lost = 0.0;
    for (size_t c = 0; c < strake_spinodal_cells(s); c++) {
        const double next = sum + (field[c] - lost);
        lost = (next - sum) - (field[c] - lost);
        sum = next;
    }
    return sum / (double)strake_spinodal_cells(s);
}

static void check_decay(strake_spinodal *s, bool is_3d, int outputs, int steps)
{
    double *field = new_field(s);
    make_noise(s, -0.1, 0.12, 3, field);
    strake_case *which = open_case(s, false, is_3d, "");
    strake_solver *solver = open_solver(which, s, field);
    const double start = mean(s, field);
    double energy = strake_spinodal_energy(s, field);
    for (int k = 0; k < outputs; k++) {
        strake_harness_step(solver, steps);
        strake_harness_get(solver, "u", field, strake_spinodal_cells(s));
        const double now = strake_spinodal_energy(s, field);
        if (!(now <= energy)) {
            fail_msg("%dD %s: the energy grows from %.17g to %.17g", is_3d ? 3 : 2,
                     time_word[s->time], energy, now);
        }
        energy = now;
        if (!(fabs(mean(s, field) - start) < 1e-13)) {
            fail_msg("%dD %s: the mean drifts by %.3g", is_3d ? 3 : 2, time_word[s->time],
                     mean(s, field) - start);
        }
    }
    strake_close(&solver);
    strake_case_close(&which);
    free(field);
}

static void mass_is_kept_and_the_energy_falls(void **state)
{
    (void)state;
    for (int time = 0; time < TIMES; time++) {
        for (int walls = 0; walls < 2; walls++) {
            strake_spinodal flat = unit_setup(1, 40, 33);
            strake_spinodal solid = unit_setup(11, 13, 16);
            flat.time = solid.time = (strake_spinodal_time)time;
            flat.dt = 0.02;
            solid.dt = 0.01;
            for (int a = 0; a < 3; a++) {
                flat.no_flux[a] = solid.no_flux[a] = walls > 0;
            }
            check_decay(&flat, false, 100, 1000); /* 10^5 steps */
            check_decay(&solid, true, 100, 100);
        }
    }
}

/* P_s(z) = a_s + b_s T_s(w0 + w1 z), by the trigonometric forms of T_s (Verwer 1996, equations 2.5 and 2.6). */
static double stage_polynomial(int s, double z)
{
    const double w0 = 1.0 + 2.0 / 13.0 / (s * s), turn = acosh(w0);
    const double t = cosh(s * turn), first = s * sinh(s * turn) / sinh(turn);
    const double second = (w0 * first - s * s * t) / (1.0 - w0 * w0);
    const double b = second / (first * first), x = w0 + first / second * z;
    return 1.0 - b * t + b * (x > 1.0 ? cosh(s * acosh(x)) : cos(s * acos(x)));
}

/* Growing and decaying waves; given numbers of stages need not be multiples of what a step of the graph does. */
static void stages_multiply_a_wave_by_their_polynomial(void **state)
{
    (void)state;
    static const int waves[][3] = {{0, 4, 3}, {0, 14, 3}, {1, 2, 3}, {3, 5, 2}};
    static const int stages[] = {2, 5, 8, 19};
    for (int w = 0; w < 4; w++) {
        for (int k = 0; k < 4; k++) {
            char more[64];
            strake_spinodal s = unit_setup(w >= 2 ? 12 : 1, 32, 32);
            s.time = (strake_spinodal_time)STAGES;
            s.dt = 0.003 * (stages[k] * stages[k] - 1);
            double *field = new_field(&s);
            make_wave(&s, -0.2, 1e-6, waves[w], field);
            (void)snprintf(more, sizeof more, ", stages: %d", stages[k]);
            strake_case *which = open_case(&s, false, w >= 2, more);
            strake_solver *solver = open_solver(which, &s, field);
            strake_harness_step(solver, 3);
            strake_harness_get(solver, "u", field, strake_spinodal_cells(&s));
            const double found = measure_wave(&s, waves[w], field);
            const double factor = stage_polynomial(stages[k], growth(&s, -0.2, waves[w]) * s.dt);
            const double expected = 1e-6 * factor * factor * factor;
            if (!(fabs(found - expected) < 1e-8 * fabs(expected) + 1e-17)) {
                fail_msg("wave %d, %d stages: amplitude %.12g, expected %.12g", w, stages[k], found,
                         expected);
            }
            strake_close(&solver);
            strake_case_close(&which);
            free(field);
        }
    }
}

/* Smooth data, a given number of stages: the error against short steps falls by four when steps are halved. */
static void errors_of_stages_are_of_second_order(void **state)
{
    (void)state;
    static const int wave[3] = {0, 4, 3};
    double energy[4];
    for (int k = 0; k < 4; k++) {
        strake_spinodal s = unit_setup(1, 64, 64);
        s.time = (strake_spinodal_time)STAGES;
        s.dt = 0.05 / (1 << k);
        double *field = new_field(&s);
        make_wave(&s, 0.1, 0.3, wave, field);
        strake_case *which = open_case(&s, false, false, ", stages: 8");
        strake_solver *solver = open_solver(which, &s, field);
        strake_harness_step(solver, 40 << k);
        strake_harness_get(solver, "u", field, strake_spinodal_cells(&s));
        energy[k] = strake_spinodal_energy(&s, field);
        strake_close(&solver);
        strake_case_close(&which);
        free(field);
    }
    for (int k = 0; k < 2; k++) {
        const double order = log2((energy[k] - energy[k + 1]) / (energy[k + 1] - energy[k + 2]));
        if (!(fabs(order - 2.0) < 0.05)) {
            fail_msg("order %.4f in time, expected 2", order);
        }
    }
}

static void stages_keep_mass_and_energy_falls(void **state)
{
    (void)state;
    for (int walls = 0; walls < 2; walls++) {
        strake_spinodal flat = unit_setup(1, 40, 33);
        strake_spinodal solid = unit_setup(11, 13, 16);
        flat.time = solid.time = (strake_spinodal_time)STAGES;
        flat.dt = solid.dt = 0.25;
        for (int a = 0; a < 3; a++) {
            flat.no_flux[a] = solid.no_flux[a] = walls > 0;
        }
        check_decay(&flat, false, 50, 20);
        check_decay(&solid, true, 20, 10);
    }
}

/* Steps at the bound run; larger ones are refused unless they are allowed. */
static void unstable_steps_are_refused(void **state)
{
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        strake_spinodal s = unit_setup(dims == 3 ? 8 : 1, 12, 10);
        const double bound = dims == 3 ? 2.0 / (12.0 * 14.0) : 0.025;
        double *field = new_field(&s);
        make_noise(&s, -0.1, 0.1, 5, field);
        for (int k = 0; k < 4; k++) {
            static const double share[] = {1.0, 1.0001, 1.0001, 2.5};
            strake_error error;
            s.dt = bound * share[k];
            strake_case *which = open_case(&s, false, dims == 3, k < 2 ? "" : ", unstable: allow");
            strake_solver *solver = open_solver(which, &s, field);
            const strake_status status = strake_step(solver, 2000, &error);
            if (k == 1) {
                char number[32];
                (void)snprintf(number, sizeof number, "at most %.9g s", bound);
                assert_int_equal(status, STRAKE_ERR_USAGE);
                assert_non_null(strstr(error.text, "unstable"));
                assert_non_null(strstr(error.text, number));
            } else {
                assert_int_equal(status, k == 3 ? STRAKE_ERR_NUMERIC : STRAKE_OK);
            }
            strake_close(&solver);
            strake_case_close(&which);
        }
        free(field);
    }
}

/* f = rho (c - a)^2 (b - c)^2 as a polynomial. */
static void make_pfhub(double rho, double a, double b, double polynomial[5])
{
    const double p = a + b;
    const double q = a * b; /* rho (c^2 - p c + q)^2 */
    polynomial[0] = rho * q * q;
    polynomial[1] = -2.0 * rho * p * q;
    polynomial[2] = rho * (p * p + 2.0 * q);
    polynomial[3] = -2.0 * rho * p;
    polynomial[4] = rho;
}

/* At t = 1, 5 and 20: steps of a length, energies to a tolerance. */
static void check_pfhub(strake_spinodal_time time, double dt, double tolerance)
{
    static const double expected[] = {318.85534, 316.40158, 212.45977}, until[] = {1.0, 5.0, 20.0};
    double polynomial[5];
    strake_spinodal s = unit_setup(1, 200, 200);
    make_pfhub(5.0, 0.3, 0.7, polynomial);
    s.m = 5.0;
    s.k = 2.0;
    s.dt = dt;
    s.time = time;
    s.polynomial = polynomial;
    s.terms = 5;
    double *field = new_field(&s);
    for (int i = 0; i < 200; i++) {
        for (int j = 0; j < 200; j++) {
            const double x = i;
            const double y = j;
            const double second = cos(0.13 * x) * cos(0.087 * y);
            field[200 * i + j] =
                0.5 + 0.01 * (cos(0.105 * x) * cos(0.11 * y) + second * second +
                              cos(0.025 * x - 0.15 * y) * cos(0.07 * x - 0.02 * y));
        }
    }
    assert_true(fabs(strake_spinodal_energy(&s, field) - 319.1547) < 1e-4);
    strake_case *which = open_case(&s, false, false, "");
    strake_solver *solver = open_solver(which, &s, field);
    for (int k = 0; k < 3; k++) {
        strake_harness_step(solver, (int)lround((until[k] - (k > 0 ? until[k - 1] : 0.0)) / dt));
        strake_harness_get(solver, "u", field, strake_spinodal_cells(&s));
        const double found = strake_spinodal_energy(&s, field);
        if (!(fabs(found / expected[k] - 1.0) < tolerance)) {
            fail_msg("energy %.9f, expected %.5f", found, expected[k]);
        }
    }
    strake_close(&solver);
    strake_case_close(&which);
    free(field);
}

static void the_pfhub_benchmark_has_its_energies(void **state)
{
    (void)state;
    check_pfhub(STRAKE_SPINODAL_EULER, 1e-3, 1e-7);
    check_pfhub((strake_spinodal_time)STAGES, 0.1, 5e-3);
}

/* Steps of the product and of the independent statement, from noise. */
static void compare(strake_spinodal *s, bool is_3d, bool single)
{
    double *expected = new_field(s);
    double *found = new_field(s);
    make_noise(s, -0.9, 1.1, 11, expected);
    for (size_t c = 0; c < strake_spinodal_cells(s); c++) {
        expected[c] = single ? (double)(float)expected[c] : expected[c];
    }
    memcpy(found, expected, strake_spinodal_cells(s) * sizeof *found);
    run(s, single, is_3d, 5, found);
    assert_true(strake_spinodal_run(s, expected, 5));
    const double difference = strake_harness_difference(found, expected, strake_spinodal_cells(s));
    free(expected);
    free(found);
    if (!(difference <= (single ? 4e-6 : 2e-14))) {
        fail_msg("%dx%dx%d, %s, %d terms, walls %d%d%d: differs by %.3g", s->n[0], s->n[1], s->n[2],
                 time_word[s->time], s->terms, s->no_flux[0], s->no_flux[1], s->no_flux[2],
                 difference);
    }
}

static void every_variant_agrees_with_the_independent_statement(void **state)
{
    (void)state;
    static const double polynomial[] = {0.3, -0.1, -0.45, 0.05, 0.2, -0.02, 0.03};
    static const int sizes[][3] = {{1, 13, 21}, {1, 1, 9},  {1, 6, 1},  {1, 2, 3},
                                   {7, 9, 11},  {1, 5, 12}, {6, 1, 12}, {2, 3, 1}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int variant = 0; variant < 3 * 8 * 4; variant++) {
            static const int terms[] = {0, 3, 5, 7};
            const bool is_3d = k >= 4;
            strake_spinodal s = unit_setup(sizes[k][0], sizes[k][1], sizes[k][2]);
            s.time = (strake_spinodal_time)(variant % 3);
            s.terms = terms[variant / 3 % 4];
            s.polynomial = s.terms > 0 ? polynomial : NULL;
            for (int a = 0; a < 3; a++) {
                s.no_flux[a] = (variant / 12 >> a & 1) != 0;
            }
            s.h[0] = 1.1;
            s.h[2] = 0.95;
            s.dt = 0.004;
            if (is_3d || !s.no_flux[0]) {
                compare(&s, is_3d, false);
            }
        }
    }
    strake_spinodal s = unit_setup(1, 31, 40);
    compare(&s, false, true);
}

static void a_polynomial_and_a_double_well_exclude_each_other(void **state)
{
    (void)state;
    static const char text[] = "problem: cahn_hilliard2d\n"
                               "grid: {rows: 8, cols: 8}\n"
                               "time: {dt: 0.01, steps: 1}\n"
                               "parameters: {U: 1}\n"
                               "scheme: {free_energy: {polynomial: [0, 0, -0.5, 0, 0.25]}}\n";
    strake_case *which = NULL;
    strake_error error;
    assert_int_equal(strake_case_parse("test", text, NULL, true, &which, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "parameters.U"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_waves_grow_as_the_discrete_symbol_says),
        cmocka_unit_test(every_direction_has_its_spacing),
        cmocka_unit_test(errors_fall_with_the_order_of_the_time_scheme),
        cmocka_unit_test(errors_fall_with_the_square_of_the_spacing),
        cmocka_unit_test(mass_is_kept_and_the_energy_falls),
        cmocka_unit_test(stages_multiply_a_wave_by_their_polynomial),
        cmocka_unit_test(errors_of_stages_are_of_second_order),
        cmocka_unit_test(stages_keep_mass_and_energy_falls),
        cmocka_unit_test(unstable_steps_are_refused),
        cmocka_unit_test(the_pfhub_benchmark_has_its_energies),
        cmocka_unit_test(every_variant_agrees_with_the_independent_statement),
        cmocka_unit_test(a_polynomial_and_a_double_well_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
