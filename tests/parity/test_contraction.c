/*
 * The parity tests would notice contraction: on inputs made the same way as theirs, the corrective
 * velocity and the update differ in their bits as soon as a product and a sum are contracted to
 * fma. (The donor-cell flux alone would not show it: it is a single product.)
 */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fields.h"

typedef void row_loop(double *out, const double *const *in, size_t n);

row_loop strake_test_plain_corrective, strake_test_plain_update, strake_test_plain_donor;
row_loop strake_test_fused_corrective, strake_test_fused_update, strake_test_fused_donor;

enum { ROWS = 61, COLS = 97 };

static strake_inputs in;
static double *operand[12];
static size_t points;

/* Operands of all inner faces across rows, in the order of the point functions. */
static int open_operands(void **state)
{
    (void)state;
    uint64_t seed = 1; /* as in test_parity.c */
    if (!strake_inputs_open(&in, ROWS, COLS, false, false)) {
        return -1;
    }
    strake_inputs_random_h(&in, &seed);
    strake_inputs_random_flow(&in, 0.95, 1.0, &seed);
    strake_inputs_random_psi(&in, -1.0, 2.0, &seed);
    for (int k = 0; k < 12; k++) {
        operand[k] = calloc(in.cells, sizeof(double));
        if (operand[k] == NULL) {
            return -1;
        }
    }
    points = 0;
    for (size_t i = 1; i < ROWS; i++) {
        for (size_t j = 1; j + 1 < COLS; j++) {
            const size_t right = i * COLS + j;
            const size_t left = right - COLS;
            const double values[12] = {
                in.u1[right],      in.u2[left],      in.u2[left + 1],
                in.u2[right + 1],  in.u2[right],     0.5 * (in.h[left] + in.h[right]),
                in.psi[left],      in.psi[right],    in.psi[left - 1],
                in.psi[right - 1], in.psi[left + 1], in.psi[right + 1],
            };
            for (int k = 0; k < 12; k++) {
                operand[k][points] = values[k];
            }
            points++;
        }
    }
    return 0;
}

static int close_operands(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        free(operand[k]);
    }
    strake_inputs_close(&in);
    return 0;
}

/* How many of the points differ in their bits. */
static size_t differing(row_loop *plain, row_loop *fused, const double *const *operands)
{
    double *a = calloc(points, sizeof *a);
    double *b = calloc(points, sizeof *b);
    assert_true(a != NULL && b != NULL);
    plain(a, operands, points);
    fused(b, operands, points);
    size_t count = 0;
    for (size_t k = 0; k < points; k++) {
        count += memcmp(&a[k], &b[k], sizeof a[k]) != 0 ? 1U : 0U;
    }
    free(a);
    free(b);
    return count;
}

static void need_fma(void)
{
#if !defined(__OPTIMIZE__)
    print_message("# skip: compilers do not contract without optimisation\n");
    skip();
#elif defined(__x86_64__)
    if (!__builtin_cpu_supports("fma")) {
        print_message("# skip: this processor has no fma instructions\n");
        skip();
    }
#else
    print_message("# skip: written for x86-64\n");
    skip();
#endif
}

static void contraction_changes_the_corrective_velocity(void **state)
{
    (void)state;
    need_fma();
    const size_t count = differing(strake_test_plain_corrective, strake_test_fused_corrective,
                                   (const double *const *)operand);
    assert_true(count > points / 10);
}

static void contraction_changes_the_update(void **state)
{
    (void)state;
    need_fma();
    /* psi, four fluxes of the size of a velocity, and a reciprocal of h */
    const double *const operands[] = {operand[6], operand[0], operand[1],
                                      operand[2], operand[3], operand[5]};
    const size_t count = differing(strake_test_plain_update, strake_test_fused_update, operands);
    assert_true(count > points / 10);
}

static void contraction_does_not_change_the_donor_flux(void **state)
{
    (void)state;
    need_fma();
    const double *const operands[] = {operand[6], operand[7], operand[0]};
    assert_int_equal(differing(strake_test_plain_donor, strake_test_fused_donor, operands), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contraction_changes_the_corrective_velocity),
        cmocka_unit_test(contraction_changes_the_update),
        cmocka_unit_test(contraction_does_not_change_the_donor_flux),
    };
    return cmocka_run_group_tests(tests, open_operands, close_operands);
}
