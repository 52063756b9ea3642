/* `strake run`: places a case on processors and drives the time loop with its outputs. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "io/folder.h"
#include "main/case_options.h"
#include "main/command.h"
#include "main/first_use.h"
#include "main/formats.h"
#include "main/interrupt.h"
#include "main/run_impl.h"
#include "main/say.h"
#include "main/scan_trace.h"
#include "main/summary.h"
#include "solver/batch.h"
#include "solver/remote.h"

static void tell_checkpoint(const strake_arguments *arguments, int64_t step, const char *checkpoint,
                            int ranks)
{
    strake_text command = {0};
    if (step >= 0) {
        strake_resume_command(arguments, checkpoint, ranks, &command);
        strake_say("the last checkpoint has step %lld; continue on any number of ranks with: %s",
                   (long long)step, command.failed ? "--resume and the checkpoint" : command.data);
    }
    strake_text_free(&command);
}

static void tell_lost(int64_t step, const char *checkpoint)
{
    if (step >= 0) {
        strake_say_warning(
            "the checkpoint %s of step %lld is complete: --resume continues from it, on "
            "other processors if need be",
            checkpoint, (long long)step);
    }
}

/*
 * After a failure: what is on the disk to go on from, where a rank was lost or a device without which the others
 * could not go on. @param[in] step  of the last checkpoint, -1: there is none
 */
static void tell_failure(const strake_arguments *arguments, strake_status status, int64_t step,
                         const char *checkpoint, int ranks)
{
    if (status == STRAKE_ERR_RANK) {
        tell_checkpoint(arguments, step, checkpoint, ranks);
    } else if (status == STRAKE_ERR_DEVICE) {
        tell_lost(step, checkpoint);
    }
}

/* Where a checkpoint's last step was cut short to end where its run did, and this one goes on. */
static void tell_clipped(const strake_checkpoint *checkpoint, const strake_case *which)
{
    const strake_checkpoint_header *const header = &checkpoint->header;
    if (header->end > 0.0 && header->time == header->end &&
        (header->end < which->end || !strake_case_ends_in_time(which))) {
        strake_say_note("checkpoint %s is at %.10g s, the time.end of its run: its last step was "
                        "cut short to end there and stays so; a run without that end has other "
                        "steps from there on",
                        checkpoint->path, header->time);
    }
}

/* After a signal. */
static void tell_interrupted(const strake_run *r)
{
    const strake_case *const which = r->which;
    const int64_t step = strake_step_count(r->solver);
    const double time = strake_time(r->solver);
    const long long done = step, total = which->steps;
    char steps[80];
    if ((double)total < STRAKE_STEPS_OPEN) {
        (void)strake_number_print(steps, sizeof steps, "step %lld of %lld", done, total);
    } else {
        (void)strake_number_print(steps, sizeof steps, "step %lld, at %.6g of %.6g s", done, time,
                                  which->end);
    }
    if (done == total || (strake_case_ends_in_time(which) && time >= which->end)) {
        strake_say("interrupted after the last step: the outputs are complete, the summary and "
                   "reports are not made");
    } else if (step == r->result.first_step) {
        strake_say("interrupted before the first step: there is nothing to save; the same command "
                   "begins again");
    } else if (r->checkpoint_step == step) {
        strake_text command = {0};
        strake_resume_command(r->arguments, r->checkpoint_path, strake_ranks_count(r->ranks),
                              &command);
        strake_say("interrupted after %s; continue with: %s", steps,
                   command.failed ? "--resume and the checkpoint" : command.data);
        strake_text_free(&command);
    } else {
        strake_say("interrupted after %s; there is no checkpoint to continue from, because the "
                   "run writes no files: a case with `checkpoint: {every: N}` leaves one",
                   steps);
    }
}

/* What can be known to fail is found before the long work begins. */
static strake_status look_ahead(strake_run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t steps = r->which->steps;
    for (int f = 0; f < r->which->problem->fields; f++) {
        r->writes_fields |= r->which->output_field[f] && (r->wish == NULL || r->wish->keeps);
    }
    r->writes_files = r->writes_fields || strake_batch_has_checkpoints(r->which) ||
                      strake_batch_has_diagnostics(r->which);
    r->folder = r->arguments->output != NULL ? r->arguments->output : r->which->output_directory;
    if (!strake_run_is_first(r)) {
        return STRAKE_OK;
    }
    if (r->writes_files) {
        STRAKE_TRY(strake_folder_check(r->folder, error));
        STRAKE_TRY(strake_folder_own(&r->owner, r->folder, error));
        STRAKE_TRY(strake_output_look(r->which, strake_formats, error));
    }
    STRAKE_TRY(strake_report_begin(&r->report, r->arguments->report, error));
    if (r->arguments->resume != NULL) {
        STRAKE_TRY(strake_checkpoint_open(r->arguments->resume, &r->resumed, error));
        STRAKE_TRY(strake_checkpoint_match(&r->resumed, r->which, error));
        STRAKE_TRY(strake_checkpoint_precedes(&r->resumed, r->which, error));
        steps -= r->resumed.header.step;
    }
    STRAKE_TRY(strake_case_check_alone(r->which, steps, error));
cleanup:
    return status;
}

static strake_status restore(strake_run *r, strake_error *error)
{
    const strake_status status = strake_checkpoint_restore(&r->resumed, &r->slabs, error);
    if (status == STRAKE_OK && r->wish == NULL) {
        tell_clipped(&r->resumed, r->which);
    }
    return status;
}

static strake_status begin_course(strake_run *r, strake_error *error)
{
    return strake_run_course_begin(&r->course, r->solver, error);
}

static strake_status begin_files(strake_run *r, int64_t resumed_step, strake_error *error)
{
    strake_status status = STRAKE_OK;
    r->checkpoint_path = strake_path_join(r->folder, STRAKE_CHECKPOINT_NAME);
    STRAKE_CHECK(r->checkpoint_path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (strake_run_is_first(r)) {
        STRAKE_TRY(strake_folder_create(r->folder, error));
        STRAKE_TRY(strake_folder_own(&r->owner, r->folder, error));
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

static strake_status prepare(strake_run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t resumed_step = -1;
    strake_options settings = strake_solver_options(r->arguments);
    const bool alone = r->wish != NULL;
    settings.notice = alone ? r->wish->notice : strake_run_is_first(r) ? settings.notice : NULL;
    settings.user = alone ? r->wish->user : NULL;
    settings.compiling = strake_run_is_first(r) && !alone ? settings.compiling : NULL;
    STRAKE_TRY(strake_ranks_agree(r->ranks, look_ahead(r, error), error));
    STRAKE_TRY(strake_open_on(r->which, &settings, r->ranks, &r->solver, error));
    if (r->ranks == NULL && strake_first_use(r->arguments, r->which, r->solver)) {
        strake_close(&r->solver);
        STRAKE_TRY(strake_open(r->which, &settings, &r->solver, error));
    }
    status = strake_slabs_open(&r->slabs, r->which, r->solver, error);
    STRAKE_TRY(strake_ranks_agree(r->ranks, status, error));
    if (strake_run_course_is_there(r->which)) {
        STRAKE_TRY(strake_run_at_first(r, begin_course, error));
    }
    if (r->arguments->resume != NULL) {
        STRAKE_TRY(strake_run_at_first(r, restore, error));
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

static strake_status collect(strake_run *r, strake_result_detail detail, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double begin = strake_clock_seconds();
    const char *doubt = NULL;
    r->result.setup_seconds = strake_solver_setup_seconds(r->solver);
    STRAKE_TRY(detail == STRAKE_RESULT_TIMES && !strake_run_course_is_there(r->which)
                   ? STRAKE_OK
                   : strake_solver_fetch(r->solver, error));
    if (strake_run_course_is_there(r->which)) {
        STRAKE_TRY(strake_run_course_end(&r->course, r->which, r->solver, &doubt, error));
        strake_run_tell_doubt(r, doubt);
        r->result.course = r->course.now;
    }
    STRAKE_TRY(strake_result_collect(&r->result, r->which, &r->slabs, detail, error));
cleanup:
    r->io_seconds += strake_clock_seconds() - begin;
    r->result.io_seconds = r->io_seconds;
    return status;
}

static strake_status report(strake_run *r, strake_error *error)
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
static strake_status end_interrupts(strake_run *r, strake_error *error)
{
    double number = strake_interrupt_end() ? (double)strake_interrupt_number() : 0.0;
    const strake_status status = strake_ranks_most(r->ranks, &number, 1, error);
    r->signal_number = r->signal_number > 0 ? r->signal_number : (int)number;
    r->interrupted = r->interrupted || r->signal_number > 0;
    return status;
}

static strake_status finish(strake_run *r, strake_error *error)
{
    const strake_status status =
        r->ranks != NULL ? strake_remote_parts(r->solver, error) : STRAKE_OK;
    return status == STRAKE_OK ? strake_run_at_first(r, report, error) : status;
}

static strake_run *new_run(const strake_arguments *arguments, strake_error *error)
{
    strake_run *const r = calloc(1, sizeof *r);
    if (r == NULL) {
        (void)strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
        return NULL;
    }
    r->arguments = arguments;
    r->origin = (strake_run_origin){.arguments = arguments, .started = strake_clock_date()};
    r->checkpoint_step = -1;
    return r;
}

static void free_run(strake_run *r)
{
    if (r != NULL) {
        strake_output_end(&r->output);
        strake_diagnostics_end(&r->diagnostics);
        strake_checkpoint_close(&r->resumed);
        strake_report_drop(&r->report);
        strake_close(&r->solver);
        strake_case_close(&r->which);
        strake_lock_release(&r->owner);
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
    int traced[2];
    strake_run *const r = new_run(wish->arguments, error);
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
    if (wish->traces && strake_scan_trace_is_of(r->which->problem, traced)) {
        r->which->output_field[traced[0]] = r->which->output_field[traced[1]] = true;
    }
    STRAKE_TRY(prepare(r, error));
    r->result.first_step = strake_step_count(r->solver);
    STRAKE_TRY(strake_run_loop(r, error));
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
    strake_run *const r = new_run(arguments, error);
    STRAKE_TRY(r != NULL ? STRAKE_OK : STRAKE_ERR_MEMORY);
    STRAKE_TRY(strake_ranks_open(&r->ranks, error));
    if (strake_run_is_first(r)) {
        strake_interrupt_tell("strake: interrupted before the first step: there is nothing to "
                              "save; the same command begins again\n");
    }
    STRAKE_TRY(strake_case_input(arguments, r->ranks, error));
    status = strake_case_from(arguments, &r->which, error);
    STRAKE_TRY(strake_ranks_agree(r->ranks, status, error));
    STRAKE_TRY(prepare(r, error));
    r->result.first_step = strake_step_count(r->solver);
    strake_interrupt_install();
    STRAKE_TRY(strake_run_loop(r, error));
    STRAKE_TRY(end_interrupts(r, error));
    if (r->interrupted) {
        if (strake_run_is_first(r)) {
            tell_interrupted(r);
        }
        code = strake_interrupt_code(r->signal_number);
    } else {
        STRAKE_TRY(finish(r, error));
    }
cleanup:
    if (status != STRAKE_OK) {
        /* mpirun ends the other ranks where one fails: that is no interruption. */
        strake_interrupt_tell(NULL);
        code = r != NULL && r->fails_late ? STRAKE_EXIT_FAILED : strake_error_code(error);
        if (r == NULL || strake_ranks_may_tell(r->ranks)) {
            (void)strake_say_error(error);
            if (r != NULL) {
                tell_failure(r->arguments, error->status, r->checkpoint_step, r->checkpoint_path,
                             strake_ranks_count(r->ranks));
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
        "- for CASE.yaml reads the case from standard input; files that it names are found from\n"
        "the working directory, and --resume needs the same case there again.\n"
        "Fields are written as DIR/FIELD_STEP.npy (NumPy opens them), or as output.formats says: "
        "as\n"
        "NetCDF (fields.nc), for VTK (fields.pvd), as pictures; they are listed in DIR/index.csv.\n"
        "What an earlier run listed there is removed just before the first output; DIR/run.json\n"
        "says what made the files, and has the id of the run that each line of index.csv names.\n"
        "A folder belongs to one run at a time, also on a network file system that has locks.\n"
        "A case with `checkpoint: {every: N}` keeps DIR/checkpoint.strake. Ctrl-C and SIGTERM,\n"
        "by which batch systems end a job, write one with any case that writes files, and say\n"
        "how to continue; it stays until the next one replaces it, or you remove it. A run that\n"
        "begins anew replaces that of an earlier run in DIR, too, also where it is interrupted\n"
        "soon: keep that one elsewhere, or take another --output.\n"
        "Results do not depend on --on, --split or --threads.\n"
        "Under mpirun the case is shared among the ranks, each with its own processors: GPUs of\n"
        "a machine are dealt out to its ranks, and --on cpu/ocl:0 gives each rank its own list.\n"
        "run.shares and run.exchange (strake help case) say who gets what, and how.\n"
        "\n" STRAKE_WHERE_HELP,
    .examples = "  strake run cone.yaml\n"
                "  strake run cone.yaml --on cpu --threads 8 --steps 100\n"
                "  strake run cone.yaml --on cpu,ocl:0 --split 1,4 --report cone.json\n"
                "  strake run cone.yaml --set grid.rows=512 --set grid.cols=512 --output small\n"
                "  strake run cone.yaml --resume out/checkpoint.strake\n"
                "  strake new mpdata2d | strake run - --steps 10\n"
                "  mpirun -np 4 strake run cone.yaml --on gpu\n",
    .run = command,
    .joins_ranks = true};
