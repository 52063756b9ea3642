/* Reading the lists of a scene: fluid, walls, obstacles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/keys.h"
#include "case/read.h"
#include "case/case.h"
#include "case/vents_read.h"

/* Reading the probes of a scene. */

static const strake_limits scene_probes_any = {-INFINITY, INFINITY, false, NULL};

static strake_status scene_read_vector(const strake_case *which, const strake_node *node,
                                       const char *unit, double *out, strake_error *error);

int strake_probe_columns(const strake_probe *probe, int dims)
{
    return probe->kind == STRAKE_PROBE_VELOCITY ? dims : 1;
}

void strake_probe_column(const strake_probe *probe, int dims, int k, char name[STRAKE_PROBE_COLUMN])
{
    const char *const direction = dims == 2 ? "xz" : "xyz";
    if (probe->kind == STRAKE_PROBE_VELOCITY) {
        (void)snprintf(name, STRAKE_PROBE_COLUMN, "%s_%c", probe->name, direction[k]);
    } else {
        (void)snprintf(name, STRAKE_PROBE_COLUMN, "%s", probe->name);
    }
}

/* The first of the probes before one that has a column of the same name; -1: none has. */
static int find_same(const strake_scene_plan *plan, int dims, int k)
{
    char own[STRAKE_PROBE_COLUMN], theirs[STRAKE_PROBE_COLUMN];
    for (int other = 0; other < k; other++) {
        for (int c = 0; c < strake_probe_columns(&plan->probe[k], dims); c++) {
            strake_probe_column(&plan->probe[k], dims, c, own);
            for (int e = 0; e < strake_probe_columns(&plan->probe[other], dims); e++) {
                strake_probe_column(&plan->probe[other], dims, e, theirs);
                if (strcmp(own, theirs) == 0) {
                    return other;
                }
            }
        }
    }
    return -1;
}

/* Its name becomes a column: letters, digits and -_. alone. */
static strake_status read_name(const strake_node *node, strake_probe *probe, strake_error *error)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const char *name = NULL;
    const strake_status status = strake_read_text(node, "a name", &name, error);
    if (status != STRAKE_OK) {
        return status;
    }
    if (strlen(name) >= STRAKE_PROBE_NAME || name[strspn(name, legal)] != '\0') {
        return strake_node_unlike(node, error, "a name of at most %d letters, digits, -, _ and .",
                                  STRAKE_PROBE_NAME - 1);
    }
    if (strcmp(name, "step") == 0 || strcmp(name, "time") == 0) {
        return strake_node_fail(node, error,
                                "the first columns are step and time; take another name");
    }
    (void)snprintf(probe->name, STRAKE_PROBE_NAME, "%s", name);
    return STRAKE_OK;
}

/* {pressure: [x, y, z], name: N}; a height has no z. */
static strake_status read_probe(strake_case *which, const strake_node *map, int k,
                                strake_error *error)
{
    static const char *const words[] = {"pressure", "velocity", "height"};
    strake_status status = STRAKE_OK;
    strake_scene_plan *const plan = &which->scene;
    strake_probe *const probe = &plan->probe[k];
    const strake_node *const name = strake_node_get(map, "name");
    const strake_node *at = NULL;
    int same = -1;
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "a probe such as {pressure: %s, name: wall}",
                                  which->problem->dims == 2 ? "[1, 0.1]" : "[1, 0.2, 0.1]");
    }
    STRAKE_TRY(strake_read_keys(map, STRAKE_PROBE_WORDS "|name", error));
    for (int kind = 0; kind <= STRAKE_PROBE_HEIGHT; kind++) {
        const strake_node *const node = strake_node_get(map, words[kind]);
        if (node != NULL && at != NULL) {
            return strake_node_fail(map, error,
                                    "a probe measures one of pressure, velocity, height");
        }
        probe->kind = node != NULL ? (strake_probe_kind)kind : probe->kind;
        at = node != NULL ? node : at;
    }
    if (at == NULL) {
        return strake_node_fail(map, error, "expected one of pressure, velocity, height and where");
    }
    if (probe->kind == STRAKE_PROBE_HEIGHT) {
        const int dims = which->problem->dims - 1;
        if (at->kind != STRAKE_NODE_LIST || at->children != dims) {
            return strake_node_unlike(at, error, "%s [m]", dims == 1 ? "[x]" : "[x, y]");
        }
        STRAKE_TRY(strake_read_real(at->child, &scene_probes_any, &probe->at[0], error));
        STRAKE_TRY(dims == 2 ? strake_read_real(at->last, &scene_probes_any, &probe->at[1], error)
                             : STRAKE_OK);
    } else {
        STRAKE_TRY(scene_read_vector(which, at, "[m]", probe->at, error));
    }
    (void)snprintf(probe->name, sizeof probe->name, "%s%d", words[probe->kind], k + 1);
    STRAKE_TRY(name != NULL ? read_name(name, probe, error) : STRAKE_OK);
    for (int q = 0; q < which->problem->quantities; q++) {
        if (strcmp(probe->name, which->problem->quantity[q].name) == 0) {
            return strake_node_fail(
                name != NULL ? name : map, error,
                "is the name of a quantity of every run, too; take another one");
        }
    }
    same = find_same(plan, which->problem->dims, k);
    if (same >= 0) {
        return strake_node_fail(name != NULL ? name : map, error,
                                "probe %d has this name, too (a velocity has NAME_x and so on); "
                                "take another one",
                                same + 1);
    }
cleanup:
    return status;
}

/** The list of probes into which->scene; NULL: there is none. Without diagnostics they are measured as outputs are written. */
static strake_status scene_read_probes(const strake_node *list, strake_case *which,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (list == NULL) {
        return STRAKE_OK;
    }
    if (list->kind != STRAKE_NODE_LIST) {
        return strake_node_unlike(list, error, "a list of probes, such as - pressure: [...]");
    }
    which->scene.probe = calloc((size_t)list->children + 1, sizeof *which->scene.probe);
    STRAKE_CHECK(which->scene.probe != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                 which->file);
    for (const strake_node *node = list->child; node != NULL; node = node->next) {
        STRAKE_TRY(read_probe(which, node, which->scene.probes, error));
        which->scene.probes++;
    }
    if (which->scene.probes > 0 && which->diagnostics_every == 0 &&
        !(which->diagnostics_seconds > 0.0)) {
        which->diagnostics_every = which->output_every;
        which->diagnostics_seconds = which->output_seconds;
    }
cleanup:
    return status;
}

/* Reading given motions: of walls and bodies of a scene, and of gravity. */

static const strake_limits scene_motions_any = {-INFINITY, INFINITY, false, NULL};

static const strake_limits scene_motions_positive = {0.0, INFINITY, true, "[s]"};

static const strake_limits not_negative = {0.0, INFINITY, false, "[s]"};

static const double per_degree = 1.0 / 360.0; /* turns */

/* What reading one law needs. */
typedef struct scene_motions_reader {
    strake_case *which;
    sph_law *law;
    bool is_gravity;
} scene_motions_reader;

/* Makes a direction as long as 1. */
static strake_status read_direction(const scene_motions_reader *r, const strake_node *node,
                                    strake_error *error)
{
    double *const out = r->law->direction;
    double square = 0.0;
    const strake_status status = scene_read_vector(r->which, node, "[m]", out, error);
    if (status != STRAKE_OK) {
        return status;
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        square += out[d] * out[d];
    }
    if (!(square > 0.0) || !isfinite(square)) {
        return strake_node_fail(node, error, "expected a direction, which is not zero");
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        out[d] /= sqrt(square);
    }
    return STRAKE_OK;
}

/* along: [x, y, z], or about: a point with axis: [x, y, z], which in 2D is across the plane. */
static strake_status read_place(const scene_motions_reader *r, const strake_node *map,
                                sph_motion *motion, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_flat = r->which->problem->dims == 2;
    const strake_node *const along = strake_node_get(map, "along");
    const strake_node *const about = strake_node_get(map, "about");
    const strake_node *const axis = strake_node_get(map, "axis");
    if ((along == NULL) == (about == NULL)) {
        return strake_node_fail(map, error,
                                "expected either along, a direction, or about, a point");
    }
    if (along != NULL) {
        return read_direction(r, along, error);
    }
    for (int k = 0; k < motion->laws; k++) {
        if (motion->law[k].turns) {
            return strake_node_fail(map, error, "a motion turns about one point at most");
        }
    }
    r->law->turns = 1;
    STRAKE_TRY(scene_read_vector(r->which, about, "[m]", motion->point, error));
    if (is_flat) {
        r->law->direction[1] = -1.0; /* from x to z */
    } else if (axis == NULL) {
        return strake_node_fail(map, error, "axis is missing; expected a direction, [x, y, z]");
    } else {
        STRAKE_TRY(read_direction(r, axis, error));
    }
cleanup:
    return status;
}

/* A number of a mapping; @p otherwise where it has none, which NAN is not. */
static strake_status read_number(const strake_node *map, const char *key,
                                 const strake_limits *range, double otherwise, double *out,
                                 strake_error *error)
{
    const strake_node *const node = strake_node_get(map, key);
    *out = otherwise;
    if (node == NULL && isnan(otherwise)) {
        return strake_node_fail(map, error, "%s is missing; expected a number", key);
    }
    return node != NULL ? strake_read_real(node, range, out, error) : STRAKE_OK;
}

static strake_status read_sine(const scene_motions_reader *r, const strake_node *map,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    sph_law *const law = r->law;
    double period = 0.0;
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "{amplitude, period}, with phase and ramp");
    }
    law->kind = SPH_LAW_SINE;
    STRAKE_TRY(strake_read_keys(map, "amplitude|period|phase|ramp", error));
    STRAKE_TRY(read_number(map, "amplitude", &scene_motions_any, NAN, &law->size, error));
    STRAKE_TRY(read_number(map, "period", &scene_motions_positive, NAN, &period, error));
    STRAKE_TRY(read_number(map, "phase", &scene_motions_any, 0.0, &law->phase, error));
    STRAKE_TRY(read_number(map, "ramp", &not_negative, 0.0, &law->ramp, error));
    law->frequency = 1.0 / period;
    law->phase *= per_degree;
cleanup:
    return status;
}

/* Points go behind those of other series. */
static strake_status read_series(const scene_motions_reader *r, const strake_node *list,
                                 const strake_node *file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene_plan *const plan = &r->which->scene;
    const strake_points_words words = {"value",
                                       r->law->turns   ? "degrees"
                                       : r->is_gravity ? "m/s2"
                                                       : "m",
                                       "0.5, 0.02"};
    strake_points read = {0};
    double *grown = NULL;
    status = list != NULL ? strake_points_read_pairs(list, &words, &read, error)
                          : strake_points_read_csv(file, r->which->folder, &words, &read, error);
    STRAKE_TRY(status);
    grown = realloc(plan->series, 2 * (size_t)(plan->points + read.points) * sizeof *plan->series);
    STRAKE_CHECK(grown != NULL && plan->points + read.points < (1 << 26), error, STRAKE_ERR_MEMORY,
                 "%s: no memory for its series", r->which->file);
    plan->series = grown;
    r->law->kind = SPH_LAW_SERIES;
    r->law->first = plan->points;
    r->law->points = (int)read.points;
    for (int64_t k = 0; k < read.points; k++, plan->points++) {
        if (!isfinite(read.time[k]) || !isfinite(read.value[k]) ||
            (k > 0 && !(read.time[k] > read.time[k - 1]))) {
            status = strake_node_fail(list != NULL ? list : file, error,
                                      "point %lld, [%.10g, %.10g]: expected finite numbers and a "
                                      "time that is later than the one before",
                                      (long long)k + 1, read.time[k], read.value[k]);
            goto cleanup;
        }
        grown[2 * plan->points] = read.time[k];
        grown[2 * plan->points + 1] = read.value[k] * (r->law->turns ? per_degree : 1.0);
    }
cleanup:
    strake_points_free(&read);
    return status;
}

/* One of rate, sine, series, file. */
static strake_status read_course(const scene_motions_reader *r, const strake_node *map,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const rate = strake_node_get(map, "rate");
    const strake_node *const sine = strake_node_get(map, "sine");
    const strake_node *const series = strake_node_get(map, "series");
    const strake_node *const file = strake_node_get(map, "file");
    if ((rate != NULL) + (sine != NULL) + (series != NULL) + (file != NULL) != 1) {
        return strake_node_fail(
            map, error,
            "expected one of rate, a number; sine: {amplitude, period}; series: "
            "[[time, value], ...]; file: NAME");
    }
    if (rate != NULL) {
        r->law->kind = SPH_LAW_RATE;
        STRAKE_TRY(strake_read_real(rate, &scene_motions_any, &r->law->size, error));
    } else if (sine != NULL) {
        STRAKE_TRY(read_sine(r, sine, error));
    } else {
        return read_series(r, series, file, error);
    }
    r->law->size *= r->law->turns ? per_degree : 1.0;
cleanup:
    return status;
}

static strake_status read_law(strake_case *which, const strake_node *map, bool is_gravity,
                              sph_motion *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const scene_motions_reader r = {which, &out->law[out->laws], is_gravity};
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "a motion such as {along: %s, rate: 0.5}",
                                  which->problem->dims == 2 ? "[1, 0]" : "[1, 0, 0]");
    }
    STRAKE_TRY(strake_read_keys(map,
                                which->problem->dims == 2
                                    ? "along|about|rate|sine|series|file"
                                    : "along|about|axis|rate|sine|series|file",
                                error));
    STRAKE_TRY(read_place(&r, map, out, error));
    STRAKE_TRY(read_course(&r, map, error));
    /* A body's motion begins where the body is. */
    r.law->start = is_gravity ? 0.0 : sph_law_at(r.law, which->scene.series, 0.0).value;
    out->laws++;
cleanup:
    return status;
}

/**
 * A motion, or a list of some that are added; its laws are by direction, of gravity from time 0 on and of bodies from where
 * they are then. @param[out] out  its series are among which->scene.series
 */
static strake_status scene_read_motion(strake_case *which, const strake_node *node, bool is_gravity,
                                       sph_motion *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = (sph_motion){.laws = 0};
    if (node->kind != STRAKE_NODE_LIST) {
        return read_law(which, node, is_gravity, out, error);
    }
    if (node->children < 1 || node->children > SPH_MOST_LAWS) {
        return strake_node_unlike(node, error, "one to %d motions, which are added", SPH_MOST_LAWS);
    }
    for (const strake_node *map = node->child; map != NULL; map = map->next) {
        STRAKE_TRY(read_law(which, map, is_gravity, out, error));
    }
cleanup:
    return status;
}

static const strake_limits any = {-INFINITY, INFINITY, false, NULL};

static const strake_limits positive = {0.0, INFINITY, true, "[m]"};

/* What reading one item needs. */
typedef struct reader {
    strake_case *which;
    strake_scene_item *item;
} reader;

void strake_scene_plan_free(strake_scene_plan *plan)
{
    for (int k = 0; k < plan->items; k++) {
        free(plan->item[k].where);
        free(plan->item[k].file);
        free(plan->item[k].velocity_file);
        free(plan->item[k].density_file);
    }
    free(plan->item);
    free(plan->probe);
    free(plan->series);
    *plan = (strake_scene_plan){0};
}

/* A child that must be there. */
static strake_status need(const strake_node *map, const char *key, const char *expected,
                          const strake_node **out, strake_error *error)
{
    *out = strake_node_get(map, key);
    return *out != NULL ? STRAKE_OK
                        : strake_node_fail(map, error, "%s is missing; expected %s", key, expected);
}

/** [x, y, z], in 2D [x, z], by direction. */
static strake_status scene_read_vector(const strake_case *which, const strake_node *node,
                                       const char *unit, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int dims = which->problem->dims;
    int d = 0;
    if (node->kind != STRAKE_NODE_LIST || node->children != dims) {
        return strake_node_unlike(node, error, "a list of %d numbers, %s %s", dims,
                                  dims == 2 ? "[x, z]" : "[x, y, z]", unit);
    }
    for (const strake_node *item = node->child; item != NULL; item = item->next, d++) {
        STRAKE_TRY(strake_read_real(item, &any, &out[dims == 2 ? 2 * d : d], error));
    }
cleanup:
    return status;
}

/* The same of a child that must be there. */
static strake_status read_point(const reader *r, const strake_node *map, const char *key,
                                double *out, strake_error *error)
{
    const strake_node *node = NULL;
    const char *const expected =
        r->which->problem->dims == 2 ? "two numbers, [x, z]" : "three numbers, [x, y, z]";
    const strake_status status = need(map, key, expected, &node, error);
    return status == STRAKE_OK ? scene_read_vector(r->which, node, "[m]", out, error) : status;
}

static strake_status read_length(const strake_node *map, const char *key, double *out,
                                 strake_error *error)
{
    const strake_node *node = NULL;
    const strake_status status = need(map, key, "a number > 0 [m]", &node, error);
    return status == STRAKE_OK ? strake_read_real(node, &positive, out, error) : status;
}

static strake_status read_sides(const reader *r, const strake_node *node, unsigned *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (node->kind != STRAKE_NODE_LIST || node->children == 0) {
        return strake_node_unlike(node, error, "a list of sides such as [bottom, left, right]");
    }
    *out = 0;
    for (const strake_node *side = node->child; side != NULL; side = side->next) {
        int choice = 0;
        STRAKE_TRY(strake_read_choice(side, STRAKE_SIDE_WORDS, &choice, error));
        if (r->which->problem->dims == 2 &&
            (1U << choice & (STRAKE_SIDE_FRONT | STRAKE_SIDE_BACK)) != 0) {
            return strake_node_fail(side, error, "there is no %s in 2D", side->text);
        }
        *out |= 1U << choice;
    }
cleanup:
    return status;
}

/* --- forms --------------------------------------------------------------------------------------- */

static strake_status read_box(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene_item *const item = r->item;
    const bool is_wall = item->role == STRAKE_SCENE_WALL;
    const strake_node *sides = NULL;
    STRAKE_TRY(strake_read_keys(map, is_wall ? "from|to|sides" : "from|to", error));
    STRAKE_TRY(read_point(r, map, "from", &item->v[0], error));
    STRAKE_TRY(read_point(r, map, "to", &item->v[3], error));
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double width = item->v[3 + d] - item->v[d];
        const bool may_be_flat = item->role == STRAKE_SCENE_OBSTACLE;
        if (strake_scene_has_direction(r->which->problem->dims, d) &&
            (width < 0.0 || (width == 0.0 && !may_be_flat))) {
            char text[120];
            (void)snprintf(text, sizeof text,
                           "along %c it ends before it begins; expected a lower "
                           "corner `from` and an upper one `to`",
                           "xyz"[d]);
            return strake_node_fail(map, error, "%s", text);
        }
    }
    if (is_wall) {
        STRAKE_TRY(
            need(map, "sides", "a list of sides such as [bottom, left, right]", &sides, error));
        STRAKE_TRY(read_sides(r, sides, &item->sides, error));
    }
cleanup:
    return status;
}

/* Which ends of a cylinder have walls, as bits: from, to. Both, if the case does not say. */
static strake_status read_ends(const strake_node *map, unsigned *out, strake_error *error)
{
    const strake_node *const node = strake_node_get(map, "ends");
    bool is_closed[2] = {true, true};
    strake_status status = STRAKE_OK;
    if (node != NULL) {
        is_closed[0] = is_closed[1] = false;
        status = strake_read_words(node, "from|to", is_closed, error);
    }
    *out = (is_closed[0] ? 1U : 0U) | (is_closed[1] ? 2U : 0U);
    return status;
}

static strake_status read_cylinder(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double length = 0.0;
    const bool is_wall = r->item->role == STRAKE_SCENE_WALL;
    STRAKE_TRY(strake_read_keys(map, is_wall ? "from|to|radius|ends" : "from|to|radius", error));
    STRAKE_TRY(is_wall ? read_ends(map, &r->item->sides, error) : STRAKE_OK);
    STRAKE_TRY(read_point(r, map, "from", &r->item->v[0], error));
    STRAKE_TRY(read_point(r, map, "to", &r->item->v[3], error));
    STRAKE_TRY(read_length(map, "radius", &r->item->v[6], error));
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double along = r->item->v[3 + d] - r->item->v[d];
        length += along * along;
    }
    if (!(length > 0.0)) {
        return strake_node_fail(map, error,
                                "both ends are the same point; expected the middles of "
                                "its two ends as from and to");
    }
cleanup:
    return status;
}

static strake_status read_sphere(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_read_keys(map, "center|radius", error));
    STRAKE_TRY(read_point(r, map, "center", &r->item->v[0], error));
    STRAKE_TRY(read_length(map, "radius", &r->item->v[6], error));
cleanup:
    return status;
}

static strake_status read_plane(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double square = 0.0;
    double *const normal = &r->item->v[3];
    STRAKE_TRY(strake_read_keys(map, "point|normal", error));
    STRAKE_TRY(read_point(r, map, "point", &r->item->v[0], error));
    STRAKE_TRY(read_point(r, map, "normal", normal, error));
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        square += normal[d] * normal[d];
    }
    if (!(square > 0.0)) {
        return strake_node_fail(map, error,
                                "its normal is zero; expected a direction into the fluid");
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        normal[d] /= sqrt(square);
    }
cleanup:
    return status;
}

/* The name of a file, from the folder of the case. */
static strake_status read_file(const reader *r, const strake_node *map, const char *key, char **out,
                               strake_error *error)
{
    const strake_node *const node = strake_node_get(map, key);
    const char *name = NULL;
    strake_status status = STRAKE_OK;
    if (node == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_read_text(node, "the name of a file", &name, error));
    *out = strake_path_from(r->which->folder, name);
    STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                 r->which->file);
cleanup:
    return status;
}

static strake_status read_cloud(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *file = NULL;
    STRAKE_TRY(strake_read_keys(map, "file|velocity|density", error));
    STRAKE_TRY(need(map, "file", "the name of a file of positions", &file, error));
    STRAKE_TRY(read_file(r, map, "file", &r->item->file, error));
    STRAKE_TRY(read_file(r, map, "velocity", &r->item->velocity_file, error));
    STRAKE_TRY(read_file(r, map, "density", &r->item->density_file, error));
cleanup:
    return status;
}

static strake_status read_mesh(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *file = NULL;
    const strake_node *const scale = strake_node_get(map, "scale");
    const strake_node *const move = strake_node_get(map, "move");
    const strake_node *const sheet = strake_node_get(map, "sheet");
    /* Fluid fills an inside; walls and bodies may be along the surface alone. */
    const bool is_fluid = r->item->role == STRAKE_SCENE_FLUID;
    STRAKE_TRY(
        strake_read_keys(map, is_fluid ? "file|scale|move" : "file|scale|move|sheet", error));
    STRAKE_TRY(need(map, "file", "the name of an STL file", &file, error));
    r->item->v[3] = 1.0;
    if (scale != NULL) {
        STRAKE_TRY(strake_read_real(scale, &positive, &r->item->v[3], error));
    }
    if (move != NULL) {
        STRAKE_TRY(scene_read_vector(r->which, move, "[m]", &r->item->v[0], error));
    }
    if (sheet != NULL) {
        STRAKE_TRY(strake_read_boolean(sheet, &r->item->is_sheet, error));
    }
    STRAKE_TRY(read_file(r, map, "file", &r->item->file, error));
cleanup:
    return status;
}

/* The forms that there are, and for which roles. */
static const struct form {
    const char *name;
    unsigned roles; /* bit per role */
    int least_dims;
    strake_status (*read)(const reader *r, const strake_node *map, strake_error *error);
} forms[] = {
    [STRAKE_SCENE_BOX] = {"box",
                          1U << STRAKE_SCENE_FLUID | 1U << STRAKE_SCENE_WALL |
                              1U << STRAKE_SCENE_OBSTACLE,
                          2, read_box},
    [STRAKE_SCENE_CYLINDER] = {"cylinder",
                               1U << STRAKE_SCENE_FLUID | 1U << STRAKE_SCENE_WALL |
                                   1U << STRAKE_SCENE_OBSTACLE,
                               3, read_cylinder},
    [STRAKE_SCENE_SPHERE] = {"sphere",
                             1U << STRAKE_SCENE_FLUID | 1U << STRAKE_SCENE_WALL |
                                 1U << STRAKE_SCENE_OBSTACLE,
                             2, read_sphere},
    [STRAKE_SCENE_PLANE] = {"plane", 1U << STRAKE_SCENE_WALL, 2, read_plane},
    [STRAKE_SCENE_MESH] = {"stl",
                           1U << STRAKE_SCENE_FLUID | 1U << STRAKE_SCENE_WALL |
                               1U << STRAKE_SCENE_OBSTACLE,
                           3, read_mesh},
    [STRAKE_SCENE_CLOUD] = {"particles", 1U << STRAKE_SCENE_FLUID | 1U << STRAKE_SCENE_OBSTACLE, 2,
                            read_cloud},
};

enum { FORMS = (int)(sizeof forms / sizeof forms[0]) };

/* --- what a fluid is like at the start ------------------------------------------------------------ */

/* [u, v, w], {strain: [a, b, c], center: [x, y, z]}, or {wave: amplitude, length: L}. */
static strake_status read_velocity(const reader *r, const strake_node *node, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *strain = NULL;
    if (node->kind == STRAKE_NODE_LIST) {
        r->item->flow = STRAKE_FLOW_UNIFORM;
        return scene_read_vector(r->which, node, "[m/s]", r->item->rate, error);
    }
    if (node->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(node, error,
                                  "a velocity such as %s [m/s], {strain, center} or {wave, length}",
                                  r->which->problem->dims == 2 ? "[1, 0]" : "[1, 0, 0]");
    }
    if (strake_node_get(node, "wave") != NULL) {
        r->item->flow = STRAKE_FLOW_WAVE;
        STRAKE_TRY(strake_read_keys(node, "wave|length", error));
        STRAKE_TRY(read_length(node, "wave", &r->item->rate[0], error));
        return read_length(node, "length", &r->item->rate[1], error);
    }
    r->item->flow = STRAKE_FLOW_STRAIN;
    STRAKE_TRY(strake_read_keys(node, "strain|center", error));
    STRAKE_TRY(need(node, "strain", "rates along the directions [1/s]", &strain, error));
    STRAKE_TRY(scene_read_vector(r->which, strain, "[1/s]", r->item->rate, error));
    STRAKE_TRY(read_point(r, node, "center", r->item->center, error));
cleanup:
    return status;
}

/* at_rest, none, or {dome: p, center: [x, y, z], radius: r}. */
static strake_status read_pressure(const reader *r, const strake_node *node, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *dome = NULL;
    int choice = 0;
    if (node->kind != STRAKE_NODE_MAP) {
        STRAKE_TRY(strake_read_choice(node, "at_rest|none", &choice, error));
        r->item->is_at_rest = choice == 0;
        return STRAKE_OK;
    }
    r->item->is_at_rest = false;
    STRAKE_TRY(strake_read_keys(node, "dome|center|radius", error));
    STRAKE_TRY(need(node, "dome", "a pressure [Pa]", &dome, error));
    STRAKE_TRY(strake_read_real(dome, &any, &r->item->dome, error));
    STRAKE_TRY(read_point(r, node, "center", r->item->center, error));
    STRAKE_TRY(read_length(node, "radius", &r->item->dome_radius, error));
cleanup:
    return status;
}

/* --- items ----------------------------------------------------------------------------------------- */

/* Keys that an item may have, the forms first. */
static void item_keys(const reader *r, char *words, size_t size, char *example, size_t room)
{
    words[0] = '\0';
    for (int f = 0; f < FORMS; f++) {
        if ((forms[f].roles >> r->item->role & 1U) != 0 &&
            forms[f].least_dims <= r->which->problem->dims) {
            const size_t used = strlen(words);
            (void)snprintf(words + used, size - used, "%s%s", used > 0 ? "|" : "", forms[f].name);
        }
    }
    if (r->item->role == STRAKE_SCENE_WALL) {
        (void)snprintf(words + strlen(words), size - strlen(words), "|sides");
    }
    (void)snprintf(example, room, "%s", words);
    (void)snprintf(words + strlen(words), size - strlen(words), "%s",
                   r->item->role == STRAKE_SCENE_FLUID ? "|velocity|pressure" : "|kind|motion");
}

/* Its form: one of those of its role, and no more than one. */
static strake_status read_form(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char words[200], choices[200];
    int found = 0;
    const strake_node *const sides = strake_node_get(map, "sides");
    item_keys(r, words, sizeof words, choices, sizeof choices);
    STRAKE_TRY(strake_read_keys(map, words, error));
    for (int f = 0; f < FORMS; f++) {
        const strake_node *const node = strake_node_get(map, forms[f].name);
        if (node == NULL) {
            continue;
        }
        found++;
        r->item->form = (strake_scene_form)f;
        if (node->kind != STRAKE_NODE_MAP) {
            return strake_node_unlike(node, error, "a mapping; see `strake help scene`");
        }
        STRAKE_TRY(forms[f].read(r, node, error));
    }
    if (sides != NULL) {
        found++;
        r->item->form = STRAKE_SCENE_BOX;
        r->item->is_of_box = true;
        STRAKE_TRY(read_sides(r, sides, &r->item->sides, error));
    }
    if (found != 1) {
        strake_words list = {0};
        strake_words_add_choices(&list, choices);
        return strake_node_fail(map, error, "expected one of %s", list.list);
    }
cleanup:
    return status;
}

/* Of things that are made of particles. */
static strake_status read_motion(const reader *r, const strake_node *node, strake_error *error)
{
    strake_scene_item *const item = r->item;
    if (item->form == STRAKE_SCENE_PLANE ||
        (item->is_of_box && item->walls == STRAKE_WALLS_PLANES)) {
        return strake_node_fail(node, error,
                                "planes stay where they are; take kind: dynamic or lennard_jones");
    }
    if (r->which->scene.bodies == SPH_MOST_BODIES) {
        return strake_node_fail(node, error, "at most %d things in a scene move", SPH_MOST_BODIES);
    }
    r->which->scene.bodies++;
    return scene_read_motion(r->which, node, false, &item->motion, error);
}

static strake_status read_item(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char where[STRAKE_PLACE_SIZE];
    const strake_node *const velocity = strake_node_get(map, "velocity");
    const strake_node *const pressure = strake_node_get(map, "pressure");
    const strake_node *const kind = strake_node_get(map, "kind");
    const strake_node *const motion = strake_node_get(map, "motion");
    int walls = (int)strake_case_value(r->which, "scheme.walls");
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "a mapping such as {box: {from: %s, to: %s}}",
                                  r->which->problem->dims == 2 ? "[0, 0]" : "[0, 0, 0]",
                                  r->which->problem->dims == 2 ? "[1, 1]" : "[1, 1, 1]");
    }
    STRAKE_TRY(read_form(r, map, error));
    r->item->is_at_rest = true;
    if (velocity != NULL) {
        STRAKE_TRY(read_velocity(r, velocity, error));
    }
    if (pressure != NULL) {
        STRAKE_TRY(read_pressure(r, pressure, error));
    }
    if (kind != NULL) {
        STRAKE_TRY(strake_read_choice(kind, STRAKE_WALLS_WORDS, &walls, error));
        if (r->item->form == STRAKE_SCENE_PLANE && walls != STRAKE_WALLS_PLANES) {
            return strake_node_fail(kind, error, "a plane is made of no particles; leave kind out");
        }
    }
    r->item->walls = (strake_scene_walls)walls;
    if (motion != NULL) {
        STRAKE_TRY(read_motion(r, motion, error));
    }
    r->item->where = strdup(strake_node_where(map, where, sizeof where));
    STRAKE_CHECK(r->item->where != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                 where);
cleanup:
    return status;
}

static strake_status read_list(const strake_node *list, strake_case *which, strake_scene_role role,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene_plan *const plan = &which->scene;
    strake_scene_item *grown = NULL;
    if (list == NULL) {
        return STRAKE_OK;
    }
    if (list->kind != STRAKE_NODE_LIST) {
        return strake_node_unlike(list, error, "a list, each with one form such as - box: {...}");
    }
    if (plan->items + list->children > STRAKE_SCENE_MOST) {
        return strake_node_fail(list, error, "a scene has at most %d things in it",
                                STRAKE_SCENE_MOST);
    }
    grown = realloc(plan->item, (size_t)(plan->items + list->children + 1) * sizeof *grown);
    STRAKE_CHECK(grown != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", which->file);
    plan->item = grown;
    for (const strake_node *node = list->child; node != NULL; node = node->next) {
        const reader r = {which, &plan->item[plan->items++]};
        *r.item = (strake_scene_item){.role = role};
        STRAKE_TRY(read_item(&r, node, error));
    }
cleanup:
    return status;
}

strake_status strake_scene_read(strake_node *root, strake_case *which, strake_error *error)
{
    static const struct {
        const char *path;
        strake_scene_role role;
    } lists[] = {{"scene.fluid", STRAKE_SCENE_FLUID},
                 {"scene.walls", STRAKE_SCENE_WALL},
                 {"scene.obstacles", STRAKE_SCENE_OBSTACLE}};
    strake_status status = STRAKE_OK;
    const strake_node *const gravity = strake_node_find(root, "scene.gravity");
    for (int k = 0; k < (int)(sizeof lists / sizeof lists[0]); k++) {
        const int before = which->scene.items;
        STRAKE_TRY(read_list(strake_node_find(root, lists[k].path), which, lists[k].role, error));
        which->value[strake_case_key(which, lists[k].path)] = which->scene.items - before;
    }
    if (gravity != NULL) {
        STRAKE_TRY(scene_read_motion(which, gravity, true, &which->scene.gravity, error));
    }
    which->value[strake_case_key(which, "scene.gravity")] = which->scene.gravity.laws;
    STRAKE_TRY(scene_read_probes(strake_node_find(root, "scene.probes"), which, error));
    which->value[strake_case_key(which, "scene.probes")] = which->scene.probes;
cleanup:
    return status;
}
