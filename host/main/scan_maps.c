#include "main/scan_maps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/file.h"
#include "case/case.h"
#include "io/folder.h"
#include "main/case_options.h"
#include "main/commit.h"
#include "main/compare_footprint.h"
#include "main/formats.h"
#include "main/run_files.h"
#include "main/say.h"
#include "main/scan_trace.h"
#include "output/output.h"
#include "view/left.h"

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

strake_status strake_scan_maps_check_options(const strake_arguments *arguments, strake_error *error)
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

strake_status strake_scan_maps_check_case(const strake_scan_job *job, const strake_case *first,
                                          const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_flow *flow = NULL;
    const int64_t shape[] = {which->n[0], which->n[2]};
    const char *const option = job->maps != NULL ? "--maps" : "--footprint";
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

strake_status strake_scan_maps_find(const strake_scan_job *job, strake_scan_table *table,
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

strake_status strake_scan_maps_write(const strake_scan_job *job, const strake_scan_table *table,
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
    }
    if (s.runs < table->rows) {
        strake_say_warning("the maps lack %lld runs, which failed",
                           (long long)(table->rows - s.runs));
    }
cleanup:
    for (int m = 0; m < MAPS; m++) {
        free(s.map[m]);
    }
    return status;
}
