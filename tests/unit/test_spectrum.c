/* Fourier transforms of any length against the sums that define them, and lengths of known fields. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/spectrum.h"
#include "tests/support/harness.h"

static const double two_pi = 6.283185307179586476925;

enum { LONGEST = 210 };

static void a_transform_is_its_sum(void **state)
{
    (void)state;
    static const int lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 49, 97, 128, 201, LONGEST};
    double turn[LONGEST][2];
    double in[LONGEST][2];
    double out[LONGEST][2];
    double work[LONGEST][2];
    uint64_t seed = 3;
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        const int n = lengths[l];
        for (int k = 0; k < n; k++) {
            in[k][0] = strake_random(&seed) - 0.5;
            in[k][1] = strake_random(&seed) - 0.5;
        }
        strake_fourier_turns(n, turn);
        strake_fourier(n, (const double(*)[2])turn, (const double(*)[2])in, out, work);
        for (int k = 0; k < n; k++) {
            double re = 0.0;
            double im = 0.0;
            for (int j = 0; j < n; j++) {
                const double angle = -two_pi * (k * j % n) / n;
                re += in[j][0] * cos(angle) - in[j][1] * sin(angle);
                im += in[j][0] * sin(angle) + in[j][1] * cos(angle);
            }
            assert_true(fabs(out[k][0] - re) < 1e-12 && fabs(out[k][1] - im) < 1e-12);
        }
    }
}

/* The length of base + cos waves along the axes: cells n, waves k, their sizes. */
static double length_of(const int64_t n[STRAKE_AXES], const strake_boundary boundary[STRAKE_AXES],
                        const double spacing[STRAKE_AXES], const int wave[STRAKE_AXES])
{
    strake_graph graph;
    strake_error error;
    double length = -1.0;
    strake_graph_begin(&graph, STRAKE_DOUBLE);
    const strake_layout l = strake_layout_make_deep(&graph, 1, n, boundary);
    double *field = calloc((size_t)l.elements, sizeof *field);
    assert_non_null(field);
    for (int64_t i = 0; i < n[0]; i++) {
        for (int64_t m = 0; m < n[1]; m++) {
            for (int64_t j = 0; j < n[2]; j++) {
                const int64_t cell[STRAKE_AXES] = {i, m, j};
                double product = 1.0;
                for (int a = 0; a < STRAKE_AXES; a++) {
                    const double x = ((double)cell[a] + 0.5) / (double)n[a];
                    product *= boundary[a] == STRAKE_PERIODIC ? cos(two_pi * wave[a] * x)
                                                              : cos(0.5 * two_pi * wave[a] * x);
                }
                field[strake_layout_at(&l, i, m, j)] = 0.7 + 0.1 * product;
            }
        }
    }
    assert_int_equal(strake_spectrum_length(&l, field, spacing, &length, &error), STRAKE_OK);
    free(field);
    return length;
}

static void a_single_wave_has_its_length(void **state)
{
    (void)state;
    static const int64_t sizes[][STRAKE_AXES] = {{12, 1, 20}, {30, 1, 7}, {8, 9, 10}, {1, 1, 16}};
    static const int waves[][STRAKE_AXES] = {{2, 0, 3}, {1, 0, 0}, {3, 2, 4}, {0, 0, 5}};
    static const double spacing[STRAKE_AXES] = {0.5, 1.5, 2.0};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int walls = 0; walls < 8; walls++) {
            strake_boundary boundary[STRAKE_AXES];
            double k2 = 0.0;
            for (int a = 0; a < STRAKE_AXES; a++) {
                const bool is_wall = (walls >> a & 1) != 0;
                boundary[a] = is_wall ? STRAKE_NO_FLUX : STRAKE_PERIODIC;
                const double k = (is_wall ? 0.5 : 1.0) * two_pi * waves[s][a] /
                                 ((double)sizes[s][a] * spacing[a]);
                k2 += k * k;
            }
            const double length = length_of(sizes[s], boundary, spacing, waves[s]);
            assert_true(fabs(length * sqrt(k2) / two_pi - 1.0) < 1e-9);
        }
    }
}

static void a_uniform_field_has_no_length(void **state)
{
    (void)state;
    static const int wave[STRAKE_AXES] = {0, 0, 0};
    static const double spacing[STRAKE_AXES] = {1.0, 1.0, 1.0};
    static const strake_boundary walls[STRAKE_AXES] = {STRAKE_NO_FLUX, STRAKE_PERIODIC,
                                                       STRAKE_PERIODIC};
    static const int64_t one[STRAKE_AXES] = {1, 1, 1};
    assert_true(length_of(one, walls, spacing, wave) <= 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transform_is_its_sum),
        cmocka_unit_test(a_single_wave_has_its_length),
        cmocka_unit_test(a_uniform_field_has_no_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
