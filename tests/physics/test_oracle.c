/*
 * The oracle of the other tests reproduces the published numbers on its own, so that agreement with
 * it means something. Sources: libmpdata++ reference data (Jaruga et al. 2015, rotating cone),
 * PyMPDATA unit tests and Arabas et al. 2014 (3x3), libmpdata++ convergence set-up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fields.h"
#include "tests/support/oracle.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.10g is not %.10g to %.1e", value, expected, tolerance);
    }
}

/* psi of a 3x3 periodic grid after one step from one unit cell, in uniform flow. */
static void toy(int iterations, double c1, double c2, double *psi)
{
    strake_oracle setup = {.rows = 3, .cols = 3, .iterations = iterations, .epsilon = 1e-15};
    double u1[9];
    double u2[9];
    for (int k = 0; k < 9; k++) {
        u1[k] = c1;
        u2[k] = c2;
        psi[k] = k == 4 ? 1.0 : 0.0;
    }
    assert_true(strake_oracle_run(&setup, u1, u2, NULL, psi, 1));
}

static void oracle_reproduces_the_toy_cases(void **state)
{
    (void)state;
    double psi[9];
    toy(1, 0.1, 0.5, psi);
    assert_near(psi[3 * 2 + 1], 0.1, 5e-5);
    assert_near(psi[3 * 1 + 2], 0.5, 5e-5);
    assert_near(psi[3 * 1 + 1], 0.4, 5e-5);
    toy(2, 0.1, 0.5, psi);
    assert_near(psi[3 * 2 + 1], 0.0921, 5e-5);
    assert_near(psi[3 * 1 + 2], 0.5011, 5e-5);
    assert_near(psi[3 * 1 + 1], 0.4068, 5e-5);
    toy(2, 0.2, 0.2, psi);
    assert_near(psi[3 * 1 + 1], 0.64, 5e-5);
    assert_near(psi[3 * 1 + 2], 0.18, 5e-5);
    assert_near(psi[3 * 2 + 1], 0.18, 5e-5);
    toy(3, 0.2, 0.2, psi);
    assert_near(psi[3 * 1 + 1], 0.6578, 5e-5);
    assert_near(psi[3 * 1 + 2], 0.1711, 5e-5);
    assert_near(psi[3 * 2 + 1], 0.1711, 5e-5);
    for (int iterations = 1; iterations <= 3; iterations++) {
        toy(iterations, 0.5, 0.5, psi);
        assert_near(psi[3 * 1 + 2], 0.5, 1e-15);
        assert_near(psi[3 * 2 + 1], 0.5, 1e-15);
        toy(iterations, 0.0, 1.0, psi);
        assert_near(psi[3 * 1 + 2], 1.0, 0.0);
        toy(iterations, 1.0, 0.0, psi);
        assert_near(psi[3 * 2 + 1], 1.0, 0.0);
    }
}

static void smooth(strake_oracle setup, int n, double expected)
{
    setup.rows = n;
    setup.cols = n;
    setup.epsilon = 1e-15;
    strake_inputs in;
    assert_true(strake_inputs_open(&in, n, n, false, false));
    const double wave = 2.0 * acos(-1.0) / (double)n;
    for (int k = 0; k < n * n; k++) {
        in.psi[k] = 2.0 + sin(wave * (double)(k / n)) * sin(wave * (double)(k % n));
        in.u1[k] = 0.2;
        in.u2[k] = 0.4;
        in.h[k] = in.psi[k]; /* the initial field; the oracle takes h = 1 */
    }
    assert_true(strake_oracle_run(&setup, in.u1, in.u2, NULL, in.psi, 5 * n));
    double sum = 0.0;
    for (int k = 0; k < n * n; k++) {
        sum += (in.psi[k] - in.h[k]) * (in.psi[k] - in.h[k]);
    }
    strake_inputs_close(&in);
    assert_near(sqrt(sum / (double)(n * n)), expected, 2e-8 * expected);
}

static void oracle_reproduces_the_smooth_convergence(void **state)
{
    (void)state;
    const strake_oracle upwind = {.iterations = 1};
    const strake_oracle basic = {.iterations = 2};
    const strake_oracle fct = {.iterations = 2, .nonoscillatory = true};
    const strake_oracle iga_fct = {.iterations = 2, .nonoscillatory = true, .gauge = true};
    const strake_oracle iga_tot = {.iterations = 2, .gauge = true, .third_order = true};
    const strake_oracle tot = {.iterations = 3, .third_order = true};
    smooth(upwind, 32, 3.44841720e-01);
    smooth(upwind, 64, 2.31971758e-01);
    smooth(basic, 32, 3.02274567e-02);
    smooth(basic, 64, 7.37451924e-03);
    smooth(fct, 32, 3.02471209e-02);
    smooth(fct, 64, 7.37334547e-03);
    smooth(iga_fct, 32, 1.35235579e-02);
    smooth(iga_fct, 64, 2.91230857e-03);
    smooth(iga_tot, 32, 8.04699295e-03);
    smooth(iga_tot, 64, 1.02230875e-03);
    smooth(tot, 32, 9.40714405e-03);
    smooth(tot, 64, 1.22817526e-03);
}

static void cone(strake_oracle setup, double least, double largest, double rms)
{
    enum { N = 101, STEPS = 3768 };
    setup.rows = N;
    setup.cols = N;
    setup.open_rows = true;
    setup.open_cols = true;
    setup.epsilon = 1e-15;
    strake_inputs in;
    assert_true(strake_inputs_open(&in, N, N, true, true));
    for (int i = 0; i <= N; i++) {
        for (int j = 0; j <= N; j++) {
            if (j < N) {
                in.u1[i * N + j] = 0.1 * (double)(j - 50) * 0.1;
            }
            if (i < N) {
                in.u2[i * (N + 1) + j] = -0.1 * (double)(i - 50) * 0.1;
            }
            if (i < N && j < N) {
                const double d = hypot((double)(i - 50), (double)(j - 75));
                in.psi[i * N + j] = 1.0 + (d <= 15.0 ? 4.0 - d / 3.75 : 0.0);
                in.h[i * N + j] = in.psi[i * N + j];
            }
        }
    }
    assert_true(strake_oracle_run(&setup, in.u1, in.u2, NULL, in.psi, STEPS));
    double low = in.psi[0];
    double high = in.psi[0];
    double sum = 0.0;
    for (int k = 0; k < N * N; k++) {
        low = fmin(low, in.psi[k]);
        high = fmax(high, in.psi[k]);
        sum += (in.psi[k] - in.h[k]) * (in.psi[k] - in.h[k]);
    }
    strake_inputs_close(&in);
    assert_near(low, least, 1e-7);
    assert_near(high, largest, 1e-7);
    assert_near(sqrt(sum / (double)(N * N)) / (STEPS * 0.1), rms, 1e-7);
}

static void oracle_reproduces_the_rotating_cone(void **state)
{
    (void)state;
    cone((strake_oracle){.iterations = 1}, 1.0, 1.31177388, 0.00102998);
    cone((strake_oracle){.iterations = 2}, 0.86381076, 3.54697914, 0.00037726);
    cone((strake_oracle){.iterations = 2, .nonoscillatory = true}, 1.0, 3.52544410, 0.00036731);
    cone((strake_oracle){.iterations = 2, .nonoscillatory = true, .gauge = true}, 1.0, 4.25518091,
         0.00026658);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_reproduces_the_toy_cases),
        cmocka_unit_test(oracle_reproduces_the_smooth_convergence),
        cmocka_unit_test(oracle_reproduces_the_rotating_cone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
