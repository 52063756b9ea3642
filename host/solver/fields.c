/* Fields going in and out of a solver: dense arrays of whole fields or of some of their slabs. */
#include "solver/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "cpu/spread.h"
#include "cpu/topology.h"
#include "run/rescue.h"
#include "solver/remote_impl.h"

enum { TAG_FIELD = 900, PARCEL = 1 << 20 /* bytes of a request, unless a slab has more */ };

typedef enum request_kind { REQUEST_GET, REQUEST_PUT, REQUEST_END } request_kind;

/* What rank 0 wants of all others. */
typedef struct request {
    request_kind kind;
    int field;
    int64_t first, end; /* slabs of the grid */
    int64_t step;       /* at the end */
    strake_clock clock; /* at the end */
    double dt_after;    /* at the end: strake_domain.dt_after */
    bool was_set;       /* at the end: states came from rank 0 */
    strake_error outcome;
} request;

/* Some slabs of one rank: where they lie in its arrays, and where in the dense data. */
typedef struct piece {
    int owner;
    int64_t first, end; /* of the arrays */
    int64_t at;         /* slabs in the data before it */
} piece;

static strake_status derive(strake_solver *solver, int f, int64_t first, int64_t end, int64_t count,
                            void *data, strake_error *error);

/*
 * The piece that begins at slab `at` of the grid, at most up to `end`: one owner, one place. The last
 * rank has what a field on faces has beyond the cells.
 */
static piece piece_at(const strake_solver *solver, int64_t at, int64_t end)
{
    const int64_t n = solver->domain->slabs;
    const int last = strake_ranks_count(solver->domain->ranks) - 1;
    const int64_t slot = at < n ? ((at - solver->domain->shift) % n + n) % n : at;
    piece p = {.first = slot, .end = slot + (end - at)};
    while (p.owner < last && slot >= solver->group.owned[p.owner].end) {
        p.owner++;
    }
    const int64_t most = solver->group.owned[p.owner].end + (slot >= n ? 1 : 0);
    p.end = p.end < most ? p.end : most;
    return p;
}

strake_domain_field strake_solver_field(const strake_solver *solver, int field)
{
    strake_domain_field out = {.name = NULL};
    (void)solver->kind->field(solver->domain, field, &out);
    return out;
}

static size_t slab_bytes(const strake_solver *solver, int field)
{
    return strake_solver_field(solver, field).extent.bytes;
}

static strake_transfer transfer(int peer, void *data, size_t bytes)
{
    return (strake_transfer){.peer = peer, .tag = TAG_FIELD, .data = data, .bytes = bytes};
}

/* Slabs of one request: as many as every rank has a buffer for. */
static int64_t most_slabs(size_t slab)
{
    return slab < PARCEL ? (int64_t)(PARCEL / slab) : 1;
}

/* One request: this rank's pieces are copied, the others' travel. */
static strake_status ask(strake_solver *solver, const request *wanted, char *data,
                         strake_error *error)
{
    strake_status status = STRAKE_OK;
    request sent = *wanted;
    const size_t slab = slab_bytes(solver, wanted->field);
    STRAKE_TRY(strake_ranks_broadcast(solver->domain->ranks, &sent, sizeof sent, error));
    for (int64_t at = wanted->first; at < wanted->end;) {
        const piece p = piece_at(solver, at, wanted->end);
        char *const place = data + (size_t)(at - wanted->first) * slab;
        const strake_transfer both = transfer(p.owner, place, (size_t)(p.end - p.first) * slab);
        if (wanted->kind == REQUEST_GET && p.owner == 0) {
            STRAKE_TRY(
                solver->kind->get(solver->domain, wanted->field, p.first, p.end, place, error));
        } else if (wanted->kind == REQUEST_GET) {
            STRAKE_TRY(strake_ranks_trade(solver->domain->ranks, NULL, 0, &both, 1, error));
        } else if (p.owner == 0) {
            STRAKE_TRY(
                solver->kind->put(solver->domain, wanted->field, p.first, p.end, place, error));
        } else {
            STRAKE_TRY(strake_ranks_trade(solver->domain->ranks, &both, 1, NULL, 0, error));
        }
        at += p.end - p.first;
    }
cleanup:
    return status;
}

static strake_status ask_all(strake_solver *solver, request_kind kind, int field, int64_t first,
                             int64_t end, char *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t slab = slab_bytes(solver, field);
    for (int64_t at = first; at < end && status == STRAKE_OK;) {
        const int64_t most = most_slabs(slab);
        const request wanted = {
            .kind = kind, .field = field, .first = at, .end = end - at < most ? end : at + most};
        status = ask(solver, &wanted, data + (size_t)(at - first) * slab, error);
        at = wanted.end;
    }
    return status;
}

/** Slabs [first, end) of a field from all ranks, dense. */
static strake_status remote_get(strake_solver *solver, int field, int64_t first, int64_t end,
                                void *data, strake_error *error)
{
    return ask_all(solver, REQUEST_GET, field, first, end, data, error);
}

/** Slabs [first, end) of a state to the ranks that own them. */
static strake_status remote_put(strake_solver *solver, int field, int64_t first, int64_t end,
                                const void *data, strake_error *error)
{
    solver->remote.was_set = true;
    /* A transfer's data is only read where it is sent. */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return ask_all(solver, REQUEST_PUT, field, first, end, (char *)(uintptr_t)data, error);
}

/* This rank's pieces of a request, to or from rank 0. */
static strake_status answer(strake_solver *solver, const request *wanted, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t slab = slab_bytes(solver, wanted->field);
    void *const data = solver->remote.parcel;
    for (int64_t at = wanted->first; at < wanted->end;) {
        const piece p = piece_at(solver, at, wanted->end);
        const strake_transfer both = transfer(0, data, (size_t)(p.end - p.first) * slab);
        if (p.owner == strake_ranks_self(solver->domain->ranks) && wanted->kind == REQUEST_GET) {
            STRAKE_TRY(
                solver->kind->get(solver->domain, wanted->field, p.first, p.end, data, error));
            STRAKE_TRY(strake_ranks_trade(solver->domain->ranks, &both, 1, NULL, 0, error));
        } else if (p.owner == strake_ranks_self(solver->domain->ranks)) {
            STRAKE_TRY(strake_ranks_trade(solver->domain->ranks, NULL, 0, &both, 1, error));
            STRAKE_TRY(
                solver->kind->put(solver->domain, wanted->field, p.first, p.end, data, error));
        }
        at += p.end - p.first;
    }
cleanup:
    return status;
}

/* A buffer for the largest request. */
static strake_status get_ready(strake_solver *solver, strake_error *error)
{
    size_t bytes = PARCEL;
    for (int f = 0; f < solver->which->problem->fields; f++) {
        const size_t slab = slab_bytes(solver, f);
        bytes = slab > bytes ? slab : bytes;
    }
    if (solver->remote.parcel == NULL) {
        solver->remote.parcel = malloc(bytes);
    }
    if (solver->remote.parcel == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory: %zu bytes for a part of a field", bytes);
    }
    solver->remote.was_set = false;
    return strake_team_gather(&solver->team, error);
}

strake_status strake_remote_begin(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_ranks_agree(solver->domain->ranks, get_ready(solver, error), error));
    STRAKE_TRY(solver->kind->gather != NULL ? solver->kind->gather(solver->domain, error)
                                            : STRAKE_OK);
cleanup:
    return status;
}

/* The same on all ranks once rank 0 has done its part. */
static strake_status conclude(strake_solver *solver, const request *end, strake_error *error)
{
    solver->domain->step = end->step;
    solver->domain->clock = end->clock;
    solver->domain->dt_after = end->dt_after;
    if (end->was_set) {
        solver->domain->ops->note(solver->domain, STRAKE_DOMAIN_GIVEN);
    }
    return end->was_set && solver->kind->spread != NULL
               ? solver->kind->spread(solver->domain, error)
               : STRAKE_OK;
}

strake_status strake_remote_end(strake_solver *solver, strake_status outcome, strake_error *error)
{
    strake_status status = STRAKE_OK;
    request end = {.kind = REQUEST_END,
                   .step = solver->domain->step,
                   .clock = solver->domain->clock,
                   .dt_after = solver->domain->dt_after,
                   .was_set = solver->remote.was_set ||
                              (solver->kind->spread != NULL &&
                               strake_domain_lacks(solver->domain, STRAKE_LACKS_SHARED))};
    if (outcome != STRAKE_OK) {
        end.outcome = *error;
    }
    end.outcome.status = outcome;
    STRAKE_TRY(strake_ranks_broadcast(solver->domain->ranks, &end, sizeof end, error));
    if (outcome == STRAKE_OK) {
        STRAKE_TRY(conclude(solver, &end, error));
    } else {
        strake_error ignored; /* of the two failures the first one is told */
        (void)conclude(solver, &end, &ignored);
    }
    status = outcome;
cleanup:
    return status;
}

strake_status strake_remote_serve(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    request wanted = {.kind = REQUEST_END};
    /* Rank 0 reads or writes files, or measures fields, as long as it takes. */
    strake_ranks_set_patience(solver->domain->ranks, INFINITY);
    for (;;) {
        STRAKE_TRY(strake_ranks_broadcast(solver->domain->ranks, &wanted, sizeof wanted, error));
        if (wanted.kind == REQUEST_END) {
            break;
        }
        STRAKE_TRY(answer(solver, &wanted, error));
    }
    status = conclude(solver, &wanted, error);
    if (wanted.outcome.status != STRAKE_OK) {
        status = strake_fail(error, wanted.outcome.status, "%s", wanted.outcome.text);
    }
cleanup:
    strake_ranks_set_patience(solver->domain->ranks, solver->which->run.patience);
    return status;
}

strake_status strake_remote_parts(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_part_report *own = NULL, *all = NULL;
    const int count = strake_ranks_count(solver->domain->ranks);
    int mine = 0, most = 0, used = 0;
    int *parts = calloc((size_t)count, sizeof *parts);
    own = calloc(STRAKE_MAX_PARTS, sizeof *own);
    all = calloc((size_t)count * STRAKE_MAX_PARTS, sizeof *all);
    STRAKE_CHECK(parts != NULL && own != NULL && all != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for the report of %d ranks", count);
    free(solver->remote.report);
    solver->remote.report = NULL;
    mine = strake_solver_parts(solver, own, STRAKE_MAX_PARTS);
    STRAKE_TRY(strake_ranks_collect(solver->domain->ranks, &mine, sizeof mine, parts, error));
    for (int k = 0; k < count; k++) {
        most = parts[k] > most ? parts[k] : most;
    }
    STRAKE_TRY(
        strake_ranks_collect(solver->domain->ranks, own, (size_t)most * sizeof *own, all, error));
    for (int k = 0; k < count; k++) {
        for (int e = 0; e < parts[k]; e++) {
            all[used] = all[k * most + e];
            all[used++].rank = k;
        }
    }
    solver->remote.report = all;
    solver->remote.reports = used;
    all = NULL;
cleanup:
    free(parts);
    free(own);
    free(all);
    return status;
}

static strake_status find_field(const strake_solver *solver, const char *name, int *out,
                                strake_error *error)
{
    strake_domain_field at;
    for (int f = 0; solver->kind->field(solver->domain, f, &at); f++) {
        if (strcmp(at.name, name) == 0) {
            *out = f;
            return STRAKE_OK;
        }
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "problem %s has no field `%s`",
                       solver->which->problem->name, name);
}

/* What the problem says of a field; of what only checkpoints have it says nothing. */
static const strake_field *field_of(const strake_solver *solver, int f)
{
    static const strake_field none = {.is_state = true};
    const strake_problem *const problem = solver->which->problem;
    return f < problem->fields ? &problem->field[f] : &none;
}

/* Whether an input is for diagnostics alone. */
static bool is_for_measures(const strake_field *field)
{
    return field->is_compared && !field->is_state;
}

static strake_status check_slabs(const char *name, const strake_extent *extent, int64_t first,
                                 int64_t end, strake_error *error)
{
    if (first >= 0 && first <= end && end <= extent->slabs) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "field %s: slabs [%lld, %lld) asked for; it has slabs [0, %lld)", name,
                       (long long)first, (long long)end, (long long)extent->slabs);
}

int strake_solver_threads(const strake_solver *solver)
{
    return strake_workers_copying(&solver->team);
}

/* Refuses fields that a run does not have. */
static strake_status check_had(const strake_solver *solver, int f, strake_error *error)
{
    const strake_field *const field = field_of(solver, f);
    return field->derive != NULL || f >= solver->which->problem->fields ||
                   strake_case_has(solver->which, f)
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_STATE,
                             "field %s is only there in runs whose output.fields names it",
                             field->name);
}

/* Between NaN outside and a number below 0 inside, for what has not happened. */
static void mark_never(const strake_solver *solver, void *data, int64_t count, double inside,
                       bool goes_out)
{
    const int size = (int)strake_element_size(solver);
    for (int64_t k = 0; k < count; k++) {
        const double value = strake_element_get(data, size, k);
        if (goes_out ? value < 0.0 : isnan(value)) {
            strake_element_set(data, size, k, goes_out ? (double)NAN : inside);
        }
    }
}

/* Slabs of a field that follows from others. */
static strake_status derive(strake_solver *solver, int f, int64_t first, int64_t end, int64_t count,
                            void *data, strake_error *error)
{
    enum { FROM = 2 };
    strake_status status = STRAKE_OK;
    const strake_field *const all = solver->which->problem->field;
    const int size = (int)strake_element_size(solver);
    double *value[FROM + 1] = {NULL};
    for (int k = 0; k <= FROM; k++) {
        value[k] = malloc((size_t)count * sizeof(double) + 1);
        STRAKE_CHECK(value[k] != NULL, error, STRAKE_ERR_MEMORY, "out of memory reading field %s",
                     all[f].name);
    }
    for (int k = 0; k < FROM; k++) {
        STRAKE_TRY(strake_get_slabs(solver, all[all[f].from[k]].name, first, end, data, error));
        strake_element_widen(data, size, 0, count, value[k]);
    }
    all[f].derive(solver->which, (const double *const *)value, count, value[FROM]);
    strake_element_narrow(data, size, 0, count, value[FROM]);
cleanup:
    for (int k = 0; k <= FROM; k++) {
        free(value[k]);
    }
    return status;
}

/* A copy of values that are to be set, where what never happened is NaN for users. */
static strake_status copy_given(const strake_solver *solver, int f, int64_t count, const void *data,
                                void **own, strake_error *error)
{
    const size_t bytes = (size_t)count * strake_element_size(solver);
    *own = malloc(bytes + 1);
    if (*own == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory setting field %s",
                           field_of(solver, f)->name);
    }
    memcpy(*own, data, bytes);
    mark_never(solver, *own, count, field_of(solver, f)->fallback, false);
    return STRAKE_OK;
}

/*
 * Where a copy of the states could still help a device that has failed, that is found before inputs change: nobody could go
 * on from the copy then.
 */
static strake_status begin_setting(strake_solver *solver, int f, strake_error *error)
{
    return field_of(solver, f)->is_state || solver->pace.kept.valid
               ? strake_solver_gather(solver, error)
               : strake_solver_let_go(solver, error);
}

/* The copy of the states is of no use after a field was given. */
static void forget_copy(strake_solver *solver, int f)
{
    if (field_of(solver, f)->is_state) {
        strake_keep_forget(&solver->pace);
    } else {
        strake_keep_outdate(&solver->pace);
    }
    solver->domain->clock.is_known = false;
}

strake_status strake_lend_field(strake_solver *solver, const char *name, strake_place *place,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    const strake_domain_kind *const kind = solver->kind;
    STRAKE_TRY(strake_threads_enter(solver->process, error));
    STRAKE_TRY(find_field(solver, name, &f, error));
    STRAKE_CHECK(kind->lend != NULL && f < solver->which->problem->fields &&
                     !field_of(solver, f)->is_state && field_of(solver, f)->derive == NULL &&
                     !is_for_measures(field_of(solver, f)),
                 error, STRAKE_ERR_STATE,
                 "field %s is no input that lies in one array; copy it in with strake_set_field()",
                 name);
    STRAKE_TRY(kind->check(solver->domain, f, 0, strake_solver_field(solver, f).extent.slabs, NULL,
                           error));
    STRAKE_TRY(strake_solver_let_go(solver, error));
    STRAKE_TRY(kind->lend(solver->domain, f, place, error));
    solver->lent[f] = 1;
    solver->has_lent = true;
cleanup:
    return status;
}

strake_status strake_return_field(strake_solver *solver, const char *name, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    STRAKE_TRY(strake_threads_enter(solver->process, error));
    STRAKE_TRY(find_field(solver, name, &f, error));
    STRAKE_CHECK(f < solver->which->problem->fields && solver->lent[f] != 0, error,
                 STRAKE_ERR_STATE, "field %s was not lent: strake_lend_field() comes first", name);
    STRAKE_TRY(begin_setting(solver, f, error));
    forget_copy(solver, f);
    solver->kind->was_set(solver->domain, f, strake_solver_field(solver, f).extent.slabs);
cleanup:
    return status;
}

/* Slabs of a field of all ranks. */
static strake_status read_slabs(void *user, int field, int64_t first, int64_t end, void *data,
                                strake_error *error)
{
    strake_solver *const solver = user;
    return strake_get_slabs(solver, strake_solver_field(solver, field).name, first, end, data,
                            error);
}

/* Keeps what diagnostics compare with. */
static strake_status set_aside(strake_solver *solver, int f, int64_t first, int64_t end,
                               const void *data, strake_error *error)
{
    const strake_given_slabs slabs = {first, end, data};
    return solver->kind->set_aside != NULL
               ? solver->kind->set_aside(solver->domain, f, &slabs, read_slabs, solver, error)
               : STRAKE_OK;
}

static strake_status set_slabs(strake_solver *solver, const char *name, int64_t first, int64_t end,
                               const void *data, bool restores, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    strake_extent extent;
    void *own = NULL;
    strake_domain *const domain = solver->domain;
    const strake_domain_kind *const kind = solver->kind;
    STRAKE_TRY(strake_threads_enter(solver->process, error));
    STRAKE_TRY(find_field(solver, name, &f, error));
    STRAKE_CHECK(field_of(solver, f)->derive == NULL, error, STRAKE_ERR_STATE,
                 "field %s follows from others, which can be set", name);
    STRAKE_TRY(check_had(solver, f, error));
    extent = strake_solver_field(solver, f).extent;
    STRAKE_TRY(check_slabs(name, &extent, first, end, error));
    STRAKE_TRY(kind->check(domain, f, first, end, NULL, error));
    if (field_of(solver, f)->has_never) {
        const int64_t count = (end - first) * (int64_t)(extent.bytes / strake_element_size(solver));
        STRAKE_TRY(copy_given(solver, f, count, data, &own, error));
        data = own;
    }
    STRAKE_TRY(kind->check(domain, f, first, end, data, error));
    if (is_for_measures(field_of(solver, f))) {
        STRAKE_TRY(set_aside(solver, f, first, end, data, error));
        goto cleanup;
    }
    STRAKE_TRY(begin_setting(solver, f, error));
    if (first == end) {
        goto cleanup;
    }
    if (field_of(solver, f)->is_state && domain->step == 0 && !restores) {
        STRAKE_TRY(set_aside(solver, f, first, end, data, error));
    }
    forget_copy(solver, f);
    STRAKE_TRY(strake_solver_field(solver, f).is_shared
                   ? remote_put(solver, f, first, end, data, error)
                   : kind->put(domain, f, first, end, data, error));
    kind->was_set(domain, f, end);
cleanup:
    free(own);
    return status;
}

strake_status strake_set_slabs(strake_solver *solver, const char *name, int64_t first, int64_t end,
                               const void *data, strake_error *error)
{
    return set_slabs(solver, name, first, end, data, false, error);
}

strake_status strake_solver_restore(strake_solver *solver, const char *name, int64_t first,
                                    int64_t end, const void *data, strake_error *error)
{
    return set_slabs(solver, name, first, end, data, true, error);
}

strake_status strake_get_slabs(strake_solver *solver, const char *name, int64_t first, int64_t end,
                               void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    int64_t count = 0;
    strake_extent extent;
    const strake_domain_kind *const kind = solver->kind;
    STRAKE_TRY(strake_threads_enter(solver->process, error));
    STRAKE_TRY(find_field(solver, name, &f, error));
    extent = strake_solver_field(solver, f).extent;
    STRAKE_TRY(check_slabs(name, &extent, first, end, error));
    count = (end - first) * (int64_t)(extent.bytes / strake_element_size(solver));
    STRAKE_TRY(check_had(solver, f, error));
    STRAKE_CHECK(strake_solver_field(solver, f).has_values, error, STRAKE_ERR_STATE,
                 "field %s has no values (yet, or after a failed step)", name);
    STRAKE_TRY(field_of(solver, f)->is_state ? strake_solver_gather(solver, error) : STRAKE_OK);
    if (field_of(solver, f)->derive != NULL) {
        status = derive(solver, f, first, end, count, data, error);
    } else if (strake_solver_field(solver, f).is_shared) {
        status = remote_get(solver, f, first, end, data, error);
    } else {
        status = kind->get(solver->domain, f, first, end, data, error);
    }
    if (status == STRAKE_OK && field_of(solver, f)->has_never) {
        mark_never(solver, data, count, 0.0, true);
    }
cleanup:
    return status;
}

strake_status strake_set_field(strake_solver *solver, const char *name, const void *data,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    STRAKE_TRY(find_field(solver, name, &f, error));
    STRAKE_TRY(strake_set_slabs(solver, name, 0, strake_solver_field(solver, f).extent.slabs, data,
                                error));
cleanup:
    return status;
}

strake_status strake_get_field(strake_solver *solver, const char *name, void *data,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    int f = 0;
    STRAKE_TRY(find_field(solver, name, &f, error));
    STRAKE_TRY(strake_get_slabs(solver, name, 0, strake_solver_field(solver, f).extent.slabs, data,
                                error));
cleanup:
    return status;
}

strake_status strake_field_extent(const strake_solver *solver, const char *name, strake_extent *out,
                                  strake_error *error)
{
    int f = 0;
    const strake_status status = find_field(solver, name, &f, error);
    if (status == STRAKE_OK) {
        *out = strake_solver_field(solver, f).extent;
    }
    return status;
}

strake_status strake_field_shape(const strake_solver *solver, const char *name, int *dims,
                                 int64_t shape[3], strake_error *error)
{
    strake_extent extent;
    const strake_status status = strake_field_extent(solver, name, &extent, error);
    if (status == STRAKE_OK) {
        *dims = extent.dims;
        memcpy(shape, extent.shape, (size_t)extent.dims * sizeof *shape);
    }
    return status;
}

int strake_field_count(const strake_solver *solver)
{
    return solver->which->problem->fields;
}

const char *strake_field_name(const strake_solver *solver, int field)
{
    const strake_problem *problem = solver->which->problem;
    return field >= 0 && field < problem->fields ? problem->field[field].name : NULL;
}

const char *strake_solver_kept(const strake_solver *solver, int k)
{
    strake_domain_field field;
    for (int f = 0; solver->kind->field(solver->domain, f, &field); f++) {
        if (field.is_kept && k-- == 0) {
            return field.name;
        }
    }
    return NULL;
}

strake_status strake_field_kind(const strake_solver *solver, const char *name, strake_kind *kind,
                                strake_error *error)
{
    int f = 0;
    const strake_status status = find_field(solver, name, &f, error);
    if (status == STRAKE_OK) {
        *kind = strake_solver_field(solver, f).role;
    }
    return status;
}

size_t strake_piece_bytes(size_t slab, uint64_t total)
{
    enum { FEW = 1 << 17, SHARED = 1 << 20, MOST = 1 << 25, PIECES = 128 };
    const uint64_t part = total / PIECES;
    const uint64_t wanted = part < SHARED ? FEW : part > MOST ? MOST : part;
    const uint64_t bytes = (wanted < total ? wanted : total) / slab * slab;
    return bytes > 0 ? (size_t)bytes : slab;
}

/* Slabs of a field that are read one piece after the other. */
typedef struct pieces {
    const char *name;
    int64_t slabs, most; /* of the field, of a piece */
    size_t slab;         /* bytes */
    void *data;
} pieces;

static strake_status begin_pieces(const strake_solver *solver, int f, pieces *out,
                                  strake_error *error)
{
    const strake_domain_field field = strake_solver_field(solver, f);
    *out = (pieces){.name = field.name, .slabs = field.extent.slabs, .slab = field.extent.bytes};
    const uint64_t total = out->slab * (uint64_t)out->slabs;
    out->most = (int64_t)(strake_piece_bytes(out->slab, total) / out->slab);
    out->data = malloc((size_t)out->most * out->slab);
    return out->data != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory reading field %s", out->name);
}

/* The piece from a slab on. */
static strake_range next_piece(const pieces *p, int64_t first)
{
    return (strake_range){first, p->slabs - first < p->most ? p->slabs : first + p->most};
}

strake_status strake_fields_hash(strake_solver *solver, int f, uint64_t *hash, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_hash_team team = strake_hash_team_begin(strake_solver_threads(solver));
    pieces all;
    strake_range now;
    STRAKE_TRY(begin_pieces(solver, f, &all, error));
    for (int64_t first = 0; first < all.slabs; first = now.end) {
        now = next_piece(&all, first);
        STRAKE_TRY(strake_get_slabs(solver, all.name, now.first, now.end, all.data, error));
        *hash =
            strake_hash_team_add(&team, *hash, all.data, (size_t)(now.end - now.first) * all.slab);
    }
cleanup:
    strake_hash_team_end(&team);
    free(all.data);
    return status;
}

strake_status strake_solver_measure(strake_solver *solver, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_solver_gather(solver, error));
    STRAKE_TRY(solver->kind->measure(solver->domain, read_slabs, solver, out, NULL, error));
cleanup:
    return status;
}

strake_status strake_solver_probe(strake_solver *solver, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_solver_gather(solver, error));
    STRAKE_TRY(solver->kind->measure(solver->domain, read_slabs, solver, NULL, out, error));
cleanup:
    return status;
}
