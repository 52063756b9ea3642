#include "problem/lava_points.h"

#include "engine/point.h"
#include "problem/rows.h"

STRAKE_LAVA_POINTS(STRAKE_POINT_DEFINE_PLAIN)
