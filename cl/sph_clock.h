/*
 * sph_clock.h: the clock of particles, C11 and OpenCL C; sph_double.h goes before it. The host and a device that keeps the
 * clock have the same formulas. The host keeps that of a device without doubles, whose kernels know the state alone and
 * say which particle is bad.
 */
#ifdef __OPENCL_C_VERSION__
#define SPH_CLOCK_ROOT(x) sqrt(x)
typedef long sph_count;
#else
#define SPH_CLOCK_ROOT(x) __builtin_sqrt(x)
typedef long long sph_count;
#endif

/* What the next step is to be. */
enum { SPH_RUNS, SPH_IS_DONE, SPH_NEEDS_ORDER, SPH_IS_TOO_FAST, SPH_IS_BAD, SPH_ASKS_HOST };

typedef struct sph_clock {
    sph_double time, until; /* of the state, and when the caller wants it [s] */
    sph_double pause;       /* the first step that ends then or later is the last one [s] */
    sph_double dt, last;    /* of the next step and of the last one [s] */
    sph_double bound;       /* on dt, that the last step found [s] */
    sph_double farthest,
        fastest; /* squares of the way since the last order [m2] and of the speed [m2/s2] */
    sph_double cfl, smoothing; /* of the case */
    sph_double viscous;        /* bound by laminar viscosity [s] */
    sph_double slack;          /* what each particle may move with one order [m] */
    sph_count steps, target;   /* done, and wanted */
    sph_count since, rebuild;  /* with one order, and the most of them; 0: no such bound */
    int is_ordered, ends;      /* the next step ends at the time that the caller wants */
    int state;                 /* see above */
    int bad;                   /* the first particle with NaN or Inf, or INT_MAX */
} sph_clock;

#if SPH_DOUBLES
/*
 * On a time step, by laminar viscosity: half of Morris et al.'s (1997), as viscosity along pairs takes compressions away three
 * times as fast as shear. With twice as much it is stable no longer.
 */
static inline double sph_viscous_bound(double smoothing, double nu)
{
    return 0.0625 * smoothing * smoothing / nu;
}

/* On a time step, by the greatest square of an acceleration and the greatest speed of sound, with that of walls. */
static inline double sph_bound(double square, double sound, double smoothing, double cfl,
                               double viscous)
{
    const double by_force = SPH_CLOCK_ROOT(smoothing / SPH_CLOCK_ROOT(square));
    const double by_sound = smoothing / sound;
    const double least = cfl * (by_force < by_sound ? by_force : by_sound);
    return viscous < least ? viscous : least;
}

/* Whether the next step may take anybody further than lists reach. */
static inline int sph_is_outworn(double farthest, double fastest, double bound, double slack)
{
    return SPH_CLOCK_ROOT(farthest) + SPH_CLOCK_ROOT(fastest) * bound * 0.5 > slack;
}

/* The middle of a step, and its end. */
static inline double sph_clock_middle(double time, double dt)
{
    return time + 0.5 * dt;
}

static inline double sph_clock_end(sph_clock c)
{
    return c.ends ? c.until : c.time + c.dt;
}

/* What comes next. */
static inline sph_clock sph_clock_plan(sph_clock c)
{
    const double left = c.until - c.time;
    c.dt = c.bound < left ? c.bound : left;
    c.ends = c.dt < c.bound;
    if (c.state == SPH_IS_BAD) {
        return c;
    }
    if ((c.time >= c.until) | (c.time >= c.pause) | (c.steps >= c.target)) {
        c.state = SPH_IS_DONE;
    } else if (!c.is_ordered || (c.rebuild > 0 && c.since >= c.rebuild)) {
        c.state = SPH_NEEDS_ORDER;
    } else if (sph_is_outworn(c.farthest, c.fastest, c.bound, c.slack)) {
        c.state = c.since > 0 ? SPH_NEEDS_ORDER : SPH_IS_TOO_FAST;
    } else {
        c.state = SPH_RUNS;
    }
    return c;
}

/* After a step whose two passes found these bounds. */
static inline sph_clock sph_clock_tick(sph_clock c, double first, double second)
{
    c.bound = first < second ? first : second;
    c.last = c.dt;
    c.time = sph_clock_end(c);
    c.steps++;
    c.since++;
    c.state = c.bad < 0x7fffffff ? SPH_IS_BAD : c.state;
    return sph_clock_plan(c);
}

/* After a new order. */
static inline sph_clock sph_clock_reorder(sph_clock c)
{
    c.since = 0;
    c.is_ordered = 1;
    return sph_clock_plan(c);
}
#endif
