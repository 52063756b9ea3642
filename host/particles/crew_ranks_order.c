/* Particles that ranks need of each other at a new order; and all of them for rank 0, or from it. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "particles/crew_ranks_impl.h"
#include "particles/record.h"

enum {
    TAG_PARTICLES = 801,
    TAG_ALL = 802,
    ROWS = 1 << 14, /* of particles in one message to or from rank 0 */
    PLACES = 3      /* in which those who need a slice may have slices */
};

/* --- particles as bytes ---------------------------------------------------------------------------- */

enum { REALS = STRAKE_SPH_STATES + STRAKE_PARTICLE_AXES };

size_t strake_sph_row_bytes(const strake_sph_image *image)
{
    return sizeof *image->number + 2 * sizeof *image->cell + REALS * (size_t)image->element;
}

/* The arrays of numbers of the working precision. */
static void *array_of(const strake_sph_image *image, int k)
{
    return k < STRAKE_SPH_STATES ? image->state.value[k] : image->rest[k - STRAKE_SPH_STATES];
}

void strake_sph_row_pack(const strake_sph_image *image, int64_t k, char *row)
{
    const size_t real = (size_t)image->element;
    const int32_t kind = image->kind[k];
    memcpy(row, &image->number[k], sizeof *image->number);
    memcpy(row += sizeof *image->number, &image->cell[k], sizeof *image->cell);
    memcpy(row += sizeof *image->cell, &kind, sizeof kind);
    row += sizeof kind;
    for (int a = 0; a < REALS; a++, row += real) {
        memcpy(row, (const char *)array_of(image, a) + (size_t)k * real, real);
    }
}

void strake_sph_row_unpack(const char *row, strake_sph_image *image, int64_t k)
{
    const size_t real = (size_t)image->element;
    int32_t kind = 0;
    memcpy(&image->number[k], row, sizeof *image->number);
    memcpy(&image->cell[k], row += sizeof *image->number, sizeof *image->cell);
    memcpy(&kind, row += sizeof *image->cell, sizeof kind);
    image->kind[k] = (uint8_t)kind;
    row += sizeof kind;
    for (int a = 0; a < REALS; a++, row += real) {
        memcpy((char *)array_of(image, a) + (size_t)k * real, row, real);
    }
}

/* --- a new order ----------------------------------------------------------------------------------- */

/* Other ranks that need a slice from now on. @return how many */
static int find_takers(const strake_sph_far *far, int64_t slice, int taker[PLACES])
{
    const int64_t n = far->crew->cells.n[0];
    int count = 0;
    for (int64_t at = slice - 1; at <= slice + 1; at++) {
        const int64_t there = (at + n) % n;
        bool is_new = far->crew->cells.is_round[0] || there == at;
        const int rank = strake_sph_far_owner(far, far->next, there);
        for (int k = 0; k < count; k++) {
            is_new = is_new && taker[k] != rank;
        }
        if (is_new && rank != far->self) {
            taker[count++] = rank;
        }
    }
    return count;
}

static const strake_sph_member *local(const strake_sph_far *far, int m)
{
    const strake_sph_member *const one = &far->crew->member[m];
    return one->is_here && !one->is_far ? one : NULL;
}

/* Bytes of a number of the working precision. */
static int element_of(const strake_sph_far *far)
{
    return far->crew->member[far->crew->leader].run->element;
}

static char *record_of(const strake_sph_far *far, const strake_sph_member *one, int64_t k)
{
    return (char *)one->out.memory + (size_t)k * strake_sph_record_bytes(element_of(far));
}

/* The slice of a particle that a member has left. */
static int64_t slice_of(const strake_sph_far *far, const strake_sph_member *one, int64_t k)
{
    return strake_cells_slice(&far->crew->cells,
                              strake_sph_record_cell(record_of(far, one, k), element_of(far)));
}

/* What this rank tells the others: particles for each, and how many it lost. */
static void count_own(const strake_sph_far *far, double lost, int64_t *own)
{
    int taker[PLACES];
    memset(own, 0, (size_t)(far->count + 1) * sizeof *own);
    for (int m = 0; m < far->crew->members; m++) {
        const strake_sph_member *const one = local(far, m);
        for (int64_t k = 0; one != NULL && k < one->out_count; k++) {
            const int takers = find_takers(far, slice_of(far, one, k), taker);
            for (int t = 0; t < takers; t++) {
                own[taker[t]]++;
            }
        }
    }
    own[far->count] = (int64_t)lost;
}

/* As many rows of each rank as the most have. */
strake_status strake_sph_far_tell_leavers(strake_sph_far *far, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t *const counted = far->counted;
    int64_t most = 0, all = 0, used = 0;
    strake_sph_leaver *own = NULL, *come = NULL, *more = NULL;
    for (int m = 0; m < far->crew->members; m++) {
        const strake_sph_member *const one = local(far, m);
        used += one != NULL ? one->run->leavers - far->sent[m] : 0;
    }
    STRAKE_TRY(strake_ranks_collect(far->ranks, &used, sizeof used, counted, error));
    used = 0;
    for (int r = 0; r < far->count; r++) {
        most = counted[r] > most ? counted[r] : most;
        all += counted[r];
    }
    own = calloc((size_t)most + 1, sizeof *own);
    come = calloc((size_t)(most * far->count) + 1, sizeof *come);
    more = realloc(far->leaver, (size_t)(far->leavers + all + 1) * sizeof *more);
    far->leaver = more != NULL ? more : far->leaver;
    STRAKE_TRY(strake_ranks_agree(
        far->ranks,
        own != NULL && come != NULL && more != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY,
                          "no memory for a record of particles that left the box"),
        error));
    for (int m = 0; m < far->crew->members; m++) {
        const strake_sph_member *const one = local(far, m);
        for (; one != NULL && far->sent[m] < one->run->leavers; far->sent[m]++) {
            own[used++] = one->run->leaver[far->sent[m]];
        }
    }
    STRAKE_TRY(strake_ranks_collect(far->ranks, own, (size_t)most * sizeof *own, come, error));
    for (int r = 0; r < far->count; r++) {
        for (int64_t k = 0; r != far->self && k < counted[r]; k++) {
            far->leaver[far->leavers++] = come[r * most + k];
        }
    }
cleanup:
    free(own);
    free(come);
    return status;
}

/* Particles of this rank's members, rank by rank. */
static void pack_all(const strake_sph_far *far, const int64_t *to, size_t row, char *data,
                     char **place)
{
    int taker[PLACES];
    for (int r = 0; r < far->count; r++) {
        place[r] = r > 0 ? place[r - 1] + (size_t)to[r - 1] * row : data;
    }
    for (int m = 0; m < far->crew->members; m++) {
        const strake_sph_member *const one = local(far, m);
        for (int64_t k = 0; one != NULL && k < one->out_count; k++) {
            const int takers = find_takers(far, slice_of(far, one, k), taker);
            for (int t = 0; t < takers; t++) {
                memcpy(place[taker[t]], record_of(far, one, k), row);
                place[taker[t]] += row;
            }
        }
    }
}

/* Messages with all ranks that have something for each other. @param[in] more  records that come, in their order */
static strake_status swap_particles(strake_sph_far *far, char *come, int64_t more,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t columns = far->count + 1;
    const int64_t *const to = &far->counted[far->self * columns];
    const size_t row = strake_sph_record_bytes(element_of(far));
    int64_t away = 0, at = 0;
    int sends = 0, receives = 0;
    char *out = NULL;
    char **const place = calloc((size_t)far->count, sizeof *place);
    strake_transfer *const list = calloc(2 * (size_t)far->count, sizeof *list);
    strake_transfer *const receive = list != NULL ? list + far->count : NULL;
    for (int r = 0; r < far->count; r++) {
        away += to[r];
    }
    out = malloc((size_t)away * row + 1);
    STRAKE_CHECK(place != NULL && list != NULL && out != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %lld particles of other ranks", (long long)(away + more));
    pack_all(far, to, row, out, place);
    for (int r = 0; r < far->count; r++) {
        const size_t from = (size_t)far->counted[r * columns + far->self] * row;
        const size_t bytes = (size_t)to[r] * row;
        if (bytes > 0) {
            list[sends++] = (strake_transfer){r, TAG_PARTICLES, place[r] - bytes, bytes};
        }
        if (from > 0) {
            receive[receives++] = (strake_transfer){r, TAG_PARTICLES, come + at, from};
            at += (int64_t)from;
        }
    }
    STRAKE_TRY(strake_ranks_trade(far->ranks, list, sends, receive, receives, error));
cleanup:
    free(place);
    free(list);
    free(out);
    return status;
}

/* Particles of the slices of which only forces go between ranks: all of them changed hands. */
static void count_beside(strake_sph_far *far, const strake_sph_member *one)
{
    const strake_range own = far->owned[far->self];
    const int64_t edge[2] = {own.first, own.end - 1};
    for (int side = 0; side < 2; side++) {
        const int64_t ghost = strake_sph_far_beside(far, own, side);
        for (int64_t k = 0; k < one->out_count; k++) {
            const int64_t slice = slice_of(far, one, k);
            far->edges[side] += slice == edge[side] ? 1 : 0;
            far->ghosts[side] += slice == ghost ? 1 : 0;
        }
    }
}

strake_status strake_sph_far_order(strake_sph_far *far, double own_lost, double *lost,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_crew *const crew = far->crew;
    const int64_t columns = far->count + 1;
    int64_t *const own = &far->counted[far->count * columns];
    strake_sph_member *const first = &far->member[far->member[0].is_here ? 0 : 1];
    strake_sph_box *come = NULL;
    int64_t more = 0;
    count_own(far, own_lost, own);
    STRAKE_TRY(
        strake_ranks_collect(far->ranks, own, (size_t)columns * sizeof *own, far->counted, error));
    *lost = 0.0;
    for (int r = 0; r < far->count; r++) {
        more += far->counted[r * columns + far->self];
        *lost += r != far->self ? (double)far->counted[r * columns + columns - 1] : 0.0;
    }
    come = strake_sph_open_out_of(first, crew->member[crew->leader].run, more);
    STRAKE_TRY(strake_ranks_agree(
        far->ranks,
        come != NULL ? STRAKE_OK
                     : strake_fail(error, STRAKE_ERR_MEMORY,
                                   "no memory for %lld particles of other ranks", (long long)more),
        error));
    first->out_count = more;
    STRAKE_TRY(swap_particles(far, come->memory, more, error));
    far->has_lost = *lost + own_lost > 0.0;
    memcpy(far->owned, far->next, (size_t)far->count * sizeof *far->owned);
    memset(far->edges, 0, sizeof far->edges);
    memset(far->ghosts, 0, sizeof far->ghosts);
    count_beside(far, first);
    for (int k = 0; k < STRAKE_SPH_FAR; k++) {
        far->member[k].own = far->member[k].next;
    }
    for (int m = 0; m < crew->members; m++) {
        if (local(far, m) != NULL) {
            count_beside(far, local(far, m));
        }
    }
cleanup:
    return status;
}

/* --- all particles, by number ---------------------------------------------------------------------- */

static bool is_own(const strake_sph_far *far, const strake_sph_image *all, int64_t k)
{
    const strake_range own = far->owned[far->self];
    const int64_t slice =
        all->cell[k] >= 0 ? strake_cells_slice(&far->crew->cells, all->cell[k]) : -1;
    return slice >= own.first && slice < own.end;
}

/* Rows of the number that is first in each. */
static void unpack_all(const char *data, int64_t rows, strake_sph_image *all)
{
    const size_t row = strake_sph_row_bytes(all);
    for (int64_t k = 0; k < rows; k++) {
        int64_t number = 0;
        memcpy(&number, data + (size_t)k * row, sizeof number);
        strake_sph_row_unpack(data + (size_t)k * row, all, number);
    }
}

/* One rank's particles to rank 0, some at a time. */
static strake_status bring_rows(strake_sph_far *far, strake_sph_image *all, char *data,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t row = strake_sph_row_bytes(all);
    strake_transfer one = {.peer = 0, .tag = TAG_ALL, .data = data};
    int64_t rows = 0;
    for (int64_t k = 0; k < all->count; k++) {
        if (is_own(far, all, k)) {
            strake_sph_row_pack(all, k, data + (size_t)rows++ * row);
        }
        if (rows > 0 && (rows == ROWS || k + 1 == all->count)) {
            one.bytes = (size_t)rows * row;
            STRAKE_TRY(strake_ranks_trade(far->ranks, &one, 1, NULL, 0, error));
            rows = 0;
        }
    }
cleanup:
    return status;
}

strake_status strake_sph_far_gather(strake_sph_far *far, strake_sph_image *all, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t row = strake_sph_row_bytes(all);
    int64_t own = 0;
    int64_t *const rows = calloc((size_t)far->count, sizeof *rows);
    char *const data = malloc(ROWS * row);
    STRAKE_TRY(strake_ranks_agree(
        far->ranks,
        rows != NULL && data != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for particles of ranks"),
        error));
    for (int64_t k = 0; k < all->count; k++) {
        own += is_own(far, all, k) ? 1 : 0;
        if (far->self == 0 && !is_own(far, all, k)) {
            all->number[k] = k;
            all->cell[k] = -1; /* unless somebody has it */
        }
    }
    STRAKE_TRY(strake_ranks_collect(far->ranks, &own, sizeof own, rows, error));
    if (far->self != 0) {
        STRAKE_TRY(bring_rows(far, all, data, error));
    }
    for (int r = 1; r < far->count && far->self == 0; r++) {
        for (int64_t left = rows[r]; left > 0; left -= ROWS) {
            const int64_t now = left < ROWS ? left : ROWS;
            const strake_transfer one = {r, TAG_ALL, data, (size_t)now * row};
            STRAKE_TRY(strake_ranks_trade(far->ranks, NULL, 0, &one, 1, error));
            unpack_all(data, now, all);
        }
    }
cleanup:
    free(rows);
    free(data);
    return status;
}

strake_status strake_sph_far_spread(strake_sph_far *far, strake_sph_image *all, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t row = strake_sph_row_bytes(all);
    char *const data = malloc(ROWS * row);
    STRAKE_TRY(strake_ranks_agree(
        far->ranks,
        data != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for particles of ranks"),
        error));
    STRAKE_TRY(strake_ranks_broadcast(far->ranks, &all->clock, sizeof all->clock, error));
    for (int64_t first = 0; first < all->count; first += ROWS) {
        const int64_t now = all->count - first < ROWS ? all->count - first : ROWS;
        for (int64_t k = 0; k < now && far->self == 0; k++) {
            strake_sph_row_pack(all, first + k, data + (size_t)k * row);
        }
        STRAKE_TRY(strake_ranks_broadcast(far->ranks, data, (size_t)now * row, error));
        for (int64_t k = 0; k < now; k++) {
            strake_sph_row_unpack(data + (size_t)k * row, all, first + k);
        }
    }
cleanup:
    free(data);
    return status;
}
