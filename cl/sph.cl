/*
 * sph.cl: a step of particles, one particle for a work-item, which gathers from its neighbours in fixed order. real.h,
 * sph_double.h, sine.h, sph_motion.h, sph_point.h, sph_pair.h, sph_clock.h, reduce.cl, sph_most.cl and sph_carry.cl go before it. What
 * a case fixes is defined by the build:
 *
 *   SPH_DIMS 2 or 3, SPH_CUBIC, SPH_LAMINAR, SPH_DIFFUSION 0, 1 or 2 (without what water at rest has), SPH_WALLS (there are
 *   particles that repel), SPH_PLANES, SPH_ROUND (bit a: axis a is periodic), SPH_SLIPS (walls have no share in viscosity),
 *   SPH_FILTERS (densities are filtered), SPH_MOTIONS (walls or gravity move)
 *
 * and, which changes no bits, by the settings: SPH_GROUP (most work-items of a group, all have 32 or a multiple), SPH_EACH
 * (particles of a work-item in passes), SPH_WIDE (neighbours take 32 bits), SPH_AHEAD (what a pass sums next is on its
 * way meanwhile).
 *
 * A particle is two vectors: position in its cell and density, speed and p/rho^2. Its neighbours are words of 16 bits: the
 * number of the step to their cell, and which of that cell's they are. Two of them share 32 bits; those of 32 particles
 * lie side by side. An odd one is filled up with the particle itself, which adds nothing. With SPH_WIDE they are words of
 * 32 bits: the number of that step, and their place among all, for which no cell needs to be looked up.
 *
 * Kernels of a step look at the clock first, and do nothing where something else must come first. Without doubles
 * (SPH_DOUBLES is 0) there are none: the host keeps the clock, and steps are those of sph_parts.cl.
 */
#define SPH_OFFSET_BITS 11
#define SPH_OFFSET ((1u << SPH_OFFSET_BITS) - 1u)
#define SPH_CODES 27
#define SPH_SELF 13
#define SPH_SIDE_BY_SIDE 32
#define SPH_PLACE_BITS 27
#define SPH_PLACE ((1u << SPH_PLACE_BITS) - 1u)
#define SPH_AT_ONCE 2 /* neighbours between two looks at the list */
#define SPH_FLUID 0u
#define SPH_DYNAMIC 1u
#define SPH_WALL 2u
#define SPH_VOLUMES (SPH_DIFFUSION || SPH_SLIPS || SPH_FILTERS)

#ifdef STRAKE_REAL_SINGLE
#define SPH_OF_INT(x) as_float(x)
#define SPH_TO_INT(x) as_int(x)
#else
#define SPH_OF_INT(x) as_double((long)(x))
#define SPH_TO_INT(x) (int)as_long(x)
#endif

/* Where a cell lies. */
static inline int3 sph_at(int cell, int4 cells)
{
    return (int3)(cell / cells.z / cells.y, cell / cells.z % cells.y, cell % cells.z);
}

/* What is added to the number of a cell beyond an end of periodic axes: the way round. */
static inline int sph_wrap(int code, int3 at, int4 cells)
{
    int out = 0;
#if SPH_ROUND & 1
    const int a = at.x + code / 9 - 1;
    out += (a < 0 ? cells.x : a >= cells.x ? -cells.x : 0) * cells.y * cells.z;
#endif
#if SPH_ROUND & 2
    const int b = at.y + code / 3 % 3 - 1;
    out += (b < 0 ? cells.y : b >= cells.y ? -cells.y : 0) * cells.z;
#endif
#if SPH_ROUND & 4
    const int c = at.z + code % 3 - 1;
    out += c < 0 ? cells.z : c >= cells.z ? -cells.z : 0;
#endif
    return out;
}

/* Steps to the cells around, and in w how far they are in the order of cells. All items of the group call it. */
static inline void sph_fill_steps(__local real4 *steps, __constant sph_constants *n, int4 cells)
{
    for (int code = (int)get_local_id(0); code < SPH_CODES; code += (int)get_local_size(0)) {
        const int away =
            ((code / 9 - 1) * cells.y + code / 3 % 3 - 1) * cells.z + code % 3 - 1;
        steps[code] = (real4)(n->around.step[0][code], n->around.step[1][code],
                              n->around.step[2][code], SPH_OF_INT(away));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline sph_body sph_body_of(real4 x, real4 v, __constant sph_constants *n)
{
    const real per_density = REAL(1.0) / n->scheme.density;
    sph_body out;
    out.x[0] = x.x;
    out.x[1] = x.y;
    out.x[2] = x.z;
    out.rho = x.w;
    out.v[0] = v.x;
    out.v[1] = v.y;
    out.v[2] = v.z;
    out.push = v.w;
    out.sound = sph_sound(x.w * per_density, n->scheme.sound);
    out.volume = REAL(0.0);
    return out;
}

static inline sph_step sph_step_of(real4 step)
{
    sph_step out;
    out.at[0] = step.x;
    out.at[1] = step.y;
    out.at[2] = step.z;
    return out;
}

/* Lists, and what they refer to. */
typedef struct sph_lists {
    __global const uint *start;    /* of cells */
    __global const uint *first;    /* rows of 32 words: 2 for each 32 particles, near ones and those that repel */
    __global const ushort2 *count; /* of both for each particle */
    __global const uint *words;
} sph_lists;

typedef struct sph_source {
    __global const real4 *x, *v;
    __global const real *volume; /* of fluid; else 0; where SPH_VOLUMES */
} sph_source;

typedef struct sph_total {
    sph_sums pairs, wall;
    real spread;
} sph_total;

/* A neighbour, as it is loaded. */
typedef struct sph_other {
    real4 x, v, step;
    real volume;
} sph_other;

/* Whose neighbours they are. */
typedef struct sph_center {
    int p, cell;
    int3 at;
    int4 cells;
} sph_center;

static inline sph_other sph_load(uint entry, int is_far, sph_center c, sph_lists lists,
                                 sph_source from, __local const real4 *steps)
{
    sph_other out;
#if SPH_WIDE
    const int q = (int)(entry & SPH_PLACE);
    out.step = steps[entry >> SPH_PLACE_BITS];
#else
    out.step = steps[entry >> SPH_OFFSET_BITS];
    const int other = c.cell + SPH_TO_INT(out.step.w) +
                      sph_wrap((int)(entry >> SPH_OFFSET_BITS), c.at, c.cells);
    const int q = (int)(lists.start[other] + (entry & SPH_OFFSET));
#endif
    out.x = from.x[q];
    out.v = is_far ? (real4)REAL(0.0) : from.v[q];
    out.volume = REAL(0.0);
#if SPH_VOLUMES
    out.volume = is_far ? REAL(0.0) : from.volume[q];
#endif
    return out;
}

static inline sph_total sph_add(sph_other other, int is_far, sph_body i,
                                __constant sph_constants *n, sph_total sum)
{
    const sph_step step = sph_step_of(other.step);
    sph_body j = sph_body_of(other.x, other.v, n);
    if (is_far) {
        sum.wall = sph_add_wall(n->scheme, i, j, step, sum.wall);
        return sum;
    }
    j.volume = other.volume;
    sum.pairs = sph_add_pair(SPH_DIMS, SPH_CUBIC, SPH_LAMINAR, SPH_SLIPS, n->scheme, i, j, step,
                             sum.pairs);
#if SPH_DIFFUSION
    sum.spread += sph_diffuse(SPH_CUBIC, SPH_DIFFUSION == 2, n->scheme, i, j, step);
#endif
    return sum;
}

/* Two entries of a list. */
typedef struct sph_two {
    uint a, b;
} sph_two;

static inline sph_two sph_read_two(__global const uint *word)
{
    sph_two out;
#if SPH_WIDE
    out.a = word[0];
    out.b = word[SPH_SIDE_BY_SIDE];
#else
    out.a = *word & 0xffffu;
    out.b = *word >> 16;
#endif
    return out;
}

/* Rows of words that so many neighbours take, and two of them. */
#if SPH_WIDE
#define SPH_ROWS_OF_TWO 2
#else
#define SPH_ROWS_OF_TWO 1
#endif
#define SPH_ROWS(count) (((count) + 1) / 2 * SPH_ROWS_OF_TWO)

/* All neighbours of a list, in their order. */
static inline sph_total sph_add_all(__global const uint *word, int count, int is_far, sph_body i,
                                    sph_center c, sph_lists lists, sph_source from,
                                    __local const real4 *steps, __constant sph_constants *n,
                                    sph_total sum)
{
    sph_two next = sph_read_two(word);
#if SPH_AHEAD
    if (count == 0) {
        return sum;
    }
    sph_other a = sph_load(next.a, is_far, c, lists, from, steps);
    sph_other b = sph_load(next.b, is_far, c, lists, from, steps);
    for (int k = 0; k < count; k += SPH_AT_ONCE) {
        const sph_other now_a = a, now_b = b;
        if (k + SPH_AT_ONCE < count) {
            word += SPH_ROWS_OF_TWO * SPH_SIDE_BY_SIDE;
            next = sph_read_two(word);
            a = sph_load(next.a, is_far, c, lists, from, steps);
            b = sph_load(next.b, is_far, c, lists, from, steps);
        }
        sum = sph_add(now_a, is_far, i, n, sum);
        sum = sph_add(now_b, is_far, i, n, sum);
    }
#else
    for (int k = 0; k < count; k += SPH_AT_ONCE) {
        const sph_two now = next;
        word += SPH_ROWS_OF_TWO * SPH_SIDE_BY_SIDE;
        next = sph_read_two(word); /* of what follows: there always is something */
        sum = sph_add(sph_load(now.a, is_far, c, lists, from, steps), is_far, i, n, sum);
        sum = sph_add(sph_load(now.b, is_far, c, lists, from, steps), is_far, i, n, sum);
    }
#endif
    return sum;
}

/* The forces on a particle; none on one that repels. */
static inline sph_sums sph_force(int p, uint kind, sph_body i, int cell, int4 cells, sph_lists lists,
                                 sph_source from, __local const real4 *steps,
                                 __constant sph_constants *n)
{
    const sph_center c = {p, cell, sph_at(cell, cells), cells};
    const int lane = p % SPH_SIDE_BY_SIDE, group = p / SPH_SIDE_BY_SIDE;
    const ushort2 count = lists.count[p];
    sph_total sum = {{{REAL(0.0), REAL(0.0), REAL(0.0)}, REAL(0.0)},
                     {{REAL(0.0), REAL(0.0), REAL(0.0)}, REAL(0.0)},
                     REAL(0.0)};
    sum = sph_add_all(lists.words + (ulong)lists.first[2 * group] * SPH_SIDE_BY_SIDE + lane,
                      (int)count.x, 0, i, c, lists, from, steps, n, sum);
#if SPH_WALLS
    sum = sph_add_all(lists.words + (ulong)lists.first[2 * group + 1] * SPH_SIDE_BY_SIDE + lane,
                      (int)count.y, 1, i, c, lists, from, steps, n, sum);
#endif
    sph_sums force = sph_forces(n->scheme, sum.pairs, sum.wall, kind == SPH_FLUID ? sum.spread : REAL(0.0));
#if SPH_PLANES
    const real x0 = i.x[0] + (real)c.at.x * n->around.side[0];
    const real x1 = i.x[1] + (real)c.at.y * n->around.side[1];
    const real x2 = i.x[2] + (real)c.at.z * n->around.side[2];
    for (int k = 0; k < SPH_PLANES; k++) {
        __constant const real *plane = n->around.plane[k];
        const real distance = sph_distance(plane[3], plane[0], plane[1], plane[2], x0, x1, x2);
        force = sph_add_plane(n->scheme, distance, plane[0], plane[1], plane[2], force);
    }
#endif
    for (int d = 0; d < 3; d++) {
        force.a[d] = kind == SPH_FLUID ? force.a[d] : REAL(0.0);
    }
    force.change = kind == SPH_WALL ? REAL(0.0) : force.change;
    return force;
}

/* The k-th particle of this work-item in a pass over all. */
static inline int sph_own(int k)
{
    const int item = (int)get_global_id(0);
    return (item / SPH_SIDE_BY_SIDE * SPH_EACH + k) * SPH_SIDE_BY_SIDE + item % SPH_SIDE_BY_SIDE;
}

/* A new state's density and what follows from it. */
static inline void sph_store(__global real4 *x, __global real4 *v, __global real *volume, int p,
                             uint kind, real4 to, real4 speed, __constant sph_constants *n)
{
    const real per_density = REAL(1.0) / n->scheme.density;
    speed.w = sph_push(to.w, per_density, n->scheme.stiffness);
    x[p] = to;
    v[p] = speed;
#if SPH_VOLUMES
    volume[p] = kind == SPH_FLUID ? n->scheme.mass / to.w : REAL(0.0);
#endif
}

/* A state of a particle. */
typedef struct sph_place_of {
    real4 x, v;
} sph_place_of;

/* Half a step from a state with the forces there. */
static inline sph_place_of sph_step_half(uint kind, real4 at, real4 speed, sph_sums f, real half_dt,
                                         __constant sph_constants *n)
{
    sph_place_of to;
    to.x = (real4)(sph_after(at.x, speed.x, half_dt), sph_after(at.y, speed.y, half_dt),
                   sph_after(at.z, speed.z, half_dt),
                   sph_density(at.w, f.change, half_dt, kind == SPH_DYNAMIC, n->scheme.density));
    to.v = (real4)(sph_after(speed.x, f.a[0], half_dt), sph_after(speed.y, f.a[1], half_dt),
                   sph_after(speed.z, f.a[2], half_dt), REAL(0.0));
    return to;
}

/* A whole one, with the forces half a step later. */
static inline sph_place_of sph_step_whole(uint kind, real4 at, real4 speed, sph_sums f, real whole,
                                          __constant sph_constants *n)
{
    const real half_dt = whole * REAL(0.5);
    sph_place_of to;
    to.x = (real4)(sph_moved(at.x, speed.x, f.a[0], half_dt, whole),
                   sph_moved(at.y, speed.y, f.a[1], half_dt, whole),
                   sph_moved(at.z, speed.z, f.a[2], half_dt, whole),
                   sph_density(at.w, f.change, whole, kind == SPH_DYNAMIC, n->scheme.density));
    to.v = (real4)(sph_after(speed.x, f.a[0], whole), sph_after(speed.y, f.a[1], whole),
                   sph_after(speed.z, f.a[2], whole), REAL(0.0));
    return to;
}

/* The square of the way of a particle since the order was made. */
static inline real sph_way(real4 x, __global const real *rest, int p)
{
    __global const real *then = rest + 3 * (ulong)p;
    return sph_square(x.x - then[0], x.y - then[1], x.z - then[2]);
}

/* The first of those that have NaN or Inf is named. @return whether this one does: who has it is infinitely far */
static inline bool sph_note_bad(__global sph_clock *clock, int p, sph_place_of at)
{
    const bool is_bad =
        !(sph_not_finite(at.x.x, at.x.y, at.x.z, at.v.x, at.v.y, at.v.z, at.x.w) == REAL(0.0));
    if (is_bad) {
        (void)atomic_min(&clock->bad, p);
    }
    return is_bad;
}

/* What a pass finds, with one more particle. */
static inline sph_extremes sph_extend_pass(sph_extremes out, sph_sums f, sph_body i)
{
    out.square = STRAKE_MAX(sph_square(f.a[0], f.a[1], f.a[2]), out.square);
    out.sound = STRAKE_MAX(i.sound, out.sound);
    return out;
}

/* What a second pass and the whole step find, likewise. */
static inline sph_extremes sph_extend(sph_extremes out, sph_sums f, sph_body i, sph_place_of to,
                                      __global const real *rest, int p)
{
    out = sph_extend_pass(out, f, i);
    out.far = STRAKE_MAX(sph_way(to.x, rest, p), out.far);
    out.fast = STRAKE_MAX(sph_square(to.v.x, to.v.y, to.v.z), out.fast);
    return out;
}

/*
 * Every pass over particles is made of the macros below. A kernel has the arguments SPH_PASS_ARGUMENTS, of which OVER says
 * over which particles it goes, begins with SPH_PASS_LOCALS, and has what follows the forces on a particle between
 * SPH_PASS and SPH_PASS_END: p is the number of the particle, kind its kind, at and speed its vectors, i its state and f the
 * forces.
 */
#define SPH_PASS_ARGUMENTS(OVER)                                                                   \
    __constant sph_constants *n, const int4 cells, OVER, const int room,                           \
        __global const uint *start, __global const uint *first, __global const ushort2 *counts,    \
        __global const uint *words, __global const int *cell, __global const uint *key,            \
        __global real *most

#define SPH_PASS_LOCALS                                                                            \
    __local real4 steps[SPH_CODES];                                                                \
    __local real found[SPH_GROUP];                                                                 \
    sph_extremes most_of = {REAL(0.0), REAL(0.0), REAL(0.0), REAL(0.0)}

/*
 * OWN: the k-th particle of this work-item. NONE: what tells that there is none, and THEN what follows; break is 2 % faster than
 * continue on an H200. X, V, VOLUME: the state whose forces they are
 */
#define SPH_PASS(OWN, NONE, THEN, X, V, VOLUME)                                                    \
    sph_fill_steps(steps, n, cells);                                                               \
    for (int k = 0; k < SPH_EACH; k++) {                                                           \
        const int p = (OWN);                                                                       \
        if (NONE) {                                                                                \
            THEN;                                                                                  \
        }                                                                                          \
        const sph_lists lists = {start, first, counts, words};                                     \
        const sph_source from = {X, V, VOLUME};                                                    \
        const uint kind = key[p] >> SPH_KIND_BITS;                                                 \
        const real4 at = (X)[p], speed = (V)[p];                                                   \
        const sph_body i = sph_body_of(at, speed, n);                                              \
        const sph_sums f = sph_force(p, kind, i, cell[p], cells, lists, from, steps, n);
#define SPH_PASS_END }

/* Half a step of particle p from AT and SPEED with the forces F there; the new state is called `to`. */
#define SPH_HALF_STEP(AT, SPEED, F, HALF_DT)                                                       \
    sph_place_of to = sph_step_half(kind, AT, SPEED, F, HALF_DT, n);                               \
    SPH_CARRY(frames->middle, 0, to);                                                              \
    sph_store(half_x, half_v, half_volume, p, kind, to.x, to.v, n)

/* The whole step with the forces F half a step later. */
#define SPH_WHOLE_STEP(F, DT)                                                                      \
    sph_place_of to = sph_step_whole(kind, x[p], v[p], F, DT, n);                                  \
    SPH_CARRY(frames->end, 1, to);                                                                 \
    sph_store(x, v, volume, p, kind, to.x, to.v, n)

#if SPH_DOUBLES
/* First pass: forces of the present state, and half a step with them. */
__kernel void sph_predict(__global sph_clock *clock, SPH_PASS_ARGUMENTS(const int count),
                          __global const real4 *x, __global const real4 *v,
                          __global const real *volume, __global real4 *half_x,
                          __global real4 *half_v, __global real *half_volume SPH_BODY_ARGUMENTS)
{
    SPH_PASS_LOCALS;
    if (clock->state != SPH_RUNS) {
        return;
    }
    SPH_PASS(sph_own(k), p >= count, break, x, v, volume)
        SPH_HALF_STEP(at, speed, f, (real)clock->dt * REAL(0.5));
        most_of = sph_extend_pass(most_of, f, i);
    SPH_PASS_END
    sph_leave_first(most_of, found, most, room, 0);
}

/* Second pass: forces half a step later, and the whole step with them; how far and how fast all are then. */
__kernel void sph_correct(__global sph_clock *clock, SPH_PASS_ARGUMENTS(const int count),
                          __global real4 *x, __global real4 *v, __global real *volume,
                          __global const real4 *half_x, __global const real4 *half_v,
                          __global const real *half_volume,
                          __global const real *rest SPH_BODY_ARGUMENTS)
{
    SPH_PASS_LOCALS;
    if (clock->state != SPH_RUNS) {
        return;
    }
    SPH_PASS(sph_own(k), p >= count, break, half_x, half_v, half_volume)
        SPH_WHOLE_STEP(f, (real)clock->dt);
        most_of = sph_extend(most_of, f, i, to, rest, p);
        (void)sph_note_bad(clock, p, to);
    SPH_PASS_END
    sph_leave_extremes(most_of, found, most, room, 0);
}
#endif

/*
 * How far and how fast all are, without a step; of those in a range the first that has NaN or Inf. @p most_first: where
 * rows of the step begin
 */
__kernel void sph_look(__global sph_clock *clock, const int2 range, const int count, const int room, const int most_first,
                       const int raises, __global const real4 *x, __global const real4 *v,
                       __global const real *rest, __global real *most)
{
    __local real found[SPH_GROUP];
    const int p = (int)get_global_id(0);
    real far = REAL(0.0), fast = REAL(0.0);
    if (p < count) {
        sph_place_of at;
        at.x = x[p];
        at.v = v[p];
        far = sph_way(at.x, rest, p);
        fast = sph_square(at.v.x, at.v.y, at.v.z);
        if (p >= range.x && p < range.y) {
            far = sph_note_bad(clock, p, at) ? (real)INFINITY : far;
        }
    }
    sph_most(far, found, most + most_first + 4 * room, raises);
    sph_most(fast, found, most + most_first + 5 * room, raises);
}
