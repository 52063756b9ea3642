/*
 * lava: a lava flow of the MAGFLOW type (cl/lava_point.h) over terrain. One sweep advances thickness, temperature and solid by
 * the tendencies net and mix of the sweep before, then finds fluxes to the eight neighbours, the new tendencies and the
 * bound on the next time step; one of no time starts and resumes.
 */
#include "problem/lava.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "engine/lines.h"

/* Keys of lava, and the laws of viscosity, yield strength and emissivity that they choose. */
/* log2(10), log2(e) */
static const double per_decade = 3.3219280948873626, per_e = 1.4426950408889634;

static const strake_key strake_lava_keys[STRAKE_LAVA_KEYS] = {
    {"parameters.density", STRAKE_KEY_REAL, NULL, 2600, 1, INFINITY, false, "[kg/m3]", "of lava"},
    {"parameters.specific_heat", STRAKE_KEY_REAL, NULL, 1150, 1, INFINITY, false, "[J/(kg K)]",
     "of lava"},
    {"parameters.emissivity", STRAKE_KEY_REAL, NULL, 0.9, 0, 1, false, "[-]",
     "of the surface; or a ramp: {from: [T, e], to: [T, e]}"},
    {"parameters.emissivity.from", STRAKE_KEY_REALS, NULL, 0, 2, 2, false, "[K, -]",
     "temperature and emissivity below which it stays that"},
    {"parameters.emissivity.to", STRAKE_KEY_REALS, NULL, 0, 2, 2, false, "[K, -]",
     "temperature and emissivity above which it stays that; straight between the two"},
    {"parameters.vent_temperature", STRAKE_KEY_REAL, NULL, 1360, 1, 1e4, false, "[K]",
     "of what vents erupt"},
    {"parameters.solidus_temperature", STRAKE_KEY_REAL, NULL, 1143, 1, 1e4, false, "[K]",
     "at which lava becomes solid"},
    {"parameters.water_content", STRAKE_KEY_REAL, NULL, 0.06325, 1e-6, 10, false, "[wt%]",
     "of giordano's viscosity"},
    {"parameters.thermal", STRAKE_KEY_BOOLEAN, NULL, 1, 0, 1, false, "[-]",
     "false: no heat is lost or mixed and nothing becomes solid"},
    {"parameters.convection", STRAKE_KEY_REAL, NULL, 0, 0, INFINITY, false, "[W/(m2 K)]",
     "heat lost to the air beside what is radiated"},
    {"parameters.air_temperature", STRAKE_KEY_REAL, NULL, 293.15, 0, 1e4, false, "[K]",
     "of that air"},
    {"parameters.crust_cover", STRAKE_KEY_REAL, NULL, 0.9, 0, 1, false, "[-]",
     "part of the surface of still lava that its crust covers; the rest shows the lava's inside"},
    {"parameters.crust_decay", STRAKE_KEY_REAL, NULL, 0.16, 0, 1e3, false, "[s/m]",
     "what is covered of lava that flows: crust_cover exp(-crust_decay speed)"},
    {"parameters.crust_temperature", STRAKE_KEY_REAL, NULL, 773.15, 1, 1e4, false, "[K]",
     "of the crust's surface"},
    {"parameters.wind_speed", STRAKE_KEY_REAL, NULL, 5, 0, 1e3, false, "[m/s]",
     "over a crust: convection of 1.7455 W/(m2 K) for each m/s, beside parameters.convection"},
    {"parameters.ground_conductivity", STRAKE_KEY_REAL, NULL, 0.88, 0, 1e3, false, "[W/(m K)]",
     "of the ground, which has the lava's density and specific heat, and the air's temperature "
     "before lava covers it"},
    {"parameters.rain", STRAKE_KEY_REAL, NULL, 0, 0, 1, false, "[m/s]",
     "that falls on lava with a crust and evaporates: 2.68e9 J/m3"},
    {"parameters.viscosity", STRAKE_KEY_REAL, NULL, NAN, 1e-12, INFINITY, false, "[Pa s]",
     "constant, instead of scheme.viscosity"},
    {"parameters.yield_strength", STRAKE_KEY_REAL, NULL, NAN, 0, INFINITY, false, "[Pa]",
     "constant, instead of scheme.yield_strength; 0: a Newtonian fluid"},
    {"parameters.reference_viscosity", STRAKE_KEY_REAL, NULL, 1000, 1e-12, INFINITY, false,
     "[Pa s]", "of dragoni's viscosity, at its reference temperature"},
    {"parameters.reference_temperature", STRAKE_KEY_REAL, NULL, 1360, 1, 1e4, false, "[K]",
     "of dragoni's viscosity: reference_viscosity exp(0.04 (reference_temperature - T))"},
    {"parameters.liquidus_temperature", STRAKE_KEY_REAL, NULL, 1360, 1, 1e4, false, "[K]",
     "of dragoni's yield strength: 0.01 (exp(0.08 (liquidus_temperature - T)) - 1) Pa"},
    {"parameters.vft_a", STRAKE_KEY_REAL, NULL, -4.52, -100, 100, false, "[-]",
     "of vft: log10 of the viscosity is a + b/(T - c)"},
    {"parameters.vft_b", STRAKE_KEY_REAL, NULL, 5558, 0, 1e6, false, "[K]", "of vft"},
    {"parameters.vft_c", STRAKE_KEY_REAL, NULL, 582.9, 0, 1e4, false, "[K]",
     "of vft; below the solidus temperature"},
    {"vents", STRAKE_KEY_VENTS, NULL, 0, 0, 0, false, "[m3/s]",
     "where lava comes out of the ground, and how much. row and col count from 0 in the "
     "north-west, x and y are on the map; to: {row, col} or {x, y} makes a fissure, whose cells "
     "share the rate, and file: NAME one of all points and lines of a file: GeoJSON in "
     "coordinates of the map or in longitude and latitude, or what GDAL reads (KML, GeoPackage, "
     "Shapefile). width [m] spreads the rate over the cells nearer than half of it, most of it in "
     "the middle: fewer steps on fine terrain. rate: a number, {series: [[t, r], ...]} or {file: "
     "NAME.csv} with lines t, r [s, m3/s]: r is constant from t to the next t, the last one for "
     "good; interpolate: linear beside it goes from point to point, in 100 pieces with their "
     "mean; or {curve: constant, volume: V, duration: T} [m3, s], falling (linearly to 0) or "
     "triangle:F (largest after the part F of T, 0.25 without it). A checkpoint goes on where "
     "rates differ from its time on only, and vents that open then are new"},
    {"barriers", STRAKE_KEY_BARRIERS, NULL, 0, 0, 0, false, "[m]",
     "what is built in the way of lava: lines (row, col or x, y, and to, as of vents), or file: "
     "NAME of lines and polygons, as of vents. height: of the crest above the ground [m], which "
     "rises by it, with lava that is there; those of barriers in one cell are added. A line "
     "stands on cells that follow each other side by side, so that nothing leaks between them, "
     "and with width: W on all whose middles are within W/2 [m] of it, a polygon on those whose "
     "middles are in it. from: T and until: T say when it stands [s]; from 0 on and for good if "
     "they do not. A checkpoint of a case with barriers, [] if there are none yet, goes on where "
     "they differ from its time on only"},
    {"time.stop_at_edge", STRAKE_KEY_BOOLEAN, NULL, 0, 0, 1, false, "[-]",
     "end where lava reaches the edge of the terrain; otherwise the edge is what boundary.edge "
     "says"},
    {"boundary.edge", STRAKE_KEY_CHOICE, "wall|sink", 0, 0, 1, false, "[-]",
     "what the edge of the terrain is to lava, and cells without a value that reach to it, such as "
     "the sea: a wall, or a "
     "sink into which lava falls as over a cliff and is gone; lost_volume counts it"},
    {"scheme.widths", STRAKE_KEY_CHOICE, "consistent|published", STRAKE_LAVA_CONSISTENT, 0, 1,
     false, "[-]",
     "of the interfaces with the eight neighbours: consistent with one diffusivity in all "
     "directions, or all one cell"},
    {"scheme.yield", STRAKE_KEY_CHOICE, "gradient|pair", STRAKE_LAVA_GRADIENT, 0, 1, false, "[-]",
     "what the critical thickness follows from: the surface's gradient at the donor, at least the "
     "slope of the pair; or that slope alone, as published"},
    {"scheme.rule", STRAKE_KEY_CHOICE, "outflow|diffusive", STRAKE_LAVA_OUTFLOW, 0, 1, false, "[-]",
     "bound on the time step: time.safety of what empties a cell, or of what is stable for "
     "diffusion"},
    {"scheme.viscosity", STRAKE_KEY_CHOICE, "giordano|dragoni|vft", STRAKE_LAVA_GIORDANO, 0, 2,
     false, "[-]", "law of the viscosity"},
    {"scheme.yield_strength", STRAKE_KEY_CHOICE, "ishihara|dragoni", STRAKE_LAVA_ISHIHARA, 0, 1,
     false, "[-]", "law of the yield strength"},
    {"scheme.cooling", STRAKE_KEY_CHOICE, "exact|euler", STRAKE_LAVA_EXACT, 0, 1, false, "[-]",
     "how radiation is advanced: by its exact solution, or by Euler's method"},
    {"scheme.crust", STRAKE_KEY_CHOICE, "none|fraction", STRAKE_LAVA_CRUSTED, 0, 1, false, "[-]",
     "what covers the surface: nothing, so that it has the lava's temperature; or a crust over a "
     "fraction of it (FLOWGO), with heat lost to wind, ground and rain, too, and counted by kind"},
};

static bool is_given(const strake_case *which, const char *path)
{
    return which->given[strake_case_key(which, path)];
}

static const char constant_viscosity[] = "parameters.viscosity",
                  constant_strength[] = "parameters.yield_strength";

static const char viscosity_law[] = "scheme.viscosity", strength_law[] = "scheme.yield_strength";

/* Keys of laws: idle where a constant is given in place of the law, and but for the choices themselves with other laws. */
static const struct {
    const char *path, *constant, *choice;
    int law;
    const char *why; /* NULL: it chooses the law */
} of_law[] = {
    {viscosity_law, constant_viscosity, viscosity_law, 0, NULL},
    {"parameters.water_content", constant_viscosity, viscosity_law, STRAKE_LAVA_GIORDANO,
     "it is of scheme.viscosity: giordano"},
    {"parameters.reference_viscosity", constant_viscosity, viscosity_law, STRAKE_LAVA_DRAGONI,
     "it is of scheme.viscosity: dragoni"},
    {"parameters.reference_temperature", constant_viscosity, viscosity_law, STRAKE_LAVA_DRAGONI,
     "it is of scheme.viscosity: dragoni"},
    {"parameters.vft_a", constant_viscosity, viscosity_law, STRAKE_LAVA_VFT,
     "it is of scheme.viscosity: vft"},
    {"parameters.vft_b", constant_viscosity, viscosity_law, STRAKE_LAVA_VFT,
     "it is of scheme.viscosity: vft"},
    {"parameters.vft_c", constant_viscosity, viscosity_law, STRAKE_LAVA_VFT,
     "it is of scheme.viscosity: vft"},
    {strength_law, constant_strength, strength_law, 0, NULL},
    {"parameters.liquidus_temperature", constant_strength, strength_law, STRAKE_LAVA_DRAGONI_YIELD,
     "it is of scheme.yield_strength: dragoni"},
};

/* Keys of what happens to heat. */
static const char *const of_heat[] = {
    "parameters.emissivity",          "parameters.emissivity.from",
    "parameters.emissivity.to",       "parameters.convection",
    "parameters.solidus_temperature", "scheme.cooling",
    "parameters.air_temperature",     "scheme.crust"};

/* Keys of a crust. */
static const char *const of_crust[] = {"parameters.crust_cover",         "parameters.crust_decay",
                                       "parameters.crust_temperature",   "parameters.wind_speed",
                                       "parameters.ground_conductivity", "parameters.rain"};

double strake_lava_heat_capacity(const strake_case *which)
{
    return strake_case_value(which, "parameters.density") *
           strake_case_value(which, "parameters.specific_heat");
}

bool strake_lava_has_crust(const strake_case *which)
{
    return strake_case_value(which, "parameters.thermal") > 0.0 &&
           (int)strake_case_value(which, "scheme.crust") == STRAKE_LAVA_CRUSTED;
}

/** The functions of strake_problem with these names. */
static const char *lava_idle(const strake_case *which, int key)
{
    const char *const name = strake_lava_keys[key].path;
    const bool has_crust = strake_lava_has_crust(which);
    for (size_t k = 0; k < sizeof of_law / sizeof *of_law; k++) {
        if (strcmp(name, of_law[k].path) != 0) {
            continue;
        }
        if (is_given(which, of_law[k].constant)) {
            return of_law[k].constant == constant_viscosity
                       ? "parameters.viscosity is a constant, in place of the law"
                       : "parameters.yield_strength is a constant, in place of the law";
        }
        return (int)strake_case_value(which, of_law[k].choice) != of_law[k].law ? of_law[k].why
                                                                                : NULL;
    }
    for (size_t k = 0; k < sizeof of_heat / sizeof *of_heat; k++) {
        if (strcmp(name, of_heat[k]) == 0 &&
            strake_case_value(which, "parameters.thermal") == 0.0) {
            return "parameters.thermal is false";
        }
    }
    for (size_t k = 0; k < sizeof of_crust / sizeof *of_crust; k++) {
        if (strcmp(name, of_crust[k]) == 0 && !has_crust) {
            return strake_case_value(which, "parameters.thermal") > 0.0
                       ? "there is no crust (scheme.crust)"
                       : "parameters.thermal is false";
        }
    }
    if (strcmp(name, "scheme.cooling") == 0 && has_crust) {
        return "with scheme.crust all losses are advanced together";
    }
    return strcmp(name, "parameters.air_temperature") == 0 && !has_crust &&
                   strake_case_value(which, "parameters.convection") == 0.0
               ? "parameters.convection is 0"
               : NULL;
}

/** The laws that a case chooses. */
/* Giordano & Dingwell 2003, for basalt of Etna; Dragoni 1989. */
static strake_lava_mobility lava_mobility_of(const strake_case *which)
{
    const double weight = strake_case_value(which, "parameters.density") * strake_lava_gravity;
    const double water = strake_case_value(which, "parameters.water_content");
    /* Laws without c/(t - d) have a d that no temperature is near to: 0 is divided by numbers that are safe. */
    strake_lava_mobility law = {.scale = weight / 3.0, .d = -1.0};
    if (is_given(which, "parameters.viscosity")) {
        law.scale /= strake_case_value(which, "parameters.viscosity");
        return law;
    }
    switch ((int)strake_case_value(which, "scheme.viscosity")) {
    case STRAKE_LAVA_DRAGONI:
        law.scale /= strake_case_value(which, "parameters.reference_viscosity");
        law.b = 0.04 * per_e;
        law.a = -law.b * strake_case_value(which, "parameters.reference_temperature");
        break;
    case STRAKE_LAVA_VFT:
        law.a = -per_decade * strake_case_value(which, "parameters.vft_a");
        law.c = -per_decade * strake_case_value(which, "parameters.vft_b");
        law.d = strake_case_value(which, "parameters.vft_c");
        break;
    default:
        law.a = per_decade * 4.643;
        law.c = -per_decade * (5812.44 - 427.04 * water);
        law.d = 499.31 - 28.74 * log(water);
        break;
    }
    return law;
}

/* Ishihara et al. 1990 as MAGFLOW has it; Dragoni 1989. */
static strake_lava_strength lava_strength_of(const strake_case *which)
{
    const double weight = strake_case_value(which, "parameters.density") * strake_lava_gravity;
    if (is_given(which, "parameters.yield_strength")) {
        return (strake_lava_strength){.p = strake_case_value(which, "parameters.yield_strength") /
                                           weight};
    }
    if ((int)strake_case_value(which, "scheme.yield_strength") == STRAKE_LAVA_DRAGONI_YIELD) {
        const double rate = -0.08 * per_e;
        return (strake_lava_strength){
            .a = -rate * strake_case_value(which, "parameters.liquidus_temperature"),
            .b = rate,
            .p = -0.01 / weight,
            .q = 0.01 / weight};
    }
    return (strake_lava_strength){
        .a = per_decade * 13.00997, .b = -per_decade * 0.0089, .q = 1.0 / weight};
}

static strake_lava_emissivity lava_emissivity_of(const strake_case *which)
{
    const double one = strake_case_value(which, "parameters.emissivity");
    strake_lava_emissivity e = {.a = one, .low = one, .high = one};
    if (is_given(which, "parameters.emissivity.from")) {
        const double *from = which->list[strake_case_key(which, "parameters.emissivity.from")];
        const double *to = which->list[strake_case_key(which, "parameters.emissivity.to")];
        e.b = (to[1] - from[1]) / (to[0] - from[0]);
        e.a = from[1] - e.b * from[0];
        e.low = fmin(from[1], to[1]);
        e.high = fmax(from[1], to[1]);
    }
    return e;
}

/* What happens in the course of a flow: what vents give, what must be kept, why it ends. */

static double lava_event(const strake_case *which, double time)
{
    return fmin(strake_vents_next(&which->vents, time), strake_vents_next(&which->barriers, time));
}

/* Whether the case gives a field 0 everywhere. */
static bool is_nowhere(const strake_case *which, int field)
{
    double number = 0.0;
    const strake_source *const given = which->source[field];
    return given == NULL || (strake_source_constant(given, &number) && number == 0.0);
}

/* Whether there are barriers, or may be later on. */
static bool lava_has_barriers(const strake_case *which)
{
    return is_given(which, "barriers") || !is_nowhere(which, STRAKE_LAVA_BARRIER);
}

/* Vents pour into the effusion, barriers into the height that is on the ground. */
static int64_t lava_pour(const strake_case *which, int field, double time,
                         void (*add)(void *user, int64_t i, int64_t j, double amount), void *user)
{
    const bool is_effusion = field == STRAKE_LAVA_EFFUSION;
    const strake_vents *const vents = is_effusion ? &which->vents : &which->barriers;
    const double area = is_effusion ? which->spacing[0] * which->spacing[2] : 1.0;
    for (int64_t k = 0; k < vents->cells && add != NULL; k++) {
        const strake_vent_cell *const cell = &vents->cell[k];
        add(user, cell->row, cell->col, strake_vents_rate(vents, cell, time) / area);
    }
    return vents->cells;
}

static double part_of(double there, double given)
{
    return there == given ? 0.0 : (there - given) / fmax(fabs(given), fabs(there));
}

/* Of the volume or, where heat is counted, of that: what is worse. */
static double lava_imbalance(const double *first, const double *now)
{
    const double there = now[STRAKE_LAVA_FLUID_VOLUME] + now[STRAKE_LAVA_SOLID_VOLUME] +
                         now[STRAKE_LAVA_LOST_VOLUME];
    const double given = first[STRAKE_LAVA_FLUID_VOLUME] + first[STRAKE_LAVA_SOLID_VOLUME] +
                         first[STRAKE_LAVA_LOST_VOLUME] + now[STRAKE_LAVA_ERUPTED] -
                         first[STRAKE_LAVA_ERUPTED];
    const double volume = part_of(there, given);
    if (isnan(now[STRAKE_LAVA_ERUPTED_HEAT])) {
        return volume;
    }
    double warm = now[STRAKE_LAVA_TOTAL_HEAT], supplied = first[STRAKE_LAVA_TOTAL_HEAT];
    for (int q = STRAKE_LAVA_RADIATED_HEAT; q <= STRAKE_LAVA_DRAINED_HEAT; q++) {
        warm += isnan(now[q]) ? 0.0 : now[q];
        supplied += isnan(first[q]) ? 0.0 : first[q];
    }
    supplied += now[STRAKE_LAVA_ERUPTED_HEAT] - first[STRAKE_LAVA_ERUPTED_HEAT];
    const double heat = part_of(warm, supplied);
    return fabs(heat) > fabs(volume) ? heat : volume;
}

bool strake_lava_has_sink(const strake_case *which)
{
    return strake_case_value(which, "boundary.edge") > 0.0;
}

/** Whether the field of effusion gives nothing, vents apart. */
static bool lava_is_dry(const strake_case *which)
{
    return is_nowhere(which, STRAKE_LAVA_EFFUSION);
}

/* Whether nothing comes out of the ground from a time on. */
static bool has_ended(const strake_case *which, double time)
{
    return which->vents.count > 0
               ? strake_vents_are_over(&which->vents, time)
               : which->source[STRAKE_LAVA_EFFUSION] != NULL && lava_is_dry(which);
}

/* Whether there is no lava, and none comes before the end of the run. */
static bool has_nothing(const strake_case *which, const double *quantity)
{
    return lava_is_dry(which) && quantity[STRAKE_LAVA_FLUID_VOLUME] == 0.0 &&
           quantity[STRAKE_LAVA_SOLID_VOLUME] == 0.0 && quantity[STRAKE_LAVA_ERUPTED] == 0.0 &&
           strake_vents_volume(&which->vents, 0.0, which->end) == 0.0;
}

static strake_course lava_judge_course(const strake_case *which, double time,
                                       const double *quantity, const char **why)
{
    if (has_nothing(which, quantity)) {
        *why = which->vents.count > 0
                   ? "no vent has erupted, nor will one until time.end"
                   : "there is no lava: the case has no vents, no effusion and no "
                     "thickness";
        return STRAKE_IS_DOUBTFUL;
    }
    const bool ends = strake_case_value(which, "time.stop_at_edge") > 0.0;
    /* What a sink has taken was at the edge between two looks at the states. */
    const bool was_there =
        quantity[STRAKE_LAVA_EDGE] > 0.0 || quantity[STRAKE_LAVA_LOST_VOLUME] > 0.0;
    if (was_there && (ends || !strake_lava_has_sink(which))) {
        *why = ends ? "lava has reached the edge of the terrain (time.stop_at_edge)"
                    : "lava has reached the edge of the terrain, which is a wall to it; a larger "
                      "terrain shows where it goes, time.stop_at_edge: true ends a run there, "
                      "boundary.edge: sink lets it flow out";
        return ends ? STRAKE_IS_OVER : STRAKE_IS_DOUBTFUL;
    }
    if (quantity[STRAKE_LAVA_FLUID_VOLUME] == 0.0 && has_ended(which, time)) {
        *why = "the last effusion is over and no lava is fluid";
        return STRAKE_IS_OVER;
    }
    return STRAKE_GOES_ON;
}

static void find_heat(const strake_case *which, const double *const *from, int64_t count,
                      double *out)
{
    const double heat = strake_lava_heat_capacity(which);
    for (int64_t k = 0; k < count; k++) {
        out[k] = heat * (from[0][k] * from[1][k]);
    }
}

static void find_deposit(const strake_case *which, const double *const *from, int64_t count,
                         double *out)
{
    (void)which;
    for (int64_t k = 0; k < count; k++) {
        out[k] = from[0][k] + from[1][k];
    }
}

/* States that a crust needs, or that count the heat which has left; each follows from what is in its cell. */
#define HEAT_STATE .is_state = true, .is_pointwise = true, .is_traced = true, .is_optional = true

static bool lava_has(const strake_case *which, int field)
{
    const bool is_counted = strake_lava_has_crust(which);
    switch (field) {
    case STRAKE_LAVA_DRAIN:
    case STRAKE_LAVA_LOST:
        return strake_lava_has_sink(which);
    case STRAKE_LAVA_DRAINED:
        return is_counted && strake_lava_has_sink(which);
    case STRAKE_LAVA_RAINED:
        return is_counted && strake_case_value(which, "parameters.rain") > 0.0;
    default:
        return is_counted;
    }
}

static const strake_field fields[] = {
    [STRAKE_LAVA_TERRAIN] =
        {"terrain", STRAKE_CELL, .required = true, .unit = "[m]",
         .text = "elevation of the ground; from 5e8 m on it is a wall", .is_ground = true,
         .wall = {STRAKE_EDGE_NUMBER, STRAKE_EDGE_AS_STATES, STRAKE_EDGE_NUMBER},
         .open = {STRAKE_EDGE_NUMBER, STRAKE_EDGE_AS_STATES, STRAKE_EDGE_NUMBER},
         .beyond = STRAKE_LAVA_BEYOND, .beyond_open = STRAKE_LAVA_SINK, .has_blank = true,
         .blank = STRAKE_LAVA_BEYOND, .blank_inside = STRAKE_LAVA_HOLE},
    [STRAKE_LAVA_EFFUSION] = {"effusion", STRAKE_CELL, .unit = "[m/s]", .is_poured = true,
                              .wakes = true,
                              .text = "lava that rises in a cell, over its area; instead of vents"},
    [STRAKE_LAVA_BARRIER] = {"barrier", STRAKE_CELL, .unit = "[m]", .is_poured = true,
                             .wall = {STRAKE_EDGE_NUMBER, STRAKE_EDGE_AS_STATES,
                                      STRAKE_EDGE_NUMBER},
                             .open = {STRAKE_EDGE_NUMBER, STRAKE_EDGE_AS_STATES,
                                      STRAKE_EDGE_NUMBER},
                             .text = "height of what is built on the ground; instead of barriers"},
    [STRAKE_LAVA_DEPOSIT] = {"deposit", STRAKE_CELL, .derive = find_deposit,
                             .from = {STRAKE_LAVA_THICKNESS, STRAKE_LAVA_SOLID}, .unit = "[m]",
                             .is_usual = true, .text = "thickness of all lava, fluid and solid"},
    [STRAKE_LAVA_THICKNESS] = {"thickness", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                               .unit = "[m]", .has_blank = true, .is_extent = true, .wakes = true,
                               .text = "of the fluid lava"},
    [STRAKE_LAVA_TEMPERATURE] = {"temperature", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                                 .fallback = 1360, .fallback_key = "parameters.vent_temperature",
                                 .unit = "[K]", .has_blank = true, .blank = 1360,
                                 .text = "of the fluid lava"},
    [STRAKE_LAVA_SOLID] = {"solid", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                           .unit = "[m]", .has_blank = true, .is_extent = true,
                           .text = "thickness of the lava that has become solid: new ground"},
    [STRAKE_LAVA_NET] = {"net", STRAKE_CELL, .is_state = true, .is_derived = true, .unit = "[m/s]",
                         .foretells = true, .text = "what flows in less what flows out"},
    [STRAKE_LAVA_MIX] = {"mix", STRAKE_CELL, .is_state = true, .is_derived = true,
                         .unit = "[K m/s]", .text = "what flows in times how much hotter it is"},
    [STRAKE_LAVA_DRAIN] = {"drain", STRAKE_CELL, .is_state = true, .is_derived = true,
                           .is_optional = true, .unit = "[m/s]",
                           .text = "what flows out over an edge that is a sink"},
    [STRAKE_LAVA_MAXIMUM] = {"maximum", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                             .is_traced = true, .unit = "[m]", .text = "largest thickness so far"},
    [STRAKE_LAVA_ARRIVAL] = {"arrival", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                             .is_traced = true, .has_never = true, .fallback = -1, .unit = "[s]",
                             .text = "time at which there was lava first; NaN: never"},
    [STRAKE_LAVA_SPEED] =
        {"speed", STRAKE_CELL, .is_state = true, .is_traced = true, .unit = "[m/s]",
         .text =
             "of the fluid lava, mean over its thickness; 0 where that is at most 1 mm, and before "
             "the first step"},
    [STRAKE_LAVA_LOST] = {"lost", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                          .is_traced = true, .is_optional = true, .unit = "[m]",
                          .text = "what has flowed out of a cell over an edge that is a sink, as "
                                  "thickness"},
    [STRAKE_LAVA_CRUST] = {"crust", STRAKE_CELL, .is_state = true, .is_traced = true,
                           .is_optional = true, .unit = "[-]",
                           .text = "part of the surface that a crust covers (scheme.crust)"},
    [STRAKE_LAVA_CONTACT] = {"contact", STRAKE_CELL, HEAT_STATE, .unit = "[s]",
                             .text = "how long there has been fluid lava (scheme.crust)"},
    [STRAKE_LAVA_RADIATED] = {"radiated", STRAKE_CELL, HEAT_STATE, .unit = "[J/m2]",
                              .text = "heat that was radiated so far (scheme.crust)"},
    [STRAKE_LAVA_CONVECTED] = {"convected", STRAKE_CELL, HEAT_STATE, .unit = "[J/m2]",
                               .text = "heat that went into the air so far (scheme.crust)"},
    [STRAKE_LAVA_CONDUCTED] = {"conducted", STRAKE_CELL, HEAT_STATE, .unit = "[J/m2]",
                               .text = "heat that went into the ground so far (scheme.crust)"},
    [STRAKE_LAVA_RAINED] = {"rained", STRAKE_CELL, HEAT_STATE, .unit = "[J/m2]",
                            .text = "heat that rain took so far (scheme.crust, parameters.rain)"},
    [STRAKE_LAVA_DRAINED] = {"drained", STRAKE_CELL, HEAT_STATE, .unit = "[J/m2]",
                             .text = "heat that flowed out over edges that are sinks so far "
                                     "(scheme.crust)"},
    [STRAKE_LAVA_HEAT] = {"heat", STRAKE_CELL, .derive = find_heat,
                          .from = {STRAKE_LAVA_THICKNESS, STRAKE_LAVA_TEMPERATURE},
                          .unit = "[J/m2]", .text = "of the fluid lava"},
};

/* A step's stages and what they share. */
typedef struct table {
    const strake_case *which;
    strake_graph *g;
    bool thermal;
    int input[STRAKE_LAVA_FIELDS];
    int dt, time;
    int wet;                           /* thickness before some of it becomes solid */
    int thickness, temperature, solid; /* as advanced */
    int ground, surface, mobility, strength, gradient;
    int flux[4]; /* to the neighbours e, s, se, sw */
    int loss;
    int speed;
    int lost[4], part; /* with a crust: heat by kind [J/m2], and the part of it that was lost */
} table;

/* Rows and columns from a cell to its neighbours e, s, se, sw. */
static const int way[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

static strake_read at(int value, int i, int j)
{
    return (strake_read){value, {i, 0, j}};
}

static strake_read here(int value)
{
    return at(value, 0, 0);
}

static strake_read number(const table *t, const char *name, double value)
{
    const int found = strake_graph_find(t->g, name);
    return here(found >= 0 ? found : strake_graph_constant(t->g, name, value));
}

static const double stefan = 5.67e-8; /* [W/(m2 K4)] */

/* Convection by a wind of 1 m/s: 0.0036 of the heat of air of 0.4412 kg/m3 and 1099 J/(kg K) (Keszthelyi & Denlinger 1996). */
static const double per_wind = 0.0036 * 0.4412 * 1099.0;

/* [J/m3] What rain takes to evaporate: 958 kg/m3, 2.8e6 J/kg (Harris & Rowland 2001). */
static const double per_rain = 958.0 * 2.8e6;

/* The temperature under a crust, from that after mixing, and what is lost of heat. */
static int crusted(table *t, int wet, int blend, strake_read emissivity)
{
    const strake_case *const which = t->which;
    const double heat = strake_lava_heat_capacity(which);
    const double crust = strake_case_value(which, "parameters.crust_temperature");
    const double conductivity = strake_case_value(which, "parameters.ground_conductivity");
    const double transfer = strake_case_value(which, "parameters.convection") +
                            per_wind * strake_case_value(which, "parameters.wind_speed");
    const double rain = per_rain * strake_case_value(which, "parameters.rain");
    const strake_read cover = here(t->input[STRAKE_LAVA_CRUST]), hot = here(blend);
    const strake_read air =
        number(t, "air", strake_case_value(which, "parameters.air_temperature"));
    t->lost[0] = STRAKE_STAGE(t->g, 1, "radiation", lava_radiate, hot, cover, emissivity,
                              here(t->dt), number(t, "stefan", stefan),
                              number(t, "crust_glow", stefan * pow(crust, 4.0)));
    t->lost[1] =
        STRAKE_STAGE(t->g, 1, "convection", lava_convect, hot, cover, here(t->dt),
                     number(t, "transfer", transfer), number(t, "crust_temperature", crust), air);
    t->lost[2] = STRAKE_STAGE(t->g, 1, "conduction", lava_conduct, hot,
                              here(t->input[STRAKE_LAVA_CONTACT]), here(t->dt),
                              number(t, "sorption", sqrt(conductivity * heat / acos(-1.0))), air);
    t->lost[3] =
        STRAKE_STAGE(t->g, 1, "rain", lava_rain, here(t->dt), number(t, "rain_heat", rain));
    const int all = STRAKE_STAGE(t->g, 1, "losses", lava_lose, here(t->lost[0]), here(t->lost[1]),
                                 here(t->lost[2]), here(t->lost[3]));
    const int cool = STRAKE_STAGE(t->g, 1, "cooled", lava_shed, here(wet), hot, here(all),
                                  number(t, "third", 3.0 / heat));
    t->part = STRAKE_STAGE(t->g, 1, "part", lava_part, here(wet), hot, here(cool), here(all),
                           number(t, "heat_capacity", heat));
    return cool;
}

/* The temperature after mixing and cooling, of thickness @p wet. */
static int cooled(table *t, int wet)
{
    const strake_case *const which = t->which;
    const strake_lava_emissivity e = lava_emissivity_of(which);
    const double heat = strake_lava_heat_capacity(which);
    const int blend = STRAKE_STAGE(
        t->g, 1, "blend", lava_blend, here(wet), here(t->input[STRAKE_LAVA_TEMPERATURE]),
        here(t->input[STRAKE_LAVA_MIX]), here(t->input[STRAKE_LAVA_EFFUSION]), here(t->dt),
        number(t, "source", strake_case_value(which, "parameters.vent_temperature")));
    const strake_read emissivity =
        e.b == 0.0 ? number(t, "e_a", e.a)
                   : here(STRAKE_STAGE(t->g, 1, "emissivity", lava_emissivity, here(blend),
                                       number(t, "e_a", e.a), number(t, "e_b", e.b),
                                       number(t, "e_low", e.low), number(t, "e_high", e.high)));
    if (strake_lava_has_crust(which)) {
        return crusted(t, wet, blend, emissivity);
    }
    const strake_read read[] = {
        here(wet),
        here(blend),
        emissivity,
        here(t->dt),
        number(t, "sigma", 3.0 * stefan / heat),
        number(t, "wind", 3.0 * strake_case_value(which, "parameters.convection") / heat),
        number(t, "air", strake_case_value(which, "parameters.air_temperature"))};
    const bool is_exact = (int)strake_case_value(which, "scheme.cooling") == STRAKE_LAVA_EXACT;
    return strake_graph_stage(t->g, 1, "cooled",
                              is_exact ? &strake_point_lava_cool : &strake_point_lava_cool_euler, 7,
                              read);
}

/* Thickness, temperature and solid after the step. */
static void advance(table *t)
{
    const double solidus = strake_case_value(t->which, "parameters.solidus_temperature");
    const int wet =
        STRAKE_STAGE(t->g, 1, "wet", lava_erupt, here(t->input[STRAKE_LAVA_TERRAIN]),
                     here(t->input[STRAKE_LAVA_THICKNESS]), here(t->input[STRAKE_LAVA_NET]),
                     here(t->input[STRAKE_LAVA_EFFUSION]), here(t->dt));
    t->wet = wet;
    t->thickness = wet;
    t->temperature = t->input[STRAKE_LAVA_TEMPERATURE];
    t->solid = t->input[STRAKE_LAVA_SOLID];
    if (t->thermal) {
        const int cool = cooled(t, wet);
        t->thickness =
            STRAKE_STAGE(t->g, 1, "fluid", lava_fluid, here(wet), here(cool),
                         number(t, "solidus", solidus), number(t, "per_solidus", 1.0 / solidus));
        t->temperature = STRAKE_STAGE(t->g, 1, "hot", lava_thaw, here(wet), here(cool),
                                      number(t, "solidus", solidus));
        t->solid = STRAKE_STAGE(t->g, 1, "settled", lava_settle, here(t->solid), here(wet),
                                here(t->thickness));
    }
    const int terrain = t->input[STRAKE_LAVA_TERRAIN];
    const int raised = lava_has_barriers(t->which)
                           ? STRAKE_STAGE(t->g, 2, "raised", lava_add, here(terrain),
                                          here(t->input[STRAKE_LAVA_BARRIER]))
                           : terrain;
    t->ground = STRAKE_STAGE(t->g, 2, "ground", lava_add, here(raised), here(t->solid));
    t->surface = STRAKE_STAGE(t->g, 2, "surface", lava_add, here(t->ground), here(t->thickness));
}

/* What a cell is as a donor. */
static void describe_donors(table *t)
{
    const strake_lava_mobility m = lava_mobility_of(t->which);
    const strake_lava_strength y = lava_strength_of(t->which);
    const double length = t->which->spacing[0];
    const strake_read slope = number(t, "per_length", 1.0 / length);
    const int f = t->surface, g = t->ground;
    t->mobility = STRAKE_STAGE(t->g, 3, "mobility", lava_mobility, here(t->temperature),
                               number(t, "m_a", m.a), number(t, "m_b", m.b), number(t, "m_c", m.c),
                               number(t, "m_d", m.d), number(t, "m_scale", m.scale));
    t->strength = STRAKE_STAGE(t->g, 3, "strength", lava_strength, here(t->temperature),
                               number(t, "y_a", y.a), number(t, "y_b", y.b), number(t, "y_p", y.p),
                               number(t, "y_q", y.q));
    if ((int)strake_case_value(t->which, "scheme.yield") == STRAKE_LAVA_PAIR) {
        t->gradient = -1;
        return;
    }
    t->gradient = STRAKE_STAGE(t->g, 3, "gradient", lava_gradient, here(f), at(f, -1, 0),
                               at(f, 1, 0), at(f, 0, -1), at(f, 0, 1), at(g, -1, 0), at(g, 1, 0),
                               at(g, 0, -1), at(g, 0, 1), slope, slope);
    t->strength = STRAKE_STAGE(t->g, 3, "tilted", lava_tilt, here(t->strength), here(f),
                               at(f, -1, 0), at(f, 1, 0), at(f, 0, -1), at(f, 0, 1), here(g),
                               at(g, -1, 0), at(g, 1, 0), at(g, 0, -1), at(g, 0, 1), slope, slope);
}

/* The flux to a neighbour: both cells' numbers, then those of the distance. */
static void find_flux(table *t, int k)
{
    static const char *const name[] = {"flux_e", "flux_s", "flux_se", "flux_sw"};
    const bool is_diagonal = k >= 2;
    const double dx = t->which->spacing[0];
    const double length = is_diagonal ? sqrt(2.0) * dx : dx;
    const bool is_published =
        (int)strake_case_value(t->which, "scheme.widths") == STRAKE_LAVA_PUBLISHED;
    const double width = is_published ? dx : is_diagonal ? sqrt(2.0) / 6.0 * dx : 2.0 / 3.0 * dx;
    const int value[] = {t->surface,  t->ground,   t->thickness,
                         t->mobility, t->strength, t->gradient};
    const int values = t->gradient >= 0 ? 6 : 5;
    strake_read read[STRAKE_MAX_READS];
    int count = 0;
    for (int v = 0; v < values; v++) {
        read[count++] = here(value[v]);
        read[count++] = at(value[v], way[k][0], way[k][1]);
    }
    read[count++] = number(t, is_diagonal ? "square_diagonal" : "square", length * length);
    if (t->gradient >= 0) {
        read[count++] = number(t, is_diagonal ? "per_diagonal" : "per_length", 1.0 / length);
    }
    read[count++] = number(t, is_diagonal ? "width_diagonal" : "width", width / (dx * dx));
    t->flux[k] = strake_graph_stage(
        t->g, 4, name[k], t->gradient >= 0 ? &strake_point_lava_flux : &strake_point_lava_flux_pair,
        count, read);
}

/* A cell's eight fluxes: e, w, s, n, se, nw, sw, ne. */
static void list_fluxes(const table *t, strake_read *read)
{
    for (int k = 0; k < 4; k++) {
        read[2 * k] = here(t->flux[k]);
        read[2 * k + 1] = at(t->flux[k], -way[k][0], -way[k][1]);
    }
}

/* What a speed follows from. */
static void list_speed(const table *t, strake_read *read)
{
    list_fluxes(t, read);
    read[8] = here(t->thickness);
    read[9] = number(t, "half_length", 0.5 * t->which->spacing[0]);
}

static void find_tendencies(table *t)
{
    strake_read read[STRAKE_MAX_READS];
    list_fluxes(t, read);
    const int net = strake_graph_stage(t->g, 5, "net_next", &strake_point_lava_net, 8, read);
    t->loss = strake_graph_stage(t->g, 5, "loss", &strake_point_lava_loss, 8, read);
    int mix = t->input[STRAKE_LAVA_MIX];
    read[8] = here(t->temperature);
    for (int k = 0; k < 4; k++) {
        read[9 + 2 * k] = at(t->temperature, way[k][0], way[k][1]);
        read[10 + 2 * k] = at(t->temperature, -way[k][0], -way[k][1]);
    }
    mix = t->thermal ? strake_graph_stage(t->g, 5, "mix_next", &strake_point_lava_mix, 17, read)
                     : STRAKE_STAGE(t->g, 5, "mix_next", lava_keep, here(mix));
    strake_graph_state(t->g, t->input[STRAKE_LAVA_NET], net);
    strake_graph_state(t->g, t->input[STRAKE_LAVA_MIX], mix);
}

/* What flows into sinks; in the next step it is added to what each cell has lost. */
static void drain(const table *t)
{
    strake_read read[STRAKE_MAX_READS];
    if (!strake_case_has(t->which, STRAKE_LAVA_LOST)) {
        return;
    }
    const int lost = t->input[STRAKE_LAVA_LOST];
    if (!strake_lava_has_sink(t->which)) {
        strake_graph_state(t->g, lost, STRAKE_STAGE(t->g, 6, "lost_next", lava_keep, here(lost)));
        return;
    }
    list_fluxes(t, read);
    for (int k = 0; k < 4; k++) {
        read[8 + 2 * k] = at(t->ground, way[k][0], way[k][1]);
        read[9 + 2 * k] = at(t->ground, -way[k][0], -way[k][1]);
    }
    strake_graph_state(
        t->g, t->input[STRAKE_LAVA_DRAIN],
        strake_graph_stage(t->g, 5, "drain_next", &strake_point_lava_drain, 16, read));
    strake_graph_state(t->g, lost,
                       STRAKE_STAGE(t->g, 6, "lost_next", lava_spill, here(lost),
                                    here(t->input[STRAKE_LAVA_DRAIN]), here(t->dt)));
}

/* A crust's cover in the next step, the time of contact, and what heat has left so far. */
static void count_heat(table *t)
{
    static const char *const next[] = {"radiated_next", "convected_next", "conducted_next",
                                       "rained_next"};
    const strake_case *const which = t->which;
    strake_read read[STRAKE_MAX_READS];
    if (!strake_lava_has_crust(which)) {
        return;
    }
    list_speed(t, read);
    t->speed = strake_graph_stage(t->g, 5, "speed_now", &strake_point_lava_speed, 10, read);
    strake_graph_state(
        t->g, t->input[STRAKE_LAVA_CRUST],
        STRAKE_STAGE(
            t->g, 5, "crust_next", lava_cover, here(t->speed),
            number(t, "crust_cover", strake_case_value(which, "parameters.crust_cover")),
            number(t, "crust_decay", -per_e * strake_case_value(which, "parameters.crust_decay"))));
    strake_graph_state(t->g, t->input[STRAKE_LAVA_CONTACT],
                       STRAKE_STAGE(t->g, 6, "contact_next", lava_touch,
                                    here(t->input[STRAKE_LAVA_CONTACT]), here(t->wet),
                                    here(t->dt)));
    for (int k = 0; k < 4; k++) {
        const int f = STRAKE_LAVA_RADIATED + k;
        if (strake_case_has(which, f)) {
            strake_graph_state(t->g, t->input[f],
                               STRAKE_STAGE(t->g, 6, next[k], lava_count, here(t->input[f]),
                                            here(t->part), here(t->lost[k])));
        }
    }
    if (strake_case_has(which, STRAKE_LAVA_DRAINED)) {
        const int drained = t->input[STRAKE_LAVA_DRAINED];
        strake_graph_state(
            t->g, drained,
            STRAKE_STAGE(t->g, 6, "drained_next", lava_carry, here(drained),
                         here(t->input[STRAKE_LAVA_DRAIN]), here(t->input[STRAKE_LAVA_TEMPERATURE]),
                         here(t->dt),
                         number(t, "heat_capacity", strake_lava_heat_capacity(which))));
    }
}

static void find_bound(const table *t)
{
    const double dx = t->which->spacing[0];
    const strake_read safety = number(t, "safety", t->which->safety);
    const bool is_outflow = (int)strake_case_value(t->which, "scheme.rule") == STRAKE_LAVA_OUTFLOW;
    const int bound =
        is_outflow
            ? STRAKE_STAGE(t->g, 5, "bound", lava_bound, here(t->thickness), here(t->loss), safety)
            : STRAKE_STAGE(t->g, 5, "bound", lava_bound_diffusive, here(t->thickness),
                           here(t->loss), here(t->mobility), safety, number(t, "area", dx * dx));
    strake_graph_reduce(t->g, bound, STRAKE_MINIMUM);
}

/* What the flow has been through, where somebody wants to know. */
static void trace(const table *t)
{
    const int maximum = t->input[STRAKE_LAVA_MAXIMUM], arrival = t->input[STRAKE_LAVA_ARRIVAL];
    if (strake_case_has(t->which, STRAKE_LAVA_MAXIMUM)) {
        strake_graph_state(
            t->g, maximum,
            STRAKE_STAGE(t->g, 6, "maximum_next", lava_most, here(maximum), here(t->thickness)));
    }
    if (strake_case_has(t->which, STRAKE_LAVA_ARRIVAL)) {
        strake_graph_state(t->g, arrival,
                           STRAKE_STAGE(t->g, 6, "arrival_next", lava_arrive, here(arrival),
                                        here(t->wet), here(t->time)));
    }
    if (strake_case_has(t->which, STRAKE_LAVA_SPEED)) {
        strake_read read[STRAKE_MAX_READS];
        list_speed(t, read);
        strake_graph_state(
            t->g, t->input[STRAKE_LAVA_SPEED],
            t->speed >= 0
                ? STRAKE_STAGE(t->g, 6, "speed_next", lava_keep, here(t->speed))
                : strake_graph_stage(t->g, 6, "speed_next", &strake_point_lava_speed, 10, read));
    }
}

static strake_status build(const strake_case *which, const bool *constant, const double *value,
                           strake_graph *graph, strake_error *error)
{
    static const char *const next[] = {[STRAKE_LAVA_THICKNESS] = "thickness_next",
                                       [STRAKE_LAVA_TEMPERATURE] = "temperature_next",
                                       [STRAKE_LAVA_SOLID] = "solid_next"};
    table t = {.which = which,
               .g = graph,
               .speed = -1,
               .thermal = strake_case_value(which, "parameters.thermal") > 0.0};
    strake_graph_begin(graph, which->precision);
    for (int f = 0; f < STRAKE_LAVA_FIELDS; f++) {
        /* Terrain is never folded: beyond the edges it is a wall. */
        const bool is_folded = constant[f] && f != STRAKE_LAVA_TERRAIN &&
                               (f != STRAKE_LAVA_EFFUSION || which->vents.count == 0) &&
                               (f != STRAKE_LAVA_BARRIER || !is_given(which, "barriers"));
        const bool is_none = f == STRAKE_LAVA_BARRIER && !lava_has_barriers(which);
        t.input[f] = is_none ? strake_graph_constant(graph, fields[f].name, 0.0)
                     : is_folded || !strake_case_has(which, f)
                         ? strake_graph_constant(graph, fields[f].name, value[f])
                         : strake_graph_input(graph, fields[f].name, !fields[f].is_state);
    }
    t.dt = strake_graph_scalar(graph, "dt");
    t.time = strake_case_has(which, STRAKE_LAVA_ARRIVAL) ? strake_graph_scalar(graph, "time") : -1;
    advance(&t);
    describe_donors(&t);
    for (int k = 0; k < 4; k++) {
        find_flux(&t, k);
    }
    find_tendencies(&t);
    drain(&t);
    count_heat(&t);
    find_bound(&t);
    const int after[] = {[STRAKE_LAVA_THICKNESS] = t.thickness,
                         [STRAKE_LAVA_TEMPERATURE] = t.temperature,
                         [STRAKE_LAVA_SOLID] = t.solid};
    /* Operands of others: a next state is none. */
    for (int f = STRAKE_LAVA_THICKNESS; f <= STRAKE_LAVA_SOLID; f++) {
        const int kept = STRAKE_STAGE(graph, 6, next[f], lava_keep, here(after[f]));
        strake_graph_state(graph, t.input[f], kept);
    }
    trace(&t);
    return strake_graph_finish(graph, error);
}

/* A crust and what is around it are colder than lava, and fields of a crust are only there with one. */
static strake_status check_crust(const strake_case *which, strake_error *error)
{
    static const char *const colder[] = {"parameters.crust_temperature",
                                         "parameters.air_temperature"};
    const double solidus = strake_case_value(which, "parameters.solidus_temperature");
    for (int k = 0; k < 2 && strake_lava_has_crust(which); k++) {
        const double value = strake_case_value(which, colder[k]);
        if (value > solidus) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: %s: %g K is above parameters.solidus_temperature, %g K; with "
                               "scheme.crust: fraction expected at most that",
                               which->file, colder[k], value, solidus);
        }
    }
    for (int f = STRAKE_LAVA_CRUST; f <= STRAKE_LAVA_DRAINED; f++) {
        if (which->output_field[f] && !lava_has(which, f)) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: output.fields: %s is only there with scheme.crust: fraction%s",
                               which->file, fields[f].name,
                               f == STRAKE_LAVA_RAINED    ? " and parameters.rain above 0"
                               : f == STRAKE_LAVA_DRAINED ? " and boundary.edge: sink"
                                                          : "");
        }
    }
    return STRAKE_OK;
}

static strake_status check(const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool from = which->given[strake_case_key(which, "parameters.emissivity.from")];
    const bool to = which->given[strake_case_key(which, "parameters.emissivity.to")];
    const double *const low = which->list[strake_case_key(which, "parameters.emissivity.from")];
    const double *const high = which->list[strake_case_key(which, "parameters.emissivity.to")];
    const double solidus = strake_case_value(which, "parameters.solidus_temperature");
    const double source = strake_case_value(which, "parameters.vent_temperature");
    const strake_lava_mobility law = lava_mobility_of(which);
    STRAKE_CHECK(which->vents.count == 0 || lava_is_dry(which), error, STRAKE_ERR_USAGE,
                 "%s: fields.effusion: there are vents, too; give one of the two", which->file);
    STRAKE_CHECK(!is_given(which, "barriers") || is_nowhere(which, STRAKE_LAVA_BARRIER), error,
                 STRAKE_ERR_USAGE,
                 "%s: fields.barrier: there are `barriers`, too; give one of the two", which->file);
    STRAKE_CHECK(which->spacing[0] == which->spacing[2], error, STRAKE_ERR_USAGE,
                 "%s: grid: dx is %g m and dy %g m; lava needs square cells", which->file,
                 which->spacing[0], which->spacing[2]);
    STRAKE_CHECK(from == to, error, STRAKE_ERR_USAGE,
                 "%s: parameters.emissivity: a ramp needs both from and to", which->file);
    STRAKE_CHECK(
        !from || (low[0] < high[0] && fmin(low[1], high[1]) >= 0.0 && fmax(low[1], high[1]) <= 1.0),
        error, STRAKE_ERR_USAGE,
        "%s: parameters.emissivity: from [%g, %g] to [%g, %g]; expected rising "
        "temperatures [K] and emissivities from 0 to 1",
        which->file, low[0], low[1], high[0], high[1]);
    STRAKE_CHECK(solidus <= source, error, STRAKE_ERR_USAGE,
                 "%s: parameters.solidus_temperature: %g K is above the vents' %g K", which->file,
                 solidus, source);
    STRAKE_TRY(check_crust(which, error));
    STRAKE_CHECK(law.c == 0.0 || law.d < solidus, error, STRAKE_ERR_USAGE,
                 "%s: scheme.viscosity: the law has no value at %g K; the solidus temperature of "
                 "%g K must be above that",
                 which->file, law.d, solidus);
cleanup:
    return status;
}

/*
 * Loops are compiled for lava without a crust, and where no more than one of these differs from that: all would double
 * their number, and other cases take what they share with those.
 */
static bool is_usual(const strake_case *which)
{
    static const char *const key[] = {"scheme.yield", "scheme.rule", "scheme.cooling",
                                      "parameters.thermal", "boundary.edge"};
    int others = (int)strake_case_value(which, "scheme.crust") == STRAKE_LAVA_BARE ? 0 : 1;
    for (size_t k = 0; k < sizeof key / sizeof *key; k++) {
        const int at = strake_case_key(which, key[k]);
        others += which->value[at] != strake_lava_keys[at].fallback ? 1 : 0;
    }
    return others <= 1;
}

const strake_problem strake_problem_lava = {
    .name = "lava",
    .text = "a lava flow over terrain: a Bingham fluid that cools and becomes solid (MAGFLOW type)",
    .dims = 2,
    .keys = STRAKE_LAVA_KEYS,
    .key = strake_lava_keys,
    .fields = STRAKE_LAVA_FIELDS,
    .field = fields,
    .boundaries = 1U << STRAKE_NO_FLUX,
    .open_key = "boundary.edge",
    .is_adaptive = true,
    .spread = 1, /* from cells with lava into their neighbours */
    .cl_source = "lava_point.h",
    .example = "grid: {rows: 64, cols: 64, dx: 10, dy: 10}\n"
               "time: {end: 3600}\n"
               "vents: [{row: 32, col: 32, rate: 5}]\n"
               "fields: {terrain: {cone: {center: [32, 32], radius: 32, height: 60}}}\n"
               "output: {every_seconds: 1200}\n"
               "diagnostics: {every_seconds: 600}\n",
    .build = build,
    .check = check,
    .is_usual = is_usual,
    .idle = lava_idle,
    .has = lava_has,
    .survey = strake_lava_survey,
    .judge = strake_lava_judge,
    .quantities = STRAKE_LAVA_MEASURES,
    .quantity = strake_lava_measures,
    .evaluate = strake_lava_evaluate,
    .imbalance = lava_imbalance,
    .judge_course = lava_judge_course,
    .event = lava_event,
    .pour = lava_pour,
};
