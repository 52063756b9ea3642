/** @file lava_points.h The point functions of cl/lava_point.h and their arithmetic:
 * X(name, operands, adds, muls, divs, selects). Divisions stand anywhere in them. */
#ifndef STRAKE_LAVA_POINTS_H
#define STRAKE_LAVA_POINTS_H

#define STRAKE_LAVA_POINTS(X)                                                                      \
    X(lava_erupt, 5, 2, 2, 0, 1)                                                                   \
    X(lava_blend, 6, 3, 2, 1, 1)                                                                   \
    X(lava_emissivity, 5, 1, 1, 0, 2)                                                              \
    X(lava_cool, 7, 14, 28, 1, 2)                                                                  \
    X(lava_cool_euler, 7, 3, 8, 1, 2)                                                              \
    X(lava_cover, 3, 14, 15, 0, 2)                                                                 \
    X(lava_radiate, 6, 2, 6, 0, 0)                                                                 \
    X(lava_convect, 6, 3, 4, 0, 0)                                                                 \
    X(lava_conduct, 5, 4, 2, 1, 2)                                                                 \
    X(lava_touch, 3, 1, 0, 0, 1)                                                                   \
    X(lava_rain, 2, 0, 1, 0, 0)                                                                    \
    X(lava_lose, 4, 3, 0, 0, 1)                                                                    \
    X(lava_shed, 4, 11, 20, 1, 2)                                                                  \
    X(lava_part, 5, 1, 2, 1, 2)                                                                    \
    X(lava_count, 3, 1, 1, 0, 1)                                                                   \
    X(lava_carry, 5, 1, 3, 0, 0)                                                                   \
    X(lava_fluid, 4, 0, 2, 0, 1)                                                                   \
    X(lava_thaw, 3, 0, 0, 0, 2)                                                                    \
    X(lava_settle, 3, 2, 0, 0, 0)                                                                  \
    X(lava_add, 2, 1, 0, 0, 0)                                                                     \
    X(lava_keep, 1, 0, 0, 0, 0)                                                                    \
    X(lava_most, 2, 0, 0, 0, 1)                                                                    \
    X(lava_arrive, 3, 0, 0, 0, 1)                                                                  \
    X(lava_mobility, 6, 17, 15, 1, 2)                                                              \
    X(lava_strength, 5, 16, 15, 0, 3)                                                              \
    X(lava_gradient, 11, 7, 6, 1, 10)                                                              \
    X(lava_tilt, 13, 8, 7, 1, 10)                                                                  \
    X(lava_flux, 15, 5, 14, 2, 8)                                                                  \
    X(lava_flux_pair, 12, 5, 14, 2, 6)                                                             \
    X(lava_net, 8, 7, 0, 0, 0)                                                                     \
    X(lava_loss, 8, 7, 0, 0, 8)                                                                    \
    X(lava_drain, 16, 7, 0, 0, 16)                                                                 \
    X(lava_spill, 3, 1, 1, 0, 0)                                                                   \
    X(lava_mix, 17, 15, 8, 0, 8)                                                                   \
    X(lava_speed, 10, 9, 3, 1, 1)                                                                  \
    X(lava_bound, 3, 0, 1, 1, 1)                                                                   \
    X(lava_bound_diffusive, 5, 0, 6, 2, 2)

#endif
