/* Every kernel of a device is launched once before a run has particles: some drivers compile at the first launch. */
#include <stdlib.h>

#include "base/error.h"
#include "particles/crew.h"
#include "particles/device.h"
#include "particles/run_opencl.h"

/* A step as it is beside others. */
static strake_status step_shared(strake_sph_run *run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_seen seen;
    for (int is_half = 0; is_half < 2; is_half++) {
        STRAKE_TRY(run->ops->pass(run, is_half != 0, error));
        /* The first kernel of a pass is launched even with nobody in it: that of the inner slices, too. */
        ((strake_sph_device *)run)->first_pass.row = 0;
        STRAKE_TRY(run->ops->advance(run, is_half != 0, error));
    }
    STRAKE_TRY(strake_sph_change_hands((strake_sph_device *)run, error));
    STRAKE_TRY(strake_sph_arrive((strake_sph_device *)run, 0, error));
    STRAKE_TRY(run->ops->look(run, &seen, error));
cleanup:
    return status;
}

strake_status strake_sph_device_warm(strake_sph_run *run, bool is_lone, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph_clock clock = run->clock;
    strake_sph_crew *const crew = calloc(1, sizeof *crew); /* of nobody else */
    STRAKE_CHECK(crew != NULL, error, STRAKE_ERR_MEMORY, "no memory for parts of particles");
    STRAKE_TRY(strake_sph_crew_open(crew, &run->cells, 1, error));
    strake_sph_crew_join(crew, 0, run);
    crew->member[0].own = crew->member[0].next = run->own;
    strake_sph_crew_start(crew);
    STRAKE_TRY(strake_sph_step(run, 1, 1.0, error));
    STRAKE_TRY(strake_sph_make_lists(own, error)); /* as where the host looks */
    if (run->sph->shepard > 0) {
        STRAKE_TRY(strake_sph_filter(own, NULL, true, (strake_range){0, 0}, error));
        STRAKE_TRY(strake_sph_renew(own, true, error));
    }
    STRAKE_TRY(is_lone ? STRAKE_OK : step_shared(run, error));
    STRAKE_TRY(strake_cl_wait_queue(own->session->cl, own->session->device, &own->waiter,
                                    own->queue, error));
cleanup:
    if (crew != NULL) {
        strake_sph_crew_close(crew);
    }
    free(crew);
    run->crew = NULL;
    run->clock = clock; /* the device's own one comes with particles */
    return status;
}
