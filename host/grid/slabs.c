/* Dense slabs of fields and their places in the arrays of a grid, by all threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "cpu/spread.h"
#include "cpu/stream.h"
#include "engine/isa.h"
#include "grid/grid.h"
#include "problem/check_rows.h"

typedef struct job {
    const strake_layout *layout;
    int64_t shape[STRAKE_AXES]; /* of the field */
    char *array;
    char *data; /* slab 0 of it is slab first of the field */
    int64_t first;
    bool is_state;
    bool is_streamed; /* lines go in past the caches */
    strake_isa isa;
    bool *finite; /* each part */
} job;

static job job_of(const strake_grid *grid, int f, void *array, const void *data, int64_t first)
{
    job work = {.layout = &grid->layout,
                .array = array,
                .data = (char *)data,
                .first = first,
                .isa = strake_isa_best(),
                .is_state = grid->which->problem->field[f].is_state};
    strake_case_field_shape(grid->which, f, work.shape);
    return work;
}

static int parts_of(const strake_grid *grid, const job *work, int64_t end)
{
    return strake_spread_parts(strake_workers_copying(grid->team),
                               (end - work->first) * work->shape[1] * work->shape[2]);
}

static void spread(const strake_grid *grid, int64_t end, strake_spread_work *what, job *work)
{
    strake_spread((strake_range){work->first, end}, parts_of(grid, work, end), what, work);
}

/* What does not fill a line of cache goes the usual way. */
static void stream_line(strake_isa isa, char *to, const char *from, size_t bytes)
{
    const size_t whole = bytes / 64 * 64;
    strake_stream_copy(isa, to, from, (int64_t)whole);
    memcpy(to + whole, from + whole, bytes - whole);
}

static void copy_lines(const job *work, strake_range slabs, bool is_in)
{
    const strake_layout *l = work->layout;
    const size_t bytes = (size_t)(work->shape[2] * l->element_size);
    char *dense = work->data + (size_t)((slabs.first - work->first) * work->shape[1]) * bytes;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < work->shape[1]; m++, dense += bytes) {
            char *const line = work->array + strake_layout_at(l, i, m, 0) * l->element_size;
            if (is_in && work->is_streamed && (uintptr_t)line % 64 == 0) {
                stream_line(work->isa, line, dense, bytes);
            } else {
                memcpy(is_in ? line : dense, is_in ? dense : line, bytes);
            }
        }
    }
    if (is_in && work->is_streamed) {
        strake_stream_fence();
    }
}

static void copy_in(void *user, int part, strake_range slabs)
{
    (void)part;
    copy_lines(user, slabs, true);
}

static void copy_out(void *user, int part, strake_range slabs)
{
    (void)part;
    copy_lines(user, slabs, false);
}

static void extend(void *user, int part, strake_range slabs)
{
    const job *const work = user;
    (void)part;
    strake_layout_fill_lateral(work->layout, work->array, slabs.first, slabs.end);
}

void strake_grid_store(const strake_grid *grid, int f, void *array, int64_t first, int64_t end,
                       const void *data)
{
    job work = job_of(grid, f, array, data, first);
    spread(grid, end, copy_in, &work);
}

void strake_grid_load(const strake_grid *grid, int f, void *array, int64_t first, int64_t end,
                      void *data)
{
    job work = job_of(grid, f, array, data, first);
    spread(grid, end, copy_out, &work);
}

void strake_grid_copy_in(strake_grid *grid, int f, int64_t first, int64_t end, const void *data)
{
    void *const array = grid->array[grid->domain.parity][grid->value_of[f]];
    job work = job_of(grid, f, array, data, first);
    work.is_streamed = grid->is_streamed;
    spread(grid, end, copy_in, &work);
    if (work.is_state) {
        spread(grid, end, extend, &work);
    }
}

void strake_grid_copy_out(const strake_grid *grid, int f, int64_t first, int64_t end, void *data)
{
    strake_grid_load(grid, f, grid->array[grid->domain.parity][grid->value_of[f]], first, end,
                     data);
}

static void look(void *user, int part, strake_range slabs)
{
    static const strake_row_function rows[STRAKE_PRECISIONS][STRAKE_ISAS] =
        STRAKE_CHECK_ROWS(non_finite);
    const job *const work = user;
    const int size = work->layout->element_size;
    const int64_t slab = work->shape[1] * work->shape[2];
    int64_t bad = 0;
    for (int64_t i = slabs.first; i < slabs.end && bad == 0; i++) {
        const void *const in[] = {work->data + (i - work->first) * slab * size};
        void *const out[] = {&bad};
        rows[size == 8 ? STRAKE_DOUBLE : STRAKE_SINGLE][work->isa](out, in, slab);
    }
    work->finite[part] = bad == 0;
}

strake_status strake_grid_check_finite(const strake_grid *grid, int f, int64_t first, int64_t end,
                                       const void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    job work = job_of(grid, f, NULL, data, first);
    const int parts = parts_of(grid, &work, end);
    const int64_t slab = work.shape[1] * work.shape[2];
    const int size = grid->layout.element_size;
    work.finite = calloc((size_t)parts, sizeof *work.finite);
    STRAKE_CHECK(work.finite != NULL, error, STRAKE_ERR_MEMORY, "out of memory checking fields");
    spread(grid, end, look, &work);
    for (int part = 0; part < parts; part++) {
        const strake_range slabs = strake_spread_part((strake_range){first, end}, parts, part);
        for (int64_t k = (slabs.first - first) * slab; !work.finite[part]; k++) {
            STRAKE_CHECK(isfinite(strake_element_get(data, size, k)), error, STRAKE_ERR_USAGE,
                         "%s: field %s is not finite at [%lld, %lld] (in the run's precision); "
                         "give finite numbers",
                         grid->which->file, grid->which->problem->field[f].name,
                         (long long)(first + k / slab), (long long)(k % work.shape[2]));
        }
    }
cleanup:
    free(work.finite);
    return status;
}
