/** @file sph.h What the files of the problems of particles share. */
#ifndef STRAKE_PROBLEM_SPH_H
#define STRAKE_PROBLEM_SPH_H

#include "case/case.h"
#include "particles/sph.h"

/** Attributes of particles, in the order of the table of fields. */
enum {
    STRAKE_SPH_POSITION,
    STRAKE_SPH_VELOCITY,
    STRAKE_SPH_DENSITY,
    STRAKE_SPH_PRESSURE,
    STRAKE_SPH_KIND,
    STRAKE_SPH_NUMBER,
    STRAKE_SPH_FIELDS
};

/** What is measured of them. */
enum { STRAKE_SPH_KINETIC, STRAKE_SPH_POTENTIAL, STRAKE_SPH_THERE, STRAKE_SPH_QUANTITIES };

/** Directions in the order of the words. */
#define STRAKE_SPH_DIRECTIONS_2D "x|z"
#define STRAKE_SPH_DIRECTIONS_3D "x|y|z"

#endif
