/* Keys of lava, and the laws of viscosity, yield strength and emissivity that they choose. */
#include <math.h>
#include <string.h>

#include "problem/lava.h"

/* log2(10) and log2(e). */
static const double per_decade = 3.3219280948873626, per_e = 1.4426950408889634;

const strake_key strake_lava_keys[STRAKE_LAVA_KEYS] = {
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
     "north-west, "
     "x and y are on the map; to: {row, col} or {x, y} makes a fissure, whose cells share the "
     "rate. "
     "rate: a number, {series: [[t, r], ...]} or {file: NAME.csv} with lines t, r [s, m3/s]: r is "
     "constant from t to the next t, the last one for good; interpolate: linear beside it goes "
     "from "
     "point to point, in 100 pieces with their mean. A checkpoint goes on where rates differ from "
     "its time on only"},
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
static const char *const of_heat[] = {"parameters.emissivity",
                                      "parameters.emissivity.from",
                                      "parameters.emissivity.to",
                                      "parameters.solidus_temperature",
                                      "parameters.convection",
                                      "parameters.air_temperature",
                                      "scheme.cooling"};

const char *strake_lava_idle(const strake_case *which, int key)
{
    const char *const name = strake_lava_keys[key].path;
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
    return strcmp(name, "parameters.air_temperature") == 0 &&
                   strake_case_value(which, "parameters.convection") == 0.0
               ? "parameters.convection is 0"
               : NULL;
}

/* Giordano & Dingwell 2003, for basalt of Etna; Dragoni 1989. */
strake_lava_mobility strake_lava_mobility_of(const strake_case *which)
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
strake_lava_strength strake_lava_strength_of(const strake_case *which)
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

strake_lava_emissivity strake_lava_emissivity_of(const strake_case *which)
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
