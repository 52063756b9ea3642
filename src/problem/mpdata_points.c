#include "problem/mpdata_points.h"

#include "engine/point.h"
#include "problem/mpdata.h"
#include "problem/rows.h"

STRAKE_MPDATA_POINTS(STRAKE_POINT_DEFINE)
