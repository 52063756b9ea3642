#include "particles/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "particles/record.h"
#include "particles/run_common.h"

enum { PAGE = 4096 };

strake_status strake_sph_crew_open(strake_sph_crew *crew, const strake_cells *cells, int members,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (&crew->cells != cells) {
        crew->cells = *cells;
    }
    crew->work = calloc((size_t)cells->n[0], sizeof *crew->work);
    STRAKE_CHECK(crew->work != NULL, error, STRAKE_ERR_MEMORY, "no memory for parts of particles");
    atomic_init(&crew->stop, INT64_MAX);
    if (crew->members == 0) {
        STRAKE_CHECK(strake_bell_open(&crew->led), error, STRAKE_ERR_MEMORY,
                     "no memory for parts of particles");
    }
    for (; crew->members < members; crew->members++) {
        strake_sph_member *const m = &crew->member[crew->members];
        const bool first = strake_bell_open(&m->met);
        if (!first || !strake_bell_open(&m->brought)) {
            if (first) {
                strake_bell_close(&m->met);
            }
            STRAKE_CHECK(false, error, STRAKE_ERR_MEMORY, "no memory for parts of particles");
        }
    }
cleanup:
    return status;
}

/* Nobody has pinned them any more. */
static void free_boxes(strake_sph_member *m)
{
    while (m->outgrown != NULL) {
        void *const next = *(void **)m->outgrown;
        free(m->outgrown);
        m->outgrown = next;
    }
    for (int k = 0; k < 4; k++) {
        free(m->box[k / 2][k % 2].memory);
        m->box[k / 2][k % 2] = (strake_sph_box){.memory = NULL};
    }
    free(m->out.memory);
    m->out = (strake_sph_box){.memory = NULL};
}

void strake_sph_crew_close(strake_sph_crew *crew)
{
    for (int m = 0; m < crew->members; m++) {
        free_boxes(&crew->member[m]);
        strake_bell_close(&crew->member[m].met);
        strake_bell_close(&crew->member[m].brought);
    }
    if (crew->work != NULL) {
        strake_bell_close(&crew->led);
    }
    free(crew->work);
    crew->work = NULL;
    crew->members = 0;
}

void strake_sph_crew_join(strake_sph_crew *crew, int member, strake_sph_run *run)
{
    run->crew = crew;
    run->member = member;
    crew->member[member].run = run;
}

void strake_sph_crew_leave(strake_sph_crew *crew, int member)
{
    strake_sph_member *const m = &crew->member[member];
    for (int k = 0; k < 4; k++) {
        m->box[k / 2][k % 2].is_pinned = false;
    }
    m->out.is_pinned = false;
    m->out_count = 0;
    m->run = NULL;
    m->is_here = false;
    m->own = m->next = (strake_range){0, 0};
}

void strake_sph_crew_forget(strake_sph_crew *crew, int member)
{
    strake_sph_member *const m = &crew->member[member];
    memset(m->box, 0, sizeof m->box);
    m->out = (strake_sph_box){.memory = NULL};
    m->outgrown = NULL;
    strake_sph_crew_leave(crew, member);
}

void strake_sph_crew_start(strake_sph_crew *crew)
{
    for (int k = 0; k < crew->members; k++) {
        strake_sph_member *const m = &crew->member[k];
        m->is_here = (m->run != NULL || m->is_far) && m->own.first < m->own.end;
        m->before = m->own;
        m->meetings = m->passes = 0;
        m->waited = 0.0;
        m->stalls = 0;
        strake_bell_ring(&m->met, 0);
        strake_bell_ring(&m->brought, 0);
    }
    crew->leader = 0;
    while (crew->leader + 1 < crew->members && !crew->member[crew->leader].is_here) {
        crew->leader++;
    }
    crew->events = 0;
    strake_bell_ring(&crew->led, 0);
    atomic_store(&crew->is_ending, false);
    atomic_store(&crew->stop, INT64_MAX);
}

void strake_sph_crew_end(const strake_sph_run *run)
{
    if (run->crew != NULL) {
        atomic_store(&run->crew->is_ending, true);
    }
}

void strake_sph_crew_stop(strake_sph_crew *crew)
{
    atomic_store(&crew->stop, -1);
    for (int m = 0; m < crew->members; m++) {
        strake_bell_wake(&crew->member[m].met);
        strake_bell_wake(&crew->member[m].brought);
    }
    strake_bell_wake(&crew->led);
}

/* Who stands for other ranks learns of it. */
static void lead(const strake_sph_run *run, strake_sph_event event)
{
    strake_sph_crew *const crew = run->crew;
    if (run->member == crew->leader) {
        crew->event[crew->events % STRAKE_SPH_EVENTS] = event;
        crew->events++;
        strake_bell_ring(&crew->led, crew->events);
    }
}

static strake_sph_member *own_of(const strake_sph_run *run)
{
    return &run->crew->member[run->member];
}

/* Whether the k-th member steps together with a run. */
static bool is_other(const strake_sph_run *run, int k)
{
    return k != run->member && run->crew->member[k].is_here;
}

bool strake_sph_is_alone(const strake_sph_run *run)
{
    bool alone = true;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        alone = alone && !is_other(run, k);
    }
    return alone;
}

bool strake_sph_is_among_devices(const strake_sph_run *run)
{
    bool all = true;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        const strake_sph_run *const other = run->crew->member[k].run;
        all = all && (!is_other(run, k) || (other != NULL && other->ops->ask != NULL));
    }
    return all;
}

strake_status strake_sph_fail_stopped(strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_STATE, "another part failed");
}

/*
 * Waits until a bell has rung. What a device computes meanwhile is no wait: @p idle, at first infinite, becomes the time
 * from which on it had nothing to do. @return false: somebody stops
 */
static bool wait_for(strake_sph_run *run, strake_bell *bell, int64_t wanted, double *idle)
{
    strake_sph_crew *const crew = run->crew;
    while (run->ops->is_busy != NULL && !crew->is_crowded && isinf(*idle) &&
           !strake_bell_has_rung(bell, wanted) && atomic_load(&crew->stop) >= wanted &&
           run->ops->is_busy(run)) {
    }
    if (isinf(*idle) && !strake_bell_has_rung(bell, wanted)) {
        *idle = strake_clock_seconds();
    }
    return strake_bell_wait(bell, wanted, &crew->stop, crew->is_crowded);
}

/* It waited since then; infinite: it did not. */
static void note_wait(strake_sph_run *run, strake_part_wait why, double start)
{
    const double now = strake_clock_seconds(), waited = start < now ? now - start : 0.0;
    own_of(run)->waited += waited;
    run->dealings.waited[why] += waited;
}

strake_status strake_sph_meet(strake_sph_run *run, strake_sph_said *said, strake_error *error)
{
    strake_sph_say(run, said);
    return strake_sph_hear(run, said, error);
}

void strake_sph_say(strake_sph_run *run, const strake_sph_said *said)
{
    if (strake_sph_is_alone(run)) {
        return;
    }
    strake_sph_member *const own = own_of(run);
    const int64_t count = ++own->meetings;
    /* Nobody is at the next but one meeting before all have been to the next: two sets are enough. */
    own->said[count % 2] = *said;
    strake_bell_ring(&own->met, count);
    lead(run, said->is_order ? STRAKE_SPH_ORDERS : STRAKE_SPH_MEETS);
}

strake_status strake_sph_hear(strake_sph_run *run, strake_sph_said *said, strake_error *error)
{
    strake_sph_crew *const crew = run->crew;
    if (strake_sph_is_alone(run)) {
        return STRAKE_OK;
    }
    double idle = INFINITY;
    const int64_t count = own_of(run)->meetings;
    const strake_work before = strake_sph_turn(
        run, STRAKE_SPAN_WAIT, said->is_order ? "all for a new order" : "all for the time step");
    for (int k = 0; k < crew->members; k++) {
        strake_sph_member *const m = &crew->member[k];
        if (!is_other(run, k)) {
            continue;
        }
        if (!wait_for(run, &m->met, count, &idle)) {
            return strake_sph_fail_stopped(error);
        }
        for (int v = 0; v < STRAKE_SPH_SAID; v++) {
            const double its = m->said[count % 2].most[v];
            said->most[v] = its > said->most[v] ? its : said->most[v];
        }
        said->sum += m->said[count % 2].sum;
    }
    note_wait(run, said->is_order ? STRAKE_WAIT_ORDER : STRAKE_WAIT_STEP, idle);
    (void)strake_sph_turn(run, before.kind, before.what);
    return STRAKE_OK;
}

void strake_sph_note_stall(strake_sph_run *run)
{
    if (run->crew != NULL) {
        own_of(run)->stalls++;
    }
}

/* --- slices ---------------------------------------------------------------------------------------- */

static bool is_in(strake_range range, int64_t slice)
{
    return slice >= range.first && slice < range.end;
}

/* The slices beside a range that are not in it. */
void strake_sph_find_beside(const strake_cells *cells, strake_range own, int64_t ghost[2])
{
    const int64_t n = cells->n[0], at[2] = {own.first - 1, own.end};
    for (int side = 0; side < 2; side++) {
        const bool is_there = cells->is_round[0] || (at[side] >= 0 && at[side] < n);
        ghost[side] = is_there && own.first < own.end ? (at[side] + n) % n : -1;
        ghost[side] = is_in(own, ghost[side]) ? -1 : ghost[side];
    }
    ghost[1] = ghost[1] == ghost[0] ? -1 : ghost[1];
}

bool strake_sph_is_needed(const strake_cells *cells, strake_range own, int64_t slice)
{
    int64_t ghost[2];
    strake_sph_find_beside(cells, own, ghost);
    return is_in(own, slice) || slice == ghost[0] || slice == ghost[1];
}

void strake_sph_find_shares(const strake_sph_run *run, unsigned char *share)
{
    const strake_cells *const cells = &run->cells;
    for (int64_t slice = 0; slice < cells->n[0]; slice++) {
        share[slice] = STRAKE_SPH_OWN | STRAKE_SPH_HOLD;
        if (strake_sph_is_alone(run)) {
            continue;
        }
        share[slice] = is_in(run->own, slice) ? STRAKE_SPH_OWN : 0;
        share[slice] |= strake_sph_is_needed(cells, own_of(run)->next, slice) ? STRAKE_SPH_HOLD : 0;
        for (int k = 0; k < run->crew->members; k++) {
            share[slice] |=
                is_other(run, k) && strake_sph_is_needed(cells, run->crew->member[k].next, slice)
                    ? STRAKE_SPH_SHARED
                    : 0;
        }
    }
}

void strake_sph_take_range(strake_sph_run *run)
{
    if (run->crew != NULL) {
        own_of(run)->before = own_of(run)->own;
        run->own = own_of(run)->own = own_of(run)->next;
    }
}

void strake_sph_find_ghosts(const strake_sph_run *run, int64_t ghost[2])
{
    strake_sph_find_beside(&run->cells, run->own, ghost);
}

bool strake_sph_has_reader(const strake_sph_run *run, int end)
{
    const int64_t slice = end == 0 ? run->own.first : run->own.end - 1;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        if (is_other(run, k) &&
            strake_sph_is_needed(&run->cells, run->crew->member[k].own, slice)) {
            return true;
        }
    }
    return false;
}

/* --- forces ---------------------------------------------------------------------------------------- */

strake_sph_box *strake_sph_open_box(strake_sph_run *run, bool is_half, int end, size_t bytes)
{
    strake_sph_note_sent(run, bytes);
    return strake_sph_open_box_of(own_of(run), is_half, end, bytes);
}

/* Room for so many bytes in a box of a member. @return whether there is */
static bool open_box(strake_sph_member *own, strake_sph_box *box, size_t bytes)
{
    if (bytes > box->bytes || box->memory == NULL) {
        const size_t more = bytes + bytes / 4;
        const size_t most = more > 2 * box->bytes ? more : 2 * box->bytes; /* seldom another one */
        const size_t room = (most + PAGE) / PAGE * PAGE;
        void *const memory = aligned_alloc(PAGE, room);
        if (memory == NULL) {
            return false;
        }
        if (box->memory != NULL) {
            *(void **)box->memory = own->outgrown;
            own->outgrown = box->memory;
        }
        *box = (strake_sph_box){.memory = memory, .bytes = room};
    }
    return true;
}

strake_sph_box *strake_sph_open_box_of(strake_sph_member *own, bool is_half, int end, size_t bytes)
{
    strake_sph_box *const box = &own->box[is_half][end];
    return open_box(own, box, bytes) ? box : NULL;
}

void strake_sph_bring(strake_sph_run *run, strake_sph_event what)
{
    if (strake_sph_is_alone(run)) {
        return;
    }
    strake_sph_member *const own = own_of(run);
    own->passes++;
    strake_bell_ring(&own->brought, own->passes);
    lead(run, what);
}

strake_status strake_sph_await(strake_sph_run *run, bool is_half, const int64_t ghost[2],
                               const strake_sph_box *box[2], strake_error *error)
{
    strake_sph_crew *const crew = run->crew;
    double idle = INFINITY;
    if (strake_sph_is_alone(run)) {
        return STRAKE_OK;
    }
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, "forces of others");
    for (int k = 0; k < crew->members; k++) {
        strake_sph_member *const m = &crew->member[k];
        for (int side = 0; side < 2 && is_other(run, k); side++) {
            if (ghost[side] < 0 || !is_in(m->own, ghost[side])) {
                continue;
            }
            if (!wait_for(run, &m->brought, own_of(run)->passes, &idle)) {
                return strake_sph_fail_stopped(error);
            }
            box[side] = &m->box[is_half][ghost[side] == m->own.first ? 0 : 1];
        }
    }
    note_wait(run, STRAKE_WAIT_BORDERS, idle);
    (void)strake_sph_turn(run, STRAKE_SPAN_WAIT, NULL);
    return STRAKE_OK;
}

/* --- particles that change hands ------------------------------------------------------------------- */

strake_sph_box *strake_sph_open_out(strake_sph_run *run, int64_t count)
{
    return strake_sph_open_out_of(own_of(run), run, count);
}

strake_sph_box *strake_sph_open_out_of(strake_sph_member *own, const strake_sph_run *run,
                                       int64_t count)
{
    const size_t bytes = (size_t)count * strake_sph_record_bytes(run->element);
    return open_box(own, &own->out, bytes) ? &own->out : NULL;
}

void strake_sph_leave(strake_sph_run *run, int64_t count)
{
    own_of(run)->out_count = count;
    run->dealings.orders++;
    run->dealings.order_sent += (double)count * (double)strake_sph_record_bytes(run->element);
}

/*
 * Nobody goes further than to the next slice between two orders, so that those who had slices elsewhere have left nothing
 * for this run. What came from other ranks is for this one.
 */
const strake_sph_member *strake_sph_giver(const strake_sph_run *run, int k)
{
    const strake_sph_member *const m = &run->crew->member[k];
    const strake_range before = m->before;
    const int64_t n = run->cells.n[0];
    bool is_near = m->is_far || before.end - before.first + 2 >= n;
    for (int64_t slice = before.first - 1; slice <= before.end && !is_near; slice++) {
        is_near = strake_sph_is_needed(&run->cells, run->own, (slice + n) % n);
    }
    return is_other(run, k) && is_near ? m : NULL;
}

void strake_sph_note_arrivals(strake_sph_run *run, int64_t count)
{
    run->dealings.order_received += (double)count * (double)strake_sph_record_bytes(run->element);
}

/* Particles of others that the run holds, behind the first @p count of an image; NULL: they are only counted. @return how many */
static int64_t visit_arrivals(const strake_sph_run *run, const unsigned char *share,
                              strake_sph_image *image, int64_t count)
{
    const size_t bytes = strake_sph_record_bytes(run->element);
    int64_t more = 0;
    for (int k = 0; run->crew != NULL && k < run->crew->members; k++) {
        const strake_sph_member *const m = strake_sph_giver(run, k);
        const char *record = m != NULL ? m->out.memory : NULL;
        for (int64_t p = 0; m != NULL && p < m->out_count; p++, record += bytes) {
            const int32_t cell = strake_sph_record_cell(record, run->element);
            if ((share[strake_cells_slice(&run->cells, cell)] & STRAKE_SPH_HOLD) == 0) {
                continue;
            }
            if (image != NULL) {
                strake_sph_record_get(record, image, count + more);
            }
            more++;
        }
    }
    return more;
}

int64_t strake_sph_count_arrivals(const strake_sph_run *run, const unsigned char *share)
{
    return visit_arrivals(run, share, NULL, 0);
}

void strake_sph_take_arrivals(strake_sph_run *run, const unsigned char *share,
                              strake_sph_image *image, int64_t count)
{
    strake_sph_note_arrivals(run, visit_arrivals(run, share, image, count));
}
