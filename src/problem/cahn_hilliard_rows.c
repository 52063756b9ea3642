/* Row loops of the Cahn-Hilliard equation; compiled once per instruction set and precision (rows.h). */
#include "problem/rows.h"

#include "cl/real.h"

#include "cl/cahn_hilliard_point.h"

#include "problem/cahn_hilliard_points.h"

STRAKE_CAHN_HILLIARD_POINTS(STRAKE_ROW)
