/* The shapes that a case can fill a field with. All arithmetic is double, line by line; a
 * number that the points of a column share is computed once for all lines.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/elementary.h"
#include "case/source.h"

/* Slots of the parameters. */
enum {
    CENTER = 0, /* three slots, by axis */
    RADIUS = 3,
    HEIGHT = 4,
    BASE = 5,
    SLOT_WIDTH = 6,
    SLOT_LENGTH = 7,
    SIGMA = RADIUS,
    FROM = 0,
    TO = 6,
    WAVES = 0,
    AMPLITUDE = 3,
    PHASE = 4,
    MINIMUM = 0,
    MAXIMUM = 1,
    OMEGA = 3,
    SPIN = 4,
    TILT = 4,
    RATE = 3,
    ALONG = 4,
    VELOCITY = 0
};

static const double two_pi = 6.283185307179586476925;

static double square(double x)
{
    return x * x;
}

/* Square of the distance from the centre, in cells. */
static inline double distance2(const strake_source *s, const strake_sample *p)
{
    double sum = 0.0;
    for (int a = 0; a < STRAKE_AXES; ++a) {
        sum += square(p->x[a] - s->v[CENTER + a]);
    }
    return sum;
}

/* NAME_line() from NAME_at(): what does not change along the line is computed once. */
#define LINE_OF(name_)                                                                             \
    static void name_##_line(const strake_source *s, const strake_sample *first,                   \
                             const double *column, int64_t n, double *restrict line)               \
    {                                                                                              \
        strake_sample p = *first;                                                                  \
        (void)column;                                                                              \
        for (int64_t j = 0; j < n; ++j) {                                                          \
            p.x[2] = first->x[2] + (double)j;                                                      \
            p.index = first->index + (uint64_t)j;                                                  \
            line[j] = name_##_at(s, &p);                                                           \
        }                                                                                          \
    }

/* As in Jaruga et al. 2015: height - sqrt(d2 / (radius / height)^2) above the base. */
static inline double cone_at(const strake_source *s, const strake_sample *p)
{
    const double height = s->v[HEIGHT];
    const double d2 = distance2(s, p);
    if (d2 > square(s->v[RADIUS])) {
        return s->v[BASE];
    }
    const double slope = sqrt(d2 / square(s->v[RADIUS] / height));
    return s->v[BASE] + (height < 0.0 ? height + slope : height - slope);
}
LINE_OF(cone)

/* One factor of a Gaussian, which is a product over the directions. */
static double bell(const strake_source *s, const strake_sample *p, int axis)
{
    const double distance = p->x[axis] - s->v[CENTER + axis];
    return strake_exp(-square(distance) / (2.0 * square(s->v[SIGMA])));
}

static double gaussian_column(const strake_source *s, const strake_sample *p)
{
    return bell(s, p, 2);
}

static void gaussian_line(const strake_source *s, const strake_sample *p, const double *column,
                          int64_t n, double *restrict line)
{
    const double height = s->v[HEIGHT] * bell(s, p, 0) * bell(s, p, 1);
    for (int64_t j = 0; j < n; ++j) {
        line[j] = s->v[BASE] + height * column[j];
    }
}

static inline double cylinder_at(const strake_source *s, const strake_sample *p)
{
    const bool inside = distance2(s, p) <= square(s->v[RADIUS]);
    const bool slot = s->v[SLOT_WIDTH] > 0.0 &&
                      fabs(p->x[p->cols] - s->v[CENTER + p->cols]) <= 0.5 * s->v[SLOT_WIDTH] &&
                      p->x[p->rows] <= s->v[CENTER + p->rows] - s->v[RADIUS] + s->v[SLOT_LENGTH];
    return inside && !slot ? s->v[BASE] + s->v[HEIGHT] : s->v[BASE];
}
LINE_OF(cylinder)

static const char *cylinder_check(const strake_source *s, int dims)
{
    return dims == 1 && s->v[SLOT_WIDTH] > 0.0 ? "a slot needs at least two dimensions" : NULL;
}

static inline double box_at(const strake_source *s, const strake_sample *p)
{
    for (int a = 0; a < STRAKE_AXES; ++a) {
        if (p->x[a] < s->v[FROM + a] || p->x[a] > s->v[TO + a]) {
            return s->v[BASE];
        }
    }
    return s->v[BASE] + s->v[HEIGHT];
}
LINE_OF(box)

static const char *box_check(const strake_source *s, int dims)
{
    (void)dims;
    for (int a = 0; a < STRAKE_AXES; ++a) {
        if (s->v[TO + a] < s->v[FROM + a]) {
            return "'to' lies before 'from'; expected from <= to in every direction";
        }
    }
    return NULL;
}

static inline double plane_at(const strake_source *s, const strake_sample *p)
{
    return s->v[BASE] +
           ((s->v[WAVES] * p->x[0] + s->v[WAVES + 1] * p->x[1]) + s->v[WAVES + 2] * p->x[2]);
}
LINE_OF(plane)

/* sin(2 pi k x / n + phase), or 1 for k = 0; exactly periodic in x for integer k and x. */
static double wave(double k, double x, int64_t cells, double phase)
{
    const double n = (double)cells;
    return k > 0.0 || k < 0.0 ? strake_sin(two_pi * (fmod(k * x, n) / n) + phase) : 1.0;
}

static double sine_wave(const strake_source *s, const strake_sample *p, int axis)
{
    return wave(s->v[WAVES + axis], p->x[axis], p->which->n[axis], s->v[PHASE]);
}

static double sine_column(const strake_source *s, const strake_sample *p)
{
    return sine_wave(s, p, 2);
}

static void sine_line(const strake_source *s, const strake_sample *p, const double *column,
                      int64_t n, double *restrict line)
{
    const double amplitude = s->v[AMPLITUDE] * sine_wave(s, p, 0) * sine_wave(s, p, 1);
    for (int64_t j = 0; j < n; ++j) {
        line[j] = s->v[BASE] + amplitude * column[j];
    }
}

static inline double random_at(const strake_source *s, const strake_sample *p)
{
    const uint64_t stream = strake_random_mix((uint64_t)s->seed + STRAKE_RANDOM_STEP);
    const uint64_t bits = strake_random_mix(stream + (p->index + 1) * STRAKE_RANDOM_STEP);
    const double unit = (double)(int64_t)(bits >> 11) * 0x1p-53;
    const double value = s->v[MINIMUM] + unit * (s->v[MAXIMUM] - s->v[MINIMUM]);
    return value < s->v[MAXIMUM] ? value : nextafter(s->v[MAXIMUM], s->v[MINIMUM]);
}
LINE_OF(random)

static const char *random_check(const strake_source *s, int dims)
{
    (void)dims;
    return s->v[MINIMUM] < s->v[MAXIMUM] ? NULL : "expected minimum < maximum";
}

/* u_rows = omega (j - jc) dy, u_cols = -omega (i - ic) dx; the same in every plane. */
static inline double rotation_at(const strake_source *s, const strake_sample *p)
{
    const double *const d = p->which->spacing;
    const double rows = p->x[p->rows] - s->v[CENTER + p->rows];
    const double cols = p->x[p->cols] - s->v[CENTER + p->cols];
    if (p->component == p->rows) {
        return s->v[OMEGA] * cols * d[p->cols];
    }
    return p->component == p->cols ? -s->v[OMEGA] * rows * d[p->rows] : 0.0;
}
LINE_OF(rotation)

/* The rotation above about an arbitrary axis, of which [1, 0, 0] gives the one above. */
static inline double spin_at(const strake_source *s, const strake_sample *p)
{
    const double *const axis = s->v + SPIN;
    const double length = sqrt(square(axis[0]) + square(axis[1]) + square(axis[2]));
    double x[STRAKE_AXES];
    for (int a = 0; a < STRAKE_AXES; ++a) {
        x[a] = (p->x[a] - s->v[CENTER + a]) * p->which->spacing[a];
    }
    const int b = (p->component + 1) % STRAKE_AXES;
    const int c = (p->component + 2) % STRAKE_AXES;
    return s->v[OMEGA] * (axis[c] / length * x[b] - axis[b] / length * x[c]);
}
LINE_OF(spin)

static const char *spin_check(const strake_source *s, int dims)
{
    (void)dims;
    const double *const spin = s->v + SPIN;
    const double length2 = square(spin[0]) + square(spin[1]) + square(spin[2]);
    return length2 > 0.0 && isfinite(length2) ? NULL : "its axis has no direction";
}

static inline double shear_at(const strake_source *s, const strake_sample *p)
{
    const int along = s->v[ALONG] > 0.0 ? p->cols : p->rows;
    const int across = s->v[ALONG] > 0.0 ? p->rows : p->cols;
    const double distance = (p->x[across] - s->v[CENTER + across]) * p->which->spacing[across];
    return p->component == along ? s->v[RATE] * distance : 0.0;
}
LINE_OF(shear)

static inline double uniform_at(const strake_source *s, const strake_sample *p)
{
    (void)p;
    return s->v[VELOCITY + p->component];
}
LINE_OF(uniform)

/*
 * The stream function at the corners of cells is a product: of one number for a line of corners, r rows
 * down, ...
 */
static double stream_row(const strake_source *s, const strake_sample *p, double r)
{
    const int64_t *const n = p->which->n;
    const double plane = p->rows == 1 ? wave(s->v[WAVES], p->x[0], n[0], 0.0) : 1.0;
    return s->v[AMPLITUDE] * plane * wave(s->v[WAVES + p->rows], r, n[p->rows], 0.0);
}

/* ... and one for a column of them: the corners below index coordinates (r + 1/2, c + 1/2). */
static double deformation_column(const strake_source *s, const strake_sample *p)
{
    const double c = p->component == p->cols ? p->x[p->cols] + 0.5 : p->x[p->cols];
    return wave(s->v[WAVES + p->cols], c, p->which->n[p->cols], 0.0);
}

/* Differences of one function over the corners of each face: every cell's divergence cancels. */
static void deformation_line(const strake_source *s, const strake_sample *p, const double *column,
                             int64_t n, double *restrict line)
{
    const double *const d = p->which->spacing;
    const double r = p->x[p->rows];
    if (p->component == p->rows) {
        const double row = stream_row(s, p, r + 0.5);
        for (int64_t j = 0; j < n; ++j) {
            line[j] = (row * column[j + 1] - row * column[j]) / d[p->cols];
        }
    } else if (p->component == p->cols) {
        const double above = stream_row(s, p, r);
        const double below = stream_row(s, p, r + 1.0);
        for (int64_t j = 0; j < n; ++j) {
            line[j] = -(below * column[j] - above * column[j]) / d[p->rows];
        }
    } else {
        memset(line, 0, (size_t)n * sizeof *line);
    }
}

/*
 * Solid-body rotation of a sphere whose rows are latitudes, from -pi/2 to pi/2, and whose columns are longitudes:
 * differences of the stream function omega (sin(tilt) cos(lat) cos(lon) - cos(tilt) sin(lat)) over the corners of
 * each face, for h = cos(lat), with which velocities are weighted: every cell's divergence cancels.
 */
static double globe_column(const strake_source *s, const strake_sample *p)
{
    const double longitude = two_pi * ((p->x[2] + 0.5) / (double)p->which->n[2]);
    (void)s;
    return p->component == p->rows ? strake_sin(longitude) : strake_cos(longitude);
}

static void globe_line(const strake_source *s, const strake_sample *p, const double *column,
                       int64_t n, double *restrict line)
{
    const double half[2] = {0.25 * two_pi / (double)p->which->n[p->rows],
                            0.5 * two_pi / (double)p->which->n[p->cols]}; /* of a cell, angles */
    const double latitude = half[0] * (2.0 * p->x[p->rows] + 1.0) - 0.25 * two_pi;
    const double *const d = p->which->spacing;
    const double across = strake_sin(s->v[TILT]);
    double steady = 0.0, slope = 0.0;
    if (p->component == p->rows) {
        slope = -s->v[OMEGA] * across * (strake_sin(half[1]) / half[1]) / strake_cos(half[0]) *
                (d[p->rows] / (2.0 * half[0]));
    } else if (p->component == p->cols) {
        const double scale =
            s->v[OMEGA] * (strake_sin(half[0]) / half[0]) * (d[p->cols] / (2.0 * half[1]));
        steady = scale * strake_cos(s->v[TILT]);
        slope = scale * across * (strake_sin(latitude) / strake_cos(latitude));
    }
    for (int64_t j = 0; j < n; ++j) {
        line[j] = steady + slope * column[j];
    }
}

#define ANY(unit_)                                                                                 \
    {                                                                                              \
        -INFINITY, INFINITY, false, unit_                                                          \
    }
#define POSITIVE(unit_)                                                                            \
    {                                                                                              \
        0.0, INFINITY, true, unit_                                                                 \
    }
#define REAL_PARAM(name_, slot_, required_, fallback_, range_, text_)                              \
    {                                                                                              \
        name_, STRAKE_PARAM_REAL, slot_, required_, fallback_, range_, NULL, text_                 \
    }
#define CENTER_PARAM                                                                               \
    {                                                                                              \
        "center", STRAKE_PARAM_VECTOR, CENTER, true, 0.0, ANY("[index]"), NULL, "centre"           \
    }
#define HEIGHT_PARAM REAL_PARAM("height", HEIGHT, false, 1.0, ANY("[field]"), "added to base")
#define BASE_PARAM REAL_PARAM("base", BASE, false, 0.0, ANY("[field]"), "value elsewhere")

static const strake_param cone_params[] = {
    CENTER_PARAM,
    REAL_PARAM("radius", RADIUS, true, 0.0, POSITIVE("[cells]"), "radius of the foot"),
    HEIGHT_PARAM,
    BASE_PARAM,
};
static const strake_param gaussian_params[] = {
    CENTER_PARAM,
    REAL_PARAM("sigma", SIGMA, true, 0.0, POSITIVE("[cells]"), "standard deviation"),
    HEIGHT_PARAM,
    BASE_PARAM,
};
static const strake_param cylinder_params[] = {
    CENTER_PARAM,
    REAL_PARAM("radius", RADIUS, true, 0.0, POSITIVE("[cells]"), "radius"),
    HEIGHT_PARAM,
    BASE_PARAM,
    REAL_PARAM("slot.width", SLOT_WIDTH, false, 0.0, POSITIVE("[cells]"),
               "columns of an optional slot through the centre"),
    REAL_PARAM("slot.length", SLOT_LENGTH, false, 0.0, POSITIVE("[cells]"),
               "rows of the slot, from the edge of lowest row inwards"),
};
static const strake_param box_params[] = {
    {"from", STRAKE_PARAM_VECTOR, FROM, true, 0.0, ANY("[index]"), NULL, "first cell inside"},
    {"to", STRAKE_PARAM_VECTOR, TO, true, 0.0, ANY("[index]"), NULL, "last cell inside"},
    HEIGHT_PARAM,
    BASE_PARAM,
};
static const strake_param sine_params[] = {
    {"waves", STRAKE_PARAM_VECTOR, WAVES, true, 0.0, ANY("[-]"), NULL,
     "wave numbers k, periods per domain; 0: constant in that direction"},
    REAL_PARAM("amplitude", AMPLITUDE, false, 1.0, ANY("[field]"), "amplitude"),
    REAL_PARAM("phase", PHASE, false, 0.0, ANY("[rad]"), "phase in every direction"),
    BASE_PARAM,
};
static const strake_param plane_params[] = {
    {"slope", STRAKE_PARAM_VECTOR, WAVES, true, 0.0, ANY("[field]"), NULL,
     "rise from one cell to the next"},
    REAL_PARAM("base", BASE, false, 0.0, ANY("[field]"), "value at index 0"),
};
static const strake_param random_params[] = {
    {"seed",
     STRAKE_PARAM_SEED,
     0,
     false,
     0.0,
     {0.0, 0x1p63, false, "[-]"},
     NULL,
     "same seed, same numbers"},
    REAL_PARAM("minimum", MINIMUM, false, 0.0, ANY("[field]"), "lower bound, included"),
    REAL_PARAM("maximum", MAXIMUM, false, 1.0, ANY("[field]"), "upper bound, excluded"),
};
#define REVERSAL_PARAM                                                                             \
    REAL_PARAM("reversal", STRAKE_SHAPE_REVERSAL, false, 0.0, POSITIVE("[s]"),                     \
               "T: times cos(pi t/T), which brings all back at T; 0: the flow is steady")

static const strake_param rotation_params[] = {
    CENTER_PARAM,
    REAL_PARAM("omega", OMEGA, true, 0.0, ANY("[rad/s]"), "angular velocity"),
    REVERSAL_PARAM,
};
static const strake_param spin_params[] = {
    CENTER_PARAM,
    REAL_PARAM("omega", OMEGA, true, 0.0, ANY("[rad/s]"), "angular velocity"),
    {"axis", STRAKE_PARAM_VECTOR, SPIN, true, 0.0, ANY("[-]"), NULL,
     "axis of rotation; [1, 0, 0]: as in 2D in every plane"},
    REVERSAL_PARAM,
};
static const strake_param shear_params[] = {
    CENTER_PARAM,
    REAL_PARAM("rate", RATE, true, 0.0, ANY("[1/s]"), "velocity per distance from the centre"),
    {"axis", STRAKE_PARAM_CHOICE, ALONG, true, 0.0, ANY(NULL), "rows|cols",
     "rows: flow from row to row, growing with the column; cols: the other"},
    REVERSAL_PARAM,
};
static const strake_param uniform_params[] = {
    {"velocity", STRAKE_PARAM_VECTOR, VELOCITY, true, 0.0, ANY("[m/s]"), NULL,
     "its components across rows and columns"},
    REVERSAL_PARAM,
};
static const strake_param deformation_params[] = {
    {"waves",
     STRAKE_PARAM_INTEGERS,
     WAVES,
     true,
     0.0,
     {-1e6, 1e6, false, "[-]"},
     NULL,
     "periods of the stream function per domain"},
    REAL_PARAM("amplitude", AMPLITUDE, true, 0.0, ANY("[m2/s]"), "of the stream function"),
    REVERSAL_PARAM,
};

static const strake_param globe_params[] = {
    REAL_PARAM("omega", OMEGA, true, 0.0, ANY("[rad/s]"), "angular velocity"),
    REAL_PARAM("tilt", TILT, false, 0.0, ANY("[rad]"),
               "of the axis from that through the poles; pi/2: right over them"),
    REVERSAL_PARAM,
};

#define PARAMS(table) table, (int)(sizeof(table) / sizeof((table)[0]))

const strake_shape strake_shapes[] = {
    {"cone", false, 1, "base + height (1 - d/radius) where the distance d <= radius, else base",
     PARAMS(cone_params), cone_line, NULL, NULL, false},
    {"gaussian", false, 1, "base + height exp(-d^2 / (2 sigma^2))", PARAMS(gaussian_params),
     gaussian_line, gaussian_column, NULL, false},
    {"cylinder", false, 1, "base + height where d <= radius outside the slot, else base",
     PARAMS(cylinder_params), cylinder_line, NULL, cylinder_check, false},
    {"box", false, 1, "base + height where from <= x <= to in every direction, else base",
     PARAMS(box_params), box_line, NULL, box_check, false},
    {"plane", false, 1, "base + slope * x: a tilted plane", PARAMS(plane_params), plane_line, NULL,
     NULL, false},
    {"sine", false, 1, "base + amplitude * product of sin(2 pi k x/n + phase) over the directions",
     PARAMS(sine_params), sine_line, sine_column, NULL, false},
    {"random", false, 1, "uniform in [minimum, maximum), a function of seed and point only",
     PARAMS(random_params), random_line, NULL, random_check, false},
    {"rotation", true, 2,
     "velocity: +omega (j - jc) dy across rows, -omega (i - ic) dx across columns",
     PARAMS(rotation_params), rotation_line, NULL, NULL, false},
    {"spin", true, 3, "velocity: rotation about any axis through the centre", PARAMS(spin_params),
     spin_line, NULL, spin_check, false},
    {"shear", true, 2,
     "velocity: rate times the distance from the centre, across the other direction",
     PARAMS(shear_params), shear_line, NULL, NULL, false},
    {"uniform", true, 1, "velocity: the same everywhere", PARAMS(uniform_params), uniform_line,
     NULL, NULL, false},
    {"deformation", true, 2,
     "velocity: swirling cells, from a stream function amplitude * product of sin(2 pi k (x + "
     "1/2)/n)",
     PARAMS(deformation_params), deformation_line, deformation_column, NULL, false},
    {"globe", true, 2,
     "velocity: solid-body rotation of a sphere, rows its latitudes, columns its longitudes; for h "
     "= cos(latitude)",
     PARAMS(globe_params), globe_line, globe_column, NULL, true},
};
const int strake_shape_count = (int)(sizeof strake_shapes / sizeof strake_shapes[0]);
