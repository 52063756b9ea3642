/** @file cahn_hilliard_points.h The point functions of cl/cahn_hilliard_point.h and their arithmetic:
 * X(name, operands, adds, muls, divs, selects). What has begun is counted as two choices, since every stage of a step reads it:
 * what is one choice would be made again in each. */
#ifndef STRAKE_CAHN_HILLIARD_POINTS_H
#define STRAKE_CAHN_HILLIARD_POINTS_H

#define STRAKE_CAHN_HILLIARD_POINTS(X)                                                             \
    X(well_slope, 3, 1, 3, 0, 0)                                                                   \
    X(cubic_slope, 5, 3, 3, 0, 0)                                                                  \
    X(quintic_slope, 7, 5, 5, 0, 0)                                                                \
    X(potential_2d, 8, 7, 2, 0, 0)                                                                 \
    X(potential_3d, 11, 10, 3, 0, 0)                                                               \
    X(advance_2d, 8, 7, 2, 0, 0)                                                                   \
    X(advance_3d, 11, 10, 3, 0, 0)                                                                 \
    X(mobile_2d, 13, 11, 6, 0, 0)                                                                  \
    X(mobile_3d, 18, 17, 9, 0, 0)                                                                  \
    X(halfway, 2, 1, 1, 0, 0)                                                                      \
    X(begun, 3, 0, 0, 0, 2)                                                                        \
    X(chebyshev, 10, 4, 5, 0, 0)                                                                   \
    X(step_error, 6, 3, 2, 0, 1)

#endif
