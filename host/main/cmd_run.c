/* `strake run`: places a case on processors and drives the time loop with its outputs. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "output/about.h"
#include "output/checkpoint.h"
#include "output/diagnostics.h"
#include "io/folder.h"
#include "output/output.h"
#include "output/report.h"
#include "main/case_options.h"
#include "main/commit.h"
#include "main/first_use.h"
#include "main/formats.h"
#include "main/interrupt.h"
#include "main/live.h"
#include "main/command.h"
#include "main/say.h"
#include "main/progress.h"
#include "main/report_file.h"
#include "main/resume.h"
#include "main/run_alone.h"
#include "main/run_due.h"
#include "main/run_files.h"
#include "main/summary.h"
#include "solver/batch.h"
#include "solver/remote.h"

typedef struct run {
    const strake_arguments *arguments;
    const strake_run_wish *wish; /* NULL: it is `strake run` itself */
    strake_ranks *ranks;         /* NULL: this process is alone */
    strake_case *which;
    strake_solver *solver;
    const char *folder;
    bool writes_fields, writes_files;
    char *checkpoint_path;
    int64_t checkpoint_step; /* of the last checkpoint written, -1 for none */
    strake_checkpoint resumed;
    strake_output output;
    strake_diagnostics diagnostics;
    strake_progress progress;
    strake_live live;
    bool draws; /* all ranks agree that it is time for a picture */
    strake_result result;
    strake_report_file report;
    strake_slabs slabs; /* for a part of a field */
    double io_seconds;
    bool interrupted;
    bool begun; /* has written something */
    strake_run_origin origin;
} run;

/* Rank 0, or a lone process: it alone uses files and speaks. */
static bool is_first(const run *r)
{
    return strake_ranks_self(r->ranks) == 0;
}

/* Rank 0 does a job that uses fields and files; the others meanwhile give it their slabs. */
static strake_status at_first(run *r, strake_status (*job)(run *, strake_error *),
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (r->ranks == NULL) {
        return job(r, error);
    }
    STRAKE_TRY(strake_remote_begin(r->solver, error));
    status = is_first(r) ? strake_remote_end(r->solver, job(r, error), error)
                         : strake_remote_serve(r->solver, error);
cleanup:
    return status;
}

/* What can be known to fail is found before the long work begins. */
static strake_status look_ahead(run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int f = 0; f < r->which->problem->fields; f++) {
        r->writes_fields = r->writes_fields || r->which->output_field[f];
    }
    r->writes_files = r->writes_fields || strake_batch_has_checkpoints(r->which) ||
                      strake_batch_has_diagnostics(r->which);
    r->folder = r->arguments->output != NULL ? r->arguments->output : r->which->output_directory;
    if (!is_first(r)) {
        return STRAKE_OK;
    }
    if (r->writes_files) {
        STRAKE_TRY(strake_folder_check(r->folder, error));
        STRAKE_TRY(strake_output_look(r->which, strake_formats, error));
    }
    STRAKE_TRY(strake_report_begin(&r->report, r->arguments->report, error));
    if (r->arguments->resume != NULL) {
        STRAKE_TRY(strake_checkpoint_open(r->arguments->resume, &r->resumed, error));
        STRAKE_TRY(strake_checkpoint_match(&r->resumed, r->which, error));
        STRAKE_TRY(strake_checkpoint_precedes(&r->resumed, r->which, error));
    }
cleanup:
    return status;
}

static strake_status restore(run *r, strake_error *error)
{
    return strake_checkpoint_restore(&r->resumed, &r->slabs, error);
}

static strake_status begin_files(run *r, int64_t resumed_step, strake_error *error)
{
    strake_status status = STRAKE_OK;
    r->checkpoint_path = strake_path_join(r->folder, STRAKE_CHECKPOINT_NAME);
    STRAKE_CHECK(r->checkpoint_path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (is_first(r)) {
        STRAKE_TRY(strake_folder_create(r->folder, error));
        STRAKE_TRY(strake_file_check(r->checkpoint_path, error));
        STRAKE_TRY(strake_begin_formats(&r->output, &r->origin, r->which, r->solver, r->folder,
                                        resumed_step, error));
        STRAKE_TRY(strake_diagnostics_begin(&r->diagnostics, r->which, r->solver, r->folder,
                                            resumed_step, error));
        strake_warn_of_full_disk(r->which, r->solver, r->folder, r->writes_fields);
    }
cleanup:
    return status;
}

static strake_status prepare(run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t resumed_step = -1;
    strake_options settings = strake_solver_options(r->arguments);
    const bool alone = r->wish != NULL;
    settings.notice = alone ? r->wish->notice : is_first(r) ? settings.notice : NULL;
    settings.user = alone ? r->wish->user : NULL;
    settings.compiling = is_first(r) && !alone ? settings.compiling : NULL;
    STRAKE_TRY(strake_ranks_agree(r->ranks, look_ahead(r, error), error));
    STRAKE_TRY(strake_open_on(r->which, &settings, r->ranks, &r->solver, error));
    if (r->ranks == NULL && strake_first_use(r->arguments, r->which, r->solver)) {
        strake_close(&r->solver);
        STRAKE_TRY(strake_open(r->which, &settings, &r->solver, error));
    }
    status = strake_slabs_open(&r->slabs, r->which, r->solver, error);
    STRAKE_TRY(strake_ranks_agree(r->ranks, status, error));
    if (r->arguments->resume != NULL) {
        STRAKE_TRY(at_first(r, restore, error));
        resumed_step = strake_step_count(r->solver);
        strake_checkpoint_close(&r->resumed);
    }
    if (r->writes_files) {
        status = begin_files(r, resumed_step, error);
        STRAKE_TRY(strake_ranks_agree(r->ranks, status, error));
        STRAKE_TRY(r->ranks != NULL ? strake_remote_parts(r->solver, error) : STRAKE_OK);
    }
cleanup:
    return status;
}

/* What an earlier run left goes, and what this one is stands beside its files. */
static strake_status begin_outputs(run *r, strake_error *error)
{
    const strake_about about = {.commit = strake_commit,
                                .sets = r->arguments->sets,
                                .ranks = strake_ranks_count(r->ranks),
                                .first_step = r->result.first_step,
                                .started = r->origin.started};
    return strake_begin_folder(&about, r->which, r->solver, r->folder, r->arguments->resume != NULL,
                               error);
}

/* A job of the first rank that writes outputs. */
static strake_status write_at_first(run *r, strake_status (*job)(run *, strake_error *),
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double begin = strake_clock_seconds();
    if (!r->begun) {
        STRAKE_TRY(at_first(r, begin_outputs, error));
        r->begun = true;
    }
    STRAKE_TRY(strake_solver_fetch(r->solver, error));
    STRAKE_TRY(at_first(r, job, error));
cleanup:
    r->io_seconds += strake_clock_seconds() - begin;
    return status;
}

static strake_status output_fields(run *r, strake_error *error)
{
    return strake_output_write(&r->output, &r->slabs, error);
}

static strake_status write_fields(run *r, strake_error *error)
{
    return r->writes_fields ? write_at_first(r, output_fields, error) : STRAKE_OK;
}

static strake_status put_checkpoint(run *r, strake_error *error)
{
    const strake_status status = strake_diagnostics_write(&r->diagnostics, error);
    return status == STRAKE_OK
               ? strake_checkpoint_write(r->checkpoint_path, r->which, &r->slabs, error)
               : status;
}

static strake_status write_checkpoint(run *r, strake_error *error)
{
    const strake_status status = write_at_first(r, put_checkpoint, error);
    r->checkpoint_step = status == STRAKE_OK ? strake_step_count(r->solver) : r->checkpoint_step;
    return status;
}

static strake_status take_measures(run *r, strake_error *error)
{
    return strake_diagnostics_measure(&r->diagnostics, error);
}

static strake_status put_diagnostics(run *r, strake_error *error)
{
    return strake_diagnostics_write(&r->diagnostics, error);
}

/* A step of the diagnostics, where one is due. */
static strake_status measure(run *r, strake_error *error)
{
    return strake_batch_has_diagnostics(r->which) ? write_at_first(r, take_measures, error)
                                                  : STRAKE_OK;
}

/* Fields at the step where a run begins: step 0 on request; a resumed step as the first run did. */
static strake_status write_first(run *r, strake_error *error)
{
    const int64_t step = strake_step_count(r->solver);
    const bool due = step > 0 ? strake_output_is_due(r->which, step)
                              : r->which->output_initial || strake_run_is_done(r->which, r->solver);
    return due ? write_fields(r, error) : STRAKE_OK;
}

/* What all ranks go by after a batch. */
static strake_status agree_on_batch(run *r, double *seconds, bool *interrupted, strake_error *error)
{
    r->draws = strake_live_is_due(&r->live);
    return strake_run_agree(r->ranks, seconds, interrupted, &r->draws, error);
}

static strake_status draw_picture(run *r, strake_error *error)
{
    return strake_live_draw(&r->live, &r->slabs, error);
}

/* The first rank draws the state, if it is time to. */
static strake_status show_state(run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (r->draws) {
        STRAKE_TRY(r->ranks != NULL ? strake_remote_parts(r->solver, error)
                                    : strake_solver_fetch(r->solver, error));
        STRAKE_TRY(at_first(r, draw_picture, error));
    }
cleanup:
    return status;
}

static strake_status time_loop(run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool interrupted = false;
    double seconds = 0.0;
    const strake_case *const which = r->which;
    const int64_t sweep = strake_solver_steps_at_once(r->solver);
    int64_t step = strake_step_count(r->solver), batch = sweep;
    strake_run_due due = {.before = strake_time(r->solver)};
    strake_live_begin(&r->live, r->arguments->view && is_first(r), which, r->solver);
    strake_progress_begin(&r->progress, r->arguments->quiet || r->live.on || !is_first(r), step,
                          which->steps, strake_case_cells(which));
    STRAKE_TRY(write_first(r, error));
    if (step == 0 || strake_batch_is_due(which->diagnostics_every, 0.0, step, 0.0, 0.0)) {
        STRAKE_TRY(measure(r, error));
    }
    STRAKE_TRY(agree_on_batch(r, &seconds, &interrupted, error));
    while (!strake_run_is_done(which, r->solver) && !interrupted) {
        const int64_t now = strake_batch_steps(which, step, batch);
        const double begin = strake_clock_seconds();
        STRAKE_TRY(strake_run_on(which, r->solver, now, error));
        seconds = strake_clock_seconds() - begin;
        STRAKE_TRY(agree_on_batch(r, &seconds, &interrupted, error));
        batch = strake_batch_next(batch, strake_step_count(r->solver) - step, sweep, seconds);
        step = strake_step_count(r->solver);
        strake_run_look(&due, which, r->solver, seconds);
        STRAKE_TRY(due.diagnostics ? measure(r, error) : STRAKE_OK);
        STRAKE_TRY(due.output ? write_fields(r, error) : STRAKE_OK);
        STRAKE_TRY(due.checkpoint ? write_checkpoint(r, error) : STRAKE_OK);
        STRAKE_TRY(show_state(r, error));
        strake_run_show(&r->progress, which, r->solver);
    }
    r->draws = r->arguments->view;
    STRAKE_TRY(show_state(r, error));
    r->interrupted = !strake_run_is_done(which, r->solver);
    if (r->interrupted && strake_batch_has_checkpoints(which) && r->checkpoint_step != step) {
        STRAKE_TRY(write_checkpoint(r, error));
    }
    if (strake_batch_has_diagnostics(which)) {
        STRAKE_TRY(write_at_first(r, put_diagnostics, error));
    }
cleanup:
    strake_live_end(&r->live);
    strake_progress_clear(&r->progress);
    return status;
}

static strake_status collect(run *r, strake_result_detail detail, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double begin = strake_clock_seconds();
    r->result.setup_seconds = strake_solver_setup_seconds(r->solver);
    STRAKE_TRY(detail == STRAKE_RESULT_TIMES ? STRAKE_OK : strake_solver_fetch(r->solver, error));
    STRAKE_TRY(strake_result_collect(&r->result, r->which, &r->slabs, detail, error));
cleanup:
    r->io_seconds += strake_clock_seconds() - begin;
    r->result.io_seconds = r->io_seconds;
    return status;
}

static strake_status report(run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text json = {0};
    const strake_result_detail detail = r->report.path != NULL ? STRAKE_RESULT_CHECKSUMS
                                        : r->arguments->quiet  ? STRAKE_RESULT_TIMES
                                                               : STRAKE_RESULT_SUMS;
    STRAKE_TRY(collect(r, detail, error));
    if (!r->arguments->quiet) {
        strake_summary_print(&r->result, strake_table_stream(r->report.path));
    }
    if (r->report.path != NULL) {
        strake_report_print(&r->result, &json);
    }
    STRAKE_TRY(strake_report_end(&r->report, &json, error));
cleanup:
    strake_text_free(&json);
    return status;
}

/* From here on a signal ends the program at once; one that came in the last steps counts, too. */
static strake_status end_interrupts(run *r, strake_error *error)
{
    double arrived = strake_interrupt_end() ? 1.0 : 0.0;
    const strake_status status = strake_ranks_most(r->ranks, &arrived, 1, error);
    r->interrupted = r->interrupted || arrived > 0.0;
    return status;
}

static strake_status finish(run *r, strake_error *error)
{
    const strake_status status =
        r->ranks != NULL ? strake_remote_parts(r->solver, error) : STRAKE_OK;
    return status == STRAKE_OK ? at_first(r, report, error) : status;
}

static run *new_run(const strake_arguments *arguments, strake_error *error)
{
    run *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        (void)strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
        return NULL;
    }
    r->arguments = arguments;
    r->origin = (strake_run_origin){.arguments = arguments, .started = strake_clock_date()};
    r->checkpoint_step = -1;
    return r;
}

static void free_run(run *r)
{
    if (r != NULL) {
        strake_output_end(&r->output);
        strake_diagnostics_end(&r->diagnostics);
        strake_checkpoint_close(&r->resumed);
        strake_report_drop(&r->report);
        strake_close(&r->solver);
        strake_case_close(&r->which);
        free(r->checkpoint_path);
        strake_text_free(&r->origin.history);
        strake_slabs_close(&r->slabs);
        strake_ranks_close(&r->ranks);
        free(r);
    }
}

strake_status strake_run_alone(const strake_run_wish *wish, bool *interrupted, strake_error *error)
{
    strake_status status = STRAKE_OK;
    run *const r = new_run(wish->arguments, error);
    *interrupted = false;
    STRAKE_TRY(r != NULL ? STRAKE_OK : STRAKE_ERR_MEMORY);
    r->wish = wish;
    STRAKE_TRY(strake_case_from(wish->arguments, &r->which, error));
    if (!wish->keeps) {
        memset(r->which->output_field, 0, sizeof r->which->output_field);
        r->which->diagnostics_every = r->which->checkpoint_every = 0;
        r->which->diagnostics_seconds = r->which->checkpoint_seconds = 0.0;
        r->which->checkpoint_minutes = 0.0;
    }
    STRAKE_TRY(prepare(r, error));
    r->result.first_step = strake_step_count(r->solver);
    STRAKE_TRY(time_loop(r, error));
    *interrupted = r->interrupted;
    if (!r->interrupted) {
        STRAKE_TRY(collect(r, STRAKE_RESULT_CHECKSUMS, error));
        STRAKE_TRY(wish->done(wish->user, &r->result, r->solver, error));
    }
cleanup:
    free_run(r);
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    int code = STRAKE_EXIT_DONE;
    run *const r = new_run(arguments, error);
    STRAKE_TRY(r != NULL ? STRAKE_OK : STRAKE_ERR_MEMORY);
    STRAKE_TRY(strake_ranks_open(&r->ranks, error));
    status = strake_case_from(arguments, &r->which, error);
    STRAKE_TRY(strake_ranks_agree(r->ranks, status, error));
    STRAKE_TRY(prepare(r, error));
    r->result.first_step = strake_step_count(r->solver);
    strake_interrupt_install();
    STRAKE_TRY(time_loop(r, error));
    STRAKE_TRY(end_interrupts(r, error));
    if (r->interrupted) {
        if (is_first(r)) {
            strake_tell_interrupted(r->arguments, r->which, strake_step_count(r->solver),
                                    strake_time(r->solver), r->checkpoint_path,
                                    strake_ranks_count(r->ranks));
        }
        code = STRAKE_EXIT_INTERRUPTED;
    } else {
        STRAKE_TRY(finish(r, error));
    }
cleanup:
    if (status != STRAKE_OK) {
        code = strake_error_code(error);
        if (r == NULL || strake_ranks_may_tell(r->ranks)) {
            (void)strake_say_error(error);
            if (r != NULL && error->status == STRAKE_ERR_RANK) {
                strake_tell_checkpoint(r->arguments, r->checkpoint_step, r->checkpoint_path,
                                       strake_ranks_count(r->ranks));
            } else if (r != NULL && status == STRAKE_ERR_DEVICE) {
                strake_tell_lost(r->checkpoint_step, r->checkpoint_path);
            }
        }
    }
    free_run(r);
    return code;
}

static const strake_option options[] = {
    STRAKE_OPTIONS_CASE,
    STRAKE_TEXT("--output", output, "DIR",
                "folder of the output files (default: the case's\n`output.directory`, else out)"),
    STRAKE_TEXT("--report", report, "FILE",
                "write what was done, where and how fast, as JSON;\n- is standard output"),
    STRAKE_TEXT("--resume", resume, "FILE", "continue from a checkpoint to the last step"),
    STRAKE_FLAG("--view", view,
                "draw the running field in the terminal, with the parts\nand their rates"),
    STRAKE_FLAG("--quiet", quiet, "no progress, notes and summary"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_run = {
    .name = "run",
    .operands = "CASE.yaml",
    .operands_least = 1,
    .operands_most = 1,
    .text = "Runs a case to its last step and writes its outputs",
    .option = options,
    .details =
        "Fields are written as DIR/FIELD_STEP.npy (NumPy opens them), or as output.formats says: "
        "as\n"
        "NetCDF (fields.nc), for VTK (fields.pvd), as pictures; they are listed in DIR/index.csv.\n"
        "What an earlier run listed there is removed just before the first output; DIR/run.json\n"
        "says what made the files.\n"
        "A case with `checkpoint: {every: N}` keeps DIR/checkpoint.strake; Ctrl-C writes one\n"
        "too and says how to continue. Results do not depend on --on, --split or --threads.\n"
        "Under mpirun the grid is shared among the ranks, each with its own processors: GPUs of\n"
        "a machine are dealt out to its ranks, and --on cpu/ocl:0 gives each rank its own list.\n"
        "run.shares and run.exchange (strake help case) say who gets what, and how.\n"
        "\n" STRAKE_WHERE_HELP,
    .examples = "  strake run cone.yaml\n"
                "  strake run cone.yaml --on cpu --threads 8 --steps 100\n"
                "  strake run cone.yaml --on cpu,ocl:0 --split 1,4 --report cone.json\n"
                "  strake run cone.yaml --set grid.rows=512 --set grid.cols=512 --output small\n"
                "  strake run cone.yaml --resume out/checkpoint.strake\n"
                "  mpirun -np 4 strake run cone.yaml --on gpu\n",
    .run = command,
    .joins_ranks = true};
