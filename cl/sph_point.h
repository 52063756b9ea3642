/*
 * sph_point.h: the point functions of weakly compressible particles (smoothed particle hydrodynamics), for one
 * particle or for a pair of them. C11 and OpenCL C 1.2; see real.h for what may be used here.
 *
 * u = 1 - r/(2h) is 1 at a particle and 0 at the end of its influence, r = 2h. A kernel's slope is
 * F = (1/r) dW/dr <= 0, so that the gradient of W at particle i is F (x_i - x_j). Both come without their constant
 * factors (src/particles/sph.h has them). Monaghan 1992, 1994, 2005; Wendland 1995; the cases of Herault et al. 2010.
 *
 * Of pairs a device may divide and take roots as fast as it can, and contract (scheme.exact: false): SPH_FAST says so.
 */
#ifdef SPH_FAST
#pragma OPENCL FP_CONTRACT ON
#define SPH_RATIO(n, d) native_divide(n, d)
#define SPH_ROOT(x) native_sqrt(x)
#else
#define SPH_RATIO(n, d) ((n) / (d))
#define SPH_ROOT(x) STRAKE_SQRT(x)
#endif

/* What is left of the way to the end of influence; 0 beyond it. */
STRAKE_POINT_FUNCTION real sph_inside(real square, real per_diameter)
{
    return STRAKE_POSITIVE(REAL(1.0) - SPH_ROOT(square) * per_diameter);
}

/* Wendland's C2 kernel (1 - q/2)^4 (1 + 2q) with q = r/h, and its slope over -5/h^2. */
STRAKE_POINT_FUNCTION real sph_wendland(real u)
{
    const real square = u * u;
    return square * square * (REAL(5.0) - REAL(4.0) * u);
}

STRAKE_POINT_FUNCTION real sph_wendland_slope(real u)
{
    return u * u * u;
}

/* The cubic spline, and its slope over -1/h^2. */
STRAKE_POINT_FUNCTION real sph_cubic(real u)
{
    const real q = REAL(2.0) - REAL(2.0) * u;
    const real near = REAL(1.0) - q * q * (REAL(1.5) - REAL(0.75) * q);
    const real far = REAL(2.0) * u * u * u;
    return u > REAL(0.5) ? near : far;
}

STRAKE_POINT_FUNCTION real sph_cubic_slope(real u)
{
    const real q = REAL(2.0) - REAL(2.0) * u;
    const real near = REAL(3.0) - REAL(2.25) * q;
    const real far = SPH_RATIO(REAL(3.0) * u * u, STRAKE_MAX(q, REAL(1.0)));
    return u > REAL(0.5) ? near : far;
}

/* Tait's law: the pressure at a density over that at rest, x, with stiffness = rho0 c0^2/7. */
STRAKE_POINT_FUNCTION real sph_pressure(real x, real stiffness)
{
    const real square = x * x;
    return stiffness * (square * square * square * x - REAL(1.0));
}

/* And the speed of sound. */
STRAKE_POINT_FUNCTION real sph_sound(real x, real c0)
{
    return c0 * (x * x * x);
}

/*
 * Artificial viscosity of a pair that approaches (approach = v_ij . r_ij < 0): -alpha c h approach/((r^2 + eta^2) rho)
 * with means of c and rho, from sums of both.
 */
STRAKE_POINT_FUNCTION real sph_artificial(real approach, real square, real sounds, real densities,
                                          real factor, real eta)
{
    return SPH_RATIO(-factor * sounds * STRAKE_NEGATIVE(approach), (square + eta) * densities);
}

/*
 * Laminar viscosity of a pair (Monaghan and Gingold 1983, Monaghan 2005): -factor approach/((r^2 + eta^2) (rho_i + rho_j)),
 * factor = 4 (dims + 2) nu. It acts along r_ij, so that angular momentum stays and a free surface bears no shear: a wave
 * fades at the rate of theory, where F v_ij (Morris et al. 1997) takes half of it (Colagrossi et al. 2011).
 */
STRAKE_POINT_FUNCTION real sph_laminar(real approach, real square, real densities, real factor,
                                       real eta)
{
    return SPH_RATIO(-factor * approach, (square + eta) * densities);
}

/*
 * Repulsion of a particle of a wall at a distance (Lennard-Jones): over (x_i - x_j), within the reach r0 of the wall.
 * D ((r0/r)^12 - (r0/r)^6)/r^2
 */
STRAKE_POINT_FUNCTION real sph_repulsion(real square, real reach, real strength)
{
    const real share = SPH_RATIO(reach * reach, STRAKE_MAX(square, REAL(1e-12) * reach * reach));
    const real sixth = share * share * share;
    const real force = SPH_RATIO(strength * (sixth * sixth - sixth) * share, reach * reach);
    return ((square > REAL(0.0)) & (share > REAL(1.0))) ? force : REAL(0.0);
}

/* Density diffusion of Molteni and Colagrossi 2009: (rho_j - rho_i) r^2/(r^2 + eta^2). */
STRAKE_POINT_FUNCTION real sph_diffusion(real excess, real square, real eta)
{
    return SPH_RATIO(excess * square, square + eta);
}

/*
 * What of a difference in density is that of water at rest (Fourtakas et al. 2019), over rho0: (1 - y)^(1/7) - 1, y = rho0 g
 * height/stiffness, small; its series.
 */
STRAKE_POINT_FUNCTION real sph_at_rest(real y)
{
    const real seventh = REAL(1.0) / REAL(7.0);
    return -y * seventh *
           (REAL(1.0) + y * (REAL(3.0) * seventh) *
                            (REAL(1.0) + y * (REAL(13.0) * seventh / REAL(3.0)) *
                                             (REAL(1.0) + y * (REAL(5.0) * seventh))));
}

/* Cells between the one that a position is relative to and the one that it lies in; and the position from there. */
STRAKE_POINT_FUNCTION int sph_cells_away(real x, real side)
{
    const real cells = STRAKE_MAX(STRAKE_MIN(x / side, REAL(1e9)), REAL(-1e9));
    const int towards = (int)cells;
    return (real)towards > cells ? towards - 1 : towards;
}

STRAKE_POINT_FUNCTION real sph_from_cell(real x, int cells, real side)
{
    return x - (real)cells * side;
}

/* What a particle's pressure adds to a pair: p/rho^2. */
STRAKE_POINT_FUNCTION real sph_push(real rho, real per_density, real stiffness)
{
    return sph_pressure(rho * per_density, stiffness) / (rho * rho);
}

/* A value that changes at a rate for a time, and a position whose speed changes, too. */
STRAKE_POINT_FUNCTION real sph_after(real value, real rate, real dt)
{
    return value + rate * dt;
}

STRAKE_POINT_FUNCTION real sph_moved(real x, real v, real a, real half_dt, real whole_dt)
{
    return x + (v + a * half_dt) * whole_dt;
}

/* A density likewise: that of a wall's dynamic particle is never below the one at rest, or walls would suck. */
STRAKE_POINT_FUNCTION real sph_density(real rho, real change, real dt, int is_dynamic, real least)
{
    const real then = rho + change * dt;
    return is_dynamic ? STRAKE_MAX(then, least) : then;
}

/* Zero unless one of a particle's numbers is NaN or Inf. */
STRAKE_POINT_FUNCTION real sph_not_finite(real x0, real x1, real x2, real v0, real v1, real v2,
                                          real rho)
{
    return (x0 + x1 + x2 + v0 + v1 + v2 + rho) * REAL(0.0);
}
