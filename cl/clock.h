/*
 * clock.h: the clock of a problem whose time steps follow from its states, C11 and OpenCL C with doubles: the host and
 * a device that keeps one have the same struct and the same formula. src/engine/clock.h says what it means.
 */
#ifndef STRAKE_CLOCK_OF_ALL_H
#define STRAKE_CLOCK_OF_ALL_H

#ifdef __OPENCL_C_VERSION__
typedef long strake_count;
#else
typedef long long strake_count;
#endif

typedef struct strake_clock {
    double time;   /* of the state [s] */
    double dt;     /* of the sweep that is to come, or runs [s]; 0: it only finds the tendencies */
    double dt_max; /* [s] */
    double stop;   /* the end, or the next change of what goes in [s] */
    double
        until; /* whoever waits for the first step at or after this time gets the state then [s] */
    strake_count sweeps; /* on a device, since it was given the clock */
    int is_single;       /* the working precision */
    int is_known;        /* the tendencies and the bound are those of the state */
    int is_at_stop;      /* dt leads to the stop */
    int is_over;         /* on a device: no sweep follows */
} strake_clock;

/* Whether steps end here: the state has reached the stop, or the time that somebody waits for. */
static inline int strake_clock_has_ended(strake_clock clock)
{
    return (clock.time >= clock.stop) | (clock.time >= clock.until);
}

/* The time after the sweep that is to come. */
static inline double strake_clock_reaches(strake_clock clock)
{
    return clock.is_at_stop ? clock.stop : clock.time + clock.dt;
}

/*
 * A step of at most dt that leads from a time to another one without rounding: all steps together are then what the
 * clock shows, and what flowed in is what a rate gives in that time. Rounded alike in step after step, a clock would
 * be off by as many times the bits of a step that it cannot show.
 */
static inline double strake_clock_shown(double time, double dt)
{
    const double next = time + dt;
    const double over = next - time > dt ? next * 0x1p-52 : 0.0; /* of one or two last bits */
    const double shown = (next - over) - time;
    return shown > 0.0 ? shown : dt;
}

/* After a sweep: its dt is over, and it found this bound [s]. */
static inline strake_clock strake_clock_tick(strake_clock clock, double bound)
{
    clock.time = strake_clock_reaches(clock);
    const double left = clock.stop - clock.time;
    const double most = bound < clock.dt_max ? bound : clock.dt_max;
    clock.is_at_stop = left <= most;
    clock.dt = clock.is_at_stop ? left : strake_clock_shown(clock.time, most);
    if (clock.is_single) {
        clock.dt = (double)(float)clock.dt;
    }
    clock.is_known = 1;
    return clock;
}

#endif
