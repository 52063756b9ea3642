/* Flows of particles, for tests (water.h). */
#include "tests/support/water.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/probes.h"
#include "tests/support/harness.h"

static int outside; /* figures out of their bands since the last water_judged() */

bool water_is_long(void)
{
    return getenv("STRAKE_LONG") != NULL;
}

static void begin(water *w)
{
    const strake_options options = {.where = "cpu", .threads = water_is_long() ? 2 : 1};
    strake_error error;
    if (strake_scene_make(w->which, &w->scene, &error) != STRAKE_OK ||
        strake_open(w->which, &options, &w->solver, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    w->count = w->scene.count;
    w->now = calloc((size_t)w->count, sizeof *w->now);
    w->field = calloc((size_t)w->count * STRAKE_SCENE_DIRECTIONS, sizeof *w->field);
    assert_true(w->now != NULL && w->field != NULL);
    water_run(w, 0.0);
}

void water_open(water *w, const char *file, const char *const *sets)
{
    strake_error error;
    *w = (water){0};
    if (strake_case_open(file, sets, &w->which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    begin(w);
}

void water_parse(water *w, const char *text, const char *const *sets)
{
    strake_error error;
    *w = (water){0};
    if (strake_case_parse("test", text, sets, false, &w->which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    begin(w);
}

static void read_field(water *w, const char *name)
{
    strake_error error;
    if (strake_get_field(w->solver, name, w->field, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
}

/* x, y, z of a particle from the field that was read last: in 2D x, z. */
static void take(const water *w, int64_t k, double *out)
{
    const int dims = w->scene.sph.dims;
    const double *const row = w->field + k * dims;
    out[0] = row[0];
    out[1] = dims == 3 ? row[1] : 0.0;
    out[2] = row[dims - 1];
}

/* The work of Tait's pressure from rest to a density, per mass. */
static double compression(const strake_sph *sph, double density)
{
    const double x = density / sph->density, cube = x * x * x;
    return strake_sph_stiffness(sph) / sph->density * (cube * cube / 6.0 + 1.0 / x - 7.0 / 6.0);
}

/* Energy per mass at a distance from what repels: of the acceleration D ((r0/r)^12 - (r0/r)^6)/r. */
static double repulsion(const strake_sph *sph, double square)
{
    const double share = sph->reach * sph->reach / square, sixth = share * share * share;
    return share > 1.0 ? sph->repulsion * (sixth - 1.0) * (sixth - 1.0) / 12.0 : 0.0;
}

/* Of a particle of fluid: planes and, one by one, the particles of walls. */
static double repelled(const water *w, const strake_sph_particle *one, const int64_t *wall,
                       int64_t walls)
{
    const strake_sph *const sph = &w->scene.sph;
    double sum = 0.0;
    for (int p = 0; p < sph->planes; p++) {
        double distance = -sph->plane[p].offset;
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            const double x = one->x[w->scene.direction[a]] - w->scene.origin[a];
            distance += sph->plane[p].normal[a] * x;
        }
        sum += repulsion(sph, distance * distance);
    }
    for (int64_t k = 0; k < walls; k++) {
        const strake_sph_particle *const other = &w->now[wall[k]];
        const double x = one->x[0] - other->x[0], y = one->x[1] - other->x[1];
        const double z = one->x[2] - other->x[2], square = x * x + y * y + z * z;
        sum += square < sph->reach * sph->reach ? repulsion(sph, square) : 0.0;
    }
    return sum;
}

static void add_energies(water *w)
{
    const strake_sph *const sph = &w->scene.sph;
    const double mass = strake_sph_mass(sph);
    int64_t *const wall = calloc((size_t)w->count, sizeof *wall);
    int64_t walls = 0;
    assert_non_null(wall);
    w->kinetic = w->potential = w->elastic = w->wall = 0.0;
    for (int64_t k = 0; k < w->count; k++) {
        wall[walls] = k;
        walls += w->now[k].kind == STRAKE_PARTICLE_WALL ? 1 : 0;
    }
    for (int64_t k = 0; k < w->count; k++) {
        const strake_sph_particle *const one = &w->now[k];
        if (one->kind == STRAKE_PARTICLE_FLUID || one->kind == STRAKE_PARTICLE_DYNAMIC) {
            w->elastic += mass * compression(sph, one->density);
        }
        if (one->kind != STRAKE_PARTICLE_FLUID) {
            continue;
        }
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            const int d = w->scene.direction[a];
            w->kinetic += 0.5 * mass * one->v[d] * one->v[d];
            w->potential -= mass * sph->gravity[a] * one->x[d];
        }
        w->wall += mass * repelled(w, one, wall, walls);
    }
    free(wall);
}

void water_run(water *w, double until)
{
    strake_error error;
    if (strake_advance(w->solver, until, INT64_MAX / 2, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    w->lost = 0.0;
    read_field(w, "kind");
    for (int64_t k = 0; k < w->count; k++) {
        const bool is_there = w->field[k] < (double)STRAKE_PARTICLE_KINDS;
        w->now[k].number = k;
        w->now[k].kind = is_there ? (strake_particle_kind)w->field[k] : (strake_particle_kind)-1;
        w->lost += is_there ? 0.0 : 1.0;
    }
    read_field(w, "density");
    for (int64_t k = 0; k < w->count; k++) {
        w->now[k].density = w->field[k];
    }
    read_field(w, "pressure");
    for (int64_t k = 0; k < w->count; k++) {
        w->now[k].pressure = w->field[k];
    }
    read_field(w, "position");
    for (int64_t k = 0; k < w->count; k++) {
        take(w, k, w->now[k].x);
    }
    read_field(w, "velocity");
    for (int64_t k = 0; k < w->count; k++) {
        take(w, k, w->now[k].v);
    }
    add_energies(w);
}

void water_spin(water *w, double rate)
{
    strake_error error;
    for (int64_t k = 0; k < w->count; k++) {
        w->field[2 * k] = w->now[k].v[0] + rate * w->now[k].x[2];
        w->field[2 * k + 1] = w->now[k].v[2] - rate * w->now[k].x[0];
    }
    if (strake_set_field(w->solver, "velocity", w->field, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    water_run(w, 0.0);
}

double water_energy(const water *w)
{
    return w->kinetic + w->potential + w->elastic + w->wall;
}

void water_probe(const water *w, int probes, double *out)
{
    strake_probes sums = {0};
    double all[64];
    strake_error error;
    if (strake_probes_begin(&sums, w->which, &w->scene, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    for (int64_t k = 0; k < w->count; k++) {
        const strake_sph_particle *const one = &w->now[k];
        if (one->kind == STRAKE_PARTICLE_FLUID) {
            strake_probes_add(&sums, one->x, one->v, one->density, one->pressure);
        }
    }
    strake_probes_end(&sums, all);
    memcpy(out, all, (size_t)probes * sizeof *out);
    strake_probes_free(&sums);
}

void water_close(water *w)
{
    strake_close(&w->solver);
    strake_scene_close(&w->scene);
    strake_case_close(&w->which);
    free(w->now);
    free(w->field);
}

void water_judge(const char *what, double measured, double low, double high)
{
    const bool is_in = measured >= low && measured <= high;
    outside += is_in ? 0 : 1;
    print_message("%-62s %12.6g  in %10.5g to %-10.5g %s\n", what, measured, low, high,
                  is_in ? "ok" : "OUTSIDE");
}

void water_judged(void)
{
    const int found = outside;
    outside = 0;
    assert_int_equal(found, 0);
}
