/*
 * lava_point.h: the point functions of a lava flow on a grid: a Bingham fluid of thickness h [m] and
 * temperature t [K] on a ground that rises where it solidifies. Vicari et al. 2007, Del Negro et al. 2008,
 * with the step turned round: a sweep advances the state by tendencies of the sweep before and then finds the
 * fluxes, tendencies and the bound on the next time step. C11 and OpenCL C 1.2; see real.h for what may be
 * used here.
 *
 * Neighbours are n and s along rows (the index falls towards n), w and e along columns. A surface is ground
 * plus thickness. Ground at or above LAVA_WALL is a wall: it holds no lava and stands above all others, so
 * that nothing passes it. Ground at or below -LAVA_WALL is a sink: lava falls into it as over a cliff, of slope 1 as a
 * sine, and is gone; where a viscous flow drains over an edge its thickness goes to 0 there. In logical expressions both sides are evaluated: there is no branch.
 */
#define LAVA_WALL REAL(5e8) /* [m] */
#define LAVA_NEVER REAL(1e30)

/* The thickness after dt with the tendency of the sweep before and what a vent adds [m/s]; walls and sinks have none. */
STRAKE_POINT_FUNCTION real lava_erupt(real ground, real h, real net, real vent, real dt)
{
    const real share = STRAKE_ABS(ground) < LAVA_WALL
                           ? REAL(1.0)
                           : REAL(0.0); /* a product: compilers make branches of choices */
    return share * (h + dt * (net + vent));
}

/* The temperature of the mixture, of thickness h; a cell that is dry keeps its own. */
STRAKE_POINT_FUNCTION real lava_blend(STRAKE_DOUBT real h, real t, real mix, real vent, real dt,
                                      real source)
{
    const real blend = t + STRAKE_DIVIDE_WHERE(h > REAL(0.0), dt * (mix + vent * (source - t)), h);
    return h > REAL(0.0) ? blend : t;
}

/* Emissivity at a temperature: a ramp between two numbers, e = a + b t. */
STRAKE_POINT_FUNCTION real lava_emissivity(real t, real a, real b, real low, real high)
{
    const real e = a + b * t;
    return STRAKE_MIN(STRAKE_MAX(e, low), high);
}

/*
 * Radiation and convection over dt. With sigma = 3 sigma/(rho c), wind = 3 lambda/(rho c) the exact solution of
 * dt/dtime = -q/(rho c h), q = e sigma t^4; convection goes into q as if it were radiation. The factor
 * is exactly 1 at dt = 0.
 */
STRAKE_POINT_FUNCTION real lava_cool(STRAKE_DOUBT real h, real t, real e, real dt, real sigma,
                                     real wind, real air)
{
    const real square = t * t;
    const real loss = sigma * e * (square * square) + wind * (t - air);
    const real share = STRAKE_DIVIDE_WHERE(h > REAL(0.0), dt * loss, h * t);
    const real cool = t * strake_inverse_cube_root(REAL(1.0) + STRAKE_MIN(share, LAVA_NEVER));
    return h > REAL(0.0) ? cool : t;
}

/* The same by Euler's method; a cell that would lose everything stops at a thousandth. */
STRAKE_POINT_FUNCTION real lava_cool_euler(STRAKE_DOUBT real h, real t, real e, real dt, real sigma,
                                           real wind, real air)
{
    const real square = t * t;
    const real loss = sigma * e * (square * square) + wind * (t - air);
    const real cool = t - STRAKE_DIVIDE_WHERE(h > REAL(0.0), dt * loss, REAL(3.0) * h);
    return h > REAL(0.0) ? STRAKE_MAX(cool, REAL(0.001) * t) : t;
}

/*
 * A crust covers a part of the surface: most 2^(decay speed) of it, and the rest shows the lava's inside (Harris & Rowland
 * 2001, FLOWGO: f = f0 exp(b v)). What a square metre loses over dt by each way follows [J/m2], then what a cell has
 * lost so far.
 */
STRAKE_POINT_FUNCTION real lava_cover(real speed, real most, real decay)
{
    return most * strake_power_of_two(decay * speed);
}

/* FLOWGO's effective radiation temperature: the mean of the fourth powers by area. hot: the crust's fourth power times stefan. */
STRAKE_POINT_FUNCTION real lava_radiate(real t, real cover, real e, real dt, real stefan, real hot)
{
    const real square = t * t;
    return dt * (e * (cover * hot + (REAL(1.0) - cover) * (stefan * (square * square))));
}

/* Forced convection, Newton's law at both temperatures; transfer in W/(m2 K), Keszthelyi & Denlinger 1996. */
STRAKE_POINT_FUNCTION real lava_convect(real t, real cover, real dt, real transfer, real crust,
                                        real air)
{
    return dt * (transfer * ((cover * crust + (REAL(1.0) - cover) * t) - air));
}

/* [s^(1/2)] Beside the root of any time it is nothing. */
#define LAVA_INSTANT REAL(1e-30)

/*
 * Conduction into ground that has been covered for a time: two half-spaces of one material in contact (Carslaw & Jaeger
 * 1959, 2.15) lose conductivity (t - ground)/(2 sqrt(pi diffusivity time)), here integrated over dt; sorption is
 * conductivity/sqrt(pi diffusivity). The difference of two roots is dt over their sum, which is never 0.
 */
STRAKE_POINT_FUNCTION real lava_conduct(STRAKE_DOUBT real t, real contact, real dt, real sorption,
                                        real ground)
{
    const real roots = STRAKE_ROOT(contact + dt) + (STRAKE_ROOT(contact) + LAVA_INSTANT);
    return (sorption * (t - ground)) * STRAKE_DIVIDE(dt, roots);
}

/* How long there has been lava in a cell. */
STRAKE_POINT_FUNCTION real lava_touch(real contact, real h, real dt)
{
    return h > REAL(0.0) ? contact + dt : contact;
}

/* Rain that falls and evaporates, whatever the temperature (Harris & Rowland 2001). */
STRAKE_POINT_FUNCTION real lava_rain(real dt, real flux)
{
    return dt * flux;
}

/* All of it; lava that is colder than the air and the ground gains nothing. */
STRAKE_POINT_FUNCTION real lava_lose(real radiated, real convected, real conducted, real rained)
{
    const real all = (radiated + convected) + (conducted + rained);
    return STRAKE_POSITIVE(all);
}

/* The temperature without it, as lava_cool: as if all of it were radiation. third: 3/(rho c). */
STRAKE_POINT_FUNCTION real lava_shed(STRAKE_DOUBT real h, real t, real all, real third)
{
    const real share = STRAKE_DIVIDE_WHERE(h > REAL(0.0), third * all, h * t);
    const real cool = t * strake_inverse_cube_root(REAL(1.0) + STRAKE_MIN(share, LAVA_NEVER));
    return h > REAL(0.0) ? cool : t;
}

/* The heat that was lost, as a part of what all losses would take at the old temperature. heat: rho c. */
STRAKE_POINT_FUNCTION real lava_part(STRAKE_DOUBT real h, real t, real cool, real all, real heat)
{
    const real part = STRAKE_DIVIDE_WHERE(all > REAL(0.0), heat * (h * (t - cool)), all);
    return all > REAL(0.0) ? part : REAL(0.0);
}

/* Where nothing was lost, as in dry cells, some may be anything. */
STRAKE_POINT_FUNCTION real lava_count(real lost, real part, real some)
{
    return part == REAL(0.0) ? lost : lost + part * some;
}

/* The heat that lava has taken along into sinks, at the temperature before the step. */
STRAKE_POINT_FUNCTION real lava_carry(real lost, real drain, real t, real dt, real heat)
{
    return lost + (dt * drain) * (heat * t);
}

/* What stays fluid of a thickness that has cooled to t: the rest is solid at the solidus. */
STRAKE_POINT_FUNCTION real lava_fluid(real h, real t, real solidus, real per_solidus)
{
    return t < solidus ? h * (t * per_solidus) : h;
}

/* And the fluid's temperature then; a dry cell keeps its own. */
STRAKE_POINT_FUNCTION real lava_thaw(real h, real t, real solidus)
{
    return h > REAL(0.0) ? STRAKE_MAX(t, solidus) : t;
}

/* The solid, raised by what was fluid and is not any more. */
STRAKE_POINT_FUNCTION real lava_settle(real solid, real before, real fluid)
{
    return solid + (before - fluid);
}

STRAKE_POINT_FUNCTION real lava_add(real a, real b)
{
    return a + b;
}

STRAKE_POINT_FUNCTION real lava_keep(real a)
{
    return a;
}

STRAKE_POINT_FUNCTION real lava_most(real a, real b)
{
    return STRAKE_MAX(a, b);
}

/* The time at which a cell had lava first; below 0: it never had. */
STRAKE_POINT_FUNCTION real lava_arrive(real arrival, real h, real time)
{
    return ((arrival < REAL(0.0)) & (h > REAL(0.0))) ? time : arrival;
}

/* rho g/(3 eta) [1/(m s)]: 2^(a + b t + c/(t - d)) times its scale. */
STRAKE_POINT_FUNCTION real lava_mobility(STRAKE_DOUBT real t, real a, real b, real c, real d,
                                         real scale)
{
    return scale * strake_power_of_two(a + b * t + STRAKE_DIVIDE(c, t - d));
}

/* Yield strength over rho g [m]: p + q 2^(a + b t), not below 0. */
STRAKE_POINT_FUNCTION real lava_strength(real t, real a, real b, real p, real q)
{
    return STRAKE_MAX(p + q * strake_power_of_two(a + b * t), REAL(0.0));
}

/* Whether a surface may be compared with a neighbour's: no dry ground that stands above it, which walls do, too. */
#define LAVA_OPEN(surface, ground, own) (((surface) > (ground)) | ((surface) <= (own)))

/* The slope along an axis, from both sides or, where one is not open, from the other. */
STRAKE_POINT_FUNCTION real lava_slope(real before, real own, real after, int open_before,
                                      int open_after, real per_length)
{
    const real low = open_before ? own - before : REAL(0.0);
    const real high = open_after ? after - own : REAL(0.0);
    const real share = (open_before & open_after) ? REAL(0.5) * per_length : per_length;
    return (low + high) * share;
}

/* The magnitude of the gradient of the surface f, whose ground is g. */
STRAKE_POINT_FUNCTION real lava_gradient(STRAKE_DOUBT real f, real fn, real fs, real fw, real fe,
                                         real gn, real gs, real gw, real ge, real per_row,
                                         real per_col)
{
    const real rows = lava_slope(fn, f, fs, LAVA_OPEN(fn, gn, f), LAVA_OPEN(fs, gs, f), per_row);
    const real cols = lava_slope(fw, f, fe, LAVA_OPEN(fw, gw, f), LAVA_OPEN(fe, ge, f), per_col);
    return STRAKE_ROOT(rows * rows + cols * cols);
}

/* Strength times sqrt(1 + |grad g|^2), from the same neighbours. */
STRAKE_POINT_FUNCTION real lava_tilt(STRAKE_DOUBT real strength, real f, real fn, real fs, real fw,
                                     real fe, real g, real gn, real gs, real gw, real ge,
                                     real per_row, real per_col)
{
    const real rows = lava_slope(gn, g, gs, LAVA_OPEN(fn, gn, f), LAVA_OPEN(fs, gs, f), per_row);
    const real cols = lava_slope(gw, g, ge, LAVA_OPEN(fw, gw, f), LAVA_OPEN(fe, ge, f), per_col);
    return strength * STRAKE_ROOT_UP(REAL(1.0) + (rows * rows + cols * cols));
}

/*
 * The flux between two cells from the first to the second, over a cell's area [m/s]: w m s (h - h0)^2 (h + h0/2),
 * all of the donor, which is the higher one. Its critical thickness is h0 = strength/slope, the slope at
 * least the pair's own; s = drop/distance. One division serves both. square, per_length: of the distance
 * between the centres; width: of the interface over the cell's area. A dry donor gives nothing, nor does a wall: over
 * is 0 at most, or not a number; nor do level surfaces, whose drop is 0, whatever the share.
 */
STRAKE_POINT_FUNCTION real lava_flux(STRAKE_DOUBT real f0, real f1, real g0, real g1, real h0,
                                     real h1, real m0, real m1, real y0, real y1, real s0, real s1,
                                     real square, real per_length, real width)
{
    const real fall = f0 - f1;
    const int is_first = STRAKE_IS_UP(fall);
    const real drop = STRAKE_ABS(fall);
    const real rise = g0 - g1;
    const real h = is_first ? h0 : h1;
    const real m = is_first ? m0 : m1;
    const real y = is_first ? y0 : y1;
    const real s = is_first ? s0 : s1;
    const real steep = STRAKE_MAX(s, drop * per_length);
    const real distance = STRAKE_ROOT_UP(rise * rise + square);
    const real share = STRAKE_INVERT_UP(steep * distance);
    const real critical = y * (distance * share);
    const real slope = drop * (steep * share);
    const real over = h - critical;
    const real flux = (width * m) * (slope * (over * over * (h + REAL(0.5) * critical)));
    const real some = over > REAL(0.0) ? flux : REAL(0.0);
    return is_first ? some : -some;
}

/* The same with the criterion of the pair alone: h0 = strength sqrt(rise^2 + length^2)/drop. */
STRAKE_POINT_FUNCTION real lava_flux_pair(STRAKE_DOUBT real f0, real f1, real g0, real g1, real h0,
                                          real h1, real m0, real m1, real y0, real y1, real square,
                                          real width)
{
    const real fall = f0 - f1;
    const int is_first = STRAKE_IS_UP(fall);
    const real drop = STRAKE_ABS(fall);
    const real rise = g0 - g1;
    const real h = is_first ? h0 : h1;
    const real m = is_first ? m0 : m1;
    const real y = is_first ? y0 : y1;
    const real distance = STRAKE_ROOT_UP(rise * rise + square);
    const real share = STRAKE_INVERT_UP(drop * distance);
    const real critical = y * (distance * distance * share);
    const real slope = drop * (drop * share);
    const real over = h - critical;
    const real flux = (width * m) * (slope * (over * over * (h + REAL(0.5) * critical)));
    const real some = over > REAL(0.0) ? flux : REAL(0.0);
    return is_first ? some : -some;
}

/*
 * Of a cell's eight fluxes those to e, s, se, sw begin at it, those from w, n, nw, ne end at it. What comes in
 * less what goes out [m/s]: opposite ones side by side.
 */
STRAKE_POINT_FUNCTION real lava_net(real e, real w, real s, real n, real se, real nw, real sw,
                                    real ne)
{
    return ((w - e) + (n - s)) + ((nw - se) + (ne - sw));
}

#define LAVA_IN(x) STRAKE_POSITIVE(x)

/* What goes out [m/s]. */
STRAKE_POINT_FUNCTION real lava_loss(real e, real w, real s, real n, real se, real nw, real sw,
                                     real ne)
{
    return ((LAVA_IN(e) + LAVA_IN(-w)) + (LAVA_IN(s) + LAVA_IN(-n))) +
           ((LAVA_IN(se) + LAVA_IN(-nw)) + (LAVA_IN(sw) + LAVA_IN(-ne)));
}

#define LAVA_DOWN(ground, flux) ((ground) <= -LAVA_WALL ? LAVA_IN(flux) : REAL(0.0))

/* What goes out into sinks [m/s], as lava_loss; g is the ground of the neighbours. */
STRAKE_POINT_FUNCTION real lava_drain(real e, real w, real s, real n, real se, real nw, real sw,
                                      real ne, real ge, real gw, real gs, real gn, real gse,
                                      real gnw, real gsw, real gne)
{
    return ((LAVA_DOWN(ge, e) + LAVA_DOWN(gw, -w)) + (LAVA_DOWN(gs, s) + LAVA_DOWN(gn, -n))) +
           ((LAVA_DOWN(gse, se) + LAVA_DOWN(gnw, -nw)) +
            (LAVA_DOWN(gsw, sw) + LAVA_DOWN(gne, -ne)));
}

/* What a cell has lost to sinks so far, as thickness [m]. */
STRAKE_POINT_FUNCTION real lava_spill(real lost, real drain, real dt)
{
    return lost + dt * drain;
}

/* The sum over what comes in of flux times the difference of temperatures [K m/s]. */
STRAKE_POINT_FUNCTION real lava_mix(real e, real w, real s, real n, real se, real nw, real sw,
                                    real ne, real t, real te, real tw, real ts, real tn, real tse,
                                    real tnw, real tsw, real tne)
{
    return ((LAVA_IN(-e) * (te - t) + LAVA_IN(w) * (tw - t)) +
            (LAVA_IN(-s) * (ts - t) + LAVA_IN(n) * (tn - t))) +
           ((LAVA_IN(-se) * (tse - t) + LAVA_IN(nw) * (tnw - t)) +
            (LAVA_IN(-sw) * (tsw - t) + LAVA_IN(ne) * (tne - t)));
}

/* In thinner films [m] a speed says nothing: what flows through them in a step is more than they are. */
#define LAVA_FILM REAL(0.001)

/*
 * The speed of the lava in a cell, mean over its thickness [m/s]. A flux between two cells carries its volume from centre
 * to centre, half of the way in each of the two: the sum over the eight of flux times half the way is the volume that
 * passes a unit of width in a unit of time [m2/s], a vector. half_way: half the distance of cells along an axis [m].
 */
STRAKE_POINT_FUNCTION real lava_speed(STRAKE_DOUBT real e, real w, real s, real n, real se, real nw,
                                      real sw, real ne, real h, real half_way)
{
    const real fall = se + nw;
    const real rise = sw + ne;
    const real east = (e + w) + (fall - rise);
    const real south = (s + n) + (fall + rise);
    const real volume = half_way * STRAKE_ROOT(east * east + south * south);
    const real speed = STRAKE_DIVIDE_WHERE(h > LAVA_FILM, volume, h);
    return h > LAVA_FILM ? speed : REAL(0.0);
}

/* The longest step [s] after which a part of the thickness is still there. */
STRAKE_POINT_FUNCTION real lava_bound(STRAKE_DOUBT real h, real loss, real safety)
{
    const real bound = STRAKE_DIVIDE_WHERE(loss > REAL(0.0), safety * h, loss);
    return loss > REAL(0.0) ? bound : LAVA_NEVER;
}

/* The longest one for a diffusivity m h^3 on cells of an area, and after which half of it is still there. */
STRAKE_POINT_FUNCTION real lava_bound_diffusive(STRAKE_DOUBT real h, real loss, real m, real safety,
                                                real area)
{
    const real smooth =
        STRAKE_DIVIDE_WHERE(loss > REAL(0.0), safety * area, REAL(4.0) * (m * (h * h * h)));
    const real empty = STRAKE_DIVIDE_WHERE(loss > REAL(0.0), REAL(0.5) * h, loss);
    const real least = STRAKE_MIN(smooth, empty);
    return loss > REAL(0.0) ? least : LAVA_NEVER;
}
