/* `strake run`: places a case on processors and drives the time loop with its outputs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune/predict.h"
#include "autotune/tune_case.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "case/source.h"
#include "files/cache.h"
#include "program/options.h"
#include "program/command.h"
#include "program/commit.h"
#include "program/interrupt.h"
#include "program/live.h"
#include "program/progress.h"
#include "program/report_file.h"
#include "program/run_alone.h"
#include "program/run_course.h"
#include "output/checkpoint.h"
#include "output/diagnostics.h"
#include "output/output.h"
#include "program/say.h"
#include "program/scan_trace.h"
#include "program/summary.h"
#include "solver/solver.h"
#include "solver/fields.h"

/** One run and everything that it holds. */
typedef struct strake_run {
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
    strake_run_course course;
    strake_result result;
    strake_report_file report;
    strake_slabs slabs; /* for a part of a field */
    double io_seconds;
    bool interrupted;
    int signal_number; /* of the signal that interrupted any rank, 0: none */
    bool fails_late;   /**< a step after others failed: the run had begun */
    bool begun;        /* has written something */
    bool opening;      /* it reads its case and opens its solver */
    strake_run_origin origin;
    strake_lock owner; /* of the folder; the first rank has it */
} strake_run;

/* The steps of a run, with what is written, drawn and looked at between them. */

/* What is due after a batch of steps: by steps, by simulated time, by the time that it takes. */
typedef struct dues {
    bool diagnostics, output, checkpoint;
    double before;  /* time at which that was looked at last [s] */
    double unsaved; /* seconds since the last checkpoint by every_minutes, as all ranks have it */
} dues;

/** Rank 0, or a lone process: it alone uses files and speaks. */
static bool run_is_first(const strake_run *r)
{
    return strake_ranks_self(r->ranks) == 0;
}

/** Rank 0 does a job that uses fields and files; the others meanwhile give it their slabs. */
static strake_status run_at_first(strake_run *r, strake_status (*job)(strake_run *, strake_error *),
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (r->ranks == NULL) {
        return job(r, error);
    }
    STRAKE_TRY(strake_remote_begin(r->solver, error));
    status = run_is_first(r) ? strake_remote_end(r->solver, job(r, error), error)
                             : strake_remote_serve(r->solver, error);
cleanup:
    return status;
}

/* What an earlier run left goes, and what this one is stands beside its files. */
static strake_status begin_outputs(strake_run *r, strake_error *error)
{
    const strake_about about = {.commit = strake_commit,
                                .sets = r->arguments->sets,
                                .ranks = strake_ranks_count(r->ranks),
                                .first_step = r->result.first_step,
                                .started = r->origin.started,
                                .run = r->origin.id};
    return strake_begin_folder(&about, r->which, r->solver, r->folder, r->arguments->resume != NULL,
                               error);
}

/* A job of the first rank that writes outputs. */
static strake_status write_at_first(strake_run *r,
                                    strake_status (*job)(strake_run *, strake_error *),
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double begin = strake_clock_seconds();
    if (!r->begun) {
        STRAKE_TRY(run_at_first(r, begin_outputs, error));
        r->begun = true;
    }
    STRAKE_TRY(strake_solver_fetch(r->solver, error));
    STRAKE_TRY(run_at_first(r, job, error));
cleanup:
    r->io_seconds += strake_clock_seconds() - begin;
    return status;
}

static strake_run_written written_by(const strake_run *r)
{
    return (strake_run_written){.folder = r->folder,
                                .run = r->origin.id,
                                .output = &r->output,
                                .diagnostics = &r->diagnostics,
                                .has_checkpoint = r->checkpoint_step >= 0};
}

/* Whether the folder is still this run's, with what it wrote. */
static strake_status keep_folder(strake_run *r, strake_error *error)
{
    const strake_run_written written = written_by(r);
    return strake_folder_keep(&r->owner, &written, error);
}

static strake_status look_for_files(strake_run *r, strake_error *error)
{
    const strake_run_written written = written_by(r);
    return strake_folder_complete(&written, error);
}

/* An interrupted run ends as such: what is missing is named beside that. */
static void tell_lost_files(strake_run *r)
{
    strake_error missing = {.text = ""};
    if (look_for_files(r, &missing) != STRAKE_OK) {
        strake_say_warning("%s", missing.text);
    }
}

static strake_status output_fields(strake_run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(keep_folder(r, error));
    STRAKE_TRY(strake_output_write(&r->output, &r->slabs, error));
    STRAKE_TRY(strake_diagnostics_write(&r->diagnostics, error));
cleanup:
    return status;
}

static strake_status write_fields(strake_run *r, strake_error *error)
{
    return r->writes_fields ? write_at_first(r, output_fields, error) : STRAKE_OK;
}

static strake_status put_checkpoint(strake_run *r, strake_error *error)
{
    strake_status status = keep_folder(r, error);
    status = status == STRAKE_OK ? strake_diagnostics_write(&r->diagnostics, error) : status;
    /* A run that goes on from here makes no earlier output again: those are to be there after a loss of power. */
    strake_folder_flush(r->folder);
    return status == STRAKE_OK
               ? strake_checkpoint_write(r->checkpoint_path, r->which, &r->slabs, error)
               : status;
}

static strake_status write_checkpoint(strake_run *r, strake_error *error)
{
    const strake_status status = write_at_first(r, put_checkpoint, error);
    r->checkpoint_step = status == STRAKE_OK ? strake_step_count(r->solver) : r->checkpoint_step;
    return status;
}

static strake_status take_measures(strake_run *r, strake_error *error)
{
    return strake_diagnostics_measure(&r->diagnostics, error);
}

static strake_status put_diagnostics(strake_run *r, strake_error *error)
{
    return strake_diagnostics_write(&r->diagnostics, error);
}

/* A step of the diagnostics, where one is due. */
static strake_status measure(strake_run *r, strake_error *error)
{
    return strake_batch_has_diagnostics(r->which) ? write_at_first(r, take_measures, error)
                                                  : STRAKE_OK;
}

/* Whether there is no further step: the case asks for none, or the problem itself has come to an end. */
static bool is_done(const strake_run *r)
{
    return r->course.is_over || strake_step_count(r->solver) >= r->which->steps ||
           (strake_case_ends_in_time(r->which) && strake_time(r->solver) >= r->which->end);
}

/* Looks again, after some more seconds. */
static void look(dues *due, const strake_run *r, double seconds)
{
    const strake_case *const which = r->which;
    const int64_t step = strake_step_count(r->solver);
    const double time = strake_time(r->solver), most = 60.0 * which->checkpoint_minutes;
    due->unsaved += seconds;
    due->diagnostics = strake_batch_is_due(which->diagnostics_every, which->diagnostics_seconds,
                                           step, due->before, time);
    due->output = is_done(r) || strake_batch_is_due(which->output_every, which->output_seconds,
                                                    step, due->before, time);
    due->checkpoint = strake_batch_is_due(which->checkpoint_every, which->checkpoint_seconds, step,
                                          due->before, time);
    if (most > 0.0 && due->unsaved >= most) {
        due->unsaved = 0.0;
        due->checkpoint = true;
    }
    due->before = time;
}

/* Steps at most @p steps, up to the next time at which something is due. */
static strake_status step_on(strake_run *r, int64_t steps, strake_error *error)
{
    const double until = strake_batch_until(r->which, strake_time(r->solver));
    const strake_status status = until < INFINITY ? strake_advance(r->solver, until, steps, error)
                                                  : strake_step(r->solver, steps, error);
    r->fails_late = status != STRAKE_OK && strake_step_count(r->solver) > r->result.first_step;
    return status;
}

static void show_progress(strake_run *r)
{
    char facts[96];
    const strake_case *const which = r->which;
    const double time = strake_time(r->solver);
    const int64_t step = strake_step_count(r->solver);
    if (!strake_case_ends_in_time(which)) {
        strake_progress_update(&r->progress, step, strake_solver_step_seconds(r->solver));
        return;
    }
    (void)snprintf(facts, sizeof facts, "%.4g of %.4g s, step %lld", time, which->end,
                   (long long)step);
    strake_progress_show(&r->progress, which->end > 0.0 ? time / which->end : 1.0, facts);
}

/* Fields at the step where a run begins: step 0 on request; a resumed step as the first run did. */
static strake_status write_first(strake_run *r, strake_error *error)
{
    const int64_t step = strake_step_count(r->solver);
    const bool due =
        step > 0 ? strake_output_is_due(r->which, step) : r->which->output_initial || is_done(r);
    return due ? write_fields(r, error) : STRAKE_OK;
}

/* What all ranks go by after a batch: the slowest one's seconds, whether any was interrupted or draws. */
static strake_status agree_on_batch(strake_run *r, double *seconds, strake_error *error)
{
    double value[3] = {*seconds, (double)strake_interrupt_number(),
                       strake_live_is_due(&r->live) ? 1.0 : 0.0};
    const strake_status status = strake_ranks_most(r->ranks, value, 3, error);
    *seconds = value[0];
    r->signal_number = (int)value[1];
    r->draws = value[2] > 0.0;
    return status;
}

static strake_status draw_picture(strake_run *r, strake_error *error)
{
    return strake_live_draw(&r->live, &r->slabs, error);
}

/* The first rank draws the state, if it is time to. */
static strake_status show_state(strake_run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (r->draws) {
        STRAKE_TRY(r->ranks != NULL ? strake_remote_parts(r->solver, error)
                                    : strake_solver_fetch(r->solver, error));
        STRAKE_TRY(run_at_first(r, draw_picture, error));
    }
cleanup:
    return status;
}

/** Warns of what makes results worth less, at the present time. @param[in] doubt  NULL: nothing does */
static void run_tell_doubt(const strake_run *r, const char *doubt)
{
    if (doubt != NULL && r->wish == NULL) {
        strake_say_warning("%s: at %.6g s %s", r->which->file, strake_time(r->solver), doubt);
    }
}

static strake_status look_at_course(strake_run *r, strake_error *error)
{
    const char *doubt = NULL;
    const strake_status status =
        strake_run_course_look(&r->course, r->which, r->solver, &doubt, error);
    run_tell_doubt(r, doubt);
    return status;
}

/* Whether the problem itself has come to an end, looked at now and then. */
static strake_status follow_course(strake_run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double over = 0.0;
    if (!strake_run_course_is_due(r->which, strake_step_count(r->solver))) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_solver_fetch(r->solver, error));
    STRAKE_TRY(run_at_first(r, look_at_course, error));
    over = r->course.is_over ? 1.0 : 0.0;
    STRAKE_TRY(strake_ranks_most(r->ranks, &over, 1, error));
    r->course.is_over = over > 0.0;
cleanup:
    return status;
}

/*
 * An interrupted run leaves a checkpoint, also where the case asks for none: batch systems end a run at its time limit.
 * A scan makes an interrupted run anew from its beginning.
 */
static strake_status save_interrupted(strake_run *r, strake_error *error)
{
    strake_error reason = {.text = ""};
    strake_status status = STRAKE_OK;
    const int64_t step = strake_step_count(r->solver);
    const bool wanted = strake_batch_has_checkpoints(r->which) || r->wish == NULL;
    if (!wanted || !r->writes_files || step == r->result.first_step || r->checkpoint_step == step) {
        return STRAKE_OK;
    }
    status = write_checkpoint(r, &reason);
    return status == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, status,
                             "interrupted after step %lld, whose checkpoint is not written: %s",
                             (long long)step, reason.text);
}

/** Steps to the end, or until it is interrupted, with all that is written and drawn on the way. */
static strake_status run_loop(strake_run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds = 0.0;
    const strake_case *const which = r->which;
    const int64_t sweep = strake_solver_steps_at_once(r->solver);
    int64_t step = strake_step_count(r->solver), batch = sweep;
    dues due = {.before = strake_time(r->solver)};
    strake_live_begin(&r->live, r->arguments->view && run_is_first(r), which, r->solver);
    strake_progress_begin(&r->progress, r->arguments->quiet || r->live.on || !run_is_first(r), step,
                          which->steps, strake_case_cells(which));
    STRAKE_TRY(write_first(r, error));
    if (step == 0 || strake_batch_is_due(which->diagnostics_every, 0.0, step, 0.0, 0.0)) {
        STRAKE_TRY(measure(r, error));
    }
    STRAKE_TRY(agree_on_batch(r, &seconds, error));
    STRAKE_TRY(follow_course(r, error));
    while (!is_done(r) && r->signal_number == 0) {
        const int64_t now = strake_batch_steps(which, step, batch);
        const double begin = strake_clock_seconds();
        STRAKE_TRY(step_on(r, now, error));
        seconds = strake_clock_seconds() - begin;
        STRAKE_TRY(agree_on_batch(r, &seconds, error));
        batch = strake_batch_next(batch, strake_step_count(r->solver) - step, sweep, seconds);
        step = strake_step_count(r->solver);
        STRAKE_TRY(follow_course(r, error));
        look(&due, r, seconds);
        STRAKE_TRY(due.diagnostics ? measure(r, error) : STRAKE_OK);
        STRAKE_TRY(due.output ? write_fields(r, error) : STRAKE_OK);
        STRAKE_TRY(due.checkpoint ? write_checkpoint(r, error) : STRAKE_OK);
        STRAKE_TRY(show_state(r, error));
        show_progress(r);
    }
    r->draws = r->arguments->view;
    STRAKE_TRY(show_state(r, error));
    r->interrupted = !is_done(r);
    STRAKE_TRY(r->interrupted ? save_interrupted(r, error) : STRAKE_OK);
    if (r->writes_files && strake_diagnostics_wants(which)) {
        STRAKE_TRY(write_at_first(r, put_diagnostics, error));
    }
    if (r->begun && !r->interrupted) {
        STRAKE_TRY(run_at_first(r, look_for_files, error));
    } else if (r->begun && run_is_first(r)) {
        tell_lost_files(r);
    }
cleanup:
    if (status != STRAKE_OK && r->begun && run_is_first(r)) {
        strake_error ignored; /* what is known up to here is all that explains the failure */
        (void)strake_diagnostics_write(&r->diagnostics, &ignored);
    }
    if (r->begun && run_is_first(r)) {
        strake_folder_flush(r->folder);
    }
    strake_live_end(&r->live);
    strake_progress_clear(&r->progress);
    return status;
}

/* The short tuning of devices of which nothing is known yet. */

/* For all devices together [s]. */
static const double brief_budget = 5.0;

static bool is_unknown(const strake_part_report *part)
{
    return strncmp(part->id, "ocl:", 4) == 0 && part->first < part->end &&
           strcmp(part->tuned, "default") == 0;
}

static bool is_welcome(const strake_arguments *arguments)
{
    char *const folder = strake_cache_folder_or(arguments->cache);
    const bool welcome = !arguments->no_tune && !arguments->quiet && isatty(STDERR_FILENO) != 0 &&
                         folder != NULL && strake_cache_check(folder, NULL) == STRAKE_OK &&
                         strake_folder_check(folder, NULL) == STRAKE_OK;
    free(folder);
    return welcome;
}

/* Whether anything can be tuned for a problem at all. */
static bool has_space(const strake_case *which, const strake_cl_device *device)
{
    const strake_prediction prediction = {.which = which};
    const strake_space_facts facts = strake_facts_of(device, &prediction);
    strake_space *space = NULL;
    if (strake_space_find(which->problem->name, false, &facts, &space, NULL) != STRAKE_OK) {
        return false;
    }
    strake_space_free(&space);
    return true;
}

/* What came out, in one line. */
static void tell_result(const char *where, const strake_problem *problem,
                        const strake_tune_result *result)
{
    const int axes = strake_size_axes(problem);
    const char *const item = problem->has_particles ? "particle" : "cell";
    char grid[STRAKE_GRID_TEXT], settings[900];
    const strake_tuned_class *const class =
        result->record.classes > 0 ? &result->record.class[result->record.classes - 1] : NULL;
    if (class == NULL) {
        strake_say_note("%s: nothing was measured", where);
    } else if (result->in_vain) {
        strake_say_note("%s: the time did not suffice to try anything: the default settings stay "
                        "until `strake tune --on %s`",
                        where, where);
    } else if (class->settings == 0) {
        strake_say_note("%s: of %d configurations on %s %ss the defaults are the fastest", where,
                        class->evaluated, strake_grid_text(axes, class->n, grid), item);
    } else {
        strake_say_note(
            "%s: of %d configurations on %s %ss the fastest has %.2f times the speed "
            "of the defaults: %s",
            where, class->evaluated, strake_grid_text(axes, class->n, grid), item,
            class->fallback / class->seconds,
            strake_settings_text(class->settings, class->setting, settings, sizeof settings));
    }
}

static bool tune_one(const strake_arguments *arguments, const strake_case *which,
                     const strake_part_report *part, const strake_cl_list *list, double budget)
{
    static strake_tune_result result; /* large */
    strake_error error;
    const int d = atoi(part->id + strlen("ocl:"));
    const strake_tuning_request request = {.where = part->id,
                                           .cl = list->cl,
                                           .device = d < list->count ? &list->device[d] : NULL,
                                           .problem = which->problem->name,
                                           .like = which,
                                           .cache = arguments->cache,
                                           .budget = budget};
    if (request.device == NULL || !has_space(which, request.device)) {
        return false;
    }
    strake_say_note("%s (%s) is used for the first time: trying settings for at most %.0f s "
                    "(--no-tune: never; `strake tune` does it thoroughly)",
                    part->id, part->name, budget);
    const strake_status status = strake_tuning_run(&request, &result, &error);
    if (status != STRAKE_OK) {
        strake_say_note("%s stays at the default settings: %s", part->id, error.text);
    }
    if (status == STRAKE_OK) {
        tell_result(part->id, which->problem, &result);
    }
    const bool found = status == STRAKE_OK && result.record.classes > 0;
    strake_tune_end(&result);
    return found;
}

/**
 * Tunes the OpenCL devices of an open solver that use the default settings, for its case, for a few
 * seconds all together. Does nothing with --no-tune or --quiet, without a terminal, or where the cache
 * cannot be written. Whatever goes wrong is a note; the run goes on with the defaults.
 * @return whether there are new results: the solver should be opened again
 */
static bool first_use(const strake_arguments *arguments, const strake_case *which,
                      const strake_solver *solver)
{
    strake_part_report *const part =
        calloc(STRAKE_MAX_PARTS, sizeof *part); /* larger than some stacks */
    strake_cl_list list = {0};
    int unknown = 0;
    bool found = false;
    if (part == NULL) {
        return false;
    }
    const int count = strake_solver_parts(solver, part, STRAKE_MAX_PARTS);
    for (int k = 0; k < count; k++) {
        unknown += is_unknown(&part[k]) ? 1 : 0;
    }
    if (unknown == 0 || !is_welcome(arguments) || strake_cl_list_open(&list, NULL) != STRAKE_OK) {
        free(part);
        return false;
    }
    for (int k = 0; k < count && !strake_interrupted(); k++) {
        if (is_unknown(&part[k])) {
            found = tune_one(arguments, which, &part[k], &list, brief_budget / unknown) || found;
        }
    }
    strake_cl_list_free(&list);
    free(part);
    return found;
}

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
        !strake_case_changes_at(which, header->time) &&
        (header->end < which->end || !strake_case_ends_in_time(which))) {
        strake_say_note("checkpoint %s is at %.10g s, the time.end of its run: its last step was "
                        "cut short to end there and stays so; a run without that end has other "
                        "steps from there on",
                        checkpoint->path, header->time);
    }
}

/* What a run does otherwise than the one that it goes on from, and from when on. */
static void tell_news(const strake_checkpoint *checkpoint, const strake_case *which)
{
    char *const news = strake_checkpoint_news(checkpoint, which);
    if (news != NULL) {
        strake_say_note("checkpoint %s is at %.10g s; new from then on: %s", checkpoint->path,
                        checkpoint->header.time, news);
    }
    free(news);
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
    if (!run_is_first(r)) {
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
    if (status == STRAKE_OK && r->wish == NULL && run_is_first(r)) {
        tell_clipped(&r->resumed, r->which);
        tell_news(&r->resumed, r->which);
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
    if (run_is_first(r)) {
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
    settings.notice = alone ? r->wish->notice : run_is_first(r) ? settings.notice : NULL;
    settings.user = alone ? r->wish->user : NULL;
    settings.compiling = run_is_first(r) && !alone ? settings.compiling : NULL;
    STRAKE_TRY(strake_ranks_agree(r->ranks, look_ahead(r, error), error));
    STRAKE_TRY(strake_open_on(r->which, &settings, r->ranks, alone ? r->wish->batch : NULL,
                              &r->solver, error));
    if (r->ranks == NULL && first_use(r->arguments, r->which, r->solver)) {
        strake_close(&r->solver);
        STRAKE_TRY(strake_open(r->which, &settings, &r->solver, error));
    }
    status = strake_slabs_open(&r->slabs, r->which, r->solver, error);
    STRAKE_TRY(strake_ranks_agree(r->ranks, status, error));
    if (strake_run_course_is_there(r->which)) {
        STRAKE_TRY(run_at_first(r, begin_course, error));
    }
    if (r->arguments->resume != NULL) {
        STRAKE_TRY(run_at_first(r, restore, error));
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
        run_tell_doubt(r, doubt);
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
    return status == STRAKE_OK ? run_at_first(r, report, error) : status;
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

/* Tells once that opening begins, and once that it is over. */
static void tell_opening(strake_run *r, bool begins)
{
    if (r->opening != begins && r->wish->opens != NULL) {
        r->wish->opens(r->wish->user, begins);
    }
    r->opening = begins;
}

strake_status strake_run_alone(const strake_run_wish *wish, bool *interrupted, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int traced[2];
    strake_run *const r = new_run(wish->arguments, error);
    *interrupted = false;
    STRAKE_TRY(r != NULL ? STRAKE_OK : STRAKE_ERR_MEMORY);
    r->wish = wish;
    tell_opening(r, true);
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
    tell_opening(r, false);
    r->result.first_step = strake_step_count(r->solver);
    STRAKE_TRY(run_loop(r, error));
    *interrupted = r->interrupted;
    if (!r->interrupted) {
        STRAKE_TRY(collect(r, STRAKE_RESULT_CHECKSUMS, error));
        STRAKE_TRY(wish->done(wish->user, &r->result, r->solver, error));
    }
cleanup:
    if (r != NULL) {
        tell_opening(r, false);
    }
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
    if (run_is_first(r)) {
        strake_interrupt_tell("strake: interrupted before the first step: there is nothing to "
                              "save; the same command begins again\n");
    }
    STRAKE_TRY(strake_case_input(arguments, r->ranks, error));
    status = strake_case_from(arguments, &r->which, error);
    STRAKE_TRY(strake_ranks_agree(r->ranks, status, error));
    STRAKE_TRY(prepare(r, error));
    r->result.first_step = strake_step_count(r->solver);
    strake_interrupt_install();
    STRAKE_TRY(run_loop(r, error));
    STRAKE_TRY(end_interrupts(r, error));
    if (r->interrupted) {
        if (run_is_first(r)) {
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
        "--resume goes on with what is new from the checkpoint's time on: rates of lava's vents\n"
        "that change at or after it, vents and fissures that open then. A note names it; the\n"
        "bytes are those of a run that had it from the beginning. What was otherwise before is\n"
        "refused by name.\n"
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
