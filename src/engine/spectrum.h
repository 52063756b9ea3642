/** @file spectrum.h Fourier spectra of fields, and the length scale that they give. */
#ifndef STRAKE_SPECTRUM_H
#define STRAKE_SPECTRUM_H

#include "engine/layout.h"

/**
 * The discrete Fourier transform of @p n complex numbers, pairs of real and imaginary parts:
 * out[k] = sum over j of in[j] exp(-2 pi i j k/n). Any n; cost n times the sum of its prime factors.
 * @param[in] turn  exp(-2 pi i k/n) for 0 <= k < n, from strake_fourier_turns()
 * @param     work  room for n numbers; in, out and work may not overlap
 */
void strake_fourier(int64_t n, const double (*turn)[2], const double (*in)[2], double (*out)[2],
                    double (*work)[2]);
void strake_fourier_turns(int64_t n, double (*turn)[2]);

/**
 * 2 pi over the first moment of a field's structure factor, averaged over directions: the integral of
 * k S(k) over that of S(k), S(k) = |u(k)|^2 at k = |k| without k = 0 (the mean). Waves along an axis with
 * walls are cosines; an axis of one cell has none. 0 for a uniform field.
 * @param[in] spacing  of each axis [m]
 * @return STRAKE_ERR_MEMORY: 16 bytes per cell are needed
 */
strake_status strake_spectrum_length(const strake_layout *layout, const void *array,
                                     const double spacing[STRAKE_AXES], double *length,
                                     strake_error *error);

#endif
