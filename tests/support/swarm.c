/* Particles that tests of them begin with. */
#include "tests/support/swarm.h"

#include <stdlib.h>

strake_sph strake_swarm_fluid(int dims, double spacing, double density, double sound)
{
    return (strake_sph){.dims = dims,
                        .spacing = spacing,
                        .smoothing = 1.3 * spacing,
                        .density = density,
                        .sound = sound,
                        .alpha = 0.1,
                        .delta = 0.1,
                        .cfl = 0.3,
                        .skin = 0.1,
                        .reach = spacing};
}

/* Pseudo-random in [-1, 1). */
static double noise(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(*seed >> 11) * 0x1p-52 - 1.0;
}

/* A disordered block in a box, dropped beside a wall of particles and on a plane. */
static int64_t block(const strake_sph *sph, int side, strake_particle_kind wall,
                     strake_sph_particle *all)
{
    uint64_t seed = 5;
    int64_t count = 0;
    const bool is_flat = sph->dims == 2;
    for (int i = -3; i < side; i++) {
        for (int m = 0; m < (is_flat ? 1 : side); m++) {
            for (int j = 0; j < side; j++) {
                const bool is_wall = i < 0;
                const double far = is_wall ? 0.0 : 0.1 * sph->spacing;
                if (is_wall && wall == STRAKE_PARTICLE_WALL && i < -1) {
                    continue;
                }
                all[count] = (strake_sph_particle){
                    .number = (int64_t)(count * 7919 % 100003),
                    .kind = is_wall ? wall : STRAKE_PARTICLE_FLUID,
                    .x = {(i + 4.5) * sph->spacing + far * noise(&seed),
                          is_flat ? 0.5 : (m + 0.5) * sph->spacing + far * noise(&seed),
                          (j + 1.0) * sph->spacing + far * noise(&seed)},
                    .density = sph->density * (1.0 + 0.01 * (is_wall ? 0.0 : noise(&seed)))};
                for (int a = 0; a < STRAKE_PARTICLE_AXES && !is_wall; a++) {
                    all[count].v[a] = is_flat && a == 1 ? 0.0 : 2.0 * noise(&seed);
                }
                count++;
            }
        }
    }
    return count;
}

/* The first walls shift and follow a series, those behind turn; every law once. */
static const double series[] = {0.0, 0.0, 0.004, 0.002, 0.02, -0.001};
static const sph_motions motions = {
    .bodies = 2,
    .points = 3,
    .gravity = {.laws = 2,
                .law = {{.kind = SPH_LAW_RATE, .turns = 1, .direction = {0, -1, 0}, .size = 3.0},
                        {.kind = SPH_LAW_SINE,
                         .direction = {1, 0, 0},
                         .size = 4.0,
                         .frequency = 40.0,
                         .phase = 0.1,
                         .ramp = 0.003}}},
    .body = {{.laws = 3,
              .first = 0,
              .end = 50000,
              .law = {{.kind = SPH_LAW_RATE, .direction = {0.6, 0, 0.8}, .size = 1.0},
                      {.kind = SPH_LAW_SERIES, .direction = {1, 0, 0}, .points = 3},
                      {.kind = SPH_LAW_SINE,
                       .direction = {0, 0, 1},
                       .size = 0.001,
                       .frequency = 200.0,
                       .ramp = 0.01}}},
             {.laws = 2,
              .first = 50000,
              .end = 100003,
              .point = {0.2, 0.5, 0.4},
              .law = {{.kind = SPH_LAW_SINE,
                       .turns = 1,
                       .direction = {0, 0.8, 0.6},
                       .size = 0.02,
                       .frequency = 20.0},
                      {.kind = SPH_LAW_RATE, .direction = {1, 0, 0}, .size = 0.5}}}}};

/* In a plane turns are about the axis that it does not have. */
static const sph_motions flat_motions = {.bodies = 1,
                                         .body = {{.laws = 1,
                                                   .first = 0,
                                                   .end = 60000,
                                                   .point = {0.2, 0.5, 0.4},
                                                   .law = {{.kind = SPH_LAW_SINE,
                                                            .turns = 1,
                                                            .direction = {0, -1, 0},
                                                            .size = 0.02,
                                                            .frequency = 20.0}}}}};

strake_swarm strake_swarm_block(const strake_swarm_variant *which)
{
    const int side = which->dims == 2 ? 24 : 9;
    strake_swarm out = {
        .sph = strake_swarm_fluid(which->dims, 0.05, 1000.0, 40.0),
        .size = {2.6, which->dims == 2 ? 1.0 : side * 0.05, 2.6},
        .is_round = {false, which->dims == 3, false},
        .all = calloc(STRAKE_SWARM_MOST, sizeof *out.all),
    };
    strake_sph *const sph = &out.sph;
    sph->kernel = which->kernel;
    sph->viscosity = which->viscosity;
    sph->diffusion = which->diffusion;
    sph->rebuild = abs(which->rebuild);
    sph->skin = which->rebuild < 0 ? 0.0 : sph->skin;
    sph->nu = 0.02;
    sph->slips = which->slips;
    sph->shepard = which->shepard;
    sph->motions = !which->moves ? NULL : which->dims == 2 ? &flat_motions : &motions;
    sph->series = series;
    sph->gravity[2] = -9.81;
    sph->repulsion = 5.0 * 9.81;
    sph->planes = 1;
    sph->plane[0] = (strake_sph_plane){.normal = {0.0, 0.0, 1.0}, .offset = 0.0};
    out.count = block(sph, side, which->wall, out.all);
    sph->carried = out.all;
    sph->carries = out.count;
    return out;
}
