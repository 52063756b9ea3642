/* The point functions of Cahn-Hilliard: their row loops, and what the engine knows of them. */
#include "problem/cahn_hilliard_points.h"

#include "strake_problem.h"

#include "cl/cahn_hilliard_point.h"

STRAKE_POINTS(STRAKE_CAHN_HILLIARD_POINTS)
