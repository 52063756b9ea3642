/* Particles to a device and back. */
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/error.h"
#include "particles/device.h"

/* Where cells begin, of particles that are in order. */
static strake_status write_start(strake_sph_device *own, const strake_sph_image *image,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t cells = (size_t)own->run.cells.count;
    cl_uint *const start = calloc(cells + 2, sizeof *start);
    STRAKE_CHECK(start != NULL, error, STRAKE_ERR_MEMORY, "no memory for %lld cells",
                 (long long)cells);
    for (int64_t p = 0; p < image->count; p++) {
        start[image->cell[p] + 1]++;
    }
    for (size_t c = 0; c <= cells; c++) {
        start[c + 1] += start[c];
    }
    STRAKE_TRY(strake_sph_write(own, own->start, (cells + 2) * sizeof *start, start, error));
cleanup:
    free(start);
    return status;
}

/* What follows from densities, as passes on the processor have it. */
static void prepare(strake_sph_device *own, const strake_sph_image *image, void *push, void *sound,
                    void *volume)
{
    const strake_sph_parts parts = {.count = image->count,
                                    .cells = &own->run.cells,
                                    .kind = image->kind,
                                    .now = image->state,
                                    .push = push,
                                    .sound = sound,
                                    .volume = volume};
    (void)strake_sph_rows_of(own->precision, STRAKE_ISA_SCALAR)
        ->prepare(&parts, &own->numbers, &image->state, 0, image->count);
}

strake_status strake_sph_upload(strake_sph_device *own, const strake_sph_image *image,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int element = own->run.element;
    const int64_t count = image->count;
    const size_t room = (size_t)count + 1, real = (size_t)element;
    void *const *const value = image->state.value;
    void *const wide = calloc(4 * room, real), *const push = calloc(room, real);
    void *const sound = calloc(room, real), *const volume = calloc(room, real);
    cl_uint *const key = calloc(room, sizeof *key);
    STRAKE_CHECK(wide != NULL && push != NULL && sound != NULL && volume != NULL && key != NULL,
                 error, STRAKE_ERR_MEMORY, "no memory for %lld particles", (long long)count);
    if (count == 0) {
        goto cleanup;
    }
    for (int64_t p = 0; p < count; p++) {
        key[p] = strake_sph_key_of(image, p);
    }
    prepare(own, image, push, sound, volume);
    STRAKE_TRY(strake_sph_write(own, own->key, (size_t)count * sizeof *key, key, error));
    STRAKE_TRY(
        strake_sph_write(own, own->cell, (size_t)count * sizeof(cl_int), image->cell, error));
    if (strake_sph_has_volumes(own->run.sph)) {
        STRAKE_TRY(
            strake_sph_write(own, own->volume[own->now], (size_t)count * real, volume, error));
    }
    strake_sph_interleave(wide, element, count, &value[STRAKE_SPH_V0], push);
    STRAKE_TRY(strake_sph_write(own, own->v[own->now], 4 * (size_t)count * real, wide, error));
    if (image->clock.is_ordered) {
        /* Lists are those of where particles were when the order was made. */
        strake_sph_interleave(wide, element, count, image->rest, value[STRAKE_SPH_RHO]);
        STRAKE_TRY(strake_sph_write(own, own->x[own->now], 4 * (size_t)count * real, wide, error));
        STRAKE_TRY(write_start(own, image, error));
        STRAKE_TRY(strake_sph_make_lists(own, error));
        for (int64_t p = 0; p < count; p++) {
            for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
                strake_element_copy(wide, element, 3 * p + a, 4 * p + a);
            }
        }
        STRAKE_TRY(strake_sph_write(own, own->rest, 3 * (size_t)count * real, wide, error));
    }
    strake_sph_interleave(wide, element, count, &value[STRAKE_SPH_X0], value[STRAKE_SPH_RHO]);
    STRAKE_TRY(strake_sph_write(own, own->x[own->now], 4 * (size_t)count * real, wide, error));
    if (image->clock.is_ordered && own->session->device->has_double) {
        STRAKE_TRY(strake_sph_tick(own, STRAKE_SPH_AFTER_LOOK, error));
        STRAKE_TRY(strake_sph_read_clock(own, error));
    }
cleanup:
    free(wide);
    free(push);
    free(sound);
    free(volume);
    free(key);
    return status;
}

strake_status strake_sph_download(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_image *const image = &own->image;
    const int64_t count = own->run.count;
    if (image->number == NULL || count > own->image_room) {
        if (image->number != NULL) {
            strake_sph_image_close(image);
        }
        STRAKE_TRY(strake_sph_image_open(&own->run, own->run.room, image, error));
        own->image_room = own->run.room;
    }
    image->count = count;
    image->clock = own->run.clock;
    if (count > 0) {
        STRAKE_TRY(strake_sph_read_particles(own, own->x[own->now], own->v[own->now], own->cell,
                                             own->key, image, error));
        STRAKE_TRY(strake_sph_read_wide(own, own->rest, count, 3, image->rest, NULL, error));
    }
cleanup:
    return status;
}
