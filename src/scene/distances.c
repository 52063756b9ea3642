/* Particles that are too close to each other. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "scene/scene_impl.h"

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

strake_status strake_scene_check_distances(const strake_scene_maker *m, strake_error *error)
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
