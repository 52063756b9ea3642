/* Loops over particles that look at nobody else, for one instruction set and precision (sph_rows.h). */
#include "particles/sph_rows.h"

#include "problem/rows.h"

#include "cl/real.h"

#include "cl/sph_point.h"

/* The present state, by axes. */
typedef struct state {
    const real *x[3], *v[3], *rho;
} state;

static state state_of(const strake_sph_parts *parts)
{
    void *const *const value = parts->now.value;
    return (state){{value[STRAKE_SPH_X0], value[STRAKE_SPH_X1], value[STRAKE_SPH_X2]},
                   {value[STRAKE_SPH_V0], value[STRAKE_SPH_V1], value[STRAKE_SPH_V2]},
                   value[STRAKE_SPH_RHO]};
}

static double prepare(const strake_sph_parts *parts, const strake_sph_numbers *given,
                      const strake_sph_state *from, int64_t first, int64_t end)
{
    const real rest = (real)given->density;
    const real *const density = from->value[STRAKE_SPH_RHO];
    const real per_density = REAL(1.0) / rest;
    real *const push = parts->push, *const sound = parts->sound, *const volume = parts->volume;
    real most = REAL(0.0);
    for (int64_t p = first; p < end; p++) {
        const real rho = density[p];
        push[p] = sph_push(rho, per_density, (real)given->stiffness);
        sound[p] = sph_sound(rho * per_density, (real)given->sound);
        volume[p] = parts->kind[p] == STRAKE_PARTICLE_FLUID ? (real)given->mass / rho : REAL(0.0);
        most = STRAKE_MAX(sound[p], most);
    }
    return (double)most;
}

static void predict(const strake_sph_parts *parts, const strake_sph_numbers *numbers, double dt,
                    int64_t first, int64_t end)
{
    const real half = (real)dt * REAL(0.5);
    for (int d = 0; d < 3; d++) {
        const real *const x = parts->now.value[STRAKE_SPH_X0 + d],
                          *const v = parts->now.value[STRAKE_SPH_V0 + d];
        const real *const a = parts->force[d];
        real *const there = parts->half.value[STRAKE_SPH_X0 + d], *const speed =
                                                                      parts->half
                                                                          .value[STRAKE_SPH_V0 + d];
        for (int64_t p = first; p < end; p++) {
            there[p] = sph_after(x[p], v[p], half);
            speed[p] = sph_after(v[p], a[p], half);
        }
    }
    const real *const rho = parts->now.value[STRAKE_SPH_RHO], *const change = parts->force[3];
    real *const then = parts->half.value[STRAKE_SPH_RHO];
    const real least = (real)numbers->density;
    for (int64_t p = first; p < end; p++) {
        then[p] =
            sph_density(rho[p], change[p], half, parts->kind[p] == STRAKE_PARTICLE_DYNAMIC, least);
    }
}

static void correct(const strake_sph_parts *parts, const strake_sph_numbers *numbers, double dt,
                    int64_t first, int64_t end)
{
    const real whole = (real)dt, half = whole * REAL(0.5);
    for (int d = 0; d < 3; d++) {
        real *const x = parts->now.value[STRAKE_SPH_X0 + d], *const v =
                                                                 parts->now
                                                                     .value[STRAKE_SPH_V0 + d];
        const real *const a = parts->force[d];
        for (int64_t p = first; p < end; p++) {
            x[p] = sph_moved(x[p], v[p], a[p], half, whole);
            v[p] = sph_after(v[p], a[p], whole);
        }
    }
    real *const rho = parts->now.value[STRAKE_SPH_RHO];
    const real *const change = parts->force[3];
    const real least = (real)numbers->density;
    for (int64_t p = first; p < end; p++) {
        rho[p] =
            sph_density(rho[p], change[p], whole, parts->kind[p] == STRAKE_PARTICLE_DYNAMIC, least);
    }
}

static void reach(const strake_sph_parts *parts, const void *const rest[3], int64_t first,
                  int64_t end, double *way, double *speed)
{
    const state s = state_of(parts);
    const real *const from[3] = {rest[0], rest[1], rest[2]};
    real far = REAL(0.0), fast = REAL(0.0);
    for (int64_t p = first; p < end; p++) {
        real by = REAL(0.0), v = REAL(0.0);
        for (int d = 0; d < 3; d++) {
            const real moved = s.x[d][p] - from[d][p];
            by += moved * moved;
            v += s.v[d][p] * s.v[d][p];
        }
        far = STRAKE_MAX(by, far);
        fast = STRAKE_MAX(v, fast);
    }
    *way = (double)far;
    *speed = (double)fast;
}

static void enter(const strake_sph_parts *parts, int32_t *cell, int64_t first, int64_t end)
{
    const strake_cells *const cells = parts->cells;
    for (int64_t p = first; p < end; p++) {
        int64_t at[3];
        bool is_inside = true;
        strake_cells_place(cells, cell[p], at);
        for (int a = 0; a < 3; a++) {
            real *const x = (real *)parts->now.value[STRAKE_SPH_X0 + a] + p;
            const real side = (real)cells->side[a];
            const int64_t n = cells->n[a], before = at[a];
            int by = cells->dims == 3 || a != 1 ? sph_cells_away(*x, side) : 0;
            at[a] += by;
            if (cells->is_round[a]) {
                at[a] = (at[a] % n + n) % n;
            } else if (at[a] < 0 || at[a] >= n) {
                is_inside = false;
                at[a] = at[a] < 0 ? 0 : n - 1; /* the last cell of the box on its way */
                by = (int)(at[a] - before);
            }
            *x = sph_from_cell(*x, by, side);
        }
        cell[p] = (int32_t)strake_cells_at(cells, at);
        cell[p] = is_inside ? cell[p] : STRAKE_SPH_LEFT - cell[p];
    }
}

static int64_t find_bad(const strake_sph_parts *parts, int64_t first, int64_t end)
{
    const state s = state_of(parts);
    real all = REAL(0.0);
    int64_t bad = first;
    for (int64_t p = first; p < end; p++) {
        all += sph_not_finite(s.x[0][p], s.x[1][p], s.x[2][p], s.v[0][p], s.v[1][p], s.v[2][p],
                              s.rho[p]);
    }
    if (all == REAL(0.0)) {
        return end;
    }
    while (bad < end && sph_not_finite(s.x[0][bad], s.x[1][bad], s.x[2][bad], s.v[0][bad],
                                       s.v[1][bad], s.v[2][bad], s.rho[bad]) == REAL(0.0)) {
        bad++;
    }
    return bad;
}

extern const strake_sph_rows STRAKE_ROW_NAME(sph, STRAKE_ROWS_PRECISION, STRAKE_ROWS_ISA);
const strake_sph_rows STRAKE_ROW_NAME(sph, STRAKE_ROWS_PRECISION, STRAKE_ROWS_ISA) = {
    prepare, predict, correct, reach, enter, find_bad};
