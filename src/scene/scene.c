/* The particles of a scene: who stands where on the lattice, and what state it begins with. */
#include "scene/scene.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elementary.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/number.h"
#include "problem/sph.h"
#include "scene/probes.h"
#include "scene/scene_impl.h"

/* A scene in words, and whether its time steps can work. */

/* The case's directions and the axes of particles; and what a machine has room for. */

bool strake_scene_list(const strake_scene_maker *m, const char *path, double *out)
{
    const int key = strake_case_key(m->which, path);
    const char *const usual = m->which->problem->key[key].choices;
    const bool is_given = m->which->given[key];
    double list[STRAKE_SCENE_DIRECTIONS] = {0.0};
    if (!is_given && usual != NULL) {
        (void)strake_number_list(usual + 1, ',', m->lattice.dims, list); /* "[0, 0, 1]" */
    }
    for (int d = 0, k = 0; d < STRAKE_SCENE_DIRECTIONS && (is_given || usual != NULL); d++) {
        out[d] = !strake_scene_has(m, d) ? 0.0 : is_given ? m->which->list[key][k++] : list[k++];
    }
    return is_given;
}

void strake_scene_position(const strake_scene *scene, const double x[STRAKE_PARTICLE_AXES],
                           double out[STRAKE_SCENE_DIRECTIONS])
{
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const bool is_used = strake_scene_has_direction(scene->sph.dims, a);
        out[scene->direction[a]] = is_used ? scene->origin[a] + x[a] : 0.0;
    }
}

void strake_scene_vector(const strake_scene *scene, const double v[STRAKE_PARTICLE_AXES],
                         double out[STRAKE_SCENE_DIRECTIONS])
{
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        out[scene->direction[a]] = v[a];
    }
}

const char *strake_scene_kind_word(strake_particle_kind kind)
{
    static const char *const word[] = {[STRAKE_PARTICLE_FLUID] = "fluid",
                                       [STRAKE_PARTICLE_DYNAMIC] = "dynamic",
                                       [STRAKE_PARTICLE_WALL] = "wall"};
    return word[kind];
}

void strake_scene_list_vector(const strake_scene *scene,
                              const double by_direction[STRAKE_SCENE_DIRECTIONS], double *out)
{
    for (int d = 0, k = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        if (strake_scene_has_direction(scene->sph.dims, d)) {
            out[k++] = by_direction[d];
        }
    }
}

strake_status strake_scene_check_room(const strake_case *which, double bytes, double count,
                                      const char *what, strake_error *error)
{
    const double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char text[200];
    if (bytes < all) {
        return STRAKE_OK;
    }
    (void)strake_number_print(text, sizeof text,
                              "%.4g %s need %.4g GiB, and this machine has %.4g GiB", count, what,
                              bytes / 0x1p30, all / 0x1p30);
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: scene.spacing: %s; take a larger one",
                       which->file, text);
}

strake_scene_steps strake_scene_find_steps(const strake_scene *scene)
{
    const strake_sph *const sph = &scene->sph;
    double square = 0.0;
    strake_scene_steps steps = {.sound = sph->cfl * sph->smoothing / (sph->sound + scene->fastest),
                                .gravity = INFINITY,
                                .viscosity = strake_sph_viscous_bound(sph)};
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        square += sph->gravity[a] * sph->gravity[a];
    }
    if (square > 0.0) {
        steps.gravity = sph->cfl * sqrt(sph->smoothing / sqrt(square));
    }
    return steps;
}

/* What a pass computes of a fluid at rest, which has to be a normal number of the working precision. */
static strake_status check_numbers(const strake_case *which, const strake_scene *scene,
                                   strake_error *error)
{
    static const char *const by_spacing = "scene.spacing", *const by_density = "parameters.density";
    const strake_sph *const sph = &scene->sph;
    const bool is_single = which->precision == STRAKE_SINGLE;
    const double least = is_single ? FLT_MIN : DBL_MIN, most = is_single ? FLT_MAX : DBL_MAX;
    const double h = sph->smoothing, mass = strake_sph_mass(sph), slope = -strake_sph_slope(sph);
    const double square = sph->density * sph->density;
    const bool spreads = sph->diffusion != STRAKE_SPH_PLAIN && sph->delta > 0.0;
    const struct {
        double value;
        const char *what, *key;
    } all[] = {{0.01 * h * h, "the square of a short distance", by_spacing},
               {slope, "the kernel's slope", by_spacing},
               {mass / sph->density, "the volume of a particle", by_spacing},
               {mass, "the mass of a particle", "scene.spacing or parameters.density"},
               {slope * mass, "the kernel's slope times a mass", by_density},
               {square, "the square of the density", by_density},
               {0.01 * h * h * sph->density, "a density times the square of a short distance",
                "scene.spacing or parameters.density"},
               {strake_sph_stiffness(sph), "the stiffness rho0 c0^2/7",
                "parameters.density or scheme.sound"},
               {strake_sph_stiffness(sph) / square, "p/rho^2, about c0^2/(7 rho0)",
                "parameters.density or scheme.sound"},
               {spreads ? 2.0 * sph->delta * h * sph->sound * slope : 1.0,
                "the diffusion of density", "scheme.delta"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (!(all[k].value >= least && all[k].value <= most)) {
            char text[200];
            (void)strake_number_print(text, sizeof text,
                                      "%.3g, is beyond the numbers that it has, %.2g to %.2g",
                                      all[k].value, least, most);
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "%s: precision: %s: %s, %s; take %sanother %s", which->file,
                               is_single ? "single" : "double", all[k].what, text,
                               is_single ? "precision: double, or " : "", all[k].key);
        }
    }
    return STRAKE_OK;
}

/** Refuses time steps that cannot work; strake_scene_make() asks. */
static strake_status scene_judge(const strake_case *which, const strake_scene *scene,
                                 strake_error *error)
{
    const strake_scene_steps steps = strake_scene_find_steps(scene);
    const double dt = fmin(fmin(steps.sound, steps.gravity), steps.viscosity);
    const strake_status status = check_numbers(which, scene, error);
    char text[300];
    if (status != STRAKE_OK) {
        return status;
    }
    if (isfinite(which->end) && !(which->end < dt * 0x1p50)) {
        (void)strake_number_print(text, sizeof text,
                                  "time.end: %.4g s are more steps of %.4g s than a clock can "
                                  "count; take a shorter time, "
                                  "a larger scene.spacing or a smaller scheme.sound",
                                  which->end, dt);
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s", which->file, text);
    }
    return STRAKE_OK;
}

uint64_t strake_scene_variant(const strake_scene *scene)
{
    const strake_sph *const sph = &scene->sph;
    const int64_t what[] = {sph->kernel, sph->viscosity, sph->diffusion, sph->is_fast,
                            scene->kinds[STRAKE_PARTICLE_WALL] > 0};
    return strake_fnv1a(STRAKE_FNV_SEED, what, sizeof what);
}

/* Where lines go. */
typedef struct writer {
    void (*line)(void *user, const char *text);
    void *user;
} writer;

static void say(const writer *to, const char *format, ...) STRAKE_PRINTF(2, 3);

static void say(const writer *to, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    (void)strake_number_vprint(text, sizeof text, format, list);
    va_end(list);
    to->line(to->user, text);
}

/* A bound on dt in words. */
static const char *bound_of(double seconds, char text[40])
{
    if (seconds < (double)INFINITY) {
        (void)strake_number_print(text, 40, "%.4g s", seconds);
        return text;
    }
    return "none";
}

static void say_domain(const writer *to, const strake_scene *scene)
{
    char text[400] = "";
    size_t used = 0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            if (scene->direction[a] == d && strake_scene_has_direction(scene->sph.dims, a) &&
                used < sizeof text) {
                used += (size_t)strake_number_print(
                    text + used, sizeof text - used, "%s%c %.6g to %.6g m%s%s",
                    used > 0 ? ", " : "", "xyz"[d], scene -> origin[a],
                    scene -> origin[a] + scene -> size[a],
                    scene -> is_round[a] ? " (periodic)" : "", a == 0 ? " (slices)" : "");
            }
        }
    }
    say(to, "domain     %s", text);
}

void strake_scene_describe(const strake_case *which, const strake_scene *scene,
                           void (*line)(void *user, const char *text), void *user)
{
    const writer give = {line, user}, *const to = &give;
    const strake_sph *const sph = &scene->sph;
    const strake_scene_steps steps = strake_scene_find_steps(scene);
    const double dt = fmin(fmin(steps.sound, steps.gravity), steps.viscosity);
    char height[40] = "", end[40] = "", bound[3][40];
    if (steps.gravity < INFINITY) {
        (void)strake_number_print(height, sizeof height, "H = %.6g m, ", scene->height);
    }
    say(to,
        "particles  %lld: %lld fluid, %lld of dynamic walls, %lld of walls that repel; %d planes",
        (long long)scene->count, (long long)scene->kinds[STRAKE_PARTICLE_FLUID],
        (long long)scene->kinds[STRAKE_PARTICLE_DYNAMIC],
        (long long)scene->kinds[STRAKE_PARTICLE_WALL], sph->planes);
    say_domain(to, scene);
    if (scene->rounds > 0) {
        char more[60] = "";
        (void)snprintf(more, sizeof more, " (the first of %d such lengths)", scene->rounds);
        say(to, "rounded    %s%s", scene->rounded, scene->rounds > 1 ? more : "");
    }
    if (which->scene.probes > 0) {
        const double seconds = which->diagnostics_seconds;
        const double every = (double)which->diagnostics_every;
        say(to,
            seconds > 0.0 ? "probes     %d, every %.6g s"
            : every > 0.0 ? "probes     %d, every %.0f steps"
                          : "probes     %d, not measured: nothing says when; give "
                            "diagnostics.every or diagnostics.every_seconds",
            which->scene.probes, seconds > 0.0 ? seconds : every);
    }
    if (scene->motions != NULL) {
        int64_t moving = 0;
        for (int b = 0; b < scene->motions->bodies; b++) {
            moving += scene->motions->body[b].end - scene->motions->body[b].first;
        }
        say(to, "motions    %d bodies of %lld particles, at up to %.4g m/s; gravity %s",
            scene->motions->bodies, (long long)moving, scene->fastest,
            scene->motions->gravity.laws > 0 ? "changes" : "stays");
    }
    say(to, "spacing    dp = %.6g m, h = %.6g m, mass of a particle %.6g kg%s", sph->spacing,
        sph->smoothing, strake_sph_mass(sph), sph->dims == 2 ? "/m" : "");
    say(to, "fluid      %srho0 = %.6g kg/m3, c0 = %.6g m/s, B = %.6g Pa", height, sph->density,
        sph->sound, strake_sph_stiffness(sph));
    if (isfinite(which->end)) {
        (void)strake_number_print(end, sizeof end, "%.10g s; ", which->end);
    }
    say(to, "time       %slimits of dt: %s by sound, %s by gravity, %s by viscosity", end,
        bound_of(steps.sound, bound[0]), bound_of(steps.gravity, bound[1]),
        bound_of(steps.viscosity, bound[2]));
    if (isfinite(which->end)) {
        const double least = ceil(which->end / dt);
        if (least < (double)which->steps) {
            say(to, "           %.0f steps or more, as accelerations will have it", least);
        } else {
            say(to, "           %lld steps, which end before that", (long long)which->steps);
        }
    }
}

/* In which state the particles of a scene begin. */

/** How far up a point is, against gravity [m]. */
static double scene_up(const strake_scene_maker *m, const double *x)
{
    double sum = 0.0;
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS && m->strength > 0.0; d++) {
        sum -= strake_scene_has(m, d) ? m->gravity[d] / m->strength * x[d] : 0.0;
    }
    return sum;
}

/* x^(1/7) from exactly rounded operations, for x > 0. */
static double seventh_root(double x)
{
    double y = x > 1.0 ? x : 1.0;
    for (int k = 0; k < 200; k++) {
        const double third = y * y * y;
        const double next = y - (third * third * y - x) / (7.0 * third * third);
        if (!(next < y)) {
            return y;
        }
        y = next;
    }
    return y;
}

static strake_particle_kind kind_of(const strake_scene_item *item)
{
    return item->role == STRAKE_SCENE_FLUID      ? STRAKE_PARTICLE_FLUID
           : item->walls == STRAKE_WALLS_DYNAMIC ? STRAKE_PARTICLE_DYNAMIC
                                                 : STRAKE_PARTICLE_WALL;
}

/* Whether water at rest stands within the thickness of a wall: then it is as the water beside it. */
static bool is_wet(const strake_scene_maker *m, const int64_t *site)
{
    const strake_lattice *const l = &m->lattice;
    int64_t first[STRAKE_SCENE_DIRECTIONS], end[STRAKE_SCENE_DIRECTIONS];
    int64_t near[STRAKE_SCENE_DIRECTIONS];
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        first[d] = site[d] - l->layers > l->all.first[d] ? site[d] - l->layers : l->all.first[d];
        end[d] = site[d] + l->layers < l->all.end[d] ? site[d] + l->layers + 1 : l->all.end[d];
    }
    for (near[0] = first[0]; near[0] < end[0]; near[0]++) {
        for (near[1] = first[1]; near[1] < end[1]; near[1]++) {
            for (near[2] = first[2]; near[2] < end[2]; near[2]++) {
                const int owner = l->owner[strake_lattice_index(l, near)];
                const strake_scene_item *const item = owner > 0 && owner != STRAKE_SITE_SOLID
                                                          ? &m->which->scene.item[owner - 1]
                                                          : NULL;
                if (item != NULL && item->role == STRAKE_SCENE_FLUID && item->is_at_rest) {
                    return true;
                }
            }
        }
    }
    return false;
}

static double pressure_at(const strake_scene_maker *m, const strake_scene_item *item,
                          const int64_t *site, const double *x)
{
    double square = 0.0;
    if (item->role != STRAKE_SCENE_FLUID &&
        (item->walls != STRAKE_WALLS_DYNAMIC || !is_wet(m, site))) {
        return 0.0;
    }
    if (item->is_at_rest) {
        return m->scene->sph.density * m->strength * fmax(m->surface - scene_up(m, x), 0.0);
    }
    if (item->dome_radius <= 0.0) {
        return 0.0;
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double off = strake_scene_has(m, d) ? x[d] - item->center[d] : 0.0;
        square += off * off;
    }
    return item->dome * (1.0 - square / (item->dome_radius * item->dome_radius));
}

/* A standing wave when its surface is level (linear theory, from a potential): from the bottom of the fluid on. */
static void find_wave(const strake_scene_maker *m, const strake_scene_item *item, const double *x,
                      double *v)
{
    const double depth = m->scene->height, k = 2.0 * 3.14159265358979323846 / item->rate[1];
    const double far = strake_exp(-2.0 * k * depth);
    const double speed = sqrt(m->strength / k * (1.0 - far) / (1.0 + far)); /* of a wave */
    const double rate = item->rate[0] * m->strength / speed;
    /* cosh and sinh of k z over cosh k H, where z counts from the bottom */
    const double up = x[2] - (m->surface - depth);
    const double rise = strake_exp(k * (up - depth)), fall = strake_exp(-k * (up + depth));
    v[0] = -rate * (rise + fall) / (1.0 + far) * strake_sin(k * x[0]);
    v[1] = 0.0;
    v[2] = rate * (rise - fall) / (1.0 + far) * strake_cos(k * x[0]);
}

static void find_velocity(const strake_scene_maker *m, const strake_scene_item *item,
                          const double *x, double *v)
{
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        v[d] = item->flow == STRAKE_FLOW_UNIFORM  ? item->rate[d]
               : item->flow == STRAKE_FLOW_STRAIN ? item->rate[d] * (x[d] - item->center[d])
                                                  : 0.0;
    }
    if (item->flow == STRAKE_FLOW_WAVE) {
        find_wave(m, item, x, v);
    }
}

/** Takes the speed of a particle into account (given). */
static void scene_note_speed(strake_scene_maker *m, const strake_scene_item *item,
                             const strake_spot *spot)
{
    double v[STRAKE_SCENE_DIRECTIONS], square = 0.0;
    find_velocity(m, item, spot->x, v);
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        const double along = spot->v != NULL ? spot->v[d] : v[d];
        square += strake_scene_has(m, d) ? along * along : 0.0;
    }
    m->given = fmax(m->given, sqrt(square));
}

/** Adds a particle with its state. */
static void scene_place(strake_scene_maker *m, const strake_scene_item *item,
                        const strake_spot *spot)
{
    strake_scene *const scene = m->scene;
    strake_sph_particle *const p = &scene->particle[scene->count];
    double v[STRAKE_SCENE_DIRECTIONS], square = 0.0;
    *p = (strake_sph_particle){.number = scene->count++, .kind = kind_of(item)};
    scene->kinds[p->kind]++;
    find_velocity(m, item, spot->x, v);
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        p->x[a] = strake_scene_has(m, d) ? spot->at[d] : 0.5 * scene->size[a];
        p->v[a] = spot->v != NULL ? spot->v[d] : v[d];
        square += p->v[a] * p->v[a];
    }
    if (sqrt(square) > m->fastest) {
        m->fastest = sqrt(square);
        m->fastest_number = p->number;
    }
    if (spot->density > 0.0) {
        p->density = spot->density;
    } else {
        const double pressure = pressure_at(m, item, spot->site, spot->x);
        const double ratio = 1.0 + pressure / strake_sph_stiffness(&scene->sph);
        m->is_torn = m->is_torn || !(ratio > 0.0);
        p->density = scene->sph.density * seventh_root(ratio > 0.0 ? ratio : 1.0);
    }
    p->pressure = strake_sph_pressure(&scene->sph, p->density);
}

/* Given motions of a scene: those of its case along the axes of particles, and whose they are. */

/* -1 where the axes are the mirror image of the directions: there turns go the other way round. */
static double hand_of(const int direction[STRAKE_PARTICLE_AXES])
{
    double hand = 1.0;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        for (int b = 0; b < a; b++) {
            hand = direction[b] > direction[a] ? -hand : hand;
        }
    }
    return hand;
}

static sph_motion by_axis(const strake_scene_maker *m, const sph_motion *from)
{
    const strake_scene *const scene = m->scene;
    const double hand = hand_of(scene->direction);
    sph_motion out = *from;
    bool turns = false;
    for (int k = 0; k < from->laws; k++) {
        turns = turns || from->law[k].turns;
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            const double along = from->law[k].direction[scene->direction[a]];
            out.law[k].direction[a] = from->law[k].turns ? hand * along : along;
        }
    }
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        out.point[a] = !turns                   ? 0.0
                       : strake_scene_has(m, d) ? from->point[d] - scene->origin[a]
                                                : 0.5 * scene->size[a];
    }
    return out;
}

/** Gravity's motion to the scene, and room for those of bodies. @return STRAKE_ERR_MEMORY */
static strake_status scene_begin_motions(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scene_plan *const plan = &m->which->scene;
    strake_scene *const scene = m->scene;
    if (plan->bodies == 0 && plan->gravity.laws == 0) {
        return STRAKE_OK;
    }
    scene->motions = calloc(1, sizeof *scene->motions);
    STRAKE_CHECK(scene->motions != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory for its motions",
                 m->which->file);
    scene->motions->points = plan->points;
    scene->motions->gravity = by_axis(m, &plan->gravity);
    scene->sph.motions = scene->motions;
    scene->sph.series = plan->series;
cleanup:
    return status;
}

/* The greatest speed of a law [m/s, turns/s], at most. */
static double speed_of(const sph_law *law, const double *series)
{
    double most = 0.0;
    if (law->kind == SPH_LAW_SERIES) {
        const double *const point = &series[2 * law->first];
        for (int k = 0; k + 1 < law->points; k++) {
            const double step = point[2 * k + 2] - point[2 * k];
            most = fmax(most, fabs(point[2 * k + 3] - point[2 * k + 1]) / step);
        }
        return most;
    }
    return fabs(law->size) *
           (law->kind == SPH_LAW_RATE
                ? 1.0
                : SPH_TURN * law->frequency + (law->ramp > 0.0 ? 1.5 / law->ramp : 0.0));
}

/* They are kept as they are at the start, also when nobody needs all particles any more. */
static strake_status keep_carried(strake_scene_maker *m, int64_t first, strake_error *error)
{
    strake_scene *const scene = m->scene;
    const size_t more = (size_t)(scene->count - first), before = (size_t)scene->sph.carries;
    strake_sph_particle *const all =
        realloc(scene->carried, (before + more + 1) * sizeof *scene->carried);
    if (all == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory for %zu particles that move",
                           m->which->file, before + more);
    }
    memcpy(&all[before], &scene->particle[first], more * sizeof *all);
    scene->sph.carried = scene->carried = all;
    scene->sph.carries += (int64_t)more;
    return STRAKE_OK;
}

/**
 * An item that moves: its particles, from number @p first to the last one, get the speed that they begin with.
 * @return STRAKE_ERR_USAGE for a wall as fast as sound
 */
static strake_status scene_add_body(strake_scene_maker *m, const strake_scene_item *item,
                                    int64_t first, strake_error *error)
{
    strake_scene *const scene = m->scene;
    static const int cell[STRAKE_PARTICLE_AXES] = {0, 0, 0};
    double along = 0.0, around = 0.0, radius = 0.0;
    sph_motion *const body = &scene->motions->body[scene->motions->bodies++];
    *body = by_axis(m, &item->motion);
    body->first = (int)first;
    body->end = (int)scene->count;
    const sph_frame frame = sph_frame_at(body, scene->sph.series, 0.0);
    for (int64_t p = first; p < scene->count; p++) {
        strake_sph_particle *const one = &scene->particle[p];
        const sph_carried carried = sph_carry(scene->motions, frame, one->x, cell);
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            one->v[a] = carried.v[a];
        }
        radius = fmax(radius, strake_sph_arm(body, one->x));
    }
    for (int k = 0; k < body->laws; k++) {
        const double speed = speed_of(&body->law[k], scene->sph.series);
        *(body->law[k].turns ? &around : &along) += speed;
    }
    const double fastest = along + SPH_TURN * around * radius;
    scene->fastest = fmax(scene->fastest, fastest);
    if (!(fastest < scene->sph.sound)) {
        char text[200];
        (void)strake_number_print(text, sizeof text,
                                  "it moves at up to %.4g m/s, and sound at %.4g m/s; expected a "
                                  "scheme.sound of ten times the speed of walls",
                                  fastest, scene->sph.sound);
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: motion: %s", item->where, text);
    }
    return keep_carried(m, first, error);
}

/* Particles that are too close to each other. */

/* Part of a spacing below which two particles repel each other as if they were compressed eightfold. */
static const double nearest = 0.5;

/* Particles by the place that contains them: a chain for each. */
typedef struct chains {
    const strake_scene_maker *m;
    int64_t n[STRAKE_SCENE_DIRECTIONS];
    int64_t *first; /* of a place, -1: none */
    int64_t *next;  /* of a particle */
} chains;

static void find_place(const chains *c, const strake_sph_particle *p,
                       int64_t at[STRAKE_SCENE_DIRECTIONS])
{
    const strake_scene *const scene = c->m->scene;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        const int d = scene->direction[a];
        const int64_t place = (int64_t)floor(p->x[a] / c->m->lattice.spacing);
        at[d] = !strake_scene_has(c->m, d) || place < 0 ? 0 : place < c->n[d] ? place : c->n[d] - 1;
    }
}

static double square_between(const chains *c, const strake_sph_particle *p,
                             const strake_sph_particle *q)
{
    const strake_scene *const scene = c->m->scene;
    double sum = 0.0;
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        double off = fabs(p->x[a] - q->x[a]);
        off = scene->is_round[a] && off > 0.5 * scene->size[a] ? scene->size[a] - off : off;
        sum += off * off;
    }
    return sum;
}

/* A particle of a place, other than @p k, that is too near to it; -1: none. */
static int64_t find_near(const chains *c, int64_t k, int64_t place)
{
    const strake_sph_particle *const all = c->m->scene->particle;
    const double limit = nearest * c->m->lattice.spacing * (1.0 - 1e-9);
    for (int64_t q = c->first[place]; q >= 0; q = c->next[q]) {
        if (q != k && square_between(c, &all[k], &all[q]) < limit * limit) {
            return q;
        }
    }
    return -1;
}

/* The same of all places around a particle. */
static int64_t find_around(const chains *c, int64_t k)
{
    int64_t at[STRAKE_SCENE_DIRECTIONS];
    find_place(c, &c->m->scene->particle[k], at);
    for (int way = 0; way < 27; way++) {
        int64_t near[] = {at[0] + way / 9 - 1, at[1] + way / 3 % 3 - 1, at[2] + way % 3 - 1};
        bool is_there = true;
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
            if (c->m->lattice.is_round[d]) {
                near[d] = (near[d] + c->n[d]) % c->n[d];
            }
            is_there = is_there && near[d] >= 0 && near[d] < c->n[d];
        }
        const int64_t found =
            is_there ? find_near(c, k, (near[0] * c->n[1] + near[1]) * c->n[2] + near[2]) : -1;
        if (found >= 0) {
            return found;
        }
    }
    return -1;
}

/** Refuses particles that are nearer to each other than half a spacing, where some are from files. */
static strake_status scene_check_distances(const strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scene *const scene = m->scene;
    const strake_lattice *const l = &m->lattice;
    chains c = {.m = m};
    int64_t places = 1, clouds = 0;
    for (int k = 0; k < m->which->scene.items; k++) {
        clouds += l->cloud[k].count;
    }
    if (clouds == 0) {
        return STRAKE_OK; /* neighbours on the lattice are a spacing apart */
    }
    for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; d++) {
        c.n[d] = l->all.end[d] - l->all.first[d];
        places *= c.n[d];
    }
    STRAKE_TRY(strake_scene_check_room(m->which, 8.0 * (double)(places + scene->count),
                                       (double)places, "places of the box", error));
    c.first = malloc((size_t)places * sizeof *c.first);
    c.next = malloc((size_t)scene->count * sizeof *c.next);
    STRAKE_CHECK(c.first != NULL && c.next != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to look for particles that are too close", m->which->file);
    for (int64_t k = 0; k < places; k++) {
        c.first[k] = -1;
    }
    for (int64_t k = 0; k < scene->count; k++) {
        int64_t at[STRAKE_SCENE_DIRECTIONS];
        find_place(&c, &scene->particle[k], at);
        const int64_t place = (at[0] * c.n[1] + at[1]) * c.n[2] + at[2];
        c.next[k] = c.first[place];
        c.first[place] = k;
    }
    for (int64_t k = 0; k < scene->count; k++) {
        const int64_t near = find_around(&c, k);
        if (near >= 0) {
            char text[200];
            double x[STRAKE_SCENE_DIRECTIONS];
            strake_scene_position(scene, scene->particle[k].x, x);
            const double apart =
                sqrt(square_between(&c, &scene->particle[k], &scene->particle[near]));
            if (l->dims == 3) {
                (void)strake_number_print(
                    text, sizeof text,
                    "%.4g m apart, at [%.6g, %.6g, %.6g] m; scene.spacing is %.6g m", apart, x[0],
                    x[1], x[2], l->spacing);
            } else {
                (void)strake_number_print(
                    text, sizeof text, "%.4g m apart, at [%.6g, %.6g] m; scene.spacing is %.6g m",
                    apart, x[0], x[2], l->spacing);
            }
            status = strake_fail(error, STRAKE_ERR_USAGE,
                                 "%s: scene: particles %" PRId64 " (%s) and %" PRId64
                                 " (%s) are too close: %s, and half of it the least; move what "
                                 "they are of, or take another spacing",
                                 m->which->file, k, strake_scene_kind_word(scene->particle[k].kind),
                                 near, strake_scene_kind_word(scene->particle[near].kind), text);
            goto cleanup;
        }
    }
cleanup:
    free(c.first);
    free(c.next);
    return status;
}

/* Of a particle here and in a run in single precision, in bytes. */
enum { BYTES = sizeof(strake_sph_particle) + 200 };

/* --- numbers --------------------------------------------------------------------------------------- */

static void set_scheme(strake_scene_maker *m)
{
    const strake_case *const which = m->which;
    strake_sph *const sph = &m->scene->sph;
    *sph = (strake_sph){
        .dims = which->problem->dims,
        .kernel = (strake_sph_kernel)strake_case_value(which, "scheme.kernel"),
        .viscosity = (strake_sph_viscosity)strake_case_value(which, "scheme.viscosity"),
        .diffusion = (strake_sph_diffusion)strake_case_value(which, "scheme.diffusion"),
        .spacing = strake_case_value(which, "scene.spacing"),
        .density = strake_case_value(which, "parameters.density"),
        .alpha = strake_case_value(which, "scheme.alpha"),
        .nu = strake_case_value(which, "parameters.viscosity"),
        .delta = strake_case_value(which, "scheme.delta"),
        .cfl = strake_case_value(which, "scheme.cfl"),
        .skin = strake_case_value(which, "scheme.skin"),
        .rebuild = (int)strake_case_value(which, "scheme.rebuild"),
        .is_fast = strake_case_value(which, "scheme.exact") <= 0.0,
        .shepard = (int)strake_case_value(which, "scheme.shepard"),
        .slips = strake_case_value(which, "scheme.slip") > 0.0};
    sph->smoothing = strake_case_value(which, "scheme.smoothing") * sph->spacing;
    sph->reach = sph->spacing;
    (void)strake_scene_list(m, "parameters.gravity", m->gravity);
    m->strength = sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] +
                       m->gravity[2] * m->gravity[2]);
}

/* Components along the axes, once these are known. */
static void set_gravity(const strake_scene_maker *m)
{
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        m->scene->sph.gravity[a] = m->gravity[m->scene->direction[a]];
    }
}

/* Of a fluid that moves about as fast as its sound, or faster, densities are no densities, and no time step is short enough. */
static strake_status check_speed(const strake_scene_maker *m, double speed, const char *who,
                                 strake_error *error)
{
    char text[160];
    if (!(speed > m->scene->sph.sound)) {
        return STRAKE_OK;
    }
    (void)strake_number_print(text, sizeof text,
                              "at %.4g m/s, and sound at %.4g m/s; expected a scheme.sound of ten "
                              "times the greatest speed",
                              speed, m->scene->sph.sound);
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: scheme.sound: %s %s", m->which->file, who,
                       text);
}

/* What follows from the height of the fluid, and from how fast it begins where that is faster than its fall. */
static strake_status set_sound(strake_scene_maker *m, strake_error *error)
{
    strake_sph *const sph = &m->scene->sph;
    const double sound = strake_case_value(m->which, "scheme.sound");
    const double work = m->strength * m->scene->height; /* g H */
    sph->repulsion = strake_case_value(m->which, "scheme.repulsion") * work;
    /* A fall of H ends with sqrt(2 g H). */
    sph->sound = isnan(sound) ? strake_case_value(m->which, "scheme.sound_factor") *
                                    sqrt(fmax(work, 0.5 * m->given * m->given))
                              : sound;
    if (!(sph->sound > 0.0)) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: scheme.sound: missing; without gravity and velocities no speed of sound follows "
            "from the fluid: expected ten times its greatest speed [m/s]",
            m->which->file);
    }
    return check_speed(m, sqrt(work), "waves as high as the fluid go", error);
}

static void scene_count(strake_scene_maker *m, const strake_scene_item *item,
                        const strake_spot *spot)
{
    m->scene->count++;
    if (item->role == STRAKE_SCENE_FLUID) {
        const double height = scene_up(m, spot->x), half = 0.5 * m->lattice.spacing;
        m->surface = fmax(m->surface, height + half);
        m->scene->height = fmin(m->scene->height, height - half); /* the bottom, for now */
    }
}

static strake_status fill(strake_scene_maker *m, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene *const scene = m->scene;
    char who[60];
    const int items = m->which->scene.items;
    m->surface = -INFINITY;
    scene->height = INFINITY;
    for (int k = 0; k < items; k++) {
        strake_lattice_each(m, k, scene_count);
    }
    STRAKE_CHECK(
        scene->height < INFINITY, error, STRAKE_ERR_USAGE,
        "%s: scene.fluid: there is no fluid in the scene; expected at least one volume that "
        "contains the middle of a place, such as {box: {from, to}}, and is in no obstacle",
        m->which->file);
    scene->height = m->surface - scene->height;
    for (int k = 0; k < items; k++) {
        STRAKE_CHECK(m->which->scene.item[k].flow != STRAKE_FLOW_WAVE || m->strength > 0.0, error,
                     STRAKE_ERR_USAGE, "%s: velocity: waves need gravity; see parameters.gravity",
                     m->which->scene.item[k].where);
    }
    for (int k = 0; k < items; k++) {
        if (m->which->scene.item[k].role == STRAKE_SCENE_FLUID) {
            strake_lattice_each(m, k, scene_note_speed);
        }
    }
    STRAKE_TRY(set_sound(m, error));
    STRAKE_TRY(scene_judge(m->which, scene, error));
    STRAKE_TRY(strake_scene_check_room(m->which, BYTES * (double)scene->count, (double)scene->count,
                                       "particles", error));
    scene->particle = calloc((size_t)scene->count, sizeof *scene->particle);
    STRAKE_CHECK(scene->particle != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory for %lld particles", m->which->file, (long long)scene->count);
    scene->count = 0;
    STRAKE_TRY(scene_begin_motions(m, error));
    for (int k = 0; k < items; k++) {
        const int64_t first = scene->count;
        strake_lattice_each(m, k, scene_place);
        if (m->which->scene.item[k].motion.laws > 0) {
            STRAKE_TRY(scene_add_body(m, &m->which->scene.item[k], first, error));
        }
    }
    STRAKE_CHECK(!m->is_torn, error, STRAKE_ERR_USAGE,
                 "%s: scene.fluid: a pressure is below what any density has, -rho0 c0^2/7; see "
                 "whether the radius of a dome is that of its fluid",
                 m->which->file);
    (void)snprintf(who, sizeof who, "particle %lld begins", (long long)m->fastest_number);
    STRAKE_TRY(check_speed(m, m->fastest, who, error));
    STRAKE_TRY(scene_check_distances(m, error));
cleanup:
    return status;
}

strake_status strake_scene_make(const strake_case *which, strake_scene *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scene_maker m = {.which = which, .scene = out};
    *out = (strake_scene){.count = 0};
    m.lattice.which = which;
    m.lattice.dims = which->problem->dims;
    set_scheme(&m);
    m.lattice.spacing = out->sph.spacing;
    m.lattice.layers = (int)ceil(2.0 * out->sph.smoothing / out->sph.spacing);
    STRAKE_TRY(strake_lattice_make(&m, error));
    set_gravity(&m);
    STRAKE_TRY(strake_probes_check(which, m.lattice.low, m.lattice.high, error));
    STRAKE_TRY(fill(&m, error));
cleanup:
    strake_lattice_free(&m);
    if (status != STRAKE_OK) {
        strake_scene_close(out);
    }
    return status;
}

void strake_scene_close(strake_scene *scene)
{
    free(scene->particle);
    free(scene->motions);
    free(scene->carried);
    *scene = (strake_scene){.count = 0};
}
