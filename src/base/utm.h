/** @file utm.h UTM, and longitude and latitude, of places on the WGS 84 ellipsoid. */
#ifndef STRAKE_UTM_H
#define STRAKE_UTM_H

#include <stdbool.h>

/**
 * Krueger's series to the sixth power of the third flattening (Karney, Transverse Mercator with an accuracy of a few
 * nanometers, J. Geodesy 85, 2011). @param[in] zone  1 to 60 @param[in] x, y  easting and northing [m]
 * @param[out] longitude, latitude  [degree]
 */
void strake_utm_to_geographic(int zone, bool is_south, double x, double y, double *longitude,
                              double *latitude);

/** The way back, by the same source; zones may be left, as far as 3000 km from the central meridian. */
void strake_utm_from_geographic(int zone, bool is_south, double longitude, double latitude,
                                double *x, double *y);

#endif
