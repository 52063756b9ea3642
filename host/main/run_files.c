#include "main/run_files.h"

#include <stdio.h>

#include "base/clock.h"
#include "io/folder.h"
#include "solver/batch.h"
#include "main/case_options.h"
#include "main/commit.h"
#include "main/formats.h"
#include "main/say.h"
#include "output/checkpoint.h"
#include "output/index.h"

strake_status strake_begin_formats(strake_output *output, strake_run_origin *origin,
                                   const strake_case *which, strake_solver *solver,
                                   const char *folder, int64_t resumed, strake_error *error)
{
    char date[32];
    (void)snprintf(origin->source, sizeof origin->source, "Strake %s%s%.40s", STRAKE_VERSION,
                   strake_commit[0] != '\0' ? ", " : "", strake_commit);
    strake_text_print(&origin->history, "%s: ", strake_clock_utc(origin->started, date));
    strake_command_line(origin->arguments, "run", &origin->history);
    if (origin->history.failed) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
    }
    const strake_format_run about = {.which = which,
                                     .solver = solver,
                                     .folder = folder,
                                     .history = origin->history.data,
                                     .source = origin->source,
                                     .sets = origin->arguments->sets,
                                     .resumed = resumed};
    return strake_output_begin(output, &about, strake_formats, error);
}

strake_status strake_begin_folder(const strake_about *about, const strake_case *which,
                                  const strake_solver *solver, const char *folder, bool resumes,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t removed = 0;
    if (!resumes) {
        STRAKE_TRY(strake_index_clear(folder, &removed, error));
    }
    if (removed > 0) {
        strake_say_note("folder %s: removed %lld output file%s of an earlier run", folder,
                        (long long)removed, removed == 1 ? "" : "s");
    }
    STRAKE_TRY(strake_about_write(about, which, solver, folder, error));
cleanup:
    return status;
}

void strake_warn_of_full_disk(const strake_case *which, const strake_solver *solver,
                              const char *folder, bool writes_fields)
{
    double need =
        writes_fields ? strake_output_bytes(which, solver, strake_step_count(solver)) : 0.0;
    const double have = strake_disk_free(folder);
    char need_text[32], have_text[32];
    for (int f = 0; f < which->problem->fields && strake_batch_has_checkpoints(which); f++) {
        size_t bytes = 0;
        const strake_field *const field = &which->problem->field[f];
        if (strake_case_keeps(which, f) &&
            strake_field_bytes(solver, field->name, &bytes, NULL) == STRAKE_OK) {
            need += 2.0 * (double)bytes; /* the old one stays until the new one is complete */
        }
    }
    if (have >= 0.0 && have < need) {
        strake_say_warning("the outputs need %s, but folder %s has only %s free; the run stops "
                           "when the disk is full",
                           strake_size_text(need, need_text), folder,
                           strake_size_text(have, have_text));
    }
}
