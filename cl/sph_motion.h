/*
 * sph_motion.h: given motions of walls and of gravity at a time, C11 and OpenCL C; sph_double.h and sine.h go before it. A
 * body is where a formula of the time and of its places at the start has it, whatever steps led there.
 *
 * A motion is a sum of laws: some along directions, one about an axis through a point, which is carried along. Of a body
 * they are ways [m] and turns [1], of gravity what is added to it [m/s2] and turns of its direction.
 */
#ifndef STRAKE_CL_SPH_MOTION_H
#define STRAKE_CL_SPH_MOTION_H

#ifdef __OPENCL_C_VERSION__
#define SPH_GLOBAL __global
#define SPH_MOTION_ROOT(x) sqrt(x)
#else
#define SPH_GLOBAL
#define SPH_MOTION_ROOT(x) __builtin_sqrt(x)
#endif

#define SPH_TURN 6.283185307179586 /* 2 pi */

enum { SPH_LAW_RATE, SPH_LAW_SINE, SPH_LAW_SERIES };
enum { SPH_MOST_LAWS = 4, SPH_MOST_BODIES = 8 };

/* A number over time, and where it acts. */
typedef struct sph_law {
    int kind, turns;         /* turns: about the direction, else along it */
    int first, points;       /* of a series: pairs of a time and a value, linear in between */
    sph_double direction[3]; /* of length 1 */
    sph_double size, frequency, phase, ramp; /* rate; or of a sine [.., 1/s, turns, s] */
    sph_double start; /* what it is at time 0, from where a body's motion counts */
} sph_law;

typedef struct sph_motion {
    int laws, first, end,
        origin; /* numbers of a body's particles, and the first one's place among origins */
    sph_double point[3], radius; /* what is turned is this far from the axis [m] */
    sph_law law[SPH_MOST_LAWS];
} sph_motion;

typedef struct sph_motions {
    int bodies, points; /* of all series */
    sph_double side[3],
        length[3];      /* of cells; of the box along axes that are periodic, else 0 [m] */
    sph_double base[3]; /* gravity without its motion */
    sph_double density, stiffness; /* of the fluid at rest */
    sph_motion gravity;
    sph_motion body[SPH_MOST_BODIES];
} sph_motions;

typedef struct sph_given {
    sph_double value, rate;
} sph_given;

typedef struct sph_vector {
    sph_double at[3];
} sph_vector;

/* Where a body is: turned about the point, then shifted; and how it moves. */
typedef struct sph_frame {
    sph_double turned[3][3], point[3], shift[3], speed[3], spin[3];
} sph_frame;

/* Of a step: gravity and the greatest speed of a wall at its start and middle, bodies in its middle and at its end. */
typedef struct sph_frames {
    sph_double gravity[2][3], fastest[2];
    sph_frame middle[SPH_MOST_BODIES], end[SPH_MOST_BODIES];
} sph_frames;

/* One of three, which is no array with an address of its own. */
static inline sph_vector sph_cross(const sph_double *a, const sph_double *b)
{
    sph_vector out;
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        out.at[d] = SPH_LESS(SPH_TIMES(a[e], b[f]), SPH_TIMES(a[f], b[e]));
    }
    return out;
}

/* A direction or a way, turned. */
static inline sph_vector sph_turned(sph_frame frame, const sph_double *way)
{
    sph_vector out;
    for (int d = 0; d < 3; d++) {
        out.at[d] = SPH_PLUS(
            SPH_PLUS(SPH_TIMES(frame.turned[d][0], way[0]), SPH_TIMES(frame.turned[d][1], way[1])),
            SPH_TIMES(frame.turned[d][2], way[2]));
    }
    return out;
}

#if SPH_DOUBLES
/* The sine of so many turns, and how it changes with the angle [rad]. */
static inline sph_given sph_wave(double turns)
{
    const double part = turns - SPH_WHOLE(turns);
    const double quarters = SPH_WHOLE(4.0 * part);
    const double x = (part - 0.25 * quarters) * SPH_TURN;
    const int quarter = (int)quarters & 3;
    const double sine = strake_sine_of(x, 0.0), cosine = strake_cosine_of(x, 0.0);
    sph_given out;
    out.value = quarter % 2 == 0 ? sine : cosine;
    out.rate = quarter % 2 == 0 ? cosine : sine;
    out.value = quarter < 2 ? out.value : -out.value;
    out.rate = quarter == 1 || quarter == 2 ? -out.rate : out.rate;
    return out;
}

/* A series: before its first point and from its last one on it stays. */
static inline sph_given sph_series(SPH_GLOBAL const double *point, int points, double time)
{
    int low = -1, high = points;
    sph_given out;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        low = point[2 * middle] <= time ? middle : low;
        high = point[2 * middle] <= time ? high : middle;
    }
    out.value = point[2 * (low < 0 ? 0 : low) + 1];
    out.rate = 0.0;
    if (low >= 0 && high < points) {
        out.rate = (point[2 * high + 1] - out.value) / (point[2 * high] - point[2 * low]);
        out.value = out.value + out.rate * (time - point[2 * low]);
    }
    return out;
}

static inline sph_given sph_law_at(SPH_GLOBAL const sph_law *law, SPH_GLOBAL const double *series,
                                   double time)
{
    sph_given out;
    if (law->kind == SPH_LAW_SERIES) {
        out = sph_series(series + 2 * (long)law->first, law->points, time);
    } else if (law->kind == SPH_LAW_SINE) {
        /* Smoothly from nothing, where it has a ramp: 3 s^2 - 2 s^3. */
        const int grows = time < law->ramp;
        const double s = grows ? time / law->ramp : 1.0;
        const double share = s * s * (3.0 - 2.0 * s);
        const double growth = grows ? 6.0 * s * (1.0 - s) / law->ramp : 0.0;
        const sph_given wave = sph_wave(law->frequency * time + law->phase);
        out.value = law->size * (share * wave.value);
        out.rate =
            law->size * (growth * wave.value + share * (SPH_TURN * law->frequency * wave.rate));
    } else {
        out.value = law->size * time;
        out.rate = law->size;
    }
    out.value = out.value - law->start;
    return out;
}

static inline sph_frame sph_frame_at(SPH_GLOBAL const sph_motion *m,
                                     SPH_GLOBAL const double *series, double time)
{
    sph_frame out;
    double axis[3] = {0.0, 0.0, 0.0}, turns = 0.0;
    for (int d = 0; d < 3; d++) {
        out.point[d] = m->point[d];
        out.shift[d] = out.speed[d] = out.spin[d] = 0.0;
    }
    for (int k = 0; k < m->laws; k++) {
        const sph_given now = sph_law_at(&m->law[k], series, time);
        for (int d = 0; d < 3; d++) {
            const double direction = m->law[k].direction[d];
            if (m->law[k].turns) {
                axis[d] = direction;
                out.spin[d] = out.spin[d] + SPH_TURN * now.rate * direction;
            } else {
                out.shift[d] = out.shift[d] + now.value * direction;
                out.speed[d] = out.speed[d] + now.rate * direction;
            }
        }
        turns = m->law[k].turns ? now.value : turns;
    }
    const sph_given wave = sph_wave(turns);
    for (int d = 0; d < 3; d++) {
        for (int e = 0; e < 3; e++) {
            const int f = 3 - d - e;
            const double cross = d == e ? 0.0 : (e + 1) % 3 == d ? axis[f] : -axis[f];
            out.turned[d][e] = (d == e ? wave.rate : 0.0) +
                               (wave.value * cross + (1.0 - wave.rate) * axis[d] * axis[e]);
        }
    }
    return out;
}

/* How fast a body is where it is fastest, at most. */
static inline double sph_fastest(sph_frame frame, double radius)
{
    double speed = 0.0, spin = 0.0;
    for (int d = 0; d < 3; d++) {
        speed = speed + frame.speed[d] * frame.speed[d];
        spin = spin + frame.spin[d] * frame.spin[d];
    }
    return SPH_MOTION_ROOT(speed) + SPH_MOTION_ROOT(spin) * radius;
}

/* Fills the frames of a step from its times. */
static inline void sph_set_frames(SPH_GLOBAL const sph_motions *m, SPH_GLOBAL const double *series,
                                  double start, double middle, double end,
                                  SPH_GLOBAL sph_frames *out)
{
    for (int k = 0; k < 2; k++) {
        const double time = k == 0 ? start : middle;
        const double base[3] = {m->base[0], m->base[1], m->base[2]};
        const sph_frame turned = sph_frame_at(&m->gravity, series, time);
        const sph_vector gravity = sph_turned(turned, base);
        double most = 0.0;
        for (int d = 0; d < 3; d++) {
            out->gravity[k][d] = gravity.at[d] + turned.shift[d];
        }
        for (int b = 0; b < m->bodies; b++) {
            const sph_frame frame = sph_frame_at(&m->body[b], series, time);
            const double speed = sph_fastest(frame, m->body[b].radius);
            most = speed > most ? speed : most;
            out->middle[b] = frame;
        }
        out->fastest[k] = most;
    }
    for (int b = 0; b < m->bodies; b++) {
        out->end[b] = sph_frame_at(&m->body[b], series, end);
    }
}

/* What density diffusion leaves alone, along an axis: strake_sph_numbers has it as at_rest. */
static inline double sph_rest_slope(double density, double gravity, double stiffness)
{
    return density * gravity / stiffness;
}

#endif

/* Which body a particle belongs to by its number, or -1. */
static inline int sph_body_with(SPH_GLOBAL const sph_motions *m, long number)
{
    for (int b = 0; b < m->bodies; b++) {
        if (number >= m->body[b].first && number < m->body[b].end) {
            return b;
        }
    }
    return -1;
}

/* Of a particle of a body: from the corner of the cell that it is counted in, and its velocity. */
typedef struct sph_carried {
    sph_double x[3], v[3];
} sph_carried;

static inline sph_carried sph_carry(SPH_GLOBAL const sph_motions *m, sph_frame frame,
                                    SPH_GLOBAL const sph_double *origin, const int *cell)
{
    sph_double way[3];
    sph_carried out;
    for (int d = 0; d < 3; d++) {
        way[d] = SPH_LESS(origin[d], frame.point[d]);
    }
    const sph_vector arm = sph_turned(frame, way);
    const sph_vector swing = sph_cross(frame.spin, arm.at);
    for (int d = 0; d < 3; d++) {
        const sph_double there = SPH_PLUS(SPH_PLUS(frame.point[d], frame.shift[d]), arm.at[d]);
        const sph_double from = SPH_LESS(there, SPH_TIMES(SPH_OF_COUNT(cell[d]), m->side[d]));
        const sph_double length = m->length[d];
        out.x[d] = SPH_IS_UP(length)
                       ? SPH_LESS(from, SPH_TIMES(length, SPH_WHOLE(SPH_OVER(from, length))))
                       : from;
        out.v[d] = SPH_PLUS(frame.speed[d], swing.at[d]);
    }
    return out;
}

#endif
