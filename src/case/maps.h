/** @file maps.h Outputs on maps: what a case must have for them. */
#ifndef STRAKE_CASE_MAPS_H
#define STRAKE_CASE_MAPS_H

#include "base/georef.h"

#include "strake.h"

/** Whether columns go east and rows south: files of fields say where the grid lies, or the problem has footprints. */
bool strake_case_is_map(const strake_case *which);

/**
 * Where the grid lies: as the files of the fields say, else with its south-west corner at 0, 0 and cells of its
 * spacing [m].
 */
strake_georef strake_case_place(const strake_case *which);

/** Whether the case has what its formats of maps need. @return STRAKE_ERR_USAGE */
strake_status strake_maps_check(const strake_case *which, strake_error *error);

#endif
