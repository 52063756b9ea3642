/* What members that stand for other ranks do beside passes and at meetings. */
#include "particles/crew_ranks.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/error.h"
#include "particles/run.h"

struct strake_sph_far {
    strake_ranks *ranks;
    strake_sph_crew *crew;
    int count, self;           /* ranks */
    strake_sph_member *member; /* those before and those after: the crew's last ones */
    strake_range *owned;       /* slices of every rank, now ... */
    strake_range *next;        /* ... and from the next order on */
    int64_t ghosts[2];         /* particles of the slices before and after this rank's ... */
    int64_t edges[2];          /* ... and of its first and its last one */
    int64_t taken;             /* events of the crew that were taken part in */
    int64_t sent[STRAKE_MAX_PARTS + STRAKE_SPH_FAR]; /* leavers of members that others know */
    strake_sph_leaver *leaver;                       /* of other ranks */
    int64_t leavers;
    bool has_lost;    /* some left the box at the last order, and not all ranks know which */
    int64_t *counted; /* [ranks + 1][ranks + 1] of an order: particles for each rank, lost ones */
    pthread_t thread;
    bool has_told; /* other ranks know that this one goes no further */
    int failures;  /* of ranks, so far: what was sent in vain is of another tag than what follows */
    strake_status status;
    strake_error error;
};

/* Particles that ranks need of each other at a new order; and all of them for rank 0, or from it. */

enum {
    TAG_PARTICLES = 801,
    TAG_ALL = 802,
    ROWS = 1 << 14, /* of particles in one message to or from rank 0 */
    PLACES = 3      /* in which those who need a slice may have slices */
};

/* --- particles as bytes ---------------------------------------------------------------------------- */

enum { REALS = STRAKE_SPH_STATES + STRAKE_PARTICLE_AXES };

static int64_t sph_far_beside(const strake_sph_far *far, strake_range own, int side);
static int sph_far_owner(const strake_sph_far *far, const strake_range *owned, int64_t slice);

/** Bytes of a particle on its way. */
static size_t sph_row_bytes(const strake_sph_image *image)
{
    return sizeof *image->number + 2 * sizeof *image->cell + REALS * (size_t)image->element;
}

/* The arrays of numbers of the working precision. */
static void *array_of(const strake_sph_image *image, int k)
{
    return k < STRAKE_SPH_STATES ? image->state.value[k] : image->rest[k - STRAKE_SPH_STATES];
}

static void sph_row_pack(const strake_sph_image *image, int64_t k, char *row)
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

static void sph_row_unpack(const char *row, strake_sph_image *image, int64_t k)
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
        const int rank = sph_far_owner(far, far->next, there);
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

/** Those who left the box, once members know them: all ranks do then. Collective */
static strake_status sph_far_tell_leavers(strake_sph_far *far, strake_error *error)
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
        const int64_t ghost = sph_far_beside(far, own, side);
        for (int64_t k = 0; k < one->out_count; k++) {
            const int64_t slice = slice_of(far, one, k);
            far->edges[side] += slice == edge[side] ? 1 : 0;
            far->ghosts[side] += slice == ghost ? 1 : 0;
        }
    }
}

/** Particles change hands: the members have left theirs. @param[out] lost  by all other ranks. Collective */
static strake_status sph_far_order(strake_sph_far *far, double own_lost, double *lost,
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
    const size_t row = sph_row_bytes(all);
    for (int64_t k = 0; k < rows; k++) {
        int64_t number = 0;
        memcpy(&number, data + (size_t)k * row, sizeof number);
        sph_row_unpack(data + (size_t)k * row, all, number);
    }
}

/* One rank's particles to rank 0, some at a time. */
static strake_status bring_rows(strake_sph_far *far, strake_sph_image *all, char *data,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t row = sph_row_bytes(all);
    strake_transfer one = {.peer = 0, .tag = TAG_ALL, .data = data};
    int64_t rows = 0;
    for (int64_t k = 0; k < all->count; k++) {
        if (is_own(far, all, k)) {
            sph_row_pack(all, k, data + (size_t)rows++ * row);
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
    const size_t row = sph_row_bytes(all);
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
    const size_t row = sph_row_bytes(all);
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
            sph_row_pack(all, first + k, data + (size_t)k * row);
        }
        STRAKE_TRY(strake_ranks_broadcast(far->ranks, data, (size_t)now * row, error));
        for (int64_t k = 0; k < now; k++) {
            sph_row_unpack(data + (size_t)k * row, all, first + k);
        }
    }
cleanup:
    free(data);
    return status;
}

enum { TAG_FORCES = 0, TAGS = 800 };

/* What ranks tell each other where they meet: as their members, and whether one failed. */
enum { FAILED = STRAKE_SPH_SAID, SAID };

/** The slice beside a rank's range on a side, -1: none. */
static int64_t sph_far_beside(const strake_sph_far *far, strake_range own, int side)
{
    const int64_t n = far->crew->cells.n[0], at = side == 0 ? own.first - 1 : own.end;
    return far->crew->cells.is_round[0] ? (at + n) % n : at >= 0 && at < n ? at : -1;
}

/** The rank that has a slice. */
static int sph_far_owner(const strake_sph_far *far, const strake_range *owned, int64_t slice)
{
    int first = 0, last = far->count - 1;
    while (first < last) {
        const int middle = (first + last) / 2;
        if (slice < owned[middle].end) {
            last = middle;
        } else {
            first = middle + 1;
        }
    }
    return first;
}

/* The slices before and after this rank's are those of the members. */
static void set_ranges(const strake_range *owned, int self, int64_t slices, bool is_next,
                       strake_sph_member *member)
{
    const strake_range range[STRAKE_SPH_FAR] = {{0, owned[self].first}, {owned[self].end, slices}};
    for (int k = 0; k < STRAKE_SPH_FAR; k++) {
        *(is_next ? &member[k].next : &member[k].own) = range[k];
    }
}

strake_status strake_sph_far_open(strake_sph_crew *crew, strake_ranks *ranks,
                                  const strake_range *owned, strake_sph_far **out,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(ranks);
    strake_sph_far *far = calloc(1, sizeof *far);
    STRAKE_CHECK(far != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    *far = (strake_sph_far){
        .ranks = ranks,
        .crew = crew,
        .count = count,
        .self = strake_ranks_self(ranks),
        .member = &crew->member[crew->members - STRAKE_SPH_FAR],
        .owned = calloc((size_t)count, sizeof *far->owned),
        .next = calloc((size_t)count, sizeof *far->next),
        .counted = calloc((size_t)(count + 1) * (size_t)(count + 1), sizeof *far->counted)};
    STRAKE_CHECK(far->owned != NULL && far->next != NULL && far->counted != NULL, error,
                 STRAKE_ERR_MEMORY, "out of memory for the ranks");
    memcpy(far->owned, owned, (size_t)count * sizeof *owned);
    set_ranges(owned, far->self, crew->cells.n[0], false, far->member);
    strake_sph_far_share(far, owned);
    for (int k = 0; k < STRAKE_SPH_FAR; k++) {
        far->member[k].is_far = true;
    }
    *out = far;
    far = NULL;
cleanup:
    strake_sph_far_close(&far);
    return status;
}

void strake_sph_far_close(strake_sph_far **far)
{
    if (*far != NULL) {
        free((*far)->owned);
        free((*far)->next);
        free((*far)->counted);
        free((*far)->leaver);
        free(*far);
        *far = NULL;
    }
}

void strake_sph_far_share(strake_sph_far *far, const strake_range *owned)
{
    memcpy(far->next, owned, (size_t)far->count * sizeof *owned);
    set_ranges(owned, far->self, far->crew->cells.n[0], true, far->member);
}

void strake_sph_far_count(strake_sph_far *far, const strake_sph_image *all)
{
    const strake_range own = far->next[far->self];
    const int64_t edge[2] = {own.first, own.end - 1};
    memcpy(far->owned, far->next, (size_t)far->count * sizeof *far->owned);
    for (int k = 0; k < STRAKE_SPH_FAR; k++) {
        far->member[k].own = far->member[k].next;
    }
    for (int side = 0; side < 2; side++) {
        const int64_t ghost = sph_far_beside(far, own, side);
        far->edges[side] = far->ghosts[side] = 0;
        for (int64_t k = 0; k < all->count; k++) {
            const int64_t slice =
                all->cell[k] >= 0 ? strake_cells_slice(&far->crew->cells, all->cell[k]) : -1;
            far->edges[side] += slice == edge[side] ? 1 : 0;
            far->ghosts[side] += slice >= 0 && slice == ghost ? 1 : 0;
        }
    }
}

/* --- forces ---------------------------------------------------------------------------------------- */

/* Both slices beside a range are the same one: it comes, and goes, but once. */
static bool is_one(const strake_sph_far *far, strake_range own)
{
    return far->crew->cells.is_round[0] && own.end - own.first == far->crew->cells.n[0] - 1;
}

/* The member with a run that has a slice. */
static strake_sph_member *find_member(const strake_sph_far *far, int64_t slice)
{
    for (int m = 0; m < far->crew->members; m++) {
        strake_sph_member *const one = &far->crew->member[m];
        if (one->is_here && slice >= one->own.first && slice < one->own.end) {
            return one;
        }
    }
    return NULL;
}

static strake_transfer forces(const strake_sph_far *far, int64_t with, int side, void *box,
                              int64_t particles, size_t each)
{
    return (strake_transfer){.peer = sph_far_owner(far, far->owned, with),
                             .tag = TAG_FORCES + (2 * far->failures + side) % TAGS,
                             .data = box,
                             .bytes = (size_t)particles * each};
}

/* Forces on an outermost slice go to whoever has it as a ghost: the first one's down, the last one's up. */
static int list_sends(const strake_sph_far *far, bool is_half, size_t each, strake_transfer *list)
{
    const strake_range own = far->owned[far->self];
    int count = 0;
    for (int side = 0; side < 2; side++) {
        const int64_t to = sph_far_beside(far, own, side);
        const bool is_twice =
            side == 0 && to >= 0 && is_one(far, far->owned[sph_far_owner(far, far->owned, to)]);
        const strake_sph_member *const from = find_member(far, side == 0 ? own.first : own.end - 1);
        if (to >= 0 && !is_twice && from != NULL) {
            list[count++] =
                forces(far, to, side, from->box[is_half][side].memory, far->edges[side], each);
        }
    }
    return count;
}

/* Those on this rank's ghosts go to the boxes of who stands for their owners. */
static strake_status list_receives(const strake_sph_far *far, bool is_half, size_t each,
                                   strake_transfer *list, int *count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_range own = far->owned[far->self];
    *count = 0;
    for (int side = 0; side < 2; side++) {
        const int64_t from = sph_far_beside(far, own, side);
        strake_sph_member *const to = from >= 0 ? find_member(far, from) : NULL;
        const size_t bytes = (size_t)far->ghosts[side] * each;
        const strake_sph_box *box = NULL;
        if (to == NULL || (side == 1 && is_one(far, own))) {
            continue;
        }
        box = strake_sph_open_box_of(to, is_half, from == to->own.first ? 0 : 1, bytes);
        STRAKE_CHECK(box != NULL, error, STRAKE_ERR_MEMORY,
                     "no memory for forces on %lld particles", (long long)far->ghosts[side]);
        list[(*count)++] = forces(far, from, 1 - side, box->memory, far->ghosts[side], each);
    }
cleanup:
    return status;
}

static strake_status stopped(strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_STATE, "a part of this rank failed");
}

/* After a pass, or with a filter. @return STRAKE_ERR_STATE where this rank fails itself */
static strake_status bring(strake_sph_far *far, strake_sph_event what, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_crew *const crew = far->crew;
    const strake_range own = far->owned[far->self];
    const int64_t passes = far->member[0].passes + 1, edge[2] = {own.first, own.end - 1};
    const bool is_half = what != STRAKE_SPH_BRINGS;
    const size_t each =
        (size_t)strake_sph_numbers_of(what) * (size_t)crew->member[crew->leader].run->element;
    strake_transfer send[2], receive[2];
    int sends = 0, receives = 0;
    for (int side = 0; side < 2; side++) {
        strake_sph_member *const from = find_member(far, edge[side]);
        STRAKE_TRY(from != NULL &&
                           strake_bell_wait(&from->brought, passes, &crew->stop, crew->is_crowded)
                       ? STRAKE_OK
                       : stopped(error));
    }
    sends = list_sends(far, is_half, each, send);
    STRAKE_TRY(list_receives(far, is_half, each, receive, &receives, error));
    STRAKE_TRY(strake_ranks_trade(far->ranks, send, sends, receive, receives, error));
    for (int k = 0; k < STRAKE_SPH_FAR; k++) {
        far->member[k].passes = passes;
        strake_bell_ring(&far->member[k].brought, passes);
    }
cleanup:
    return status;
}

/* --- meetings -------------------------------------------------------------------------------------- */

/* What the members of this rank say together. */
static strake_status hear(const strake_sph_far *far, int64_t count, strake_sph_said *said,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_crew *const crew = far->crew;
    bool is_first = true;
    for (int m = 0; m < crew->members; m++) {
        strake_sph_member *const one = &crew->member[m];
        if (!one->is_here || one->is_far) {
            continue;
        }
        STRAKE_TRY(strake_bell_wait(&one->met, count, &crew->stop, crew->is_crowded)
                       ? STRAKE_OK
                       : stopped(error));
        for (int v = 0; v < STRAKE_SPH_SAID; v++) {
            const double its = one->said[count % 2].most[v];
            said->most[v] = is_first || its > said->most[v] ? its : said->most[v];
        }
        said->sum += one->said[count % 2].sum;
        is_first = false;
    }
cleanup:
    return status;
}

/* All ranks meet. @return STRAKE_ERR_RANK where one of them has failed: all of them know */
static strake_status meet(strake_sph_far *far, bool is_order, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = far->member[0].meetings + 1;
    strake_sph_said said = {.sum = 0.0};
    double value[SAID] = {0.0}, sum = 0.0;
    STRAKE_TRY(hear(far, count, &said, error));
    memcpy(value, said.most, sizeof said.most);
    STRAKE_TRY(strake_ranks_most(far->ranks, value, SAID, error));
    far->has_told = value[FAILED] > 0.0;
    STRAKE_CHECK(!far->has_told, error, STRAKE_ERR_RANK, "another rank has stopped");
    if (is_order) {
        STRAKE_TRY(sph_far_order(far, said.sum, &sum, error));
    } else if (far->has_lost) {
        STRAKE_TRY(sph_far_tell_leavers(far, error));
        far->has_lost = false;
    }
    for (int k = 0; k < STRAKE_SPH_FAR; k++) {
        strake_sph_member *const one = &far->member[k];
        memcpy(one->said[count % 2].most, value, sizeof said.most);
        one->said[count % 2].sum = sum; /* of them all */
        sum = one->is_here ? 0.0 : sum;
        one->meetings = count;
    }
    /* Of all ranks nobody takes part in anything after that, whatever their members have begun. */
    far->has_told = !is_order && value[STRAKE_SPH_BAD] > 0.0;
    atomic_store(&far->crew->is_ending, atomic_load(&far->crew->is_ending) || far->has_told);
    for (int k = 0; k < STRAKE_SPH_FAR; k++) {
        strake_bell_ring(&far->member[k].met, count);
    }
cleanup:
    return status;
}

/*
 * Others learn that this rank goes no further: those beside it instead of forces, in as many messages as these could come in, and
 * all when they meet.
 */
static void tell(strake_sph_far *far)
{
    const size_t each = (size_t)strake_sph_numbers_of(STRAKE_SPH_BRINGS) *
                        (size_t)far->crew->member[far->crew->leader].run->element;
    double value[SAID] = {0.0};
    strake_link *link = NULL;
    strake_transfer send[2];
    strake_error ignored;
    int sends = 0;
    static char nothing;
    if (far->has_told || strake_ranks_is_lost(far->ranks)) {
        return;
    }
    far->has_told = true;
    for (int side = 0; side < 2; side++) {
        const int64_t to = sph_far_beside(far, far->owned[far->self], side);
        if (to >= 0 && far->edges[side] > 0) {
            send[sends++] = forces(far, to, side, &nothing, far->edges[side], each);
        }
    }
    if (strake_link_create(far->ranks, send, sends, NULL, 0, &link, &ignored) == STRAKE_OK) {
        strake_link_stop(link);
    }
    strake_link_destroy(&link);
    for (int v = 0; v < STRAKE_SPH_SAID; v++) {
        value[v] = (double)-INFINITY;
    }
    value[FAILED] = 1.0;
    (void)strake_ranks_most(far->ranks, value, SAID, &ignored);
}

static void *take_part(void *argument)
{
    strake_sph_far *const far = argument;
    strake_sph_crew *const crew = far->crew;
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* naps as short as they are meant */
    while (far->status == STRAKE_OK && !far->has_told &&
           strake_bell_wait(&crew->led, far->taken + 1, &crew->stop, crew->is_crowded)) {
        const strake_sph_event event = crew->event[far->taken % STRAKE_SPH_EVENTS];
        far->taken++;
        far->status = event == STRAKE_SPH_MEETS || event == STRAKE_SPH_ORDERS
                          ? meet(far, event == STRAKE_SPH_ORDERS, &far->error)
                          : bring(far, event, &far->error);
    }
    if (atomic_load(&crew->is_ending)) {
        far->has_told = true; /* all know */
    } else if (atomic_load(&crew->stop) < 0 || far->status != STRAKE_OK) {
        strake_sph_crew_stop(crew);
        tell(far);
    }
    return NULL;
}

strake_status strake_sph_far_start(strake_sph_far *far, bool is_crowded, strake_error *error)
{
    far->crew->is_crowded = is_crowded;
    far->taken = 0;
    far->has_told = false;
    far->status = STRAKE_OK;
    memset(far->sent, 0, sizeof far->sent);
    return pthread_create(&far->thread, NULL, take_part, far) == 0
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory: no thread for the ranks");
}

strake_status strake_sph_far_join(strake_sph_far *far, strake_error *error)
{
    int64_t none = INT64_MAX;
    strake_status status = STRAKE_OK;
    (void)atomic_compare_exchange_strong(&far->crew->stop, &none, 0);
    strake_bell_wake(&far->crew->led);
    (void)pthread_join(far->thread, NULL);
    if (far->has_told) {
        far->failures++;
        status = far->status == STRAKE_OK || far->status == STRAKE_ERR_STATE
                     ? strake_fail(error, STRAKE_ERR_RANK, "a rank has stopped")
                     : strake_fail(error, far->status, "%s", far->error.text);
    }
    return status;
}

void strake_sph_far_leave(strake_sph_far *far)
{
    if (!far->has_told) {
        tell(far);
        far->failures++;
    }
}

int64_t strake_sph_far_leavers(const strake_sph_far *far, const strake_sph_leaver **leaver)
{
    *leaver = far->leaver;
    return far->leavers;
}

void strake_sph_far_forget_leavers(strake_sph_far *far)
{
    far->leavers = 0;
}
