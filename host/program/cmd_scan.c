/* `strake scan`: many runs of one case, in one table. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/case.h"
#include "cpu/topology.h"
#include "files/cache.h"
#include "program/options.h"
#include "program/command.h"
#include "program/commit.h"
#include "program/compare_footprint.h"
#include "program/formats.h"
#include "program/interrupt.h"
#include "program/progress.h"
#include "program/report_file.h"
#include "program/say.h"
#include "program/scan_worker.h"
#include "program/scan_table.h"
#include "program/scan_trace.h"
#include "output/output.h"
#include "view/left.h"

/*
 * Maps of all runs of a scan: for every cell how probable it is that a flow reaches it, how thick it is there in the mean
 * and at most, and when it comes at the earliest. Sums go through the runs in their order, whoever made them and when.
 */

/* The maps, in the order of the table below. */
enum { PROBABILITY, MEAN, MAXIMUM, ARRIVAL, MAPS };

/* What maps are made of. */
typedef struct maps_job {
    const strake_scan_job *job;
    const strake_scan_table *table;
    const strake_case *which; /* one of the cases: all have one grid */
} maps_job;

static const strake_field maps_of[MAPS] = {
    [PROBABILITY] = {"probability", STRAKE_CELL, .unit = "[-]", .is_extent = true},
    [MEAN] = {"mean", STRAKE_CELL, .unit = "[m]", .text = "mean thickness over all runs"},
    [MAXIMUM] = {"maximum", STRAKE_CELL, .unit = "[m]", .text = "largest thickness of all runs"},
    [ARRIVAL] = {"arrival", STRAKE_CELL, .unit = "[s]",
                 .text = "earliest time at which a flow comes; NaN: none does"}};

typedef struct sums {
    double *map[MAPS];
    double *
        before; /* the probability without the last tenth of the runs, times their weight; NULL: not yet */
    double weight_before;
    int64_t cells, runs;
    double weight, time; /* of all runs, and of the last one that ended [s] */
} sums;

/* Adds a run; the order of runs is the order of sums. */
static void add_run(sums *s, const strake_scan_trace *trace, double weight, double threshold)
{
    s->runs++;
    s->weight += weight;
    s->time = fmax(s->time, trace->time);
    for (int64_t k = 0; k < s->cells && weight > 0.0; k++) {
        const double thickest = trace->thickest[k];
        s->map[MEAN][k] += weight * thickest;
        s->map[MAXIMUM][k] = fmax(s->map[MAXIMUM][k], thickest);
        if (thickest > threshold) {
            s->map[PROBABILITY][k] += weight;
            s->map[ARRIVAL][k] = fmin(s->map[ARRIVAL][k], trace->arrival[k]); /* not of NaN */
        }
    }
}

/** Whether the options of maps and of a mapped flow belong together. @return STRAKE_ERR_USAGE */
static strake_status scan_maps_check_options(const strake_arguments *arguments, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(arguments->weight_count == 0 || arguments->maps != NULL, error, STRAKE_ERR_USAGE,
                 "option --weights: weighs runs in maps; give --maps DIR, too");
    STRAKE_CHECK(isnan(arguments->threshold) || arguments->maps != NULL ||
                     arguments->mapped != NULL,
                 error, STRAKE_ERR_USAGE, "option --threshold: goes with --maps and --footprint");
cleanup:
    return status;
}

/**
 * Whether a case can be a part of the maps that a scan wants, and be compared with its mapped flow.
 * @param[in] first  of the cases: all must have its grid @return STRAKE_ERR_USAGE, and as strake_flow_open()
 */
static strake_status scan_maps_check_case(const strake_scan_job *job, const strake_case *first,
                                          const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_flow *flow = NULL;
    const int64_t shape[] = {which->n[0], which->n[2]};
    const char *const option = job->maps != NULL        ? "--maps"
                               : job->arguments->is_fit ? "--to"
                                                        : "--footprint";
    const double *line = NULL;
    if (job->maps == NULL && job->mapped == NULL) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(strake_scan_trace_is_of(which->problem, NULL), error, STRAKE_ERR_USAGE,
                 "option %s: problem %s has no footprint, which it is about; leave it out", option,
                 which->problem->name);
    STRAKE_CHECK(shape[0] == first->n[0] && shape[1] == first->n[2], error, STRAKE_ERR_USAGE,
                 "option %s: is for runs on one grid, not on %lld x %lld and %lld x %lld cells",
                 option, (long long)first->n[0], (long long)first->n[2], (long long)shape[0],
                 (long long)shape[1]);
    if (job->mapped != NULL && which == first) {
        STRAKE_TRY(strake_flow_open(job->mapped, &flow, error));
        STRAKE_TRY(strake_flow_match(flow, which->file, shape, &which->georef, error));
        for (int64_t i = 0; i < shape[0]; i++) { /* what is wrong in it is no run's fault */
            STRAKE_TRY(strake_flow_row(flow, i, &line, error));
        }
    }
cleanup:
    strake_flow_close(&flow);
    return status;
}

/** Takes lines out of a table whose runs left nothing for maps, or something damaged: they are made again. */
static strake_status scan_maps_find(const strake_scan_job *job, strake_scan_table *table,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    if (job->maps == NULL) {
        return STRAKE_OK;
    }
    path = strake_path_join(job->maps, "runs");
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
    STRAKE_TRY(strake_folder_create(path, error));
    for (int64_t run = 0; run < table->rows; run++) {
        strake_scan_row *const row = &table->row[run];
        strake_scan_trace trace = {0};
        free(path);
        path = strake_scan_trace_path(job->maps, row->id);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
        if (row->text != NULL && !row->failed &&
            strake_scan_trace_read(path, row->id, &trace, NULL) != STRAKE_OK) {
            free(row->text);
            row->text = NULL;
        }
        strake_scan_trace_free(&trace);
    }
cleanup:
    free(path);
    return status;
}

static strake_status add_all(sums *s, const maps_job *maps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_trace trace = {0};
    char *path = NULL;
    const int64_t *const n = maps->which->n;
    s->cells = n[0] * n[2];
    for (int m = 0; m < MAPS; m++) {
        s->map[m] = calloc((size_t)s->cells, sizeof(double));
        STRAKE_CHECK(s->map[m] != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
    }
    for (int64_t k = 0; k < s->cells; k++) {
        s->map[ARRIVAL][k] = NAN;
    }
    for (int64_t run = 0; run < maps->table->rows; run++) {
        const strake_scan_row *const row = &maps->table->row[run];
        if (row->text == NULL || row->failed) {
            continue;
        }
        free(path);
        path = strake_scan_trace_path(maps->job->maps, row->id);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
        STRAKE_TRY(strake_scan_trace_read(path, row->id, &trace, error));
        STRAKE_CHECK(trace.rows == n[0] && trace.cols == n[2], error, STRAKE_ERR_USAGE,
                     "%s: is of another grid; remove it, and the run is made again", path);
        if (s->before == NULL && 10 * run >= 9 * maps->table->rows && s->weight > 0.0) {
            s->before = malloc((size_t)s->cells * sizeof *s->before);
            STRAKE_CHECK(s->before != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
            memcpy(s->before, s->map[PROBABILITY], (size_t)s->cells * sizeof *s->before);
            s->weight_before = s->weight;
        }
        add_run(s, &trace, strake_scan_weight(maps->job->values, run), maps->job->threshold);
        strake_scan_trace_free(&trace);
    }
    STRAKE_CHECK(s->weight > 0.0, error, STRAKE_ERR_USAGE,
                 "there is no run with a weight above 0 to make maps of");
    for (int64_t k = 0; k < s->cells; k++) {
        s->map[PROBABILITY][k] /= s->weight;
        s->map[MEAN][k] /= s->weight;
    }
cleanup:
    strake_scan_trace_free(&trace);
    free(path);
    return status;
}

/* A case whose outputs are the maps; it shares all else with the one that was run. */
static strake_case case_of_maps(const maps_job *maps, const strake_problem *problem)
{
    strake_case out = *maps->which;
    strake_error none;
    out.problem = problem;
    out.precision = STRAKE_DOUBLE;
    memset(out.output_field, 0, sizeof out.output_field);
    for (int m = 0; m < MAPS; m++) {
        out.output_field[m] = true;
    }
    out.picture.field = PROBABILITY;
    out.picture.range = STRAKE_RANGE_GIVEN;
    out.picture.low = 0.0;
    out.picture.high = 1.0;
    out.picture.is_log = out.picture.parts = false;
    out.picture.contours = out.picture.levels = 0;
    out.output_format[STRAKE_FORMAT_PNG] =
        strake_formats[STRAKE_FORMAT_PNG]->look(&out, &none) == STRAKE_OK;
    if (!out.output_format[STRAKE_FORMAT_PNG]) {
        strake_say_note("there is no picture of the probability: %s", none.text);
    }
    return out;
}

/* The ground under the picture of the probability: that of all runs, where none of them has another one; -1: none. */
static int find_ground(const maps_job *maps)
{
    const strake_case *const which = maps->which;
    const char *const *const over = maps->job->arguments->overs;
    int ground = which->picture.has_relief ? strake_output_ground(which) : -1;
    for (int k = 0; ground >= 0 && k < maps->job->arguments->over_count; k++) {
        if (strake_left_varies(over[k], which->problem->field[ground].name)) {
            return -1;
        }
    }
    return ground >= 0 && which->source[ground] != NULL ? ground : -1;
}

/* What the command changes of the case, in all runs and from run to run. NULL without memory. */
static const char **list_changes(const strake_arguments *arguments)
{
    const int sets = arguments->set_count, overs = arguments->over_count;
    const char **const out = calloc((size_t)(sets + overs) + 1, sizeof *out);
    for (int k = 0; out != NULL && k < sets + overs; k++) {
        out[k] = k < sets ? arguments->sets[k] : arguments->overs[k - sets];
    }
    return out;
}

static strake_status write_maps(const maps_job *maps, const sums *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char text[120], date[32], source[80], id[STRAKE_ABOUT_ID];
    strake_output output = {0};
    strake_text history = {0};
    strake_field field[MAPS];
    const char *const folder = maps->job->maps;
    const int64_t started = strake_clock_date();
    const char **const changes = list_changes(maps->job->arguments);
    const strake_about about = {.commit = strake_commit,
                                .sets = maps->job->arguments->sets,
                                .overs = maps->job->arguments->overs,
                                .ranks = 1,
                                .started = started,
                                .run = id};
    strake_about_id(started, id);
    (void)strake_number_print(text, sizeof text, "of a flow thicker than %.6g m, of %.0f runs",
                              maps->job->threshold, (double)s->runs);
    memcpy(field, maps_of, sizeof field);
    field[PROBABILITY].text = text;
    const strake_problem problem = {.name = maps->which->problem->name,
                                    .text = "maps of the runs of a scan",
                                    .dims = 2,
                                    .is_adaptive = maps->which->problem->is_adaptive,
                                    .fields = MAPS,
                                    .field = field};
    const strake_case which = case_of_maps(maps, &problem);
    const int ground = find_ground(maps);
    (void)snprintf(source, sizeof source, "Strake %s%s%.40s", STRAKE_VERSION,
                   strake_commit[0] != '\0' ? ", " : "", strake_commit);
    strake_text_print(&history, "%s: ", strake_clock_utc(started, date));
    strake_command_line(maps->job->arguments, "scan", &history);
    const strake_format_run run = {.which = &which,
                                   .folder = folder,
                                   .run = id,
                                   .history = history.data,
                                   .source = source,
                                   .sets = changes,
                                   .resumed = -1,
                                   .grounded = ground >= 0 ? maps->which : NULL,
                                   .ground = ground};
    STRAKE_CHECK(!history.failed && changes != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for maps");
    STRAKE_TRY(strake_output_begin(&output, &run, strake_formats, error));
    STRAKE_TRY(strake_begin_folder(&about, &which, NULL, folder, false, error));
    STRAKE_TRY(strake_output_put(&output, (strake_format_output){.step = -1, .time = s->time},
                                 s->map, error));
cleanup:
    strake_output_end(&output);
    free((void *)changes);
    strake_text_free(&history);
    return status;
}

/* How far the map of probability has come: what the last tenth of the runs changed in it. */
static void tell_change(const sums *s)
{
    double most = 0.0;
    for (int64_t k = 0; k < s->cells && s->before != NULL; k++) {
        most = fmax(most, fabs(s->map[PROBABILITY][k] - s->before[k] / s->weight_before));
    }
    if (s->before != NULL) {
        char text[24];
        (void)strake_number_print(text, sizeof text, "%.3g", most);
        (void)printf("the last tenth of the runs changed the probability of a cell by at most %s\n",
                     text);
    }
}

/**
 * Writes the maps where the scan wants any and says so: in the formats of a case, and with a picture of the probability
 * where pictures can be drawn. Runs that failed have no part in them.
 * @return STRAKE_ERR_USAGE (a trace that is damaged; no run at all), STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
static strake_status scan_maps_write(const strake_scan_job *job, const strake_scan_table *table,
                                     const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    sums s = {.runs = 0};
    const maps_job maps = {job, table, which};
    if (job->maps == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(add_all(&s, &maps, error));
    STRAKE_TRY(write_maps(&maps, &s, error));
    if (!job->arguments->quiet) {
        (void)printf("%s: probability, mean, maximum and arrival of %lld runs\n", job->maps,
                     (long long)s.runs);
        tell_change(&s);
    }
    if (s.runs < table->rows) {
        strake_say_warning("the maps lack %lld runs, which failed",
                           (long long)(table->rows - s.runs));
    }
cleanup:
    for (int m = 0; m < MAPS; m++) {
        free(s.map[m]);
    }
    free(s.before);
    return status;
}

/* Bytes of files that runs have in common. */
static const uint64_t most_kept = UINT64_C(1) << 30;

enum { MOST_JOBS = 256, MOST_MEMBERS = 4096, USUAL_MEMBERS = 256 };

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
    int arrays = which->problem->fields;
    for (int f = 0; f < which->problem->fields; f++) {
        arrays += which->problem->field[f].is_state ? 1 : 0;
    }
    const double cells = strake_case_cells(which);
    const double bytes = cells * arrays * (which->precision == STRAKE_SINGLE ? 4.0 : 8.0);
    /* Where steps follow from the state they are more or less as many as seconds of a run ask for. */
    const bool is_open = (double)which->steps >= STRAKE_STEPS_OPEN;
    task->work = cells * (is_open ? which->end : (double)(which->steps > 0 ? which->steps : 1));
    task->order.like =
        hash_text(strake_fnv1a(STRAKE_FNV_SEED, which->n, sizeof which->n), which->problem->name) ^
        (uint64_t)which->precision;
    s->bytes = fmax(s->bytes, bytes);
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
    arguments.set_count += s->values.axes;
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
        STRAKE_TRY(scan_maps_check_case(&s->job, s->first, which, error));
    } else if (*why == NULL) {
        *first = reason;
        *why = first;
    }
    for (int k = 0; sets[k] != NULL; k++) {
        task->order.id = hash_text(task->order.id, sets[k]);
    }
    task->order.id ^= (uint64_t)s->arguments->steps;
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
        arguments.set_count += s->values.axes;
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

/* How many runs at a time have room in memory. */
static int most_by_memory(const scan *s)
{
    const double reserve = 32 << 20, share = 0.8;
    const double machine = share * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double most = fmin(machine, strake_cgroup_memory("")) / (1.1 * s->bytes + reserve);
    return most < 1.0 ? 1 : most < MOST_MEMBERS ? (int)most : MOST_MEMBERS;
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

/* Cores are shared out among the runs at a time: each has one where there are as many runs. */
static void plan_deal(scan *s)
{
    strake_topology topology;
    strake_scan_deal *const deal = &s->deal;
    const int64_t left = s->values.runs - s->before;
    const int asked = strake_threads_asked();
    strake_topology_read(&topology);
    const int all = s->arguments->threads > 0 ? (int)s->arguments->threads
                    : asked > 0               ? asked
                                              : strake_topology_threads(&topology);
    const int each = s->arguments->threads <= 0 && s->threads > 0 ? s->threads : 1;
    int jobs = s->arguments->jobs > 0 ? (int)s->arguments->jobs : all / each > 1 ? all / each : 1;
    jobs = jobs < left ? jobs : (int)left;
    const int most = most_by_memory(s);
    jobs = jobs < most ? jobs : most;
    jobs = jobs < MOST_JOBS ? jobs : MOST_JOBS;
    deal->job = &s->job;
    deal->tasks = s->values.runs;
    deal->task = s->task;
    deal->one_by_one = is_one_by_one(s);
    deal->where = s->arguments->on != NULL ? s->arguments->on : s->where;
    deal->jobs = jobs;
    deal->members = s->arguments->members > 0 ? (int)s->arguments->members : USUAL_MEMBERS;
    deal->members = deal->members < left ? deal->members : (int)left;
    const int room = most > jobs ? most - jobs : 1; /* beside the runs on the cores */
    deal->members = deal->members < room ? deal->members : room;
    deal->threads = each > 1 ? each : all / jobs > 1 ? all / jobs : 1;
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

static strake_status prepare(scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = s->arguments;
    strake_scan_vents vents = {0};
    strake_scan_draws draws = {.count = arguments->draws,
                               .seed = arguments->seed >= 0 ? (uint64_t)arguments->seed : 1,
                               .is_latin = arguments->sampling != NULL &&
                                           strcmp(arguments->sampling, "lhs") == 0};
    STRAKE_CHECK(arguments->over_count > 0 || arguments->vents != NULL, error, STRAKE_ERR_USAGE,
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
    if (arguments->vents != NULL) {
        STRAKE_TRY(strake_scan_vents_read(arguments->vents, &vents, error));
        STRAKE_TRY(strake_scan_vents_add(&vents, &draws, &s->values, error));
    }
    STRAKE_TRY(strake_scan_values_read(arguments->overs, &draws, &s->values, error));
    STRAKE_TRY(strake_scan_weights_read(arguments->weights, &s->values, error));
    STRAKE_TRY(scan_maps_check_options(arguments, error));
    strake_asc_keep(most_kept);
    STRAKE_TRY(draw_integers(s, error));
    STRAKE_TRY(plan_runs(s, error));
    head_table(s);
    STRAKE_CHECK(!s->table.header.failed, error, STRAKE_ERR_MEMORY, "out of memory for the table");
    STRAKE_TRY(strake_scan_table_read(&s->table, arguments->keep != NULL, error));
    if (arguments->keep != NULL) {
        STRAKE_TRY(strake_folder_create(arguments->keep, error));
        STRAKE_TRY(strake_folder_own(&s->kept, arguments->keep, error));
    }
    STRAKE_TRY(scan_maps_find(&s->job, &s->table, error));
    if (arguments->maps != NULL && !strake_folder_is_own(&s->kept, arguments->maps)) {
        STRAKE_TRY(strake_folder_own(&s->mapped, arguments->maps, error));
    }
cleanup:
    strake_scan_vents_free(&vents);
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
        STRAKE_TRY(scan_maps_write(&s.job, &s.table, s.first, error));
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
        STRAKE_TRY(scan_maps_write(&s.job, &s.table, s.first, error));
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
    STRAKE_TEXT("--vents", vents, "FILE",
                "places of vents[0], with weights: a grid (.asc), or\ncolumns x, y, weight; all of "
                "them, or --draws of them"),
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
        "a column e1 of the table: how well each run covers the\ncells of this flow, a grid "
        "or a folder of outputs"),
    STRAKE_NUMBER("--threshold", REAL, threshold, "M", 0, 1e308,
                  "thickness [m] above which a cell belongs to a flow, in\nmaps and e1 (default: "
                  "0.1)"),
    STRAKE_NUMBER(
        "--jobs", INTEGER, jobs, "N", 1, MOST_JOBS,
        "runs at a time on the cores (default: as many as\ncores; 1: one after the other, "
        "as `strake run`)"),
    STRAKE_NUMBER(
        "--members", INTEGER, members, "N", 1, MOST_MEMBERS,
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
        "weights: vents[0] of the case has to have x and y.\n"
        "\n"
        "Maps are made when all runs are there, in the formats of the case and with a picture;\n"
        "of runs on one grid whose problem has a footprint. A run is as thick in a cell as it was\n"
        "at most while it flowed, or as what lies there at the end if that is more. DIR/runs\n"
        "keeps what each run left: other weights and thresholds, and more runs, cost no run "
        "again.\n"
        "\n" STRAKE_WHERE_HELP,
    .examples =
        "  strake scan cone.yaml --over scheme.iterations=1,2,3\n"
        "  strake scan cone.yaml --over time.dt=0.02:0.1:5 --over scheme.gauge=none,infinite\n"
        "  strake scan quench.yaml --over parameters.K=random:0.5:2:100:1 --keep runs\n"
        "  strake scan lava.yaml --draws 1000 --over 'vents[0].rate=lognormal:10:2' \\\n"
        "      --over parameters.water_content=uniform:0.05:0.2 --maps maps\n"
        "  strake scan cone.yaml --over run.on=cpu,gpu,hybrid --table places.csv\n"
        "  strake scan lava.yaml --over 'vents[0].rate=5,10' --maps m --weights "
        "'vents[0].rate=2,1'\n",
    .run = command};
