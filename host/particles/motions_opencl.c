/* Walls and gravity whose motions are given, on a device: where bodies begin, and what follows from the clock. */
#include "base/error.h"
#include "particles/device.h"

static bool has_motions(const strake_sph_device *own)
{
    return own->run.sph->motions != NULL;
}

strake_status strake_sph_open_bodies(strake_sph_device *own, int64_t count,
                                     const strake_sph_particle *particle, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_movers *const movers = &own->movers;
    size_t origins = 0, series = 0;
    STRAKE_TRY(
        strake_sph_movers_open(own->run.sph, &own->run.cells, count, particle, movers, error));
    if (!has_motions(own)) {
        goto cleanup;
    }
    origins = (3 * (size_t)movers->origins + 1) * sizeof(double);
    series = (2 * (size_t)movers->all.points + 1) * sizeof(double);
    STRAKE_TRY(strake_sph_new_buffer(own, STRAKE_SPH_CONSTANTS, &own->second_constants, error));
    STRAKE_TRY(strake_sph_new_buffer(own, sizeof movers->all, &own->motions, error));
    STRAKE_TRY(strake_sph_new_buffer(own, sizeof movers->frames, &own->frames, error));
    STRAKE_TRY(strake_sph_new_buffer(own, origins, &own->origins, error));
    STRAKE_TRY(strake_sph_new_buffer(own, series, &own->series, error));
    STRAKE_TRY(strake_sph_write(own, own->motions, sizeof movers->all, &movers->all, error));
    STRAKE_TRY(strake_sph_write(own, own->origins, origins, movers->origin, error));
    if (movers->all.points > 0) {
        STRAKE_TRY(strake_sph_write(own, own->series,
                                    2 * (size_t)movers->all.points * sizeof(double), movers->series,
                                    error));
    }
cleanup:
    return status;
}

void strake_sph_close_bodies(strake_sph_device *own)
{
    cl_mem *const all[] = {&own->second_constants, &own->motions, &own->frames, &own->origins,
                           &own->series};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        strake_cl_release_buffer(own->session, all[k]);
    }
    strake_sph_movers_close(&own->movers);
}

void strake_sph_pass_bodies(const strake_sph_device *own, strake_cl_arguments *a)
{
    if (has_motions(own)) {
        strake_cl_pass_buffer(a, own->motions);
        strake_cl_pass_buffer(a, own->frames);
        strake_cl_pass_buffer(a, own->origins);
    }
}

void strake_sph_pass_motions(const strake_sph_device *own, strake_cl_arguments *a)
{
    if (has_motions(own)) {
        strake_cl_pass_buffer(a, own->motions);
        strake_cl_pass_buffer(a, own->series);
        strake_cl_pass_buffer(a, own->frames);
        strake_cl_pass_buffer(a, own->constants);
        strake_cl_pass_buffer(a, own->second_constants);
    }
}

strake_status strake_sph_write_constants(strake_sph_device *own, cl_mem buffer, strake_error *error)
{
    char constants[STRAKE_SPH_CONSTANTS] = {0};
    const size_t bytes = strake_sph_pair_rows_of(own->precision, STRAKE_ISA_SCALAR)
                             ->constants(&own->numbers, &own->run.cells, constants);
    return strake_sph_write(own, buffer, bytes, constants, error);
}

/* Gravity of the pass (0 or 1) of the step that was planned. */
static strake_status write_gravity(strake_sph_device *own, int pass, strake_error *error)
{
    strake_sph_movers_weigh(&own->movers, pass, &own->numbers);
    return strake_sph_write_constants(own, pass == 0 ? own->constants : own->second_constants,
                                      error);
}

strake_status strake_sph_write_clock(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const sph_clock *const c = &own->clock;
    strake_sph_movers *const movers = &own->movers;
    STRAKE_TRY(strake_sph_write(own, own->clock_there, sizeof *c, c, error));
    if (!has_motions(own)) {
        goto cleanup;
    }
    strake_sph_movers_plan(movers, c->time, sph_clock_middle(c->time, c->dt), sph_clock_end(*c));
    STRAKE_TRY(strake_sph_write(own, own->frames, sizeof movers->frames, &movers->frames, error));
    STRAKE_TRY(write_gravity(own, 0, error));
    STRAKE_TRY(write_gravity(own, 1, error));
cleanup:
    return status;
}

strake_status strake_sph_plan_shared(strake_sph_device *own, bool is_half, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_sph_clock *const c = &own->run.clock;
    strake_sph_movers *const movers = &own->movers;
    if (!has_motions(own)) {
        return STRAKE_OK;
    }
    strake_sph_movers_plan(movers, c->time, is_half ? sph_clock_middle(c->time, c->dt) : c->time,
                           is_half ? own->run.end : c->time);
    /* Before writes, for which drivers wait however long that takes. */
    STRAKE_TRY(strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter,
                                    own->queue, error));
    if (is_half) {
        STRAKE_TRY(
            strake_sph_write(own, own->frames, sizeof movers->frames, &movers->frames, error));
    }
    STRAKE_TRY(write_gravity(own, is_half, error));
cleanup:
    return status;
}
