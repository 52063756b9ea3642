/* The order of particles on a device, and their lists, anew. */
#include "particles/device.h"

#include <stdlib.h>

#include "base/element.h"
#include "base/error.h"

enum { SCAN_EACH = 8 /* as in cl/cells.cl */, MOST_IN_CELL = 2048 };

static void pass_scheme(const strake_sph_device *own, strake_cl_arguments *a)
{
    strake_cl_pass(a, sizeof own->constants, &own->constants);
    strake_cl_pass(a, sizeof own->cells4, own->cells4);
}

static void pass_buffer(strake_cl_arguments *a, const cl_mem *buffer)
{
    strake_cl_pass(a, sizeof *buffer, buffer);
}

static strake_status zero(strake_sph_device *own, cl_mem buffer, size_t bytes, strake_error *error)
{
    static const cl_uint nothing = 0;
    return strake_cl_fill(&own->session.filler, own->queue, buffer, &nothing, sizeof nothing, 0,
                          bytes, error);
}

/* Each of the words of an array becomes the sum of those before; totals[0] that of all. */
static strake_status scan(strake_sph_device *own, cl_mem array, int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t items = (count + SCAN_EACH - 1) / SCAN_EACH;
    const int64_t groups = strake_sph_groups(own, STRAKE_SPH_SCAN_SUMS, items);
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_SCAN_SUMS);
    strake_cl_pass_long(&a, count);
    pass_buffer(&a, &array);
    pass_buffer(&a, &own->sums);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCAN_SUMS, &a, items, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SCAN_TOPS);
    strake_cl_pass_int(&a, groups);
    pass_buffer(&a, &own->sums);
    pass_buffer(&a, &own->totals);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCAN_TOPS, &a, 1, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SCAN_WRITE);
    strake_cl_pass_long(&a, count);
    pass_buffer(&a, &array);
    pass_buffer(&a, &own->sums);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCAN_WRITE, &a, items, error));
cleanup:
    return status;
}

/* Particles to their cells, and these in order: from x[now] to the other one, which is now then. */
static strake_status sort(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t cells = own->run.cells.count, count = own->run.count;
    const int now = own->now, then = 1 - now;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_ENTER);
    STRAKE_TRY(zero(own, own->start, (size_t)(cells + 2) * sizeof(cl_uint), error));
    pass_scheme(own, &a);
    strake_cl_pass_int(&a, count);
    pass_buffer(&a, &own->x[now]);
    pass_buffer(&a, &own->cell);
    strake_cl_pass_long(&a, own->run.room);
    pass_buffer(&a, &own->words);
    pass_buffer(&a, &own->start);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_ENTER, &a, count, error));
    STRAKE_TRY(scan(own, own->start, cells + 2, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SCATTER);
    strake_cl_pass_int(&a, count);
    strake_cl_pass_long(&a, own->run.room);
    pass_buffer(&a, &own->words);
    pass_buffer(&a, &own->start);
    pass_buffer(&a, &own->key);
    pass_buffer(&a, &own->cell);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SCATTER, &a, count, error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_SETTLE);
    strake_cl_pass_int(&a, count);
    strake_cl_pass_long(&a, own->run.room);
    pass_buffer(&a, &own->words);
    pass_buffer(&a, &own->start);
    pass_buffer(&a, &own->x[now]);
    pass_buffer(&a, &own->v[now]);
    pass_buffer(&a, &own->volume[now]);
    pass_buffer(&a, &own->x[then]);
    pass_buffer(&a, &own->v[then]);
    pass_buffer(&a, &own->volume[then]);
    pass_buffer(&a, &own->key);
    pass_buffer(&a, &own->cell);
    pass_buffer(&a, &own->rest);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_SETTLE, &a, count, error));
    own->now = then;
cleanup:
    return status;
}

static void pass_list(strake_sph_device *own, strake_cl_arguments *a)
{
    const double reach = strake_sph_reach(own->run.sph);
    pass_scheme(own, a);
    strake_cl_pass_real(a, own->precision, reach * reach);
    pass_buffer(a, &own->start);
    pass_buffer(a, &own->cell);
    pass_buffer(a, &own->key);
    pass_buffer(a, &own->x[own->now]);
}

/* Arguments of passes, which they have until the next order. */
static strake_status set_passes(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int now = own->now, then = 1 - now;
    for (int k = STRAKE_SPH_PREDICT; k <= STRAKE_SPH_CORRECT; k++) {
        strake_cl_arguments a = strake_sph_begin_arguments(own, (strake_sph_kernel_name)k);
        pass_buffer(&a, &own->clock_there);
        pass_scheme(own, &a);
        strake_cl_pass_int(&a, own->run.count);
        strake_cl_pass_int(&a, own->most_groups);
        pass_buffer(&a, &own->start);
        pass_buffer(&a, &own->first);
        pass_buffer(&a, &own->counts);
        pass_buffer(&a, &own->words);
        pass_buffer(&a, &own->cell);
        pass_buffer(&a, &own->key);
        pass_buffer(&a, &own->most);
        for (int side = 0; side < 2; side++) {
            const int of = side == 0 ? now : then;
            pass_buffer(&a, &own->x[of]);
            pass_buffer(&a, &own->v[of]);
            pass_buffer(&a, &own->volume[of]);
        }
        if (k == STRAKE_SPH_CORRECT) {
            pass_buffer(&a, &own->rest);
        }
        STRAKE_CL("clSetKernelArg", a.code, error, own->session.device);
    }
cleanup:
    return status;
}

/* More room for lists, where they have too little; 3 % beyond what they need. */
static strake_status grow(strake_sph_device *own, size_t rows, strake_error *error)
{
    strake_status status = STRAKE_OK;
    /* And what a pass looks at and leaves. */
    const size_t more = own->settings.lists == STRAKE_SPH_WIDE ? 2 : 1;
    const size_t bytes = (rows + more) * STRAKE_SPH_SIDE_BY_SIDE * sizeof(cl_uint);
    if (bytes > own->words_bytes) {
        strake_cl_release_buffer(&own->session, &own->words);
        own->bytes -= (double)own->words_bytes;
        own->words_bytes = 0;
        STRAKE_TRY(strake_sph_new_buffer(own, bytes + bytes / 32, &own->words, error));
        own->words_bytes = bytes + bytes / 32;
    }
cleanup:
    return status;
}

/* Names the first particle of the cell in which they are so many. */
static strake_status fail_crowded(strake_sph_device *own, int64_t most, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t first = 0;
    STRAKE_TRY(strake_sph_download(own, error));
    for (int64_t k = 0; k < own->image.count && own->run.culprit < 0; k++) {
        first = own->image.cell[k] != own->image.cell[first] ? k : first;
        own->run.culprit = k - first + 1 >= most ? own->image.number[first] : -1;
    }
    status = strake_fail(
        error, STRAKE_ERR_NUMERIC,
        "after step %lld, t = %g s, %lld particles, %lld among them, are in one cell; on a device "
        "at most %d are. Where they collapsed, a larger speed of sound helps; else a smaller skin",
        (long long)own->clock.steps, own->clock.time, (long long)most, (long long)own->run.culprit,
        MOST_IN_CELL);
cleanup:
    return status;
}

/* Those who left the box stand behind all others. */
static strake_status note_lost(strake_sph_device *own, int64_t kept, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t left = (size_t)(own->run.count - kept), real = (size_t)own->run.element;
    const size_t before = (size_t)kept;
    void *const x = malloc((4 * left + 1) * real);
    cl_int *const cell = malloc((left + 1) * sizeof *cell);
    cl_uint *const key = malloc((left + 1) * sizeof *key);
    STRAKE_CHECK(x != NULL && cell != NULL && key != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for %zu particles that left the box", left);
    if (left == 0) {
        goto cleanup;
    }
    STRAKE_TRY(
        strake_sph_read(own, own->x[own->now], 4 * before * real, 4 * left * real, x, error));
    STRAKE_TRY(
        strake_sph_read(own, own->cell, before * sizeof *cell, left * sizeof *cell, cell, error));
    STRAKE_TRY(
        strake_sph_read(own, own->key, before * sizeof *key, left * sizeof *key, key, error));
    for (size_t k = 0; k < left; k++) {
        double in_cell[STRAKE_PARTICLE_AXES];
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            in_cell[a] = strake_element_get(x, own->run.element, 4 * (int64_t)k + a);
        }
        STRAKE_TRY(strake_sph_note_lost(
            &own->run, own->number[key[k] & ((1U << STRAKE_SPH_PLACE_BITS) - 1)],
            (strake_particle_kind)(key[k] >> STRAKE_SPH_PLACE_BITS), cell[k], in_cell, error));
    }
cleanup:
    free(x);
    free(cell);
    free(key);
    return status;
}

strake_status strake_sph_make_lists(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t count = own->run.count;
    cl_uint totals[STRAKE_SPH_TOTALS], kept = 0;
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_COUNT_NEAR);
    STRAKE_TRY(zero(own, own->totals, sizeof totals, error));
    pass_list(own, &a);
    pass_buffer(&a, &own->counts);
    pass_buffer(&a, &own->first);
    pass_buffer(&a, &own->totals);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_COUNT_NEAR, &a, count, error));
    STRAKE_TRY(scan(own, own->first, strake_sph_list_rows(count), error));
    STRAKE_TRY(strake_sph_read(own, own->start, (size_t)own->run.cells.count * sizeof kept,
                               sizeof kept, &kept, error));
    STRAKE_TRY(strake_sph_read(own, own->totals, 0, sizeof totals, totals, error));
    STRAKE_TRY(totals[1] > 0 ? fail_crowded(own, (int64_t)totals[1], error) : STRAKE_OK);
    STRAKE_TRY(note_lost(own, kept, error));
    own->run.count = kept;
    own->pairs = 0.0;
    for (int k = 2; k < STRAKE_SPH_TOTALS; k++) {
        own->pairs += totals[k];
    }
    STRAKE_TRY(grow(own, totals[0], error));
    a = strake_sph_begin_arguments(own, STRAKE_SPH_FILL_NEAR);
    pass_list(own, &a);
    pass_buffer(&a, &own->first);
    pass_buffer(&a, &own->words);
    STRAKE_TRY(strake_sph_launch(own, STRAKE_SPH_FILL_NEAR, &a, own->run.count, error));
    STRAKE_TRY(set_passes(own, error));
cleanup:
    return status;
}

strake_status strake_sph_reorder(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(sort(own, error));
    STRAKE_TRY(strake_sph_make_lists(own, error));
    STRAKE_TRY(strake_sph_tick(own, STRAKE_SPH_AFTER_ORDER, error));
    STRAKE_TRY(strake_sph_read_clock(own, error));
    own->run.clock.rebuilds++;
cleanup:
    return status;
}
