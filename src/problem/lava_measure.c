/* What is measured of a lava flow: sums in a fixed order. */
#include "base/sum.h"
#include "engine/lines.h"
#include "problem/lava.h"

enum { FLUID, SOLID, AREA, HEAT };

const strake_quantity strake_lava_measures[STRAKE_LAVA_MEASURES] = {
    [FLUID] = {"fluid_volume", "[m3]", "volume of the fluid lava"},
    [SOLID] = {"solid_volume", "[m3]", "volume of the lava that has become solid"},
    [AREA] = {"area", "[m2]", "of the cells that have lava, fluid or solid"},
    [HEAT] = {"heat", "[J]", "of the fluid lava: density, specific heat, thickness, temperature"},
};

strake_status strake_lava_evaluate(const strake_case *which, const strake_layout *l,
                                   void *const *array, double *out, strake_error *error)
{
    const double cell = which->spacing[0] * which->spacing[2];
    const double heat = strake_case_value(which, "parameters.density") *
                        strake_case_value(which, "parameters.specific_heat");
    strake_sum sum[STRAKE_LAVA_MEASURES] = {{0}};
    strake_piece room[3];
    (void)error;
    for (int64_t i = 0; i < l->n[0]; i++) {
        for (int64_t j = 0; j < l->n[2]; j += STRAKE_PIECE) {
            const int64_t left = l->n[2] - j;
            const int64_t count = left < STRAKE_PIECE ? left : STRAKE_PIECE;
            const double *const h =
                strake_piece_of(l, array[STRAKE_LAVA_THICKNESS], 0.0, i, 0, j, count, room[0]);
            const double *const t =
                strake_piece_of(l, array[STRAKE_LAVA_TEMPERATURE], 0.0, i, 0, j, count, room[1]);
            const double *const s =
                strake_piece_of(l, array[STRAKE_LAVA_SOLID], 0.0, i, 0, j, count, room[2]);
            for (int64_t k = 0; k < count; k++) {
                strake_sum_add(&sum[FLUID], h[k]);
                strake_sum_add(&sum[SOLID], s[k]);
                strake_sum_add(&sum[AREA], h[k] > 0.0 || s[k] > 0.0 ? 1.0 : 0.0);
                strake_sum_add(&sum[HEAT], h[k] * t[k]);
            }
        }
    }
    for (int q = 0; q < STRAKE_LAVA_MEASURES; q++) {
        out[q] = strake_sum_total(&sum[q]) * cell * (q == HEAT ? heat : 1.0);
    }
    return STRAKE_OK;
}
