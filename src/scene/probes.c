#include "scene/probes.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"

enum { FINE = 4 /* places of a line upwards to a spacing */, VALUES = STRAKE_SCENE_DIRECTIONS };

/*
 * A fit through particles all on one side amplifies their noise: its variance by 5 at a wall, by 9 and 15 in the corners of a
 * box. Where that is more than the following, or particles lie along a line or plane (of a variance below so much h^2), their
 * mean stands for it.
 */
static const double most_leverage = 6.0, least_variance = 0.01;

/*
 * Water stands up to where the sum of m/rho W has fallen to half of its greatest value on the line upwards: 1 in the open,
 * 1/2 at a wall, 1/4 in a corner; lone drops, which have less than the following, are no surface.
 */
static const double drop_2d = 0.4, drop_3d = 0.2;

/* Sums over the particles near a probe. */
typedef struct strake_probe_sum {
    double weight;                         /* of m/rho W */
    double first[STRAKE_SCENE_DIRECTIONS]; /* times the way to the particle over h */
    double second[STRAKE_SCENE_DIRECTIONS][STRAKE_SCENE_DIRECTIONS]; /* times two of them */
    double value[VALUES],
        slope[VALUES][STRAKE_SCENE_DIRECTIONS]; /* times values, and with the way */
    int64_t places;                             /* of a height: on its line, ... */
    double *line;                               /* ... and the weight there */
} probe_sum;

static bool has(const strake_scene *scene, int d)
{
    return strake_scene_has_direction(scene->sph.dims, d);
}

/* The axis of a direction. */
static int axis_of(const strake_scene *scene, int d)
{
    int axis = 0;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        axis = scene->direction[a] == d ? a : axis;
    }
    return axis;
}

strake_status strake_probes_check(const strake_case *which,
                                  const double low[STRAKE_SCENE_DIRECTIONS],
                                  const double high[STRAKE_SCENE_DIRECTIONS], strake_error *error)
{
    for (int k = 0; k < which->scene.probes; k++) {
        const strake_probe *const probe = &which->scene.probe[k];
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            const bool counts = strake_scene_has_direction(which->problem->dims, d) &&
                                (probe->kind != STRAKE_PROBE_HEIGHT || d != 2);
            char text[160];
            if (counts && !(probe->at[d] >= low[d] && probe->at[d] <= high[d])) {
                (void)strake_number_print(text, sizeof text, "%c = %.6g m; expected %.6g to %.6g m",
                                          "xyz"[d], probe -> at[d], low[d], high[d]);
                return strake_fail(error, STRAKE_ERR_USAGE,
                                   "%s: scene.probes: %s is outside of the scene's box, at %s",
                                   which->file, probe->name, text);
            }
        }
    }
    return STRAKE_OK;
}

strake_status strake_probes_begin(strake_probes *probes, const strake_case *which,
                                  const strake_scene *scene, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = which->scene.probes;
    *probes = (strake_probes){.which = which, .scene = scene};
    probes->sum = calloc((size_t)count + 1, sizeof *probes->sum);
    STRAKE_CHECK(probes->sum != NULL, error, STRAKE_ERR_MEMORY, "no memory for %d probes", count);
    for (int k = 0; k < count; k++) {
        probe_sum *const sum = &probes->sum[k];
        if (which->scene.probe[k].kind == STRAKE_PROBE_HEIGHT) {
            sum->places =
                (int64_t)ceil(scene->size[axis_of(scene, 2)] / scene->sph.spacing) * FINE + 1;
            sum->line = calloc((size_t)sum->places, sizeof *sum->line);
            STRAKE_CHECK(sum->line != NULL, error, STRAKE_ERR_MEMORY, "no memory for probe %s",
                         which->scene.probe[k].name);
        }
    }
cleanup:
    return status;
}

/* The way from a probe to a particle; round the end where the scene repeats itself. @return its square */
static double find_way(const strake_scene *scene, const strake_probe *probe, const double *x,
                       double *way)
{
    double square = 0.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const int a = axis_of(scene, d);
        way[d] = has(scene, d) ? x[d] - probe->at[d] : 0.0;
        if (probe->kind == STRAKE_PROBE_HEIGHT && d == 2) {
            way[d] = 0.0;
        } else if (scene->is_round[a]) {
            way[d] -= scene->size[a] * floor(way[d] / scene->size[a] + 0.5);
        }
        square += way[d] * way[d];
    }
    return square;
}

/* Height of a place of a line. */
static double level(const strake_scene *scene, int64_t k)
{
    return scene->origin[axis_of(scene, 2)] + (double)k * scene->sph.spacing / FINE;
}

static void add_to_line(const strake_scene *scene, probe_sum *sum, double z, double square,
                        double volume)
{
    const double reach = sqrt(4.0 * scene->sph.smoothing * scene->sph.smoothing - square);
    const double step = scene->sph.spacing / FINE, low = level(scene, 0);
    const double from = ceil((z - reach - low) / step), to = floor((z + reach - low) / step);
    const double last = (double)sum->places - 1.0;
    for (int64_t k = from > 0.0 ? (int64_t)from : 0; k <= (int64_t)(to < last ? to : last); k++) {
        const double up = level(scene, k) - z;
        sum->line[k] += volume * strake_sph_weight(&scene->sph, sqrt(square + up * up));
    }
}

static void add_to_point(const strake_scene *scene, probe_sum *sum, const double *way,
                         double weight, const double *value)
{
    double over[STRAKE_SCENE_DIRECTIONS];
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        over[d] = way[d] / scene->sph.smoothing;
    }
    sum->weight += weight;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        sum->first[d] += weight * over[d];
        for (int e = 0; e < STRAKE_SCENE_DIRECTIONS; e++) {
            sum->second[d][e] += weight * over[d] * over[e];
        }
        sum->value[d] += weight * value[d];
        for (int e = 0; e < STRAKE_SCENE_DIRECTIONS; e++) {
            sum->slope[d][e] += weight * value[d] * over[e];
        }
    }
}

void strake_probes_add(strake_probes *probes, const double x[STRAKE_SCENE_DIRECTIONS],
                       const double v[STRAKE_SCENE_DIRECTIONS], double density, double pressure)
{
    const strake_scene *const scene = probes->scene;
    const strake_sph *const sph = &scene->sph;
    const double reach = 2.0 * sph->smoothing, volume = strake_sph_mass(sph) / density;
    for (int k = 0; k < probes->which->scene.probes; k++) {
        const strake_probe *const probe = &probes->which->scene.probe[k];
        double way[STRAKE_SCENE_DIRECTIONS];
        const double square = find_way(scene, probe, x, way);
        if (!(square < reach * reach)) {
            continue;
        }
        if (probe->kind == STRAKE_PROBE_HEIGHT) {
            add_to_line(scene, &probes->sum[k], x[2], square, volume);
            continue;
        }
        const double alone[VALUES] = {pressure, 0.0, 0.0};
        add_to_point(scene, &probes->sum[k], way, volume * strake_sph_weight(sph, sqrt(square)),
                     probe->kind == STRAKE_PROBE_PRESSURE ? alone : v);
    }
}

/*
 * The slope over the mean that moves a mean to the probe, C^-1 mu, of the covariance of the particles and their middle, both
 * over h: by Cholesky. @return false where no slope can be told
 */
static bool solve(const strake_scene *scene, const probe_sum *sum, double *out)
{
    double l[STRAKE_SCENE_DIRECTIONS][STRAKE_SCENE_DIRECTIONS] = {{0.0}};
    double y[STRAKE_SCENE_DIRECTIONS] = {0.0}, leverage = 1.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        out[d] = 0.0;
        for (int e = 0; e <= d && has(scene, d); e++) {
            double left = sum->second[d][e] / sum->weight -
                          sum->first[d] / sum->weight * (sum->first[e] / sum->weight);
            for (int f = 0; f < e; f++) {
                left -= l[d][f] * l[e][f];
            }
            if (e == d && !(left >= least_variance)) {
                return false;
            }
            l[d][e] = e == d ? sqrt(left) : has(scene, e) ? left / l[e][e] : 0.0;
        }
        double left = sum->first[d] / sum->weight;
        for (int f = 0; f < d; f++) {
            left -= l[d][f] * y[f];
        }
        y[d] = has(scene, d) ? left / l[d][d] : 0.0;
        leverage += y[d] * y[d];
    }
    for (int d = STRAKE_SCENE_DIRECTIONS - 1; d >= 0; d--) {
        double left = y[d];
        for (int f = d + 1; f < STRAKE_SCENE_DIRECTIONS; f++) {
            left -= l[f][d] * out[f];
        }
        out[d] = has(scene, d) ? left / l[d][d] : 0.0;
    }
    return leverage <= most_leverage;
}

static double value_at(const strake_scene *scene, const probe_sum *sum, int k)
{
    double by[STRAKE_SCENE_DIRECTIONS], factor = 1.0, out = 0.0;
    if (!(sum->weight > 0.0)) {
        return (double)NAN;
    }
    const bool is_fit = solve(scene, sum, by);
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS && is_fit; d++) {
        factor += by[d] * (sum->first[d] / sum->weight);
        out -= by[d] * (sum->slope[k][d] / sum->weight);
    }
    return out + factor * (sum->value[k] / sum->weight);
}

static double height_at(const strake_scene *scene, const probe_sum *sum)
{
    double most = 0.0;
    for (int64_t k = 0; k < sum->places; k++) {
        most = sum->line[k] > most ? sum->line[k] : most;
    }
    if (!(most > (scene->sph.dims == 2 ? drop_2d : drop_3d))) {
        return (double)NAN;
    }
    int64_t k = sum->places - 1;
    while (sum->line[k] < 0.5 * most) {
        k--;
    }
    if (k == sum->places - 1) {
        return level(scene, k);
    }
    const double part = (sum->line[k] - 0.5 * most) / (sum->line[k] - sum->line[k + 1]);
    return level(scene, k) + part * scene->sph.spacing / FINE;
}

void strake_probes_end(const strake_probes *probes, double *out)
{
    const strake_scene *const scene = probes->scene;
    for (int k = 0; k < probes->which->scene.probes; k++) {
        const strake_probe *const probe = &probes->which->scene.probe[k];
        const probe_sum *const sum = &probes->sum[k];
        if (probe->kind == STRAKE_PROBE_HEIGHT) {
            *out++ = height_at(scene, sum);
            continue;
        }
        for (int d = 0; d < VALUES; d++) {
            const bool is_there = probe->kind == STRAKE_PROBE_PRESSURE ? d == 0 : has(scene, d);
            if (is_there) {
                *out++ = value_at(scene, sum, d);
            }
        }
    }
}

void strake_probes_free(strake_probes *probes)
{
    for (int k = 0; probes->sum != NULL && k < probes->which->scene.probes; k++) {
        free(probes->sum[k].line);
    }
    free(probes->sum);
    *probes = (strake_probes){0};
}
