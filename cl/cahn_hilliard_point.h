/*
 * cahn_hilliard_point.h: the point functions of the Cahn-Hilliard equation
 *   du/dt = M lap(mu),   mu = f'(u) - K lap(u),
 * with the second-order Laplacian of 5 points in 2D and 7 in 3D. C11 and OpenCL C 1.2; see real.h for
 * what may be used here.
 *
 * Neighbours come in pairs along each direction: d and u along planes, n and s along rows, w and e along
 * columns; c is the cell itself. Each difference is (before + after) - 2 c, so that it is exactly zero
 * in a uniform field. The factors of the directions (K or dt M over the square of the spacing) are
 * operands.
 */

/* f'(u) of the double well f = -B u^2/2 + U u^4/4. */
STRAKE_POINT_FUNCTION real well_slope(real u, real b, real quartic)
{
    return u * (quartic * (u * u) - b);
}

/* f'(u) of a polynomial f of degree 4 or less, 6 or less: a0 + a1 u + a2 u^2 + ... */
STRAKE_POINT_FUNCTION real cubic_slope(real u, real a0, real a1, real a2, real a3)
{
    return a0 + u * (a1 + u * (a2 + u * a3));
}

STRAKE_POINT_FUNCTION real quintic_slope(real u, real a0, real a1, real a2, real a3, real a4,
                                         real a5)
{
    return a0 + u * (a1 + u * (a2 + u * (a3 + u * (a4 + u * a5))));
}

/* mu = slope - K lap(u); the factors are K over the squares of the spacings. */
STRAKE_POINT_FUNCTION real potential_2d(real slope, real c, real n, real s, real w, real e,
                                        real rows, real cols)
{
    const real twice = c + c;
    return slope - (rows * ((n + s) - twice) + cols * ((w + e) - twice));
}

STRAKE_POINT_FUNCTION real potential_3d(real slope, real c, real d, real u, real n, real s, real w,
                                        real e, real planes, real rows, real cols)
{
    const real twice = c + c;
    return slope -
           (planes * ((d + u) - twice) + (rows * ((n + s) - twice) + cols * ((w + e) - twice)));
}

/* base + dt M lap(mu): an Euler step, or a stage of a Runge-Kutta step, from the potential. */
STRAKE_POINT_FUNCTION real advance_2d(real base, real c, real n, real s, real w, real e, real rows,
                                      real cols)
{
    const real twice = c + c;
    return base + (rows * ((n + s) - twice) + cols * ((w + e) - twice));
}

STRAKE_POINT_FUNCTION real advance_3d(real base, real c, real d, real u, real n, real s, real w,
                                      real e, real planes, real rows, real cols)
{
    const real twice = c + c;
    return base +
           (planes * ((d + u) - twice) + (rows * ((n + s) - twice) + cols * ((w + e) - twice)));
}

/*
 * The same where the mobility depends on u, base + dt div(M grad mu): mu and M of the cell and its neighbours; the
 * mobility of a face is the mean of its cells', and its half is in the factors.
 */
STRAKE_POINT_FUNCTION real mobile_2d(real base, real c, real n, real s, real w, real e, real mc,
                                     real mn, real ms, real mw, real me, real rows, real cols)
{
    const real along_rows = (mc + ms) * (s - c) - (mn + mc) * (c - n);
    const real along_cols = (mc + me) * (e - c) - (mw + mc) * (c - w);
    return base + (rows * along_rows + cols * along_cols);
}

STRAKE_POINT_FUNCTION real mobile_3d(real base, real c, real d, real u, real n, real s, real w,
                                     real e, real mc, real md, real mu, real mn, real ms, real mw,
                                     real me, real planes, real rows, real cols)
{
    const real along_planes = (mc + mu) * (u - c) - (md + mc) * (c - d);
    const real along_rows = (mc + ms) * (s - c) - (mn + mc) * (c - n);
    const real along_cols = (mc + me) * (e - c) - (mw + mc) * (c - w);
    return base + (planes * along_planes + (rows * along_rows + cols * along_cols));
}

/* (old + predicted)/2: what the last stage of Heun's method starts from. */
STRAKE_POINT_FUNCTION real halfway(real old, real predicted)
{
    return REAL(0.5) * (old + predicted);
}

/* A value that all stages of a time step share: @p now where this stage is the first one of a step, else what it was. */
STRAKE_POINT_FUNCTION real begun(real begins, real now, real then)
{
    return begins > REAL(0.0) ? now : then;
}

/* A stage of a Runge-Kutta-Chebyshev step: each value times its coefficient (src/engine/rkc.h). */
STRAKE_POINT_FUNCTION real chebyshev(real of_start, real start, real of_last, real last,
                                     real of_before, real before, real of_rate, real rate,
                                     real of_first, real first)
{
    return ((of_start * start + of_last * last) + of_before * before) +
           (of_rate * rate + of_first * first);
}

/* Minus the estimated error of a step from @p start, where the rate of change was @p first, to @p u, where it is @p rate. */
STRAKE_POINT_FUNCTION real step_error(real of_change, real start, real u, real of_rates, real first,
                                      real rate)
{
    const real error = of_change * (start - u) + of_rates * (first + rate);
    return error > REAL(0.0) ? -error : error;
}
