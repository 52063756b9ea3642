#include "particles/sph.h"

#include <math.h>
#include <stddef.h>

#include "particles/sph_rows.h"

#include "cl/real.h"

#include "cl/sph_point.h"

#include "cl/sph_clock.h"

#define PI 3.14159265358979323846

double strake_sph_mass(const strake_sph *sph)
{
    const double plane = sph->spacing * sph->spacing;
    return sph->density * (sph->dims == 3 ? plane * sph->spacing : plane);
}

double strake_sph_stiffness(const strake_sph *sph)
{
    return sph->density * sph->sound * sph->sound / 7.0;
}

/* The factor with which the integral of the kernel is 1. */
static double kernel_factor(const strake_sph *sph)
{
    const double h = sph->smoothing;
    const double norm = sph->kernel == STRAKE_SPH_WENDLAND
                            ? (sph->dims == 3 ? 21.0 / 16.0 / h : 7.0 / 4.0)
                            : (sph->dims == 3 ? 1.0 / h : 10.0 / 7.0);
    return norm / (PI * h * h);
}

double strake_sph_slope(const strake_sph *sph)
{
    const double factor = sph->kernel == STRAKE_SPH_WENDLAND ? -5.0 : -1.0;
    return factor * kernel_factor(sph) / (sph->smoothing * sph->smoothing);
}

double strake_sph_viscous_bound(const strake_sph *sph)
{
    return sph->viscosity == STRAKE_SPH_LAMINAR && sph->nu > 0.0
               ? sph_viscous_bound(sph->smoothing, sph->nu)
               : INFINITY;
}

double strake_sph_reach(const strake_sph *sph)
{
    return 2.0 * sph->smoothing * (1.0 + sph->skin);
}

double strake_sph_slack(const strake_sph *sph)
{
    return sph->skin > 0.0 ? sph->skin * sph->smoothing : sph->smoothing;
}

double strake_sph_pressure(const strake_sph *sph, double density)
{
    return sph_pressure(density / sph->density, strake_sph_stiffness(sph));
}

double strake_sph_weight(const strake_sph *sph, double distance)
{
    const double u = sph_inside(distance * distance, 0.5 / sph->smoothing);
    return kernel_factor(sph) *
           (sph->kernel == STRAKE_SPH_WENDLAND ? sph_wendland(u) : sph_cubic(u));
}

#ifdef STRAKE_ROWS_X86
#define DECLARE(type, name, precision)                                                             \
    extern const type strake_row_##name##_##precision##_scalar,                                    \
        strake_row_##name##_##precision##_base, strake_row_##name##_##precision##_avx2,            \
        strake_row_##name##_##precision##_avx512;
#define LIST(name, precision)                                                                      \
    {                                                                                              \
        &strake_row_##name##_##precision##_scalar, &strake_row_##name##_##precision##_base,        \
            &strake_row_##name##_##precision##_avx2, &strake_row_##name##_##precision##_avx512     \
    }
#else
#define DECLARE(type, name, precision)                                                             \
    extern const type strake_row_##name##_##precision##_scalar,                                    \
        strake_row_##name##_##precision##_base;
#define LIST(name, precision)                                                                      \
    {                                                                                              \
        &strake_row_##name##_##precision##_scalar, &strake_row_##name##_##precision##_base, NULL,  \
            NULL                                                                                   \
    }
#endif
DECLARE(strake_sph_rows, sph, f64)
DECLARE(strake_sph_rows, sph, f32)
DECLARE(strake_sph_pair_rows, sph_pair, f64)
DECLARE(strake_sph_pair_rows, sph_pair, f32)

const strake_sph_rows *strake_sph_rows_of(strake_precision precision, strake_isa isa)
{
    static const strake_sph_rows *const rows[STRAKE_PRECISIONS][STRAKE_ISAS] = {LIST(sph, f64),
                                                                                LIST(sph, f32)};
    return rows[precision][isa];
}

const strake_sph_pair_rows *strake_sph_pair_rows_of(strake_precision precision, strake_isa isa)
{
    static const strake_sph_pair_rows *const rows[STRAKE_PRECISIONS][STRAKE_ISAS] = {
        LIST(sph_pair, f64), LIST(sph_pair, f32)};
    return rows[precision][isa];
}

double strake_sph_arm(const sph_motion *motion, const double x[STRAKE_PARTICLE_AXES])
{
    double off[STRAKE_PARTICLE_AXES], square = 0.0;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        off[a] = x[a] - motion->point[a];
    }
    for (int k = 0; k < motion->laws; k++) {
        const double *const axis = motion->law[k].direction;
        const double along = off[0] * axis[0] + off[1] * axis[1] + off[2] * axis[2];
        for (int a = 0; a < STRAKE_PARTICLE_AXES && motion->law[k].turns; a++) {
            off[a] -= along * axis[a];
        }
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        square += off[a] * off[a];
    }
    return sqrt(square);
}
