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
STRAKE_RATIO_FUNCTION reciprocal(real h)
{
    return STRAKE_RATIO(REAL(1.0), h);
}

/* h at a face: arithmetic mean. */
STRAKE_POINT_FUNCTION real face_mean(real left, real right)
{
    return REAL(0.5) * (left + right);
}

/* What flows out of a cell: the differences of the fluxes through its pairs of faces. */
STRAKE_POINT_FUNCTION real divergence_1d(real f1_lo, real f1_hi)
{
    return f1_hi - f1_lo;
}

STRAKE_POINT_FUNCTION real divergence(real f1_lo, real f1_hi, real f2_lo, real f2_hi)
{
    return (f1_hi - f1_lo) + (f2_hi - f2_lo);
}

STRAKE_POINT_FUNCTION real divergence_3d(real f1_lo, real f1_hi, real f2_lo, real f2_hi, real f3_lo,
                                         real f3_hi)
{
    return divergence(f1_lo, f1_hi, f2_lo, f2_hi) + (f3_hi - f3_lo);
}

/* Update of a cell by the divergence of the fluxes through its faces, eq. (2). */
STRAKE_POINT_FUNCTION real flux_update_1d(real psi, real f1_lo, real f1_hi, real h_reciprocal)
{
    return psi - divergence_1d(f1_lo, f1_hi) * h_reciprocal;
}

STRAKE_POINT_FUNCTION real flux_update(real psi, real f1_lo, real f1_hi, real f2_lo, real f2_hi,
                                       real h_reciprocal)
{
    return psi - divergence(f1_lo, f1_hi, f2_lo, f2_hi) * h_reciprocal;
}

STRAKE_POINT_FUNCTION real flux_update_3d(real psi, real f1_lo, real f1_hi, real f2_lo, real f2_hi,
                                          real f3_lo, real f3_hi, real h_reciprocal)
{
    return psi - divergence_3d(f1_lo, f1_hi, f2_lo, f2_hi, f3_lo, f3_hi) * h_reciprocal;
}

/* The same where h changes: h_reciprocal is that of the new one. */
STRAKE_POINT_FUNCTION real content_update_1d(real psi, real h, real f1_lo, real f1_hi,
                                             real h_reciprocal)
{
    return (psi * h - divergence_1d(f1_lo, f1_hi)) * h_reciprocal;
}

STRAKE_POINT_FUNCTION real content_update(real psi, real h, real f1_lo, real f1_hi, real f2_lo,
                                          real f2_hi, real h_reciprocal)
{
    return (psi * h - divergence(f1_lo, f1_hi, f2_lo, f2_hi)) * h_reciprocal;
}

STRAKE_POINT_FUNCTION real content_update_3d(real psi, real h, real f1_lo, real f1_hi, real f2_lo,
                                             real f2_hi, real f3_lo, real f3_hi, real h_reciprocal)
{
    return (psi * h - divergence_3d(f1_lo, f1_hi, f2_lo, f2_hi, f3_lo, f3_hi)) * h_reciprocal;
}

/* psi with its ghosts beyond open edges, where inside is 0, that of what flows in there. */
STRAKE_POINT_FUNCTION real inflow(real psi, real inside, real value)
{
    return inside > REAL(0.0) ? psi : value;
}

/* Half a step of source and decay before and after the advection: keep 1 - decay dt/2, fade 1/(1 + decay dt/2). */
STRAKE_POINT_FUNCTION real source_before(real psi, real source, real half_step, real keep)
{
    return psi * keep + source * half_step;
}

STRAKE_POINT_FUNCTION real source_after(real psi, real source, real half_step, real fade)
{
    return (psi + source * half_step) * fade;
}

/* A step of diffusion: h at the faces, k the diffusivity times dt over the spacing squared. */
STRAKE_POINT_FUNCTION real diffuse_along(real c, real lo, real hi, real h_lo, real h_hi, real k)
{
    return ((hi - c) * h_hi - (c - lo) * h_lo) * k;
}

STRAKE_POINT_FUNCTION real diffuse_1d(real c, real w, real e, real h1_lo, real h1_hi,
                                      real h_reciprocal, real k1)
{
    return c + diffuse_along(c, w, e, h1_lo, h1_hi, k1) * h_reciprocal;
}

STRAKE_POINT_FUNCTION real diffuse(real c, real n, real s, real w, real e, real h1_lo, real h1_hi,
                                   real h2_lo, real h2_hi, real h_reciprocal, real k1, real k2)
{
    return c +
           (diffuse_along(c, n, s, h1_lo, h1_hi, k1) + diffuse_along(c, w, e, h2_lo, h2_hi, k2)) *
               h_reciprocal;
}

STRAKE_POINT_FUNCTION real diffuse_3d(real c, real d, real u, real n, real s, real w, real e,
                                      real h1_lo, real h1_hi, real h2_lo, real h2_hi, real h3_lo,
                                      real h3_hi, real h_reciprocal, real k1, real k2, real k3)
{
    return c +
           ((diffuse_along(c, d, u, h1_lo, h1_hi, k1) + diffuse_along(c, n, s, h2_lo, h2_hi, k2)) +
            diffuse_along(c, w, e, h3_lo, h3_hi, k3)) *
               h_reciprocal;
}

/* Largest and smallest value of a cell and its neighbours along the axes, eqs. (11) and (12). */
STRAKE_POINT_FUNCTION real cross_max_1d(real c, real w, real e)
{
    const real a = STRAKE_MAX(w, e);
    return STRAKE_MAX(a, c);
}

STRAKE_POINT_FUNCTION real cross_min_1d(real c, real w, real e)
{
    const real a = STRAKE_MIN(w, e);
    return STRAKE_MIN(a, c);
}

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

STRAKE_POINT_FUNCTION real cross_max_3d(real c, real d, real u, real n, real s, real w, real e)
{
    const real a = STRAKE_MAX(d, u);
    const real plane = cross_max(c, n, s, w, e);
    return STRAKE_MAX(plane, a);
}

STRAKE_POINT_FUNCTION real cross_min_3d(real c, real d, real u, real n, real s, real w, real e)
{
    const real a = STRAKE_MIN(d, u);
    const real plane = cross_min(c, n, s, w, e);
    return STRAKE_MIN(plane, a);
}

STRAKE_POINT_FUNCTION real widen_max_1d(real bound, real c, real w, real e)
{
    const real cross = cross_max_1d(c, w, e);
    return STRAKE_MAX(bound, cross);
}

STRAKE_POINT_FUNCTION real widen_min_1d(real bound, real c, real w, real e)
{
    const real cross = cross_min_1d(c, w, e);
    return STRAKE_MIN(bound, cross);
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

STRAKE_POINT_FUNCTION real widen_max_3d(real bound, real c, real d, real u, real n, real s, real w,
                                        real e)
{
    const real cross = cross_max_3d(c, d, u, n, s, w, e);
    return STRAKE_MAX(bound, cross);
}

STRAKE_POINT_FUNCTION real widen_min_3d(real bound, real c, real d, real u, real n, real s, real w,
                                        real e)
{
    const real cross = cross_min_3d(c, d, u, n, s, w, e);
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
STRAKE_RATIO_FUNCTION corrective(real u, real t0, real t1, real t2, real t3, real r, real left,
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
    return STRAKE_RATIO(numerator, a_denominator * b_denominator * r);
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

/* In one dimension there is nothing across, ... */
STRAKE_RATIO_FUNCTION corrective_1d(real u, real r, real left, real right)
{
    const real along = STRAKE_ABS(u) * r - u * u;
    return STRAKE_RATIO(along * (right - left), ((right + left) + MPDATA_EPSILON) * r);
}

STRAKE_POINT_FUNCTION real corrective_gauge_1d(real u, real r_reciprocal, real left, real right)
{
    const real along = STRAKE_ABS(u) - u * u * r_reciprocal;
    return REAL(0.5) * along * (right - left);
}

/*
 * ... in three two directions are: the sum of b B over both comes first (in infinite gauge 4 b B), so
 * that no more than two sums of the field are multiplied.
 */
STRAKE_POINT_FUNCTION real transverse(real t0, real t1, real t2, real t3)
{
    return (t0 + t1) + (t2 + t3);
}

STRAKE_RATIO_FUNCTION across_3d(real b1, real b2, real lo1_left, real lo1_right, real hi1_left,
                                real hi1_right, real lo2_left, real lo2_right, real hi2_left,
                                real hi2_right)
{
    const real lo1 = lo1_left + lo1_right;
    const real hi1 = hi1_left + hi1_right;
    const real lo2 = lo2_left + lo2_right;
    const real hi2 = hi2_left + hi2_right;
    const real denominator1 = (hi1 + lo1) + MPDATA_EPSILON;
    const real denominator2 = (hi2 + lo2) + MPDATA_EPSILON;
    return STRAKE_RATIO(b1 * ((hi1 - lo1) * denominator2) + b2 * ((hi2 - lo2) * denominator1),
                        denominator1 * denominator2);
}

STRAKE_POINT_FUNCTION real across_gauge_3d(real b1, real b2, real lo1_left, real lo1_right,
                                           real hi1_left, real hi1_right, real lo2_left,
                                           real lo2_right, real hi2_left, real hi2_right)
{
    return b1 * ((hi1_left + hi1_right) - (lo1_left + lo1_right)) +
           b2 * ((hi2_left + hi2_right) - (lo2_left + lo2_right));
}

STRAKE_RATIO_FUNCTION corrective_3d(real u, real sum_across, real r, real left, real right)
{
    const real denominator = (right + left) + MPDATA_EPSILON;
    const real along = STRAKE_ABS(u) * r - u * u;
    const real across = REAL(0.125) * u * sum_across;
    return STRAKE_RATIO(along * (right - left) - across * denominator, denominator * r);
}

STRAKE_POINT_FUNCTION real corrective_gauge_3d(real u, real sum_across, real r_reciprocal,
                                               real left, real right)
{
    const real along = STRAKE_ABS(u) - u * u * r_reciprocal;
    const real across = u * sum_across * r_reciprocal;
    return REAL(0.5) * along * (right - left) - REAL(0.03125) * across;
}

/*
 * Divergent flow, added to a corrective velocity: -u/(4 r) times what flows out of, and is added to h
 * in, the two cells of the face; in infinite gauge times the mean of the field.
 */
STRAKE_POINT_FUNCTION real with_change(real out, real h, real h_next)
{
    return out + (h_next - h);
}

STRAKE_POINT_FUNCTION real divergent(real v, real u, real r_reciprocal, real out_left,
                                     real out_right)
{
    return v - REAL(0.25) * u * r_reciprocal * (out_left + out_right);
}

STRAKE_POINT_FUNCTION real divergent_gauge(real v, real u, real r_reciprocal, real out_left,
                                           real out_right, real left, real right)
{
    return v - REAL(0.125) * u * r_reciprocal * (out_left + out_right) * (left + right);
}

/*
 * Third-order term added to a corrective velocity (libmpdata++ "tot"):
 *   -(u - 3 |u| u/r + 2 u^3/r^2)/3 R1 + b/(4 r) (|u| - 2 u^2/r) R2,
 *   R1 = (far_left + far_right - left - right)/sum, R2 = (hi_right + lo_left - lo_right - hi_left)/sum.
 * factor1 and factor2: the two factors in front, from the flow alone.
 */
STRAKE_RATIO_FUNCTION third_order_along(real u, real r_reciprocal)
{
    const real c = u * r_reciprocal;
    return STRAKE_RATIO(u * (REAL(3.0) * STRAKE_ABS(c) - REAL(1.0) - REAL(2.0) * c * c), REAL(3.0));
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
    return v + (factor1 * ((outer - inner) / (outer + inner + MPDATA_EPSILON)) +
                factor2 * ((same - cross) / (same + cross + MPDATA_EPSILON)));
}

STRAKE_POINT_FUNCTION real third_order_gauge(real v, real factor1, real factor2, real far_left,
                                             real left, real right, real far_right, real lo_left,
                                             real lo_right, real hi_left, real hi_right)
{
    return v + (factor1 * (REAL(0.25) * ((far_left + far_right) - (left + right))) +
                factor2 * (REAL(0.25) * ((hi_right + lo_left) - (lo_right + hi_left))));
}

/* One dimension has the first of the two terms, ... */
STRAKE_RATIO_FUNCTION third_order_1d(real v, real factor1, real far_left, real left, real right,
                                     real far_right)
{
    const real outer = far_left + far_right;
    const real inner = left + right;
    const real sum = (outer + inner) + MPDATA_EPSILON;
    return STRAKE_RATIO(v * sum + factor1 * (outer - inner), sum);
}

STRAKE_POINT_FUNCTION real third_order_gauge_1d(real v, real factor1, real far_left, real left,
                                                real right, real far_right)
{
    return v + factor1 * (REAL(0.25) * ((far_left + far_right) - (left + right)));
}

/* ... three have one more of the second, for the other direction across, ... */
STRAKE_RATIO_FUNCTION third_order_cross(real v, real factor2, real lo_left, real lo_right,
                                        real hi_left, real hi_right)
{
    const real same = hi_right + lo_left;
    const real cross = lo_right + hi_left;
    const real sum = (same + cross) + MPDATA_EPSILON;
    return STRAKE_RATIO(v * sum + factor2 * (same - cross), sum);
}

STRAKE_POINT_FUNCTION real third_order_cross_gauge(real v, real factor2, real lo_left,
                                                   real lo_right, real hi_left, real hi_right)
{
    return v + factor2 * (REAL(0.25) * ((hi_right + lo_left) - (lo_right + hi_left)));
}

/*
 * ... and a third: of the error of the second-order scheme, -1/3 (u . grad)^3 has 2 u1 u2 u3 of the
 * derivative along all three, a third of it for each direction: -u b1 b2/(24 r^2) R3, R3 the second
 * difference along the diagonals across the face over the sum of its eight cells.
 */
STRAKE_RATIO_FUNCTION third_order_corners(real u, real b1, real b2, real r_reciprocal)
{
    const real c = r_reciprocal * r_reciprocal;
    return STRAKE_RATIO(-(u * (b1 * b2) * c), REAL(24.0));
}

STRAKE_RATIO_FUNCTION third_order_corner(real v, real factor3, real lo_lo_left, real lo_lo_right,
                                         real lo_hi_left, real lo_hi_right, real hi_lo_left,
                                         real hi_lo_right, real hi_hi_left, real hi_hi_right)
{
    const real same = (lo_lo_left + lo_lo_right) + (hi_hi_left + hi_hi_right);
    const real cross = (lo_hi_left + lo_hi_right) + (hi_lo_left + hi_lo_right);
    const real sum = (same + cross) + MPDATA_EPSILON;
    return STRAKE_RATIO(v * sum + factor3 * (same - cross), sum);
}

STRAKE_POINT_FUNCTION real third_order_corner_gauge(real v, real factor3, real lo_lo_left,
                                                    real lo_lo_right, real lo_hi_left,
                                                    real lo_hi_right, real hi_lo_left,
                                                    real hi_lo_right, real hi_hi_left,
                                                    real hi_hi_right)
{
    return v +
           factor3 * (REAL(0.125) * (((lo_lo_left + lo_lo_right) + (hi_hi_left + hi_hi_right)) -
                                     ((lo_hi_left + lo_hi_right) + (hi_lo_left + hi_lo_right))));
}

/*
 * Limiting coefficients, eqs. (9) and (10): how much of the incoming (outgoing) antidiffusive flux a
 * cell may take before it leaves its bounds. f1, f2: fluxes through the four faces.
 */
STRAKE_POINT_FUNCTION real entering(real lo, real hi)
{
    return STRAKE_POSITIVE(lo) - STRAKE_NEGATIVE(hi);
}

STRAKE_RATIO_FUNCTION limit_inflow_1d(real bound, real x, real h, real f1_lo, real f1_hi)
{
    return STRAKE_RATIO((bound - x) * h, entering(f1_lo, f1_hi) + MPDATA_EPSILON);
}

STRAKE_RATIO_FUNCTION limit_outflow_1d(real bound, real x, real h, real f1_lo, real f1_hi)
{
    return STRAKE_RATIO((x - bound) * h, entering(f1_hi, f1_lo) + MPDATA_EPSILON);
}

STRAKE_RATIO_FUNCTION limit_inflow(real bound, real x, real h, real f1_lo, real f1_hi, real f2_lo,
                                   real f2_hi)
{
    const real inflow = entering(f1_lo, f1_hi) + entering(f2_lo, f2_hi);
    return STRAKE_RATIO((bound - x) * h, inflow + MPDATA_EPSILON);
}

STRAKE_RATIO_FUNCTION limit_outflow(real bound, real x, real h, real f1_lo, real f1_hi, real f2_lo,
                                    real f2_hi)
{
    const real outflow = entering(f1_hi, f1_lo) + entering(f2_hi, f2_lo);
    return STRAKE_RATIO((x - bound) * h, outflow + MPDATA_EPSILON);
}

STRAKE_RATIO_FUNCTION limit_inflow_3d(real bound, real x, real h, real f1_lo, real f1_hi,
                                      real f2_lo, real f2_hi, real f3_lo, real f3_hi)
{
    const real inflow = (entering(f1_lo, f1_hi) + entering(f2_lo, f2_hi)) + entering(f3_lo, f3_hi);
    return STRAKE_RATIO((bound - x) * h, inflow + MPDATA_EPSILON);
}

STRAKE_RATIO_FUNCTION limit_outflow_3d(real bound, real x, real h, real f1_lo, real f1_hi,
                                       real f2_lo, real f2_hi, real f3_lo, real f3_hi)
{
    const real outflow = (entering(f1_hi, f1_lo) + entering(f2_hi, f2_lo)) + entering(f3_hi, f3_lo);
    return STRAKE_RATIO((x - bound) * h, outflow + MPDATA_EPSILON);
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
    return v * STRAKE_MIN(REAL(1.0), both);
}
