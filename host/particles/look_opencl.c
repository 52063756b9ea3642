/* What a device finds in a step that it shares: how far and how fast its particles are, and bounds of the time step. */
#include <limits.h>
#include <math.h>

#include "base/error.h"
#include "particles/device.h"

/* Nothing was raised yet in so many sets. */
static strake_status clear(strake_sph_device *own, int first, int count, strake_error *error)
{
    static const cl_uint nothing = 0;
    return strake_cl_fill(&own->session->filler, own->queue, own->found, &nothing, sizeof nothing,
                          (size_t)first * strake_sph_found_bytes(own),
                          (size_t)count * strake_sph_found_bytes(own), error);
}

strake_status strake_sph_make_found(strake_sph_device *own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_sph_new_buffer(own, strake_sph_found_room(own), &own->found, error));
    STRAKE_TRY(strake_sph_raises(own) ? clear(own, 0, STRAKE_SPH_SETS, error) : STRAKE_OK);
cleanup:
    return status;
}

strake_status strake_sph_next_set(strake_sph_device *own, strake_error *error)
{
    enum { HALF = STRAKE_SPH_SETS / 2 };
    own->set_before = own->set;
    own->is_set_looked = false;
    if (!strake_sph_raises(own)) {
        own->set = 1 - own->set;
        return STRAKE_OK;
    }
    own->set = (own->set + 1) % STRAKE_SPH_SETS;
    /* The one before, which the host may not have seen yet, is of the other half. */
    if (own->set % HALF == 0) {
        own->has_outer = false; /* the next pass comes after that */
        return clear(own, own->set, HALF, error);
    }
    return STRAKE_OK;
}

/* Enqueues that the greatest of what groups found is found. */
static strake_status sum_up(strake_sph_device *own, int64_t looked, int set, strake_error *error)
{
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_SUM_UP);
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass_int(&a, own->passed[0]);
    strake_cl_pass_int(&a, own->passed[1]);
    strake_cl_pass_int(&a, looked);
    strake_cl_pass_int(&a, own->most_groups);
    strake_cl_pass_int(&a, strake_sph_most_first(own, set));
    strake_cl_pass_buffer(&a, own->most);
    strake_cl_pass_buffer(&a, own->found);
    return strake_sph_launch(own, STRAKE_SPH_SUM_UP, &a, 1, error);
}

strake_status strake_sph_leave_found(strake_sph_device *own, int64_t looked, int set,
                                     cl_event *come, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool raises = strake_sph_raises(own);
    const size_t bytes = strake_sph_found_bytes(own);
    STRAKE_TRY(raises ? STRAKE_OK : sum_up(own, looked, set, error));
    STRAKE_TRY(strake_sph_download_from(own, own->queue, false, own->found,
                                        raises ? (size_t)set * bytes : 0, bytes, own->seen, come,
                                        error));
cleanup:
    return status;
}

/* Enqueues that the device looks. */
static strake_status launch_look(strake_sph_device *own, strake_error *error)
{
    const bool raises = strake_sph_raises(own);
    const strake_sph_run *const run = &own->run;
    const cl_int inner[2] = {(cl_int)run->inner.first, (cl_int)run->inner.end};
    const int64_t first = strake_sph_most_first(own, own->set);
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_LOOK);
    strake_cl_pass_buffer(&a, own->clock_there);
    strake_cl_pass(&a, sizeof inner, inner);
    strake_cl_pass_int(&a, run->count);
    strake_cl_pass_int(&a, strake_sph_most_row(own));
    /* It raises rows 4 and 5 from here on, as if they were those of a step. */
    strake_cl_pass_int(&a, raises ? first + STRAKE_SPH_OF_LOOKS - 4 : first);
    strake_cl_pass_int(&a, raises ? 1 : 0);
    strake_cl_pass_buffer(&a, own->x[own->now]);
    strake_cl_pass_buffer(&a, own->v[own->now]);
    strake_cl_pass_buffer(&a, own->rest);
    strake_cl_pass_buffer(&a, strake_sph_most(own));
    own->is_set_looked = true;
    return strake_sph_launch(own, STRAKE_SPH_LOOK, &a, run->count, error);
}

/* Enqueues that the device finds what it is asked for, and has looked first, where the last pass has not. */
static strake_status find(strake_sph_device *own, cl_event *come, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t looked =
        own->is_looked ? own->passed[1] : strake_sph_groups(own, STRAKE_SPH_LOOK, own->run.count);
    strake_sph_mark(own, own->run.clock.steps);
    STRAKE_TRY(strake_sph_open_shared(own, error));
    if (!own->is_looked && own->is_set_looked) { /* no pass has left anything in another one */
        STRAKE_TRY(strake_sph_next_set(own, error));
        own->passed[0] = own->passed[1] = 0;
    }
    STRAKE_TRY(own->is_looked ? STRAKE_OK : launch_look(own, error));
    STRAKE_TRY(strake_sph_leave_found(own, looked, own->set, come, error));
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

/*
 * What has come, as sph_sum_up has it. @param[in] by_look  a look has found how far and how fast they are. Who is bad, which
 * is not raised, is asked for where somebody is infinitely far.
 */
static strake_status read_found(strake_sph_device *own, bool by_look, double *found,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (!strake_sph_raises(own)) {
        for (int k = 0; k < STRAKE_SPH_FOUND; k++) {
            found[k] = own->seen[k];
        }
        return STRAKE_OK;
    }
    const float *const raised = (const float *)own->seen;
    for (int k = 0; k < STRAKE_SPH_BOUNDS; k++) {
        found[k] = (double)raised[k < 4 || !by_look ? k : k - 4 + STRAKE_SPH_OF_LOOKS];
    }
    found[STRAKE_SPH_BOUNDS] = (double)INT_MAX;
    if (isinf(found[4])) {
        sph_clock clock;
        STRAKE_TRY(strake_sph_read(own, own->clock_there, 0, sizeof clock, &clock, error));
        found[STRAKE_SPH_BOUNDS] = (double)clock.bad;
    }
cleanup:
    return status;
}

strake_status strake_sph_look_shared(strake_sph_run *run, strake_sph_seen *seen,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph *const sph = run->sph;
    const bool by_look = !own->is_asked && !own->is_looked;
    double found[STRAKE_SPH_FOUND];
    cl_event come = NULL;
    if (own->is_asked) {
        STRAKE_TRY(
            strake_sph_wait(own, STRAKE_SPH_FOR_FOUND, own->queue, &own->first_pass.heard, error));
    } else {
        STRAKE_TRY(strake_sph_end_pass(own, STRAKE_SPH_WITHOUT, error));
        STRAKE_TRY(find(own, &come, error));
        note_asked(own);
        STRAKE_TRY(strake_sph_wait(own, STRAKE_SPH_FOR_LOOK, own->queue, &come, error));
    }
    own->is_asked = false;
    STRAKE_TRY(read_found(own, by_look, found, error));
    *seen = (strake_sph_seen){.far = found[4],
                              .fast = found[5],
                              .bad = found[6] < (double)INT_MAX ? (int64_t)found[6] : -1};
    /* Only the mark of a bad one, as on the processor, where a step is to fail that ends with it. */
    seen->far = seen->bad >= 0 && isinf(seen->far) ? 0.0 : seen->far;
    for (int k = 0; k < 2; k++) {
        seen->bound[k] = sph_bound(found[2 * k], found[2 * k + 1] + own->fastest[k], sph->smoothing,
                                   sph->cfl, strake_sph_viscous_bound(sph));
    }
cleanup:
    strake_cl_release_event(own->session->cl, &come);
    return status;
}
