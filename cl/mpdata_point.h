/*
 * mpdata_point.h: the point functions of MPDATA (Smolarkiewicz; stages as in Wyrzykowski, Szustak &
 * Rojek 2014, section 4). C11 and OpenCL C 1.2; see real.h for what may be used here.
 *
 * Notation: psi the advected field, u the h-weighted Courant number at a face [-], h density times
 * Jacobian, "left" and "right" the two cells of a face along its own direction.
 *
 * The quotients are brought over one denominator (one division per corrective velocity instead of
 * four), and divisions by h go through its reciprocal: both are part of the definition of the bits.
 */

/* Regularisation of every denominator, in both precisions (part of the definition, not an option). */
#define MPDATA_EPSILON REAL(1e-15)

/* Donor-cell (upwind) flux through a face, eq. (3): [u]+ left - [u]- right. */
STRAKE_POINT_FUNCTION real donor_flux(real left, real right, real u)
{
    return u * (u > REAL(0.0) ? left : right);
}

/* 1/h of a cell: a static stage, folded where h is a constant. */
STRAKE_POINT_FUNCTION real reciprocal(real h)
{
    return REAL(1.0) / h;
}

/* h at a face: arithmetic mean. */
STRAKE_POINT_FUNCTION real face_mean(real left, real right)
{
    return REAL(0.5) * (left + right);
}

/* Update of a cell by the divergence of the fluxes through its four faces, eq. (2). */
STRAKE_POINT_FUNCTION real flux_update(real psi, real f1_lo, real f1_hi, real f2_lo, real f2_hi,
                                       real h_reciprocal)
{
    return psi - ((f1_hi - f1_lo) + (f2_hi - f2_lo)) * h_reciprocal;
}

/* Largest and smallest value of the 5-point cross, eqs. (11) and (12). */
STRAKE_POINT_FUNCTION real cross_max(real c, real n, real s, real w, real e)
{
    const real a = STRAKE_MAX(n, s);
    const real b = STRAKE_MAX(w, e);
    const real ab = STRAKE_MAX(a, b);
    return STRAKE_MAX(ab, c);
}

STRAKE_POINT_FUNCTION real cross_min(real c, real n, real s, real w, real e)
{
    const real a = STRAKE_MIN(n, s);
    const real b = STRAKE_MIN(w, e);
    const real ab = STRAKE_MIN(a, b);
    return STRAKE_MIN(ab, c);
}

STRAKE_POINT_FUNCTION real widen_max(real bound, real c, real n, real s, real w, real e)
{
    const real cross = cross_max(c, n, s, w, e);
    return STRAKE_MAX(bound, cross);
}

STRAKE_POINT_FUNCTION real widen_min(real bound, real c, real n, real s, real w, real e)
{
    const real cross = cross_min(c, n, s, w, e);
    return STRAKE_MIN(bound, cross);
}

/* |x|: what the ratios of a field of any sign are built from. */
STRAKE_POINT_FUNCTION real magnitude(real x)
{
    return STRAKE_ABS(x);
}

/*
 * Antidiffusive (corrective) velocity at a face, eqs. (6) and (7):
 *   v = (|u| - u^2/r) A - u b/(8 r) B,
 *   A = (right - left)/(right + left), B = (hi - lo)/(hi + lo) of the transverse neighbours,
 * b = sum of the four transverse velocities t0..t3 around the face, r = h at the face.
 * left, right, lo_left ... hi_right: magnitudes of the field (the field itself where it is >= 0); the
 * latter four lie across the face's direction, on its left and right side.
 */
STRAKE_POINT_FUNCTION real corrective(real u, real t0, real t1, real t2, real t3, real r, real left,
                                      real right, real lo_left, real lo_right, real hi_left,
                                      real hi_right)
{
    const real b = (t0 + t1) + (t2 + t3);
    const real lo = lo_left + lo_right;
    const real hi = hi_left + hi_right;
    const real a_denominator = (right + left) + MPDATA_EPSILON;
    const real b_denominator = (hi + lo) + MPDATA_EPSILON;
    const real along = STRAKE_ABS(u) * r - u * u;
    const real across = REAL(0.125) * u * b;
    const real numerator =
        along * ((right - left) * b_denominator) - across * ((hi - lo) * a_denominator);
    return STRAKE_QUOTIENT(numerator, a_denominator * b_denominator * r);
}

/* Infinite gauge: the limit of adding a large constant; A = (right - left)/2, B = (hi - lo)/4. */
STRAKE_POINT_FUNCTION real corrective_gauge(real u, real t0, real t1, real t2, real t3,
                                            real r_reciprocal, real left, real right, real lo_left,
                                            real lo_right, real hi_left, real hi_right)
{
    const real b = (t0 + t1) + (t2 + t3);
    const real along = STRAKE_ABS(u) - u * u * r_reciprocal;
    const real across = u * b * r_reciprocal;
    return REAL(0.5) * along * (right - left) -
           REAL(0.03125) * across * ((hi_left + hi_right) - (lo_left + lo_right));
}

/*
 * Third-order term added to a corrective velocity (libmpdata++ "tot"):
 *   -(u - 3 |u| u/r + 2 u^3/r^2)/3 R1 + b/(4 r) (|u| - 2 u^2/r) R2,
 *   R1 = (far_left + far_right - left - right)/sum, R2 = (hi_right + lo_left - lo_right - hi_left)/sum.
 * factor1 and factor2: the two factors in front, from the flow alone.
 */
STRAKE_POINT_FUNCTION real third_order_along(real u, real r_reciprocal)
{
    const real c = u * r_reciprocal;
    return (u * (REAL(3.0) * STRAKE_ABS(c) - REAL(1.0) - REAL(2.0) * c * c)) / REAL(3.0);
}

STRAKE_POINT_FUNCTION real third_order_across(real u, real t0, real t1, real t2, real t3,
                                              real r_reciprocal)
{
    const real b = (t0 + t1) + (t2 + t3);
    return REAL(0.25) * b * r_reciprocal * (STRAKE_ABS(u) - REAL(2.0) * u * u * r_reciprocal);
}

STRAKE_POINT_FUNCTION real third_order(real v, real factor1, real factor2, real far_left, real left,
                                       real right, real far_right, real lo_left, real lo_right,
                                       real hi_left, real hi_right)
{
    const real outer = far_left + far_right;
    const real inner = left + right;
    const real same = hi_right + lo_left;
    const real cross = lo_right + hi_left;
    return v + (factor1 * STRAKE_QUOTIENT(outer - inner, outer + inner + MPDATA_EPSILON) +
                factor2 * STRAKE_QUOTIENT(same - cross, same + cross + MPDATA_EPSILON));
}

STRAKE_POINT_FUNCTION real third_order_gauge(real v, real factor1, real factor2, real far_left,
                                             real left, real right, real far_right, real lo_left,
                                             real lo_right, real hi_left, real hi_right)
{
    return v + (factor1 * (REAL(0.25) * ((far_left + far_right) - (left + right))) +
                factor2 * (REAL(0.25) * ((hi_right + lo_left) - (lo_right + hi_left))));
}

/*
 * Limiting coefficients, eqs. (9) and (10): how much of the incoming (outgoing) antidiffusive flux a
 * cell may take before it leaves its bounds. f1, f2: fluxes through the four faces.
 */
STRAKE_POINT_FUNCTION real limit_inflow(real bound, real x, real h, real f1_lo, real f1_hi,
                                        real f2_lo, real f2_hi)
{
    const real zero = STRAKE_ZERO;
    const real inflow = (STRAKE_MAX(f1_lo, zero) - STRAKE_MIN(f1_hi, zero)) +
                        (STRAKE_MAX(f2_lo, zero) - STRAKE_MIN(f2_hi, zero));
    return STRAKE_QUOTIENT((bound - x) * h, inflow + MPDATA_EPSILON);
}

STRAKE_POINT_FUNCTION real limit_outflow(real bound, real x, real h, real f1_lo, real f1_hi,
                                         real f2_lo, real f2_hi)
{
    const real zero = STRAKE_ZERO;
    const real outflow = (STRAKE_MAX(f1_hi, zero) - STRAKE_MIN(f1_lo, zero)) +
                         (STRAKE_MAX(f2_hi, zero) - STRAKE_MIN(f2_lo, zero));
    return STRAKE_QUOTIENT((x - bound) * h, outflow + MPDATA_EPSILON);
}

/*
 * Limited corrective velocity, eq. (8). amount: what the unlimited velocity transports (its flux; the
 * velocity itself where the field is >= 0). up_*, dn_*: limit_inflow and limit_outflow of the two
 * cells: a positive amount leaves the left cell and enters the right one, a negative one the reverse.
 */
STRAKE_POINT_FUNCTION real limit_velocity(real v, real amount, real up_left, real up_right,
                                          real dn_left, real dn_right)
{
    const real up = amount > REAL(0.0) ? up_right : up_left;
    const real dn = amount > REAL(0.0) ? dn_left : dn_right;
    const real both = STRAKE_MIN(up, dn);
    return v * STRAKE_MIN(both, REAL(1.0));
}
