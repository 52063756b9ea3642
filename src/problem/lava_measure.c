/* What is measured of a lava flow: sums in a fixed order. */
#include <math.h>

#include "base/sum.h"
#include "engine/lines.h"
#include "problem/lava.h"

const strake_quantity strake_lava_measures[STRAKE_LAVA_MEASURES] = {
    [STRAKE_LAVA_FLUID_VOLUME] = {"fluid_volume", "[m3]", "volume of the fluid lava"},
    [STRAKE_LAVA_SOLID_VOLUME] = {"solid_volume", "[m3]",
                                  "volume of the lava that has become solid"},
    [STRAKE_LAVA_AREA] = {"area", "[m2]", "of the cells that have lava, fluid or solid"},
    [STRAKE_LAVA_TOTAL_HEAT] = {"heat", "[J]",
                                "of the fluid lava: density, specific heat, thickness, "
                                "temperature"},
    [STRAKE_LAVA_ERUPTED] = {"erupted_volume", "[m3]", "what came out of the ground so far"},
    [STRAKE_LAVA_LENGTH] = {"length", "[m]",
                            "from the nearest cell of a vent to the farthest one with lava; "
                            "without vents the diagonal of the box that holds the lava"},
    [STRAKE_LAVA_EDGE] = {"edge", "[m]",
                          "of the edge of the terrain, or of cells without a value, that has "
                          "fluid lava"},
    [STRAKE_LAVA_LOST_VOLUME] = {"lost_volume", "[m3]",
                                 "what has flowed out over edges that are sinks so far"},
    [STRAKE_LAVA_ERUPTED_HEAT] = {"erupted_heat", "[J]",
                                  "of what came out of the ground so far (scheme.crust)",
                                  STRAKE_LAVA_CRUST},
    [STRAKE_LAVA_RADIATED_HEAT] = {"radiated_heat", "[J]", "that has left so far (scheme.crust)",
                                   STRAKE_LAVA_RADIATED},
    [STRAKE_LAVA_CONVECTED_HEAT] = {"convected_heat", "[J]",
                                    "that went into the air so far (scheme.crust)",
                                    STRAKE_LAVA_CONVECTED},
    [STRAKE_LAVA_CONDUCTED_HEAT] = {"conducted_heat", "[J]",
                                    "that went into the ground so far (scheme.crust)",
                                    STRAKE_LAVA_CONDUCTED},
    [STRAKE_LAVA_RAINED_HEAT] = {"rained_heat", "[J]",
                                 "that rain took so far (scheme.crust, parameters.rain)",
                                 STRAKE_LAVA_RAINED},
    [STRAKE_LAVA_DRAINED_HEAT] = {"drained_heat", "[J]",
                                  "that flowed out over edges that are sinks so far (scheme.crust)",
                                  STRAKE_LAVA_DRAINED},
};

/* Kinds of heat that leaves, as quantities and as fields. */
enum { KINDS = STRAKE_LAVA_DRAINED_HEAT - STRAKE_LAVA_RADIATED_HEAT + 1 };

/* A state with what is added up of it. */
typedef struct sums {
    const strake_snapshot *of;
    strake_sum fluid, solid, heat, effusion, lost;
    strake_sum left[KINDS];   /* of heat [J/m2] */
    int64_t wet, edge;        /* cells */
    double farthest;          /* of lava from the nearest vent, squared [cells] */
    int64_t near;             /* the vent's cell that showed last that one is no farther */
    int64_t first[2], end[2]; /* rows and columns that have lava */
} sums;

/* One number of a field. */
static double get(const sums *s, int field, int64_t i, int64_t j)
{
    strake_piece room;
    return *strake_piece_of(s->of->layout, s->of->array[field], s->of->number[field], i, 0, j, 1,
                            room);
}

/* Whether a cell lies at an edge: there is no ground beside it, and no hole that ground encloses. */
static bool is_at_edge(const sums *s, int64_t i, int64_t j)
{
    const strake_layout *const l = s->of->layout;
    static const int beside[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    for (int k = 0; k < 4; k++) {
        const int64_t row = i + beside[k][0], col = j + beside[k][1];
        if (row < 0 || row >= l->n[0] || col < 0 || col >= l->n[2]) {
            return true;
        }
        const double ground = get(s, STRAKE_LAVA_TERRAIN, row, col);
        const bool is_hole =
            fabs(ground / STRAKE_LAVA_HOLE - 1.0) < 0.1; /* of a sum of shapes, too */
        if (fabs(ground) >= STRAKE_LAVA_WALL && !is_hole) {
            return true;
        }
    }
    return false;
}

/*
 * Whether a cell is the farthest so far. One cell of a vent that is no farther away than that shows that it is not, and
 * nearly always the one that showed it of the cell before: fissures have many.
 */
static void measure_distance(sums *s, int64_t i, int64_t j)
{
    const strake_vents *const vents = &s->of->which->vents;
    double least = INFINITY;
    int64_t at = s->near;
    for (int64_t k = 0; k < vents->cells; k++) {
        const double rows = (double)(vents->cell[at].row - i),
                     cols = (double)(vents->cell[at].col - j);
        least = fmin(least, rows * rows + cols * cols);
        if (least <= s->farthest) {
            s->near = at;
            return;
        }
        at = at + 1 < vents->cells ? at + 1 : 0;
    }
    s->farthest = vents->cells > 0 ? least : s->farthest;
}

static void add_cell(sums *s, int64_t i, int64_t j, double h, double t, double solid)
{
    const int64_t at[] = {i, j};
    strake_sum_add(&s->fluid, h);
    strake_sum_add(&s->solid, solid);
    strake_sum_add(&s->heat, h * t);
    for (int k = 0; k < 2; k++) {
        s->first[k] = s->wet == 0 || at[k] < s->first[k] ? at[k] : s->first[k];
        s->end[k] = s->wet == 0 || at[k] >= s->end[k] ? at[k] + 1 : s->end[k];
    }
    s->wet++;
    measure_distance(s, i, j);
    if (h > 0.0 && is_at_edge(s, i, j)) {
        s->edge++;
    }
}

/* Heat of a kind that has left the cells of a row. */
static void add_left(const sums *s, int64_t i, int field, strake_sum *left)
{
    const strake_layout *const l = s->of->layout;
    strake_piece room;
    for (int64_t j = 0; j < l->n[2]; j += STRAKE_PIECE) {
        const int64_t rest = l->n[2] - j, count = rest < STRAKE_PIECE ? rest : STRAKE_PIECE;
        const double *const value =
            strake_piece_of(l, s->of->array[field], s->of->number[field], i, 0, j, count, room);
        for (int64_t k = 0; k < count; k++) {
            strake_sum_add(left, value[k]);
        }
    }
}

static void add_row(sums *s, int64_t i)
{
    const strake_layout *const l = s->of->layout;
    static const int field[] = {STRAKE_LAVA_THICKNESS, STRAKE_LAVA_TEMPERATURE, STRAKE_LAVA_SOLID,
                                STRAKE_LAVA_EFFUSION, STRAKE_LAVA_LOST};
    strake_piece room[5];
    const double *value[5];
    for (int k = 0; k < KINDS && strake_lava_has_crust(s->of->which); k++) {
        add_left(s, i, STRAKE_LAVA_RADIATED + k, &s->left[k]);
    }
    for (int64_t j = 0; j < l->n[2]; j += STRAKE_PIECE) {
        const int64_t left = l->n[2] - j;
        const int64_t count = left < STRAKE_PIECE ? left : STRAKE_PIECE;
        for (int f = 0; f < 5; f++) {
            value[f] = strake_piece_of(l, s->of->array[field[f]], s->of->number[field[f]], i, 0, j,
                                       count, room[f]);
        }
        for (int64_t k = 0; k < count; k++) {
            if (value[0][k] > 0.0 || value[2][k] > 0.0) {
                add_cell(s, i, j + k, value[0][k], value[1][k], value[2][k]);
            }
            if (value[3][k] > 0.0) {
                strake_sum_add(&s->effusion, value[3][k]);
            }
            if (value[4][k] > 0.0) {
                strake_sum_add(&s->lost, value[4][k]);
            }
        }
    }
}

strake_status strake_lava_evaluate(const strake_snapshot *snapshot, double *out,
                                   strake_error *error)
{
    const strake_case *const which = snapshot->which;
    const double width = which->spacing[0], cell = width * width;
    const double heat = strake_lava_heat_capacity(which);
    sums s = {.of = snapshot};
    (void)error;
    for (int64_t i = 0; i < snapshot->layout->n[0]; i++) {
        add_row(&s, i);
    }
    const double rows = (double)(s.end[0] - s.first[0]), cols = (double)(s.end[1] - s.first[1]);
    out[STRAKE_LAVA_FLUID_VOLUME] = strake_sum_total(&s.fluid) * cell;
    out[STRAKE_LAVA_SOLID_VOLUME] = strake_sum_total(&s.solid) * cell;
    out[STRAKE_LAVA_AREA] = (double)s.wet * cell;
    out[STRAKE_LAVA_TOTAL_HEAT] = strake_sum_total(&s.heat) * cell * heat;
    out[STRAKE_LAVA_ERUPTED] = which->vents.count > 0
                                   ? strake_vents_volume(&which->vents, 0.0, snapshot->time)
                                   : strake_sum_total(&s.effusion) * cell * snapshot->time;
    out[STRAKE_LAVA_LENGTH] =
        width * sqrt(which->vents.cells > 0 ? s.farthest : rows * rows + cols * cols);
    out[STRAKE_LAVA_EDGE] = (double)s.edge * width;
    out[STRAKE_LAVA_LOST_VOLUME] = strake_sum_total(&s.lost) * cell;
    out[STRAKE_LAVA_ERUPTED_HEAT] =
        strake_lava_has_crust(which) ? out[STRAKE_LAVA_ERUPTED] * heat *
                                           strake_case_value(which, "parameters.vent_temperature")
                                     : NAN;
    for (int k = 0; k < KINDS; k++) {
        const int q = STRAKE_LAVA_RADIATED_HEAT + k;
        out[q] = strake_case_measures(which, q) ? strake_sum_total(&s.left[k]) * cell : NAN;
    }
    return STRAKE_OK;
}
