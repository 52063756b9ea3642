/* The steps of a run, with what is written, drawn and looked at between them. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "io/folder.h"
#include "main/commit.h"
#include "main/interrupt.h"
#include "main/run_impl.h"
#include "main/say.h"
#include "solver/batch.h"
#include "solver/remote.h"

/* What is due after a batch of steps: by steps, by simulated time, by the time that it takes. */
typedef struct dues {
    bool diagnostics, output, checkpoint;
    double before;  /* time at which that was looked at last [s] */
    double unsaved; /* seconds since the last checkpoint by every_minutes, as all ranks have it */
} dues;

bool strake_run_is_first(const strake_run *r)
{
    return strake_ranks_self(r->ranks) == 0;
}

strake_status strake_run_at_first(strake_run *r, strake_status (*job)(strake_run *, strake_error *),
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (r->ranks == NULL) {
        return job(r, error);
    }
    STRAKE_TRY(strake_remote_begin(r->solver, error));
    status = strake_run_is_first(r) ? strake_remote_end(r->solver, job(r, error), error)
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
        STRAKE_TRY(strake_run_at_first(r, begin_outputs, error));
        r->begun = true;
    }
    STRAKE_TRY(strake_solver_fetch(r->solver, error));
    STRAKE_TRY(strake_run_at_first(r, job, error));
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
        STRAKE_TRY(strake_run_at_first(r, draw_picture, error));
    }
cleanup:
    return status;
}

void strake_run_tell_doubt(const strake_run *r, const char *doubt)
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
    strake_run_tell_doubt(r, doubt);
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
    STRAKE_TRY(strake_run_at_first(r, look_at_course, error));
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

strake_status strake_run_loop(strake_run *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double seconds = 0.0;
    const strake_case *const which = r->which;
    const int64_t sweep = strake_solver_steps_at_once(r->solver);
    int64_t step = strake_step_count(r->solver), batch = sweep;
    dues due = {.before = strake_time(r->solver)};
    strake_live_begin(&r->live, r->arguments->view && strake_run_is_first(r), which, r->solver);
    strake_progress_begin(&r->progress,
                          r->arguments->quiet || r->live.on || !strake_run_is_first(r), step,
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
        STRAKE_TRY(strake_run_at_first(r, look_for_files, error));
    } else if (r->begun && strake_run_is_first(r)) {
        tell_lost_files(r);
    }
cleanup:
    if (status != STRAKE_OK && r->begun && strake_run_is_first(r)) {
        strake_error ignored; /* what is known up to here is all that explains the failure */
        (void)strake_diagnostics_write(&r->diagnostics, &ignored);
    }
    if (r->begun && strake_run_is_first(r)) {
        strake_folder_flush(r->folder);
    }
    strake_live_end(&r->live);
    strake_progress_clear(&r->progress);
    return status;
}
