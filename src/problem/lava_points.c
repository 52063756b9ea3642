/* The point functions of lava: their row loops, and what the engine knows of them. */
#include "problem/lava_points.h"

#include "strake_problem.h"

#include "cl/lava_point.h"

STRAKE_POINTS_WITH_DOUBT(STRAKE_LAVA_POINTS)
