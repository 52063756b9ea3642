/* The case's directions and the axes of particles; and what a machine has room for. */
#include <unistd.h>

#include "base/number.h"
#include "scene/scene_impl.h"

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
