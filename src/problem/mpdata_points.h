/** @file mpdata_points.h The point functions of cl/mpdata_point.h and their arithmetic:
 * X(name, operands, adds, muls, divs, selects). Absolute values are not counted. */
#ifndef STRAKE_MPDATA_POINTS_H
#define STRAKE_MPDATA_POINTS_H

#define STRAKE_MPDATA_POINTS(X)                                                                    \
    X(donor_flux, 3, 0, 1, 0, 1)                                                                   \
    X(reciprocal, 1, 0, 0, 1, 0)                                                                   \
    X(face_mean, 2, 1, 1, 0, 0)                                                                    \
    X(flux_update, 6, 4, 1, 0, 0)                                                                  \
    X(cross_max, 5, 0, 0, 0, 4)                                                                    \
    X(cross_min, 5, 0, 0, 0, 4)                                                                    \
    X(widen_max, 6, 0, 0, 0, 5)                                                                    \
    X(widen_min, 6, 0, 0, 0, 5)                                                                    \
    X(magnitude, 1, 0, 0, 0, 0)                                                                    \
    X(corrective, 12, 13, 10, 1, 0)                                                                \
    X(corrective_gauge, 12, 9, 8, 0, 0)                                                            \
    X(third_order_along, 2, 2, 5, 1, 0)                                                            \
    X(third_order_across, 6, 4, 6, 0, 0)                                                           \
    X(third_order, 11, 12, 2, 2, 0)                                                                \
    X(third_order_gauge, 11, 8, 4, 0, 0)                                                           \
    X(limit_inflow, 7, 5, 1, 1, 4)                                                                 \
    X(limit_outflow, 7, 5, 1, 1, 4)                                                                \
    X(limit_velocity, 6, 0, 1, 0, 4)

#endif
