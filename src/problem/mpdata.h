/** @file mpdata.h What the MPDATA problems share. */
#ifndef STRAKE_MPDATA_H
#define STRAKE_MPDATA_H

#include "engine/point.h"
#include "problem/mpdata_points.h"
#include "problem/rows.h"

STRAKE_MPDATA_POINTS(STRAKE_POINT_DECLARE)

#endif
