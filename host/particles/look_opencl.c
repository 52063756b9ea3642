/* What a device finds in a step that it shares: how far and how fast its particles are, and bounds of the time step. */
#include <limits.h>

#include "base/error.h"
#include "particles/device.h"

strake_status strake_sph_sum_up(strake_sph_device *own, int64_t looked, int half,
                                strake_error *error)
{
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_SUM_UP);
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass_int(&a, own->passed[0]);
    strake_cl_pass_int(&a, own->passed[1]);
    strake_cl_pass_int(&a, looked);
    strake_cl_pass_int(&a, own->most_groups);
    strake_cl_pass_int(&a, strake_sph_most_first(own, half));
    strake_cl_pass_buffer(&a, own->most);
    strake_cl_pass_buffer(&a, own->found);
    return strake_sph_launch(own, STRAKE_SPH_SUM_UP, &a, 1, error);
}

/* Enqueues that the device looks. */
static strake_status launch_look(strake_sph_device *own, strake_error *error)
{
    const strake_sph_run *const run = &own->run;
    const cl_int inner[2] = {(cl_int)run->inner.first, (cl_int)run->inner.end};
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_LOOK);
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass(&a, sizeof inner, inner);
    strake_cl_pass_int(&a, run->count);
    strake_cl_pass_int(&a, own->most_groups);
    strake_cl_pass_int(&a, strake_sph_most_first(own, own->most_half));
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->v[own->now]);
    strake_cl_pass_buffer(&a, own->rest);
    strake_cl_pass_buffer(&a, own->most);
    return strake_sph_launch(own, STRAKE_SPH_LOOK, &a, run->count, error);
}

/* Enqueues that the device finds what it is asked for, and has looked first, where the last pass has not. */
static strake_status find(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t looked =
        own->is_looked ? own->passed[1] : strake_sph_groups(own, STRAKE_SPH_LOOK, own->run.count);
    strake_sph_mark(own, own->run.clock.steps);
    STRAKE_TRY(strake_sph_open_shared(own, error));
    STRAKE_TRY(own->is_looked ? STRAKE_OK : launch_look(own, error));
    STRAKE_TRY(strake_sph_sum_up(own, looked, own->most_half, error));
cleanup:
    return status;
}

/* What moves is as fast as it is now where the device is asked. */
static void note_asked(strake_sph_device *own)
{
    own->is_looked = false;
    for (int k = 0; k < 2; k++) {
        own->fastest[k] = own->movers.frames.fastest[k];
    }
}

strake_status strake_sph_ask_shared(strake_sph_run *run, strake_error *error)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    (void)error;
    own->is_asked = true;
    note_asked(own);
    return STRAKE_OK;
}

strake_status strake_sph_look_shared(strake_sph_run *run, strake_sph_seen *seen,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph *const sph = run->sph;
    const double *const found = own->seen;
    cl_event come = NULL;
    if (own->is_asked) {
        STRAKE_TRY(
            strake_sph_wait(own, STRAKE_SPH_FOR_FOUND, own->queue, &own->first_pass.heard, error));
    } else {
        STRAKE_TRY(strake_sph_end_pass(own, STRAKE_SPH_WITHOUT, error));
        STRAKE_TRY(find(own, error));
        note_asked(own);
        STRAKE_TRY(strake_sph_download_from(own, own->queue, false, own->found, 0,
                                            STRAKE_SPH_FOUND_BYTES, own->seen, &come, error));
        STRAKE_TRY(strake_sph_wait(own, STRAKE_SPH_FOR_LOOK, own->queue, &come, error));
    }
    own->is_asked = false;
    *seen = (strake_sph_seen){.far = found[4],
                              .fast = found[5],
                              .bad = found[6] < (double)INT_MAX ? (int64_t)found[6] : -1};
    for (int k = 0; k < 2; k++) {
        seen->bound[k] = sph_bound(found[2 * k], found[2 * k + 1] + own->fastest[k], sph->smoothing,
                                   sph->cfl, strake_sph_viscous_bound(sph));
    }
cleanup:
    strake_cl_release_event(own->session->cl, &come);
    return status;
}
