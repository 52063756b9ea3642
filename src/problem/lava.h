/** @file lava.h What the files of the lava problem share. */
#ifndef STRAKE_LAVA_H
#define STRAKE_LAVA_H

#include "case/case.h"
#include "problem/lava_points.h"
#include "problem/rows.h"

STRAKE_LAVA_POINTS(STRAKE_POINT_DECLARE)

/** Fields, in the order of the table. */
enum {
    STRAKE_LAVA_TERRAIN,
    STRAKE_LAVA_EFFUSION,
    STRAKE_LAVA_BARRIER,
    STRAKE_LAVA_DEPOSIT, /* the first field that is written: pictures show it */
    STRAKE_LAVA_THICKNESS,
    STRAKE_LAVA_TEMPERATURE,
    STRAKE_LAVA_SOLID,
    STRAKE_LAVA_NET,
    STRAKE_LAVA_MIX,
    STRAKE_LAVA_DRAIN,
    STRAKE_LAVA_MAXIMUM,
    STRAKE_LAVA_ARRIVAL,
    STRAKE_LAVA_SPEED,
    STRAKE_LAVA_LOST,
    STRAKE_LAVA_CRUST,
    STRAKE_LAVA_CONTACT,
    STRAKE_LAVA_RADIATED, /* from here on: heat that has left, by kind */
    STRAKE_LAVA_CONVECTED,
    STRAKE_LAVA_CONDUCTED,
    STRAKE_LAVA_RAINED,
    STRAKE_LAVA_DRAINED,
    STRAKE_LAVA_HEAT,
    STRAKE_LAVA_FIELDS
};

/** Ground from here on up is a wall [m], and what lies beyond the edges (cl/lava_point.h). */
#define STRAKE_LAVA_WALL 5e8
#define STRAKE_LAVA_BEYOND 1e9
/** A sink beyond an edge. Ground from minus STRAKE_LAVA_WALL down is one. */
#define STRAKE_LAVA_SINK (-1e9)
/** The wall that stands for a cell without a value which others with one enclose: it is no edge. */
#define STRAKE_LAVA_HOLE 7e8

/** rho g/(3 eta) = scale 2^(a + b T + c/(T - d)) [1/(m s)]. */
typedef struct strake_lava_mobility {
    double a, b, c, d, scale;
} strake_lava_mobility;

/** Yield strength over rho g = p + q 2^(a + b T) [m], not below 0. */
typedef struct strake_lava_strength {
    double a, b, p, q;
} strake_lava_strength;

/** Emissivity a + b T within [low, high]. */
typedef struct strake_lava_emissivity {
    double a, b, low, high;
} strake_lava_emissivity;

/** [m/s2] */
static const double strake_lava_gravity = 9.81;

enum { STRAKE_LAVA_KEYS = 36 };

/** In the order of the words of the keys. */
enum { STRAKE_LAVA_CONSISTENT, STRAKE_LAVA_PUBLISHED };
enum { STRAKE_LAVA_GRADIENT, STRAKE_LAVA_PAIR };
enum { STRAKE_LAVA_OUTFLOW, STRAKE_LAVA_DIFFUSIVE };
enum { STRAKE_LAVA_GIORDANO, STRAKE_LAVA_DRAGONI, STRAKE_LAVA_VFT };
enum { STRAKE_LAVA_ISHIHARA, STRAKE_LAVA_DRAGONI_YIELD };
enum { STRAKE_LAVA_EXACT, STRAKE_LAVA_EULER };
enum { STRAKE_LAVA_BARE, STRAKE_LAVA_CRUSTED };

/** rho c [J/(m3 K)]. */
double strake_lava_heat_capacity(const strake_case *which);

/** Whether heat is lost through a crust, and counted. */
bool strake_lava_has_crust(const strake_case *which);

/** Whether the edges are sinks. */
bool strake_lava_has_sink(const strake_case *which);

/** strake_problem.survey and strake_problem.judge. */
void strake_lava_survey(const strake_case *which, const strake_layout *layout, strake_range slabs,
                        void *const *array, const double *number,
                        strake_extreme extreme[STRAKE_MAX_EXTREMES]);
strake_status strake_lava_judge(const strake_case *which,
                                const strake_extreme extreme[STRAKE_MAX_EXTREMES],
                                strake_error *error);

/** Measures of a state: strake_problem.quantity and strake_problem.evaluate. */
enum {
    STRAKE_LAVA_FLUID_VOLUME,
    STRAKE_LAVA_SOLID_VOLUME,
    STRAKE_LAVA_AREA,
    STRAKE_LAVA_TOTAL_HEAT,
    STRAKE_LAVA_ERUPTED,
    STRAKE_LAVA_LENGTH,
    STRAKE_LAVA_EDGE,
    STRAKE_LAVA_LOST_VOLUME,
    STRAKE_LAVA_ERUPTED_HEAT,
    STRAKE_LAVA_RADIATED_HEAT, /* in the order of the fields */
    STRAKE_LAVA_CONVECTED_HEAT,
    STRAKE_LAVA_CONDUCTED_HEAT,
    STRAKE_LAVA_RAINED_HEAT,
    STRAKE_LAVA_DRAINED_HEAT,
    STRAKE_LAVA_MEASURES
};
extern const strake_quantity strake_lava_measures[STRAKE_LAVA_MEASURES];
strake_status strake_lava_evaluate(const strake_snapshot *snapshot, double *out,
                                   strake_error *error);

#endif
