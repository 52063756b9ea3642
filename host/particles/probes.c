/* Probes: all particles of the fluid, by number, whoever has them. */
#include "scene/probes.h"

#include <stdlib.h>

#include "particles/fields.h"
#include "problem/sph.h"

enum { ROWS = 1 << 15 /* asked for at once */ };

/* A vector of a row by direction; in 2D y is 0. */
static void turn(int dims, const double *row, double out[STRAKE_SCENE_DIRECTIONS])
{
    out[0] = row[0];
    out[1] = dims == 3 ? row[1] : 0.0;
    out[2] = row[dims - 1];
}

strake_status strake_particles_probe(strake_domain *domain, strake_slabs_reader *read, void *user,
                                     double *out, strake_error *error)
{
    static const int field[] = {STRAKE_SPH_POSITION, STRAKE_SPH_VELOCITY, STRAKE_SPH_DENSITY,
                                STRAKE_SPH_PRESSURE, STRAKE_SPH_KIND};
    enum { FIELDS = sizeof field / sizeof *field };
    strake_status status = STRAKE_OK;
    const strake_particles *const p = strake_particles_of(domain);
    const int dims = p->scene.sph.dims;
    strake_probes probes = {0};
    double *data[FIELDS];
    double *const room = malloc((size_t)(2 * dims + 3) * ROWS * sizeof *room);
    STRAKE_CHECK(room != NULL, error, STRAKE_ERR_MEMORY, "no memory for probes");
    for (int f = 0, column = 0; f < FIELDS; f++) {
        data[f] = room + (size_t)column * ROWS;
        column += f < 2 ? dims : 1;
    }
    STRAKE_TRY(strake_probes_begin(&probes, p->which, &p->scene, error));
    for (int64_t first = 0, end = 0; first < p->scene.count; first = end) {
        end = p->scene.count - first < ROWS ? p->scene.count : first + ROWS;
        for (int f = 0; f < FIELDS; f++) {
            STRAKE_TRY(read(user, field[f], first, end, data[f], error));
        }
        for (int64_t k = 0; k < end - first; k++) {
            double x[STRAKE_SCENE_DIRECTIONS], v[STRAKE_SCENE_DIRECTIONS];
            if ((int)data[4][k] == STRAKE_PARTICLE_FLUID) {
                turn(dims, data[0] + k * dims, x);
                turn(dims, data[1] + k * dims, v);
                strake_probes_add(&probes, x, v, data[2][k], data[3][k]);
            }
        }
    }
    strake_probes_end(&probes, out);
cleanup:
    strake_probes_free(&probes);
    free(room);
    return status;
}
