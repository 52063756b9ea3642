#include "solver/remote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    bool was_set;       /* at the end: states came from rank 0 */
    strake_error outcome;
} request;

/* Some slabs of one rank: where they lie in its arrays, and where in the dense data. */
typedef struct piece {
    int owner;
    int64_t first, end; /* of the arrays */
    int64_t at;         /* slabs in the data before it */
} piece;

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

static size_t slab_bytes(const strake_solver *solver, int field)
{
    return solver->kind->extent(solver->domain, field).bytes;
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

strake_status strake_remote_get(strake_solver *solver, int field, int64_t first, int64_t end,
                                void *data, strake_error *error)
{
    return ask_all(solver, REQUEST_GET, field, first, end, data, error);
}

strake_status strake_remote_put(strake_solver *solver, int field, int64_t first, int64_t end,
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
                   .was_set = solver->remote.was_set || (solver->kind->spread != NULL &&
                                                         solver->kind->is_set(solver->domain))};
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
