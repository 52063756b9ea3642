/*
 * lava: a lava flow of the MAGFLOW type (cl/lava_point.h) over terrain. One sweep advances thickness,
 * temperature and solid by the tendencies net and mix of the sweep before, then finds fluxes to the
 * eight neighbours, the new tendencies and the bound on the next time step; one of no time starts and resumes.
 */
#include <math.h>

#include "problem/lava.h"

static void find_heat(const strake_case *which, const double *const *from, int64_t count,
                      double *out)
{
    const double heat = strake_case_value(which, "parameters.density") *
                        strake_case_value(which, "parameters.specific_heat");
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
                           .is_drain = true, .unit = "[m/s]",
                           .text = "what flows out over an edge that is a sink"},
    [STRAKE_LAVA_MAXIMUM] = {"maximum", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                             .is_traced = true, .unit = "[m]", .text = "largest thickness so far"},
    [STRAKE_LAVA_ARRIVAL] = {"arrival", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                             .is_traced = true, .has_never = true, .fallback = -1, .unit = "[s]",
                             .text = "time at which there was lava first; NaN: never"},
    [STRAKE_LAVA_SPEED] =
        {"speed", STRAKE_CELL, .is_state = true, .is_traced = true, .unit = "[m/s]",
         .text =
             "of the fluid lava, mean over its thickness; 0 where there is none, and before the "
             "first step"},
    [STRAKE_LAVA_LOST] = {"lost", STRAKE_CELL, .is_state = true, .is_pointwise = true,
                          .is_traced = true, .is_drain = true, .unit = "[m]",
                          .text = "what has flowed out of a cell over an edge that is a sink, as "
                                  "thickness"},
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

/* The temperature after mixing and cooling, of thickness @p wet. */
static int cooled(const table *t, int wet)
{
    const strake_case *const which = t->which;
    const strake_lava_emissivity e = strake_lava_emissivity_of(which);
    const double heat = strake_case_value(which, "parameters.density") *
                        strake_case_value(which, "parameters.specific_heat");
    const double stefan = 5.67e-8; /* [W/(m2 K4)] */
    const int blend = STRAKE_STAGE(
        t->g, 1, "blend", lava_blend, here(wet), here(t->input[STRAKE_LAVA_TEMPERATURE]),
        here(t->input[STRAKE_LAVA_MIX]), here(t->input[STRAKE_LAVA_EFFUSION]), here(t->dt),
        number(t, "source", strake_case_value(which, "parameters.vent_temperature")));
    const strake_read emissivity =
        e.b == 0.0 ? number(t, "e_a", e.a)
                   : here(STRAKE_STAGE(t->g, 1, "emissivity", lava_emissivity, here(blend),
                                       number(t, "e_a", e.a), number(t, "e_b", e.b),
                                       number(t, "e_low", e.low), number(t, "e_high", e.high)));
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
    t->ground = STRAKE_STAGE(t->g, 2, "ground", lava_add, here(t->input[STRAKE_LAVA_TERRAIN]),
                             here(t->solid));
    t->surface = STRAKE_STAGE(t->g, 2, "surface", lava_add, here(t->ground), here(t->thickness));
}

/* What a cell is as a donor. */
static void describe_donors(table *t)
{
    const strake_lava_mobility m = strake_lava_mobility_of(t->which);
    const strake_lava_strength y = strake_lava_strength_of(t->which);
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
        list_fluxes(t, read);
        read[8] = here(t->thickness);
        read[9] = number(t, "half_length", 0.5 * t->which->spacing[0]);
        strake_graph_state(
            t->g, t->input[STRAKE_LAVA_SPEED],
            strake_graph_stage(t->g, 6, "speed_next", &strake_point_lava_speed, 10, read));
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
               .thermal = strake_case_value(which, "parameters.thermal") > 0.0};
    strake_graph_begin(graph, which->precision);
    for (int f = 0; f < STRAKE_LAVA_FIELDS; f++) {
        /* Terrain is never folded: beyond the edges it is a wall. */
        const bool is_folded = constant[f] && f != STRAKE_LAVA_TERRAIN &&
                               (f != STRAKE_LAVA_EFFUSION || which->vents.count == 0);
        t.input[f] = is_folded || !strake_case_has(which, f)
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

static strake_status check(const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool from = which->given[strake_case_key(which, "parameters.emissivity.from")];
    const bool to = which->given[strake_case_key(which, "parameters.emissivity.to")];
    const double *const low = which->list[strake_case_key(which, "parameters.emissivity.from")];
    const double *const high = which->list[strake_case_key(which, "parameters.emissivity.to")];
    const double solidus = strake_case_value(which, "parameters.solidus_temperature");
    const double source = strake_case_value(which, "parameters.vent_temperature");
    const strake_lava_mobility law = strake_lava_mobility_of(which);
    STRAKE_CHECK(which->vents.count == 0 || strake_lava_is_dry(which), error, STRAKE_ERR_USAGE,
                 "%s: fields.effusion: there are vents, too; give one of the two", which->file);
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
    STRAKE_CHECK(law.c == 0.0 || law.d < solidus, error, STRAKE_ERR_USAGE,
                 "%s: scheme.viscosity: the law has no value at %g K; the solidus temperature of "
                 "%g K must be above that",
                 which->file, law.d, solidus);
cleanup:
    return status;
}

/* Sinks have compiled loops with the default scheme alone: they would double their number. */
static bool is_usual(const strake_case *which)
{
    static const char *const key[] = {"scheme.widths", "scheme.yield", "scheme.rule",
                                      "scheme.cooling"};
    bool is_default = strake_case_value(which, "parameters.thermal") > 0.0;
    for (int k = 0; k < 4; k++) {
        is_default = is_default && strake_case_value(which, key[k]) == 0.0;
    }
    return is_default || !strake_lava_has_sink(which);
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
    .idle = strake_lava_idle,
    .survey = strake_lava_survey,
    .judge = strake_lava_judge,
    .quantities = STRAKE_LAVA_MEASURES,
    .quantity = strake_lava_measures,
    .evaluate = strake_lava_evaluate,
    .imbalance = strake_lava_imbalance,
    .judge_course = strake_lava_judge_course,
    .event = strake_lava_event,
    .pour = strake_lava_pour,
};
