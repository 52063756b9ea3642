/* A scene in words, and whether its time steps can work. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"
#include "scene/scene.h"
#include "scene/scene_impl.h"

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

strake_status strake_scene_judge(const strake_case *which, const strake_scene *scene,
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
