/*
 * sph_pair.h: what pairs of particles do to each other and what becomes of their sums, C11 and OpenCL C 1.2; sph_point.h
 * goes before it. Everything is handed over by value: loops over lanes are vectorised where nothing in them has an address.
 */

/* What a pass reads of a particle of a pair. */
typedef struct sph_body {
    real x[3], v[3], rho, push, sound, volume;
} sph_body;

/* And what it adds up. */
typedef struct sph_sums {
    real a[3], change;
} sph_sums;

/* From a particle's cell to a neighbour's. */
typedef struct sph_step {
    real at[3];
} sph_step;

/* Numbers of the scheme. */
typedef struct sph_scheme {
    real per_diameter, slope, viscous, eta, mass, reach, repulsion, diffusion, density, stiffness,
        sound, at_rest[3], gravity[3];
} sph_scheme;

/* And what else a pass needs: the cells' sides, steps between cells by their number, planes as normal and offset. */
typedef struct sph_around {
    real side[3], step[3][32], plane[12][4];
} sph_around;

/* All of these, as a device is given them. */
typedef struct sph_constants {
    sph_scheme scheme;
    sph_around around;
} sph_constants;

/*
 * Adds what a fluid or dynamic neighbour does, without the factors that all have. Axis 1 is not there in 2D. Where walls let
 * the fluid slip, only fluid has a share in viscosity.
 */
STRAKE_POINT_FUNCTION sph_sums sph_add_pair(int dims, int is_cubic, int is_laminar, int slips,
                                            sph_scheme n, sph_body i, sph_body j, sph_step step,
                                            sph_sums sum)
{
    const int is_viscous = !slips || j.volume > REAL(0.0);
    const real d0 = i.x[0] - j.x[0] - step.at[0], w0 = i.v[0] - j.v[0];
    const real d1 = dims == 3 ? i.x[1] - j.x[1] - step.at[1] : REAL(0.0);
    const real w1 = dims == 3 ? i.v[1] - j.v[1] : REAL(0.0);
    const real d2 = i.x[2] - j.x[2] - step.at[2], w2 = i.v[2] - j.v[2];
    const real square = dims == 3 ? d0 * d0 + d1 * d1 + d2 * d2 : d0 * d0 + d2 * d2;
    const real approach = dims == 3 ? w0 * d0 + w1 * d1 + w2 * d2 : w0 * d0 + w2 * d2;
    const real u = sph_inside(square, n.per_diameter);
    const real slope = is_cubic ? sph_cubic_slope(u) : sph_wendland_slope(u);
    const real densities = i.rho + j.rho;
    const real push = i.push + j.push;
    const real drag = is_laminar ? sph_laminar(approach, square, densities, n.viscous, n.eta)
                                 : sph_artificial(approach, square, i.sound + j.sound, densities,
                                                  n.viscous, n.eta);
    const real all = push + (is_viscous ? drag : REAL(0.0));
    const real along = slope * all;
    sum.a[0] += along * d0;
    sum.a[1] += dims == 3 ? along * d1 : REAL(0.0);
    sum.a[2] += along * d2;
    sum.change += slope * approach;
    return sum;
}

/* And its share of density diffusion. */
STRAKE_POINT_FUNCTION real sph_diffuse(int is_cubic, int leaves_rest, sph_scheme n, sph_body i,
                                       sph_body j, sph_step step)
{
    const real d0 = i.x[0] - j.x[0] - step.at[0];
    const real d1 = i.x[1] - j.x[1] - step.at[1];
    const real d2 = i.x[2] - j.x[2] - step.at[2];
    const real square = d0 * d0 + d1 * d1 + d2 * d2;
    const real u = sph_inside(square, n.per_diameter);
    const real slope = is_cubic ? sph_cubic_slope(u) : sph_wendland_slope(u);
    const real y = n.at_rest[0] * d0 + n.at_rest[1] * d1 + n.at_rest[2] * d2;
    const real rest = leaves_rest ? sph_at_rest(y) : REAL(0.0);
    const real excess = (j.rho - i.rho) - n.density * rest;
    return j.volume * (sph_diffusion(excess, square, n.eta) * slope);
}

/* Sums of the filter of densities (Shepard): weights, and those times volumes, of fluid. */
typedef struct sph_means {
    real weight, share;
} sph_means;

/* What a particle itself brings into them. */
STRAKE_POINT_FUNCTION sph_means sph_begin_means(int is_cubic, sph_body i)
{
    const real weight = is_cubic ? sph_cubic(REAL(1.0)) : sph_wendland(REAL(1.0));
    sph_means out;
    out.weight = weight;
    out.share = weight * i.volume;
    return out;
}

/* And a neighbour. */
STRAKE_POINT_FUNCTION sph_means sph_add_mean(int is_cubic, sph_scheme n, sph_body i, sph_body j,
                                             sph_step step, sph_means sum)
{
    const real d0 = i.x[0] - j.x[0] - step.at[0];
    const real d1 = i.x[1] - j.x[1] - step.at[1];
    const real d2 = i.x[2] - j.x[2] - step.at[2];
    const real u = sph_inside(d0 * d0 + d1 * d1 + d2 * d2, n.per_diameter);
    const real weight = is_cubic ? sph_cubic(u) : sph_wendland(u);
    sum.weight += j.volume > REAL(0.0) ? weight : REAL(0.0);
    sum.share += weight * j.volume;
    return sum;
}

/* The density that they make. */
STRAKE_POINT_FUNCTION real sph_mean(sph_scheme n, sph_means sum)
{
    return n.mass * sum.weight / sum.share;
}

/* The repulsion of a wall's particle. */
STRAKE_POINT_FUNCTION sph_sums sph_add_wall(sph_scheme n, sph_body i, sph_body j, sph_step step,
                                            sph_sums sum)
{
    const real d0 = i.x[0] - j.x[0] - step.at[0];
    const real d1 = i.x[1] - j.x[1] - step.at[1];
    const real d2 = i.x[2] - j.x[2] - step.at[2];
    const real force = sph_repulsion(d0 * d0 + d1 * d1 + d2 * d2, n.reach, n.repulsion);
    sum.a[0] += force * d0;
    sum.a[1] += force * d1;
    sum.a[2] += force * d2;
    return sum;
}

/* The distance of a position from a plane. */
STRAKE_POINT_FUNCTION real sph_distance(real offset, real n0, real n1, real n2, real x0, real x1,
                                        real x2)
{
    return -offset + n0 * x0 + n1 * x1 + n2 * x2;
}

/* Adds the repulsion of a plane at a distance. */
STRAKE_POINT_FUNCTION sph_sums sph_add_plane(sph_scheme n, real distance, real n0, real n1, real n2,
                                             sph_sums force)
{
    const real strength = sph_repulsion(distance * distance, n.reach, n.repulsion) * distance;
    force.a[0] += strength * n0;
    force.a[1] += strength * n1;
    force.a[2] += strength * n2;
    return force;
}

/* The forces on a particle, still without planes, from its sums. */
STRAKE_POINT_FUNCTION sph_sums sph_forces(sph_scheme n, sph_sums pairs, sph_sums wall, real spread)
{
    const real slope = n.slope * n.mass;
    sph_sums out;
    out.a[0] = (wall.a[0] + n.gravity[0]) - slope * pairs.a[0];
    out.a[1] = (wall.a[1] + n.gravity[1]) - slope * pairs.a[1];
    out.a[2] = (wall.a[2] + n.gravity[2]) - slope * pairs.a[2];
    out.change = slope * pairs.change - n.diffusion * spread;
    return out;
}

STRAKE_POINT_FUNCTION real sph_square(real a, real b, real c)
{
    return a * a + b * b + c * c;
}
