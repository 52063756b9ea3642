/** @file mpdata_points.h The point functions of cl/mpdata_point.h and their arithmetic:
 * X(name, operands, adds, muls, divs, selects). Absolute values are not counted. */
#ifndef STRAKE_MPDATA_POINTS_H
#define STRAKE_MPDATA_POINTS_H

#define STRAKE_MPDATA_POINTS(X)                                                                    \
    X(donor_flux, 3, 0, 1, 0, 1)                                                                   \
    X(reciprocal, 1, 0, 0, 1, 0)                                                                   \
    X(face_mean, 2, 1, 1, 0, 0)                                                                    \
    X(divergence_1d, 2, 1, 0, 0, 0)                                                                \
    X(divergence, 4, 3, 0, 0, 0)                                                                   \
    X(divergence_3d, 6, 5, 0, 0, 0)                                                                \
    X(flux_update_1d, 4, 2, 1, 0, 0)                                                               \
    X(flux_update, 6, 4, 1, 0, 0)                                                                  \
    X(flux_update_3d, 8, 6, 1, 0, 0)                                                               \
    X(content_update_1d, 5, 2, 2, 0, 0)                                                            \
    X(content_update, 7, 4, 2, 0, 0)                                                               \
    X(content_update_3d, 9, 6, 2, 0, 0)                                                            \
    X(inflow, 3, 0, 0, 0, 1)                                                                       \
    X(source_before, 4, 1, 2, 0, 0)                                                                \
    X(source_after, 4, 1, 2, 0, 0)                                                                 \
    X(diffuse_1d, 7, 4, 4, 0, 0)                                                                   \
    X(diffuse, 12, 8, 7, 0, 0)                                                                     \
    X(diffuse_3d, 17, 12, 10, 0, 0)                                                                \
    X(cross_max_1d, 3, 0, 0, 0, 2)                                                                 \
    X(cross_min_1d, 3, 0, 0, 0, 2)                                                                 \
    X(cross_max, 5, 0, 0, 0, 4)                                                                    \
    X(cross_min, 5, 0, 0, 0, 4)                                                                    \
    X(cross_max_3d, 7, 0, 0, 0, 6)                                                                 \
    X(cross_min_3d, 7, 0, 0, 0, 6)                                                                 \
    X(widen_max_1d, 4, 0, 0, 0, 3)                                                                 \
    X(widen_min_1d, 4, 0, 0, 0, 3)                                                                 \
    X(widen_max, 6, 0, 0, 0, 5)                                                                    \
    X(widen_min, 6, 0, 0, 0, 5)                                                                    \
    X(widen_max_3d, 8, 0, 0, 0, 7)                                                                 \
    X(widen_min_3d, 8, 0, 0, 0, 7)                                                                 \
    X(magnitude, 1, 0, 0, 0, 0)                                                                    \
    X(corrective_1d, 4, 4, 4, 1, 0)                                                                \
    X(corrective_gauge_1d, 4, 2, 4, 0, 0)                                                          \
    X(corrective, 12, 13, 10, 1, 0)                                                                \
    X(corrective_gauge, 12, 9, 8, 0, 0)                                                            \
    X(transverse, 4, 3, 0, 0, 0)                                                                   \
    X(across_3d, 10, 11, 5, 1, 0)                                                                  \
    X(across_gauge_3d, 10, 7, 2, 0, 0)                                                             \
    X(corrective_3d, 5, 5, 7, 1, 0)                                                                \
    X(corrective_gauge_3d, 5, 3, 7, 0, 0)                                                          \
    X(with_change, 3, 2, 0, 0, 0)                                                                  \
    X(divergent, 5, 2, 3, 0, 0)                                                                    \
    X(divergent_gauge, 7, 3, 4, 0, 0)                                                              \
    X(third_order_along, 2, 2, 5, 1, 0)                                                            \
    X(third_order_across, 6, 4, 6, 0, 0)                                                           \
    X(third_order_1d, 6, 6, 2, 1, 0)                                                               \
    X(third_order_gauge_1d, 6, 4, 2, 0, 0)                                                         \
    X(third_order, 11, 12, 2, 2, 0)                                                                \
    X(third_order_gauge, 11, 8, 4, 0, 0)                                                           \
    X(third_order_cross, 6, 6, 2, 1, 0)                                                            \
    X(third_order_cross_gauge, 6, 4, 2, 0, 0)                                                      \
    X(third_order_corners, 4, 0, 4, 1, 0)                                                          \
    X(third_order_corner, 10, 10, 2, 1, 0)                                                         \
    X(third_order_corner_gauge, 10, 8, 2, 0, 0)                                                    \
    X(limit_inflow_1d, 5, 3, 1, 1, 2)                                                              \
    X(limit_outflow_1d, 5, 3, 1, 1, 2)                                                             \
    X(limit_inflow, 7, 5, 1, 1, 4)                                                                 \
    X(limit_outflow, 7, 5, 1, 1, 4)                                                                \
    X(limit_inflow_3d, 9, 7, 1, 1, 6)                                                              \
    X(limit_outflow_3d, 9, 7, 1, 1, 6)                                                             \
    X(limit_velocity, 6, 0, 1, 0, 4)

#endif
