/* Reading given motions: of walls and bodies of a scene, and of gravity. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/points.h"
#include "case/read.h"
#include "case/scene_impl.h"

static const strake_limits any = {-INFINITY, INFINITY, false, NULL};
static const strake_limits positive = {0.0, INFINITY, true, "[s]"};
static const strake_limits not_negative = {0.0, INFINITY, false, "[s]"};

static const double per_degree = 1.0 / 360.0; /* turns */

/* What reading one law needs. */
typedef struct reader {
    strake_case *which;
    sph_law *law;
    bool is_gravity;
} reader;

/* Makes a direction as long as 1. */
static strake_status read_direction(const reader *r, const strake_node *node, strake_error *error)
{
    double *const out = r->law->direction;
    double square = 0.0;
    const strake_status status = strake_scene_read_vector(r->which, node, "[m]", out, error);
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
static strake_status read_place(const reader *r, const strake_node *map, sph_motion *motion,
                                strake_error *error)
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
    STRAKE_TRY(strake_scene_read_vector(r->which, about, "[m]", motion->point, error));
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

static strake_status read_sine(const reader *r, const strake_node *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    sph_law *const law = r->law;
    double period = 0.0;
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "{amplitude, period}, with phase and ramp");
    }
    law->kind = SPH_LAW_SINE;
    STRAKE_TRY(strake_read_keys(map, "amplitude|period|phase|ramp", error));
    STRAKE_TRY(read_number(map, "amplitude", &any, NAN, &law->size, error));
    STRAKE_TRY(read_number(map, "period", &positive, NAN, &period, error));
    STRAKE_TRY(read_number(map, "phase", &any, 0.0, &law->phase, error));
    STRAKE_TRY(read_number(map, "ramp", &not_negative, 0.0, &law->ramp, error));
    law->frequency = 1.0 / period;
    law->phase *= per_degree;
cleanup:
    return status;
}

/* Points go behind those of other series. */
static strake_status read_series(const reader *r, const strake_node *list, const strake_node *file,
                                 strake_error *error)
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
static strake_status read_course(const reader *r, const strake_node *map, strake_error *error)
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
        STRAKE_TRY(strake_read_real(rate, &any, &r->law->size, error));
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
    const reader r = {which, &out->law[out->laws], is_gravity};
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

strake_status strake_scene_read_motion(strake_case *which, const strake_node *node, bool is_gravity,
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
