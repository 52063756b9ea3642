#include "problem/rows.h"

#include "cl/real.h"

#include "cl/wall.h"

#include "problem/wall_points.h"

WALL_POINTS(STRAKE_ROW)
