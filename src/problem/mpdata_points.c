/* The point functions of MPDATA: their row loops, and what the engine knows of them. */
#include "problem/mpdata_points.h"

#include "strake_problem.h"

#include "cl/mpdata_point.h"

STRAKE_POINTS(STRAKE_MPDATA_POINTS)
