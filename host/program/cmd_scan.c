/* `strake scan`: many runs of one case, in one table. */
#include <inttypes.h>
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
#include "files/cache.h"
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

/* Bytes of files that runs have in common. */
static const uint64_t most_kept = UINT64_C(1) << 30;

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
    int threads;        /* that the case asks for, 0: none */
    char where[256];    /* of the first case that says it */
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

/* A run's id and work. A case that cannot be read fails later, as its run. */
static strake_status plan_run(scan *s, int64_t run, const strake_error **why, strake_error *first,
                              strake_error *error)
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
    } else if (*why == NULL) {
        *first = reason;
        *why = first;
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
    strake_error first;
    const strake_error *why = NULL;
    s->task = calloc((size_t)s->values.runs, sizeof *s->task);
    s->table.row = calloc((size_t)s->values.runs, sizeof *s->table.row);
    STRAKE_CHECK(s->task != NULL && s->table.row != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a scan");
    s->table.rows = s->values.runs;
    for (int64_t run = 0; run < s->values.runs; run++) {
        STRAKE_TRY(plan_run(s, run, &why, &first, error));
    }
    if (s->problem == NULL) {
        *error = *why; /* it is the same for all, or as bad */
        return why->status;
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

static void head_table(scan *s)
{
    static const char *const numbers[] = {"min", "max", "sum", "norm", "checksum"};
    strake_text *const head = &s->table.header;
    strake_scan_cell(head, "run");
    for (int k = 0; k < s->values.axes; k++) {
        strake_scan_cell(head, s->values.axis[k].path);
    }
    s->table.state = s->values.axes + 1;
    strake_text_print(head, "state,where,steps,seconds,setup_seconds,cells_per_second,");
    int columns = s->table.state + 6;
    for (int f = 0; f < s->problem->fields; f++) {
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            if (strake_scan_has_column(&s->problem->field[f])) {
                strake_text_print(head, "%s_%s,", s->problem->field[f].name, numbers[k]);
                columns++;
            }
        }
    }
    for (int q = 0; q < s->problem->quantities; q++) {
        strake_text_print(head, "%s,", s->problem->quantity[q].name);
        columns++;
    }
    if (s->job.mapped != NULL) {
        strake_text_print(head, "e1,");
        columns++;
    }
    s->table.folder = columns;
    strake_text_print(head, "folder,message,id");
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
    strake_text line = {0};
    const bool failed = answer->status != STRAKE_OK;
    for (int k = 0; k < s->values.axes; k++) {
        strake_scan_cell(&line, strake_scan_value(&s->values, answer->run, k));
    }
    strake_scan_cell(&line, failed ? "failed" : "done");
    strake_scan_cell(&line, answer->where);
    if (failed) {
        for (int k = s->table.state + 2; k < s->table.folder; k++) {
            strake_scan_cell(&line, "");
        }
        strake_scan_cell(&line, "");
        if (s->first_failure[0] == '\0') {
            (void)snprintf(s->first_failure, sizeof s->first_failure, "%s", answer->text);
            s->first_failed = answer->run;
        }
    } else {
        strake_text_print(&line, "%lld,%.6g,%.6g,%.6g,", (long long)answer->steps, answer->seconds,
                          answer->setup_seconds, answer->rate);
        for (int f = 0; f < answer->fields; f++) {
            strake_text_print(&line, "%.17g,%.17g,%.17g,%.17g,%016" PRIx64 ",",
                              answer->field[f].minimum, answer->field[f].maximum,
                              answer->field[f].sum, answer->field[f].norm,
                              answer->field[f].checksum);
        }
        for (int q = 0; q < answer->quantities; q++) {
            strake_text_print(&line, "%.17g,", answer->quantity[q]);
        }
        if (s->job.mapped != NULL) {
            strake_text_print(&line, isnan(answer->e1) ? "," : "%.17g,", answer->e1);
        }
        strake_scan_cell(&line, answer->folder);
    }
    strake_scan_cell(&line, answer->text);
    strake_text_print(&line, "%016" PRIx64, s->task[answer->run].order.id);
    if (line.failed) {
        strake_text_free(&line);
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the table");
    }
    strake_scan_table_put(&s->table, answer->run, failed, &line);
    s->ended++;
    s->failed += failed ? 1 : 0;
    return STRAKE_OK;
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
                 "scan needs --over PATH=VALUES at least once, for example --over "
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
    head_table(s);
    STRAKE_CHECK(!s->table.header.failed, error, STRAKE_ERR_MEMORY, "out of memory for the table");
    STRAKE_TRY(strake_scan_table_read(&s->table, arguments->keep != NULL, error));
    if (arguments->keep != NULL) {
        STRAKE_TRY(strake_folder_create(arguments->keep, error));
        STRAKE_TRY(strake_folder_own(&s->kept, arguments->keep, error));
    }
    STRAKE_TRY(strake_scan_maps_find(&s->job, &s->table, error));
    if (arguments->maps != NULL && !strake_folder_is_own(&s->kept, arguments->maps)) {
        STRAKE_TRY(strake_folder_own(&s->mapped, arguments->maps, error));
    }
cleanup:
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

static const strake_option options[] = {
    {"--over", STRAKE_OPTION_OVER, "PATH=VALUES", 0, 0, 0,
     "a key to vary, see above; repeatable: every value\nwith every other"},
    STRAKE_NUMBER("--draws", INTEGER, draws, "N", 1, STRAKE_SCAN_MOST,
                  "draw so many values of all keys that are drawn, together"),
    STRAKE_NUMBER("--seed", INTEGER, seed, "S", 0, 0x1p53, "of the draws (default: 1)"),
    STRAKE_TEXT("--sampling", sampling, "WAY",
                "random, or lhs: a Latin hypercube, which covers\neach key's distribution evenly "
                "(default: random)"),
    STRAKE_TEXT(
        "--vents", vents, "FILE",
        "places of vents[0], with weights: a grid (.asc), columns\nx, y, weight, or points "
        "(GeoJSON; what GDAL reads)\nwith a property weight; all of them, or --draws of them"),
    STRAKE_TEXT("--classes", classes, "FILE",
                "classes of eruptions, see below: columns class, volume,\nduration, curve, "
                "probability"),
    STRAKE_TEXT("--on", on, "WHERE", "processors, see above (default: `run.on`, else auto)"),
    STRAKE_TEXT("--split", split, "W,W,...", "share of each entry of WHERE in every run"),
    STRAKE_OPTION_THREADS,
    STRAKE_NUMBER("--steps", INTEGER, steps, "N", 0, STRAKE_MOST_STEPS,
                  "last step, instead of the case's `time.steps`"),
    STRAKE_SET("change a key of the case in every run; repeatable"),
    STRAKE_OPTION_CACHE,
    STRAKE_TEXT("--table", table, "FILE", "the table (default: scan.csv)"),
    STRAKE_TEXT("--keep", keep, "DIR", "keep the outputs of every run, in folders in DIR"),
    STRAKE_TEXT("--maps", maps, "DIR",
                "maps of all runs: probability of a flow, mean and\nlargest thickness, earliest "
                "arrival"),
    {"--weights", STRAKE_OPTION_WEIGHTS, "PATH=W,...", 0, 0, 0,
     "weights of the values of a key in maps (default: equal);\nrepeatable: those of a run are "
     "multiplied"},
    STRAKE_TEXT(
        "--footprint", mapped, "FILE",
        "a column e1 of the table: how well each run covers the\ncells of this flow: a grid, a "
        "folder of outputs, or\npolygons (GeoJSON; what GDAL reads)"),
    STRAKE_NUMBER("--threshold", REAL, threshold, "M", 0, 1e308,
                  "thickness [m] above which a cell belongs to a flow, in\nmaps and e1 (default: "
                  "0.1)"),
    STRAKE_NUMBER("--eruptions", REAL, eruptions, "N", 0, 1e308,
                  "a map `absolute`: the probability of one or more flows\nin years in which N "
                  "eruptions are expected"),
    STRAKE_NUMBER(
        "--jobs", INTEGER, jobs, "N", 1, STRAKE_SCAN_JOBS,
        "runs at a time on the cores (default: as many as\ncores; 1: one after the other, "
        "as `strake run`)"),
    STRAKE_NUMBER(
        "--members", INTEGER, members, "N", 1, STRAKE_SCAN_MEMBERS,
        "runs at a time on each device, which steps them\ntogether (default: up to 256, as "
        "memory goes)"),
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
