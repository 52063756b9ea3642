/* Loops over pairs of particles, for one instruction set and precision (sph_rows.h). */
#include "particles/sph_rows.h"

#include <string.h>

#include "problem/rows.h"

#include "cl/real.h"

#include "cl/sph_point.h"

#include "cl/sph_pair.h"

#include "particles/sph_numbers.h"

#define LANES STRAKE_SPH_LANES
#define PLACE ((UINT32_C(1) << STRAKE_SPH_PLACE_BITS) - 1)
#define INLINE static inline __attribute__((always_inline))

typedef struct source {
    const real *x[3], *v[3], *rho, *push, *sound, *volume;
    const real *step[3]; /* to a neighbour's cell, by the step's number */
} source;

static source source_of(const strake_sph_parts *parts, const sph_around *near,
                        const strake_sph_state *state)
{
    void *const *const value = state->value;
    return (source){{value[STRAKE_SPH_X0], value[STRAKE_SPH_X1], value[STRAKE_SPH_X2]},
                    {value[STRAKE_SPH_V0], value[STRAKE_SPH_V1], value[STRAKE_SPH_V2]},
                    value[STRAKE_SPH_RHO],
                    parts->push,
                    parts->sound,
                    parts->volume,
                    {near->step[0], near->step[1], near->step[2]}};
}

INLINE sph_body body_of(source s, int32_t p)
{
    return (sph_body){{s.x[0][p], s.x[1][p], s.x[2][p]},
                      {s.v[0][p], s.v[1][p], s.v[2][p]},
                      s.rho[p],
                      s.push[p],
                      s.sound[p],
                      s.volume[p]};
}

INLINE sph_step step_of(source s, int code)
{
    return (sph_step){{s.step[0][code], s.step[1][code], s.step[2][code]}};
}

/* Takes the sums of a member to its forces. @return |a|^2 */
static real settle(const strake_sph_parts *parts, const strake_sph_numbers *given,
                   const sph_scheme *n, const sph_around *near, const sph_body *i, int32_t p,
                   const sph_sums *pairs, const sph_sums *wall, real spread)
{
    const bool moves = parts->kind[p] == STRAKE_PARTICLE_FLUID;
    sph_sums force = sph_forces(*n, *pairs, *wall, spread);
    int64_t at[3];
    real x[3];
    strake_cells_place(parts->cells, parts->cell[p], at);
    for (int d = 0; d < 3; d++) {
        x[d] = i->x[d] + (real)at[d] * (real)parts->cells->side[d];
    }
    for (int k = 0; k < given->planes; k++) {
        const real *const plane = near->plane[k];
        const real distance =
            sph_distance(plane[3], plane[0], plane[1], plane[2], x[0], x[1], x[2]);
        force = sph_add_plane(*n, distance, plane[0], plane[1], plane[2], force);
    }
    for (int d = 0; d < 3; d++) {
        force.a[d] = moves ? force.a[d] : REAL(0.0);
        ((real *)parts->force[d])[p] = force.a[d];
    }
    ((real *)parts->force[3])[p] = force.change;
    return sph_square(force.a[0], force.a[1], force.a[2]);
}

INLINE bool is_repelling(const strake_sph_parts *parts, int64_t p)
{
    return parts->kind[p] == STRAKE_PARTICLE_WALL;
}

/* The kinds that a particle looks at end here: walls do nothing to each other. */
static uint8_t last_kind(const strake_sph_parts *parts, int32_t p)
{
    return parts->kind[p] == STRAKE_PARTICLE_FLUID ? STRAKE_PARTICLE_WALL : STRAKE_PARTICLE_FLUID;
}

static int number_of_step(const int step[2], int along)
{
    return (step[0] + 1) * 9 + (step[1] + 1) * 3 + along + 1;
}

#define VARIANTS(X)                                                                                \
    KERNELS(X, 2, STRAKE_SPH_WENDLAND)                                                             \
    KERNELS(X, 2, STRAKE_SPH_CUBIC)                                                                \
    KERNELS(X, 3, STRAKE_SPH_WENDLAND)                                                             \
    KERNELS(X, 3, STRAKE_SPH_CUBIC)

#define KERNELS(X, dims_, kernel_)                                                                 \
    X(dims_, kernel_, STRAKE_SPH_ARTIFICIAL, false)                                                \
    X(dims_, kernel_, STRAKE_SPH_ARTIFICIAL, true)                                                 \
    X(dims_, kernel_, STRAKE_SPH_LAMINAR, false)                                                   \
    X(dims_, kernel_, STRAKE_SPH_LAMINAR, true)

/* --- the reference: every candidate, every time -------------------------------------------------- */

/* Whether lists without a skin have a candidate. */
static bool was_near(const strake_sph_parts *parts, const strake_sph_numbers *given,
                     const sph_around *near, int32_t p, int32_t q, int code)
{
    real d[3];
    for (int a = 0; a < 3; a++) {
        const real *const x = parts->rest[a];
        d[a] = x[p] - x[q] - near->step[a][code];
    }
    return sph_square(d[0], d[1], d[2]) <= (real)(given->list * given->list);
}

/* Calls for every neighbour of a member's cells, in their order. */
#define CANDIDATES(parts, p, j, code, ...)                                                         \
    do {                                                                                           \
        strake_cell_range range[18];                                                               \
        const uint8_t last = last_kind(parts, p);                                                  \
        const int ranges = strake_cells_ranges((parts)->cells, (parts)->cell[p], range);           \
        for (int r = 0; r < ranges; r++) {                                                         \
            for (int64_t c = range[r].first; c < range[r].end; c++) {                              \
                const int code =                                                                   \
                    number_of_step(range[r].step, range[r].from + (int)(c - range[r].first));      \
                for (int64_t j = (parts)->start[c]; j < (parts)->start[c + 1]; j++) {              \
                    if (j != (p) && (parts)->kind[j] <= last &&                                    \
                        ((parts)->rest[0] == NULL ||                                               \
                         was_near(parts, given, &near, p, (int32_t)j, code))) {                    \
                        __VA_ARGS__                                                                \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

INLINE real reference(int dims, strake_sph_kernel kernel, strake_sph_viscosity viscosity,
                      bool slips, const strake_sph_parts *parts, const strake_sph_numbers *given,
                      const strake_sph_state *state, int64_t first, int64_t end)
{
    const sph_scheme n = scheme_of(given);
    const sph_around near = around_of(given);
    const source s = source_of(parts, &near, state);
    real most = REAL(0.0);
    for (int64_t k = first * LANES; k < end * LANES && k < parts->members; k++) {
        const int32_t p = parts->member[k];
        const sph_body i = body_of(s, p);
        sph_sums pairs = {{0}, 0}, wall = {{0}, 0};
        real spread = REAL(0.0);
        CANDIDATES(parts, p, q, code, {
            const sph_body j = body_of(s, (int32_t)q);
            const sph_step step = step_of(s, code);
            if (is_repelling(parts, q)) {
                wall = sph_add_wall(n, i, j, step, wall);
            } else {
                pairs = sph_add_pair(dims, kernel == STRAKE_SPH_CUBIC,
                                     viscosity == STRAKE_SPH_LAMINAR, slips, n, i, j, step, pairs);
                if (given->diffusion_kind != STRAKE_SPH_PLAIN) {
                    spread +=
                        sph_diffuse(kernel == STRAKE_SPH_CUBIC,
                                    given->diffusion_kind == STRAKE_SPH_FOURTAKAS, n, i, j, step);
                }
            }
        });
        spread = parts->kind[p] == STRAKE_PARTICLE_FLUID ? spread : REAL(0.0);
        const real square = settle(parts, given, &n, &near, &i, p, &pairs, &wall, spread);
        most = STRAKE_MAX(square, most);
    }
    return most;
}

/* --- lists: lanes of particles side by side ------------------------------------------------------- */

#define SIMD STRAKE_ROW_SIMD(STRAKE_ROWS_ISA)

/* The particles of a group and their sums, lane by lane. */
typedef struct lanes {
    real x[3][LANES], v[3][LANES], rho[LANES], push[LANES], sound[LANES];
    real a[3][LANES], change[LANES], wall[3][LANES], spread[LANES];
} lanes;

INLINE sph_body lane_body(const lanes *g, int l)
{
    return (sph_body){{g->x[0][l], g->x[1][l], g->x[2][l]},
                      {g->v[0][l], g->v[1][l], g->v[2][l]},
                      g->rho[l],
                      g->push[l],
                      g->sound[l],
                      REAL(0.0)};
}

INLINE void load_lane(lanes *g, int l, const sph_body *i)
{
    for (int d = 0; d < 3; d++) {
        g->x[d][l] = i->x[d];
        g->v[d][l] = i->v[d];
        g->a[d][l] = g->wall[d][l] = REAL(0.0);
    }
    g->rho[l] = i->rho;
    g->push[l] = i->push;
    g->sound[l] = i->sound;
    g->change[l] = g->spread[l] = REAL(0.0);
}

/* A neighbour in a list, and the step to its cell. */
INLINE sph_body entry_body(source s, uint32_t entry)
{
    return body_of(s, (int32_t)(entry & PLACE));
}

INLINE sph_step entry_step(source s, uint32_t entry)
{
    return step_of(s, (int32_t)(entry >> STRAKE_SPH_PLACE_BITS));
}

/* What depends on no variant is compiled once, not with each of them. Copies let loops keep it in registers. */
static void add_walls(lanes *g, const sph_scheme *scheme, const source *from, const uint32_t *entry,
                      int64_t entries)
{
    const sph_scheme n = *scheme;
    const source s = *from;
    for (int64_t e = 0; e < entries; e++) {
        const uint32_t *const row = &entry[e * LANES];
        SIMD for (int l = 0; l < LANES; l++)
        {
            const sph_body i = lane_body(g, l), j = entry_body(s, row[l]);
            const sph_step step = entry_step(s, row[l]);
            sph_sums sum = {{g->wall[0][l], g->wall[1][l], g->wall[2][l]}, REAL(0.0)};
            sum = sph_add_wall(n, i, j, step, sum);
            g->wall[0][l] = sum.a[0];
            g->wall[1][l] = sum.a[1];
            g->wall[2][l] = sum.a[2];
        }
    }
}

INLINE void add_spread(bool is_cubic, lanes *g, const sph_scheme *scheme, const source *from,
                       bool is_fourtakas, const uint32_t *entry, int64_t entries)
{
    const sph_scheme n = *scheme;
    const source s = *from;
    for (int64_t e = 0; e < entries; e++) {
        const uint32_t *const row = &entry[e * LANES];
        SIMD for (int l = 0; l < LANES; l++)
        {
            const sph_body i = lane_body(g, l), j = entry_body(s, row[l]);
            const sph_step step = entry_step(s, row[l]);
            g->spread[l] += sph_diffuse(is_cubic, is_fourtakas, n, i, j, step);
        }
    }
}

static void add_spread_cubic(lanes *g, const sph_scheme *scheme, const source *from,
                             bool is_fourtakas, const uint32_t *entry, int64_t entries)
{
    add_spread(true, g, scheme, from, is_fourtakas, entry, entries);
}

static void add_spread_wendland(lanes *g, const sph_scheme *scheme, const source *from,
                                bool is_fourtakas, const uint32_t *entry, int64_t entries)
{
    add_spread(false, g, scheme, from, is_fourtakas, entry, entries);
}

INLINE real listed(int dims, strake_sph_kernel kernel, strake_sph_viscosity viscosity, bool slips,
                   const strake_sph_parts *parts, const strake_sph_numbers *given,
                   const strake_sph_state *state, const strake_sph_list *list, int64_t first,
                   int64_t end)
{
    const sph_scheme n = scheme_of(given);
    const sph_around near = around_of(given);
    const source s = source_of(parts, &near, state);
    real most = REAL(0.0);
    for (int64_t k = first; k < end; k++) {
        const int64_t left = parts->members - k * LANES;
        const int64_t entries = list->first[k + 1] - list->first[k];
        const uint32_t *const entry = &list->entry[list->first[k] * LANES];
        lanes g;
        for (int l = 0; l < LANES; l++) {
            const sph_body i = body_of(s, parts->member[k * LANES + (l < left ? l : left - 1)]);
            load_lane(&g, l, &i);
        }
        for (int64_t e = 0; e < list->near[k]; e++) {
            const uint32_t *const row = &entry[e * LANES];
            SIMD for (int l = 0; l < LANES; l++)
            {
                const sph_body i = lane_body(&g, l), j = entry_body(s, row[l]);
                const sph_step step = entry_step(s, row[l]);
                sph_sums sum = {{g.a[0][l], g.a[1][l], g.a[2][l]}, g.change[l]};
                sum = sph_add_pair(dims, kernel == STRAKE_SPH_CUBIC,
                                   viscosity == STRAKE_SPH_LAMINAR, slips, n, i, j, step, sum);
                g.a[0][l] = sum.a[0];
                g.a[1][l] = sum.a[1];
                g.a[2][l] = sum.a[2];
                g.change[l] = sum.change;
            }
        }
        add_walls(&g, &n, &s, &entry[list->near[k] * LANES], entries - list->near[k]);
        if (given->diffusion_kind != STRAKE_SPH_PLAIN) {
            const bool is_fourtakas = given->diffusion_kind == STRAKE_SPH_FOURTAKAS;
            (kernel == STRAKE_SPH_CUBIC ? add_spread_cubic : add_spread_wendland)(
                &g, &n, &s, is_fourtakas, entry, list->near[k]);
        }
        for (int l = 0; l < LANES && l < left; l++) {
            const int32_t p = parts->member[k * LANES + l];
            const sph_body i = lane_body(&g, l);
            const bool is_fluid = parts->kind[p] == STRAKE_PARTICLE_FLUID;
            const sph_sums pairs = {{g.a[0][l], g.a[1][l], g.a[2][l]}, g.change[l]};
            const sph_sums wall = {{g.wall[0][l], g.wall[1][l], g.wall[2][l]}, REAL(0.0)};
            const real square = settle(parts, given, &n, &near, &i, p, &pairs, &wall,
                                       is_fluid ? g.spread[l] : REAL(0.0));
            most = STRAKE_MAX(square, most);
        }
    }
    return most;
}

static double pass(const strake_sph_parts *parts, const strake_sph_numbers *numbers,
                   const strake_sph_state *state, const strake_sph_list *list, int64_t first,
                   int64_t end)
{
#define VARIANT(dims_, kernel_, viscosity_, slips_)                                                \
    if (numbers->dims == (dims_) && numbers->kernel == (kernel_) &&                                \
        numbers->viscosity == (viscosity_) && numbers->slips == (slips_)) {                        \
        return list == NULL ? (double)reference(dims_, kernel_, viscosity_, slips_, parts,         \
                                                numbers, state, first, end)                        \
                            : (double)listed(dims_, kernel_, viscosity_, slips_, parts, numbers,   \
                                             state, list, first, end);                             \
    }
    VARIANTS(VARIANT)
#undef VARIANT
    return 0.0;
}

/* Adds a neighbour to the means of one that is no other's. */
INLINE sph_means add_mean(const strake_sph_numbers *given, source s, const sph_scheme *n,
                          const sph_body *i, int32_t q, int code, sph_means sum)
{
    return sph_add_mean(given->kernel == STRAKE_SPH_CUBIC, *n, *i, body_of(s, q), step_of(s, code),
                        sum);
}

static void filter(const strake_sph_parts *parts, const strake_sph_numbers *given,
                   const strake_sph_list *list, int64_t first, int64_t end, void *density)
{
    const sph_scheme n = scheme_of(given);
    const sph_around near = around_of(given);
    const source s = source_of(parts, &near, &parts->now);
    real *const out = density;
    for (int64_t k = first * LANES; k < end * LANES && k < parts->members; k++) {
        const int32_t p = parts->member[k];
        const int64_t g = k / LANES;
        const sph_body i = body_of(s, p);
        sph_means sum = sph_begin_means(given->kernel == STRAKE_SPH_CUBIC, i);
        if (parts->kind[p] != STRAKE_PARTICLE_FLUID) {
            continue;
        }
        for (int64_t e = 0; list != NULL && e < list->near[g]; e++) {
            const uint32_t entry = list->entry[(list->first[g] + e) * LANES + k % LANES];
            const int32_t q = (int32_t)(entry & PLACE);
            if (q != p) { /* who fills a lane up */
                sum = add_mean(given, s, &n, &i, q, (int)(entry >> STRAKE_SPH_PLACE_BITS), sum);
            }
        }
        if (list == NULL) {
            CANDIDATES(parts, p, q, code, {
                if (!is_repelling(parts, q)) {
                    sum = add_mean(given, s, &n, &i, (int32_t)q, code, sum);
                }
            });
        }
        out[p] = sph_mean(n, sum);
    }
}

enum { AT_ONCE = 64 };

/* Who of at most AT_ONCE particles from @p first on is within reach of another, itself apart. @return how many */
INLINE int64_t find_near(source s, int32_t p, int code, real limit, int64_t first, int64_t end,
                         uint32_t found[AT_ONCE])
{
    const real x0 = s.x[0][p], x1 = s.x[1][p], x2 = s.x[2][p];
    const sph_step step = step_of(s, code);
    const int size = (int)(end - first);
    int32_t is_near[AT_ONCE];
    int64_t count = 0;
    SIMD for (int k = 0; k < size; k++)
    {
        const real d0 = x0 - s.x[0][first + k] - step.at[0];
        const real d1 = x1 - s.x[1][first + k] - step.at[1];
        const real d2 = x2 - s.x[2][first + k] - step.at[2];
        is_near[k] = sph_square(d0, d1, d2) <= limit ? 1 : 0;
    }
    if (p >= first && p < end) {
        is_near[p - first] = 0;
    }
    for (int k = 0; k < size; k++) {
        found[count] = (uint32_t)(first + k);
        count += is_near[k];
    }
    return count;
}

/* Particles [first, end) of a cell into a lane's list, or only counted. @return how many there are then */
INLINE int32_t list_near(source s, int32_t p, int code, real limit, int64_t first, int64_t end,
                         uint32_t *lane, int32_t before)
{
    int32_t count = before;
    for (int64_t base = first; base < end; base += AT_ONCE) {
        uint32_t found[AT_ONCE];
        const int64_t to = base + AT_ONCE < end ? base + AT_ONCE : end;
        const int64_t has = find_near(s, p, code, limit, base, to, found);
        for (int64_t k = 0; k < has && lane != NULL; k++) {
            lane[(count + k) * LANES] = found[k] | (uint32_t)code << STRAKE_SPH_PLACE_BITS;
        }
        count += (int32_t)has;
    }
    return count;
}

/* Fills what is left of a lane with the particle itself. */
static void fill_up(uint32_t *lane, int32_t first, int32_t end, int32_t p)
{
    for (int32_t k = first; k < end; k++) {
        lane[k * LANES] = (uint32_t)p | (uint32_t)STRAKE_SPH_NO_STEP << STRAKE_SPH_PLACE_BITS;
    }
}

/* Neighbours of one lane: near ones, and in a second list those that repel, which end each cell. */
INLINE void list_lane(const strake_sph_parts *parts, source s, int32_t p, real limit,
                      uint32_t *lane, uint32_t *walls, int32_t count[2])
{
    strake_cell_range range[18];
    const int ranges = strake_cells_ranges(parts->cells, parts->cell[p], range);
    const uint8_t last = last_kind(parts, p);
    count[0] = count[1] = 0;
    for (int r = 0; r < ranges; r++) {
        for (int64_t c = range[r].first; c < range[r].end; c++) {
            const int code =
                number_of_step(range[r].step, range[r].from + (int)(c - range[r].first));
            int64_t end = parts->start[c + 1];
            while (end > parts->start[c] && parts->kind[end - 1] > last) {
                end--;
            }
            int64_t middle = end;
            while (middle > parts->start[c] && is_repelling(parts, middle - 1)) {
                middle--;
            }
            count[0] = list_near(s, p, code, limit, parts->start[c], middle, lane, count[0]);
            count[1] = list_near(s, p, code, limit, middle, end, walls, count[1]);
        }
    }
}

/* Neighbours of the lanes of a group; with no room for them it counts only. */
static int64_t make_list(const strake_sph_parts *parts, const strake_sph_numbers *numbers,
                         strake_sph_list *list, int64_t first, int64_t end)
{
    const sph_around steps = around_of(numbers);
    const source s = source_of(parts, &steps, &parts->now);
    const real limit = (real)(numbers->list * numbers->list);
    int64_t pairs = 0;
    for (int64_t g = first; g < end; g++) {
        const int64_t left = parts->members - g * LANES;
        uint32_t *const entry = list->entry != NULL ? &list->entry[list->first[g] * LANES] : NULL;
        uint32_t *const walls = entry != NULL ? &entry[list->near[g] * LANES] : NULL;
        const int32_t rows = entry != NULL ? (int32_t)(list->first[g + 1] - list->first[g]) : 0;
        int32_t most[2] = {0, 0};
        for (int l = 0; l < LANES; l++) {
            const int32_t p = parts->member[g * LANES + (l < left ? l : left - 1)];
            int32_t count[2] = {0, 0};
            if (l < left) {
                list_lane(parts, s, p, limit, entry != NULL ? &entry[l] : NULL,
                          walls != NULL ? &walls[l] : NULL, count);
            }
            for (int k = 0; k < 2; k++) {
                pairs += count[k];
                most[k] = count[k] > most[k] ? count[k] : most[k];
            }
            if (entry != NULL) {
                fill_up(&entry[l], count[0], list->near[g], p);
                fill_up(&walls[l], count[1], rows - list->near[g], p);
            }
        }
        if (entry == NULL) {
            list->near[g] = most[0];
            list->first[g + 1] = most[0] + most[1];
        }
    }
    return pairs;
}

static size_t constants(const strake_sph_numbers *numbers, const strake_cells *cells, void *out)
{
    sph_constants all = {scheme_of(numbers), around_of(numbers)};
    _Static_assert(sizeof all <= STRAKE_SPH_CONSTANTS, "constants have room");
    for (int a = 0; a < 3; a++) {
        all.around.side[a] = (real)cells->side[a];
    }
    memcpy(out, &all, sizeof all);
    return sizeof all;
}

extern const strake_sph_pair_rows STRAKE_ROW_NAME(sph_pair, STRAKE_ROWS_PRECISION, STRAKE_ROWS_ISA);
const strake_sph_pair_rows STRAKE_ROW_NAME(sph_pair, STRAKE_ROWS_PRECISION,
                                           STRAKE_ROWS_ISA) = {pass, filter, make_list, constants};
