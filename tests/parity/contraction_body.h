/*
 * Point functions of cl/mpdata_point.h over arrays, compiled once per includer: contraction_off.c
 * as the product is built, contraction_on.c with products and sums contracted to fma. The includer
 * defines NAME(x) and, before this header, its compiler settings.
 */
#include <stddef.h>

#include "cl/real.h"

#include "cl/mpdata_point.h"

/* in[k]: operand k of the point function at each of n points. */
void NAME(corrective)(double *out, const double *const *in, size_t n);
void NAME(update)(double *out, const double *const *in, size_t n);
void NAME(donor)(double *out, const double *const *in, size_t n);

void NAME(corrective)(double *out, const double *const *in, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        out[k] = corrective(in[0][k], in[1][k], in[2][k], in[3][k], in[4][k], in[5][k], in[6][k],
                            in[7][k], in[8][k], in[9][k], in[10][k], in[11][k]);
    }
}

void NAME(update)(double *out, const double *const *in, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        out[k] = flux_update(in[0][k], in[1][k], in[2][k], in[3][k], in[4][k], in[5][k]);
    }
}

void NAME(donor)(double *out, const double *const *in, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        out[k] = donor_flux(in[0][k], in[1][k], in[2][k]);
    }
}
