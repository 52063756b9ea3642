/* What happens in the course of a flow: what vents give, what must be kept, why it ends. */
#include <float.h>
#include <math.h>

#include "engine/lines.h"
#include "problem/lava.h"

double strake_lava_event(const strake_case *which, double time)
{
    return strake_vents_next(&which->vents, time);
}

int64_t strake_lava_pour(const strake_case *which, double time,
                         void (*add)(void *user, int64_t i, int64_t j, double amount), void *user)
{
    const strake_vents *const vents = &which->vents;
    const double area = which->spacing[0] * which->spacing[2];
    for (int64_t k = 0; k < vents->cells && add != NULL; k++) {
        const strake_vent_cell *const cell = &vents->cell[k];
        add(user, cell->row, cell->col, strake_vents_rate(vents, cell, time) / area);
    }
    return vents->cells;
}

/* Largest found: the ground at vents, and what stands or rises in walls. */
enum { VENT_GROUND, WALLED_THICKNESS, WALLED_EFFUSION };

static void survey_vents(const strake_case *which, const strake_layout *layout, strake_range slabs,
                         void *const *array, const double *number, strake_extreme *ground)
{
    const strake_vents *const vents = &which->vents;
    strake_piece room;
    for (int64_t k = 0; k < vents->cells; k++) {
        const strake_vent_cell *const cell = &vents->cell[k];
        if (cell->row >= slabs.first && cell->row < slabs.end) {
            strake_extreme_add(ground,
                               *strake_piece_of(layout, array[STRAKE_LAVA_TERRAIN],
                                                number[STRAKE_LAVA_TERRAIN], cell->row, 0,
                                                cell->col, 1, room),
                               cell->row, 0, cell->col);
        }
    }
}

void strake_lava_survey(const strake_case *which, const strake_layout *layout, strake_range slabs,
                        void *const *array, const double *number,
                        strake_extreme extreme[STRAKE_MAX_EXTREMES])
{
    static const int field[] = {STRAKE_LAVA_THICKNESS, STRAKE_LAVA_EFFUSION};
    strake_piece room[2], walled;
    survey_vents(which, layout, slabs, array, number, &extreme[VENT_GROUND]);
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t j = 0; j < layout->n[2]; j += STRAKE_PIECE) {
            const int64_t left = layout->n[2] - j,
                          count = left < STRAKE_PIECE ? left : STRAKE_PIECE;
            const double *const ground =
                strake_piece_of(layout, array[STRAKE_LAVA_TERRAIN], number[STRAKE_LAVA_TERRAIN], i,
                                0, j, count, room[0]);
            for (int f = 0; f < 2; f++) {
                const double *const lava = strake_piece_of(
                    layout, array[field[f]], number[field[f]], i, 0, j, count, room[1]);
                for (int64_t k = 0; k < count; k++) {
                    walled[k] = ground[k] < STRAKE_LAVA_WALL ? 0.0 : lava[k];
                }
                strake_extreme_add_line(&extreme[WALLED_THICKNESS + f], walled, count, i, 0, j);
            }
        }
    }
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
                               "(NODATA); such a cell is a wall, which no lava would leave: %s",
                               which->file, rule[k].key, (long long)extreme[k].cell[0],
                               (long long)extreme[k].cell[2], rule[k].advice);
        }
    }
    return STRAKE_OK;
}

double strake_lava_imbalance(const double *first, const double *now)
{
    const double there = now[STRAKE_LAVA_FLUID_VOLUME] + now[STRAKE_LAVA_SOLID_VOLUME];
    const double given = first[STRAKE_LAVA_FLUID_VOLUME] + first[STRAKE_LAVA_SOLID_VOLUME] +
                         now[STRAKE_LAVA_ERUPTED] - first[STRAKE_LAVA_ERUPTED];
    return there == given ? 0.0 : (there - given) / fmax(fabs(given), fabs(there));
}

/* Whether nothing comes out of the ground from a time on. */
static bool has_ended(const strake_case *which, double time)
{
    double effusion = 0.0;
    const strake_source *const given = which->source[STRAKE_LAVA_EFFUSION];
    return which->vents.count > 0
               ? strake_vents_are_over(&which->vents, time)
               : given != NULL && strake_source_constant(given, &effusion) && effusion == 0.0;
}

strake_course strake_lava_judge_course(const strake_case *which, double time,
                                       const double *quantity, const char **why)
{
    if (quantity[STRAKE_LAVA_EDGE] > 0.0) {
        const bool ends = strake_case_value(which, "time.stop_at_edge") > 0.0;
        *why = ends ? "lava has reached the edge of the terrain (time.stop_at_edge)"
                    : "lava has reached the edge of the terrain, which is a wall to it; a larger "
                      "terrain shows where it goes, time.stop_at_edge: true ends a run there";
        return ends ? STRAKE_IS_OVER : STRAKE_IS_DOUBTFUL;
    }
    if (quantity[STRAKE_LAVA_FLUID_VOLUME] == 0.0 && has_ended(which, time)) {
        *why = "the last effusion is over and no lava is fluid";
        return STRAKE_IS_OVER;
    }
    return STRAKE_GOES_ON;
}
