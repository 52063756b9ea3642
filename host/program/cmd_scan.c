/* `strake scan`: many runs of one case, in one table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/case.h"
#include "case/features.h"
#include "cpu/machine.h"
#include "files/cache.h"
#include "files/json.h"
#include "program/bench.h"
#include "program/options.h"
#include "program/command.h"
#include "program/compare_footprint.h"
#include "program/interrupt.h"
#include "program/progress.h"
#include "program/report_file.h"
#include "program/say.h"
#include "program/scan_events.h"
#include "program/scan_worker.h"
#include "program/scan_table.h"
#include "program/scan_trace.h"
#include "program/summary.h"
#include "output/output.h"

/* Bytes of files that runs have in common. */
static const uint64_t most_kept = UINT64_C(1) << 30;

/* What runs have in common, and where they differ: the least and the most. */
typedef struct extent {
    double cells[2], steps[2];
    double work, bytes; /* of all that are to be made: cells times steps, and of outputs */
    bool is_open;       /* how many steps there are follows from states */
} extent;

typedef struct scan {
    const strake_arguments *arguments;
    strake_scan_values values;
    strake_scan_job job;
    strake_scan_deal deal;
    strake_scan_table table;
    strake_scan_task *task;
    const strake_problem *problem;
    strake_case *first; /* that could be read */
    double bytes;       /* of the largest run */
    extent extent;
    int64_t wrong, first_wrong; /* cases that cannot be run, and which is the first */
    strake_error why_wrong;
    int threads;     /* that the case asks for, 0: none */
    char where[256]; /* of the first case that says it */
    bool has_split;
    int64_t before, ended,
        failed; /* runs that the table had, that are done now, and failed in all */
    char first_failure[STRAKE_SCAN_TEXT];
    int64_t first_failed;
    strake_progress progress;
    double begin;
    strake_lock kept, mapped; /* of the folders of --keep and --maps */
} scan;

/* --- the plan ------------------------------------------------------------------------------------- */

/* "grid.rows=64 time.dt=0.1" */
static void describe_run(const scan *s, int64_t run, char *text, size_t size)
{
    text[0] = '\0';
    for (int k = 0; k < s->values.axes; k++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%s%s=%s", k > 0 ? " " : "",
                       s->values.axis[k].path, strake_scan_value(&s->values, run, k));
    }
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return strake_fnv1a(hash, text, strlen(text) + 1);
}

/* What the runs need of a case that could be read. */
static void look_at_case(scan *s, const strake_case *which, strake_scan_task *task)
{
    const double cells = strake_case_cells(which), steps = (double)which->steps;
    extent *const e = &s->extent;
    const bool is_first = s->problem == NULL;
    e->cells[0] = is_first ? cells : fmin(e->cells[0], cells);
    e->cells[1] = fmax(e->cells[1], cells);
    e->steps[0] = is_first ? steps : fmin(e->steps[0], steps);
    e->steps[1] = fmax(e->steps[1], steps);
    e->is_open = e->is_open || strake_case_ends_in_time(which);
    task->work = strake_scan_work(which);
    task->order.like =
        hash_text(strake_fnv1a(STRAKE_FNV_SEED, which->n, sizeof which->n), which->problem->name) ^
        (uint64_t)which->precision;
    s->bytes = fmax(s->bytes, strake_scan_bytes(which));
    s->has_split = s->has_split || which->run.split != NULL;
    s->threads = which->run.threads > s->threads ? which->run.threads : s->threads;
    if (s->problem == NULL && which->run.on != NULL) {
        (void)snprintf(s->where, sizeof s->where, "%s", which->run.on);
    }
}

/* Whether tables of runs have the same columns: a case with names of its own has a copy of its problem. */
static bool is_alike(const strake_problem *one, const strake_problem *other)
{
    bool is = strcmp(one->name, other->name) == 0 && one->fields == other->fields;
    for (int f = 0; is && f < one->fields; f++) {
        is = strcmp(one->field[f].name, other->field[f].name) == 0;
    }
    return is;
}

/* A case that cannot be read fails later, as its run. */
static void note_wrong(scan *s, int64_t run, const strake_error *why)
{
    if (s->wrong++ == 0) {
        s->first_wrong = run;
        s->why_wrong = *why;
    }
}

/* A run's id and work. */
static strake_status plan_run(scan *s, int64_t run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error reason;
    strake_case *which = NULL;
    strake_scan_task *const task = &s->task[run];
    strake_arguments arguments = *s->arguments;
    char **const sets = strake_scan_sets(&s->job, run);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    arguments.sets = (const char **)(void *)sets;
    arguments.set_count += strake_scan_set_count(&s->values);
    task->order.run = run;
    if (strake_case_from(&arguments, &which, &reason) == STRAKE_OK) {
        look_at_case(s, which, task);
        s->first = s->first == NULL ? which : s->first;
        s->problem = s->first->problem;
        STRAKE_CHECK(is_alike(s->problem, which->problem), error, STRAKE_ERR_USAGE,
                     "a scan is over runs of one problem and one list of fields, not of %s and %s "
                     "with others: its table has the columns of one",
                     s->problem->name, which->problem->name);
        task->order.id = hash_text(STRAKE_FNV_SEED, which->text);
        STRAKE_TRY(strake_scan_maps_check_case(&s->job, s->first, which, error));
    } else {
        note_wrong(s, run, &reason);
    }
    for (int k = 0; sets[k] != NULL; k++) {
        task->order.id = hash_text(task->order.id, sets[k]);
    }
    task->order.id ^= (uint64_t)s->arguments->steps;
    if (s->values.classes > 0) { /* its line names it */
        task->order.id = hash_text(task->order.id, strake_scan_value(&s->values, run, 0));
    }
    if (s->job.mapped != NULL) {
        task->order.id = hash_text(task->order.id, s->job.mapped);
        task->order.id = strake_fnv1a(task->order.id, &s->job.threshold, sizeof(double));
    }
    s->table.row[run].id = task->order.id;
cleanup:
    if (which != s->first) {
        strake_case_close(&which);
    }
    strake_scan_sets_free(&s->job, sets);
    return status;
}

/* The case knows which keys take integers: where it refuses a drawn value for that, the key's are drawn as integers. */
static strake_status draw_integers(scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int turn = 0; turn < s->values.axes; turn++) {
        strake_error reason;
        strake_case *which = NULL;
        strake_scan_axis *refused = NULL;
        strake_arguments arguments = *s->arguments;
        char **const sets = strake_scan_sets(&s->job, 0);
        STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
        arguments.sets = (const char **)(void *)sets;
        arguments.set_count += strake_scan_set_count(&s->values);
        const bool is_read = strake_case_from(&arguments, &which, &reason) == STRAKE_OK;
        for (int k = 0; k < s->values.axes && !is_read; k++) {
            strake_scan_axis *const axis = &s->values.axis[k];
            if (axis->is_random && strstr(reason.text, "expected an integer") != NULL &&
                strstr(reason.text, sets[s->arguments->set_count + k]) != NULL) {
                refused = axis;
            }
        }
        strake_scan_sets_free(&s->job, sets);
        strake_case_close(&which);
        if (refused == NULL) {
            break;
        }
        STRAKE_TRY(strake_scan_axis_draw_integers(refused, error));
    }
cleanup:
    return status;
}

static strake_status plan_runs(scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    s->task = calloc((size_t)s->values.runs, sizeof *s->task);
    s->table.row = calloc((size_t)s->values.runs, sizeof *s->table.row);
    STRAKE_CHECK(s->task != NULL && s->table.row != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a scan");
    s->table.rows = s->values.runs;
    for (int64_t run = 0; run < s->values.runs; run++) {
        STRAKE_TRY(plan_run(s, run, error));
    }
    if (s->problem == NULL) {
        *error = s->why_wrong; /* it is the same for all, or as bad */
        return error->status;
    }
cleanup:
    return status;
}

/* A run that ends before its eruption has less lava than the class says. */
static void warn_of_ends(const scan *s)
{
    for (int k = 0; k < s->values.classes; k++) {
        const strake_scan_class *const c = &s->values.one_class[k];
        const double end = c->end != NULL ? strake_number_read(c->end, NULL) : s->first->end;
        if (end < c->duration) {
            strake_say_warning("runs of class %s end at %.15g s, before their eruption does at "
                               "%.15g s: a column end of --classes, or time.end, says when",
                               c->name, end, c->duration);
        }
    }
}

/* Whether something asks for runs one after the other: their speeds are compared, or a split is given. */
static bool is_one_by_one(const scan *s)
{
    bool compares = false;
    for (int k = 0; k < s->values.axes; k++) {
        compares = compares || strncmp(s->values.axis[k].path, "run.", 4) == 0;
    }
    return compares || s->arguments->jobs == 1 || s->arguments->split != NULL || s->has_split;
}

static void plan_deal(scan *s)
{
    strake_scan_deal *const deal = &s->deal;
    deal->job = &s->job;
    deal->tasks = s->values.runs;
    deal->task = s->task;
    deal->one_by_one = is_one_by_one(s);
    deal->where = s->arguments->on != NULL ? s->arguments->on : s->where;
    strake_scan_deal_share(deal, s->values.runs - s->before, s->bytes, s->threads);
    for (int64_t k = 0; k < s->values.runs; k++) {
        s->task[k].order.like =
            deal->one_by_one && strcmp(deal->where, "auto") == 0 ? s->task[k].order.like : 0;
    }
}

/* --- while it goes on ----------------------------------------------------------------------------- */

static strake_status take_answer(void *user, const strake_scan_answer *answer, strake_error *error)
{
    scan *const s = user;
    const bool failed = answer->status != STRAKE_OK;
    if (failed && s->first_failure[0] == '\0') {
        (void)snprintf(s->first_failure, sizeof s->first_failure, "%s", answer->text);
        s->first_failed = answer->run;
    }
    s->ended++;
    s->failed += failed ? 1 : 0;
    return strake_scan_table_put(&s->table, &s->job, answer, error);
}

static strake_status tick(void *user, int busy, strake_error *error)
{
    scan *const s = user;
    char facts[120];
    const double done = (double)(s->before + s->ended), all = (double)s->values.runs;
    const double seconds = strake_clock_seconds() - s->begin;
    const double left = s->ended > 0 ? seconds / (double)s->ended * (all - done) : 0.0;
    (void)snprintf(facts, sizeof facts, "%lld of %lld runs, %lld failed, %d at a time",
                   (long long)done, (long long)all, (long long)s->failed, busy);
    if (s->ended > 0) {
        (void)snprintf(facts + strlen(facts), sizeof facts - strlen(facts), ", %.0f s left", left);
    }
    if (!s->arguments->quiet) {
        strake_progress_show(&s->progress, done / all, facts);
    }
    return strake_scan_table_write(&s->table, false, error);
}

/* --- the command ---------------------------------------------------------------------------------- */

/* What the table has already; @return whether that is all. */
static bool count_rows(scan *s)
{
    for (int64_t k = 0; k < s->values.runs; k++) {
        s->task[k].done = s->table.row[k].text != NULL;
        s->before += s->task[k].done ? 1 : 0;
        s->failed += s->table.row[k].failed ? 1 : 0;
    }
    return s->before == s->values.runs;
}

/* Vents of a file; points of a map lie in the grid of the case, which is read without its own vents. */
static strake_status add_vents(scan *s, strake_scan_draws *draws, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_vents vents = {0};
    strake_case *which = NULL;
    const char *const path = s->arguments->vents;
    strake_arguments arguments = *s->arguments;
    const int count = arguments.set_count;
    const char **const sets = calloc((size_t)count + 3, sizeof *sets);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    memcpy(sets, arguments.sets, (size_t)count * sizeof *sets);
    sets[arguments.set_count++] = "vents=[]";
    arguments.sets = sets;
    if (strake_features_are_in(path)) {
        STRAKE_TRY(strake_case_from(&arguments, &which, error));
    }
    STRAKE_TRY(strake_scan_vents_read(path, which, &vents, error));
    STRAKE_TRY(strake_scan_vents_add(&vents, draws, &s->values, error));
cleanup:
    free(sets);
    strake_case_close(&which);
    strake_scan_vents_free(&vents);
    return status;
}

static strake_status prepare(scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = s->arguments;
    strake_scan_draws draws = {.count = arguments->draws,
                               .seed = arguments->seed >= 0 ? (uint64_t)arguments->seed : 1,
                               .is_latin = arguments->sampling != NULL &&
                                           strcmp(arguments->sampling, "lhs") == 0};
    STRAKE_CHECK(arguments->over_count > 0 || arguments->vents != NULL ||
                     arguments->classes != NULL,
                 error, STRAKE_ERR_USAGE,
                 "a scan needs --over PATH=VALUES at least once, for example --over "
                 "scheme.iterations=1,2,3");
    s->job = (strake_scan_job){.arguments = arguments,
                               .values = &s->values,
                               .keep = arguments->keep,
                               .maps = arguments->maps,
                               .mapped = arguments->mapped,
                               .threshold = isnan(arguments->threshold) ? STRAKE_USUAL_THRESHOLD
                                                                        : arguments->threshold};
    s->table.path = arguments->table != NULL ? arguments->table : "scan.csv";
    (void)snprintf(s->where, sizeof s->where, "auto");
    STRAKE_CHECK(
        arguments->sampling == NULL || strcmp(arguments->sampling, "random") == 0 || draws.is_latin,
        error, STRAKE_ERR_USAGE,
        "option --sampling: '%s' is no way to draw; expected random or lhs", arguments->sampling);
    STRAKE_CHECK(arguments->draws > 0 || (arguments->sampling == NULL && arguments->seed < 0),
                 error, STRAKE_ERR_USAGE, "option %s: goes with --draws N",
                 arguments->sampling != NULL ? "--sampling" : "--seed");
    STRAKE_TRY(arguments->classes != NULL
                   ? strake_scan_classes_read(arguments->classes, &draws, &s->values, error)
                   : STRAKE_OK);
    STRAKE_TRY(arguments->vents != NULL ? add_vents(s, &draws, error) : STRAKE_OK);
    STRAKE_TRY(strake_scan_values_read(arguments->overs, &draws, &s->values, error));
    STRAKE_TRY(strake_scan_weights_read(arguments->weights, &s->values, error));
    STRAKE_TRY(strake_scan_maps_check_options(arguments, error));
    strake_asc_keep(most_kept);
    STRAKE_TRY(draw_integers(s, error));
    STRAKE_TRY(plan_runs(s, error));
    warn_of_ends(s);
    strake_scan_table_head(&s->table, &s->job, s->problem);
    STRAKE_CHECK(!s->table.header.failed, error, STRAKE_ERR_MEMORY, "out of memory for the table");
    STRAKE_TRY(strake_scan_table_read(&s->table, arguments->keep != NULL, error));
cleanup:
    return status;
}

/* Makes the folders of --keep and --maps, of which this scan is then the owner, and looks what there is for maps. */
static strake_status own_folders(scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = s->arguments;
    char *runs = NULL;
    if (arguments->keep != NULL) {
        STRAKE_TRY(strake_folder_create(arguments->keep, error));
        STRAKE_TRY(strake_folder_own(&s->kept, arguments->keep, error));
    }
    if (arguments->maps != NULL) {
        runs = strake_path_join(arguments->maps, "runs");
        STRAKE_CHECK(runs != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
        STRAKE_TRY(strake_folder_create(runs, error));
    }
    STRAKE_TRY(strake_scan_maps_find(&s->job, &s->table, error));
    if (arguments->maps != NULL && !strake_folder_is_own(&s->kept, arguments->maps)) {
        STRAKE_TRY(strake_folder_own(&s->mapped, arguments->maps, error));
    }
cleanup:
    free(runs);
    return status;
}

static void tell_end(const scan *s)
{
    const int64_t done = s->before + s->ended;
    char run[600];
    if (strake_interrupted() && done < s->values.runs) {
        strake_say("interrupted after %lld of %lld runs, which are in %s; the same command goes on "
                   "from there",
                   (long long)done, (long long)s->values.runs, s->table.path);
    } else if (!s->arguments->quiet && !s->arguments->is_fit) {
        (void)printf("%s: %lld run%s, %lld failed; %.2f s, %d at a time", s->table.path,
                     (long long)s->values.runs, s->values.runs == 1 ? "" : "s",
                     (long long)s->failed, strake_clock_seconds() - s->begin, s->deal.busiest);
        if (s->before > 0) {
            (void)printf("; %lld were there already", (long long)s->before);
        }
        (void)putchar('\n');
    }
    if (s->first_failure[0] != '\0') {
        describe_run(s, s->first_failed, run, sizeof run);
        strake_say("run %lld failed (%s): %s%s", (long long)s->first_failed + 1, run,
                   s->first_failure, s->failed > 1 ? "; others, too: see the table" : "");
    }
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    int code = STRAKE_EXIT_DONE;
    scan s = {.arguments = arguments, .begin = strake_clock_seconds()};
    STRAKE_TRY(prepare(&s, error));
    STRAKE_TRY(own_folders(&s, error));
    if (count_rows(&s)) {
        if (!arguments->quiet && !arguments->is_fit) {
            (void)printf("%s is complete already: %lld run%s, %lld failed; a run whose line is "
                         "removed is made again\n",
                         s.table.path, (long long)s.before, s.before == 1 ? "" : "s",
                         (long long)s.failed);
        }
        code = s.failed > 0 ? STRAKE_EXIT_FAILED : STRAKE_EXIT_DONE;
        STRAKE_TRY(strake_scan_maps_write(&s.job, &s.table, s.first, error));
        goto cleanup;
    }
    /* Where it cannot be written that is known now. */
    STRAKE_TRY(strake_scan_table_write(&s.table, true, error));
    plan_deal(&s);
    s.deal.ended = take_answer;
    s.deal.tick = tick;
    s.deal.user = &s;
    strake_interrupt_install();
    strake_progress_begin(&s.progress, arguments->quiet, 0, s.values.runs, 0.0);
    status = strake_scan_deal_all(&s.deal, error);
    strake_progress_clear(&s.progress);
    STRAKE_TRY(status);
    STRAKE_TRY(strake_scan_table_write(&s.table, true, error));
    tell_end(&s);
    code = s.failed > 0 ? STRAKE_EXIT_FAILED : STRAKE_EXIT_DONE;
    if (strake_interrupted() && s.before + s.ended < s.values.runs) {
        code = strake_interrupt_code(strake_interrupt_number());
    } else {
        STRAKE_TRY(strake_scan_maps_write(&s.job, &s.table, s.first, error));
    }
cleanup:
    if (status != STRAKE_OK) {
        (void)(s.table.is_new && strake_scan_table_write(&s.table, true, NULL) != STRAKE_OK);
        code = strake_say_error(error);
    }
    strake_lock_release(&s.kept);
    strake_lock_release(&s.mapped);
    strake_scan_values_free(&s.values);
    strake_scan_table_free(&s.table);
    strake_case_close(&s.first);
    free(s.task);
    return code;
}

/* --- `strake check` of a scan --------------------------------------------------------------------- */

/* Cells of which the fields are made to see whether they can be run: of all runs, or of some that lie evenly. */
static const double most_tried = 2e8;

/* Numbers of a cell that a run leaves for maps, and maps. */
enum { TRACED = 2, MAPS = 4 };

/* Steps of the first trial of a batch, and seconds that the second one shall take. */
enum { TRIAL_STEPS = 64 };
static const double trial_seconds = 0.5;

/* A processor, or a device, as far as a scan goes. */
typedef struct place {
    char where[16], name[40];
    int most, threads; /* runs at a time, and threads of each; of a device 0 */
    double has, needs; /* memory of a device, for so many runs [bytes] */
    double rate,
        setup;     /* of so many runs together [1/s], before their first step [s]; NaN: not known */
    char why[256]; /* it is not */
} place;

typedef struct scan_check {
    scan *s;
    strake_case *first;
    int64_t left, tried;
    double table, traces, maps, keep; /* bytes of files */
    double memory;                    /* of the host, for the runs at a time [bytes] */
    int places;
    place place[STRAKE_MOST_PLACES + 1];
    double seconds,
        most; /* of all runs, and where only the fastest place makes any; NaN: not known */
} scan_check;

/* Devices of a scan, as a process tells that has gone with its drivers. */
typedef struct scan_devices {
    strake_status status;
    strake_places places;
    double memory[STRAKE_MOST_PLACES];
    char name[STRAKE_MOST_PLACES][40];
    char text[600];
} scan_devices;

bool strake_scan_is_asked(const strake_arguments *a)
{
    return a->over_count > 0 || a->weight_count > 0 || a->vents != NULL || a->classes != NULL ||
           !isnan(a->eruptions) || a->draws > 0 || a->seed >= 0 || a->sampling != NULL ||
           a->table != NULL || a->keep != NULL || a->maps != NULL || a->mapped != NULL ||
           !isnan(a->threshold) || a->jobs > 0 || a->members > 0;
}

/* The case of a run, as `strake scan` gives it to the run. */
static strake_status open_run(const scan *s, int64_t run, strake_case **out, strake_error *error)
{
    strake_arguments arguments = *s->arguments;
    char **const sets = strake_scan_sets(&s->job, run);
    if (sets == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    }
    arguments.sets = (const char **)(void *)sets;
    arguments.set_count += strake_scan_set_count(&s->values);
    const strake_status status = strake_case_from(&arguments, out, error);
    strake_scan_sets_free(&s->job, sets);
    return status;
}

/* What a process found out that made the fields of runs. */
typedef struct tried {
    int64_t runs, wrong, first;
    double bytes; /* of outputs */
    strake_error why;
} tried;

/* Makes the fields of a run without any step: what is wrong in them no case alone tells. */
static strake_status try_run(const scan *s, int64_t run, tried *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    const strake_options settings = {.where = "serial"};
    STRAKE_TRY(open_run(s, run, &which, error));
    free(which->run.split);
    which->run.split = NULL;
    STRAKE_TRY(s->job.keep != NULL ? strake_output_look(which, strake_formats, error) : STRAKE_OK);
    STRAKE_TRY(strake_case_check_alone(which, which->steps, error));
    STRAKE_TRY(strake_open(which, &settings, &solver, error));
    out->bytes += strake_output_bytes(which, solver, 0);
    out->runs++;
cleanup:
    strake_close(&solver);
    strake_case_close(&which);
    return status;
}

/* In a process of its own: threads of a solver do not outlive that others, which make runs, are started. */
static void try_runs(const void *given, int to)
{
    const scan *const s = given;
    const double cells = s->extent.cells[1] * (double)s->values.runs;
    const int64_t stride = cells > most_tried ? (int64_t)ceil(cells / most_tried) : 1;
    tried out = {.runs = 0};
    for (int64_t run = 0; run < s->values.runs; run += stride) {
        strake_error why;
        if (s->task[run].work > 0.0 && try_run(s, run, &out, &why) != STRAKE_OK &&
            out.wrong++ == 0) {
            out.first = run;
            out.why = why;
        }
    }
    (void)strake_file_write_all(to, &out, sizeof out);
}

_Static_assert(sizeof(tried) <= 4096, "what a process tells comes as a whole");

/* Whether all runs could be made; the first one that could not is the error. */
static strake_status try_all(scan_check *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    scan *const s = c->s;
    tried out;
    char run[600];
    STRAKE_TRY(strake_scan_apart(try_runs, s, &out, sizeof out, error));
    if (out.wrong > 0 && (s->wrong == 0 || out.first < s->first_wrong)) {
        s->first_wrong = out.first;
        s->why_wrong = out.why;
    }
    s->wrong += out.wrong;
    c->tried = out.runs;
    c->keep = out.runs > 0 ? out.bytes / (double)out.runs : 0.0;
    if (s->wrong > 0) {
        describe_run(s, s->first_wrong, run, sizeof run);
        status = strake_fail(error, s->why_wrong.status, "run %lld of %lld (%s): %s%s",
                             (long long)s->first_wrong + 1, (long long)s->values.runs, run,
                             s->why_wrong.text, s->wrong > 1 ? "; others are wrong, too" : "");
    }
cleanup:
    return status;
}

/* Places of files, at most. */
static void add_files(scan_check *c)
{
    const scan *const s = c->s;
    const strake_problem *const problem = s->problem;
    const double runs = (double)s->values.runs, cells = s->extent.cells[1];
    double line = 90.0; /* run, state, where, steps, times, id */
    int formats = 0;
    for (int k = 0; k < s->values.axes; k++) {
        line += (double)strlen(strake_scan_value(&s->values, 0, k)) + 1.0;
    }
    for (int f = 0; f < problem->fields; f++) {
        line += strake_scan_has_column(&problem->field[f]) ? 4.0 * 20.0 + 17.0 : 0.0;
    }
    c->table = runs * (line + 20.0 * problem->quantities);
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        formats += c->first->output_format[k] && k != STRAKE_FORMAT_PNG ? 1 : 0;
    }
    c->traces = s->job.maps != NULL ? 8.0 * runs * TRACED * cells : 0.0;
    c->maps = s->job.maps != NULL ? 8.0 * formats * MAPS * cells : 0.0;
    c->keep = s->job.keep != NULL ? c->keep * runs : 0.0;
}

static void find_devices(const void *given, int to)
{
    strake_cl_list list = {0};
    strake_error error = {.text = ""};
    scan_devices out = {.status = strake_cl_list_open(&list, &error)};
    if (out.status == STRAKE_OK) {
        out.status =
            strake_places_find(given, &list, "is no place for a scan", &out.places, &error);
    }
    for (int k = 0; out.status == STRAKE_OK && k < out.places.devices; k++) {
        const strake_cl_device *const device = &list.device[out.places.device[k]];
        out.memory[k] = (double)device->global_memory;
        (void)snprintf(out.name[k], sizeof out.name[k], "%.39s", device->name);
    }
    (void)snprintf(out.text, sizeof out.text, "%.599s", error.text);
    (void)strake_file_write_all(to, &out, sizeof out);
}

_Static_assert(sizeof(scan_devices) <= 4096, "what a process tells comes as a whole");

/* Where runs are made, and how many at a time. */
static strake_status find_places(scan_check *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scan_deal *const deal = &c->s->deal;
    const bool is_auto = strcmp(deal->where, "auto") == 0;
    scan_devices *const found = calloc(1, sizeof *found);
    strake_machine machine;
    STRAKE_CHECK(found != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    strake_machine_read(&machine);
    if (strcmp(deal->where, "cpu") == 0 || strcmp(deal->where, "serial") == 0) {
        found->places.cpu = true;
    } else {
        STRAKE_TRY(strake_scan_apart(find_devices, is_auto ? "hybrid" : deal->where, found,
                                     sizeof *found, error));
        STRAKE_CHECK(found->status == STRAKE_OK, error, found->status, "%s", found->text);
    }
    if (found->places.cpu) {
        place *const p = &c->place[c->places++];
        *p = (place){.most = deal->jobs, .threads = deal->threads, .rate = NAN, .setup = NAN};
        (void)snprintf(p->where, sizeof p->where, "%s",
                       strcmp(deal->where, "serial") == 0 ? "serial" : "cpu");
        (void)snprintf(p->name, sizeof p->name, "%.39s", machine.cpu);
    }
    for (int k = 0; k < found->places.devices && k < c->left; k++) {
        place *const p = &c->place[c->places++];
        *p = (place){.most = deal->members, .has = found->memory[k], .rate = NAN, .setup = NAN};
        (void)snprintf(p->where, sizeof p->where, "ocl:%d", found->places.device[k]);
        (void)snprintf(p->name, sizeof p->name, "%s", found->name[k]);
        /* What a batch has, and windows of its members have again (opencl/cl_batch.h). */
        p->needs = 2.0 * p->most * strake_case_bytes(c->first);
    }
    for (int k = 0; k < c->places; k++) {
        c->memory += c->place[k].most * strake_scan_bytes(c->first);
    }
cleanup:
    free(found);
    return status;
}

/* The rate of as many equal runs as a place makes at a time, dealt out as the scan does it. */
static strake_status try_place(scan_check *c, place *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_arguments arguments = *c->s->arguments;
    char **const sets = strake_scan_sets(&c->s->job, 0);
    const strake_bench_members members = {.counts = 1, .count = {p->most}};
    const strake_bench_options options = {.is_warm = true};
    strake_bench *const bench = calloc(1, sizeof *bench);
    bool stopped = false;
    STRAKE_CHECK(sets != NULL && bench != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    arguments.sets = (const char **)(void *)sets;
    arguments.set_count += strake_scan_set_count(&c->s->values);
    arguments.steps = c->first->steps < TRIAL_STEPS ? c->first->steps : TRIAL_STEPS;
    *bench = (strake_bench){.which = c->first, .repeats = 1};
    STRAKE_TRY(strake_bench_add(bench, p->where, error));
    for (int turn = 0; turn < 2 && !stopped; turn++) {
        const strake_bench_batch *batch = NULL;
        STRAKE_TRY(
            strake_bench_members_measure(bench, &members, &arguments, &options, &stopped, error));
        strake_bench_derive_batches(bench);
        batch = &bench->batch[0];
        if (batch->status != STRAKE_OK || stopped) {
            (void)snprintf(p->why, sizeof p->why, "%.255s", batch->why);
            break;
        }
        /* The first trial, which is not yet warm, says how many steps the second one makes. */
        const double steps = trial_seconds / batch->seconds[0] * (double)arguments.steps;
        arguments.steps = (int64_t)fmin((double)c->first->steps, fmax(steps, TRIAL_STEPS));
        p->rate = batch->rate.median;
        p->setup = batch->setup_seconds;
        bench->batches = 0;
        free(bench->batch);
        bench->batch = NULL;
    }
cleanup:
    if (bench != NULL) {
        strake_bench_free(bench);
    }
    free(bench);
    strake_scan_sets_free(&c->s->job, sets);
    return status;
}

/* How long it takes, where steps are known. */
static strake_status predict(scan_check *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const extent *const e = &c->s->extent;
    double together = 0.0, fastest = 0.0, setup = 0.0;
    c->seconds = c->most = NAN;
    if (e->is_open || c->s->deal.one_by_one || c->left == 0) {
        goto cleanup;
    }
    for (int k = 0; k < c->places && !strake_interrupted(); k++) {
        place *const p = &c->place[k];
        STRAKE_TRY(try_place(c, p, error));
        together += isnan(p->rate) ? 0.0 : p->rate;
        fastest = fmax(fastest, p->rate);
        setup = fmax(setup, p->setup);
    }
    if (fastest > 0.0) {
        c->seconds = setup + e->work / together;
        c->most = setup + e->work / fastest;
    }
cleanup:
    return status;
}

/* "4096", or "4096 to 16384" where runs differ. */
static const char *span_text(const double span[2], const char *format, char text[80])
{
    char least[32], most[32];
    (void)snprintf(least, sizeof least, format, span[0]);
    (void)snprintf(most, sizeof most, format, span[1]);
    (void)snprintf(text, 80, "%s%s%s", least, span[1] > span[0] ? " to " : "",
                   span[1] > span[0] ? most : "");
    return text;
}

static void print_places(const scan_check *c, FILE *stream)
{
    char text[32], other[32];
    (void)fprintf(stream, "\n%-8s %-30s %6s %7s  %-21s %s\n", "where", "device", "runs", "threads",
                  "memory", "rate");
    for (int k = 0; k < c->places; k++) {
        const place *const p = &c->place[k];
        char memory[80] = "-", threads[16] = "-";
        if (p->has > 0.0) {
            (void)snprintf(memory, sizeof memory, "%s of %s", strake_size_text(p->needs, text),
                           strake_size_text(p->has, other));
        }
        if (p->threads > 0) {
            (void)snprintf(threads, sizeof threads, "%d", p->threads);
        }
        (void)fprintf(stream, "%-8.15s %-30.30s %6d %7s  %-21s %s\n", p->where, p->name, p->most,
                      threads, memory,
                      isnan(p->rate) ? "-" : strake_rate_text_of(c->s->problem, p->rate, text));
        if (p->why[0] != '\0') {
            (void)fprintf(stream, "         (no rate: %s)\n", p->why);
        }
    }
}

static void print_forecast(const scan_check *c, FILE *stream)
{
    const scan *const s = c->s;
    const bool is_mixed = c->most > 1.005 * c->seconds;
    (void)fprintf(stream, "\nprediction ");
    if (c->left == 0) {
        (void)fprintf(stream, "nothing is left to be run\n");
    } else if (!isnan(c->seconds)) {
        (void)fprintf(stream,
                      "about %.3g s, from trial steps of as many runs as stand side by side",
                      c->seconds);
        (void)fprintf(stream,
                      is_mixed ? ";\n           %.3g s where only the fastest place makes any\n"
                               : "\n",
                      c->most);
    } else if (s->extent.is_open) {
        (void)fprintf(stream, "unknown: how many steps a run makes follows from its states\n");
    } else if (s->deal.one_by_one) {
        (void)fprintf(stream, "unknown: runs come one after the other, each as `strake check` says "
                              "of it alone\n");
    } else {
        (void)fprintf(stream, "unknown: no place has a rate\n");
    }
}

static void print_check(const scan_check *c, FILE *stream)
{
    const scan *const s = c->s;
    const extent *const e = &s->extent;
    char text[80], size[32], other[32];
    strake_machine machine;
    strake_machine_read(&machine);
    (void)fprintf(stream, "%s is valid in all %lld runs", c->first->file,
                  (long long)s->values.runs);
    if (c->tried < s->values.runs) {
        (void)fprintf(stream, "; the fields of %lld of them were made", (long long)c->tried);
    }
    (void)fprintf(stream, "\n\nproblem    %s, %s precision\n", s->problem->name,
                  strake_precision_name(c->first->precision));
    (void)fprintf(stream, "runs       %lld", (long long)s->values.runs);
    if (s->before > 0) {
        (void)fprintf(stream, ", of which %s has %lld", s->table.path, (long long)s->before);
    }
    if (!s->problem->has_particles) {
        (void)fprintf(stream, "\ncells      %s in each", span_text(e->cells, "%.0f", text));
    }
    if (e->is_open) {
        (void)fprintf(stream, "\nsteps      as the states will have them\n");
    } else {
        (void)fprintf(stream, "\nsteps      %s in each\n", span_text(e->steps, "%.0f", text));
        if (!s->problem->has_particles) {
            (void)fprintf(stream, "work       %.4g cells times steps in all\n", e->work);
        }
    }
    (void)fprintf(stream, "memory     about %s of the host's %s, for the runs at a time\n",
                  strake_size_text(c->memory, size),
                  strake_size_text((double)machine.memory, other));
    (void)fprintf(stream, "table      about %s: %s\n", strake_size_text(c->table, size),
                  s->table.path);
    if (s->job.maps != NULL) {
        (void)fprintf(stream, "maps       %s, and what runs leave for them at most %s: %s\n",
                      strake_size_text(c->maps, size), strake_size_text(c->traces, other),
                      s->job.maps);
    }
    if (s->job.keep != NULL) {
        (void)fprintf(stream, "outputs    about %s: folders in %s\n",
                      strake_size_text(c->keep, size), s->job.keep);
    }
    if (s->deal.one_by_one) {
        (void)fprintf(stream, "\nwhere      one after the other, each on all of %s\n",
                      s->deal.where);
    } else {
        print_places(c, stream);
    }
    print_forecast(c, stream);
}

static strake_status write_check(strake_report_file *report, const scan_check *c,
                                 strake_error *error)
{
    strake_text text = {0};
    strake_json writer = strake_json_on(&text), *const json = &writer;
    const scan *const s = c->s;
    const extent *const e = &s->extent;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    strake_json_string(json, "case", c->first->file);
    strake_json_string(json, "problem", s->problem->name);
    strake_json_integer(json, "runs", s->values.runs);
    strake_json_integer(json, "runs_there", s->before);
    strake_json_numbers(json, "cells", 2, e->cells);
    strake_json_numbers(json, "steps", e->is_open ? 0 : 2, e->steps);
    strake_json_number(json, "work", e->is_open ? (double)NAN : e->work);
    strake_json_boolean(json, "one_by_one", s->deal.one_by_one);
    strake_json_number(json, "memory", c->memory);
    strake_json_number(json, "table_bytes", c->table);
    strake_json_number(json, "maps_bytes", c->maps);
    strake_json_number(json, "traces_bytes", c->traces);
    strake_json_number(json, "outputs_bytes", c->keep);
    strake_json_array(json, "places", STRAKE_JSON_LINES);
    for (int k = 0; k < c->places; k++) {
        const place *const p = &c->place[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "where", p->where);
        strake_json_string(json, "name", p->name);
        strake_json_integer(json, "runs_at_a_time", p->most);
        strake_json_integer(json, "threads", p->threads);
        strake_json_number(json, "memory", p->has > 0.0 ? p->needs : (double)NAN);
        strake_json_number(json, "memory_there", p->has > 0.0 ? p->has : (double)NAN);
        strake_json_number(json, "items_per_second", p->rate);
        strake_json_number(json, "setup_seconds", p->setup);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_number(json, "seconds", c->seconds);
    strake_json_number(json, "seconds_of_the_fastest_place", c->most);
    strake_json_end(json);
    strake_text_append(&text, "\n", 1);
    const strake_status status = strake_report_end(report, &text, error);
    strake_text_free(&text);
    return status;
}

/* Says of a disk that cannot take what comes. A folder that is not there yet will be where the one around it is. */
static void warn_of_disk(const char *folder, double bytes)
{
    char need[32], have[32];
    char *const around = strake_path_folder(folder);
    const double own = strake_disk_free(folder);
    const double there = own < 0.0 && around != NULL ? strake_disk_free(around) : own;
    free(around);
    if (there >= 0.0 && bytes > there) {
        strake_say_warning("%s needs about %s, but its disk has only %s free", folder,
                           strake_size_text(bytes, need), strake_size_text(there, have));
    }
}

int strake_scan_check(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    scan s = {.arguments = arguments};
    scan_check *const c = calloc(1, sizeof *c);
    strake_report_file report = {0};
    STRAKE_CHECK(c != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    c->s = &s;
    STRAKE_TRY(prepare(&s, error));
    STRAKE_TRY(strake_scan_maps_find(&s.job, &s.table, error));
    STRAKE_TRY(strake_report_begin(&report, arguments->report, error));
    (void)count_rows(&s);
    c->first = s.first;
    c->left = s.values.runs - s.before;
    STRAKE_TRY(try_all(c, error));
    for (int64_t k = 0; k < s.values.runs; k++) {
        s.extent.work += s.task[k].done ? 0.0 : s.task[k].work;
    }
    add_files(c);
    if (c->left > 0) {
        plan_deal(&s);
        c->memory = s.deal.one_by_one ? strake_scan_bytes(c->first) : 0.0;
        STRAKE_TRY(s.deal.one_by_one ? STRAKE_OK : find_places(c, error));
    }
    STRAKE_TRY(predict(c, error));
    print_check(c, strake_table_stream(arguments->report));
    warn_of_disk(s.job.keep != NULL ? s.job.keep : ".", c->keep);
    warn_of_disk(s.job.maps != NULL ? s.job.maps : ".", c->maps + c->traces);
    STRAKE_TRY(report.path != NULL ? write_check(&report, c, error) : STRAKE_OK);
cleanup:
    strake_report_drop(&report);
    strake_scan_values_free(&s.values);
    strake_scan_table_free(&s.table);
    strake_case_close(&s.first);
    free(s.task);
    free(c);
    return status != STRAKE_OK ? strake_say_error(error) : STRAKE_EXIT_DONE;
}

static const strake_option options[] = {
    STRAKE_OPTIONS_VALUES,
    STRAKE_TEXT("--on", on, "WHERE", "processors, see above (default: `run.on`, else auto)"),
    STRAKE_TEXT("--split", split, "W,W,...", "share of each entry of WHERE in every run"),
    STRAKE_OPTION_THREADS,
    STRAKE_NUMBER("--steps", INTEGER, steps, "N", 0, STRAKE_MOST_STEPS,
                  "last step, instead of the case's `time.steps`"),
    STRAKE_SET("change a key of the case in every run; repeatable"),
    STRAKE_OPTION_CACHE,
    STRAKE_OPTIONS_SCAN,
    STRAKE_FLAG("--quiet", quiet, "no progress, notes and summary"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_scan = {
    .name = "scan",
    .operands = "CASE.yaml",
    .operands_least = 1,
    .operands_most = 1,
    .text = "Runs a case many times with other values, into one table",
    .option = options,
    .details =
        "VALUES of a key are A,B,C, or FROM:TO:COUNT with both ends, or\n"
        "random:LOW:HIGH:COUNT:SEED, as integers where the key takes integers. With --draws N\n"
        "they may be drawn, for all keys together: uniform:LOW:HIGH, normal:MEAN:SD,\n"
        "lognormal:MEDIAN:FACTOR (of one standard deviation), or of:FILE[:COLUMN], line after\n"
        "line of a text in columns. More random draws of a seed begin with the same ones.\n"
        "The table (CSV) has a line for each run: the values, minimum, maximum, sum, norm and\n"
        "checksum of every state after the last step, what the problem measures, times, and\n"
        "why a run failed. One that fails does not end the scan; the exit status is then 1.\n"
        "\n"
        "Runs stand side by side, one on each core and up to 256 on each device of WHERE, as far\n"
        "as memory goes; fewer runs than cores share them. On a device runs of one grid in one or\n"
        "two dimensions, which differ in numbers alone, step in common launches; others step\n"
        "beside them. One after the other, each on all of WHERE, runs come with --jobs 1, with\n"
        "--split, and where run.* keys are varied, so that times can be compared. The results\n"
        "are the same.\n"
        "\n"
        "The table is up to date within a second. The same command goes on where a scan was\n"
        "ended by Ctrl-C or a power cut, and makes what is new where VALUES were added.\n"
        "\n"
        "With --vents every vent of a file is run, or with --draws as many as are drawn by their\n"
        "weights: vents[0] of the case has to have x and y. Coordinates are those of the map;\n"
        "points in others, or in longitude and latitude, are converted.\n"
        "\n"
        "With --classes every class of eruptions is run, from every vent, or drawn by its\n"
        "probability beside the others: it says the rate of vents[0] and, in a column end, the\n"
        "case's time.end [s]. A line is a class of so many m3 in so many seconds, which come out\n"
        "by its curve: constant, falling (from the largest rate to 0), triangle:F (from 0 to the\n"
        "largest rate after a part F of the duration, 0.25 if it is not said, and back to 0), or\n"
        "a file of times and rates, each until the next time, which are brought to both.\n"
        "A map probability-CLASS is that of eruptions of the class.\n"
        "\n"
        "Maps are made when all runs are there, in the formats of the case and with a picture;\n"
        "of runs on one grid whose problem has a footprint. A run is as thick in a cell as it was\n"
        "at most while it flowed, or as what lies there at the end if that is more. DIR/runs\n"
        "keeps what each run left: other weights and thresholds, and more runs, cost no run "
        "again.\n"
        "\n"
        "The probability p of a flow is that of an eruption, with weights as they are beside each\n"
        "other. --eruptions N makes it absolute: 1 - exp(-N p), where eruptions come as a Poisson\n"
        "process (Connor and Hill, 1995); 0.5 a year are N = 0.5 for a year and 25 for 50 years.\n"
        "\n" STRAKE_WHERE_HELP,
    .examples =
        "  strake scan cone.yaml --over scheme.iterations=1,2,3\n"
        "  strake scan cone.yaml --over time.dt=0.02:0.1:5 --over scheme.gauge=none,infinite\n"
        "  strake scan quench.yaml --over parameters.K=random:0.5:2:100:1 --keep runs\n"
        "  strake scan lava.yaml --draws 1000 --over 'vents[0].rate=lognormal:10:2' \\\n"
        "      --over parameters.water_content=uniform:0.05:0.2 --maps maps\n"
        "  strake scan lava.yaml --vents vents.geojson --classes classes.csv --maps maps \\\n"
        "      --eruptions 25\n"
        "  strake scan cone.yaml --over run.on=cpu,gpu,hybrid --table places.csv\n"
        "  strake scan lava.yaml --over 'vents[0].rate=5,10' --maps m --weights "
        "'vents[0].rate=2,1'\n",
    .run = command};
