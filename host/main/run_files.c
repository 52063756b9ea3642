#include "main/run_files.h"

#include <stdio.h>

#include "base/clock.h"
#include "io/folder.h"
#include "main/case_options.h"
#include "main/commit.h"
#include "main/say.h"
#include "output/checkpoint.h"
#include "output/output.h"

void strake_run_origin(const strake_arguments *arguments, int64_t started, strake_text *history,
                       char source[STRAKE_RUN_SOURCE])
{
    char date[32];
    (void)snprintf(source, STRAKE_RUN_SOURCE, "Strake %s%s%.40s", STRAKE_VERSION,
                   strake_commit[0] != '\0' ? ", " : "", strake_commit);
    strake_text_print(history, "%s: ", strake_clock_utc(started, date));
    strake_command_line(arguments, "run", history);
}

void strake_warn_of_full_disk(const strake_case *which, const strake_solver *solver,
                              const char *folder, bool writes_fields)
{
    double need =
        writes_fields ? strake_output_bytes(which, solver, strake_step_count(solver)) : 0.0;
    const double have = strake_disk_free(folder);
    char need_text[32], have_text[32];
    for (int f = 0; f < which->problem->fields && which->checkpoint_every > 0; f++) {
        size_t bytes = 0;
        const strake_field *const field = &which->problem->field[f];
        if (field->is_state && strake_field_bytes(solver, field->name, &bytes, NULL) == STRAKE_OK) {
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
