#include "output/diagnostics.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "io/table.h"

/* The file is replaced as a whole: not after every line. */
enum { SECONDS = 5 };

strake_status strake_diagnostics_begin(strake_diagnostics *d, const strake_case *which,
                                       strake_solver *solver, const char *folder, int64_t resumed,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    *d = (strake_diagnostics){.written = strake_clock_seconds()};
    if (which->diagnostics_every == 0 && which->diagnostics_seconds == 0.0) {
        return STRAKE_OK;
    }
    d->which = which;
    d->solver = solver;
    d->path = strake_path_join(folder, STRAKE_DIAGNOSTICS_NAME);
    STRAKE_CHECK(d->path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the diagnostics");
    STRAKE_TRY(strake_file_check(d->path, error));
    strake_text_print(&d->text, "step,time");
    for (int m = 0; m < which->problem->quantities; m++) {
        strake_text_print(&d->text, ",%s", which->problem->quantity[m].name);
    }
    strake_text_print(&d->text, "\n");
    if (resumed >= 0) {
        /* By time: the line of that step was written before the checkpoint, if there was one. */
        const bool by_time =
            which->diagnostics_seconds > 0.0 &&
            (which->diagnostics_every == 0 || resumed % which->diagnostics_every != 0);
        STRAKE_TRY(strake_table_keep(d->path, resumed + (by_time ? 1 : 0), &d->text, error));
    }
cleanup:
    return status;
}

strake_status strake_diagnostics_measure(strake_diagnostics *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value[STRAKE_MAX_QUANTITIES];
    if (d->which == NULL) {
        return STRAKE_OK;
    }
    const int64_t step = strake_step_count(d->solver);
    STRAKE_TRY(strake_solver_measure(d->solver, value, error));
    strake_text_print(&d->text, "%lld,%.17g", (long long)step, strake_time(d->solver));
    for (int m = 0; m < d->which->problem->quantities; m++) {
        strake_text_print(&d->text, ",%.17g", value[m]);
    }
    strake_text_print(&d->text, "\n");
    d->is_new = true;
    if (strake_clock_seconds() - d->written > SECONDS) {
        STRAKE_TRY(strake_diagnostics_write(d, error));
    }
cleanup:
    return status;
}

strake_status strake_diagnostics_write(strake_diagnostics *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (!d->is_new) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(!d->text.failed, error, STRAKE_ERR_MEMORY, "out of memory for the diagnostics");
    STRAKE_TRY(strake_file_put(d->path, 0, d->text.data, d->text.length, error));
    d->is_new = false;
    d->written = strake_clock_seconds();
cleanup:
    return status;
}

void strake_diagnostics_end(strake_diagnostics *d)
{
    free(d->path);
    strake_text_free(&d->text);
    *d = (strake_diagnostics){0};
}
