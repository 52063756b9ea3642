/* Row loops of MPDATA; compiled once per instruction set and precision (see rows.h). */
#include "problem/rows.h"

#include "cl/real.h"

#include "cl/mpdata_point.h"

#include "problem/mpdata_points.h"

STRAKE_MPDATA_POINTS(STRAKE_ROW)
