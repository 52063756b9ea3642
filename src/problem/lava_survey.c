/* What a lava flow must not begin with: walls with lava, numbers that no lava has, ground that is no ground. */
#include <float.h>
#include <math.h>

#include "engine/lines.h"
#include "problem/lava.h"

/*
 * Largest found: the ground at vents, what stands or rises in walls, what is less than nothing, lava of no temperature, and
 * how deep the ground lies.
 */
enum {
    VENT_GROUND,
    WALLED_THICKNESS,
    WALLED_EFFUSION,
    NEGATIVE_THICKNESS,
    NEGATIVE_EFFUSION,
    NEGATIVE_SOLID,
    COLD_LAVA,
    HOT_LAVA,
    DEEP_GROUND,
    LOOKS
};

/* [K] The least temperature that lava may have, as that of vents. */
static const double coldest = 1.0;

static void survey_vents(const strake_case *which, const strake_layout *layout, strake_range slabs,
                         void *const *array, const double *number, strake_extreme *ground)
{
    const strake_vents *const vents = &which->vents;
    strake_piece room;
    for (int64_t k = 0; k < vents->cells; k++) {
        const strake_vent_cell *const cell = &vents->cell[k];
        if (cell->row >= slabs.first && cell->row < slabs.end) {
            strake_extreme_add(ground,
                               fabs(*strake_piece_of(layout, array[STRAKE_LAVA_TERRAIN],
                                                     number[STRAKE_LAVA_TERRAIN], cell->row, 0,
                                                     cell->col, 1, room)),
                               cell->row, 0, cell->col);
        }
    }
}

static void survey_depth(bool has_sink, const double *ground, int64_t i, int64_t j, int64_t count,
                         strake_extreme *deep)
{
    strake_piece depth;
    for (int64_t k = 0; k < count; k++) {
        depth[k] = has_sink && ground[k] <= -STRAKE_LAVA_WALL ? -INFINITY : -ground[k];
    }
    strake_extreme_add_line(deep, depth, count, i, 0, j);
}

/* Temperatures where lava lies; elsewhere they are those of nothing. */
static void survey_heat(const strake_layout *layout, void *const *array, const double *number,
                        int64_t i, int64_t j, int64_t count, strake_extreme *extreme)
{
    strake_piece room[2], cold, hot;
    const double *const lava =
        strake_piece_of(layout, array[STRAKE_LAVA_THICKNESS], number[STRAKE_LAVA_THICKNESS], i, 0,
                        j, count, room[0]);
    const double *const temperature =
        strake_piece_of(layout, array[STRAKE_LAVA_TEMPERATURE], number[STRAKE_LAVA_TEMPERATURE], i,
                        0, j, count, room[1]);
    for (int64_t k = 0; k < count; k++) {
        cold[k] = lava[k] > 0.0 ? -temperature[k] : -coldest;
        hot[k] = lava[k] > 0.0 ? temperature[k] : coldest;
    }
    strake_extreme_add_line(&extreme[COLD_LAVA], cold, count, i, 0, j);
    strake_extreme_add_line(&extreme[HOT_LAVA], hot, count, i, 0, j);
}

void strake_lava_survey(const strake_case *which, const strake_layout *layout, strake_range slabs,
                        void *const *array, const double *number,
                        strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    static const int field[] = {STRAKE_LAVA_THICKNESS, STRAKE_LAVA_EFFUSION, STRAKE_LAVA_SOLID};
    strake_piece room[3], walled, lacking;
    survey_vents(which, layout, slabs, array, number, &extreme[VENT_GROUND]);
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t j = 0; j < layout->n[2]; j += STRAKE_PIECE) {
            const int64_t left = layout->n[2] - j,
                          count = left < STRAKE_PIECE ? left : STRAKE_PIECE;
            const double *const ground =
                strake_piece_of(layout, array[STRAKE_LAVA_TERRAIN], number[STRAKE_LAVA_TERRAIN], i,
                                0, j, count, room[0]);
            for (int f = 0; f < 3; f++) {
                const double *const lava = strake_piece_of(
                    layout, array[field[f]], number[field[f]], i, 0, j, count, room[1]);
                for (int64_t k = 0; k < count; k++) {
                    walled[k] = fabs(ground[k]) < STRAKE_LAVA_WALL ? 0.0 : lava[k];
                    lacking[k] = -lava[k];
                }
                if (field[f] != STRAKE_LAVA_SOLID) {
                    strake_extreme_add_line(&extreme[WALLED_THICKNESS + f], walled, count, i, 0, j);
                }
                strake_extreme_add_line(&extreme[NEGATIVE_THICKNESS + f], lacking, count, i, 0, j);
            }
            survey_depth(strake_lava_has_sink(which), ground, i, j, count, &extreme[DEEP_GROUND]);
            survey_heat(layout, array, number, i, j, count, extreme);
        }
    }
}

/* Numbers that no lava has, with the first cell that has the worst. */
static strake_status judge_numbers(const strake_case *which, const strake_extreme *extreme,
                                   strake_error *error)
{
    static const struct {
        const char *key, *unit, *expected;
        double sign; /* of what was looked for */
        double most; /* of that; of thicknesses what roundings may leave */
    } rule[DEEP_GROUND] = {
        [NEGATIVE_THICKNESS] = {"fields.thickness", "m",
                                "at least 0: let it be 0 where no lava lies", -1.0, 1e-6},
        [NEGATIVE_EFFUSION] = {"fields.effusion", "m/s",
                               "at least 0: lava does not return to the ground", -1.0, 0.0},
        [NEGATIVE_SOLID] = {"fields.solid", "m",
                            "at least 0: a hollow is a further part of the terrain's `sum`", -1.0,
                            0.0},
        [COLD_LAVA] = {"fields.temperature", "K", "1 to 10000 where lava lies", -1.0, -1.0},
        [HOT_LAVA] = {"fields.temperature", "K", "1 to 10000 where lava lies", 1.0, 10000.0},
    };
    for (int k = NEGATIVE_THICKNESS; k < DEEP_GROUND; k++) {
        if (extreme[k].value > rule[k].most) {
            return strake_fail(
                error, STRAKE_ERR_USAGE, "%s: %s: is %.6g %s at row %lld, column %lld; expected %s",
                which->file, rule[k].key, rule[k].sign * extreme[k].value, rule[k].unit,
                (long long)extreme[k].cell[0], (long long)extreme[k].cell[2], rule[k].expected);
        }
    }
    return STRAKE_OK;
}

/* Ground on a map that is none: a number for no value which the file's header does not tell. */
static strake_status judge_ground(const strake_case *which, const strake_extreme *deep,
                                  strake_error *error)
{
    static const double deepest = 9000.0; /* [m]: -9999 and -32768 are usual */
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(deep->value < STRAKE_LAVA_WALL, error, STRAKE_ERR_USAGE,
                 "%s: fields.terrain: is %.10g m at row %lld, column %lld; so deep a ground is a "
                 "sink: say boundary.edge: sink, or give it its elevation [m]",
                 which->file, -deep->value, (long long)deep->cell[0], (long long)deep->cell[2]);
    STRAKE_CHECK(!which->georef.is_known || deep->value <= deepest, error, STRAKE_ERR_USAGE,
                 "%s: fields.terrain: is %.10g m at row %lld, column %lld; expected at least %g m "
                 "on a map. If that stands for no value, say so beside `file`: `nodata: %.10g`",
                 which->file, -deep->value, (long long)deep->cell[0], (long long)deep->cell[2],
                 -deepest, -deep->value);
cleanup:
    return status;
}

strake_status strake_lava_judge(const strake_case *which,
                                const strake_extreme extreme[STRAKE_MAX_EXTREMES],
                                strake_error *error)
{
    static const struct {
        const char *key, *advice;
        double least; /* from there on it is refused */
    } rule[] = {
        [VENT_GROUND] = {"vents", "give the vent another place", STRAKE_LAVA_WALL},
        [WALLED_THICKNESS] = {"fields.thickness", "let it be 0 there", DBL_MIN},
        [WALLED_EFFUSION] = {"fields.effusion", "let it be 0 there", DBL_MIN},
    };
    for (int k = VENT_GROUND; k <= WALLED_EFFUSION; k++) {
        if (extreme[k].value >= rule[k].least) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: %s: row %lld, column %lld of the terrain has no value "
                               "(NODATA); such a cell is a wall or a sink, which no lava would "
                               "leave: %s",
                               which->file, rule[k].key, (long long)extreme[k].cell[0],
                               (long long)extreme[k].cell[2], rule[k].advice);
        }
    }
    const strake_status status = judge_ground(which, &extreme[DEEP_GROUND], error);
    return status == STRAKE_OK ? judge_numbers(which, extreme, error) : status;
}
