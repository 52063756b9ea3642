/* The row loops of lava (rows.h). */
#include "problem/rows.h"

#include "cl/real.h"

#include "cl/elementary.h"

#include "cl/lava_point.h"

#include "problem/lava_points.h"

STRAKE_LAVA_POINTS(STRAKE_ROW)
