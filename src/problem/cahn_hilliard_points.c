#include "problem/cahn_hilliard_points.h"

#include "engine/point.h"
#include "problem/cahn_hilliard.h"
#include "problem/rows.h"

STRAKE_CAHN_HILLIARD_POINTS(STRAKE_POINT_DEFINE)
