/* What members that stand for other ranks do beside passes and at meetings. */
#include "particles/crew_ranks.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/error.h"
#include "particles/crew_ranks_impl.h"

enum { TAG_FORCES = 0, TAGS = 800 };

/* What ranks tell each other where they meet: as their members, and whether one failed. */
enum { FAILED = STRAKE_SPH_SAID, SAID };

int64_t strake_sph_far_beside(const strake_sph_far *far, strake_range own, int side)
{
    const int64_t n = far->crew->cells.n[0], at = side == 0 ? own.first - 1 : own.end;
    return far->crew->cells.is_round[0] ? (at + n) % n : at >= 0 && at < n ? at : -1;
}

int strake_sph_far_owner(const strake_sph_far *far, const strake_range *owned, int64_t slice)
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

strake_range strake_sph_far_own(const strake_sph_far *far)
{
    return far->owned[far->self];
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
        const int64_t ghost = strake_sph_far_beside(far, own, side);
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
    return (strake_transfer){.peer = strake_sph_far_owner(far, far->owned, with),
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
        const int64_t to = strake_sph_far_beside(far, own, side);
        const bool is_twice = side == 0 && to >= 0 &&
                              is_one(far, far->owned[strake_sph_far_owner(far, far->owned, to)]);
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
        const int64_t from = strake_sph_far_beside(far, own, side);
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
        STRAKE_TRY(strake_sph_far_order(far, said.sum, &sum, error));
    } else if (far->has_lost) {
        STRAKE_TRY(strake_sph_far_tell_leavers(far, error));
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
        const int64_t to = strake_sph_far_beside(far, far->owned[far->self], side);
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
