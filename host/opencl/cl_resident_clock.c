/* What the sweeps of a resident stripe are brought down to, and its clock. */
#include "opencl/cl_reduce.h"
#include "opencl/cl_resident_impl.h"

strake_status strake_cl_resident_reduce(strake_cl_resident *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (!s->clock.runs) {
        return strake_cl_active_end(&s->active, &s->window, error);
    }
    /* A look does nothing after a sweep that did nothing: the clock goes on afterwards. */
    STRAKE_TRY(strake_cl_active_end(&s->active, &s->window, error));
    STRAKE_TRY(strake_cl_clock_advance(&s->clock, &s->window, error));
cleanup:
    return status;
}

strake_status strake_cl_resident_bound(strake_cl_resident *s, double *bound, strake_error *error)
{
    double reduced[STRAKE_MAX_REDUCTIONS];
    const strake_status status = strake_cl_reduce_end(&s->window, &s->waiter, reduced, error);
    *bound = status == STRAKE_OK && s->kernels->graph->reductions > 0 ? reduced[0] : *bound;
    return status;
}

strake_status strake_cl_resident_start_clock(strake_cl_resident *s, const strake_clock *clock,
                                             bool *keeps, strake_error *error)
{
    *keeps = strake_cl_clock_is_possible(s->kernels);
    return *keeps ? strake_cl_clock_start(&s->clock, &s->window, clock, error) : STRAKE_OK;
}

bool strake_cl_resident_is_over(const strake_cl_resident *s)
{
    return s->clock.runs && s->clock.seen.is_over != 0;
}

strake_status strake_cl_resident_stop_clock(strake_cl_resident *s, strake_clock *clock,
                                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event read = NULL;
    STRAKE_TRY(strake_cl_clock_look(&s->clock, &s->window, &read, error));
    STRAKE_CL("clFlush", s->kernels->cl->clFlush(s->queue), error, s->kernels->device);
    STRAKE_TRY(strake_cl_wait(s->kernels->cl, s->kernels->device, &s->waiter, &read, error));
    *clock = s->clock.seen;
    strake_cl_active_rewind(&s->active, s->clock.sweeps - clock->sweeps);
    /* Sweeps that did nothing have not changed the roles of the arrays either. */
    if ((s->clock.sweeps - clock->sweeps) % 2 != 0) {
        strake_cl_window_swap(&s->window);
    }
cleanup:
    strake_cl_release_event(s->kernels->cl, &read);
    strake_cl_clock_stop(&s->clock, &s->window);
    return status;
}
